"""Everything that can be said about one plugin: what its manifest breaks, where its code and its manifest differ, and
what the design rules find.

For authors and CI (`yaz check`, design 9). Violations and findings are found without running anything. The differences
are not: the plugin is imported, made and asked what it contributes, in this process and with all of this user's rights
(`onload` is left out). `static=True` runs nothing.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import attrs

from yazcore.contract import Contract
from yazcore.contributions import RESOURCES
from yazcore.design_rules.engine import Outcome, Selection, chosen
from yazcore.design_rules.plugins import Case, case_of, case_of_target
from yazcore.design_rules.rule import Finding
from yazcore.design_rules.rules import RULES
from yazcore.design_rules.surface import Surface
from yazcore.manifest.checking import check_reading
from yazcore.manifest.discovery import FILE_NAME, Found, Skipped, builtin, discover
from yazcore.manifest.distributions import normalized
from yazcore.manifest.looking import beside, said_in
from yazcore.manifest.model import Manifest
from yazcore.manifest.reading import Reading, read_found
from yazcore.manifest.targets import open_target
from yazcore.runtimes.own_path import OwnPath
from yazcore.violations import Difference, Violation, YazError, errors

_DISTRIBUTION = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?")


@attrs.frozen(kw_only=True)
class Report:
    """What checking one plugin found.

    * `findings`: of the design rules; `waived`: those that a waiver answers, with its reason.
    * `file`: where the manifest lies in what was named, with slashes: positions count in it; empty where there is none.
    * `trace`: the traceback of a plugin that could not be started, for its author's terminal only: it holds paths of
      this machine.
    """

    violations: tuple[Violation, ...] = ()
    differences: tuple[Difference, ...] = ()
    findings: tuple[Finding, ...] = ()
    waived: tuple[tuple[Finding, str], ...] = ()
    file: str = attrs.field(default=FILE_NAME, eq=False)
    trace: str = ""

    @property
    def refuses(self) -> bool:
        """Whether a host would refuse the plugin; warnings alone do not."""
        return bool(errors(self.violations) or self.differences)

    def as_json(self) -> dict[str, Any]:
        """The report as plain data, with the keys that design 9 fixes."""
        return {
            "violations": [violation.as_json() for violation in self.violations],
            "differences": [difference.as_json() for difference in self.differences],
            "findings": [finding.as_json() for finding in self.findings],
            "waived": [{**finding.as_json(), "reason": reason} for finding, reason in self.waived],
        }


@attrs.frozen(kw_only=True)
class How:
    """How a plugin is checked: `static` runs nothing of it; `selection` are the design rules that run, `before` the
    surface of the last release, against which some of them hold it."""

    contract: Contract
    static: bool = False
    selection: Selection = attrs.field(factory=lambda: chosen(RULES))
    before: Surface | None = None


def check_target(
    target: str | Path,
    contract: Contract,
    *,
    shipped: Sequence[Path] = (),
    static: bool = False,
    selection: Selection | None = None,
    before: Surface | None = None,
    extra: Sequence[Path] = (),
) -> Report:
    """Check one plugin.

    * `target`: a folder (a package with a manifest, or a project that holds one such package), a wheel or an sdist (of
      which nothing is run), else the id of an installed or a shipped plugin.
    * `shipped`: the packages that come with the host application; their ids are reserved for them.
    * `static`: run nothing of the plugin; no differences are found then.
    * `selection`: the design rules that run, all of them where it is None; `before`: the surface of the last release.
    * `extra`: folders that are searched after the path: those that plugins were installed into, each its own.

    Raises `YazError` where there is no such plugin: `target-unknown`, or as `source_of` and `open_target` do.
    """
    text = str(target)
    how = How(
        contract=contract, static=static, selection=selection if selection is not None else chosen(RULES), before=before
    )
    if text and Path(target).is_dir():
        return _check_folder(Path(target), shipped, how)
    if text and Path(target).is_file():
        return _check_archive(Path(target), how)
    if isinstance(target, Path) or "/" in text or os.sep in text:
        fix = "give a wheel, a plugin's folder, or the id of an installed one"
        raise YazError("target-unknown", f"there is no file or folder {text!r}", fix)
    for found in map(builtin, shipped):
        if found.id == text:
            return _check_package(found.folder, read_found(found, contract), how)
    return _check_installed(text, extra, how)


@attrs.frozen(kw_only=True)
class Source:
    """A plugin's source: its package, and the project that publishes it, where it has a `pyproject.toml`."""

    package: Path
    project: Path | None


