"""Subscriptions in both eras: what is told, to whom, and when no more."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import anyio
import httpx2
import mcp_types as types
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import ResourceUpdated

from tests.hosts.conformance import conformance
from tests.mcp.serving import ACCEPT, MODERN, connected, http, listening, modern
from yazcore import Home, Host, PermissionGrant, Principal
from yazcore.mcp import changes
from yazcore.mcp.listener import Address

pytestmark = [
    pytest.mark.anyio,
    # what only the older era has, the SDK's client calls deprecated
    pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning"),
]

WATCHED, STATIC, NOWHERE = "test://watched-resource", "test://static-text", "test://nowhere"
users: dict[str, Principal] = {}
UNKNOWABLE = Principal(name="whose database is away")


def user_of(token: str) -> Principal | None:
    if users.get(token) is UNKNOWABLE:
        raise ConnectionError("the database is away")
    return users.get(token)


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    host = conformance(Home(tmp_path_factory.mktemp("changes")))
    yield host
    host.close()


@pytest.fixture
async def address(watched: Host) -> AsyncIterator[Address]:
    users.clear()
    users["ada"] = Principal(name="ada", grants=(PermissionGrant("conformance:use"),))
    async with listening(watched, named=user_of) as (_, address):
        yield address


class Heard:
    """What an older client is told, as it comes."""

    def __init__(self) -> None:
        self.uris: asyncio.Queue[str] = asyncio.Queue()

    async def __call__(self, message: Any) -> None:
        if isinstance(message, types.ResourceUpdatedNotification):
            self.uris.put_nowait(message.params.uri)


async def subscribed(client: Client, uri: str) -> None:
    await client.session.subscribe_resource(uri)


async def test_a_resource_that_changed_is_told_on_a_stream_of_the_newer_era(address: Address, watched: Host) -> None:
    async with (
        connected(address.url, "ada", MODERN) as client,
        client.listen(resource_subscriptions=[WATCHED]) as events,
    ):
        watched.changed(STATIC)
        watched.changed(WATCHED)
        with anyio.fail_after(5):
            async for event in events:
                assert event == ResourceUpdated(uri=WATCHED)
                break


async def test_a_resource_that_changed_is_told_to_a_session_of_the_older_era(address: Address, watched: Host) -> None:
    heard = Heard()
    async with connected(address.url, "ada", "legacy", message_handler=heard) as client:
        await subscribed(client, WATCHED)
        await subscribed(client, STATIC)
        await told(watched, heard, WATCHED)
        await client.session.unsubscribe_resource(WATCHED)
        watched.changed(WATCHED)
        await told(watched, heard, STATIC)
        await client.session.unsubscribe_resource(NOWHERE)


async def told(host: Host, heard: Heard, uri: str) -> None:
    """Say that a resource changed until the client hears of it: its stream may not be open yet."""
    with anyio.fail_after(5):
        while True:
            host.changed(uri)
            with anyio.move_on_after(0.2):
                assert await heard.uris.get() == uri
                return


async def test_what_may_not_be_read_cannot_be_subscribed_to(address: Address) -> None:
    users["nil"] = Principal(name="nil")
    for name, uri in (("nil", WATCHED), ("ada", NOWHERE)):
        async with connected(address.url, name, "legacy") as client:
            with pytest.raises(MCPError) as raised:
                await subscribed(client, uri)
        assert (raised.value.error.code, raised.value.error.data) == (-32002, {"uri": uri})
        assert raised.value.error.message == f"No such resource: {uri}"


@pytest.mark.parametrize(("name", "honoured"), [("ada", [WATCHED]), ("nil", None)])
async def test_a_stream_acknowledges_what_may_be_read_and_no_more(
    address: Address, name: str, honoured: list[str] | None
) -> None:
    users["nil"] = Principal(name="nil")
    request = modern("subscriptions/listen", {"notifications": {"resourceSubscriptions": [NOWHERE, WATCHED]}})
    async with http(name) as client, client.stream("POST", address.url, **request) as answer:
        lines = answer.aiter_lines()
        with anyio.fail_after(5):
            first = await anext(line async for line in lines if line.startswith("data:"))
    params = types.jsonrpc_message_adapter.validate_json(first.removeprefix("data:"), by_name=False).params
    assert params is not None
    assert params["notifications"].get("resourceSubscriptions") == honoured


async def test_whoever_lost_the_permission_is_told_no_more(address: Address, watched: Host) -> None:
    heard = Heard()
    async with connected(address.url, "ada", "legacy", message_handler=heard) as client:
        await subscribed(client, WATCHED)
        await subscribed(client, "test://template/a/data")
        await told(watched, heard, WATCHED)
        users["ada"] = Principal(name="ada", tools=frozenset())
        watched.changed(WATCHED)
        async with http("ada") as plain:  # served after the change was told
            assert (await plain.post(address.url, **modern("tools/list"))).status_code == 200
        users["ada"] = Principal(name="ada", grants=(PermissionGrant("conformance:use"),))
        await told(watched, heard, "test://template/a/data")


async def test_a_stream_whose_token_is_dead_ends_at_the_next_change(address: Address, watched: Host) -> None:
    request = modern("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
    async with http("ada") as client, client.stream("POST", address.url, **request) as answer:
        lines = answer.aiter_lines()
        with anyio.fail_after(5):
            assert "acknowledged" in await anext(line async for line in lines if line.startswith("data:"))
            del users["ada"]
            watched.changed(STATIC)
            rest = [line async for line in lines]
    assert not any("list_changed" in line for line in rest)


async def older_session(client: httpx2.AsyncClient, url: str) -> dict[str, str]:
    """The headers of a request in a session that this client has opened in the older era."""
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    body = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}
    opened = await client.post(url, json=body, headers={"Accept": ACCEPT})
    headers = {
        "Accept": ACCEPT, "MCP-Protocol-Version": "2025-11-25", "Mcp-Session-Id": opened.headers["mcp-session-id"],
    }  # fmt: skip
    note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert (await client.post(url, json=note, headers=headers)).status_code == 202
    return headers


@pytest.fixture
def quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changes, "WATCH_SECONDS", 0.02)


@pytest.mark.usefixtures("quickly")
@pytest.mark.parametrize("how", ["dead", "nobody can say"])
async def test_a_stream_of_the_newer_era_ends_with_its_token(address: Address, how: str) -> None:
    request = modern("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
    async with http("ada") as client, client.stream("POST", address.url, **request) as answer:
        lines = answer.aiter_lines()
        with anyio.fail_after(10):
            assert "acknowledged" in await anext(line async for line in lines if line.startswith("data:"))
            stop(how)
            assert not [line async for line in lines if "list_changed" in line]


@pytest.mark.usefixtures("quickly")
@pytest.mark.parametrize("how", ["dead", "nobody can say"])
async def test_a_stream_of_the_older_era_ends_with_its_token_and_the_session_stays(
    address: Address, how: str, caplog: pytest.LogCaptureFixture
) -> None:
    users["new"] = users["ada"]
    async with http("ada") as client, http("new") as renewed:
        headers = await older_session(client, address.url)
        async with client.stream("GET", address.url, headers=headers) as answer:
            assert answer.status_code == 200
            with anyio.fail_after(10):
                stop(how)
                assert [line async for line in answer.aiter_lines() if line.startswith("data:")] == []
        ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        assert (await renewed.post(address.url, json=ping, headers=headers)).status_code == 200
    assert [record for record in caplog.records if record.name.startswith("uvicorn")] == []


def stop(how: str) -> None:
    """Make a token open nothing: it is nobody's, or the application fails where it should say whose it is."""
    if how == "dead":
        del users["ada"]
    else:
        users["ada"] = UNKNOWABLE


