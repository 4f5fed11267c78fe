"""What is installed, and in which state, without running any of it (design 2).

found → readable → held or disabled → allowed; refused where the manifest breaks a rule. `active` and `failed` are the
host's to say.

Of a plugin that `yaz install` put there in several versions, the newest counts that may run. One that is newer and may
not, because it asks for more or a tool of it changed, waits as its `update`, and the older one goes on.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from yazcore.capabilities.grants import Grant, Grants
from yazcore.capabilities.kept import kept
from yazcore.capabilities.standing import standing
from yazcore.contract import Contract
from yazcore.manifest.digests import digests
from yazcore.manifest.discovery import Found, Skipped, builtin, discover
from yazcore.manifest.distributions import normalized
from yazcore.manifest.messages import files_in, seal, texts_of
from yazcore.manifest.model import Manifest
from yazcore.manifest.reading import Reading, read, read_found
from yazcore.plugin_folders import PluginFolder
from yazcore.plugin_status import PluginStatus, UpdateStatus
from yazcore.violations import Violation

_ORDER = {"own": 0, "builtin": 1, "installed": 2}


@attrs.frozen(kw_only=True)
class Installed:
    """One plugin that was found: what its manifest says, and whether it may run.

    * `folders`: what only this plugin has on its path (`Found.folders`).
    * `update`: a newer version that waits for the user, while this one goes on.
    * `ready`: whether nothing but being switched off keeps it from running.
    * `reading`: of its manifest, what a grant keeps.
    """

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
    folders: tuple[Path, ...] = ()
    update: Installed | None = None
    ready: bool = False
    reading: Reading | None = attrs.field(default=None, repr=False)

    @property
    def to_grant(self) -> Installed:
        """What a grant is about: the version that waits for one, where there is one."""
        return self if self.update is None else self.update

    def status(self, confinement: str = "not running") -> PluginStatus:
        """The plugin as it is listed."""
        return PluginStatus(
            id=self.id, name=self.name, version=self.version, distribution=self.distribution, origin=self.origin,
            state=self.state, runtime=self.runtime, confinement=confinement, capabilities=self.capabilities,
            tools=self.tools, violations=self.violations, reasons=self.reasons,
            update=None if self.update is None else self.update._as_update(),
        )  # fmt: skip

    def _as_update(self) -> UpdateStatus:
        reasons = self.reasons or tuple(violation.message for violation in self.violations)
        return UpdateStatus(version=self.version, state=self.state, reasons=reasons)

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
    plugin_folders: Mapping[str, Sequence[PluginFolder]] | None = None,
) -> tuple[tuple[Installed, ...], tuple[Skipped, ...]]:
    """Everything there is: the host's own plugin, the shipped ones, the installed ones by id.

    `plugin_folders` are the versions that `yaz install` put there, newest first; they are looked for whatever
    `discover_installed` says. An installed plugin that has the id of a shipped one, or of the host, is skipped: nobody
    can take another's id. So is one in a folder of its own that is installed beside the host, too.
    """
    found = [builtin(own, origin="own")] if own is not None else []
    found += [builtin(folder) for folder in builtin_folders]
    shipped = {one.id for one in found}
    skipped: list[Skipped] = []
    if discover_installed:
        others, problems = discover(contract, _beside(path, plugin_folders or {}))
        skipped += problems
        for one in others:
            if one.id in shipped:
                skipped.append(_reserved(one.id, one.distribution or one.id, contract))
            else:
                found.append(one)
    looked_at = [_look(contract, grants, one) for one in found]
    beside = {one.id for one in found} - shipped
    for plugin_id, versions in (plugin_folders or {}).items():
        if plugin_id in shipped:
            skipped.append(_reserved(plugin_id, contract.prefix + plugin_id, contract))
        elif plugin_id in beside:
            skipped.append(_twice(plugin_id, contract))
        else:
            there, missing = _in_folders(contract, plugin_id, versions)
            skipped += missing
            if there:
                looked_at.append(_choose([_look(contract, grants, one) for one in there]))
    looked_at.sort(key=lambda one: (_ORDER[one.origin], one.id))
    return tuple(looked_at), tuple(skipped)


def _beside(path: Sequence[str] | None, plugin_folders: Mapping[str, Sequence[PluginFolder]]) -> list[str]:
    """The host's path without the folders of trusted plugins that stand on it while they are active."""
    own = {str(version.site) for versions in plugin_folders.values() for version in versions}
    return [entry for entry in (sys.path if path is None else path) if entry not in own]


def _reserved(plugin_id: str, distribution: str, contract: Contract) -> Skipped:
    return Skipped(
        distribution=distribution,
        code="id-reserved",
        message=f"the id {plugin_id!r} belongs to a plugin that ships with {contract.host}",
        fix="give the plugin another id",
    )


