"""Which active plugins have to leave, after the user has decided or installed something. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import attrs

from yazcore.capabilities.grants import Grant
from yazcore.plugin_status import UpdateStatus


@attrs.frozen(kw_only=True)
class Running:
    """An active plugin: the package's folder that it was started from, in which runtime, where it came from."""

    folder: Path
    runtime: str
    origin: str


@attrs.frozen(kw_only=True)
class There:
    """What is installed under its id now: the version that counts, its package's folder, its state."""

    version: str
    folder: Path
    state: str


@attrs.frozen
class Departure:
    """One plugin that has to leave, and the state and reason it is then shown with."""

    plugin: str
    state: str
    reason: str


def departures(
    running: Mapping[str, Running], there: Mapping[str, There], grants: Mapping[str, Grant]
) -> Iterator[Departure]:
    """The plugins that have to leave, by id in all three.

    A version that has taken the place of another takes it here, too; but the code of a trusted plugin stays loaded for
    as long as the application runs, so that one goes on where the newer one may run.
    """
    for plugin, active in running.items():
        now, grant = there.get(plugin), grants.get(plugin)
        if grant is not None and not grant.enabled:
            yield Departure(plugin, "disabled", "it is switched off")
        elif active.origin != "installed":
            continue
        elif now is None:
            yield Departure(plugin, "held", "it is not installed any more")
        elif grant is None or not grant.given:
            yield Departure(plugin, "held", "it has not been granted")
        elif now.folder != active.folder and (active.runtime != "trusted" or now.state != "allowed"):
            yield Departure(plugin, "held", "another version has taken its place")


def waiting(running: Running, there: There, update: UpdateStatus | None) -> UpdateStatus | None:
    """What waits behind an active plugin: an update that needs the user, or the next start of the application."""
    if there.folder == running.folder:
        return update
    return UpdateStatus(version=there.version, state="waiting", reasons=("it runs from the next start on",))
