"""Who has to leave: one reason each, and who stays."""

from __future__ import annotations

from pathlib import Path

import attrs
import pytest

from yazcore.capabilities.grants import Grant
from yazcore.departures import Departure, Running, There, departures, waiting
from yazcore.plugin_status import UpdateStatus

OLD, NEW = Path("/1/site/p"), Path("/2/site/p")
TRUSTED = Running(folder=OLD, runtime="trusted", origin="installed")
ISOLATED = attrs.evolve(TRUSTED, runtime="isolated")
GRANTED = Grant(plugin="p", time="then")
SAME = There(version="1", folder=OLD, state="allowed")
NEWER = There(version="2", folder=NEW, state="allowed")


def leaving(running: Running, there: There | None, grant: Grant | None) -> list[Departure]:
    return list(departures({"p": running}, {"p": there} if there else {}, {"p": grant} if grant else {}))


@pytest.mark.parametrize("running", [TRUSTED, ISOLATED])
def test_what_is_as_it_was_stays(running: Running) -> None:
    assert leaving(running, SAME, GRANTED) == []


@pytest.mark.parametrize(
    ("running", "there", "grant", "state", "reason"),
    [
        (ISOLATED, SAME, attrs.evolve(GRANTED, enabled=False), "disabled", "it is switched off"),
        (ISOLATED, SAME, None, "held", "it has not been granted"),
        (ISOLATED, SAME, Grant(plugin="p", denied=("net",)), "held", "it has not been granted"),
        (TRUSTED, None, GRANTED, "held", "it is not installed any more"),
        (ISOLATED, NEWER, GRANTED, "held", "another version has taken its place"),
        (TRUSTED, attrs.evolve(NEWER, state="held"), GRANTED, "held", "another version has taken its place"),
    ],
)
def test_who_leaves_and_why(
    running: Running, there: There | None, grant: Grant | None, state: str, reason: str
) -> None:
    assert leaving(running, there, grant) == [Departure("p", state, reason)]


def test_a_trusted_plugin_goes_on_until_the_application_ends() -> None:
    assert leaving(TRUSTED, NEWER, GRANTED) == []


@pytest.mark.parametrize("origin", ["own", "builtin"])
def test_what_ships_leaves_only_when_it_is_switched_off(origin: str) -> None:
    shipped = attrs.evolve(TRUSTED, origin=origin)
    assert leaving(shipped, None, None) == []
    (departure,) = leaving(shipped, SAME, Grant(plugin="p", enabled=False))
    assert departure.state == "disabled"


def test_what_waits_is_the_update_or_the_next_start() -> None:
    update = UpdateStatus(version="3", state="held", reasons=("it asks for more",))
    assert waiting(TRUSTED, SAME, update) == update
    assert waiting(TRUSTED, NEWER, None) == UpdateStatus(
        version="2", state="waiting", reasons=("it runs from the next start on",)
    )
