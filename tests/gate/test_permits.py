"""A host whose grants are in its own database: asked on each call, off the loop, and never a way in where it fails."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest

from tests.hosts.console import CLUSTER, CONTRACT, console
from tests.hosts.running import HEAD, ONE, call, outcomes
from tests.plugins_in_test import manifest, plugin_folder, tool
from yazcore import OWNER, Host, Principal, ProtocolFault
from yazcore.gate import steps
from yazcore.home import Home

CODE = """
class Plugin:
    calls = []

    def __init__(self, context):
        pass

    @hookimpl
    def provide_tools(self):
        return [Tool("look", self.look), Tool("at", self.at)]

    @hookimpl
    def provide_resources(self):
        return [Resource("yaz://demo/thing/{name}", lambda context, variables: "a thing", lambda *asked: ["a"])]

    def look(self, context, arguments):
        self.calls.append("look")
        return {"may": context.caller.may("demo:write", "global")}

    def at(self, context, arguments):
        self.calls.append("at")
        return {"cluster": arguments["clusterId"], "caller": context.caller.name}
"""
AT = {"type": "object", "properties": {"clusterId": {"type": "string"}}, "required": ["clusterId"]}
PROVIDES = {
    "tools": [tool("look"), tool("at", scope="cluster", inputSchema=AT)],
    "resources": [{
        "uriTemplate": "yaz://demo/thing/{name}", "nameKey": "text", "descriptionKey": "text", "scope": "global",
        "permission": "demo:read", "variables": [{"name": "name", "note": "a name"}],
    }],
}  # fmt: skip
ANNA = Principal(name="anna")


@attrs.define
class Database:
    """What a console keeps of its users: rows that change while it runs."""

    rows: set[tuple[str, str, str, str | None]] = attrs.field(factory=set)
    fails: Exception | None = None
    asked: list[str] = attrs.field(factory=list)
    waits: threading.Event | None = None

    def permits(self, principal: Principal, action: str, scope: str, scope_id: str | None) -> bool:
        self.asked.append(threading.current_thread().name)
        if self.waits is not None:
            self.waits.wait(20)
        if self.fails is not None:
            raise self.fails
        return (principal.name, action, scope, scope_id) in self.rows


@attrs.frozen
class Bench:
    host: Host
    database: Database
    calls: list[str]


@pytest.fixture
def make(tmp_path: Path, home: Home) -> Iterator[Callable[..., Bench]]:
    hosts: list[Host] = []
    with plugin_folder(tmp_path, manifest(provides=PROVIDES), HEAD + CODE) as package:

        def made(**kind: Any) -> Bench:
            database = Database()
            cluster = attrs.evolve(CLUSTER, resolve={ONE: "one"}.get, **kind)
            contract = attrs.evolve(CONTRACT, scope_kinds=(CONTRACT.scope_kinds[0], cluster))
            permits = None if kind else database.permits
            host = Host(contract, home=home, builtin=[package], discover=False, permits=permits)
            hosts.append(host)
            (status,) = host.activate()
            assert status.state == "active", status
            import sys

            return Bench(host, database, sys.modules[f"{package.name}.plugin"].Plugin.calls)

        yield made
        for host in hosts:
            host.close()


@pytest.fixture
def bench(make: Callable[..., Bench]) -> Bench:
    return make()


def fault(host: Host, name: str, **arguments: Any) -> ProtocolFault:
    with pytest.raises(ProtocolFault) as raised:
        call(host, name, arguments, ANNA)
    return raised.value


def test_a_row_in_the_database_lets_the_call_through_and_its_removal_counts_on_the_next(bench: Bench) -> None:
    row = ("anna", "demo:read", "cluster", ONE)
    bench.database.rows.add(row)
    assert call(bench.host, "demo__at", {"clusterId": ONE}, ANNA).structured == {"cluster": ONE, "caller": "anna"}
    bench.database.rows.remove(row)
    assert call(bench.host, "demo__at", {"clusterId": ONE}, ANNA).text == CLUSTER.hidden
    assert bench.calls == ["at"]
    assert outcomes(bench.host) == ["ok", "denied"]


def test_an_id_that_only_the_kind_resolves_is_resolved(bench: Bench) -> None:
    other = ONE.replace("1", "2", 1)
    bench.database.rows |= {("anna", "demo:read", "cluster", one) for one in (ONE, other)}
    assert not call(bench.host, "demo__at", {"clusterId": ONE}, ANNA).is_error
    assert call(bench.host, "demo__at", {"clusterId": other}, ANNA).text == CLUSTER.hidden


def test_the_database_is_asked_in_a_thread_of_its_own_and_by_the_handler_in_its_plugins(bench: Bench) -> None:
    bench.database.rows |= {("anna", "demo:read", "global", None), ("anna", "demo:write", "global", None)}
    assert call(bench.host, "demo__look", {}, ANNA).structured == {"may": True}
    gates, handlers = bench.database.asked
    assert gates.startswith("yaz-permissions")
    assert handlers.startswith("yaz-demo")


def test_resources_and_completions_ask_it_too(bench: Bench) -> None:
    async def both() -> tuple[Any, Any]:
        try:
            read = (await bench.host.gate.read_resource(ANNA, "yaz://demo/thing/a")).data
        except ProtocolFault as refused:
            read = refused.message
        return read, await bench.host.gate.complete(ANNA, "yaz://demo/thing/{name}", "name", "")

    assert asyncio.run(both()) == ("No such resource: yaz://demo/thing/a", [])
    bench.database.rows.add(("anna", "demo:read", "global", None))
    assert asyncio.run(both()) == ("a thing", ["a"])
    assert len(bench.database.asked) == 4


def test_a_database_that_fails_allows_nothing_and_its_words_reach_the_user_alone(bench: Bench) -> None:
    bench.database.fails = ConnectionError("db.internal:5432 refused")
    told = [fault(bench.host, "demo__look"), fault(bench.host, "demo__at", clusterId=ONE)]
    assert [one.code for one in told] == [-32603, -32603]
    for one in told:
        assert one.message.startswith("whether you may could not be decided. The user can see why with: yaz log ")
        crash = bench.host.audit.crash_of(one.message.rpartition(" ")[2])
        assert crash is not None
        assert (crash["type"], crash["message"]) == ("ConnectionError", "db.internal:5432 refused")
    assert bench.calls == []
    assert outcomes(bench.host) == ["crashed", "crashed"]


def test_a_failing_database_answers_alike_for_an_id_that_names_nothing(bench: Bench) -> None:
    bench.database.fails = ConnectionError("x")
    told = [fault(bench.host, "demo__at", clusterId=one).message for one in (ONE, ONE.replace("1", "2", 1))]
    assert [one.rpartition(" ")[0] for one in told] == [told[0].rpartition(" ")[0]] * 2


def test_a_database_that_hangs_holds_up_its_own_call_alone(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "DECIDE_SECONDS", 0.3)
    bench.database.waits = threading.Event()

    async def both() -> list[Any]:
        gate = bench.host.gate
        return await asyncio.gather(
            gate.call_tool(ANNA, "demo__look", {}), gate.call_tool(OWNER, "demo__look", {}), return_exceptions=True
        )

    try:
        hangs, goes = asyncio.run(both())
    finally:
        bench.database.waits.set()
    assert (hangs.message, hangs.code) == ("whether you may could not be decided in time; try again", -32603)
    assert goes.structured == {"may": True}
    assert outcomes(bench.host) == ["ok", "overdue"]


def test_a_scope_kind_decides_for_itself(make: Callable[..., Bench]) -> None:
    bench = make(may=lambda principal, action, cluster: principal.name == "anna" and cluster == ONE)
    assert not call(bench.host, "demo__at", {"clusterId": ONE}, ANNA).is_error
    assert call(bench.host, "demo__at", {"clusterId": ONE}, Principal(name="ben")).text == CLUSTER.hidden
    assert "needs the permission demo:read" in call(bench.host, "demo__look", {}, ANNA).text


def test_the_host_is_asked_without_a_call(bench: Bench) -> None:
    bench.database.rows |= {("anna", "demo:read", "cluster", ONE), ("anna", "demo:write", "global", None)}
    may = bench.host.may
    assert may(ANNA, "demo:read", "cluster", ONE)
    assert may(ANNA, "demo:write")
    assert not may(ANNA, "demo:read")
    assert not may(OWNER, "gone:read")


def test_what_may_be_done_everywhere_is_asked_off_the_loop_too(bench: Bench) -> None:
    bench.database.rows.add(("anna", "demo:write", "global", None))
    assert asyncio.run(bench.host.gate.everywhere(ANNA)) == {"demo:write"}
    assert asyncio.run(bench.host.gate.everywhere(OWNER)) == {"demo:read", "demo:write"}
    assert {one.partition("-1")[0] for one in bench.database.asked} == {"yaz-permissions"}


def test_a_host_that_does_not_list_its_rows_says_what_is_not_listed(home: Home) -> None:
    host = console(home, permits=lambda principal, action, scope, scope_id: True)
    try:
        host.activate()
        content = asyncio.run(host.gate.read_resource(ANNA, "console://permissions"))
    finally:
        host.close()
    document = json.loads(content.data)
    assert [one["permission"] for one in document["permissions"]] == ["console:look", "console:see"]
    note = "What you may do in one cluster is decided on each call; list_clusters shows the ids there are for you."
    assert document["notListed"] == [{"scope": "cluster", "note": note}]
