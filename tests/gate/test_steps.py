"""A call whose plugin goes away, drops it, or is stopped: each ends with an answer and one record."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import attrs
import pytest

from tests.hosts.console import CONTRACT
from tests.hosts.running import HEAD, ONE, call, outcomes, running
from tests.plugins_in_test import manifest, plugin_folder, tool
from yazcore import GLOBAL, OWNER, Host, PermissionGrant, Principal, ScopeKind
from yazcore.capabilities.grants import RuntimeName
from yazcore.gate import waiting
from yazcore.home import Home

CODE = """
class Plugin:
    def __init__(self, context):
        self.context = context

    @hookimpl
    def provide_tools(self):
        return [Tool(name, getattr(self, name)) for name in ("drops", "stops", "may", "outside", "service", "waits")]

    async def drops(self, context, arguments):
        asyncio.current_task().cancel()
        await asyncio.sleep(1)

    def stops(self, context, arguments):
        raise Cancelled("enough")

    def may(self, context, arguments):
        asked = [("demo:read", "global"), ("demo:read", "cluster"), ("demo:write", "cluster"), ("demo:read", "galaxy")]
        return {"may": [context.caller.may(*one) for one in asked], "scope": context.scope_id}

    def outside(self, context, arguments):
        raise NoContext("files")

    def service(self, context, arguments):
        raise ServiceError("files-changed", "the files at /home/anna changed")

    def waits(self, context, arguments):
        begun.set()
        release.wait(20)
        return {}

begun, release = threading.Event(), threading.Event()
"""
CLUSTER_SCHEMA = {"type": "object", "properties": {"clusterId": {"type": "string"}}, "required": ["clusterId"]}


@pytest.fixture
def host(tmp_path: Path, home: Home, runtime: RuntimeName) -> Iterator[Host]:
    tools = [
        tool("drops"),
        tool("stops"),
        tool("may", scope="cluster", inputSchema=CLUSTER_SCHEMA),
        tool("outside"),
        tool("service"),
        tool("waits"),
    ]
    with running(tmp_path, home, CODE, runtime=runtime, provides={"tools": tools}) as host:
        yield host


def crash(host: Host, text: str) -> Any:
    return host.audit.crash_of(text.rpartition(" ")[2])


def test_a_handler_that_cancels_itself_ends_its_own_call_and_no_other(host: Host) -> None:
    outcome = call(host, "demo__drops")
    assert crash(host, outcome.text)["message"] == "the handler cancelled itself"
    assert outcomes(host) == ["crashed"]


def test_a_plugin_that_gives_up_because_nobody_waits_is_overdue(host: Host) -> None:
    assert call(host, "demo__stops").text == "demo was stopped."
    assert outcomes(host) == ["overdue"]


def test_a_service_used_outside_its_context_is_the_plugins_crash(host: Host) -> None:
    outcome = call(host, "demo__outside")
    assert crash(host, outcome.text)["type"] == "NoContext"


def test_what_a_service_could_not_do_is_told_by_its_code_alone(host: Host) -> None:
    assert call(host, "demo__service").text == "demo could not go on: files-changed."
    assert outcomes(host) == ["error"]


def test_a_plugin_that_is_taken_out_under_a_call_is_no_crash(host: Host) -> None:
    before = host.catalogue.now
    host.deactivate("demo")
    host.catalogue.now = before
    outcome = call(host, "demo__stops")
    assert outcome.text == "demo was switched off just now. Nothing was done; list what there is again."
    assert outcomes(host) == ["error"]


@pytest.mark.parametrize(
    ("grants", "may"),
    [
        ((PermissionGrant("demo:read", "cluster", ONE),), [False, True, False, False]),
        ((PermissionGrant("demo:*"),), [True, True, True, True]),
        ((PermissionGrant("demo:read", "cluster"), PermissionGrant("demo:write", "cluster", "another")),
         [False, True, False, False]),
    ],
)  # fmt: skip
def test_a_handler_asks_for_its_caller_in_the_scope_of_the_call(
    host: Host, grants: tuple[PermissionGrant, ...], may: list[bool]
) -> None:
    outcome = call(host, "demo__may", {"clusterId": ONE}, Principal(name="anna", grants=grants))
    assert outcome.structured == {"may": may, "scope": ONE}


def test_progress_reaches_whoever_asked_for_it(tmp_path: Path, home: Home, runtime: RuntimeName) -> None:
    code = """
class Plugin:
    def __init__(self, context):
        pass

    @hookimpl
    def provide_tools(self):
        return [Tool("count", self.count)]

    def count(self, context, arguments):
        context.progress(1, 2, "half")
        context.progress(2)
        return {}
"""
    said: list[tuple[float, float | None, str]] = []
    with running(tmp_path, home, code, runtime=runtime, provides={"tools": [tool("count")]}) as host:
        asyncio.run(host.gate.call_tool(OWNER, "demo__count", {}, lambda *progress: said.append(progress)))
    assert said == [(1, 2, "half"), (2, None, "")]


# --- a call that is ended from outside

ENDS = """
begun, told = threading.Event(), threading.Event()

class Plugin:
    def __init__(self, context):
        pass

    @hookimpl
    def provide_tools(self):
        return [Tool("blocks", self.blocks), Tool("waits", self.waits)]

    def blocks(self, context, arguments):
        begun.set()
        while not context.call.cancelled.is_set():
            threading.Event().wait(0.01)
        told.set()

    async def waits(self, context, arguments):
        begun.set()
        await asyncio.Event().wait()
