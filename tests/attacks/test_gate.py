"""The gate against arguments, addresses and results that are made to blow it up, or to tell two answers apart."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest

from tests.attacks.hosts import CONTRACT, HEAD, OPEN, called
from tests.plugins_in_test import manifest, plugin_folder, tool
from yazcore import OWNER, Home, Host, PermissionGrant, Principal
from yazcore.gate import ProtocolFault
from yazcore.results import ResultStore
from yazcore.uri_templates import longest, match

HERS, OTHERS, NONE = "prj_aaaaaaaaaaaa", "prj_bbbbbbbbbbbb", "prj_cccccccccccc"
ADA = Principal(name="ada", grants=(PermissionGrant("demo:read", "project", HERS),))

CODE = (
    HEAD
    + """
class Plugin:
    def __init__(self, context):
        pass

    @hookimpl
    def provide_tools(self):
        return [Tool(name, getattr(self, name)) for name in ("takes", "inside", "publishes", "links", "numbers")]

    @hookimpl
    def provide_resources(self):
        return [
            Resource("yaz://demo/thing/{year}-{month}", lambda context, variables: dict(variables), self.complete),
            Resource("yaz://demo/in/{projectId}/{+path}", lambda context, variables: "inside"),
            Resource("yaz://demo/odd/{kind}", self.odd, self.complete),
        ]

    @hookimpl
    def provide_prompts(self):
        return [Prompt("ask", self.ask)]

    def takes(self, context, arguments):
        return {"keys": len(arguments)}

    def numbers(self, context, arguments):
        return {"numbers": len(arguments["x"])}

    def inside(self, context, arguments):
        return {"inside": True}

    def publishes(self, context, arguments):
        return {"uri": context.publish(b"0123456789", "application/octet-stream", 60)}

    def links(self, context, arguments):
        return Result(text="x", links=[Link("yaz://demo/thing/1-1", "n" * 500)] * 500)

    def complete(self, context, variable, prefix):
        return {"panic": lambda: self.fall(Panic("x")), "interrupt": lambda: self.fall(KeyboardInterrupt()),
                "cancel": lambda: self.fall(asyncio.CancelledError()), "number": lambda: 7,
                "numbers": lambda: [prefix, 7, None]}.get(prefix, lambda: [prefix])()

    def odd(self, context, variables):
        return {"panic": lambda: self.fall(Panic("x")), "interrupt": lambda: self.fall(KeyboardInterrupt()),
                "cancel": lambda: self.fall(asyncio.CancelledError()), "nothing": lambda: None,
                "object": lambda: object(), "bytes-inside": lambda: {"a": b"1"},
                "missing": lambda: self.fall(ServiceError("file-not-found", "x"))}[variables["kind"]]()

    def fall(self, error):
        raise error

    def ask(self, context, arguments):
        return {"panic": lambda: self.fall(Panic("x")), "interrupt": lambda: self.fall(KeyboardInterrupt()),
                "cancel": lambda: self.fall(asyncio.CancelledError()), "nothing": lambda: None,
                "number": lambda: 7}[arguments["what"]]()
"""
)
IN_PROJECT = {
    "type": "object",
    "properties": {"projectId": {"type": "string"}, "x": {"type": "string"}},
    "required": ["projectId"],
    "additionalProperties": False,
}
NUMBERS = {
    "type": "object",
    "properties": {"x": {"type": "array", "items": {"type": "integer"}}},
    "additionalProperties": False,
}


@attrs.frozen
class Folder:
    id: str
    root: Path
    name: str = "a project"


def resource(template: str, scope: str, *names: str) -> dict[str, Any]:
    return {
        "uriTemplate": template,
        "nameKey": "text",
        "descriptionKey": "text",
        "scope": scope,
        "permission": "demo:read",
        "variables": [{"name": name, "note": "one"} for name in names],
    }


PROVIDES = {
    "tools": [
        tool("takes", inputSchema=OPEN),
        tool("publishes"),
        tool("links"),
        tool("numbers", inputSchema=NUMBERS),
        tool("inside", scope="project", inputSchema=IN_PROJECT),
    ],
    "resources": [
        resource("yaz://demo/thing/{year}-{month}", "global", "year", "month"),
        resource("yaz://demo/in/{projectId}/{+path}", "project", "projectId", "path"),
        resource("yaz://demo/odd/{kind}", "global", "kind"),
    ],
    "prompts": [
        {
            "name": "ask",
            "descriptionKey": "text",
            "scope": "global",
            "permission": "demo:read",
            "arguments": [{"name": "what", "note": "which", "required": True}],
        },
    ],
}


ASKED: list[str] = []


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    folder = tmp_path_factory.mktemp("gate")
    projects = {one: Folder(one, folder) for one in (HERS, OTHERS)}

    def resolve(project_id: str) -> Folder | None:
        ASKED.append(project_id)
        return projects.get(project_id)

    with plugin_folder(folder, manifest(provides=PROVIDES), CODE) as package:
        host = Host(
            CONTRACT, home=Home(folder / "home"), builtin=[package], discover=False, resolve={"project": resolve}
        )
        (status,) = host.activate()
        assert status.state == "active", status
        yield host
        host.close()


def read(host: Host, uri: str, principal: Principal = OWNER) -> Any:
    return asyncio.run(host.gate.read_resource(principal, uri))


def fault(host: Host, uri: str, principal: Principal = OWNER) -> tuple[int, str, Any]:
    with pytest.raises(ProtocolFault) as raised:
        read(host, uri, principal)
    return raised.value.code, raised.value.message.replace(uri, "URI"), raised.value.data


# --- what is hidden ---------------------------------------------------------------------------------------------------


def test_another_project_and_none_are_the_same_to_a_tool_whatever_else_is_wrong(host: Host) -> None:
    for more in ({}, {"x": 7}, {"unknown": 1}):
        others, none = (called(host, "demo__inside", {"projectId": one, **more}, ADA) for one in (OTHERS, NONE))
        assert others == none
        assert others.is_error


def test_another_project_and_none_are_the_same_to_a_resource(host: Host) -> None:
    answers = [fault(host, f"yaz://demo/in/{one}/a", ADA) for one in (OTHERS, NONE)]
    assert answers[0][:2] == answers[1][:2]


def test_both_questions_are_asked_whoever_asks(host: Host) -> None:
    """What a project's id names is looked up for one who may not know of it, too: the time of it tells nothing."""
    ASKED.clear()
    for one in (HERS, OTHERS, NONE):
        called(host, "demo__inside", {"projectId": one}, ADA)
    assert ASKED == [HERS, OTHERS, NONE]


