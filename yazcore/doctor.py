"""What is wrong with an installation, and how to mend it: every plugin that is left out, every file that is broken.

Nothing of a plugin runs. The libraries that serving needs are imported in a process of their own, so that a broken one
is a line in a report.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

import attrs

from yazcore.capabilities.grants import Grants
from yazcore.contract import Contract
from yazcore.home import Home
from yazcore.install import leftovers
from yazcore.install.environment import HOST, Environment, environment, lacks
from yazcore.install.installers import find_installer, surroundings
from yazcore.installed import Installed, survey
from yazcore.manifest.distributions import Broken, entry_points, scan
from yazcore.marks import read_marks
from yazcore.plugin_folders import plugin_folders
from yazcore.runtimes.own_path import clashes
from yazcore.violations import YazError, errors

NEEDED = ("pydantic", "mcp", "uvicorn", "keyring")
"""What is imported to serve, and never to list."""

_IMPORT_SECONDS = 60.0
_IMPORTING = """
import importlib, sys
try:
    importlib.import_module(sys.argv[1])
except BaseException as error:
    print(f"{type(error).__name__}: {error}")
    raise SystemExit(3)
"""


@attrs.frozen
class Problem:
    """One thing that is wrong: with what, a stable code, why, and how to mend it."""

    subject: str
    code: str
    message: str
    fix: str

    def as_json(self) -> dict[str, str]:
        """The problem as plain data."""
        return attrs.asdict(self)


@attrs.frozen(kw_only=True)
class Diagnosis:
    """What was found.

    * `path`: each folder where installed plugins are looked for, with how many distributions are there.
    * `installer`: pip or uv, as it is called; empty where there is none.
    * `waiting`: the plugins that wait for the user, `(id, why)`.
    """

    python: str
    home: Path
    path: tuple[tuple[str, int], ...]
    folders: int
    installer: str
    problems: tuple[Problem, ...]
    waiting: tuple[tuple[str, str], ...]

    def as_json(self) -> dict[str, Any]:
        """The diagnosis as plain data."""
        return {
            "python": self.python,
            "home": str(self.home),
            "path": [{"folder": folder, "distributions": count} for folder, count in self.path],
            "pluginFolders": self.folders,
            "installer": self.installer,
            "problems": [problem.as_json() for problem in self.problems],
            "waiting": [{"plugin": plugin, "why": why} for plugin, why in self.waiting],
        }


def diagnose(
    contract: Contract,
    home: Home,
    *,
    own: Path,
    builtin: Sequence[Path],
    discover: bool = True,
    path: Sequence[str] | None = None,
) -> Diagnosis:
    """Look at everything. Never raises for what it looks at. Without `discover` installed plugins are left alone."""
    path = [*(sys.path if path is None else path)]
    host = environment(path)
    files = list(_files(home))
    grants = Grants(home) if not any(one.subject == "grants.json" for one in files) else Grants(Home(home.path("none")))
    found, skipped = survey(
        contract, grants, own=own, builtin_folders=builtin, discover_installed=discover, path=path,
        plugin_folders=plugin_folders(home) if discover else {},
    )  # fmt: skip
    installer, without = _installer(host, path)
    problems = (
        *files,
        *_distributions(path),
        *_requirements(host),
        *_imports(path),
        *without,
        *(Problem(one.distribution, one.code, one.message, one.fix) for one in skipped),
        *(problem for one in found for problem in _plugin(one, host, contract)),
        *_left(home),
    )
    return Diagnosis(
        python=f"{sys.executable} ({'.'.join(map(str, sys.version_info[:3]))})",
        home=home.folder,
        path=tuple(_counted(path)),
        folders=sum(map(len, plugin_folders(home).values())),
        installer=installer,
        problems=tuple(dict.fromkeys(problems)),
        waiting=tuple((one.id, "; ".join(one.reasons)) for one in found if one.state in ("held", "disabled")),
    )


def _files(home: Home) -> Iterator[Problem]:
    """The files in YAZ_HOME that commands depend on."""
    reading: dict[str, Callable[[], object]] = {
        "settings.toml": lambda: read_marks(home.settings()), "grants.json": Grants(home).all,
    }  # fmt: skip
    for name, read in reading.items():
        try:
            read()
        except YazError as error:
            yield Problem(name, error.code, error.message, error.fix)


def _distributions(path: Sequence[str]) -> Iterator[Problem]:
    """Metadata that break whoever reads all of them, as many libraries do when they are imported."""
    for one in scan(path):
        try:
            entry_points(one.read("entry_points.txt") or "")
        except Broken as broken:
            yield Problem(one.name, "entry-points-broken", str(broken), "install it again, or tell its author")


def _requirements(host: Environment) -> Iterator[Problem]:
    for one in lacks(HOST, host, host):
        there = f"{one.there} is there" if one.there is not None else "it is not installed"
        yield Problem(
            one.needed_by, "requirement-unmet", f"{one.needed_by} needs {one.requirement}, and {there}",
            "install yaz again: pip install --upgrade yazcore",
        )  # fmt: skip


def _imports(path: Sequence[str]) -> Iterator[Problem]:
    for name in NEEDED:
        why = _why_not(name, path)
        if why:
            spec = PathFinder.find_spec(name, [*path])
            where = f"; it lies in {spec.origin}" if spec is not None and spec.origin is not None else ""
            yield Problem(
                name, "import-broken", f"{name} cannot be imported: {why}{where}",
                "install it again, or take away what stands in its place; until then nothing can be served",
            )  # fmt: skip


def _why_not(name: str, path: Sequence[str]) -> str:
    """What importing a library raises, in a process of its own; empty where it can be imported."""
    try:
        done = subprocess.run(  # noqa: S603 - our own interpreter and our own code
            [sys.executable, "-P", "-c", _IMPORTING, name], capture_output=True, text=True, errors="replace",
            timeout=_IMPORT_SECONDS, env={**surroundings(path), "PYDANTIC_DISABLE_PLUGINS": "__all__"}, check=False,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"it took longer than {_IMPORT_SECONDS:.0f} seconds"
    if done.returncode == 0:
        return ""
    said = done.stdout.strip().splitlines()
    return said[-1] if done.returncode == 3 and said else f"it ended the process with status {done.returncode}"


def _installer(host: Environment, path: Sequence[str]) -> tuple[str, list[Problem]]:
    try:
        found = find_installer(host, path)
    except YazError as error:
        return "", [Problem("yaz install", error.code, error.message, error.fix)]
    return f"{found.label}: {' '.join(found.command)}", []


def _plugin(one: Installed, host: Environment, contract: Contract) -> Iterator[Problem]:
    for violation in errors(one.violations):
        yield Problem(one.id, violation.code, violation.message, violation.fix)
    if one.update is not None and one.update.manifest is None:
        for violation in errors(one.update.violations):
            fix = f"{contract.host} rollback {one.id} removes that version"
            yield Problem(f"{one.id} {one.update.version}", violation.code, violation.message, fix)
    if not one.folders or one.distribution is None:
        return
    for lack in lacks(one.distribution, environment([str(folder) for folder in one.folders]), host):
        yield Problem(
            one.id, "plugin-requirement-unmet", f"{lack.needed_by} needs {lack.requirement}, which is not there",
            f"{contract.host} uninstall {one.id}, and install it again",
        )  # fmt: skip
    if one.runtime == "trusted":
        for violation in clashes(one.folders):
            yield Problem(one.id, violation.code, violation.message, violation.fix)


def _left(home: Home) -> Iterator[Problem]:
    for name in leftovers(home):
        yield Problem(
            f"plugins/{name}", "install-left", "it was left in YAZ_HOME when an installation was killed",
            "the next yaz install or uninstall removes it; nothing reads it",
        )  # fmt: skip


def _counted(path: Sequence[str]) -> Iterator[tuple[str, int]]:
    for entry in dict.fromkeys(path):
        if (count := sum(1 for _ in scan([entry]))) > 0:
            yield entry, count
