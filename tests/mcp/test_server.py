"""What the official client gets, in both protocol eras, over real HTTP."""

from __future__ import annotations

import json
import threading
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import BlobResourceContents, ResourceTemplateReference, TextContent, TextResourceContents

from tests.mcp.sample.plugin import Seen
from tests.mcp.serving import (
    CONTRACT,
    ERAS,
    MODERN,
    SAMPLE,
    connected,
    host_with,
    http,
    listening,
    modern,
    sample_host,
    words,
)
from tests.plugins_in_test import manifest, plugin_folder, tool
from yazcore import OWNER, Home, Host, Principal
from yazcore.mcp.listener import Address
from yazcore.mcp.server import Face
from yazcore.mcp.surface import tool_object

pytestmark = pytest.mark.anyio

SOON = partial(anyio.fail_after, 10)
LOOKER = Principal(name="looker", owner=True, tools=frozenset({"sample__echo", "sample__store"}), read_only=True)


@pytest.fixture(scope="module")
async def address(host: Host) -> AsyncIterator[Address]:
    async with listening(host, named={"of-a-looker": LOOKER}.get) as (_, address):
        yield address


@pytest.fixture(params=ERAS)
async def client(request: pytest.FixtureRequest, address: Address) -> AsyncIterator[Client]:
    async with connected(address.url, address.token, request.param) as client:
        yield client


async def happens(event: threading.Event) -> bool:
    return await anyio.to_thread.run_sync(event.wait, 10)


def declared_tools() -> list[dict[str, Any]]:
    tools: list[dict[str, Any]] = json.loads((SAMPLE / "manifest.json").read_text())["provides"]["tools"]
    return sorted(tools, key=lambda tool: str(tool["name"]))


# --- lists ------------------------------------------------------------------------------------------------------------


async def test_both_eras_are_spoken(address: Address) -> None:
    spoken = []
    for mode in ERAS:
        async with connected(address.url, address.token, mode) as client:
            spoken.append(client.protocol_version)
    assert spoken == [MODERN, "2025-11-25"]


@pytest.mark.parametrize("order", [(MODERN, "2025-11-25"), ("2025-11-25", MODERN)])
async def test_each_era_gets_the_list_in_its_own_shape(host: Host, order: tuple[str, str]) -> None:
    async with listening(host) as (_, address), http(address.token) as client:
        shapes = {version: set(await raw_list(client, address.url, version)) for version in order for _ in range(2)}
    assert shapes == {
        MODERN: {"tools", "ttlMs", "cacheScope", "resultType", "_meta"},
        "2025-11-25": {"tools"},
    }  # fmt: skip


async def test_tools_are_listed_by_name_and_privately(client: Client) -> None:
    listed = await client.list_tools()
    assert [tool.name for tool in listed.tools] == [f"sample__{tool['name']}" for tool in declared_tools()]
    assert listed.next_cursor is None
    if client.protocol_version == MODERN:
        assert (listed.ttl_ms, listed.cache_scope) == (1000, "private")


@pytest.mark.parametrize(
    "method", ["tools/list", "resources/list", "resources/templates/list", "prompts/list", "server/discover"]
)
async def test_every_list_may_be_kept_for_a_second_by_its_caller_alone(address: Address, method: str) -> None:
    async with http(address.token) as client:
        result = (await client.post(address.url, **modern(method))).json()["result"]
    assert (result["ttlMs"], result["cacheScope"]) == (1000, "private")


