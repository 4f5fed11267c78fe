"""Resources, kept results, prompts and completions: every way in which there is nothing to read."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.hosts.running import ONE, call, outcomes, running
from tests.plugins_in_test import tool
from yazcore import OWNER, Host, PermissionGrant, Principal, ProtocolFault
from yazcore.capabilities.grants import RuntimeName
from yazcore.home import Home
from yazcore.results import PAGE_BYTES, RESULT_PREFIX

CODE = """
begun, release = threading.Event(), threading.Event()

class Plugin:
    def __init__(self, context):
        pass

    @hookimpl
    def provide_tools(self):
        return [Tool("publish", self.publish)]

    @hookimpl
    def provide_resources(self):
        return [Resource(address, self.read, self.values) for address in ADDRESSES]

    @hookimpl
    def provide_prompts(self):
        return [Prompt("about", self.about, self.values), Prompt("silent", lambda context, arguments: 7)]

    def publish(self, context, arguments):
        data = bytes(range(256)) * arguments["times"] if arguments["mime"] == "image/png" else b'{"n": 1}'
        return {"uri": context.publish(data, arguments["mime"], 60)}

    def read(self, context, variables):
        match variables.get("how", variables.get("clusterId", "text")):
            case "raises":
                raise ValueError("/home/anna")
            case "says":
                raise ToolError("it is too long: ask for a part")
            case "bytes":
                return b"raw"
            case "list":
                return [1, "ü"]
            case "nothing":
                return None
            case "posture":
                return f"{context.call.posture} {25 < context.deadline <= 30} {context.caller.name}"
            case "slow":
                begun.set()
                release.wait(20)
                return ""
            case other:
                return other

    def values(self, context, variable, prefix):
        if prefix == "crash":
            raise ValueError
        if prefix == "odd":
            return "odd"
        if prefix == "re":
            return [f"{context.call.posture} {25 < context.deadline <= 30} {context.caller.name}"]
        if variable == "clusterId":
            return [CLUSTER, "22222222-2222-4222-8222-222222222222", "{" + CLUSTER + "}", "here", 7]
        if variable == "what":
            return [f"what is in {context.scope_id}"]
        return [f"value-{number}" for number in range(150)] if variable == "how" else []

    async def about(self, context, arguments):
        if arguments["what"] == "crash":
            raise ValueError
        if arguments["what"] == "posture":
            return f"{context.call.posture} {25 < context.deadline <= 30} {context.caller.name}"
        if arguments["what"] == "tell":
            raise ToolError("say which")
        return f"About {arguments['what']} in {context.scope_id}."
