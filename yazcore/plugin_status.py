"""One plugin as it is listed: `yaz plugins --json`, running or not (design 9)."""

from __future__ import annotations

from typing import Any

import attrs

from yazcore.violations import Difference, Violation


@attrs.frozen(kw_only=True)
class UpdateStatus:
    """A newer version of a plugin, installed and waiting: `held` or `refused`, and why."""

    version: str
    state: str
    reasons: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """The update as plain data."""
        return {"version": self.version, "state": self.state, "reasons": list(self.reasons)}


NOT_POSSIBLE = "not possible"
"""How the confinement of a plugin begins that is to run isolated where the system cannot do that; why comes after."""


@attrs.frozen(kw_only=True)
class PluginStatus:
    """One plugin as `yaz plugins` shows it. `reasons` says why it is not active.

    * `distribution`: None where it was handed over as a folder; `origin`: `own`, `builtin` or `installed`.
    * `state`: `held`, `disabled`, `allowed`, `active`, `refused`, `failed` (design 2).
    * `runtime`: where its code runs; `confinement`: what the kernel really holds it by.
    * `capabilities`: what it declares, an identity each; `tools`: by their own names.
    * `update`: a newer version that waits for the user, while this one goes on.
    """

    id: str
    name: str
    version: str
    distribution: str | None
    origin: str
    state: str
    runtime: str
    confinement: str
    capabilities: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    violations: tuple[Violation, ...] = ()
    differences: tuple[Difference, ...] = ()
    reasons: tuple[str, ...] = ()
    update: UpdateStatus | None = None

    def as_json(self) -> dict[str, Any]:
        """The status as plain data, with the keys that design 9 fixes."""
        return {
            "id": self.id,
            "name": self.name,
            "version": self.version,
            "distribution": self.distribution,
            "origin": self.origin,
            "state": self.state,
            "runtime": self.runtime,
            "confinement": self.confinement,
            "capabilities": list(self.capabilities),
            "tools": list(self.tools),
            "violations": [violation.as_json() for violation in self.violations],
            "differences": [difference.as_json() for difference in self.differences],
            "reasons": list(self.reasons),
            "update": None if self.update is None else self.update.as_json(),
        }
