"""Finding plugins that are installed, without importing or running anything of theirs (design 4, 5).

From an entry point to a package folder and a manifest file. On the way everything is asked that can be asked of the
distribution itself: that it is named for its id, that it owns what it points to, and that nothing it installed would be
loaded by the host outside every boundary (design 5, "pip is not consent").
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from typing import Any, Literal

import attrs

from yazcore.contract import Contract
from yazcore.manifest.distributions import Broken, Distribution, entry_points, normalized, scan
from yazcore.manifest.json_text import parse
from yazcore.manifest.names import LONGEST_ID, is_id
from yazcore.manifest.words import listed, quoted

FILE_NAME = "manifest.json"
"""What a manifest's file is called."""

SCRIPT_GROUPS = frozenset({"console_scripts", "gui_scripts"})
"""The entry-point groups that only make commands: nothing is loaded because of them."""

_VALUE = re.compile(r"(?P<package>[A-Za-z_][A-Za-z0-9_]*):manifest\.json")

Origin = Literal["installed", "builtin", "own"]


@attrs.frozen(kw_only=True)
class Found:
    """One plugin that was found, by its manifest file; nothing of it has been read or run yet.

    `folder` is its package. `version` is the distribution's. A shipped plugin has no `distribution`.
    """

    id: str
    distribution: str | None
    version: str
    folder: Path
    manifest: Path
    origin: Origin
    editable: bool = False


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
    plugins = [pair for pair in texts if f"[{contract.group}]" in pair[1].replace(" ", "")]
    scripts = _scripts(texts, {distribution.name for distribution, _ in plugins})
    found = []
    for distribution, text in plugins:
        try:
            if (one := _look(distribution, text, contract, path, known[distribution.name], scripts)) is not None:
                found.append(one)
        except _Skip as skip:
            skipped.append(_skipped(distribution, skip))
    return (
        tuple(sorted(found, key=lambda one: one.id)),
        tuple(sorted(set(skipped), key=lambda one: (one.distribution, one.code, one.message))),
    )


def _skipped(distribution: Distribution, skip: _Skip) -> Skipped:
    return Skipped(distribution=distribution.name, code=skip.code, message=skip.message, fix=skip.fix)


def _is_named_as_plugin(distribution: Distribution, contract: Contract) -> bool:
    return distribution.name.startswith(normalized(contract.prefix))


def _broken_entry_points(broken: Broken) -> _Skip:
    return _Skip("entry-points-broken", str(broken), "install it again, or tell its author")


def _look(
    distribution: Distribution,
    text: str,
    contract: Contract,
    path: list[str],
    same_name: list[Distribution],
    scripts: Mapping[str, frozenset[str]],
) -> Found | None:
    """One distribution that publishes a manifest: found, or `_Skip`, or None where it only mentions the group."""
    try:
        groups = entry_points(text)
    except Broken as broken:
        raise _broken_entry_points(broken) from None
    if contract.group not in groups:
        return None
    if not _is_chosen(distribution, same_name):
        return None
    version = _check_metadata(distribution)
    plugin_id, package = _check_entry(distribution, groups[contract.group], contract)
    _check_groups(groups, contract)
    _check_scripts(distribution, groups, contract, scripts)
    try:
        source = distribution.editable_source()
        folder = _package_folder(package, path, source)
        _check_place(distribution, folder, source)
        if source is None:
            _check_files(distribution, package, groups)
    except Broken as broken:
        raise _Skip("distribution-record-broken", str(broken), "install it again") from None
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


def _check_entry(distribution: Distribution, entries: Mapping[str, str], contract: Contract) -> tuple[str, str]:
    """The plugin's id and package, if the one entry point is what it has to be."""
    if len(entries) != 1:
        raise _Skip(
            "entry-point-count", f"it publishes {len(entries)} manifests in the group {contract.group}",
            "one distribution holds one plugin: its author has to publish exactly one",
        )  # fmt: skip
    ((plugin_id, value),) = entries.items()
    if not is_id(plugin_id):
        raise _Skip(
            "entry-point-id", f"the entry point is called {quoted(plugin_id)}, which is not a plugin id",
            f"its author has to use a-z, 0-9 and single hyphens, at most {LONGEST_ID} characters",
        )  # fmt: skip
    if distribution.name != normalized(contract.prefix + plugin_id):
        raise _Skip(
            "distribution-name", f"{distribution.name} publishes the plugin {quoted(plugin_id)}",
            f"a plugin with that id comes from {normalized(contract.prefix + plugin_id)} only",
        )  # fmt: skip
    form = _VALUE.fullmatch(value)
    if form is None:
        raise _Skip(
            "entry-point-value", f"the entry point's value is {quoted(value)}",
            f"its author has to write PACKAGE:{FILE_NAME}, with a top-level package",
        )  # fmt: skip
    return plugin_id, form["package"]