async def test_a_call_makes_no_list_of_the_tools(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """mcp D2: asked for a tool's schema, the SDK would list all there are, for each call."""
    await client.list_tools()  # the client keeps what it needs to look at results itself
    listed: list[str] = []
    real = Face._cached

    async def counted(face: Face, ctx: Any, call_next: Any) -> Any:
        listed.append(ctx.method)
        return await real(face, ctx, call_next)

    monkeypatch.setattr(Face, "_cached", counted)
    for _ in range(3):
        assert not (await client.call_tool("sample__echo", {"text": "hi"})).is_error
    assert listed == []


REGION = """
from yazcore import *

class Plugin:
    def __init__(self, context):
        pass

    @hookimpl
    def provide_tools(self):
        return [Tool("look", lambda context, arguments: arguments)]
"""


async def test_an_argument_that_a_header_repeats_must_be_the_same_in_both(tmp_path: Path, home: Home) -> None:
    """The SDK asks the gate for the declared schema, which names the header."""
    properties = {"region": {"type": "string", "x-mcp-header": "Region"}}
    declared = tool("look", inputSchema={"type": "object", "properties": properties})
    document = manifest(contract=1, minAppVersion="0.1.0", provides={"tools": [declared]})
    with plugin_folder(tmp_path, document, REGION) as package:
        host = Host(CONTRACT, home=home, builtin=[package], discover=False)
        host.activate()
        async with listening(host) as (_, address), http(address.token) as client:
            request = modern("tools/call", {"name": "demo__look", "arguments": {"region": "north"}})
            codes = []
            for region in ("north", "south"):
                headers = {**request["headers"], "Mcp-Param-Region": region}
                answer = (await client.post(address.url, json=request["json"], headers=headers)).json()
                codes.append(answer["error"]["code"] if "error" in answer else answer["result"]["isError"])
            assert codes == [False, -32020]
        host.close()


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("server/discover", {}), ("tools/list", {}), ("resources/list", {}), ("resources/templates/list", {}),
        ("prompts/list", {}), ("resources/read", {"uri": "yaz://sample/note"}),
        ("resources/read", {"uri": "yaz://sample/item/one"}),
    ],
)  # fmt: skip
async def test_lists_and_reads_say_how_long_and_for_whom_they_may_be_kept(
    address: Address, method: str, params: dict[str, str]
) -> None:
    async with http(address.token) as client:
        result = (await client.post(address.url, **modern(method, params))).json()["result"]
    assert type(result["ttlMs"]) is int
    assert result["ttlMs"] >= 0
    assert result["cacheScope"] == ("public" if params.get("uri") == "yaz://sample/note" else "private")


async def test_the_list_is_the_same_each_time(client: Client) -> None:
    first = await client.list_tools(cache_mode="refresh")
    again = await client.list_tools(cache_mode="refresh")
    assert first == again


@pytest.mark.parametrize("version", [MODERN, "2025-11-25"])
async def test_declared_schemas_arrive_as_they_are(host: Host, address: Address, version: str) -> None:
    async with http(address.token) as client:
        listed = (await raw_list(client, address.url, version))["tools"]
    by_name = {tool["name"]: tool for tool in listed}
    for declared in declared_tools():
        shown = by_name[f"sample__{declared['name']}"]
        assert shown["inputSchema"] == declared["inputSchema"]
        assert shown.get("outputSchema") == declared.get("outputSchema")
    assert "default" in by_name["sample__odd"]["inputSchema"]
    assert listed == [json.loads(json.dumps(tool_object(tool))) for tool in host.gate.tools(OWNER)]


