"""Messages between two pipes and a real server: what goes in comes out as it was, however either side ends."""

from __future__ import annotations

import base64
import contextlib
import json
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import attrs
import pytest

from tests.hosts.running import running
from tests.mcp.sample.plugin import Seen
from tests.mcp.serving import MODERN, host_with, listening, sample_host
from tests.plugins_in_test import tool
from yazcore import Home, Host
from yazcore.mcp import bridge as bridging
from yazcore.mcp import lines
from yazcore.mcp.bridge import bridge
from yazcore.mcp.listener import Address, Listener
from yazcore.violations import YazError

pytestmark = pytest.mark.anyio

SOON = 20.0
META = {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}}
OPENING = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}


@attrs.define
class Client:
    """The other end of a bridge: what a client that speaks stdio does."""

    to_bridge: int
    from_bridge: Any
    listener: Listener
    there: bool = True
    fault: YazError | None = None
    over: anyio.Event = attrs.field(factory=anyio.Event)

    async def say(self, message: Any) -> None:
        data = message if isinstance(message, bytes) else json.dumps(message).encode()
        await anyio.to_thread.run_sync(write_all, self.to_bridge, data + b"\n")

    async def hear(self) -> Any:
        with anyio.fail_after(SOON):
            line = await anyio.to_thread.run_sync(self.from_bridge.readline)
        assert line.endswith(b"\n"), line
        return json.loads(line)

    async def ask(self, method: str, request_id: Any = 1, /, **params: Any) -> Any:
        await self.say({"jsonrpc": "2.0", "id": request_id, "method": method, "params": {**params, "_meta": META}})
        return await self.hear()

    def leave(self) -> None:
        os.close(self.to_bridge)
        self.to_bridge = -1

    async def ended(self) -> YazError | None:
        with anyio.fail_after(SOON):
            await self.over.wait()
        return self.fault


def write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


@contextlib.asynccontextmanager
async def bridged(host: Host, token: str | None = None) -> AsyncIterator[Client]:
    stdin, to_bridge = os.pipe()
    out, stdout = os.pipe()
    async with listening(host) as (listener, address):
        with os.fdopen(out, "rb") as from_bridge:
            client = Client(to_bridge, from_bridge, listener)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(carry, client, address, token, stdin, stdout)
                try:
                    yield client
                finally:
                    if client.to_bridge >= 0:
                        client.leave()
                    await client.over.wait()


async def carry(client: Client, address: Address, token: str | None, stdin: int, stdout: int) -> None:
    try:
        await bridge(address.url, token or address.token, there=lambda: client.there, stdin=stdin, stdout=stdout)
    except YazError as error:
        client.fault = error
    finally:
        os.close(stdout)
        client.over.set()
        os.close(stdin)


async def opened(client: Client) -> None:
    """A session of the older era."""
    await client.say({"jsonrpc": "2.0", "id": "open", "method": "initialize", "params": OPENING})
    answer = await client.hear()
    assert answer["result"]["protocolVersion"] == "2025-11-25"
    await client.say({"jsonrpc": "2.0", "method": "notifications/initialized"})


async def happens(event: Any) -> bool:
    return await anyio.to_thread.run_sync(event.wait, SOON)


# --- there and back ---------------------------------------------------------------------------------------------------


async def test_a_request_of_the_newer_era_is_answered_with_its_id(host: Host) -> None:
    async with bridged(host) as client:
        for request_id in (1, "1", "ü", 10**30, -1, ""):
            answer = await client.ask("tools/call", request_id, name="sample__echo", arguments={"text": "hi"})
            assert answer["id"] == request_id
            assert answer["result"]["structuredContent"] == {"text": "hi", "caller": "owner"}


async def test_a_session_of_the_older_era_lasts_from_request_to_request(host: Host) -> None:
    async with bridged(host) as client:
        await opened(client)
        for number in range(3):
            params = {"name": "sample__echo", "arguments": {"text": "hi"}}
            await client.say({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})
            assert (await client.hear())["result"]["structuredContent"]["caller"] == "owner"
        assert client.fault is None


async def test_names_that_no_header_can_hold_arrive(host: Host) -> None:
    async with bridged(host) as client:
        for name in ("ünknown", " edge ", "=?base64?x?=", "a\nb"):
            answer = await client.ask("tools/call", name=name, arguments={})
            assert answer["error"] == {"code": -32602, "message": f"Unknown tool: {name}"}