def source_of(folder: Path) -> Source:
    """The plugin in a folder, which is its package, or a project that holds one, also below `src`.

    Raises `YazError` `target-without-manifest`, `target-ambiguous`, or `target-name-taken` for a package whose name
    Python or yazcore itself needs.
    """
    folder = folder.resolve()
    found = [folder] if (folder / FILE_NAME).is_file() else []
    if not found:
        found = sorted(path.parent for pattern in ("*", "src/*") for path in folder.glob(f"{pattern}/{FILE_NAME}"))
    if not found:
        raise YazError(
            "target-without-manifest", f"{folder.name} holds no {FILE_NAME}, and neither does a package in it",
            "give a plugin's package, or the project that holds it",
        )  # fmt: skip
    if len(found) > 1:
        names = ", ".join(path.name for path in found)
        raise YazError("target-ambiguous", f"{folder.name} holds several plugins: {names}", "give the folder of one")
    (package,) = found
    if package.name in sys.stdlib_module_names or package.name == "yazcore":
        message = f"{package.name} is the name of another package"
        raise YazError("target-name-taken", message, "rename the plugin's package")
    project = package.parent.parent if package.parent.name == "src" else package.parent
    return Source(package=package, project=project if (project / "pyproject.toml").is_file() else None)


@contextlib.contextmanager
def importable(package: Path) -> Iterator[Path]:
    """Have a package that is not installed found first, alone, and fresh; gives the folder that is put on the path.

    What was imported under its name from elsewhere is back afterwards.
    """
    name = package.name
    before = {module: sys.modules[module] for module in _modules_of(name)}
    is_this = name in before and _origin(before[name]) == package.resolve()
    with tempfile.TemporaryDirectory(prefix="yaz-check-") as place:
        os.symlink(package.resolve(), Path(place, name), target_is_directory=True)
        if not is_this:
            _forget(name)
        sys.path.insert(0, place)
        try:
            yield Path(place)
        finally:
            with contextlib.suppress(ValueError):
                sys.path.remove(place)
            sys.path_importer_cache.pop(place, None)
            if not is_this:
                _forget(name)
                sys.modules.update(before)


def _modules_of(package: str) -> list[str]:
    return [name for name in sys.modules if name == package or name.startswith(f"{package}.")]


def _forget(package: str) -> None:
    for name in _modules_of(package):
        del sys.modules[name]


def _origin(module: ModuleType) -> Path | None:
    file = getattr(module, "__file__", None)
    return None if file is None else Path(file).resolve().parent


# -- where the manifest comes from ------------------------------------------------------------------------------------


def _check_archive(file: Path, how: How) -> Report:
    target = open_target(file, how.contract)
    outcome = _outcome(case_of_target(target, how.contract, how.before), how)
    return Report(
        violations=target.violations, findings=outcome.findings, waived=outcome.waived,
        file=f"{target.package}/{FILE_NAME}" if target.package is not None else FILE_NAME,
    )  # fmt: skip


def _check_folder(folder: Path, shipped: Sequence[Path], how: How) -> Report:
    source, contract = source_of(folder), how.contract
    package = source.package
    if package in {path.resolve() for path in shipped}:  # its module is a part of the host: nothing is put on the path
        return _check_package(package, read_found(builtin(package), contract), how)
    with importable(package) as place:
        skips, found = as_installed(place, source, contract)
        reading = read_package(package, contract) if found is None else read_found(found, contract)
        report = _check_package(package, reading, how)
    where = (package / FILE_NAME).relative_to(folder.resolve()).as_posix()
    return attrs.evolve(report, violations=(*skips, *report.violations), file=where)


def read_package(package: Path, contract: Contract) -> Reading:
    """Read the manifest of a third party's package that nothing publishes. Never raises."""
    return read_found(attrs.evolve(builtin(package), origin="installed"), contract)


def _check_installed(plugin_id: str, extra: Sequence[Path], how: How) -> Report:
    contract = how.contract
    found, skipped = discover(contract)
    for one in found:
        if one.id == plugin_id:
            return _check_package(one.folder, read_found(one, contract), how)
    for folder in extra:
        apart, problems = discover(contract, [str(folder)])
        for one in apart:
            if one.id == plugin_id:
                return _check_apart(one, folder, how)
        found, skipped = (*found, *apart), (*skipped, *problems)
    distribution = normalized(contract.prefix + plugin_id)
    if skips := [_violation(one) for one in skipped if one.distribution == distribution]:
        return Report(violations=tuple(skips))
    known = ", ".join(one.id for one in found) or "none"
    raise YazError(
        "target-unknown", f"{plugin_id!r} is neither a folder nor an installed plugin",
        f"give a plugin's folder, or an id; installed are: {known}",
    )  # fmt: skip


