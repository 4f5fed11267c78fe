"""A folder, or a plugin that is installed, looked at without importing it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from yazcore.manifest.archives import MOST_FILES
from yazcore.manifest.discovery import Found, Skipped, builtin, discover
from yazcore.manifest.distribution_rules import FILE_NAME, Brought, entry_of
from yazcore.manifest.distributions import MOST_RECORD_BYTES, Broken, Distribution, entry_points, normalized, scan
from yazcore.manifest.looking import (
    Around,
    Known,
    Target,
    other_package,
    package_form,
    project_faults,
    the_package,
)
from yazcore.manifest.metadata import MOST_BYTES as MOST_METADATA_BYTES
from yazcore.manifest.metadata import Metadata, core_metadata, project_metadata
from yazcore.manifest.origins import origin_of
from yazcore.manifest.words import listed
from yazcore.violations import Violation, YazError

MOST_DEEP = 100
"""How many folders of a package may lie in one another."""

# -- a folder ---------------------------------------------------------------------------------------------------------


def open_folder(path: Path, name: str, around: Around, shipped: Sequence[Path]) -> Target:
    """Look at a folder: a package with a manifest, or a project that holds one such package, also below `src`.

    Raises `YazError` `target-without-manifest`, `target-ambiguous`, `target-too-many-files`,
    `target-too-deep`.
    """
    package = _package_in(path.resolve())
    if package in {one.resolve() for one in shipped}:
        return _shipped(builtin(package), name, around)
    root = package.parent.parent if package.parent.name == "src" else package.parent
    project = _project(root)
    files = _files_of(package)
    entry = entry_of(project.groups or {}, around.contract)
    published = project.name or around.contract.prefix + builtin(package).id
    known = Known(
        kind="folder",
        name=name,
        entry=entry,
        distribution=normalized(project.name) if project.name is not None else None,
        version=project.version,
        faults=(
            *project_faults(project, published, package.name, around),
            *other_package(entry, package.name),
            *package_form(package.name, package.name, files),
        ),
        files=files,
        requires=project.requires,
    )
    return known.target(package, known.read(package, around.contract))


def _package_in(folder: Path) -> Path:
    if (folder / FILE_NAME).is_file():
        return folder
    found = [path.parent for pattern in ("*", "src/*") for path in folder.glob(f"{pattern}/{FILE_NAME}")]
    whole = [one for one in found if (one / "__init__.py").is_file()] or found
    return folder / the_package([one.relative_to(folder).as_posix() for one in whole], folder.name)


def _project(root: Path) -> Metadata:
    file = root / "pyproject.toml"
    try:
        if not file.is_file():
            return Metadata()
        with open(file, "rb") as stream:
            return project_metadata(stream.read(MOST_METADATA_BYTES + 1))
    except OSError:
        return Metadata()


def _files_of(package: Path) -> tuple[str, ...]:
    """The files of a package, relative to the folder that holds it; what Python keeps for itself is left out."""
    found: list[str] = []
    for place, folders, names in os.walk(package):
        if len(Path(place).relative_to(package).parts) > MOST_DEEP:  # before 3.12 the walk itself would end in a fault
            message = f"{package.name!r} holds folders in folders, more than {MOST_DEEP} deep"
            raise YazError("target-too-deep", message, "give the package of the plugin alone")
        folders[:] = [one for one in folders if one != "__pycache__"]
        found += (Path(place, one).relative_to(package.parent).as_posix() for one in names)
        if len(found) > MOST_FILES:
            message = f"{package.name!r} holds more than {MOST_FILES} files"
            raise YazError("target-too-many-files", message, "give the package of the plugin alone")
    return tuple(found)


# -- what is installed ------------------------------------------------------------------------------------------------


def open_installed(name: str, around: Around, shipped: Sequence[Path]) -> Target:
    """Look at a plugin by its id or its distribution's name, or at one that ships with the host by its id.

    Raises `YazError` `target-unknown`.
    """
    for one in map(builtin, shipped):
        if one.id == name:
            return _shipped(one, name, around)
    wanted = {normalized(name), normalized(around.contract.prefix + name)}
    found, skipped = discover(around.contract, around.path)
    chosen = next((one for one in found if one.distribution in wanted), None)
    skips = [one for one in skipped if one.distribution in wanted] if chosen is None else []
    if chosen is None and not skips:
        known_ids = listed(one.id for one in found) or "none"
        raise YazError(
            "target-unknown", f"{name!r} is neither a file, nor a folder, nor an installed plugin",
            f"give a wheel, an sdist, a folder, or the id of an installed plugin; installed are: {known_ids}",
        )  # fmt: skip
    distribution = _metadata_of(chosen.distribution if chosen is not None else skips[0].distribution, around.path)
    if distribution is None:  # it lies in a zip file
        return Known(kind="installed", name=name, distribution=skips[0].distribution, faults=_as_faults(skips)).unread()
    return _installed(distribution, name, chosen, skips, around)


def _shipped(found: Found, name: str, around: Around) -> Target:
    files = _files_of(found.folder)
    known = Known(kind="installed", name=name, version=found.version, files=files, is_shipped=True)
    return known.target(found.folder, known.read(found.folder, around.contract))


def _metadata_of(name: str | None, path: Sequence[str]) -> Distribution | None:
    """The metadata folder that speaks for a distribution, as discovery chooses it."""
    same = [one for one in scan(path) if one.name == name]
    return next((one for one in same if one.headers() is not None), same[0] if same else None)


def _installed(
    distribution: Distribution, name: str, found: Found | None, skips: Sequence[Skipped], around: Around
) -> Target:
    said = core_metadata(_bytes(distribution, "PKG-INFO" if distribution.is_egg else "METADATA"))
    source, files, groups = _source(distribution), _recorded(distribution), _groups(distribution)
    entry = entry_of(groups, around.contract)
    folder = found.folder if found is not None else _folder(distribution, source, entry)
    faults = list(_as_faults(skips))
    if folder is not None:
        brought = Brought(
            name=distribution.name, groups=groups, info=distribution.info, files=None if source is not None else files
        )
        told = {fault.code for fault in faults}
        faults += (one for one in around.faults(brought, folder.name) if one.code not in told)
    known = Known(
        kind="installed", name=name, entry=entry, distribution=distribution.name, version=said.version,
        faults=tuple(faults), files=tuple(files or ()), requires=said.requires,
        origin=origin_of(distribution, None if source is None else str(source)),
    )  # fmt: skip
    return known.unread() if folder is None else known.target(folder, known.read(folder, around.contract))


def _as_faults(skips: Sequence[Skipped]) -> tuple[Violation, ...]:
    return tuple(Violation(one.code, one.message, one.fix) for one in skips)


def _folder(distribution: Distribution, source: Path | None, entry: tuple[str, str] | None) -> Path | None:
    """Where the package of a distribution that was skipped should be, if there is a manifest."""
    if entry is None:
        return None
    places = [Path(distribution.place)] if source is None else [source, source / "src"]
    return next((place / entry[1] for place in places if (place / entry[1] / FILE_NAME).is_file()), None)


def _bytes(distribution: Distribution, file: str) -> bytes:
    try:
        return (distribution.read(file, MOST_RECORD_BYTES) or "").encode()
    except Broken:
        return b""


def _source(distribution: Distribution) -> Path | None:
    try:
        return distribution.editable_source()
    except Broken:
        return None


def _recorded(distribution: Distribution) -> list[str] | None:
    try:
        return distribution.files()
    except Broken:
        return None


def _groups(distribution: Distribution) -> Mapping[str, Mapping[str, str]]:
    try:
        return entry_points(distribution.read("entry_points.txt") or "")
    except Broken:
        return {}
