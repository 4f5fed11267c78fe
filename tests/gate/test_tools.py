"""What a tool may answer, and what its caller gets of it."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.hosts.running import call, outcomes, running
from tests.plugins_in_test import tool
from yazcore import OWNER, Host
from yazcore.capabilities.grants import RuntimeName
from yazcore.home import Home

CODE = """
class Plugin:
    def __init__(self, context):
        pass

    @hookimpl
    def provide_tools(self):
        names = ("text", "both", "echo", "none", "words", "links", "size", "huge")
        return [Tool(name, getattr(self, name)) for name in names]

    def text(self, context, arguments):
        return "ü" * 30_000

    def both(self, context, arguments):
        return Result({"found": 3}, "w" * 50_000, [Link("yaz://demo/more", "more")])

    def echo(self, context, arguments):
        return {"got": arguments}

    def none(self, context, arguments):
        return None

    def words(self, context, arguments):
        return "in words"

    def links(self, context, arguments):
        return Result(text="see these", links=[Link(f"yaz://demo/{number}", "n" * 400) for number in range(200)])

    def size(self, context, arguments):
        return {"size": len(arguments["x"])}

    def huge(self, context, arguments):
        return {"text": "x" * 2**21}
"""
ANYTHING = {"type": "object", "properties": {"x": {}}}
WANTED = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory, runtime: RuntimeName) -> Iterator[Host]:
    folder = tmp_path_factory.mktemp("tools")
    tools = [
        tool("text"),
        tool("both"),
        tool("echo", inputSchema=ANYTHING),
        tool("none"),
        tool("words", outputSchema=WANTED),
        tool("links"),
        tool("huge", posture="write"),
        tool("size", inputSchema={**ANYTHING, "additionalProperties": False}),
    ]
    with running(folder, Home(folder / "home"), CODE, runtime=runtime, provides={"tools": tools}) as host:
        yield host


async def pages(host: Host, uri: str) -> list[dict[str, Any]]:
    found, following = [], uri
    while following:
        found.append(json.loads((await host.gate.read_resource(OWNER, following)).data))
        following = found[-1]["next"]
    return found


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.anyio
async def test_a_text_that_is_too_large_is_kept_as_text_and_read_in_pages(host: Host) -> None:
    outcome = await host.gate.call_tool(OWNER, "demo__text", {})
    read = await pages(host, outcome.links[0].uri)
    assert "".join(page["text"] for page in read) == "ü" * 30_000
    assert {page["mimeType"] for page in read} == {"text/plain"}
    assert [page["page"] for page in read] == [1, 2, 3, 4]


@pytest.mark.anyio
async def test_of_a_result_that_has_words_and_data_neither_is_lost(host: Host) -> None:
    outcome = await host.gate.call_tool(OWNER, "demo__both", {})
    assert outcome.is_error
    assert [link.name for link in outcome.links] == ["result of demo__both", "more"]
    kept = "".join(page["text"] for page in await pages(host, outcome.links[0].uri))
    assert json.loads(kept) == {"text": "w" * 50_000, "structuredContent": {"found": 3}}


@pytest.mark.parametrize(
    ("value", "wrong"),
    [("\ud800", "/x holds half of a surrogate pair"), (2**70, "/x is an integer over 64 bits")],
)
def test_an_argument_that_no_plugin_can_be_given_is_the_callers_fault(host: Host, value: Any, wrong: str) -> None:
    outcome = call(host, "demo__echo", {"x": value})
    assert outcome.is_error
    assert outcome.text == f"The arguments of demo__echo cannot be passed on: {wrong}. Nothing was done."
    assert outcomes(host)[-1] == "invalid"


def test_a_result_that_is_nothing_is_a_crash(host: Host) -> None:
    outcome = call(host, "demo__none")
    assert outcome.text.startswith("demo__none failed inside demo.")
    assert outcomes(host)[-1] == "crashed"


def test_words_alone_break_the_promise_of_data(host: Host) -> None:
    outcome = call(host, "demo__words")
    crash = host.audit.crash_of(outcome.text.rpartition(" ")[2])
    assert crash is not None
    assert (crash["where"], crash["message"]) == ("tools words", "there is no structured result")


@pytest.mark.anyio
async def test_links_that_are_too_large_are_kept_too(host: Host) -> None:
    outcome = await host.gate.call_tool(OWNER, "demo__links", {})
    (pages_of_it,) = outcome.links
    kept = json.loads("".join(page["text"] for page in await pages(host, pages_of_it.uri)))
    assert set(kept) == {"text", "links"}
    assert kept["text"] == "see these"
    assert kept["links"] == [{"uri": f"yaz://demo/{number}", "name": "n" * 400} for number in range(200)]


@pytest.mark.parametrize("x", [[{"n": number} for number in range(3000)], "y" * 400_000, {"a": [[1] * 5000]}])
def test_a_large_argument_reaches_the_tool_and_a_wrong_one_is_told(host: Host, x: Any) -> None:
    assert call(host, "demo__size", {"x": x}).structured == {"size": len(x)}
    wrong = call(host, "demo__size", {"x": x, "y": 1})
    assert wrong.is_error
    assert outcomes(host)[-1] == "invalid"


def test_a_result_that_no_plugin_may_give_is_told_by_its_code_and_is_no_crash(host: Host) -> None:
    assert call(host, "demo__huge").text == (
        "It is done; do not repeat the call. What demo answered is larger than 2097152 bytes, which is more than a "
        "plugin may answer (result-too-large). Ask for less; its author can page or publish it."
    )
    assert outcomes(host)[-1] == "too-large"


PARTS = """
class Plugin:
    def __init__(self, context):
        pass

    @hookimpl
    def provide_tools(self):
        return [Tool("draw", self.draw)]

    def draw(self, context, arguments):
        size = arguments["size"]
        return Result(text="See:", parts=[Image(bytes(size), "image/png"), Embedded("yaz://demo/x", "y" * size)])
"""


def test_pictures_and_documents_count_and_are_kept_when_they_do_not_fit(tmp_path: Path, home: Home) -> None:
    schema = {"type": "object", "properties": {"size": {"type": "integer"}}, "required": ["size"]}
    with running(tmp_path, home, PARTS, provides={"tools": [tool("draw", inputSchema=schema, maxResult=2000)]}) as host:
        fits = call(host, "demo__draw", {"size": 700})
        assert (fits.is_error, len(fits.parts)) == (False, 2)
        large = call(host, "demo__draw", {"size": 900})
        assert (large.is_error, large.parts) == (True, ())
        content = asyncio.run(host.gate.read_resource(OWNER, large.links[0].uri))
        kept = json.loads(json.loads(str(content.data))["text"])
        assert kept["text"] == "See:"
        assert base64.b64decode(kept["parts"][0]["data"]) == bytes(900)
        assert kept["parts"][1] == {"type": "resource", "resource": {"uri": "yaz://demo/x", "text": "y" * 900}}
