"""`yaz demo`: the whole story on sample data, with the same code paths as `yaz serve` (issue 2).

A sample thesis with one mistake and a sample Zotero library are written into a folder; the Zotero plugin is granted in
a `YAZ_HOME` of the demo's own; the MCP server is switched on; and the official MCP client does over HTTP what an agent
would do. Each step checks what came back: a step that does not hold ends the demo with an error.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import anyio

from yazcore import Home, Serving, YazError
from yazcore.writing.application import WritingApp, open_writing
from yazcore.writing.sample import MENDED, MISTAKE, copy_sample

Say = Callable[[str, str], None]
"""`say(step, result)`: one line for a person."""

_T = TypeVar("_T")

_LOOK = "yaz demo --keep FOLDER, then YAZ_HOME=FOLDER/home yaz log shows the calls; please report this"
_QUERY = "muller cost risk"
_FIRST = "Müller"
_DOCUMENT = "chapters/introduction.typ"
_ANCHOR = "sensors under every desk @nyhan2019"
_USED = {"yaz:read", "yaz:edit", "yaz:compile", "zotero:read", "zotero:write"}


class StepFailed(YazError):
    """A step of the demo did not give what it should."""

    def __init__(self, step: str, message: str) -> None:
        super().__init__("demo-failed", f"{step}: {message}", _LOOK)


async def run_demo(folder: Path, say: Say) -> Path:
    """Play the story in `folder`, which is empty or absent; gives the PDF. Raises `YazError` for a step that fails."""
    try:
        from yaz_plugin_zotero.sample import make_library
    except ImportError:
        raise YazError(
            "demo-needs-zotero", "the demo cites with the Zotero plugin, which is not installed",
            "pip install yaz-plugin-zotero",
        ) from None  # fmt: skip
    thesis = copy_sample(folder / "thesis")
    say("sample thesis", f"{len(list(thesis.rglob('*.typ')))} Typst files, a bibliography, one mistake")
    make_library(folder / "zotero", items=200)
    say("sample library", "a real zotero.sqlite with 200 items and more")
    application = open_writing(Home(folder / "home"), (thesis,))
    try:
        _grant(application, folder / "zotero", say)
        serving = Serving(application.host)
        async with anyio.create_task_group() as tasks:
            address = await tasks.start(serving.run)
            say("MCP server on", f"{address.url}, a token on every request")
            try:
                await _as_an_agent(address.url, address.token, thesis, folder / "thesis.pdf", say)
            finally:
                with anyio.CancelScope(shield=True):
                    await serving.stop()
        _expect("MCP server off", await _nobody_listens(address.url), "somebody still listens at its port")
        say("MCP server off", "the token is dead, the port is closed")
    finally:
        application.close()
    return folder / "thesis.pdf"


def _grant(application: WritingApp, library: Path, say: Say) -> None:
    places = {"zotero-data": str(library)}
    try:
        status, how = application.host.grant("zotero", places=places), "isolated"
    except YazError as error:
        if error.code != "isolated-unavailable":
            raise
        # The demo's own plugin on the demo's own data: the user is told, and nothing of theirs is at stake.
        say("grant", f"{error.message}; so it runs trusted here")
        status, how = application.host.grant("zotero", trusted=True, places=places), "trusted"
    if status.state != "active":
        why = "; ".join(status.reasons) or f"{len(status.violations) + len(status.differences)} faults"
        raise StepFailed("grant", f"the Zotero plugin is {status.state}: {why}")
    active = [one.id for one in application.host.plugins() if one.state == "active"]
    say("grant", f"Zotero, {how}, in a YAZ_HOME of the demo's own; your own grants are untouched")
    if how == "isolated":
        say("held by", status.confinement)
    say("plugins active", ", ".join(active))


async def _nobody_listens(url: str) -> bool:
    place = urlsplit(url)
    try:
        stream = await anyio.connect_tcp(place.hostname or "", place.port or 0)
    except OSError:
        return True
    await stream.aclose()
    return False


async def _as_an_agent(url: str, token: str, thesis: Path, pdf: Path, say: Say) -> None:
    import httpx2
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client

    # No proxy of the environment: a loopback request would carry the token to it.
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, trust_env=False, timeout=120) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        await _story(_Agent(client), thesis, pdf, say)


class _Agent:
    """The official client, with every answer checked for errors."""

    def __init__(self, client: Any) -> None:
        self._client = client

    async def tools(self) -> list[str]:
        return [tool.name for tool in (await _answer("tools/list", self._client.list_tools())).tools]

    async def call(self, name: str, **arguments: Any) -> dict[str, Any]:
        result = await _answer(name, self._client.call_tool(name, arguments))
        if result.is_error or result.structured_content is None:
            text = result.content[0].text if result.content else "nothing"
            raise StepFailed(name, f"the answer is an error: {text}")
        structured: dict[str, Any] = result.structured_content
        return structured

    async def read(self, uri: str) -> bytes:
        """The content of a resource, which has only one; of a text its UTF-8."""
        content = _only(uri, (await _answer(uri, self._client.read_resource(uri))).contents, "contents")
        text = getattr(content, "text", None)
        return base64.b64decode(content.blob) if text is None else str(text).encode()


async def _answer(step: str, asked: Awaitable[_T]) -> _T:
    from mcp import MCPError

    try:
        return await asked
    except MCPError as error:
        raise StepFailed(step, f"the answer is an error: {error}") from None


async def _story(agent: _Agent, thesis: Path, pdf: Path, say: Say) -> None:
    tools = await agent.tools()
    _expect("tools/list", "zotero__cite-item" in tools and "compile" in tools, f"it lists {tools}")
    say("tools/list", f"{len(tools)} tools, {sum('__' in name for name in tools)} from Zotero")

    project = _only("list_projects", (await agent.call("list_projects"))["projects"], "projects")
    here = {"projectId": project["projectId"]}
    outline = await agent.call("read_outline", **here)
    titles = [node["title"] for node in outline["nodes"]]
    _expect("read_outline", "Introduction" in titles, f"it gives {titles}")
    say("read_outline", f"{len(titles)} headings: {', '.join(titles[:3])}, …")

    failed = await agent.call("compile", **here)
    _expect("compile", not failed["succeeded"] and failed["hasErrors"], "the mistake was not found")
    listed = await agent.call("list_diagnostics", **here, severity="error")
    wrong = _only("list_diagnostics", listed["diagnostics"], "errors")
    say("compile", f"no PDF. {wrong['file']}:{wrong['line']}:{wrong['column']}: {wrong['message']}")

    around = await agent.call("read_document", **here, path=wrong["file"], fromLine=wrong["line"], lines=1)
    _expect("read_document", MISTAKE in around["text"], f"line {wrong['line']} is {around['text']!r}")
    say("read_document", f"line {wrong['line']}: {around['text'].strip()}")
    await agent.call("edit_document", **here, path=wrong["file"], revision=around["revision"], old=MISTAKE, new=MENDED)
    mended = (thesis / wrong["file"]).read_text("utf-8")
    _expect("edit_document", MENDED in mended and MISTAKE not in mended, f"{wrong['file']} is as it was")
    say("edit_document", f"{MISTAKE} becomes {MENDED}")

    found = await agent.call("zotero__search-library", query=_QUERY)
    item = next((one for one in found["items"] if any(name.startswith(_FIRST) for name in one["creators"])), None)
    if item is None:
        raise StepFailed("search-library", f"nothing by {_FIRST} was found for {_QUERY!r}")
    say("search-library", f"{_QUERY!r} finds “{item['title']}” ({', '.join(item['creators'])}, {item['year']})")

    cited = await agent.call("zotero__cite-item", **here, key=item["key"], document=_DOCUMENT, after=_ANCHOR)
    text = (thesis / _DOCUMENT).read_text("utf-8")
    entries = (thesis / cited["bibliography"]).read_text("utf-8").count(f"{{{cited['citationKey']},")
    _expect("cite-item", cited["inserted"] and f"@{cited['citationKey']}" in text, f"it is not in {_DOCUMENT}")
    _expect("cite-item", entries == 1, f"{cited['bibliography']} has {entries} entries of it")
    say("cite-item", f"@{cited['citationKey']} at line {cited['line']}, one entry in {cited['bibliography']}")

    again = await agent.call("compile", **here)
    _expect("compile", again["succeeded"] and not again["hasErrors"], f"it says {again}")
    uri = f"yaz://project/{project['projectId']}/pdf"
    pdf.write_bytes(await agent.read(uri))
    _expect("compile", pdf.read_bytes().startswith(b"%PDF"), "the resource is no PDF")
    say("compile", f"a PDF of {pdf.stat().st_size // 1024} KiB, read as {uri}")

    mine = json.loads(await agent.read("yaz://permissions"))
    held = {one["permission"] for one in mine["permissions"]}
    _expect("yaz://permissions", mine["owner"] and held >= _USED, f"it says {mine}")
    say("yaz://permissions", f"{mine['principal']}: {len(mine['permissions'])} permissions")


def _only(step: str, found: Sequence[Any], what: str) -> Any:
    _expect(step, len(found) == 1, f"there are {len(found)} {what}, and should be one")
    return found[0]


def _expect(step: str, holds: bool, otherwise: str) -> None:
    if not holds:
        raise StepFailed(step, otherwise)
