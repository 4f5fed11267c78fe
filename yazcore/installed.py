"""What is installed, and in which state, without running any of it (design 2).

found → readable → held or disabled → allowed; refused where the manifest breaks a rule. `active` and `failed` are the
host's to say.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import attrs

from yazcore.capabilities.grants import Grants
from yazcore.capabilities.standing import standing
from yazcore.contract import Contract
from yazcore.manifest.comparison import digests
from yazcore.manifest.discovery import Found, Skipped, builtin, discover
from yazcore.manifest.messages import texts
from yazcore.manifest.model import Manifest
from yazcore.manifest.reading import read_found
from yazcore.plugin_status import PluginStatus
from yazcore.violations import Violation

_ORDER = {"own": 0, "builtin": 1, "installed": 2}


@attrs.frozen(kw_only=True)
class Installed:
    """One plugin that was found: what its manifest says, and whether it may run."""

    id: str
    name: str
    version: str
    distribution: str | None
    origin: str
    folder: Path
    manifest: Manifest | None
    state: str
    runtime: str
    reasons: tuple[str, ...] = ()
    violations: tuple[Violation, ...] = ()

    def status(self, confinement: str = "not running") -> PluginStatus:
        """The plugin as it is listed."""
        return PluginStatus(
            id=self.id, name=self.name, version=self.version, distribution=self.distribution, origin=self.origin,
            state=self.state, runtime=self.runtime, confinement=confinement, capabilities=self.capabilities,
            tools=self.tools, violations=self.violations, reasons=self.reasons,
        )  # fmt: skip

    def as_json(self) -> dict[str, Any]:
        """The plugin as `yaz plugins --json` shows it while nothing runs (design 9)."""
        return self.status().as_json()

    @property
    def capabilities(self) -> tuple[str, ...]:
        """The capabilities it declares, one text each."""
        return () if self.manifest is None else tuple(one.identity for one in self.manifest.capabilities)

    @property
    def tools(self) -> tuple[str, ...]:
        """The tools it declares, by their own names."""
        return () if self.manifest is None else tuple(tool.name for tool in self.manifest.provides.tools)


def survey(
    contract: Contract,
    grants: Grants,
    *,
    own: Path | None = None,
    builtin_folders: Sequence[Path] = (),
    discover_installed: bool = True,
    path: Sequence[str] | None = None,
) -> tuple[tuple[Installed, ...], tuple[Skipped, ...]]:
    """Everything there is: the host's own plugin, the shipped ones, the installed ones by id.

    An installed plugin that has the id of a shipped one, or of the host, is skipped: nobody can take another's id.
    """
    found = [builtin(own, origin="own")] if own is not None else []
    found += [builtin(folder) for folder in builtin_folders]
    skipped: list[Skipped] = []
    if discover_installed:
        shipped = {one.id for one in found}
        others, problems = discover(contract, path)
        skipped += problems
        for one in others:
            if one.id in shipped:
                skipped.append(
                    Skipped(
                        distribution=one.distribution or one.id,
                        code="id-reserved",
                        message=f"the id {one.id!r} belongs to a plugin that ships with {contract.host}",
                        fix="give the plugin another id",
                    )
                )
            else:
                found.append(one)
    found.sort(key=lambda one: (_ORDER[one.origin], one.id))
    return tuple(_look(contract, grants, one) for one in found), tuple(skipped)


def _look(contract: Contract, grants: Grants, found: Found) -> Installed:
    def result(**more: object) -> Installed:
        base = {
            "id": found.id, "name": found.id, "version": found.version, "distribution": found.distribution,
            "origin": found.origin, "folder": found.folder, "manifest": None, "runtime": "trusted",
        }  # fmt: skip
        return Installed(**{**base, **more})  # type: ignore[arg-type]

    reading = read_found(found, contract)
    manifest = reading.manifest
    if manifest is None:
        return result(state="refused", violations=reading.violations)
    grant = grants.get(found.id)
    known = digests(manifest, texts(manifest, manifest.locales_in(found.folder))) if grant is not None else {}
    stands = standing(manifest, known, grant, found.origin)
    return result(
        name=manifest.name,
        version=manifest.version,
        manifest=manifest,
        state=stands.state,
        runtime=stands.runtime,
        reasons=stands.reasons,
        violations=reading.violations,
    )
