"""Bringing the library in: copied, read and indexed when the database changed, and how fresh an answer is (Y-72)."""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import attrs
from yazcore import ServiceError, ToolError

from yaz_plugin_zotero import database, library
from yaz_plugin_zotero.database import NEWEST_KNOWN, Fingerprint
from yaz_plugin_zotero.index import Index, Refresh

_SETTLED_NANOSECONDS = 2 * 10**9
"""No file system keeps times coarser than this: a file written just now may be written again with the same time."""


@attrs.frozen(kw_only=True)
class Source:
    """Where an answer comes from: Zotero's database, as it was `written` (nanoseconds since 1970).

    `current` is false where Zotero has written since and could not be read; `note` says so, or what else to know.
    """

    written: int
    current: bool
    schema: int
    journal: str
    note: str | None = None

    def as_json(self, now: float | None = None) -> dict[str, Any]:
        """What every answer carries. `ageSeconds` counts from the last write that the answer knows of."""
        seconds = self.written / 10**9
        return {
            "name": "copy of zotero.sqlite",
            "written": datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds"),
            "ageSeconds": max(0, int((time.time() if now is None else now) - seconds)),
            "current": self.current,
            "note": self.note,
        }


def refresh(context: Any, index: Index) -> Source:
    """Bring the index up to the database's last committed state, and say what it is.

    Raises `ToolError` where there is nothing that can be read.
    """
    found = database.look(context)
    if (known := _known(index.fact("source"), found)) is not None:
        return known
    with index.refreshing() as changes:
        if (known := _known(changes.fact("source"), found)) is not None:
            return known
        try:
            with database.snapshot(context) as copy:
                return _read(context, changes, copy, found)
        except ServiceError as fault:
            stored = changes.fact("source")
            if fault.code == "files-changed" and stored is not None:
                return _behind(stored)
            raise ToolError(f"Zotero's database could not be copied: {fault.message}. Try again.") from None


def _read(context: Any, changes: Refresh, copy: Any, found: Fingerprint) -> Source:
    names = library.libraries(copy)
    stamps = library.stamps(copy, names)
    rows = changes.outdated(stamps)

    def done(count: int) -> None:
        context.progress(count, len(rows), "reading the Zotero library")

    changes.store(library.read_items(copy, rows, names), (stamps[row][2] for row in rows), done)
    changes.keep_libraries(names)
    schema = database.schema_version(copy)
    source = Source(
        written=found.written,
        current=True,
        schema=schema,
        journal=str(copy.execute("PRAGMA journal_mode").fetchone()[0]),
        note=_note(schema),
    )
    settled = time.time_ns() - found.written > _SETTLED_NANOSECONDS
    changes.keep("source", {"files": dict(found.files) if settled else None, **attrs.asdict(source)})
    return source


def _known(stored: Mapping[str, Any] | None, found: Fingerprint) -> Source | None:
    """The source of the last refresh, if the database has not changed since."""
    if stored is None or stored["files"] is None:
        return None
    if {name: tuple(told) for name, told in stored["files"].items()} != found.files:
        return None
    return _source(stored)


def _behind(stored: Mapping[str, Any]) -> Source:
    note = "Zotero was writing all the time, so this is the state before its last changes: try again for those."
    return attrs.evolve(_source(stored), current=False, note=note)


def _source(stored: Mapping[str, Any]) -> Source:
    return Source(**{name: value for name, value in stored.items() if name != "files"})


def _note(schema: int) -> str | None:
    if schema <= NEWEST_KNOWN:
        return None
    return f"The database is of a newer Zotero than this plugin knows (schema {schema}): something may be missing."
