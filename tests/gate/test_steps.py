"""A call whose plugin goes away, drops it, or is stopped: each ends with an answer and one record."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.hosts.running import ONE, call, outcomes, running
from tests.plugins_in_test import tool
from yazcore import OWNER, Host, PermissionGrant, Principal
from yazcore.home import Home

CODE = """
class Plugin:
    def __init__(self, context):
        self.context = context

    @hookimpl
    def provide_tools(self):
        return [Tool(name, getattr(self, name)) for name in ("drops", "stops", "may", "outside", "service")]

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
"""
CLUSTER_SCHEMA = {"type": "object", "properties": {"clusterId": {"type": "string"}}, "required": ["clusterId"]}


@pytest.fixture
def host(tmp_path: Path, home: Home) -> Iterator[Host]:
    tools = [
        tool("drops"),
        tool("stops"),
        tool("may", scope="cluster", inputSchema=CLUSTER_SCHEMA),
        tool("outside"),
        tool("service"),
    ]
    with running(tmp_path, home, CODE, provides={"tools": tools}) as host:
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


def test_progress_reaches_whoever_asked_for_it(tmp_path: Path, home: Home) -> None:
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
    with running(tmp_path, home, code, provides={"tools": [tool("count")]}) as host:
        asyncio.run(host.gate.call_tool(OWNER, "demo__count", {}, lambda *progress: said.append(progress)))
    assert said == [(1, 2, "half"), (2, None, "")]
