"""A wheel or an sdist, looked at where it lies.

Only the manifest and its message files are copied, under names of our own, into a private folder that is gone again
afterwards: so texts of an archive are read by the same code as those of an installed plugin.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from yazcore.manifest import messages
from yazcore.manifest.archives import Archive, opened
from yazcore.manifest.distribution_rules import FILE_NAME, Brought, entry_of
from yazcore.manifest.distributions import MOST_RECORD_BYTES, Broken, entry_points, normalized, recorded_files
from yazcore.manifest.json_text import MOST_BYTES as MOST_MANIFEST_BYTES
from yazcore.manifest.looking import (
    BESIDE,
    MOST_BESIDE,
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
from yazcore.manifest.words import listed, quoted
from yazcore.violations import Violation, YazError

_BUILD_AGAIN = "its author has to build it again"
_MOST_NAMED = 5


def open_archive(path: Path, name: str, around: Around) -> Target:
    """Look at a wheel or an sdist, which the user called `name`.

    Raises `YazError` as `archives.opened` does, and `target-without-manifest`, `target-ambiguous`,
    `target-without-metadata`.
    """
    with opened(path) as archive:
        look = _wheel if path.name.endswith(".whl") else _sdist
        known, where = look(archive, name, path.name, around)
        with tempfile.TemporaryDirectory(prefix="yaz-target-") as private:
            folder = Path(private, where.rpartition("/")[2])
            folder.mkdir()
            manifest = f"{where}/{FILE_NAME}"
            (folder / FILE_NAME).write_bytes(archive.heads([manifest], MOST_MANIFEST_BYTES + 1)[manifest])
            reading = known.read(folder, around.contract)
            if reading.locales is not None:
                _copy_messages(archive, f"{where}/{reading.locales}/", folder / reading.locales)
            for file, data in archive.heads([f"{where}/{one}" for one in BESIDE], MOST_BESIDE + 1).items():
                (folder / file.rpartition("/")[2]).write_bytes(data)
            return known.target(folder, reading)


def _copy_messages(archive: Archive, prefix: str, folder: Path) -> None:
    locales = {name: locale for name in archive.files if (locale := _locale_of(name, prefix)) is not None}
    folder.mkdir()
    chosen = sorted(locales)[: messages.MOST_LOCALES]
    for name, data in archive.heads(chosen, messages.MOST_BYTES + 1).items():
        (folder / f"{locales[name]}.ftl").write_bytes(data)


def _locale_of(name: str, prefix: str) -> str | None:
    stem = name.removeprefix(prefix).removesuffix(".ftl")
    return stem if name == f"{prefix}{stem}.ftl" and messages.is_locale(stem) else None


def _package(archive: Archive, prefixes: Sequence[str], file_name: str) -> str:
    """The path of the one package that holds a manifest, directly below one of the prefixes. Raises `YazError`."""
    there = set(archive.files)
    found = [
        name.removesuffix(f"/{FILE_NAME}")
        for prefix in prefixes
        for name in archive.files
        if name.startswith(prefix) and name.removeprefix(prefix).partition("/")[2] == FILE_NAME
    ]
    return the_package([one for one in found if f"{one}/__init__.py" in there] or found, file_name)


# -- a wheel ----------------------------------------------------------------------------------------------------------


def _wheel(archive: Archive, name: str, file_name: str, around: Around) -> tuple[Known, str]:
    """What a wheel says, and the path of its package."""
    info = _metadata_folder(archive, file_name)
    package = _package(archive, ("",), file_name)
    metadata, groups_file, record = (f"{info}/{file}" for file in ("METADATA", "entry_points.txt", "RECORD"))
    heads = archive.heads([metadata, groups_file, record], MOST_RECORD_BYTES + 1)
    said = core_metadata(heads[metadata])
    distribution = normalized(said.name or info.partition("-")[0])
    faults = [*_name_faults(_wheel_name(file_name), file_name, said), *_folder_faults(info, said)]
    faults += _record_faults(heads.get(record), archive.files, info)
    try:
        groups = _groups(heads.get(groups_file, b""))
    except Broken as broken:
        groups = {}
        faults.append(Violation("entry-points-broken", str(broken), _BUILD_AGAIN))
    else:
        brought = Brought(name=distribution, groups=groups, info=info, files=archive.files, installed=False)
        faults += around.faults(brought, package)
    entry = entry_of(groups, around.contract)
    faults += [*other_package(entry, package), *package_form(package, package, archive.files)]
    if f"{info}/direct_url.json" in archive.files:
        message = "it brings a direct_url.json, in which an installer records where it came from"
        faults.append(Violation("distribution-forged-origin", message, "its author has to leave that file out"))
    known = Known(
        kind="wheel", name=name, entry=entry, distribution=distribution, version=said.version, faults=tuple(faults),
        files=archive.files, requires=said.requires,
    )  # fmt: skip
    return known, package


def _metadata_folder(archive: Archive, file_name: str) -> str:
    tops = {name.partition("/")[0] for name in archive.files if "/" in name}
    infos = [top for top in tops if top.endswith(".dist-info")]
    if len(infos) != 1 or f"{infos[0]}/METADATA" not in archive.files:
        message = f"{file_name!r} is no wheel: it holds no METADATA in one .dist-info folder"
        raise YazError("target-without-metadata", message, "give a wheel as a build writes it")
    return infos[0]


def _groups(data: bytes) -> Mapping[str, Mapping[str, str]]:
    if len(data) > MOST_METADATA_BYTES:
        raise Broken(f"entry_points.txt is larger than {MOST_METADATA_BYTES} bytes")
    return entry_points(_utf8(data, "entry_points.txt"))


def _utf8(data: bytes, file: str) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise Broken(f"{file} is not UTF-8") from None


def _record_faults(data: bytes | None, files: Sequence[str], info: str) -> Iterator[Violation]:
    """RECORD lists what the wheel holds: once it is installed, discovery believes it."""
    if data is None:
        yield Violation("distribution-record-missing", "it has no RECORD of its files", _BUILD_AGAIN)
        return
    try:
        if len(data) > MOST_RECORD_BYTES:
            raise Broken(f"RECORD is larger than {MOST_RECORD_BYTES} bytes")
        recorded = set(recorded_files(_utf8(data, "RECORD")))
    except Broken as broken:
        yield Violation("distribution-record-broken", str(broken), _BUILD_AGAIN)
        return
    signatures = {f"{info}/RECORD.jws", f"{info}/RECORD.p7s"}  # which a RECORD need not list
    if differing := sorted(recorded.symmetric_difference(files) - signatures):
        message = f"its RECORD and its files differ in {listed(differing, _MOST_NAMED)}"
        yield Violation("distribution-record-differs", message, _BUILD_AGAIN)


# -- an sdist ---------------------------------------------------------------------------------------------------------


def _sdist(archive: Archive, name: str, file_name: str, around: Around) -> tuple[Known, str]:
    """What an sdist says, and the path of its package. Its build would run, and could add what is not there yet."""
    tops = {one.partition("/")[0] for one in archive.files}
    top = min(tops, default="")
    headers, project_file = f"{top}/PKG-INFO", f"{top}/pyproject.toml"
    if len(tops) != 1 or headers not in archive.files:
        message = f"{file_name!r} is no sdist: it holds no PKG-INFO in its one folder"
        raise YazError("target-without-metadata", message, "give an sdist as a build writes it, or a wheel")
    where = _package(archive, (f"{top}/", f"{top}/src/"), file_name)
    package = where.rpartition("/")[2]
    heads = archive.heads([headers, project_file], MOST_METADATA_BYTES + 1)
    said, project = core_metadata(heads[headers]), project_metadata(heads.get(project_file, b""))
    distribution = normalized(said.name) if said.name is not None else None
    entry = entry_of(project.groups or {}, around.contract)
    faults = (
        *_name_faults(_sdist_name(file_name), file_name, said),
        *project_faults(project, said.name or project.name or "", package, around),
        *other_package(entry, package),
        *package_form(package, where, archive.files),
    )
    known = Known(
        kind="sdist", name=name, entry=entry, distribution=distribution, version=said.version, faults=faults,
        files=tuple(one.removeprefix(f"{top}/") for one in archive.files), requires=said.requires or project.requires,
    )  # fmt: skip
    return known, where


# -- names of files ---------------------------------------------------------------------------------------------------


def _wheel_name(file_name: str) -> tuple[str, str] | None:
    from packaging.utils import InvalidWheelFilename, parse_wheel_filename

    try:
        distribution, version, _, _ = parse_wheel_filename(file_name)
    except InvalidWheelFilename:
        return None
    return distribution, _canonical(str(version))


def _sdist_name(file_name: str) -> tuple[str, str] | None:
    from packaging.utils import InvalidSdistFilename, parse_sdist_filename

    try:
        distribution, version = parse_sdist_filename(file_name)
    except InvalidSdistFilename:
        return None
    return distribution, _canonical(str(version))


def _name_faults(named: tuple[str, str] | None, file_name: str, said: Metadata) -> Iterator[Violation]:
    """The file is called as its metadata say."""
    if said.name is None or said.version is None:
        yield Violation("distribution-metadata", "it has no metadata with a name and a version", _BUILD_AGAIN)
    elif named is None:
        message = f"its file is called {quoted(file_name)}, which says no name and version"
        yield Violation("distribution-metadata", message, "give it its name back, or get it again")
    elif named != (normalized(said.name), _canonical(said.version)):
        says = quoted(f"{said.name} {said.version}")
        message = f"its file is called {quoted(file_name)}, and its metadata say {says}"
        yield Violation("distribution-metadata", message, "give it its name back, or get it again")


def _folder_faults(info: str, said: Metadata) -> Iterator[Violation]:
    name, _, version = info.removesuffix(".dist-info").partition("-")
    if said.name is None or said.version is None:
        return
    if (normalized(name), _canonical(version)) != (normalized(said.name), _canonical(said.version)):
        message = f"its metadata lie in {quoted(info)}, and say {quoted(f'{said.name} {said.version}')}"
        yield Violation("distribution-metadata", message, _BUILD_AGAIN)


def _canonical(version: str) -> str:
    from packaging.utils import canonicalize_version

    return canonicalize_version(version)  # what is no version stays as it is