async def raw_list(client: Any, url: str, version: str) -> dict[str, Any]:
    if version == MODERN:
        answer = (await client.post(url, **modern("tools/list"))).json()
        return answer["result"]  # type: ignore[no-any-return]
    headers = {"Accept": "application/json, text/event-stream"}
    params = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    opened = await client.post(
        url, json={"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}, headers=headers
    )
    headers["Mcp-Session-Id"] = opened.headers["mcp-session-id"]
    answer = await client.post(url, json={"jsonrpc": "2.0", "id": 2, "method": "tools/list"}, headers=headers)
    data = next(line for line in answer.text.splitlines() if line.startswith("data:"))
    return json.loads(data.removeprefix("data:"))["result"]  # type: ignore[no-any-return]


async def test_hints_and_origin_are_shown(client: Client) -> None:
    shown = {tool.name: tool for tool in (await client.list_tools()).tools}
    store = shown["sample__store"]
    assert store.annotations is not None
    assert store.annotations.model_dump(exclude_none=True) == {
        "read_only_hint": False, "destructive_hint": True, "idempotent_hint": True, "open_world_hint": False,
    }  # fmt: skip
    assert store.meta == {
        "yazcore/plugin": "sample", "yazcore/permission": "sample:write", "yazcore/scope": "global",
    }  # fmt: skip


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_principal_sees_what_its_allow_list_has(address: Address, mode: str) -> None:
    async with (
        connected(address.url, address.token, mode) as owner,
        connected(address.url, "of-a-looker", mode) as looker,
    ):
        assert len((await owner.list_tools()).tools) == len(declared_tools())
        assert [tool.name for tool in (await looker.list_tools()).tools] == ["sample__echo"]
        assert len((await owner.list_tools(cache_mode="refresh")).tools) == len(declared_tools())
        assert "sample__store" in (owner.instructions or "")
        assert "sample__store" not in (looker.instructions or "")
        with pytest.raises(MCPError) as caught:
            await looker.call_tool("sample__store", {})
        assert (caught.value.code, caught.value.message) == (-32602, "Unknown tool: sample__store")


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_instructions_name_every_tool(address: Address, mode: str) -> None:
    async with connected(address.url, address.token, mode) as client:
        told = client.instructions or ""
    assert [tool["name"] for tool in declared_tools() if f"sample__{tool['name']}" not in told] == []


@pytest.mark.parametrize("mode", ERAS)
async def test_long_lists_come_in_pages(tmp_path: Path, home: Home, mode: str) -> None:
    names = [f"tool-{number:03}" for number in range(300)]
    host = host_with(tmp_path / "many", home, names)
    async with listening(host) as (_, address), connected(address.url, address.token, mode) as client:
        listed, sizes, cursor = [], [], None
        while True:
            page = await client.list_tools(cursor=cursor)
            listed += [tool.name for tool in page.tools]
            sizes.append(len(page.tools))
            if (cursor := page.next_cursor) is None:
                break
        assert listed == names
        assert sizes == [250, 50]
        again = await client.call_tool("tool-249", {})
        assert again.structured_content == {"name": "tool-249"}
    host.close()


@pytest.mark.parametrize("listing", ["list_tools", "list_resources", "list_resource_templates", "list_prompts"])
@pytest.mark.parametrize("cursor", ["abc", "", "dG9vbHM="])
async def test_a_bad_cursor_is_refused(client: Client, listing: str, cursor: str) -> None:
    with pytest.raises(MCPError) as caught:
        await getattr(client, listing)(cursor=cursor)
    assert caught.value.code == -32602


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_both_eras_are_told_that_lists_may_change(address: Address, mode: str) -> None:
    async with connected(address.url, address.token, mode) as client:
        told = client.server_capabilities
    changes = [kind.list_changed for kind in (told.tools, told.resources, told.prompts) if kind is not None]
    assert changes == [True, True, True]


@pytest.mark.parametrize("mode", ERAS)
async def test_a_plugin_that_leaves_is_gone_from_the_list_and_clients_are_told(home: Home, mode: str) -> None:
    host = sample_host(home)
    told: list[str] = []
    heard = anyio.Event()

    async def hear(message: Any) -> None:
        told.append(getattr(message, "method", type(message).__name__))
        if "notifications/tools/list_changed" in told:
            heard.set()

    with SOON():
        async with (
            listening(host) as (_, address),
            connected(address.url, address.token, mode, message_handler=hear) as client,
        ):
            assert (await client.list_tools()).tools
            if mode == MODERN:
                async with client.listen(tools_list_changed=True) as events:
                    await anyio.to_thread.run_sync(host.deactivate, "sample")
                    async for _ in events:
                        break
            else:
                await anyio.to_thread.run_sync(host.deactivate, "sample")
                await heard.wait()
            assert (await client.list_tools(cache_mode="refresh")).tools == []
            with pytest.raises(MCPError):
                await client.call_tool("sample__echo", {"text": "hi"})
    host.close()


# --- calls ------------------------------------------------------------------------------------------------------------


async def test_a_call_gives_data_and_the_same_as_text(client: Client) -> None:
    result = await client.call_tool("sample__echo", {"text": "größe"})
    assert result.structured_content == {"text": "größe", "caller": "owner"}
    assert json.loads(words(result)) == result.structured_content
    assert result.is_error is False


async def test_words_and_links_of_a_result_arrive(client: Client) -> None:
    result = await client.call_tool("sample__describe", {})
    assert result.structured_content == {"notes": 1}
    assert words(result) == "One note."
    assert result.content[1].model_dump(exclude_none=True, by_alias=True) == {
        "type": "resource_link", "uri": "yaz://sample/note", "name": "the note", "mimeType": "text/plain",
        "description": "what was noted",
    }  # fmt: skip


async def test_what_a_plugin_refuses_can_be_read(client: Client) -> None:
    result = await client.call_tool("sample__refuse", {})
    assert result.is_error is True
    assert result.structured_content is None
    assert words(result) == "the cupboard is bare: ask for something else"


async def test_a_crash_is_masked(client: Client) -> None:
    result = await client.call_tool("sample__crash", {})
    assert result.is_error is True
    assert "yaz log" in words(result)
    assert "secret" not in str(result)


async def test_wrong_arguments_are_a_result_that_says_what_is_wrong(client: Client) -> None:
    result = await client.call_tool("sample__echo", {"text": 5})
    assert result.is_error is True
    assert result.structured_content is None
    assert "text" in words(result)


@pytest.mark.parametrize("name", ["sample__nothing", "echo", "", "sample__ECHO"])
async def test_an_unknown_tool_is_a_protocol_error(client: Client, name: str) -> None:
    with pytest.raises(MCPError) as caught:
        await client.call_tool(name, {})
    assert (caught.value.code, caught.value.message) == (-32602, f"Unknown tool: {name}")


@pytest.mark.parametrize("steps", [1, 300])
async def test_progress_grows_and_ends_with_the_last_step(client: Client, steps: int) -> None:
    told: list[tuple[float, float | None, str | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, total, message))

    result = await client.call_tool("sample__count", {"to": steps}, progress_callback=hear)
    assert result.structured_content == {"counted": steps}
    assert list(told[-1]) == [steps, steps, f"step {steps}"]
    assert [done for done, _, _ in told] == sorted({done for done, _, _ in told})


@pytest.mark.parametrize("then", ["back", "nan"])
async def test_progress_that_does_not_grow_is_dropped(client: Client, seen: Seen, then: str) -> None:
    told: list[float] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        told.append(progress)
        if progress == 3:
            seen.released.set()

    with SOON():
        await client.call_tool("sample__count", {"to": 3, "then": then}, progress_callback=hear)
    assert told[-1] == 3
    assert sorted(set(told)) == told


async def test_a_fault_under_progress_is_still_a_protocol_error(client: Client) -> None:
    async def hear(progress: float, total: float | None, message: str | None) -> None:
        raise AssertionError

    with pytest.raises(MCPError) as caught:
        await client.call_tool("sample__nothing", {}, progress_callback=hear)
    assert caught.value.code == -32602


@pytest.mark.parametrize("mode", ERAS)
async def test_a_call_that_nobody_waits_for_is_cancelled(address: Address, seen: Seen, mode: str) -> None:
    with SOON():
        async with connected(address.url, address.token, mode) as client:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(client.call_tool, "sample__wait", {})
                assert await happens(seen.waiting)
                tasks.cancel_scope.cancel()
            assert await happens(seen.ended)
            assert (await client.call_tool("sample__echo", {"text": "on"})).is_error is False


async def test_calls_of_one_client_run_side_by_side(client: Client, seen: Seen) -> None:
    with SOON():
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.call_tool, "sample__hold", {})
            assert await happens(seen.waiting)
            result = await client.call_tool("sample__echo", {"text": "meanwhile"})
            assert result.structured_content == {"text": "meanwhile", "caller": "owner"}
            seen.released.set()


