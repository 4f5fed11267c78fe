"""Everything that can be said of one plugin without running it, wherever it lies: the data, and how it comes about.

`packed` and `unpacked` find out what there is (`Known`). Here its manifest is read and checked, and its distribution is
held against what is installed around it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import attrs

from yazcore.contract import Contract
from yazcore.manifest import messages
from yazcore.manifest.checking import check_reading
from yazcore.manifest.digests import digests
from yazcore.manifest.discovery import Found, builtin, script_owners
from yazcore.manifest.distribution_rules import (
    FILE_NAME,
    REVIEW_FILE,
    WAIVERS_FILE,
    Brought,
    entry_faults,
    file_faults,
    group_faults,
    package_faults,
    package_taken,
    script_faults,
)
from yazcore.manifest.distributions import MOST_RECORD_BYTES, Broken, Distribution, normalized, scan
from yazcore.manifest.metadata import Metadata
from yazcore.manifest.origins import Origin
from yazcore.manifest.reading import Reading, read_found
from yazcore.manifest.words import listed, quoted
from yazcore.violations import Violation, YazError

Kind = Literal["wheel", "sdist", "folder", "installed"]

BESIDE = (REVIEW_FILE, WAIVERS_FILE)
"""The files beside a manifest that are read with it, for the design rules."""

MOST_BESIDE = 64 * 1024
"""The largest of them, in bytes."""


@attrs.frozen(kw_only=True)
class Target:
    """One plugin, wherever it was found.

    * `kind`; `name`: as the user named it.
    * `id`: the plugin's, as far as anything says it. `distribution` (normalized), `version`: None where nothing says
      them, and for plugins that ship with the host.
    * `reading`: of its manifest, held against distribution and version where they are known.
    * `violations`: everything that is wrong: the distribution's own (the codes of discovery), then those of reading,
      texts and schemas in document order.
    * `package`: the top-level package, None where no manifest is in reach.
    * `files`: every file it brings, sorted, relative: of a wheel and an installed one as they are installed, of an
      sdist in its top folder, of a folder those of the package.
    * `requires`: its requirements as written (`Requires-Dist`).
    * `texts`: by locale and key, what the manifest's message keys say.
    * `beside`: the reviewer's files that lie beside the manifest, by name; of a larger one only the beginning.
    * `origin`: what the installer recorded; empty for what is not installed.
    * `digests`: by `tools/search-library`, as they are stored with a grant. Empty where the manifest is refused.
    """

    kind: Kind
    name: str
    id: str | None = None
    distribution: str | None = None
    version: str | None = None
    reading: Reading
    violations: tuple[Violation, ...] = ()
    package: str | None = None
    files: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()
    texts: Mapping[str, Mapping[str, str]] = attrs.field(factory=dict)
    beside: Mapping[str, bytes] = attrs.field(factory=dict)
    origin: Origin = attrs.field(factory=Origin)
    digests: Mapping[str, str] = attrs.field(factory=dict)

    def as_json(self) -> dict[str, Any]:
        """The target as `yaz preview --json` shows it (design 9); `manifest` is None where there is none to show."""
        return {
            "manifest": _as_json(self.reading.document),
            "violations": [violation.as_json() for violation in self.violations],
            "requires": list(self.requires),
            "files": list(self.files),
        }


def _as_json(value: Any) -> Any:
    """A document that was read, without the stand-ins of numbers that no manifest may hold."""
    if isinstance(value, dict):
        return {key: _as_json(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_as_json(inner) for inner in value]
    return value if isinstance(value, (str, int, float)) else None


@attrs.frozen(kw_only=True)
class Known:
    """What is known of a target before its manifest is read; `entry` are the id and package of its entry point."""

    kind: Kind
    name: str
    entry: tuple[str, str] | None = None
    distribution: str | None = None
    version: str | None = None
    faults: tuple[Violation, ...] = ()
    files: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()
    origin: Origin = attrs.field(factory=Origin)
    is_shipped: bool = False

    def read(self, folder: Path, contract: Contract) -> Reading:
        """Read the manifest of the package in `folder`. What nothing says counts as the manifest has it."""
        return read_found(self._found(folder), contract)

    def target(self, folder: Path, reading: Reading) -> Target:
        """The target whose package lies in `folder`."""
        manifest = reading.manifest
        said = said_in(reading, folder)
        return attrs.evolve(
            self._with(reading),
            violations=(*self.faults, *check_reading(reading, folder)),
            package=folder.name,
            texts=said,
            beside=beside(folder),
            digests={} if manifest is None else digests(manifest, said),
        )

    def unread(self) -> Target:
        """The target where no manifest is in reach; `faults` say why."""
        return self._with(Reading(None, (), None))

    def _found(self, folder: Path) -> Found:
        implied = builtin(folder)
        if self.is_shipped:
            return implied
        return attrs.evolve(
            implied,
            id=self.entry[0] if self.entry is not None else implied.id,
            distribution=self.distribution if self.distribution is not None else folder.name,
            version=self.version if self.version is not None else implied.version,
            origin="installed",
        )

    def _with(self, reading: Reading) -> Target:
        document = reading.document if isinstance(reading.document, dict) else {}
        plugin_id = self.entry[0] if self.entry is not None else document.get("id")
        version = self.version if self.version is not None else document.get("version")
        return Target(
            kind=self.kind,
            name=self.name,
            id=plugin_id if isinstance(plugin_id, str) else None,
            distribution=self.distribution,
            version=version if isinstance(version, str) else None,
            reading=reading,
            violations=self.faults,
            files=tuple(sorted(self.files)),
            requires=self.requires,
            origin=self.origin,
        )


def said_in(reading: Reading, folder: Path) -> dict[str, dict[str, str]]:
    """What the message keys of a manifest say, refused or not, by locale; `folder` is its package."""
    files = messages.files_in(None if reading.locales is None else folder / reading.locales)
    return messages.said(reading.message_keys, files)


def beside(folder: Path) -> dict[str, bytes]:
    """The files that lie beside the manifest in a package; of one that is too large a byte more than is looked at."""
    found: dict[str, bytes] = {}
    for name in BESIDE:
        with contextlib.suppress(OSError):
            if (folder / name).is_file():
                with open(folder / name, "rb") as file:
                    found[name] = file.read(MOST_BESIDE + 1)
    return found


def the_package(found: Sequence[str], name: str) -> str:
    """Of the paths of packages that hold a manifest, the one there has to be. Raises `YazError`."""
    packages = [one for one in found if one.rpartition("/")[2].isidentifier()]
    if not packages:
        raise YazError(
            "target-without-manifest", f"{name!r} holds no {FILE_NAME}, and neither does a package in it",
            "give what holds a plugin's package",
        )  # fmt: skip
    if len(packages) > 1:
        names = listed(sorted(one.rpartition("/")[2] for one in packages))
        raise YazError("target-ambiguous", f"{name!r} holds several plugins: {names}", "give the one that is meant")
    return packages[0]


# -- what is wrong with a distribution as such ------------------------------------------------------------------------


@attrs.frozen
class Around:
    """What a distribution is held against: the contract, and everything that is installed on a path."""

    contract: Contract
    path: list[str]

    def faults(self, brought: Brought, package: str) -> Iterator[Violation]:
        """The rules of `distribution_rules`, all of them; those for files where it is known which there are."""
        if self.contract.group in brought.groups:
            yield from entry_faults(brought, self.contract)
        else:
            fix = f'add [project.entry-points."{self.contract.group}"] to pyproject.toml, with ID = '
            message = "nobody will find the plugin: it publishes no entry point"
            yield Violation("entry-point-missing", message, f'{fix}"{package}:{FILE_NAME}"')
        yield from group_faults(brought, self.contract)
        others = [one for one in scan(self.path) if one.name != brought.name]
        owners = script_owners(_with_entry_points(others)) if brought.scripts else {}
        yield from script_faults(brought, self.contract, owners)
        if brought.files is not None:
            yield from file_faults(brought, package)
        taken = list(package_faults(brought, package, {one.name for one in others}))
        if not taken and (owner := next((one for one in others if _brings(one, package)), None)) is not None:
            taken = [package_taken(brought, package, owner.name)]
        yield from taken


def _with_entry_points(distributions: Iterable[Distribution]) -> Iterator[tuple[Distribution, str]]:
    for one in distributions:
        with contextlib.suppress(Broken):
            yield one, one.read("entry_points.txt") or ""


def _brings(distribution: Distribution, package: str) -> bool:
    try:
        text = distribution.read("RECORD", MOST_RECORD_BYTES) or ""
    except Broken:
        return False
    return text.startswith(f"{package}/") or f"\n{package}/" in text


def project_faults(project: Metadata, name: str, package: str, around: Around) -> Iterator[Violation]:
    """What is wrong with what a project says it will publish; nothing where only its build knows."""
    if project.groups is not None:
        brought = Brought(name=normalized(name), groups=project.groups, installed=False)
        yield from around.faults(brought, package)


def package_form(package: str, where: str, files: Collection[str]) -> Iterator[Violation]:
    """The package, at `where` among the files, is a package in the full sense."""
    if f"{where}/__init__.py" not in files:
        fix = "its author has to ship one package with an __init__.py"
        yield Violation("package-form", f"{quoted(package)} has no __init__.py", fix)


def other_package(entry: tuple[str, str] | None, package: str) -> Iterator[Violation]:
    """The entry point names the package that holds the manifest."""
    if entry is not None and entry[1] != package:
        yield Violation(
            "manifest-missing", f"the package {quoted(entry[1])} holds no {FILE_NAME}",
            f"its author has to name the package {quoted(package)} in the entry point",
        )  # fmt: skip