def _twice(plugin_id: str, contract: Contract) -> Skipped:
    return Skipped(
        distribution=contract.prefix + plugin_id,
        code="plugin-twice",
        message=f"{plugin_id} is installed with pip, too, and that one counts",
        fix=f"keep one: pip uninstall {contract.prefix}{plugin_id}, or {contract.host} uninstall {plugin_id}",
    )


def _in_folders(
    contract: Contract, plugin_id: str, versions: Sequence[PluginFolder]
) -> tuple[list[Found], list[Skipped]]:
    """The versions of one plugin in folders of their own. What else lies there is no plugin of anybody's."""
    there, skipped = [], []
    for version in versions:
        found, problems = discover(contract, [str(version.site)])
        one = next((one for one in found if one.id == plugin_id), None)
        if one is not None:
            there.append(attrs.evolve(one, folders=(version.site,)))
        else:
            skipped += list(_why_not(contract, plugin_id, version, problems))
    return there, skipped


def _why_not(
    contract: Contract, plugin_id: str, version: PluginFolder, problems: Sequence[Skipped]
) -> Iterator[Skipped]:
    distribution = normalized(contract.prefix + plugin_id)
    told = [one for one in problems if one.distribution == distribution]
    yield from told
    if not told:
        yield Skipped(
            distribution=distribution,
            code="plugin-folder-broken",
            message=f"its folder plugins/{plugin_id}/{version.number} in YAZ_HOME does not hold it",
            fix=f"{contract.host} uninstall {plugin_id}, and install it again",
        )


def _choose(versions: Sequence[Installed]) -> Installed:
    """Of the versions of one plugin, newest first: the first that may run, with the newest as its update."""
    newest = versions[0]
    chosen = next((one for one in versions if one.ready), newest)
    return chosen if chosen is newest else attrs.evolve(chosen, update=newest)


def _look(contract: Contract, grants: Grants, found: Found) -> Installed:
    def result(**more: object) -> Installed:
        base = {
            "id": found.id, "name": found.id, "version": found.version, "distribution": found.distribution,
            "origin": found.origin, "folder": found.folder, "manifest": None, "runtime": "trusted",
            "folders": found.folders,
        }  # fmt: skip
        return Installed(**{**base, **more})  # type: ignore[arg-type]

    reading = read_found(found, contract)
    manifest = reading.manifest
    if manifest is None:
        return result(state="refused", violations=reading.violations, reading=reading)
    grant = grants.get(found.id)
    update = _Update(contract, grants, found, reading, manifest)
    known = update.digests(grant)
    if_on = standing(manifest, known, grant and attrs.evolve(grant, enabled=True), found.origin)
    why = update.why(grant) if if_on.state == "held" else {}
    stands = standing(manifest, known, grant, found.origin, why)
    return result(
        name=manifest.name,
        version=manifest.version,
        manifest=manifest,
        state=stands.state,
        runtime=stands.runtime,
        reasons=stands.reasons,
        violations=reading.violations,
        ready=if_on.state == "allowed",
        reading=reading,
    )


class _Update:
    """What was found against what was granted: its digests, and in words what has changed."""

    def __init__(
        self, contract: Contract, grants: Grants, found: Found, reading: Reading, manifest: Manifest
    ) -> None:
        self._contract = contract
        self._home = grants.home
        self._is_installed = found.origin == "installed"
        self._text = reading.text or ""
        self._manifest = manifest
        self._files = files_in(manifest.locales_in(found.folder)) if self._is_installed else []

    def digests(self, grant: Grant | None) -> Mapping[str, str]:
        """Those of what was found; without parsing a text where its files are those that were granted."""
        if grant is None or not grant.given or not self._is_installed:
            return {}  # they decide nothing then
        if grant.seal and grant.seal == seal(self._text, self._files):
            return grant.digests
        return digests(self._manifest, texts_of(self._manifest, self._files))

    def why(self, grant: Grant | None) -> Mapping[str, str]:
        """What it changes against what was granted, in a few words for each thing; nothing where that is not known."""
        old = kept(self._home, grant.plugin) if grant is not None and grant.given else None
        if grant is None or old is None:
            return {}
        # here, because few plugins are held by an update, and all are listed
        from yazcore.manifest.changes import explained
        from yazcore.manifest.comparison import compare

        before = read(json.dumps(old.document).encode("utf-8"), self._contract).manifest
        if before is None or digests(before, old.texts) != dict(grant.digests):
            return {}  # it was kept at another grant
        changes = compare(before, self._manifest, old.texts, texts_of(self._manifest, self._files))
        return explained(changes, self._manifest.id, self._contract)