"""
ADDRESSES = ("yaz://demo/one", "yaz://demo/how/{how}", "yaz://demo/in/{clusterId}", "yaz://demo/fixed/{size}")


def resource(address: str, **more: Any) -> dict[str, Any]:
    where = "uriTemplate" if "{" in address else "uri"
    return {
        where: address, "nameKey": "text", "descriptionKey": "text", "scope": "global", "permission": "demo:read",
        **more,
    }  # fmt: skip


PROVIDES: dict[str, list[dict[str, Any]]] = {
    "tools": [
        tool(
            "publish",
            inputSchema={
                "type": "object",
                "properties": {"mime": {"type": "string"}, "times": {"type": "integer", "minimum": 0}},
                "required": ["mime", "times"],
            },
        )
    ],
    "resources": [
        resource(ADDRESSES[0]),
        resource(ADDRESSES[1], variables=[{"name": "how", "note": "how it ends"}]),
        resource(ADDRESSES[2], scope="cluster", variables=[{"name": "clusterId", "note": "from list_clusters"}]),
        resource(ADDRESSES[3], variables=[{"name": "size", "note": "one of these", "values": ["small", "large"]}]),
    ],
    "prompts": [
        {
            "name": "about", "descriptionKey": "text", "scope": "cluster", "permission": "demo:read",
            "arguments": [
                {"name": "clusterId", "note": "which", "required": True}, {"name": "what", "note": "what"},
            ],
        },
        {"name": "silent", "descriptionKey": "text", "scope": "global", "permission": "demo:read"},
    ],
}  # fmt: skip


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory, runtime: RuntimeName) -> Iterator[Host]:
    folder = tmp_path_factory.mktemp("reading")
    code = CODE.replace("ADDRESSES", repr(ADDRESSES)).replace("CLUSTER", repr(ONE))
    with running(folder, Home(folder / "home"), code, runtime=runtime, provides=PROVIDES) as host:
        yield host


def read(host: Host, uri: str, principal: Principal = OWNER) -> Any:
    return asyncio.run(host.gate.read_resource(principal, uri))


def fault(host: Host, uri: str, principal: Principal = OWNER) -> ProtocolFault:
    with pytest.raises(ProtocolFault) as raised:
        read(host, uri, principal)
    return raised.value


@pytest.mark.parametrize(
    ("how", "mime", "data"),
    [
        ("plain", "text/plain", "plain"), ("bytes", "application/octet-stream", b"raw"),
        ("list", "application/json", '[1, "ü"]'), ("nothing", "application/json", "null"),
    ],
)  # fmt: skip
def test_what_a_handler_gives_has_the_media_type_of_its_kind(host: Host, how: str, mime: str, data: Any) -> None:
    content = read(host, f"yaz://demo/how/{how}")
    assert (content.mime, content.data) == (mime, data)


def test_a_handlers_own_words_reach_the_reader_and_a_crash_does_not(host: Host) -> None:
    said = fault(host, "yaz://demo/how/says")
    assert (said.code, said.message) == (-32603, "it is too long: ask for a part")
    crashed = fault(host, "yaz://demo/how/raises")
    assert "anna" not in crashed.message
    assert crashed.message.startswith("yaz://demo/how/{how} failed inside demo. The user can see why with: yaz log ")
    assert outcomes(host)[-2:] == ["error", "crashed"]


def test_a_resource_that_is_read_has_its_scope_in_the_record(host: Host) -> None:
    assert read(host, f"yaz://demo/in/{ONE}").data == ONE
    record = host.audit.calls()[-1]
    assert (record["what"], record["outcome"]) == ("resource", "ok")
    assert (record["scope"], record["scope_id"]) == ("cluster", ONE)


@pytest.mark.parametrize("how", ["a-secret", "raises", "says"])
@pytest.mark.parametrize("principal", [OWNER, Principal(name="nil")])
def test_the_record_of_a_template_has_the_shapes_of_its_values_alone(
    host: Host, how: str, principal: Principal
) -> None:
    with contextlib.suppress(ProtocolFault):
        read(host, f"yaz://demo/how/{how}", principal)
    record = host.audit.calls()[-1]
    assert (record["name"], record["arguments"]) == (ADDRESSES[1], {"how": f"text {len(how)}"})
    asyncio.run(host.gate.subscribe(principal, f"yaz://demo/how/{how}"))
    record = host.audit.calls()[-1]
    assert (record["name"], record["arguments"]) == (ADDRESSES[1], {"how": f"text {len(how)}"})


@pytest.mark.parametrize(
    ("uri", "outcome"),
    [
        ("yaz://demo/in/no-id", "malformed"), ("yaz://demo/two", "unknown"),
        (f"yaz://demo/in/{ONE.replace('1', '2')}", "denied"),
    ],
)  # fmt: skip
def test_the_record_knows_what_the_reader_cannot_tell_apart(host: Host, uri: str, outcome: str) -> None:
    assert fault(host, uri).message == f"No such resource: {uri}"
    assert outcomes(host)[-1] == outcome


@pytest.mark.parametrize("runtime", ["trusted"], indirect=True)  # it looks into the plugin's module
def test_a_reader_who_leaves_is_recorded(host: Host) -> None:
    import sys

    module = sys.modules[host.catalogue.now.plugins["demo"].manifest.module.partition(":")[0]]

    async def leave() -> None:
        task = asyncio.create_task(host.gate.read_resource(OWNER, "yaz://demo/how/slow"))
        assert await asyncio.to_thread(module.begun.wait, 10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(leave())
    module.release.set()
    assert outcomes(host)[-1] == "cancelled"


# --- kept results


def published(host: Host, mime: str, times: int = 1) -> str:
    structured = call(host, "demo__publish", {"mime": mime, "times": times}).structured
    assert structured is not None
    return str(structured["uri"])


@pytest.mark.parametrize(("mime", "data"), [("image/png", bytes(range(256))), ("application/json", b'{"n": 1}')])
def test_an_export_is_read_as_it_is_by_whom_it_was_made_for(host: Host, mime: str, data: bytes) -> None:
    uri = published(host, mime)
    content = read(host, uri)
    assert (content.mime, content.data, content.cache.scope) == (mime, data, "private")
    reader = Principal(name="anna", grants=(PermissionGrant("demo:*"),))
    assert fault(host, uri, reader).message == f"No such resource: {uri}"


def test_an_export_has_an_address_of_its_own_and_the_same_bytes_each_time(host: Host) -> None:
    first = published(host, "image/png", 2**12 + 1)
    pages = [read(host, uri).data for uri in (first, f"{first}?page=2")]
    second = published(host, "image/png", 3)
    assert second != first
    assert [read(host, uri).data for uri in (first, f"{first}?page=2")] == pages
    assert read(host, second).data == bytes(range(256)) * 3


def test_a_large_export_comes_in_pages_that_joined_are_the_whole(host: Host) -> None:
    uri = published(host, "image/png", 2**12 + 1)
    data, following, number = b"", uri, 0
    while following:
        page = json.loads(read(host, following).data)
        part = base64.b64decode(page["base64"])
        number += 1
        assert (page["page"], page["mimeType"]) == (number, "image/png")
        assert len(part) <= PAGE_BYTES
        data, following = data + part, page["next"]
    assert data == bytes(range(256)) * (2**12 + 1)
    assert number == page["pages"]


@pytest.mark.parametrize(
    "query", ["?page=0", "?page=9", "?page=", "?page=1&page=2", "?part=1", "?page=x", "?page=٣", "#1"]
)
def test_a_page_that_is_not_there_is_no_resource(host: Host, query: str) -> None:
    uri = published(host, "image/png") + query
    assert fault(host, uri).message == f"No such resource: {uri}"
    assert outcomes(host)[-1] == "unknown"


@given(st.text(max_size=60) | st.text("/[]@:?=&#%0123456789", max_size=30))
@example("?page=" + "9" * 5000)
@example("//[")
@example("x?page=1")
@example("\ud800")
def test_no_uri_of_a_result_raises_anything_else(host: Host, rest: str) -> None:
    with pytest.raises(ProtocolFault, match="No such resource"):
        read(host, RESULT_PREFIX + rest)


# --- prompts


def prompt(host: Host, name: str, arguments: dict[str, str], principal: Principal = OWNER) -> str:
    return asyncio.run(host.gate.get_prompt(principal, name, arguments)).text


def test_a_prompt_of_a_scope_knows_where_it_was_asked_for(host: Host) -> None:
    assert prompt(host, "demo__about", {"clusterId": ONE, "what": "this"}) == f"About this in {ONE}."
    assert host.audit.calls()[-1]["scope_id"] == ONE


@pytest.mark.parametrize(
    ("name", "arguments", "code", "message", "outcome"),
    [
        ("demo__nothing", {}, -32602, "Unknown prompt: demo__nothing", "unknown"),
        ("demo__about", {"clusterId": "x"}, -32602,
         "clusterId is no cluster id; list_clusters shows the ids. help explains demo__about.", "malformed"),
        ("demo__about", {"clusterId": ONE.replace("1", "2")}, -32602,
         "No such cluster, or no permission for it; list_clusters shows yours.", "denied"),
        ("demo__about", {"clusterId": ONE, "what": "tell"}, -32603, "say which", "error"),
    ],
)  # fmt: skip
def test_a_prompt_that_cannot_be_given_says_why(
    host: Host, name: str, arguments: dict[str, str], code: int, message: str, outcome: str
) -> None:
    with pytest.raises(ProtocolFault) as raised:
        prompt(host, name, arguments)
    assert (raised.value.code, raised.value.message) == (code, message)
    assert outcomes(host)[-1] == outcome


@pytest.mark.parametrize(
    ("name", "arguments"), [("demo__silent", {}), ("demo__about", {"clusterId": ONE, "what": "crash"})]
)
def test_a_prompt_that_breaks_is_masked_and_can_be_looked_up(host: Host, name: str, arguments: dict[str, str]) -> None:
    with pytest.raises(ProtocolFault) as raised:
        prompt(host, name, arguments)
    assert raised.value.code == -32603
    assert raised.value.message.startswith(f"{name} failed inside demo. The user can see why with: yaz log ")
    record = host.audit.calls()[-1]
    assert record["outcome"] == "crashed"
    assert host.audit.crash_of(record["reference"]) is not None


# --- completions


def complete(host: Host, address: str, argument: str, prefix: str, principal: Principal = OWNER) -> list[str]:
    return asyncio.run(host.gate.complete(principal, address, argument, prefix))


def test_the_declared_values_of_a_variable_are_proposed_without_asking_the_plugin(host: Host) -> None:
    assert complete(host, ADDRESSES[3], "size", "") == ["small", "large"]
    assert complete(host, ADDRESSES[3], "size", "l") == ["large"]


def test_the_record_of_a_completion_has_the_shape_of_what_was_asked(host: Host) -> None:
    given = {"clusterId": ONE}
    for argument in ("what", "nothing"):
        with contextlib.suppress(ProtocolFault):
            asyncio.run(host.gate.complete(OWNER, "demo__about", argument, "a secret", given))
        record = host.audit.calls()[-1]
        assert (record["what"], record["name"]) == ("completion", "demo__about")
        assert record["arguments"] == {"clusterId": "text 36", argument: "text 8"}


def test_all_values_are_proposed_so_that_the_reader_learns_how_many_there_are(host: Host) -> None:
    assert len(complete(host, ADDRESSES[1], "how", "value-")) == 150


@pytest.mark.parametrize(("prefix", "outcome"), [("crash", "crashed"), ("odd", "ok")])
def test_a_completer_that_breaks_proposes_nothing(host: Host, prefix: str, outcome: str) -> None:
    assert complete(host, ADDRESSES[1], "how", prefix) == []
    assert outcomes(host)[-1] == outcome


def test_whatever_is_read_runs_as_read_for_its_caller_for_half_a_minute(host: Host) -> None:
    assert read(host, "yaz://demo/how/posture").data == "read True owner"
    assert prompt(host, "demo__about", {"clusterId": ONE, "what": "posture"}) == "read True owner"
    assert complete(host, ADDRESSES[1], "how", "re") == ["read True owner"]


def test_an_unknown_template_is_a_fault_and_a_forbidden_one_proposes_nothing(host: Host) -> None:
    with pytest.raises(ProtocolFault, match="Unknown resource template or prompt: yaz://demo/x"):
        complete(host, "yaz://demo/x", "how", "")
    assert outcomes(host)[-1] == "unknown"
    assert complete(host, ADDRESSES[3], "size", "", Principal(name="nil")) == []
    assert outcomes(host)[-1] == "denied"


def test_a_variable_that_is_not_there_is_a_fault(host: Host) -> None:
    with pytest.raises(ProtocolFault, match=r"demo/how/\{how\} has no size; it has how"):
        complete(host, ADDRESSES[1], "size", "")
    assert outcomes(host)[-1] == "malformed"


ADA = Principal(name="ada", grants=(PermissionGrant("demo:read", "cluster", ONE),))
BOB = Principal(name="bob", grants=(PermissionGrant("demo:read", "cluster", ONE.replace("1", "2")),))


@pytest.mark.parametrize(
    ("principal", "seen"), [(OWNER, [ONE]), (ADA, [ONE]), (BOB, []), (Principal(name="nil"), [])]
)
def test_ids_are_proposed_to_whoever_may_read_there_and_only_where_they_name_something(
    host: Host, principal: Principal, seen: list[str]
) -> None:
    assert complete(host, ADDRESSES[2], "clusterId", "", principal) == seen


def test_other_values_are_proposed_of_the_place_that_was_chosen(host: Host) -> None:
    def whats(principal: Principal, **given: str) -> list[str]:
        return asyncio.run(host.gate.complete(principal, "demo__about", "what", "what", given))

    assert whats(ADA, clusterId=ONE) == [f"what is in {ONE}"]
    assert whats(OWNER) == ["what is in None"]
    for principal, chosen in (
        (BOB, {"clusterId": ONE}), (BOB, {"clusterId": ONE.replace("1", "2")}), (ADA, {}), (ADA, {"clusterId": "x"}),
        (OWNER, {"clusterId": "x"}),
    ):  # fmt: skip
        assert whats(principal, **chosen) == []
        assert outcomes(host)[-1] == "denied"


def test_a_subscription_asks_what_reading_asks_and_leaves_a_record(host: Host) -> None:
    for principal, uri, may in (
        (OWNER, "yaz://demo/one", True), (ADA, "yaz://demo/one", False), (ADA, f"yaz://demo/in/{ONE}", True),
        (BOB, f"yaz://demo/in/{ONE}", False), (OWNER, "yaz://demo/in/x", False), (OWNER, "yaz://demo/none", False),
    ):  # fmt: skip
        assert asyncio.run(host.gate.may_read(principal, uri)) is may
        assert asyncio.run(host.gate.subscribe(principal, uri)) is may
        record = host.audit.calls()[-1]
        address = ADDRESSES[2] if uri.startswith("yaz://demo/in/") else uri
        assert (record["what"], record["name"], record["outcome"] == "ok") == ("subscription", address, may)


def test_a_resource_without_a_completer_proposes_nothing_and_is_no_fault(tmp_path: Path, home: Home) -> None:
    code = """
class Plugin:
    def __init__(self, context):
        pass

    @hookimpl
    def provide_resources(self):
        return [Resource("yaz://demo/how/{how}", lambda context, variables: "")]
"""
    with running(tmp_path, home, code, provides={"resources": [PROVIDES["resources"][1]]}) as host:
        assert complete(host, ADDRESSES[1], "how", "") == []
        assert outcomes(host) == ["ok"]


def test_an_id_in_another_spelling_is_not_proposed_though_the_host_would_take_it(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host.gate._steps, "_resolve", {"cluster": lambda cluster: cluster})
    assert complete(host, ADDRESSES[2], "clusterId", "", OWNER) == [ONE, ONE.replace("1", "2")]