"""


@pytest.fixture
def ends(tmp_path: Path, home: Home) -> Iterator[tuple[Host, Any]]:
    tools = [tool("blocks", deadlineSeconds=1), tool("waits", deadlineSeconds=20)]
    with running(tmp_path, home, ENDS, provides={"tools": tools}) as host:
        yield host, sys.modules[host.catalogue.now.plugins["demo"].manifest.module.partition(":")[0]]


def test_a_handler_that_is_overdue_is_told(ends: tuple[Host, Any]) -> None:
    host, module = ends
    assert "did not answer within 1 seconds" in call(host, "demo__blocks").text
    assert module.told.wait(10)


def test_a_call_whose_plugin_is_cut_off_is_no_crash(ends: tuple[Host, Any]) -> None:
    host, module = ends
    cut_off = host.catalogue.now.plugins["demo"].running.close

    async def cut() -> str:
        task = asyncio.create_task(host.gate.call_tool(OWNER, "demo__waits", {}))
        assert await asyncio.to_thread(module.begun.wait, 10)
        await asyncio.to_thread(cut_off)
        return (await task).text

    assert asyncio.run(cut()) == "demo was stopped."
    assert outcomes(host) == ["overdue"]


# --- an id that has more than one spelling

GALAXY = ScopeKind(name="galaxy", argument="galaxyId", parse=lambda text: text.strip().lower() or None)
SPELLS = """
class Plugin:
    def __init__(self, context):
        pass

    @hookimpl
    def provide_tools(self):
        return [Tool("where", lambda context, arguments: {"given": arguments, "scope": context.scope_id})]

    @hookimpl
    def provide_resources(self):
        return [Resource("yaz://demo/{galaxyId}", lambda context, variables: variables)]

    @hookimpl
    def provide_prompts(self):
        return [Prompt("ask", lambda context, arguments: arguments["galaxyId"])]
"""


def test_a_plugin_sees_an_id_in_its_one_spelling(tmp_path: Path, home: Home) -> None:
    schema = {"type": "object", "properties": {"galaxyId": {"type": "string"}}, "required": ["galaxyId"]}
    about = {"nameKey": "text", "descriptionKey": "text", "scope": "galaxy", "permission": "demo:read"}
    provides = {
        "tools": [tool("where", scope="galaxy", inputSchema=schema)],
        "resources": [
            {"uriTemplate": "yaz://demo/{galaxyId}", "variables": [{"name": "galaxyId", "note": "x"}], **about}
        ],
        "prompts": [{
            "name": "ask", "descriptionKey": "text", "scope": "galaxy", "permission": "demo:read",
            "arguments": [{"name": "galaxyId", "note": "x", "required": True}],
        }],
    }  # fmt: skip
    contract = attrs.evolve(CONTRACT, scope_kinds=(GLOBAL, GALAXY))
    with plugin_folder(tmp_path, manifest(provides=provides), HEAD + SPELLS) as folder:
        host = Host(contract, home=home, builtin=[folder], resolve={"galaxy": {"andromeda": 1}.get}, discover=False)
        host.activate()
        assert call(host, "demo__where", {"galaxyId": " Andromeda"}).structured == {
            "given": {"galaxyId": "andromeda"}, "scope": "andromeda"
        }  # fmt: skip
        content = asyncio.run(host.gate.read_resource(OWNER, "yaz://demo/ANDROMEDA"))
        assert content.data == '{"galaxyId": "andromeda"}'
        prompted = asyncio.run(host.gate.get_prompt(OWNER, "demo__ask", {"galaxyId": "Andromeda"}))
        assert prompted.text == "andromeda"
        host.close()


# --- the moment that the server's loop stands still for a quick handler -----------------------------------------------


def _module(host: Host) -> Any:
    return sys.modules[host.catalogue.now.plugins["demo"].manifest.module.partition(":")[0]]


def _stood_still(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether the loop stood still for each call from now on."""
    seen: list[bool] = []
    finished = waiting.finished

    async def told(future: Future[Any], seconds: float, at_once: bool) -> Any:
        seen.append(at_once)
        return await finished(future, seconds, at_once)

    monkeypatch.setattr(waiting, "finished", told)
    return seen


@pytest.mark.parametrize("runtime", ["trusted"], indirect=True)  # it looks into the plugin's module
def test_the_loop_never_stands_still_again_for_a_handler_that_was_slow(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = _stood_still(monkeypatch)
    monkeypatch.setattr(waiting, "MOMENT_SECONDS", 0.0)
    _module(host).release.set()
    for _ in range(2):
        assert not call(host, "demo__waits").is_error
    assert seen == [True, False]


@pytest.mark.parametrize("runtime", ["trusted"], indirect=True)  # it looks into the plugin's module
def test_the_loop_never_stands_still_while_another_call_runs(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = _stood_still(monkeypatch)
    module = _module(host)

    async def both() -> None:
        slow = asyncio.create_task(host.gate.call_tool(OWNER, "demo__waits", {}))
        await asyncio.to_thread(module.begun.wait, 20)
        await host.gate.call_tool(OWNER, "demo__stops", {})
        module.release.set()
        await slow

    asyncio.run(both())
    assert seen == [True, False]
