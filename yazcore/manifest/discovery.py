"""Finding plugins that are installed, without importing or running anything of theirs (design 4, 5).

From an entry point to a package folder and a manifest file. On the way everything is asked that can be asked of the
distribution itself: that it is named for its id, that it owns what it points to, and that nothing it installed would be
loaded by the host outside every boundary (design 5, "pip is not consent").
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from typing import Any, Literal

import attrs

from yazcore.contract import Contract
from yazcore.manifest.distribution_rules import (
    FILE_NAME,
    Brought,
    entry_faults,
    entry_of,
    file_faults,
    group_faults,
    package_faults,
    script_faults,
    scripts_in,
)
from yazcore.manifest.distributions import Broken, Distribution, entry_points, normalized, scan, zipped
from yazcore.manifest.json_text import parse
from yazcore.manifest.words import listed, quoted
from yazcore.violations import Violation

__all__ = ["FILE_NAME", "Found", "Origin", "Skipped", "builtin", "discover"]

Origin = Literal["installed", "builtin", "own"]


@attrs.frozen(kw_only=True)
class Found:
    """One plugin that was found, by its manifest file; nothing of it has been read or run yet.

    `folder` is its package. `version` is the distribution's. A shipped plugin has no `distribution`. `folders` are
    those that only this plugin's worker has on its path, before what the host has installed (`plugin_folders`); none
    for a plugin that is installed beside the host.
    """

    id: str
    distribution: str | None
    version: str
    folder: Path
    manifest: Path
    origin: Origin
    editable: bool = False
    folders: tuple[Path, ...] = ()


@attrs.frozen(kw_only=True)
class Skipped:
    """One distribution that says it is a plugin and is not taken for one: a stable code, why, and what to do."""

    distribution: str
    code: str
    message: str
    fix: str


class _Skip(Exception):
    def __init__(self, code: str, message: str, fix: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.fix = fix


def builtin(folder: Path, origin: Origin = "builtin") -> Found:
    """A plugin that a host hands over by its package folder. Id and version come from the manifest, as far as it has
    them: what is wrong with it is for reading to say.
    """
    manifest = folder / FILE_NAME
    try:
        document = parse(manifest.read_bytes()).value
    except OSError:
        document = None
    head: Mapping[str, Any] = document if isinstance(document, dict) else {}
    plugin_id, version = head.get("id"), head.get("version")
    return Found(
        id=plugin_id if isinstance(plugin_id, str) and plugin_id else folder.name,
        distribution=None,
        version=version if isinstance(version, str) else "",
        folder=folder,
        manifest=manifest,
        origin=origin,
    )


def discover(contract: Contract, path: Sequence[str] | None = None) -> tuple[tuple[Found, ...], tuple[Skipped, ...]]:
    """The plugins installed on the path (None: `sys.path`), by id, and those that are skipped, by name.

    Of one distribution in two places, the first counts, as Python has it. Never raises for anything that is installed.
    """
    path = list(sys.path if path is None else path)
    known: dict[str, list[Distribution]] = {}
    texts: list[tuple[Distribution, str]] = []
    skipped: list[Skipped] = []
    for distribution in scan(path):
        known.setdefault(distribution.name, []).append(distribution)
        try:
            text = distribution.read("entry_points.txt")
        except Broken as broken:
            if _is_named_as_plugin(distribution, contract):
                skipped.append(_skipped(distribution, _broken_entry_points(broken)))
            continue
        if text:
            texts.append((distribution, text))
    plugins = [pair for pair in texts if _publishes(pair[1], contract)]
    scripts = _scripts(texts, {distribution.name for distribution, _ in plugins})
    found = []
    for distribution, text in plugins:
        try:
            if (one := _look(distribution, text, contract, path, known, scripts)) is not None:
                found.append(one)
        except _Skip as skip:
            skipped.append(_skipped(distribution, skip))
    skipped += _skipped_in_zip_files(path, contract)
    return (
        tuple(sorted(found, key=lambda one: one.id)),
        tuple(sorted(set(skipped), key=lambda one: (one.distribution, one.code, one.message))),
    )


def _skipped(distribution: Distribution, skip: _Skip) -> Skipped:
    return Skipped(distribution=distribution.name, code=skip.code, message=skip.message, fix=skip.fix)


def _skipped_in_zip_files(path: Sequence[str], contract: Contract) -> Iterator[Skipped]:
    for name, file, text in zipped(path):
        if _publishes(text, contract):
            yield Skipped(
                distribution=name,
                code="distribution-in-zip",
                message=f"it lies in {quoted(file)}, a zip file on the path",
                fix="install it with pip: a plugin is a folder of files",
            )


def _publishes(text: str, contract: Contract) -> bool:
    return f"[{contract.group}]" in text.replace(" ", "")


def _is_named_as_plugin(distribution: Distribution, contract: Contract) -> bool:
    return distribution.name.startswith(normalized(contract.prefix))


def _broken_entry_points(broken: Broken) -> _Skip:
    return _Skip("entry-points-broken", str(broken), "install it again, or tell its author")


def _look(
    distribution: Distribution,
    text: str,
    contract: Contract,
    path: list[str],
    known: Mapping[str, list[Distribution]],
    scripts: Mapping[str, frozenset[str]],
) -> Found | None:
    """One distribution that publishes a manifest: found, or `_Skip`, or None where it only mentions the group."""
    try:
        groups = entry_points(text)
    except Broken as broken:
        raise _broken_entry_points(broken) from None
    if contract.group not in groups:
        return None
    if not _is_chosen(distribution, known[distribution.name]):
        return None
    version = _check_metadata(distribution)
    brought = Brought(name=distribution.name, groups=groups, info=distribution.info)
    _refuse(entry_faults(brought, contract))
    entry = entry_of(groups, contract)
    assert entry is not None, "no fault was found in it"
    plugin_id, package = entry
    _refuse(group_faults(brought, contract))
    _refuse(script_faults(brought, contract, scripts))
    try:
        source = distribution.editable_source()
        folder = _package_folder(package, path, source)
        _check_place(distribution, folder, source)
        if source is None:
            _refuse(file_faults(attrs.evolve(brought, files=distribution.files()), package))
    except Broken as broken:
        raise _Skip("distribution-record-broken", str(broken), "install it again") from None
    _refuse(package_faults(brought, package, known))
    manifest = folder / FILE_NAME
    if not manifest.is_file():
        raise _Skip(
            "manifest-missing", f"the package {quoted(package)} holds no {FILE_NAME}",
            "its author has to ship the file in the wheel",
        )  # fmt: skip
    return Found(
        id=plugin_id,
        distribution=distribution.name,
        version=version,
        folder=folder,
        manifest=manifest,
        origin="installed",
        editable=source is not None,
    )


def _is_chosen(distribution: Distribution, same_name: list[Distribution]) -> bool:
    """Whether this metadata folder speaks for its distribution; those without metadata are left-overs.

    Two with metadata in one place are what is left of an installation that broke off: nothing says which is true.
    """
    if len(same_name) == 1:
        return True
    whole = [one for one in same_name if one.headers() is not None] or same_name
    first = whole[0]
    beside = [one for one in whole if one.place == first.place and one.is_egg == first.is_egg]
    if len(beside) > 1:
        raise _Skip(
            "distribution-twice", f"{distribution.name} is there twice: {listed(one.info for one in beside)}",
            "uninstall it until it is gone, and install it again",
        )  # fmt: skip
    if distribution in whole and not (distribution.is_egg or first.is_egg) and distribution != first:
        raise _Skip(
            "distribution-shadowed", f"another {distribution.name} comes before it on the path",
            "uninstall the one that is not meant",
        )  # fmt: skip
    return distribution == first


def _check_metadata(distribution: Distribution) -> str:
    headers = distribution.headers()
    if headers is None:
        message = f"{distribution.name} has no metadata with a name and a version"
        raise _Skip("distribution-metadata", message, "install it again")
    name, version = headers
    if normalized(name) != distribution.name:
        raise _Skip(
            "distribution-metadata", f"{distribution.name} calls itself {quoted(name)} in its metadata",
            "install it again",
        )  # fmt: skip
    return version


def _refuse(faults: Iterable[Violation]) -> None:
    """Raise the first of these faults, where there is one: a distribution is skipped for one reason."""
    for fault in faults:
        raise _Skip(fault.code, fault.message, fault.fix)


def _scripts(texts: Sequence[tuple[Distribution, str]], plugins: set[str]) -> dict[str, frozenset[str]]:
    """The commands that distributions bring, each with their names.

    Nothing is parsed where no plugin brings a command.
    """
    if not any(distribution.name in plugins and "_scripts" in text for distribution, text in texts):
        return {}
    return script_owners(texts)


def script_owners(texts: Iterable[tuple[Distribution, str]]) -> dict[str, frozenset[str]]:
    """The distributions that bring each command, from their `entry_points.txt`."""
    owners: dict[str, set[str]] = {}
    for distribution, text in texts:
        if "_scripts" in text:
            for script in scripts_in(text):
                owners.setdefault(script, set()).add(distribution.name)
    return {script: frozenset(names) for script, names in owners.items()}


def _package_folder(package: str, path: list[str], source: Path | None) -> Path:
    """The package's folder, found without importing it. Raises `_Skip`."""
    spec = PathFinder.find_spec(package, path)
    if source is not None and (spec is None or spec.origin is None):
        spec = _spec_by_finders(package) or spec  # an editable installation may have a finder of its own
    if spec is None:
        raise _Skip("package-missing", f"the package {quoted(package)} is not installed", "install it again")
    if spec.origin is None or not spec.submodule_search_locations:
        what = "has no __init__.py" if spec.submodule_search_locations else "is a single module"
        raise _Skip(
            "package-form", f"{quoted(package)} {what}", "its author has to ship one package with an __init__.py"
        )
    return Path(spec.origin).parent


def _spec_by_finders(package: str) -> ModuleSpec | None:
    for finder in sys.meta_path:
        if finder is not PathFinder:
            try:
                spec = finder.find_spec(package, None)
            except Exception:  # noqa: BLE001, S112 - a finder is somebody else's code, and may fail in any way
                continue
            if spec is not None:
                return spec
    return None


def _check_place(distribution: Distribution, folder: Path, source: Path | None) -> None:
    """What would be imported is what this distribution brought."""
    if source is not None:
        is_its_own = folder.resolve().is_relative_to(source)
    else:
        place = str(folder.parent)
        is_its_own = distribution.place in (place, os.path.realpath(place))
    if not is_its_own:
        raise _Skip(
            "package-elsewhere", f"the package {quoted(folder.name)} on the path is not the one of {distribution.name}",
            "uninstall whatever else brings a package of that name",
        )  # fmt: skip
