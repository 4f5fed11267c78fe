"""A private copy of Zotero's database, opened and checked; the original is never opened or locked (zotero 0, 1.5).

Zotero holds its database exclusively while it runs. Since Zotero 10 what was saved last stands in the `-wal` file and
not in the main one; before that a change that is being written stands half in the main file, and what undoes it in the
`-journal` file. So the three are copied as one snapshot, without `-shm`, and SQLite itself brings the copy to the last
committed state.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import attrs
from yazcore import CapabilityError, ServiceError, ToolError

from yaz_plugin_zotero.library import has_table

PLACE = "zotero-data"
"""The place in the manifest: Zotero's data folder."""

MAIN, WAL, JOURNAL = "zotero.sqlite", "zotero.sqlite-wal", "zotero.sqlite-journal"

OLDEST, NEWEST_KNOWN = 100, 129
"""Versions of Zotero's `userdata` schema: older ones are refused, newer ones than Zotero 10's are read with a note."""

_TABLES = (
    "version", "items", "itemTypes", "itemData", "itemDataValues", "fields", "creators", "libraries", "deletedItems",
    "baseFieldMappings", "itemTypeCreatorTypes", "itemCreators", "creatorTypes",
)  # fmt: skip
"""What every Zotero database has, as plain tables: a view could be a query without end."""

_LONGEST_VALUE = 16 * 2**20
_STEPS = 20_000  # of SQLite's machine, between two looks at the clock

_BIND = "yaz grant {plugin} fs-read --place zotero-data=DIR"
_WHERE = "Zotero shows its data folder under Settings > Advanced > Files and Folders"
_SNAPSHOT = "snapshot-"


@attrs.frozen
class Fingerprint:
    """The database as it lies there: size in bytes and time of the last write in nanoseconds, for each of its files."""

    files: Mapping[str, tuple[int, int]]

    @property
    def written(self) -> int:
        """When Zotero last wrote, in nanoseconds since 1970."""
        return max(time for _, time in self.files.values())


def look(context: Any) -> Fingerprint:
    """Look at the database without opening it.

    Raises `ToolError` where no folder is granted or the folder has no database; both say which command mends it.
    """
    bind = _BIND.format(plugin=context.plugin)
    try:
        stats = {name: context.files.stat(name, place=PLACE) for name in (MAIN, WAL)}
    except ServiceError as fault:
        raise ToolError(f"Zotero's data folder could not be read: {fault.message}.") from None
    except CapabilityError as refusal:
        if refusal.reason not in ("not-granted", "out-of-scope"):
            raise
        why = f" ({refusal.detail})" if refusal.reason == "out-of-scope" and refusal.detail else ""
        raise ToolError(
            f"Zotero's data folder is not granted to this plugin, or is not there{why}. {_WHERE}; grant it with: {bind}"
        ) from None
    main = stats[MAIN]
    if main is None or main["kind"] != "file":
        raise ToolError(f"The folder granted as {PLACE} holds no {MAIN}. {_WHERE}; grant that one with: {bind}")
    return Fingerprint({name: (stat["size"], stat["mtime_ns"]) for name, stat in stats.items() if stat is not None})


@contextmanager
def snapshot(context: Any) -> Iterator[sqlite3.Connection]:
    """A copy of the database, opened; it is deleted at the end.

    Raises `ToolError` where the copy is no Zotero database, is damaged or too old, and `ServiceError` (`files-changed`)
    where Zotero wrote all the time while it was copied.
    """
    data: Path = context.data_folder
    for left in data.glob(f"{_SNAPSHOT}*"):
        shutil.rmtree(left, ignore_errors=True)
    copies = context.files.copy([MAIN, WAL, JOURNAL], place=PLACE)
    folder = Path(tempfile.mkdtemp(dir=data, prefix=_SNAPSHOT))
    try:
        for name, copy in copies.items():
            (data / copy).replace(folder / name)
        with _damage_named(context), closing(_open(folder / MAIN)) as database:
            database.set_progress_handler(lambda: _is_over(context), _STEPS)
            _require_zotero(database, context.plugin)
            yield database
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def schema_version(database: sqlite3.Connection) -> int:
    """The version of the `userdata` schema: 123 for Zotero 7, 125 for 9, 129 for 10; 0 where there is none."""
    row = database.execute("SELECT version FROM version WHERE schema = 'userdata'").fetchone()
    return row[0] if row and isinstance(row[0], int) else 0


def _open(path: Path) -> sqlite3.Connection:
    database = sqlite3.connect(path, isolation_level=None)
    # A column may be computed, and of any length: Zotero's own values are far shorter.
    database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_VALUE)
    # Exclusive: the copy is ours alone, so SQLite needs no -shm file beside it.
    database.execute("PRAGMA locking_mode = EXCLUSIVE")
    database.execute("PRAGMA trusted_schema = OFF")
    return database


def _require_zotero(database: sqlite3.Connection, plugin: str) -> None:
    if not all(has_table(database, table) for table in _TABLES):
        raise ToolError(_foreign(plugin))
    version = schema_version(database)
    if version < OLDEST:
        raise ToolError(
            f"{MAIN} was written by Zotero 4 or older (schema {version}; {OLDEST} is the oldest that can be read). "
            "Open it once with a current Zotero, which brings it up to date."
        )


def _foreign(plugin: str) -> str:
    return (
        f"The {MAIN} in the folder granted as {PLACE} is not a Zotero database. {_WHERE}; "
        f"grant that one with: {_BIND.format(plugin=plugin)}"
    )


def _is_over(context: Any) -> bool:
    """Whether nobody waits for the call any more, so that SQLite has to end what it is doing."""
    return bool(context.deadline <= 0 or context.call.cancelled.is_set())


@contextmanager
def _damage_named(context: Any) -> Iterator[None]:
    try:
        yield
    except sqlite3.DatabaseError as fault:
        if _is_over(context):
            context.check()
            raise ToolError("Reading Zotero's library took longer than the call may take. Try again.") from None
        raise ToolError(
            f"{MAIN} is damaged or cut short, or no database at all ({fault}), so nothing was read from it. Let Zotero "
            "check it (Settings > Advanced > Database Maintenance), or put zotero.sqlite.bak in its place; then try "
            "again."
        ) from None
