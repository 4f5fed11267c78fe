"""The order of the gate's steps (design 7): what is wrong first is answered, and the plugin is reached last.

Each case breaks one step and everything after it; the plugin counts its calls.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.hosts.running import ONE, call, outcomes, running
from tests.plugins_in_test import tool
from yazcore import Host, Outcome, PermissionGrant, Principal, ProtocolFault
from yazcore.home import Home

NONE = ONE.replace("1", "3")
HIDDEN = "No such cluster, or no permission for it; list_clusters shows yours."
SCHEMA = {
    "type": "object",
    "properties": {"clusterId": {"type": "string"}, "n": {"type": "integer"}},
    "required": ["clusterId"],
    "additionalProperties": False,
}
ADDRESS = "yaz://demo/in/{clusterId}/{n}"
PROVIDES = {
    "tools": [
        tool("at", scope="cluster", inputSchema=SCHEMA),
        tool("ask", scope="cluster", inputSchema=SCHEMA, approval="ask"),
        tool("promise", scope="cluster", inputSchema=SCHEMA, maxResult=1000,
             outputSchema={"type": "object", "required": ["n"]}),
    ],
    "resources": [{
        "uriTemplate": ADDRESS, "nameKey": "text", "descriptionKey": "text", "scope": "cluster",
        "permission": "demo:read", "variables": [{"name": "clusterId", "note": "c"}, {"name": "n", "note": "n"}],
    }],
    "prompts": [{
        "name": "about", "descriptionKey": "text", "scope": "cluster", "permission": "demo:read",
        "arguments": [
            {"name": "clusterId", "note": "c", "required": True}, {"name": "n", "note": "n"},
            {"name": "m", "note": "m", "required": True},
        ],
    }],
}  # fmt: skip
CODE = """
calls = []

class Plugin:
    def __init__(self, context):
        pass

    @hookimpl
    def provide_tools(self):
        return [Tool(name, self.count) for name in ("at", "ask", "promise")]

    @hookimpl
    def provide_resources(self):
        return [Resource("yaz://demo/in/{clusterId}/{n}", self.count, self.complete)]

    @hookimpl
    def provide_prompts(self):
        return [Prompt("about", lambda context, arguments: str(self.count(context, arguments)), self.complete)]

    def count(self, context, arguments):
        calls.append(arguments)
        if arguments.get("n") == 7:
            return {"text": "x" * 2000}
        return {"text": "x" * 2000, "n": 1}

    def complete(self, context, name, prefix):
        calls.append(prefix)
        return ["a"]