async def test_errors_of_the_protocol_come_through_as_they_are(host: Host) -> None:
    async with bridged(host) as client:
        assert (await client.ask("no/such"))["error"]["code"] == -32601
        wrong = {**META, "io.modelcontextprotocol/protocolVersion": "1999-01-01"}
        await client.say({"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {"_meta": wrong}})
        refused = await client.hear()
        assert (refused["id"], refused["error"]["code"]) == (2, -32022)


async def test_large_messages_go_through_whole_both_ways(host: Host) -> None:
    data = os.urandom(2**20)
    uri = f"yaz://result/{host.results.keep('owner', data, 'application/octet-stream')}"
    async with bridged(host) as client:
        text = "x" * 900_000
        kept = await client.ask("tools/call", name="sample__echo", arguments={"text": text})
        assert "900" in kept["result"]["content"][0]["text"]
        answer = await client.ask("resources/read", uri=uri)
        assert base64.b64decode(answer["result"]["contents"][0]["blob"]) == data
        await opened(client)
        await client.say({"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": uri}})
        assert base64.b64decode((await client.hear())["result"]["contents"][0]["blob"]) == data


async def test_a_message_larger_than_the_server_takes_is_refused_in_words_and_the_next_goes_through(host: Host) -> None:
    async with bridged(host) as client:
        refused = await client.ask("tools/call", name="sample__echo", arguments={"text": "x" * 2_000_000})
        assert refused == {
            "jsonrpc": "2.0", "id": 1, "error": {"code": -32600, "message": "the message is too large for yaz"}
        }  # fmt: skip
        assert (await client.ask("tools/list"))["result"]


async def test_many_requests_at_once_are_each_answered(host: Host) -> None:
    async with bridged(host) as client:
        for number in range(100):
            params = {"name": "sample__echo", "arguments": {"text": str(number), "turns": number % 7}, "_meta": META}
            await client.say({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})
        answers = [await client.hear() for _ in range(100)]
        assert {one["id"]: one["result"]["structuredContent"]["text"] for one in answers} == {
            number: str(number) for number in range(100)
        }


async def test_progress_comes_before_the_result_in_both_eras(host: Host) -> None:
    async with bridged(host) as client:
        await opened(client)
        for meta in (META, {}):
            params = {"name": "sample__count", "arguments": {"to": 3}, "_meta": {**meta, "progressToken": "p"}}
            await client.say({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
            heard = [await client.hear()]
            while "id" not in heard[-1]:
                heard.append(await client.hear())
            assert heard[-1]["result"]["structuredContent"] == {"counted": 3}
            assert heard[-2]["params"]["progress"] == 3


async def test_the_older_era_hears_that_lists_changed(home: Home, tmp_path: Path) -> None:
    host = host_with(tmp_path / "many", home, ["one"])
    async with bridged(host) as client:
        await opened(client)
        await client.say({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
        assert [tool["name"] for tool in (await client.hear())["result"]["tools"]] == ["one"]
        await anyio.to_thread.run_sync(host.deactivate, "yaz")
        told = {(await client.hear())["method"] for _ in range(3)}
        assert told == {f"notifications/{one}/list_changed" for one in ("tools", "resources", "prompts")}
    host.close()


# --- what is no message -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"{", -32700), (b"nonsense", -32700), (b"\xff\xfe", -32700), (b"[" * 100_000, -32700), (b"[]", -32600),
        (b'"text"', -32600), (b"7", -32600), (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","id":NaN,"method":"ping"}', -32600),
    ],
)  # fmt: skip
async def test_what_is_no_message_is_answered_as_such_and_the_next_goes_through(
    host: Host, line: bytes, code: int
) -> None:
    async with bridged(host) as client:
        await client.say(line)
        answer = await client.hear()
        assert (answer["id"], answer["error"]["code"]) == (None, code)
        assert (await client.ask("tools/list"))["id"] == 1


async def test_empty_lines_and_carriage_returns_are_nothing(host: Host) -> None:
    async with bridged(host) as client:
        await client.say(b"\r\n\n  \n")
        asked = {"jsonrpc": "2.0", "id": 7, "method": "tools/list", "params": {"_meta": META}}
        await client.say(json.dumps(asked).encode() + b"\r")
        assert (await client.hear())["id"] == 7


async def test_a_line_without_an_end_is_not_kept_for_ever(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "MOST_BYTES", 100_000)
    async with bridged(host) as client:
        with contextlib.suppress(BrokenPipeError):  # it may have ended before all of it was written
            await anyio.to_thread.run_sync(write_all, client.to_bridge, b"x" * 200_000)
        fault = await client.ended()
    assert fault is not None
    assert fault.code == "bridge-line"


async def test_an_id_that_is_in_use_is_refused_and_the_first_goes_on(host: Host, seen: Seen) -> None:
    async with bridged(host) as client:
        held = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "sample__hold", "_meta": META}}
        await client.say(held)
        assert await happens(seen.waiting)
        await client.say(held)
        assert (await client.hear())["error"]["message"] == "a request with this id is open"
        seen.released.set()
        assert (await client.hear())["result"]["structuredContent"] == {}


# --- cancelling, and the end ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("era", ["modern", "legacy"])
async def test_a_cancelled_request_is_cancelled_in_the_server(host: Host, seen: Seen, era: str) -> None:
    async with bridged(host) as client:
        meta: dict[str, Any] = {"_meta": META}
        if era == "legacy":
            await opened(client)
            meta = {}
        await client.say(
            {"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"name": "sample__wait", **meta}}
        )
        assert await happens(seen.waiting)
        told = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 5}}
        await client.say(told)
        assert await happens(seen.ended)
        await client.say(told)
        if era == "modern":
            assert (await client.ask("tools/list", 5))["id"] == 5


async def test_when_the_input_ends_what_still_runs_is_cancelled(
    host: Host, seen: Seen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bridging, "LAST_ANSWERS_SECONDS", 0.1)
    async with bridged(host) as client:
        await client.say(
            {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "sample__wait", "_meta": META}}
        )
        assert await happens(seen.waiting)
        client.leave()
        assert await client.ended() is None
        assert await happens(seen.ended)