# --- resources, prompts, completion -----------------------------------------------------------------------------------


async def test_resources_and_templates_are_listed_apart(client: Client) -> None:
    fixed = (await client.list_resources()).resources
    templates = (await client.list_resource_templates()).resource_templates
    assert [(one.uri, one.name, one.mime_type) for one in fixed] == [
        ("yaz://sample/blob", "Blob", None), ("yaz://sample/note", "Note", "text/plain"),
    ]  # fmt: skip
    assert [(one.uri_template, one.description) for one in templates] == [("yaz://sample/item/{key}", "One item.")]


async def test_text_bytes_and_data_can_be_read(client: Client) -> None:
    note = await client.read_resource("yaz://sample/note")
    uri = "yaz://sample/note"
    assert note.contents == [TextResourceContents(uri=uri, mime_type="text/plain", text="a note")]
    (blob,) = (await client.read_resource("yaz://sample/blob")).contents
    assert isinstance(blob, BlobResourceContents)
    assert blob.blob == "AP8="
    item = await client.read_resource("yaz://sample/item/one")
    (data,) = item.contents
    assert isinstance(data, TextResourceContents)
    assert json.loads(data.text) == {"key": "one"}
    if client.protocol_version == MODERN:
        assert (note.ttl_ms, note.cache_scope) == (5000, "public")
        assert (item.ttl_ms, item.cache_scope) == (0, "private")


