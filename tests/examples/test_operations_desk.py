"""The operations desk of the documentation: installed by pip, without a finding, and called through the gate."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import yazcore
from yazcore import ProtocolFault
from yazcore.check import Report, check_target
from yazcore.testing import PluginUnderTest, plugin_host
from yazcore.writing.contract import YAZ

DESK = Path(yazcore.__file__).parent.parent / "docs" / "examples" / "operations-desk"


@pytest.fixture(scope="module")
def plugin() -> Iterator[PluginUnderTest]:
    with plugin_host(DESK) as plugin:
        yield plugin


@pytest.fixture
def modules(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[ModuleType, ModuleType]]:
    """The desk and the systems behind it, without yaz."""
    monkeypatch.syspath_prepend(str(DESK))
    yield importlib.import_module("yaz_plugin_desk.desk"), importlib.import_module("yaz_plugin_desk.stores")
    for name in [name for name in sys.modules if name.partition(".")[0] == "yaz_plugin_desk"]:
        del sys.modules[name]


@pytest.fixture
def parts(modules: tuple[ModuleType, ModuleType]) -> tuple[Any, Any, Any]:
    """A desk, its store, its orchestrator."""
    desk, stores = modules
    store, orchestrator = stores.InMemory(), stores.Orchestrator()
    return desk.Desk(store, orchestrator), store, orchestrator


# -- as a whole -------------------------------------------------------------------------------------------------------


def test_nothing_is_wrong_with_it_and_nothing_is_waived() -> None:
    assert check_target(DESK, YAZ) == Report()


def test_it_can_be_installed(tmp_path: Path) -> None:
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-cache-dir")
    alone = ("--quiet", "--no-index", "--no-deps", "--no-build-isolation")
    subprocess.run([*pip, "wheel", *alone, "--wheel-dir", str(tmp_path), str(DESK)], check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    assert check_target(wheel, YAZ) == Report()


def test_it_is_active(plugin: PluginUnderTest) -> None:
    assert (plugin.state, plugin.violations, plugin.differences) == ("active", (), ())


# -- tickets: pages ---------------------------------------------------------------------------------------------------


def test_pages_together_are_every_ticket_once(plugin: PluginUnderTest) -> None:
    found: list[str] = []
    cursor: str | None = None
    for _ in range(20):
        arguments = {"limit": 7} if cursor is None else {"limit": 7, "cursor": cursor}
        page = plugin.call("search-tickets", arguments).structured
        assert page is not None
        found += [one["ticket"] for one in page["tickets"]]
        cursor = page["nextCursor"]
        if cursor is None:
            break
    assert found == [f"OP-{number}" for number in range(160, 100, -1)]


def test_tickets_are_found_by_words_state_and_team(plugin: PluginUnderTest) -> None:
    page = plugin.call("search-tickets", {"words": "payments NOON", "state": "open"}).structured
    assert page is not None
    assert {one["title"] for one in page["tickets"]} == {"Payments time out at noon"}
    assert {one["state"] for one in page["tickets"]} == {"open"}


def test_a_page_reads_no_more_rows_than_it_needs(parts: tuple[Any, Any, Any]) -> None:
    desk, store, _ = parts
    assert len(desk.tickets("", {}, 7, None)["tickets"]) == 7
    assert store.read <= 8


@pytest.mark.parametrize("cursor", ["", "after-x", "after-9999999999", "before-3", "after-٣"])
def test_a_cursor_that_was_never_given_is_refused(plugin: PluginUnderTest, cursor: str) -> None:
    outcome = plugin.call("search-tickets", {"cursor": cursor})
    assert outcome.text == "the cursor is none that search-tickets gave; leave it out for the first page"


# -- one task, three systems ------------------------------------------------------------------------------------------


def test_one_answer_comes_from_three_systems(plugin: PluginUnderTest) -> None:
    assert plugin.call("get-deployment-status", {"service": "payments"}).structured == {
        "service": "payments", "version": "4.2.1", "waitingJobs": 17, "health": "degraded", "unknown": [],
    }  # fmt: skip


def test_what_a_backend_cannot_tell_is_said_in_words_of_the_desk(
    modules: tuple[ModuleType, ModuleType], parts: tuple[Any, Any, Any]
) -> None:
    desk, store, _ = parts
    store.down = {"queues"}
    status = desk.deployment("payments")
    assert (status["waitingJobs"], status["unknown"], status["version"]) == (None, ["waitingJobs"], "4.2.1")
    store.down = {"tickets"}
    with pytest.raises(modules[0].Refused) as refused:
        desk.tickets("", {}, 7, None)
    assert str(refused.value) == "the tickets cannot be looked at just now; try again in a minute"


def test_a_service_that_is_not_there_is_told_those_that_are(plugin: PluginUnderTest) -> None:
    outcome = plugin.call("get-deployment-status", {"service": "billing"})
    assert outcome.text == "there is no service 'billing'; accounts, payments, search are known"


# -- a strong effect --------------------------------------------------------------------------------------------------


def test_a_restart_needs_a_person(plugin: PluginUnderTest) -> None:
    arguments = {"service": "payments", "reason": "its queue does not drain"}
    refused = plugin.call("restart-service", arguments, approved=False)
    assert refused.structured is None
    assert refused.is_error or refused.ask is not None
    approved = plugin.call("restart-service", arguments, approved=True)
    assert approved.structured == {"service": "payments", "restarted": True}


def test_a_restart_names_who_asked_for_it(parts: tuple[Any, Any, Any]) -> None:
    desk, _, orchestrator = parts
    desk.restart("payments", "its queue does not drain", "anna")
    assert orchestrator.journal == [("anna", "payments", "its queue does not drain")]


@pytest.mark.parametrize("step", ["drain", "start"])
def test_a_restart_that_fails_half_way_leaves_nothing_half_done(
    modules: tuple[ModuleType, ModuleType], parts: tuple[Any, Any, Any], step: str
) -> None:
    desk, _, orchestrator = parts
    orchestrator.fails_at = step
    with pytest.raises(modules[0].Refused, match="payments could not be restarted and runs as before"):
        desk.restart("payments", "its queue does not drain", "anna")
    assert (orchestrator.out, orchestrator.journal) == (set(), [])


# -- an export, and context by name -----------------------------------------------------------------------------------


def test_an_export_gives_a_uri_that_can_be_read(plugin: PluginUnderTest) -> None:
    outcome = plugin.call("create-log-export", {"service": "payments", "day": "2026-03-02"})
    assert outcome.structured is not None
    assert outcome.structured["lines"] == 60
    text = plugin.read(outcome.structured["uri"]).data
    assert isinstance(text, bytes)
    assert text.startswith(b"2026-03-02T12:00:00Z order 7000 paid in 40 ms\n")
    assert len(text.splitlines()) == 60


def test_a_day_without_a_log_is_refused(plugin: PluginUnderTest) -> None:
    outcome = plugin.call("create-log-export", {"service": "payments", "day": "2026-03-03"})
    assert outcome.text == "payments wrote no log on 2026-03-03: give another day"


def test_a_runbook_is_read_under_its_name(plugin: PluginUnderTest) -> None:
    data = plugin.read("yaz://desk/runbook/payments/timeout").data
    assert isinstance(data, str)
    assert data.startswith("1. Look at the waiting jobs")


def test_a_runbook_that_does_not_exist_is_answered_as_any_other_address(plugin: PluginUnderTest) -> None:
    with pytest.raises(ProtocolFault) as there:
        plugin.read("yaz://desk/runbook/payments/nothing")
    with pytest.raises(ProtocolFault) as nowhere:
        plugin.read("yaz://desk/elsewhere")
    assert there.value.code == nowhere.value.code


@pytest.mark.parametrize("uri", ["yaz://desk/runbook/payments/timeout", "yaz://desk/inventory/search"])
def test_the_same_uri_names_the_same_thing_in_another_backend(plugin: PluginUnderTest, uri: str) -> None:
    with plugin_host(DESK, settings={"store": "sqlite"}) as other:
        assert other.read(uri).data == plugin.read(uri).data
        arguments = {"words": "payments", "limit": 3}
        assert (
            other.call("search-tickets", arguments).structured == plugin.call("search-tickets", arguments).structured
        )