async def test_what_was_asked_before_the_input_ended_is_answered(host: Host) -> None:
    async with bridged(host) as client:
        asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": META}}
        os.write(client.to_bridge, json.dumps(asked).encode())  # without a line break
        client.leave()
        assert (await client.hear())["result"]["tools"]
        assert await client.ended() is None


async def test_a_session_of_the_older_era_ends_with_the_input(host: Host) -> None:
    async with bridged(host) as client:
        await opened(client)
        client.leave()
        assert await client.ended() is None
        assert client.listener.address is not None


async def test_a_server_that_stops_ends_the_bridge_and_every_open_request_is_answered(host: Host, seen: Seen) -> None:
    async with bridged(host) as client:
        held = {"jsonrpc": "2.0", "id": "h", "method": "tools/call", "params": {"name": "sample__hold", "_meta": META}}
        await client.say(held)
        assert await happens(seen.waiting)
        client.there = False
        await client.listener.stop()
        answer = await client.hear()
        assert (answer["id"], answer["error"]["code"]) == ("h", -32000)
        fault = await client.ended()
        assert fault is not None
        assert fault.as_json() == {
            "code": "bridge-lost", "message": "yaz has stopped, and with it this connection",
            "fix": "start it again with yaz serve, then let the client connect anew",
        }  # fmt: skip


async def test_a_server_that_is_gone_is_noticed_without_a_request(host: Host) -> None:
    async with bridged(host) as client:
        assert (await client.ask("tools/list"))["id"] == 1
        client.there = False
        assert await client.ended() is not None


async def test_a_token_that_is_not_accepted_ends_the_bridge(host: Host) -> None:
    async with bridged(host, token="another") as client:
        answer = await client.ask("tools/list")
        assert answer["error"]["message"] == "yaz does not accept the token"
        fault = await client.ended()
        assert fault is not None
        assert fault.code == "bridge-token"


async def test_a_client_that_reads_no_more_ends_the_bridge(host: Host) -> None:
    async with bridged(host) as client:
        client.from_bridge.close()
        await client.say({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": META}})
        assert await client.ended() is None


async def test_the_token_goes_to_no_proxy_of_the_environment(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    async with bridged(host) as client:
        assert (await client.ask("tools/list"))["result"]["tools"]


async def test_arguments_that_stand_in_headers_too_are_put_there(home: Home, tmp_path: Path) -> None:
    """What the newer era asks of an HTTP client (`x-mcp-header`); a client on stdio knows nothing of it."""
    region = {"type": "string", "maxLength": 20, "x-mcp-header": "Region"}
    schema = {"type": "object", "properties": {"region": region}, "additionalProperties": False}
    code = """
class Plugin:
    def __init__(self, context):
        pass

    @hookimpl
    def provide_tools(self):
        return [Tool("where", lambda context, arguments: {"region": arguments.get("region")})]
"""
    with running(tmp_path, home, code, provides={"tools": [tool("where", inputSchema=schema)]}) as host:
        async with bridged(host) as client:
            refused = await client.ask("tools/call", name="demo__where", arguments={"region": "süd"})
            assert refused["error"]["code"] == -32020
            await client.ask("tools/list")
            answer = await client.ask("tools/call", name="demo__where", arguments={"region": "süd"})
            assert answer["result"]["structuredContent"] == {"region": "süd"}
            assert (await client.ask("tools/call", name="demo__where", arguments={}))["result"]


async def test_a_question_of_the_older_era_reaches_the_client_and_its_answer_the_server(home: Home) -> None:
    home.write_text("settings.toml", '[plugins.sample.tools.echo]\napproval = "ask"\n')
    host = sample_host(home)
    async with bridged(host) as client:
        opening = {**OPENING, "capabilities": {"elicitation": {}}}
        await client.say({"jsonrpc": "2.0", "id": "open", "method": "initialize", "params": opening})
        await client.hear()
        await client.say({"jsonrpc": "2.0", "method": "notifications/initialized"})
        params = {"name": "sample__echo", "arguments": {"text": "hi"}}
        await client.say({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
        question = await client.hear()
        assert question["method"] == "elicitation/create"
        yes = {"action": "accept", "content": {"allow": True}}
        await client.say({"jsonrpc": "2.0", "id": question["id"], "result": yes})
        assert (await client.hear())["result"]["structuredContent"] == {"text": "hi", "caller": "owner"}
    host.close()