@pytest.mark.parametrize(
    "spelling",
    [
        "PRJ_AAAAAAAAAAAA",
        "prj_aaaaaaaaaaaa\n",
        " prj_aaaaaaaaaaaa",
        "prj_аaaaaaaaaaaa",
        "prj_aaaaaaaaaaa\u0061\u0301",
        "prj_ａａａａａａａａａａａａ",
        "prj_aaaaaaaaaaaa\0",
        "prj_aaaaaaaaaaaa\u200b",
        "prj_22222222222\u00b2",
        "",
    ],
)
def test_one_id_has_one_spelling(host: Host, spelling: str) -> None:
    with pytest.raises(ProtocolFault, match=r"projectId is no project id; list_projects shows the ids\."):
        asyncio.run(host.gate.call_tool(OWNER, "demo__inside", {"projectId": spelling}))


@pytest.mark.parametrize("given", [7, None, True, ["prj_aaaaaaaaaaaa"], {"prj_aaaaaaaaaaaa": 1}, 1e300])
def test_an_id_that_is_no_text_is_no_id(host: Host, given: Any) -> None:
    with pytest.raises(ProtocolFault, match="projectId is no project id"):
        asyncio.run(host.gate.call_tool(OWNER, "demo__inside", {"projectId": given}))


# --- addresses --------------------------------------------------------------------------------------------------------


def test_a_uri_without_end_is_held_against_no_template() -> None:
    """Two variables that may hold what stands between them can end in many places: a megabyte took hours."""
    template = "yaz://demo/thing/{year}-{month}"
    assert match(template, "yaz://demo/thing/1999-12") == {"year": "1999", "month": "12"}
    assert match(template, f"yaz://demo/thing/{'-' * longest(template)}") is None


def test_addresses_of_three_parts_and_paths_may_be_long() -> None:
    path = "%C3%BC" * 512
    assert match("yaz://demo/in/{projectId}/{+path}", f"yaz://demo/in/{HERS}/{path}") is not None


@pytest.mark.parametrize(
    "uri",
    [
        "yaz:",
        "yaz://demo/odd/%",
        "yaz://demo/odd/%ff",
        "yaz://demo/odd/%ED%A0%80",
        "yaz://demo/odd/../odd/nothing",
        "yaz://demo/odd/a/b",
        "yaz://demo/odd/a?b",
        "yaz://demo/odd/a#b",
        "YAZ://demo/odd/nothing",
        "yaz://demo/odd/\udcff",
        "yaz://demo/odd/missing",
        "yaz://result/none",
        "yaz://result/",
        "yaz://result/none?page=1&page=2",
    ],
)
def test_an_address_that_names_nothing_is_not_there(host: Host, uri: str) -> None:
    assert fault(host, uri) == (-32602, "No such resource: URI", {"uri": uri})


def test_what_an_error_repeats_is_bounded(host: Host) -> None:
    long = "x" * 1_000_000
    with pytest.raises(ProtocolFault) as tool_fault:
        asyncio.run(host.gate.call_tool(OWNER, long, {}))
    with pytest.raises(ProtocolFault) as resource_fault:
        asyncio.run(host.gate.read_resource(OWNER, f"yaz://{long}"))
    with pytest.raises(ProtocolFault) as prompt_fault:
        asyncio.run(host.gate.get_prompt(OWNER, long, {}))
    with pytest.raises(ProtocolFault) as completion_fault:
        asyncio.run(host.gate.complete(OWNER, long, long, long))
    for one in (tool_fault, resource_fault, prompt_fault, completion_fault):
        assert len(one.value.message) < 300
        assert len(str(one.value.data)) < 300