"""
MAY = Principal(name="may", grants=(PermissionGrant("demo:read", "cluster", ONE),))
MAY_NOT = Principal(name="may not")


@pytest.fixture
def bench(tmp_path: Path, home: Home) -> Iterator[tuple[Host, list[Any]]]:
    with running(tmp_path, home, CODE, provides=PROVIDES) as host:
        (module,) = [module for name, module in sys.modules.items() if name.endswith(".plugin") and name[:5] == "test_"]
        yield host, module.calls


def answered(host: Host, principal: Principal, name: str, arguments: Any) -> Outcome | str:
    try:
        return call(host, name, arguments, principal)
    except ProtocolFault as fault:
        return fault.message


@pytest.mark.parametrize(
    ("principal", "name", "arguments", "said", "outcome"),
    [
        (MAY_NOT, "demo__gone", {"clusterId": 7, "n": "x"}, "Unknown tool: demo__gone", "unknown"),
        (MAY_NOT, "demo__ask", {"clusterId": 7, "n": "x"}, "clusterId is no cluster id; list_clusters", "malformed"),
        (MAY_NOT, "demo__ask", {"clusterId": ONE, "n": "x"}, HIDDEN, "denied"),
        (MAY_NOT, "demo__ask", {"clusterId": NONE, "n": "x"}, HIDDEN, "denied"),
        (MAY, "demo__ask", {"clusterId": NONE, "n": "x"}, HIDDEN, "denied"),
        (MAY, "demo__ask", {"clusterId": ONE, "n": "x"}, "n must be", "invalid"),
        (MAY, "demo__ask", {"clusterId": ONE, "n": 7}, "demo__ask needs a person's approval", "approval"),
    ],
)  # fmt: skip
def test_what_is_wrong_first_is_answered_and_the_plugin_is_not_reached(
    bench: tuple[Host, list[Any]], principal: Principal, name: str, arguments: Any, said: str, outcome: str
) -> None:
    host, calls = bench
    answer = answered(host, principal, name, arguments)
    text = answer if isinstance(answer, str) else answer.text
    assert said in text
    assert isinstance(answer, str) is (outcome in ("unknown", "malformed"))
    assert (outcomes(host), calls) == ([outcome], [])


def test_a_broken_promise_is_found_before_the_size(bench: tuple[Host, list[Any]]) -> None:
    host, calls = bench
    for n, outcome in ((7, "crashed"), (1, "too-large")):
        assert call(host, "demo__promise", {"clusterId": ONE, "n": n}, MAY).is_error
        assert outcomes(host)[-1] == outcome
    assert len(calls) == 2


@pytest.mark.parametrize(
    ("principal", "uri", "outcome"),
    [
        (MAY_NOT, "yaz://demo/in/x", "unknown"), (MAY_NOT, "yaz://demo/in/x/1", "malformed"),
        (MAY_NOT, f"yaz://demo/in/{ONE}/1", "denied"), (MAY, f"yaz://demo/in/{NONE}/1", "denied"),
    ],
)  # fmt: skip
def test_a_resource_has_one_answer_for_every_step_and_a_record_for_each(
    bench: tuple[Host, list[Any]], principal: Principal, uri: str, outcome: str
) -> None:
    host, calls = bench
    with pytest.raises(ProtocolFault) as raised:
        asyncio.run(host.gate.read_resource(principal, uri))
    assert (raised.value.message, raised.value.data) == (f"No such resource: {uri}", {"uri": uri})
    assert (outcomes(host), calls) == ([outcome], [])


@pytest.mark.parametrize(
    ("principal", "name", "arguments", "said", "outcome"),
    [
        (MAY_NOT, "demo__gone", {}, "Unknown prompt: demo__gone", "unknown"),
        (MAY_NOT, "demo__about", {"x": "y"}, "clusterId is missing; list_clusters shows the ids. help", "malformed"),
        (MAY_NOT, "demo__about", {"clusterId": "x", "x": "y"}, "clusterId is no cluster id", "malformed"),
        (MAY_NOT, "demo__about", {"clusterId": ONE, "x": "y"}, HIDDEN, "denied"),
        (MAY, "demo__about", {"clusterId": NONE, "x": "y"}, HIDDEN, "denied"),
        (MAY, "demo__about", {"clusterId": ONE, "x": "y"}, "demo__about: m is missing; x is unknown", "malformed"),
    ],
)
def test_a_prompt_goes_the_same_way(
    bench: tuple[Host, list[Any]], principal: Principal, name: str, arguments: dict[str, str], said: str, outcome: str
) -> None:
    host, calls = bench
    with pytest.raises(ProtocolFault) as raised:
        asyncio.run(host.gate.get_prompt(principal, name, arguments))
    assert said in raised.value.message
    assert (outcomes(host), calls) == ([outcome], [])


@pytest.mark.parametrize("name", [ADDRESS, "demo__about"])
@pytest.mark.parametrize(
    ("principal", "chosen"),
    [(MAY_NOT, {}), (MAY_NOT, {"clusterId": ONE}), (MAY, {}), (MAY, {"clusterId": NONE}), (MAY, {"clusterId": "x"})],
)
def test_a_completion_proposes_nothing_without_the_permission_there(
    bench: tuple[Host, list[Any]], principal: Principal, name: str, chosen: dict[str, str]
) -> None:
    host, calls = bench
    assert asyncio.run(host.gate.complete(principal, name, "n", "", chosen)) == []
    assert (outcomes(host), calls) == (["denied"], [])


@pytest.mark.parametrize("name", [ADDRESS, "demo__about"])
def test_with_everything_in_order_each_reaches_the_plugin_once(bench: tuple[Host, list[Any]], name: str) -> None:
    host, calls = bench
    assert asyncio.run(host.gate.complete(MAY, name, "n", "", {"clusterId": ONE})) == ["a"]
    assert not call(host, "demo__at", {"clusterId": ONE}, MAY).is_error
    assert asyncio.run(host.gate.read_resource(MAY, f"yaz://demo/in/{ONE}/1")).mime == "application/json"
    assert asyncio.run(host.gate.get_prompt(MAY, "demo__about", {"clusterId": ONE, "m": "1"})).text
    assert len(calls) == 4
    assert outcomes(host) == ["ok"] * 4


def test_a_host_that_cannot_resolve_gives_the_hidden_answer_and_keeps_why(tmp_path: Path, home: Home) -> None:
    def resolve(cluster: str) -> Any:
        raise ConnectionError(f"the database of {cluster} is down")

    with running(tmp_path, home, CODE, provides=PROVIDES) as host:
        host.gate._steps._resolve = {"cluster": resolve}
        for principal in (MAY, MAY_NOT):
            assert call(host, "demo__at", {"clusterId": ONE}, principal) == Outcome(is_error=True, text=HIDDEN)
            record = host.audit.calls()[-1]
            assert record["outcome"] == "denied"
            crash = host.audit.crash_of(record["reference"])
            assert crash is not None
            assert crash["message"] == f"the database of {ONE} is down"
        with pytest.raises(ProtocolFault, match="No such resource"):
            asyncio.run(host.gate.read_resource(MAY, f"yaz://demo/in/{ONE}/1"))
