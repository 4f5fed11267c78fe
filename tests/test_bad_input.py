"""Bad input, all the way: over HTTP with the official client, each with a clear sentence, the right code, nothing lost.

One yaz with plugins that misbehave in every way beside one that does not.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import attrs
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from tests.mcp.serving import MODERN, connected, http, listening, modern, words
from tests.plugins_in_test import manifest, plugin_folder, tool
from yazcore import Home, PluginStatus
from yazcore.writing.application import WritingApp, open_writing
from yazcore.writing.projects.engines import Limits, TypstEngine

pytestmark = pytest.mark.anyio

ELSEWHERE = "prj_aaaaaaaaaaaa"
GOOD = "= One\n\nSome words.\n"


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


def code(hook: str = "return [Tool('t', self.t)]", handler: str = "return {'fine': True}", first: str = "") -> str:
    return f"""
from yazcore import Tool, hookimpl
import sys, threading
{first}
class Plugin:
    def __init__(self, context):
        self.context = context

    @hookimpl
    def provide_tools(self):
        {hook}

    def t(self, context, arguments):
        {handler}
"""


PLUGINS: dict[str, tuple[str, dict[str, Any]]] = {
    "good": (code(), {}),
    "faulty": (code(), {"version": "one", "repository": "ftp://x", "colour": "red"}),
    "older": (code(), {"contract": 0}),
    "newer": (code(), {"contract": 2}),
    "imports": (code(first="raise ImportError('no such thing')"), {}),
    "exits": (code(first="raise SystemExit(3)"), {}),
    "hooked": (code(hook="raise ValueError('in the hook')"), {}),
    "hook-exits": (code(hook="raise SystemExit"), {}),
    "undeclared": (code(hook="return [Tool('t', self.t), Tool('extra', self.t)]"), {}),
    "unregistered": (code(hook="return []"), {}),
    "crashes": (code(handler="raise ValueError('/home/anna/secret')"), {}),
    "quits": (code(handler="raise SystemExit(1)"), {}),
    "never": (code(handler="threading.Event().wait(20)"), {}),
    "writes": (code(handler="context.files.write_text('stolen.typ', 'x')"), {
        "capabilities": [{"kind": "fs-project", "access": "write"}],
    }),
    "selfish": (code(), {}),
}  # fmt: skip


def document(plugin_id: str, more: dict[str, Any]) -> dict[str, Any]:
    declared = tool("t", permission=f"{plugin_id}:read", deadlineSeconds=1)
    if plugin_id == "writes":
        project = {"type": "object", "properties": {"projectId": {"type": "string"}}, "required": ["projectId"]}
        declared |= {"scope": "project", "inputSchema": project, "deadlineSeconds": 20}
    return manifest(plugin_id, **{"contract": 1, "minAppVersion": "0.1.0", "provides": {"tools": [declared]}, **more})


@attrs.frozen
class Yaz:
    """A yaz with all of them, and its folders."""

    app: WritingApp
    root: Path
    home: Home

    @property
    def project(self) -> str:
        return self.app.projects()[0]["projectId"]

    def status(self, plugin_id: str) -> PluginStatus:
        (found,) = (one for one in self.app.host.plugins() if one.id == plugin_id)
        return found

    def files(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in self.root.rglob("*") if path.is_file()}

    @asynccontextmanager
    async def client(self) -> AsyncIterator[Client]:
        async with listening(self.app.host) as (_, address), connected(address.url, address.token, MODERN) as client:
            yield client


@pytest.fixture(scope="module")
def yaz(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Yaz]:
    folder = tmp_path_factory.mktemp("bad")
    root, home = folder / "thesis", Home(folder / "yaz")
    root.mkdir()
    (root / "main.typ").write_text(GOOD)
    (folder / "outside.typ").write_text("= Secret\n")
    (root / "link.typ").symlink_to(folder / "outside.typ")
    (root / "dangling.typ").symlink_to(folder / "nowhere.typ")
    with ExitStack() as stack:
        folders = [
            stack.enter_context(plugin_folder(
                folder / plugin_id, document(plugin_id, more), text,
                {"en-US": "text = { text }\n"} if plugin_id == "selfish" else None,
            ))
            for plugin_id, (text, more) in PLUGINS.items()
        ]  # fmt: skip
        engine = TypstEngine(home.path("packages"), Limits(memory=600 * 2**20))
        app = open_writing(
            home, [root], builtin=folders, discover=False, engines={"typst": engine}, compile_seconds=4.0
        )
        stack.callback(app.close)
        yield Yaz(app, root, home)


# --- plugins


@pytest.mark.parametrize(
    ("plugin_id", "state", "said"),
    [
        ("faulty", "refused", ["version-invalid", "repository-invalid", "manifest-unknown-key"]),
        ("older", "refused", ["contract-mismatch"]),
        ("newer", "refused", ["contract-mismatch"]),
        ("selfish", "refused", ["message-cyclic"]),
        ("undeclared", "refused", ["undeclared extra"]),
        ("unregistered", "refused", ["missing t"]),
        ("imports", "failed", ["imports 1.0: import or constructor raised ImportError: no such thing"]),
        ("exits", "failed", ["exits 1.0: import or constructor raised SystemExit: 3"]),
        ("hooked", "failed", ["hooked 1.0: provide_tools raised ValueError: in the hook"]),
        ("hook-exits", "failed", ["hook-exits 1.0: provide_tools raised SystemExit: "]),
    ],
)
async def test_a_plugin_that_cannot_be_had_says_why_and_nothing_of_it_is_offered(
    yaz: Yaz, plugin_id: str, state: str, said: list[str]
) -> None:
    status = yaz.status(plugin_id)
    found = [one.code for one in status.violations]
    found += [f"{one.change} {one.name}" for one in status.differences]
    reasons = [reason for reason in status.reasons if not reason.startswith("yaz log ")]
    assert (status.state, [*found, *reasons]) == (state, said)
    assert all(one.message and one.fix for one in status.violations)
    assert all(one.message and one.fix for one in status.differences)
    async with yaz.client() as client:
        offered = [one.name for one in (await client.list_tools()).tools]
        assert not [name for name in offered if name.startswith(f"{plugin_id}__")]
        with pytest.raises(MCPError, match=f"Unknown tool: {plugin_id}__t") as raised:
            await client.call_tool(f"{plugin_id}__t", {})
        assert raised.value.error.code == -32602
        assert (await client.call_tool("good__t", {})).structured_content == {"fine": True}


@pytest.mark.parametrize(
    ("plugin_id", "said"),
    [
        ("crashes", "crashes__t failed inside crashes. The user can see why with: yaz log "),
        ("quits", "quits__t failed inside quits. The user can see why with: yaz log "),
        ("never", "never did not answer within 1 seconds; the call was ended. Ask for less, or try again later."),
    ],
)
async def test_a_plugin_that_breaks_in_a_call_costs_that_call_alone(yaz: Yaz, plugin_id: str, said: str) -> None:
    async with yaz.client() as client:
        result = await client.call_tool(f"{plugin_id}__t", {})
        assert result.is_error
        assert words(result).startswith(said)
        assert "anna" not in words(result)
        assert (await client.call_tool("good__t", {})).structured_content == {"fine": True}


async def test_a_tool_that_says_it_reads_writes_nothing(yaz: Yaz) -> None:
    before = yaz.files()
    async with yaz.client() as client:
        result = await client.call_tool("writes__t", {"projectId": yaz.project})
    assert words(result) == (
        "writes may not do this: fs-project, out-of-scope. The user can see what was tried with: yaz denials writes"
    )
    assert yaz.files() == before
    (denial,) = yaz.app.host.denials.of("writes")
    assert (denial["target"], denial["reason"], denial["where"]) == ("stolen.typ", "out-of-scope", "tools t")


# --- requests


@pytest.mark.parametrize(
    ("headers", "status", "said"),
    [
        ({"Authorization": ""}, 401, "a valid bearer token is needed\n"),
        ({"Authorization": "Bearer wrong"}, 401, "a valid bearer token is needed\n"),
        ({"Origin": "https://example.org"}, 403, "requests of web pages are refused\n"),
        ({"Origin": "null"}, 403, "requests of web pages are refused\n"),
        ({"Host": "example.org"}, 421, "this server does not answer for that Host\n"),
    ],
)
async def test_a_request_that_may_not_come_in_is_refused_before_it_is_read(
    yaz: Yaz, headers: dict[str, str], status: int, said: str
) -> None:
    before = len(yaz.app.host.audit.calls(10_000))
    async with listening(yaz.app.host) as (_, address), http(address.token) as client:
        request = modern("tools/call", {"name": "good__t", "arguments": {}})
        answer = await client.post(address.url, json=request["json"], headers={**request["headers"], **headers})
    assert (answer.status_code, answer.text) == (status, said)
    assert len(yaz.app.host.audit.calls(10_000)) == before


@pytest.mark.parametrize(
    "given", ["thesis", "", "prj_", "prj_AAAAAAAAAAAA", "prj_aaaaaaaaaaaa ", "../thesis", 7, None, []]
)
async def test_a_malformed_project_is_a_protocol_error_that_says_where_ids_come_from(yaz: Yaz, given: Any) -> None:
    async with yaz.client() as client:
        with pytest.raises(MCPError) as raised:
            await client.call_tool("read_outline", {"projectId": given})
    assert raised.value.error.code == -32602
    assert raised.value.error.message == (
        "projectId is no project id; list_projects shows the ids. help explains read_outline."
    )


async def test_no_project_is_told_apart_from_one_that_is_nobodys(yaz: Yaz) -> None:
    async with yaz.client() as client:
        result = await client.call_tool("read_outline", {"projectId": ELSEWHERE})
        with pytest.raises(MCPError, match="projectId is missing; list_projects shows the ids"):
            await client.call_tool("read_outline", {})
    assert result.is_error
    assert words(result) == "No such project, or no permission for it; list_projects shows yours."


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"path": "main.typ", "fromLine": 0}, "/fromLine"), ({"path": "main.typ", "lines": "all"}, "/lines"),
        ({"path": 7}, "/path"), ({}, "path"), ({"path": "main.typ", "colour": "red"}, "colour"),
    ],
)  # fmt: skip
async def test_arguments_outside_the_schema_name_the_field_and_nothing_is_done(
    yaz: Yaz, arguments: dict[str, Any], said: str
) -> None:
    async with yaz.client() as client:
        result = await client.call_tool("read_document", {"projectId": yaz.project, **arguments})
    assert result.is_error
    assert said in words(result)
    assert words(result).endswith("Nothing was done.")


PATHS = ("../outside.typ", "a/../../outside.typ", "/etc/passwd", "link.typ", "dangling.typ", "~/x.typ", "a\0b.typ")


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("name", ["read_document", "create_document", "edit_document"])
async def test_a_path_out_of_the_project_is_refused_and_nothing_is_touched(yaz: Yaz, name: str, path: str) -> None:
    more = {
        "read_document": {}, "create_document": {"text": "x"},
        "edit_document": {"old": "Secret", "new": "x", "revision": "0" * 16},
    }[name]  # fmt: skip
    before = yaz.files()
    async with yaz.client() as client:
        result = await client.call_tool(name, {"projectId": yaz.project, "path": path, **more})
    assert result.is_error
    assert str(yaz.root.parent) not in words(result)
    assert "Secret" not in words(result)
    assert yaz.files() == before
    assert (yaz.root.parent / "outside.typ").read_text() == "= Secret\n"
    assert not (yaz.root.parent / "nowhere.typ").exists()


ENDLESS = "#for a in range(100000) { for b in range(100000) { let x = a * b } }\n"
GREEDY = '#let a = "x" * 1000000\n#let l = ()\n#for i in range(100000) { l.push(a + str(i)) }\n#l.len()\n'


@pytest.mark.parametrize(
    ("text", "codes"),
    # on a slow machine the time is over before the memory is; test_engine shows each limit for itself
    [(ENDLESS, {"timeout"}), (GREEDY, {"memory", "timeout"})],
)
async def test_a_document_that_never_ends_ends_with_an_answer(yaz: Yaz, text: str, codes: set[str]) -> None:
    (yaz.root / "main.typ").write_text(text)
    try:
        async with yaz.client() as client:
            result = await client.call_tool("compile", {"projectId": yaz.project})
            assert (await client.call_tool("good__t", {})).structured_content == {"fine": True}
    finally:
        (yaz.root / "main.typ").write_text(GOOD)
    told = result.structured_content
    assert told is not None
    assert told["succeeded"] is False
    assert len(told["diagnostics"]) == 1
    assert told["diagnostics"][0]["code"] in codes


async def test_after_all_of_it_everything_that_was_good_still_is(yaz: Yaz) -> None:
    async with yaz.client() as client:
        assert (await client.call_tool("good__t", {})).structured_content == {"fine": True}
        outline = await client.call_tool("read_outline", {"projectId": yaz.project})
        assert outline.structured_content is not None
        assert [node["title"] for node in outline.structured_content["nodes"]] == ["One"]