async def test_an_unknown_resource_is_an_error_of_the_era(client: Client) -> None:
    with pytest.raises(MCPError) as caught:
        await client.read_resource("yaz://sample/nothing")
    assert caught.value.code == (-32602 if client.protocol_version == MODERN else -32002)
    assert caught.value.data == {"uri": "yaz://sample/nothing"}


async def test_prompts_are_listed_and_given(client: Client) -> None:
    (listed,) = (await client.list_prompts()).prompts
    assert (listed.name, listed.description) == ("sample__greet", "Greet somebody.")
    assert [(one.name, one.required) for one in listed.arguments or []] == [("name", True)]
    given = await client.get_prompt("sample__greet", {"name": "Ada"})
    assert given.description == "Greet somebody."
    assert [(one.role, one.content) for one in given.messages] == [("user", TextContent(text="Greet Ada."))]


@pytest.mark.parametrize(
    ("name", "arguments"), [("sample__nothing", {}), ("sample__greet", {}), ("sample__greet", {"x": "y"})]
)
async def test_a_prompt_that_cannot_be_given_is_a_protocol_error(
    client: Client, name: str, arguments: dict[str, str]
) -> None:
    with pytest.raises(MCPError) as caught:
        await client.get_prompt(name, arguments)
    assert caught.value.code == -32602


async def test_values_of_a_variable_are_proposed(client: Client) -> None:
    template = ResourceTemplateReference(uri="yaz://sample/item/{key}")
    proposed = await client.complete(template, {"name": "key", "value": "key-1"})
    assert proposed.completion.values == ["key-1"]
    assert proposed.completion.has_more is False


# --- in the same process ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ERAS)
async def test_a_client_in_the_same_process_is_the_principal_it_was_given(host: Host, mode: str) -> None:
    async with Client(Face(host, principal=OWNER).server, mode=mode) as client:
        result = await client.call_tool("sample__echo", {"text": "hi"})
    assert result.structured_content == {"text": "hi", "caller": "owner"}


async def test_without_a_principal_nobody_is_served(host: Host, caplog: pytest.LogCaptureFixture) -> None:
    async with Client(Face(host).server, mode="2026-07-28") as client:
        with pytest.raises(MCPError) as caught:
            await client.call_tool("sample__echo", {"text": "hi"})
    assert caught.value.message == "nobody is named as the caller"