async def test_a_stream_with_a_renewed_token_goes_on_and_is_told(
    address: Address, watched: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes, "WATCH_SECONDS", 0.02)
    users["new"] = users["ada"]
    async with http("ada") as client, http("new") as renewed:
        headers = await older_session(client, address.url)
        subscribe = {"jsonrpc": "2.0", "id": 1, "method": "resources/subscribe", "params": {"uri": WATCHED}}
        assert (await client.post(address.url, json=subscribe, headers=headers)).status_code == 200
        async with renewed.stream("GET", address.url, headers=headers) as answer:
            del users["ada"]
            async with http("new") as plain:  # the watch has gone round at least once while this was served
                for _ in range(5):
                    assert (await plain.post(address.url, **modern("tools/list"))).status_code == 200
            watched.changed(WATCHED)
            with anyio.fail_after(10):
                line = await anext(line async for line in answer.aiter_lines() if line.startswith("data:"))
            assert WATCHED in line


async def test_subscriptions_are_bounded(address: Address, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changes, "MOST_URIS", 2)
    uris = [f"test://template/{number}/data" for number in range(3)]
    async with connected(address.url, "ada", "legacy") as client:
        await subscribed(client, uris[0])
        await subscribed(client, uris[1])
        await subscribed(client, uris[1])
        with pytest.raises(MCPError, match="at most 2 resources"):
            await subscribed(client, uris[2])
    async with http("ada") as plain:
        request = modern("subscriptions/listen", {"notifications": {"resourceSubscriptions": uris}})
        assert (await plain.post(address.url, **request)).json()["error"]["message"] == (
            "at most 2 resources can be subscribed to"
        )


async def test_one_principals_streams_are_bounded_and_leave_the_others_alone(
    address: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes, "MOST_STREAMS_EACH", 1)
    users["bob"] = Principal(name="bob")
    async with connected(address.url, "ada", MODERN) as ada, ada.listen(tools_list_changed=True):
        with pytest.raises(MCPError, match="1 listen streams are open already"):
            async with ada.listen(tools_list_changed=True):
                pass
        async with connected(address.url, "bob", MODERN) as bob, bob.listen(tools_list_changed=True):
            pass
    async with connected(address.url, "ada", MODERN) as ada, ada.listen(tools_list_changed=True):
        pass


async def test_a_plugin_says_only_of_its_own_that_it_changed(watched: Host) -> None:
    heard: list[str] = []
    forget = watched.changes.add(heard.append)
    context = watched.catalogue.now.plugins["conformance"].running._context
    context.changed(WATCHED)
    context.changed("test://template/x/data")
    for uri in (NOWHERE, "yaz://zotero/x", "", 7, None):
        with pytest.raises(ValueError, match="that the plugin declares"):
            context.changed(uri)
    forget()
    assert heard == [WATCHED, "test://template/x/data"]
