"""The gate, step by step, on the console host: a plugin that counts its calls shows that it did not run."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest

from tests.hosts.console import CLUSTER, Cluster, console
from tests.plugins_in_test import manifest, plugin_folder, tool
from yazcore.gate import Outcome, ProtocolFault
from yazcore.home import Home
from yazcore.host import Host
from yazcore.permissions import OWNER, PermissionGrant, Principal

ONE, OTHER, NONE = (f"{digit * 8}-1111-4111-8111-111111111111" for digit in "123")
CLUSTERS = {ONE: Cluster(ONE, "one"), OTHER: Cluster(OTHER, "other")}

CODE = """
import threading, time
from yazcore import Link, Page, Prompt, Resource, Result, Tool, ToolError, hookimpl

calls = []
begun, release = threading.Event(), threading.Event()

class Plugin:
    def __init__(self, context):
        self.context = context

    @hookimpl
    def provide_tools(self):
        return [Tool(name, getattr(self, name.replace("-", "_"))) for name in
                ("look", "admin", "inspect", "big", "wrong", "raises", "says", "slow", "asks", "linked", "stray")]

    @hookimpl
    def provide_resources(self):
        return [Resource("yaz://demo/thing/{name}", self.thing, self.names),
                Resource("yaz://demo/cluster/{clusterId}", self.cluster)]

    @hookimpl
    def provide_prompts(self):
        return [Prompt("review", lambda context, arguments: f"Review {arguments['what']}.")]

    def look(self, context, arguments):
        calls.append("look")
        return {"n": arguments.get("n")}

    def admin(self, context, arguments):
        calls.append("admin")
        return {}

    def inspect(self, context, arguments):
        calls.append("inspect")
        return {"cluster": arguments["clusterId"], "caller": context.caller.name,
                "may": context.caller.may("demo:write", "cluster")}

    def big(self, context, arguments):
        return {"text": "ü" * 30_000}

    def wrong(self, context, arguments):
        return {"n": "no integer"}

    def raises(self, context, arguments):
        raise ValueError("/home/anna/secret")

    def says(self, context, arguments):
        raise ToolError("say it another way")

    def slow(self, context, arguments):
        calls.append("slow")
        begun.set()
        release.wait(20)
        return {}

    def asks(self, context, arguments):
        calls.append("asks")
        return {}

    def linked(self, context, arguments):
        uri = context.publish(b"\\x00binary", "application/octet-stream", 60)
        return Result({"ok": True}, "see the link", [Link(uri, "export")])

    def stray(self, context, arguments):
        return 7

    def thing(self, context, variables):
        if variables["name"] == "gone":
            from yazcore import ServiceError
            raise ServiceError("file-not-found", "gone")
        return {"name": variables["name"]}

    def names(self, context, variable, prefix):
        return ["alpha", "beta", 3]

    def cluster(self, context, variables):
        return "text of " + variables["clusterId"]