def _check_groups(groups: Mapping[str, Any], contract: Contract) -> None:
    """Entry points of other groups are loaded by whoever owns the group, in this process, granted or not."""
    others = sorted(group for group in groups if groups[group] and group not in SCRIPT_GROUPS | {contract.group})
    if others:
        raise _Skip(
            "distribution-foreign-group", f"it also publishes entry points in {listed(others)}, which others load",
            f"its author has to publish in {contract.group} alone",
        )  # fmt: skip


def _scripts(texts: Sequence[tuple[Distribution, str]], plugins: set[str]) -> dict[str, frozenset[str]]:
    """The commands that several distributions, or one that is no plugin, bring, each with their names.

    Nothing is parsed where no plugin brings a command.
    """
    if not any(distribution.name in plugins and "_scripts" in text for distribution, text in texts):
        return {}
    owners: dict[str, set[str]] = {}
    for distribution, text in texts:
        if "_scripts" in text:
            for script in _scripts_of(text):
                owners.setdefault(script, set()).add(distribution.name)
    return {script: frozenset(names) for script, names in owners.items()}


def _scripts_of(text: str) -> Iterator[str]:
    try:
        groups = entry_points(text)
    except Broken:
        return
    for group in sorted(SCRIPT_GROUPS):
        yield from groups.get(group, ())


def _check_scripts(
    distribution: Distribution,
    groups: Mapping[str, Mapping[str, str]],
    contract: Contract,
    scripts: Mapping[str, frozenset[str]],
) -> None:
    """A command of another distribution's name would have replaced that command when it was installed."""
    for script in sorted(name for group in SCRIPT_GROUPS for name in groups.get(group, ())):
        owners = scripts.get(script, frozenset()) - {distribution.name}
        if owners or script == contract.host:
            owner = min(owners, default=contract.host)
            raise _Skip(
                "distribution-script-taken", f"its command {quoted(script)} has replaced the one of {owner}",
                f"uninstall {distribution.name}, and install {owner} again",
            )  # fmt: skip


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


def _check_files(distribution: Distribution, package: str, groups: Mapping[str, Mapping[str, str]]) -> None:
    """It installed files in its package and its metadata folder only, and no file that Python runs when it starts."""
    files = distribution.files()
    if files is None:
        raise _Skip(
            "distribution-record-missing", f"{distribution.name} has no RECORD of the files it installed",
            "install it with pip, which writes one",
        )  # fmt: skip
    if startup := [file for file in files if "/" not in file and file.endswith(".pth")]:
        raise _Skip(
            "distribution-startup-file", f"it installed {quoted(startup[0])}, which Python runs whenever it starts",
            f"uninstall {distribution.name}",
        )  # fmt: skip
    scripts = {name for group in SCRIPT_GROUPS for name in groups.get(group, ())}
    inside = (f"{package}/", f"{distribution.info}/")
    stray = [file for file in files if not (_lies_in(file, inside) or _is_script(file, scripts))]
    if stray:
        raise _Skip(
            "distribution-stray-file",
            f"it installed {quoted(stray[0])}, outside its package {quoted(package)}",
            f"uninstall {distribution.name}, and install again whatever else owned that file",
        )
    if f"{package}/{FILE_NAME}" not in files:
        raise _Skip(
            "manifest-not-owned", f"{distribution.name} did not install {package}/{FILE_NAME}",
            "its author has to ship the file in the wheel",
        )  # fmt: skip


def _lies_in(file: str, folders: tuple[str, ...]) -> bool:
    return file.startswith(folders) and ".." not in file.split("/")


def _is_script(file: str, scripts: set[str]) -> bool:
    """Whether a file outside is the command that an entry point asked for, `../../../bin/NAME`."""
    *folders, name = file.split("/")
    return (
        folders[:1] == [".."]
        and folders[-1] in ("bin", "Scripts")
        and (name in scripts or name.removesuffix(".exe") in scripts)
    )
