"""What a distribution says of itself before and after it is installed: core metadata, and a project's own table."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs

MOST_BYTES = 256 * 1024
"""The most bytes that are read of METADATA, PKG-INFO or a `pyproject.toml`; a description after the headers is not."""

_END_OF_HEADERS = re.compile(rb"\r?\n\r?\n")
_UNDECODED = re.compile("[\udc80-\udcff]")


@attrs.frozen(kw_only=True)
class Metadata:
    """Name and version, None where they are not said, and the requirements as written (`Requires-Dist`).

    `groups` are the entry points by group and name; None where nothing says which there are.
    """

    name: str | None = None
    version: str | None = None
    requires: tuple[str, ...] = ()
    groups: Mapping[str, Mapping[str, str]] | None = None


def core_metadata(data: bytes) -> Metadata:
    """The headers of a METADATA or PKG-INFO file. Never raises. What is said twice and may be said once is not said."""
    # Not `packaging.metadata`, which does the same and is twenty milliseconds of every check.
    from email.parser import HeaderParser

    headers = _END_OF_HEADERS.split(data[:MOST_BYTES].lstrip(b"\r\n"), maxsplit=1)[0]
    try:
        said = HeaderParser().parsestr(headers.decode("utf-8", "surrogateescape"))
        name, version, requires = (_values(said.raw_items(), key) for key in ("name", "version", "requires-dist"))
    except Exception:  # noqa: BLE001 - a stranger's text, in code that does not foresee everything
        return Metadata()
    return Metadata(
        name=name[0] or None if len(name) == 1 else None,
        version=version[0] or None if len(version) == 1 else None,
        requires=tuple(" ".join(one.split()) for one in requires),
    )


def _values(headers: Iterable[tuple[str, Any]], key: str) -> list[str]:
    """The values of a header where all of them are UTF-8, else none."""
    values = [str(value) for name, value in headers if name.lower() == key]
    return [] if any(map(_UNDECODED.search, values)) else values


def project_metadata(data: bytes) -> Metadata:
    """What a `pyproject.toml` says in the standard way (PEP 621). Never raises.

    What only a build can find (`dynamic`), and all of a project that says it in another way, is not said.
    """
    try:
        table = tomllib.loads(data.decode("utf-8")).get("project") if len(data) <= MOST_BYTES else None
    except (ValueError, RecursionError):
        table = None
    if not isinstance(table, dict):
        return Metadata()
    name, version, requires, dynamic = (table.get(key) for key in ("name", "version", "dependencies", "dynamic"))
    return Metadata(
        name=name if isinstance(name, str) else None,
        version=version if isinstance(version, str) else None,
        requires=tuple(one for one in requires if isinstance(one, str)) if isinstance(requires, list) else (),
        groups=None if isinstance(dynamic, list) and "entry-points" in dynamic else dict(_groups(table)),
    )


def _groups(table: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, str]]]:
    others = table.get("entry-points")
    groups = dict(others) if isinstance(others, dict) else {}
    groups |= {"console_scripts": table.get("scripts"), "gui_scripts": table.get("gui-scripts")}
    for group, entries in groups.items():
        if isinstance(entries, dict):
            yield group, {name: value for name, value in entries.items() if isinstance(value, str)}