def _check_apart(found: Found, folder: Path, how: How) -> Report:
    """A plugin in a folder of its own, beside what came along with it; the host's own packages go before those."""
    own = OwnPath([folder])
    own.enter()
    try:
        with importable(found.folder):
            return _check_package(found.folder, read_found(found, how.contract), how)
    finally:
        own.leave()


def _violation(skipped: Skipped) -> Violation:
    return Violation(skipped.code, skipped.message, skipped.fix)


def as_installed(place: Path, source: Source, contract: Contract) -> tuple[tuple[Violation, ...], Found | None]:
    """Look at a project as at an installed plugin, with the metadata that installing it would leave in `place`.

    `place` is what `importable` gives. A package without a project publishes nothing, and there is nothing to look at.
    """
    if source.project is None:
        return (), None
    published = _published(source, contract)
    if contract.group not in published.entry_points:
        value = f"{source.package.name}:{FILE_NAME}"
        fix = f'add [project.entry-points."{contract.group}"] to pyproject.toml, with ID = "{value}"'
        message = "nobody will find the plugin: it publishes no entry point"
        return (Violation("entry-point-missing", message, fix),), None
    if not _DISTRIBUTION.fullmatch(published.name):
        return (), None
    folder = place / f"{normalized(published.name).replace('-', '_')}-0.dist-info"  # METADATA says the version
    folder.mkdir()
    groups = [
        f"[{group}]\n" + "".join(f"{key} = {value}\n" for key, value in entries.items())
        for group, entries in published.entry_points.items()
    ]
    direct = {"url": source.project.as_uri(), "dir_info": {"editable": True}}
    for name, text in (
        ("METADATA", f"Metadata-Version: 2.1\nName: {published.name}\nVersion: {published.version or '0'}\n"),
        ("entry_points.txt", "\n".join(groups)),
        ("direct_url.json", json.dumps(direct)),
    ):
        (folder / name).write_text(text, "utf-8")
    found, skipped = discover(contract, [str(place)])
    return tuple(map(_violation, skipped)), next(iter(found), None)


@attrs.frozen(kw_only=True)
class _Published:
    """What a project will publish."""

    name: str
    version: str
    entry_points: Mapping[str, Mapping[str, str]]


def _published(source: Source, contract: Contract) -> _Published:
    """What the project's `pyproject.toml` says in the standard way (PEP 621), and what the manifest implies else."""
    implied = builtin(source.package)
    table = None if source.project is None else _project_table(source.project / "pyproject.toml")
    if table is None:
        table = {"dynamic": ["entry-points"]}
    name, version, groups = table.get("name"), table.get("version"), table.get("entry-points")
    dynamic = table.get("dynamic")
    if isinstance(dynamic, list) and "entry-points" in dynamic:
        groups = {contract.group: {implied.id: f"{source.package.name}:{FILE_NAME}"}}
    elif not isinstance(groups, dict):
        groups = {}
    return _Published(
        name=name if isinstance(name, str) else contract.prefix + implied.id,
        version=version if isinstance(version, str) else implied.version,  # a build may find it in the manifest
        entry_points={group: entries for group, entries in groups.items() if isinstance(entries, dict)},
    )


def _project_table(file: Path) -> dict[str, Any] | None:
    try:
        table = tomllib.loads(file.read_text("utf-8")).get("project")
    except (OSError, ValueError):
        return None
    return table if isinstance(table, dict) else None


# -- the report -------------------------------------------------------------------------------------------------------


def _check_package(package: Path, reading: Reading, how: How) -> Report:
    """Read, checked, judged, and started unless something refuses it already."""
    violations = check_reading(reading, package)
    report, completes = Report(violations=violations), None
    if not how.static and reading.manifest is not None and not errors(violations):
        report, completes = _asked(reading.manifest, package, how.contract, violations)
    texts = said_in(reading, package)
    case = case_of(reading, texts, beside(package), how.contract, completes=completes, before=how.before)
    outcome = _outcome(case, how)
    return attrs.evolve(report, findings=outcome.findings, waived=outcome.waived)


def _asked(
    manifest: Manifest, package: Path, contract: Contract, violations: tuple[Violation, ...]
) -> tuple[Report, dict[str, bool] | None]:
    """What the plugin says when it is asked: where it differs, and which of its resources propose values."""
    from yazcore.asking import NotAsked, registered  # what runs plugins is loaded only where one is run
    from yazcore.differences import differences

    try:
        made = registered(manifest, package, contract)
    except NotAsked as problem:
        return Report(violations=(*violations, *problem.violations), trace=problem.trace), None
    completes = {one.address: one.complete is not None for one in made[RESOURCES.key]}
    return Report(violations=violations, differences=differences(manifest, contract, made)), completes


def _outcome(case: Case | None, how: How) -> Outcome:
    return case.outcome(how.selection) if case is not None else Outcome()
