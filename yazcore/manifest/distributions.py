"""Installed distributions, read from their metadata folders: names, versions, entry points, files.

Own reading instead of `importlib.metadata`, for three reasons: one broken `entry_points.txt` anywhere makes that one
raise for everybody, a left-over folder can hide the real one, and its import costs more than a scan of 500 folders.
Nothing here imports, parses or runs anything of a distribution but these small files (design 4).
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import attrs

MOST_BYTES = 256 * 1024
"""The largest `entry_points.txt` or `direct_url.json` that is read, in bytes."""

MOST_RECORD_BYTES = 4 * 2**20
"""The largest RECORD that is read, in bytes."""

_HEADER_BYTES = 64 * 1024
# a pipe would block for ever
_READING = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_CLOEXEC", "O_BINARY", "O_NONBLOCK"))
_SUFFIXES = (".dist-info", ".egg-info")
_PROJECT_FILES = ("pyproject.toml", "setup.py")
_SEPARATORS = re.compile(r"[-_.]+")
_INFO_FOLDER = re.compile(r"(?P<name>[A-Za-z0-9._]+)(-(?P<version>[^-]+).*)?\.(dist|egg)-info")
_ZIPPED = re.compile(r"(?P<name>[A-Za-z0-9._]+)-[^/-]+\.dist-info/entry_points\.txt")


class Broken(ValueError):
    """A file of a distribution's metadata that is not what its format says; the text says how."""


def normalized(name: str) -> str:
    """A distribution's name as names are compared (PEP 503)."""
    return _SEPARATORS.sub("-", name).lower()


@attrs.frozen
class Distribution:
    """One `*.dist-info` or `*.egg-info` folder, called `info`, in the folder `place` of the path.

    `name` is normalized, from the folder's own name. Paths are texts here: there are many, and few are looked at twice.
    """

    name: str
    place: str
    info: str

    @property
    def is_egg(self) -> bool:
        """Whether it is the older form, which only a checkout has today."""
        return self.info.endswith(".egg-info")

    def read(self, name: str, most: int = MOST_BYTES) -> str | None:
        """The text of one of its files, None where there is none. Raises `Broken`."""
        try:
            data = _read(f"{self.place}/{self.info}/{name}", most + 1)
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            return None
        except OSError as error:
            raise Broken(f"{name} cannot be read: {error.strerror}") from None
        if len(data) > most:
            raise Broken(f"{name} is larger than {most} bytes")
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            raise Broken(f"{name} is not UTF-8") from None

    def headers(self) -> tuple[str, str] | None:
        """Name and version as its metadata give them, None where there are none."""
        try:
            file = f"{self.place}/{self.info}/{'PKG-INFO' if self.is_egg else 'METADATA'}"
            head = _read(file, _HEADER_BYTES).decode("utf-8", "replace")
        except OSError:
            return None
        found: dict[str, str] = {}
        for line in head.splitlines():
            if not line:
                break
            key, _, value = line.partition(":")
            found.setdefault(key.lower(), value.strip())
        if not found.get("name") or not found.get("version"):
            return None
        return found["name"], found["version"]

    def files(self) -> list[str] | None:
        """The paths that RECORD lists, relative to `place`, with slashes; None where there is no RECORD.

        Raises `Broken`.
        """
        text = self.read("RECORD", MOST_RECORD_BYTES)
        return None if text is None else recorded_files(text)

    def editable_source(self) -> Path | None:
        """The project folder of an editable installation, None for any other. Raises `Broken`.

        A wheel could bring a `direct_url.json` (PEP 610) or an `.egg-info` of its own. So the folder only counts if it
        is a project, and one outside the folder that wheels are unpacked into.
        """
        if self.is_egg:
            place = Path(self.place)
            return place if _is_project(place) or _is_project(place.parent) else None
        text = self.read("direct_url.json")
        if text is None:
            return None
        try:
            value: Any = json.loads(text)
            if value["dir_info"]["editable"] is not True:
                return None
            parts = urlsplit(value["url"])
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return None
        if parts.scheme != "file" or "%00" in parts.path:
            return None
        source = Path(os.path.realpath(unquote(parts.path)))
        return source if _is_project(source) and not source.is_relative_to(self.place) else None


def _read(path: str, most: int) -> bytes:
    """The first bytes of a file. Hundreds are read for one listing, and a file object costs more than the reading."""
    descriptor = os.open(path, _READING)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise IsADirectoryError(errno.EISDIR, "it is no regular file")
        data = os.read(descriptor, most)
        while len(data) < most and (more := os.read(descriptor, most - len(data))):
            data += more
        return data
    finally:
        os.close(descriptor)


def _is_project(folder: Path) -> bool:
    return any((folder / name).is_file() for name in _PROJECT_FILES)


def recorded_files(text: str) -> list[str]:
    """The paths that the text of a RECORD lists, with slashes. Raises `Broken`."""
    if '"' in text:
        import csv  # a path with a comma or a quote is rare

        try:
            return [row[0].replace("\\", "/") for row in csv.reader(text.splitlines()) if row]
        except csv.Error:
            raise Broken("RECORD is no list of files") from None
    return [line.partition(",")[0] for line in text.replace("\\", "/").splitlines() if line]


def entry_points(text: str) -> dict[str, dict[str, str]]:
    """The groups of an `entry_points.txt`, each with its names and values. Raises `Broken` with the line."""
    groups: dict[str, dict[str, str]] = {}
    group: dict[str, str] | None = None
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if not line or line.startswith(("#", ";")):
            continue
        if line.startswith("[") and line.endswith("]"):
            group = groups.setdefault(line[1:-1].strip(), {})
            continue
        name, equals, value = line.partition("=")
        if group is None or not equals or not name.strip() or not value.strip():
            raise Broken(f"entry_points.txt, line {number}, is no entry point")
        if name.strip() in group:
            raise Broken(f"entry_points.txt, line {number}, names an entry point a second time")
        group[name.strip()] = value.strip()
    return groups


def scan(path: Sequence[str]) -> Iterator[Distribution]:
    """Every metadata folder on the path, in the order of the path and then of names."""
    seen: set[str] = set()
    for entry in path:
        place = os.path.realpath(entry or os.curdir)
        if place in seen:
            continue
        seen.add(place)
        try:
            with os.scandir(place) as entries:
                names = sorted(one.name for one in entries if one.name.endswith(_SUFFIXES) and one.is_dir())
        except OSError:  # a zip file, or a folder that is not there
            continue
        for name in names:
            if (found := _INFO_FOLDER.fullmatch(name)) is not None:
                yield Distribution(normalized(found["name"]), place, name)


def zipped(path: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """What lies in zip files on the path: the distribution's name, the file, the text of its entry points.

    Python imports from there, and nothing here does more than name it. A file that cannot be read holds nothing.
    """
    for entry in path:
        if not os.path.isfile(entry):
            continue
        from yazcore.manifest.archives import opened_zip
        from yazcore.violations import YazError

        with contextlib.suppress(YazError, OSError), opened_zip(Path(entry)) as archive:
            infos = {one: found["name"] for one in archive.files if (found := _ZIPPED.fullmatch(one)) is not None}
            for file, data in archive.heads(infos, MOST_BYTES).items():
                yield normalized(infos[file]), os.path.basename(entry), data.decode("utf-8", "replace")