"""

CLUSTER_SCHEMA = {
    "type": "object",
    "properties": {"clusterId": {"type": "string", "maxLength": 50}},
    "required": ["clusterId"],
    "additionalProperties": False,
}
OUTPUT = {"type": "object", "properties": {"n": {"type": "integer"}}, "additionalProperties": False}

DOCUMENT = manifest(
    provides={
        "tools": [
            tool(
                "look",
                inputSchema={
                    "type": "object",
                    "properties": {"n": {"type": "integer", "minimum": 0, "maximum": 9, "x-audit": True}},
                    "additionalProperties": False,
                },
            ),
            tool("admin", posture="write", permission="demo:write"),
            tool("inspect", scope="cluster", inputSchema=CLUSTER_SCHEMA),
            tool("big", posture="write"),
            tool("wrong", outputSchema=OUTPUT),
            tool("raises"),
            tool("says"),
            tool("slow", deadlineSeconds=1),
            tool("asks", approval="ask", posture="write"),
            tool("linked"),
            tool("stray"),
        ],
        "resources": [
            {
                "uriTemplate": "yaz://demo/thing/{name}", "nameKey": "text", "descriptionKey": "text",
                "scope": "global", "permission": "demo:read", "variables": [{"name": "name", "note": "a name"}],
                "cache": {"ttlMs": 5000, "scope": "public"},
            },
            {
                "uriTemplate": "yaz://demo/cluster/{clusterId}", "nameKey": "text", "descriptionKey": "text",
                "scope": "cluster", "permission": "demo:read", "mimeType": "text/plain",
                "variables": [{"name": "clusterId", "note": "from list_clusters"}],
            },
        ],
        "prompts": [
            {
                "name": "review", "descriptionKey": "text", "scope": "global", "permission": "demo:read",
                "arguments": [{"name": "what", "note": "what to review", "required": True}],
            }
        ],
    }
)  # fmt: skip


@attrs.frozen
class Bench:
    host: Host
    calls: list[str]
    begun: threading.Event

    def call(self, name: str, arguments: Any = None, principal: Principal = OWNER) -> Outcome:
        return asyncio.run(self.host.gate.call_tool(principal, name, {} if arguments is None else arguments))

    def fault(self, name: str, arguments: Any = None, principal: Principal = OWNER) -> ProtocolFault:
        with pytest.raises(ProtocolFault) as raised:
            self.call(name, arguments, principal)
        return raised.value

    def read(self, uri: str, principal: Principal = OWNER) -> Any:
        return asyncio.run(self.host.gate.read_resource(principal, uri))

    def outcomes(self) -> list[str]:
        return [record["outcome"] for record in self.host.audit.calls()]


@pytest.fixture
def bench(tmp_path: Path, home: Home) -> Iterator[Bench]:
    with plugin_folder(tmp_path, DOCUMENT, CODE) as folder:
        host = console(home, CLUSTERS, (folder,))
        states = {status.id: (status.state, status.violations, status.differences) for status in host.activate()}
        assert states["demo"] == ("active", (), ())
        import sys

        module = sys.modules[f"{folder.name}.plugin"]
        yield Bench(host, module.calls, module.begun)
        module.release.set()
        host.close()


def holder(*grants: PermissionGrant, **more: Any) -> Principal:
    return Principal(name="anna", grants=grants, **more)


def test_a_call_reaches_the_plugin_and_gives_structure_and_the_same_as_text(bench: Bench) -> None:
    outcome = bench.call("demo__look", {"n": 3})
    assert outcome == Outcome(text='{"n": 3}', structured={"n": 3})
    assert bench.calls == ["look"]


def test_the_hosts_own_tools_have_no_prefix(bench: Bench) -> None:
    names = [one.exposed for one in bench.host.gate.tools(OWNER)]
    assert names == sorted(names)
    assert {"list_clusters", "help", "demo__look"} <= set(names)
    assert bench.call("list_clusters").structured == {
        "items": [{"clusterId": ONE, "name": "one"}, {"clusterId": OTHER, "name": "other"}], "nextCursor": None,
    }  # fmt: skip


# --- step 1: known and allowed


@pytest.mark.parametrize("name", ["look", "demo__nothing", "demo__LOOK", "", "console__help"])
def test_an_unknown_tool_is_a_protocol_fault(bench: Bench, name: str) -> None:
    fault = bench.fault(name)
    assert (fault.code, fault.message) == (-32602, f"Unknown tool: {name}")
    assert bench.outcomes() == ["unknown"]


def test_a_tool_outside_the_allow_list_is_answered_like_an_unknown_one(bench: Bench) -> None:
    limited = holder(PermissionGrant("demo:read"), tools=frozenset({"demo__look"}))
    assert bench.call("demo__look", {}, limited).is_error is False
    assert bench.fault("demo__says", {}, limited).message == "Unknown tool: demo__says"
    assert [one.exposed for one in bench.host.gate.tools(limited)] == ["demo__look", "help"]


def test_read_only_hides_and_refuses_what_writes(bench: Bench) -> None:
    reader = attrs.evolve(OWNER, read_only=True)
    assert bench.fault("demo__admin", {}, reader).message == "Unknown tool: demo__admin"
    assert all(one.declaration.posture == "read" for one in bench.host.gate.tools(reader))
    assert bench.calls == []


# --- step 2: the scope argument


@pytest.mark.parametrize("arguments", [[], "x", 7, None, True])
def test_arguments_that_are_no_object_are_malformed(bench: Bench, arguments: Any) -> None:
    with pytest.raises(ProtocolFault, match="arguments must be an object"):
        asyncio.run(bench.host.gate.call_tool(OWNER, "demo__look", arguments))
    assert bench.outcomes() == ["malformed"]


@pytest.mark.parametrize(
    "given",
    [
        None, 7, "", " ", "not-an-id", f"{{{ONE}}}", f"urn:uuid:{ONE}", ONE.replace("-", ""), f"{ONE}\n",
        ONE.replace("1", "A"), [ONE],
    ],
)  # fmt: skip
@pytest.mark.parametrize("principal", [OWNER, Principal(name="nobody")])
def test_a_malformed_id_is_refused_before_any_permission(bench: Bench, given: Any, principal: Principal) -> None:
    fault = bench.fault("demo__inspect", {"clusterId": given}, principal)
    assert fault.code == -32602
    assert fault.message == "clusterId is no cluster id; list_clusters shows the ids. help explains demo__inspect."
    assert bench.calls == []


def test_a_missing_id_is_said_to_be_missing(bench: Bench) -> None:
    fault = bench.fault("demo__inspect", {})
    assert fault.message == "clusterId is missing; list_clusters shows the ids. help explains demo__inspect."
    assert bench.outcomes() == ["malformed"]


# --- step 3: permission, and whether the id resolves


@pytest.mark.parametrize(
    ("principal", "cluster"),
    [
        (OWNER, NONE),
        (holder(PermissionGrant("demo:read", "cluster", ONE)), OTHER),
        (holder(PermissionGrant("demo:read", "cluster", ONE)), NONE),
        (holder(PermissionGrant("demo:write", "cluster", ONE)), ONE),
        (holder(), ONE),
    ],
)
def test_denied_and_unresolved_ids_give_one_answer_that_names_nothing(
    bench: Bench, principal: Principal, cluster: str
) -> None:
    outcome = bench.call("demo__inspect", {"clusterId": cluster}, principal)
    assert outcome == Outcome(is_error=True, text=CLUSTER.hidden)
    assert bench.calls == []
    assert bench.outcomes() == ["denied"]


@pytest.mark.parametrize(
    "grant",
    [
        PermissionGrant("demo:read"), PermissionGrant("demo:*"), PermissionGrant("demo:read", "cluster", ONE),
        PermissionGrant("demo:read", "cluster"),
    ],
)  # fmt: skip
def test_a_grant_in_the_scope_or_above_it_lets_the_call_through(bench: Bench, grant: PermissionGrant) -> None:
    outcome = bench.call("demo__inspect", {"clusterId": ONE}, holder(grant))
    may_write = grant.permission == "demo:*"
    assert outcome.structured == {"cluster": ONE, "caller": "anna", "may": may_write}


@pytest.mark.parametrize(
    "grant", [PermissionGrant("demo:read", "cluster", ONE), PermissionGrant("*"), PermissionGrant("*:*")]
)
def test_a_denied_global_tool_names_the_permission(bench: Bench, grant: PermissionGrant) -> None:
    outcome = bench.call("demo__admin", {}, holder(grant))
    assert outcome == Outcome(
        is_error=True,
        text=(
            "demo__admin needs the permission demo:write, which you do not have; "
            "console://permissions shows what you may do."
        ),
    )
    assert bench.calls == []


def test_a_permission_that_nobody_active_declares_grants_nothing(bench: Bench) -> None:
    bench.host.deactivate("demo")
    everything = holder(PermissionGrant("demo:*"))
    assert bench.fault("demo__look", {}, everything).message == "Unknown tool: demo__look"
    assert "demo:read" not in bench.host.catalogue.now.actions


# --- step 4: arguments


def test_arguments_outside_the_schema_are_refused_with_field_and_bound_before_the_plugin_runs(bench: Bench) -> None:
    outcome = bench.call("demo__look", {"n": 10, "extra": 1})
    assert outcome.is_error
    assert "/n" in outcome.text
    assert "9" in outcome.text
    assert "extra" in outcome.text
    assert outcome.text.endswith("Nothing was done.")
    assert bench.calls == []
    assert bench.outcomes() == ["invalid"]


@pytest.mark.parametrize("value", ["3", 3.5, True, None])
def test_arguments_are_not_coerced(bench: Bench, value: Any) -> None:
    assert bench.call("demo__look", {"n": value}).is_error
    assert bench.calls == []


# --- step 5: approval


def test_a_tool_that_asks_is_refused_while_nobody_can_be_asked(bench: Bench) -> None:
    outcome = bench.call("demo__asks")
    assert outcome.text == "demo__asks needs a person's approval, and nobody can be asked here. Nothing was done."
    assert bench.calls == []


# --- step 6: the plugin


def test_a_tool_error_is_the_only_text_that_leaves(bench: Bench) -> None:
    assert bench.call("demo__says") == Outcome(is_error=True, text="say it another way")
    masked = bench.call("demo__raises")
    assert masked.is_error
    assert "secret" not in masked.text
    assert "/home" not in masked.text
    reference = bench.host.audit.calls()[-1]["reference"]
    assert masked.text == f"demo__raises failed inside demo. The user can see why with: yaz log {reference}"
    crash = bench.host.audit.crash_of(reference)
    assert crash is not None
    assert crash["message"] == "/home/anna/secret"


def test_a_result_of_the_wrong_kind_is_masked(bench: Bench) -> None:
    assert "failed inside demo" in bench.call("demo__stray").text


def test_a_call_over_its_deadline_is_answered_and_its_late_result_dropped(bench: Bench) -> None:
    outcome = bench.call("demo__slow")
    assert outcome.text == (
        "demo did not answer within 1 seconds; the call was ended. Ask for less, or try again later."
    )
    assert bench.calls == ["slow"]
    assert bench.outcomes() == ["overdue"]


def test_a_cancelled_call_leaves_one_record(bench: Bench) -> None:
    async def cancel() -> None:
        task = asyncio.create_task(bench.host.gate.call_tool(OWNER, "demo__slow", {}))
        assert await asyncio.to_thread(bench.begun.wait, 10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel())
    assert bench.outcomes() == ["cancelled"]


# --- step 7: the result


def test_a_result_that_breaks_its_output_schema_is_masked(bench: Bench) -> None:
    outcome = bench.call("demo__wrong")
    assert outcome.is_error
    assert outcome.structured is None
    assert "no integer" not in outcome.text


def test_a_result_over_the_budget_is_not_cut_but_kept_in_pages_for_its_caller(bench: Bench) -> None:
    outcome = bench.call("demo__big")
    assert outcome.is_error
    (link,) = outcome.links
    assert outcome.text == (
        "It is done; do not repeat the call. The result of demo__big is 60012 bytes, more than the 40000 that fit. "
        f"Ask for less, or read all of it in pages at {link.uri}."
    )
    text, following = "", link.uri
    while following:
        page = json.loads(bench.read(following).data)
        text, following = text + page["text"], page["next"]
    assert json.loads(text) == {"text": "ü" * 30_000}
    with pytest.raises(ProtocolFault, match="No such resource"):
        bench.read(link.uri, holder(PermissionGrant("demo:read")))
    with pytest.raises(ProtocolFault, match="No such resource"):
        bench.read(f"{link.uri}?page=99")


def test_links_and_published_bytes_reach_the_caller(bench: Bench) -> None:
    outcome = bench.call("demo__linked")
    assert (outcome.text, outcome.structured) == ("see the link", {"ok": True})
    content = bench.read(outcome.links[0].uri)
    assert (content.mime, content.data) == ("application/octet-stream", b"\x00binary")


# --- resources, prompts, completion


def test_a_resource_is_read_with_its_variables_and_its_cache(bench: Bench) -> None:
    content = bench.read("yaz://demo/thing/a%20b")
    assert json.loads(content.data) == {"name": "a b"}
    assert (content.mime, content.cache.ttl_ms, content.cache.scope) == ("application/json", 5000, "public")
    assert bench.read(f"yaz://demo/cluster/{ONE}").data == f"text of {ONE}"


def test_unknown_and_forbidden_resources_differ_only_in_the_requests_own_uri(bench: Bench) -> None:
    limited = holder(PermissionGrant("demo:read", "cluster", ONE))
    messages = set()
    for uri in (
        f"yaz://demo/cluster/{OTHER}", f"yaz://demo/cluster/{NONE}", "yaz://demo/cluster/x", "yaz://demo/thing/a",
        "yaz://nobody/x", "yaz://demo/thing/gone", "yaz://result/nothing", "file:///etc/passwd",
    ):  # fmt: skip
        principal = OWNER if uri.endswith("gone") else limited
        with pytest.raises(ProtocolFault) as raised:
            bench.read(uri, principal)
        assert raised.value.data == {"uri": uri}
        messages.add((raised.value.code, raised.value.message.replace(uri, "URI")))
    assert messages == {(-32602, "No such resource: URI")}
    assert bench.read(f"yaz://demo/cluster/{ONE}", limited).mime == "text/plain"


def test_completion_proposes_only_what_may_be_read(bench: Bench) -> None:
    def complete(principal: Principal, prefix: str) -> list[str]:
        return asyncio.run(bench.host.gate.complete(principal, "yaz://demo/thing/{name}", "name", prefix))

    assert complete(OWNER, "") == ["alpha", "beta"]
    assert complete(OWNER, "b") == ["beta"]
    assert complete(holder(), "") == []


def test_a_prompt_needs_its_arguments_and_its_permission(bench: Bench) -> None:
    def get(principal: Principal, **arguments: str) -> str:
        return asyncio.run(bench.host.gate.get_prompt(principal, "demo__review", arguments)).text

    assert get(OWNER, what="chapter 1") == "Review chapter 1."
    with pytest.raises(ProtocolFault, match="what is missing"):
        get(OWNER)
    with pytest.raises(ProtocolFault, match="other is unknown"):
        get(OWNER, what="x", other="y")
    with pytest.raises(ProtocolFault, match="demo:read"):
        get(holder(), what="x")


def test_every_call_leaves_exactly_one_record(bench: Bench) -> None:
    bench.call("demo__look", {"n": 3})
    bench.call("demo__says")
    bench.fault("nothing")
    bench.read("yaz://demo/thing/a")
    records = bench.host.audit.calls()
    assert [(one["what"], one["name"], one["outcome"]) for one in records] == [
        ("tool", "demo__look", "ok"), ("tool", "demo__says", "error"), ("tool", "nothing", "unknown"),
        ("resource", "yaz://demo/thing/{name}", "ok"),
    ]  # fmt: skip
    assert records[0]["arguments"] == {"n": "integer"}


def test_the_audit_keeps_the_values_that_the_schema_marks_and_no_others(bench: Bench) -> None:
    bench.call("demo__look", {"n": 3})
    bench.call("demo__look", {"n": 77, "extra": "secret"})
    bench.call("demo__inspect", {"clusterId": ONE})
    records = bench.host.audit.calls()
    assert [one.get("values") for one in records] == [{"n": 3}, {"n": 77}, None]
    assert [one["scope_id"] for one in records] == [None, None, ONE]


def test_identities_are_not_mixed_between_concurrent_calls(bench: Bench) -> None:
    people = [holder(PermissionGrant("demo:read"), tools=None) for _ in range(20)]
    named = [attrs.evolve(one, name=f"person-{number}") for number, one in enumerate(people)]

    async def all_at_once() -> list[Outcome]:
        return await asyncio.gather(
            *(bench.host.gate.call_tool(one, "demo__inspect", {"clusterId": ONE}) for one in named * 10)
        )

    answers = [outcome.structured["caller"] for outcome in asyncio.run(all_at_once()) if outcome.structured]
    assert answers == [one.name for one in named * 10]
