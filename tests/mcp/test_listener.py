"""On and off: what a switched-off listener leaves, and what it never touches."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import threading
import time
from collections.abc import Iterator
from functools import partial
from hashlib import sha256
from pathlib import Path

import anyio
import anyio.lowlevel
import anyio.to_thread
import httpx2
import pytest
from mcp.shared.exceptions import MCPError

from tests.mcp.sample.plugin import Seen
from tests.mcp.serving import ACCEPT, ERAS, MODERN, accepted, connected, http, listening, modern
from yazcore import OWNER, Home, Host, PermissionGrant, Principal, YazError
from yazcore.mcp.listener import Address, Listener, _bind, _Start
from yazcore.mcp.server import Face
from yazcore.permissions.lending import Lending
from yazcore.permissions.tokens import Tokens

pytestmark = pytest.mark.anyio

CALL = modern("tools/call", {"name": "sample__echo", "arguments": {"text": "hi"}})
SOON = partial(anyio.fail_after, 10)


def port_of(address: Address) -> int:
    return int(address.url.split(":")[2].split("/")[0])


def refuses(port: int) -> bool:
    with socket.socket() as sock:
        return sock.connect_ex(("127.0.0.1", port)) != 0


def listening_addresses() -> list[str]:
    return [line.split()[1] for line in Path("/proc/net/tcp").read_text().splitlines() if " 0A " in line]


async def happens(event: threading.Event) -> bool:
    return await anyio.to_thread.run_sync(event.wait, 10)


@pytest.fixture
def nothing_is_waited_for(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """What is still open once the clients were let go, uvicorn waits for and then cancels, with an error in the log."""
    caplog.set_level(logging.INFO)
    yield
    told = [record for when in ("setup", "call") for record in caplog.get_records(when)]
    assert [record.getMessage() for record in told if record.levelno >= logging.ERROR] == []


ends_at_once = pytest.mark.usefixtures("nothing_is_waited_for")


async def test_it_listens_on_the_loopback_interface_alone(host: Host) -> None:
    async with listening(host) as (_, address):
        assert address.url.startswith("http://127.0.0.1:")
        port = f":{port_of(address):04X}"
        assert [one for one in listening_addresses() if one.endswith(port)] == [f"0100007F{port}"]


async def test_every_start_has_a_new_token_and_the_old_one_is_dead(host: Host) -> None:
    async with listening(host) as (_, first):
        port = port_of(first)
    async with listening(host, port=port) as (_, second), http(first.token) as stale, http(second.token) as fresh:
        assert port_of(second) == port
        assert (await stale.post(second.url, **CALL)).status_code == 401
        assert (await fresh.post(second.url, **CALL)).status_code == 200


async def test_the_token_has_the_strength_of_32_random_bytes(host: Host) -> None:
    async with listening(host) as (_, first):
        pass
    async with listening(host) as (_, second):
        pass
    assert first.token != second.token
    assert len(first.token) == len(second.token) == 43


async def test_off_leaves_no_port_no_descriptor_and_no_thread(host: Host) -> None:
    async with listening(host), http():  # what is loaded once, is loaded now
        pass
    before = (sorted(os.listdir("/proc/self/fd")), threading.active_count())
    for _ in range(3):
        async with listening(host) as (listener, address), http(address.token) as client:
            assert (await client.post(address.url, **CALL)).status_code == 200
            await listener.stop()
            assert listener.address is None
            assert refuses(port_of(address))
    assert (sorted(os.listdir("/proc/self/fd")), threading.active_count()) == before


async def test_one_listener_can_be_switched_on_again(host: Host) -> None:
    listener = Listener(host)
    tokens = set()
    async with anyio.create_task_group() as tasks:
        for _ in range(3):
            address = await tasks.start(listener.run)
            tokens.add(address.token)
            assert listener.address == address
            await listener.stop()
    assert len(tokens) == 3


async def test_stopping_twice_and_before_the_start_is_nothing(host: Host) -> None:
    await Listener(host).stop()
    async with listening(host) as (listener, _):
        await listener.stop()
        await listener.stop()


async def test_switching_on_twice_is_refused(host: Host) -> None:
    async with listening(host) as (listener, _):
        with pytest.raises(YazError) as caught:
            await listener.run()
        assert caught.value.code == "listener-on"


@pytest.mark.parametrize("port", [None, 70_000, -1])
async def test_a_port_that_cannot_be_had_is_refused(host: Host, port: int | None) -> None:
    async with listening(host) as (_, address):
        wanted = port_of(address) if port is None else port
        with pytest.raises(YazError) as caught:
            await Listener(host, port=wanted).run()
        assert caught.value.code == "port-unavailable"
        assert f"port {wanted} of 127.0.0.1 cannot be used" in caught.value.message


async def test_the_token_is_dead_before_anything_is_awaited(host: Host) -> None:
    start = _Start(Face(host), _bind(0), lambda token: OWNER)
    assert start._authenticate(start.address.token) is OWNER
    start.off()
    assert start._authenticate(start.address.token) is None
    assert start._authenticate("of-somebody") is None
    assert refuses(port_of(start.address))


async def test_the_port_is_closed_before_anything_is_awaited(host: Host) -> None:
    async with listening(host) as (listener, address):
        assert not refuses(port_of(address))
        assert listener._start is not None
        listener._start.off()
        assert refuses(port_of(address))


async def test_a_kept_connection_does_not_outlive_the_token(host: Host) -> None:
    async with listening(host) as (listener, address), http(address.token) as client:
        assert (await client.post(address.url, **CALL)).status_code == 200
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(listener.stop)
            await anyio.lowlevel.checkpoint()
            with pytest.raises((httpx2.HTTPError, AssertionError)):
                assert (await client.post(address.url, **CALL)).status_code != 401
        assert refuses(port_of(address))


async def test_a_cancelled_run_leaves_nothing_behind(host: Host) -> None:
    listener = Listener(host)
    async with http() as client:
        async with anyio.create_task_group() as tasks:
            address = await tasks.start(listener.run)
            assert (await client.post(address.url, **CALL)).status_code == 401
            assert accepted(port_of(address))
            tasks.cancel_scope.cancel()
        assert accepted(port_of(address)) == []
        assert refuses(port_of(address))
        assert listener.address is None


@pytest.mark.parametrize("mode", ERAS)
async def test_a_cancelled_run_leaves_no_request_behind(host: Host, seen: Seen, mode: str) -> None:
    async def call(address: Address) -> None:
        async with connected(address.url, address.token, mode) as client:
            with pytest.raises(MCPError):
                await client.call_tool("sample__wait", {})

    listener = Listener(host)
    with SOON():
        async with anyio.create_task_group() as callers:
            async with anyio.create_task_group() as tasks:
                address = await tasks.start(listener.run)
                callers.start_soon(call, address)
                assert await happens(seen.waiting)
                tasks.cancel_scope.cancel()
            assert [task for task in asyncio.all_tasks() if "run_asgi" in repr(task)] == []
            assert refuses(port_of(address))


@ends_at_once
@pytest.mark.parametrize("mode", ERAS)
async def test_a_running_call_ends_when_the_listener_does(host: Host, seen: Seen, mode: str) -> None:
    told: list[MCPError] = []

    async def call(address: Address) -> None:
        async with connected(address.url, address.token, mode) as client:
            with pytest.raises(MCPError) as caught:
                await client.call_tool("sample__wait", {})
            told.append(caught.value)

    with SOON():
        async with listening(host) as (listener, address), anyio.create_task_group() as tasks:
            tasks.start_soon(call, address)
            assert await happens(seen.waiting)
            await listener.stop()
            assert await happens(seen.ended)
    assert [error.message for error in told] == ["the MCP server was switched off"]


@ends_at_once
@pytest.mark.parametrize("mode", ERAS)
async def test_a_call_that_hangs_does_not_hold_the_listener(host: Host, seen: Seen, mode: str) -> None:
    async def call(address: Address) -> None:
        async with connected(address.url, address.token, mode) as client:
            with pytest.raises(MCPError):
                await client.call_tool("sample__hold", {})

    with SOON():
        async with listening(host) as (listener, address), anyio.create_task_group() as tasks:
            tasks.start_soon(call, address)
            assert await happens(seen.waiting)
            await listener.stop()
            assert not seen.ended.is_set()


@ends_at_once
async def test_a_listen_stream_of_the_newer_era_ends_well(host: Host) -> None:
    with SOON():
        async with (
            listening(host) as (listener, address),
            connected(address.url, address.token, MODERN) as client,
            client.listen(tools_list_changed=True) as events,
        ):
            await listener.stop()
            assert [event async for event in events] == []


@ends_at_once
async def test_a_get_stream_of_the_older_era_ends(host: Host) -> None:
    with SOON():
        async with listening(host) as (listener, address), http(address.token) as client:
            session = await open_session(client, address.url)
            async with client.stream("GET", address.url, headers=session) as stream:
                assert stream.status_code == 200
                await listener.stop()
                with pytest.raises(httpx2.HTTPError):
                    async for _ in stream.aiter_bytes():
                        pass


async def test_a_half_sent_request_does_not_hold_the_listener(
    host: Host, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with SOON():
        async with listening(host) as (listener, address):
            stream = await anyio.connect_tcp("127.0.0.1", port_of(address))
            async with stream:
                head = (
                    f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port_of(address)}\r\nContent-Length: 1000\r\n"
                    f"Authorization: Bearer {address.token}\r\nContent-Type: application/json\r\n"
                    f"Accept: {ACCEPT}\r\nMCP-Protocol-Version: {MODERN}\r\n\r\n{{"
                )
                await stream.send(head.encode())
                async with http(address.token) as client:  # by now, the half request has been seen
                    assert (await client.post(address.url, **CALL)).status_code == 200
                await listener.stop()
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []


async def open_session(client: httpx2.AsyncClient, url: str) -> dict[str, str]:
    """The headers of a session of the older era."""
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    opened = await client.post(url, json=body, headers={"Accept": ACCEPT})
    assert opened.status_code == 200
    headers = {"Accept": ACCEPT, "Mcp-Session-Id": opened.headers["mcp-session-id"]}
    done = await client.post(url, json={"jsonrpc": "2.0", "method": "notifications/initialized"}, headers=headers)
    assert done.status_code == 202
    return headers


@pytest.mark.parametrize("kind", ["start", "named", "lent", "revoked", "lent and revoked", "expired"])
async def test_no_token_is_in_any_log(host: Host, home: Home, caplog: pytest.LogCaptureFixture, kind: str) -> None:
    now = [time.time()]
    tokens = Tokens(home, clock=lambda: now[0])
    lending = Lending(tokens)
    named = tokens.create("ada", (PermissionGrant("sample:*"),), seconds=3600)
    lent = lending.lend("ada")
    caplog.set_level(1)
    for name in ("uvicorn.error", "uvicorn.access", "uvicorn.asgi", "mcp", "asyncio", "httpx2", "yazcore"):
        caplog.set_level(1, logger=name)
    async with listening(host, named=lending.principal_of) as (listener, address):
        token = {"start": address.token, "lent": lent, "lent and revoked": lent}.get(kind, named)
        if "revoked" in kind:
            tokens.revoke("ada")
        elif kind == "expired":
            now[0] += 7200
        is_good = kind in ("start", "named", "lent")
        for mode in ERAS if is_good else ():
            async with connected(address.url, token, mode) as client:
                await client.call_tool("sample__echo", {"text": "hi"})
                await client.call_tool("sample__crash", {})
        async with http() as anyone:
            for scheme, other, status in (
                ("Bearer", {}, 200 if is_good else 401), ("Basic", {}, 401),
                ("Bearer", {"Host": "evil.example"}, 421 if is_good else 401),
                ("Bearer", {"MCP-Protocol-Version": "2025-11-25", "Mcp-Session-Id": "x"}, 404 if is_good else 401),
            ):  # fmt: skip
                headers = {**CALL["headers"], "Authorization": f"{scheme} {token}", **other}
                answer = await anyone.post(address.url, json=CALL["json"], headers=headers)
                assert (answer.status_code, token in answer.text) == (status, False)
        assert token not in repr((listener, address, vars(listener)))
    told = [f"{record.getMessage()} {record.args} {record.exc_text}" for record in caplog.records]
    assert told
    for text in (token, sha256(token.encode()).hexdigest()):
        assert [line for line in told if text in line] == []
        assert [record for record in host.audit.calls() if text in str(record)] == []


async def test_named_tokens_open_the_door_while_it_is_on(host: Host) -> None:
    known = {"of-a-reader": Principal(name="reader", owner=True)}
    async with listening(host, named=known.get) as (listener, address), http("of-a-reader") as reader:
        response = await reader.post(address.url, **CALL)
        assert response.json()["result"]["structuredContent"]["caller"] == "reader"
        async with http("of-nobody") as nobody:
            assert (await nobody.post(address.url, **CALL)).status_code == 401
        await listener.stop()
        with pytest.raises(httpx2.HTTPError):
            await reader.post(address.url, **CALL)


async def test_signals_and_logging_are_left_alone(host: Host) -> None:
    def state() -> list[object]:
        access = logging.getLogger("uvicorn.access")
        signals = [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)]
        return [*signals, access.propagate, list(access.handlers), access.level, list(logging.getLogger().handlers)]

    before = state()
    async with listening(host) as (_, address), http(address.token) as client:
        await client.post(address.url, **CALL)
        assert state() == before
    assert state() == before