@pytest.mark.parametrize("rest", ["//[", "//[x]/", "{id}?page=" + "9" * 150])
def test_an_address_of_a_result_that_cannot_be_read_is_not_there(host: Host, rest: str) -> None:
    outcome = called(host, "demo__publishes")
    assert outcome.structured is not None
    kept = outcome.structured["uri"].rpartition("/")[2]
    uri = f"yaz://result/{rest.format(id=kept)}"
    assert fault(host, uri) == (-32602, "No such resource: URI", {"uri": uri})


def test_another_principals_result_is_not_there(host: Host) -> None:
    outcome = called(host, "demo__publishes")
    assert outcome.structured is not None
    uri = outcome.structured["uri"]
    assert read(host, uri).data == b"0123456789"
    assert fault(host, uri, ADA)[:2] == fault(host, "yaz://result/nothingofthatname", ADA)[:2]


# --- handlers of resources, completions and prompts -------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["panic", "interrupt", "cancel", "object", "bytes-inside"])
def test_a_resource_that_breaks_is_a_fault_with_a_reference(host: Host, kind: str) -> None:
    code, text, _ = fault(host, f"yaz://demo/odd/{kind}")
    assert code == -32603
    assert "yaz log" in text


@pytest.mark.parametrize("prefix", ["panic", "interrupt", "cancel", "number"])
def test_a_completion_that_breaks_proposes_nothing(host: Host, prefix: str) -> None:
    assert asyncio.run(host.gate.complete(OWNER, "yaz://demo/odd/{kind}", "kind", prefix)) == []


def test_a_completion_proposes_texts_only(host: Host) -> None:
    assert asyncio.run(host.gate.complete(OWNER, "yaz://demo/odd/{kind}", "kind", "numbers")) == ["numbers"]


@pytest.mark.parametrize("what", ["panic", "interrupt", "cancel", "nothing", "number"])
def test_a_prompt_that_breaks_is_a_fault(host: Host, what: str) -> None:
    with pytest.raises(ProtocolFault) as raised:
        asyncio.run(host.gate.get_prompt(OWNER, "demo__ask", {"what": what}))
    assert raised.value.code == -32603


# --- arguments and results --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [2**64, "\ud800", {"\ud800": 1}], ids=["integer", "half a character", "half a name"])
def test_an_argument_that_cannot_travel_is_the_callers_fault(host: Host, value: Any) -> None:
    outcome = called(host, "demo__takes", {"x": value})
    assert outcome.is_error
    assert "yaz log" not in outcome.text
    assert host.audit.calls()[-1]["outcome"] == "invalid"


def test_links_count_against_what_a_result_may_hold(host: Host) -> None:
    assert "more than the 40000 that fit" in called(host, "demo__links").text


def test_large_arguments_do_not_hold_up_everybody_else(host: Host) -> None:
    async def together() -> int:
        turns, over = 0, asyncio.Event()

        async def others() -> None:
            nonlocal turns
            while not over.is_set():
                turns += 1
                await asyncio.sleep(0.001)

        task = asyncio.create_task(others())
        await asyncio.sleep(0)
        await host.gate.call_tool(OWNER, "demo__numbers", {"x": [*[1] * 60_000, "one that is none"]})
        over.set()
        await task
        return turns

    assert asyncio.run(together()) > 20


def test_a_name_that_would_be_a_record_of_its_own_is_one_record(host: Host) -> None:
    """What a caller makes up stands in one line of the audit, whatever ends a line elsewhere."""
    before = len(host.audit.calls())
    names = ["a\u2028b", "a\u2029{}\u2029", "a\x85123\x85", "a\x0bb", "a\x1cnull\x1cb", "a\nb", "a\ud800b"]
    for name in names:
        with pytest.raises(ProtocolFault):
            asyncio.run(host.gate.call_tool(OWNER, name, {}))
    called(host, "demo__takes", {"\u2028123\u2028": 1})
    records = host.audit.calls()[before:]
    assert [record["name"] for record in records] == [*names, "demo__takes"]
    assert json.dumps(list(records[-1]["arguments"])) == '["\\u2028123\\u2028"]'


def test_a_crash_can_be_found_by_its_reference_whatever_it_says(host: Host) -> None:
    reference = host.audit.crash(
        plugin="demo", version="1", where="x", type="E", message="a\u2028b\x85123\x85", trace="\u2029"
    )
    found = host.audit.crash_of(reference)
    assert found is not None
    assert found["message"] == "a\u2028b\x85123\x85"


def test_one_principals_results_push_out_no_others() -> None:
    store = ResultStore()
    adas = store.keep("ada", b"small", "text/plain")
    for _ in range(600):
        store.keep("bob", b"x" * 200_000, "text/plain")
    assert store.get("ada", adas) is not None
    for _ in range(20):
        store.keep("bob", b"x" * 20_000_000, "text/plain")
    assert store.get("ada", adas) is not None
