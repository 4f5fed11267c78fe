"""The side index in the plugin's data folder: what search and citing read, so that Zotero's database is copied only
when it changed (zotero 0, fact 9).

One SQLite file with an FTS5 table over our own tokens. A refresh is one transaction, which is also the lock between
processes; whoever reads meanwhile sees the state before it.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import attrs
from yazcore import ToolError

from yaz_plugin_zotero.folding import plain, searchable
from yaz_plugin_zotero.library import Creator, Item, LibraryName, Retraction

_FORMAT = 1
_ABSTRACT = 4_000
_WAIT_SECONDS = 60.0
_COLUMNS = ("title", "creators", "container", "year", "keys")
_SCHEMA = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE items (
    id INTEGER PRIMARY KEY, library TEXT NOT NULL, key TEXT NOT NULL, stamp TEXT NOT NULL, added TEXT NOT NULL,
    title TEXT NOT NULL, creators TEXT NOT NULL, container TEXT NOT NULL, year TEXT NOT NULL, keys TEXT NOT NULL,
    text TEXT NOT NULL, UNIQUE (key, library)
);
CREATE TABLE records (id INTEGER PRIMARY KEY, record TEXT NOT NULL, abstract TEXT NOT NULL);
CREATE INDEX items_added ON items (added, id);
CREATE VIRTUAL TABLE words USING fts5 (
    title, creators, container, year, keys, content = 'items', content_rowid = 'id', tokenize = 'ascii', prefix = '2 3'
);
"""


Row = tuple[int, str, str, str, str, str]
"""What ranking looks at: the row's number, then the tokens of title, creators, container, year and keys."""


class Index:
    """The index; safe from any thread, and from several processes at once."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def fact(self, name: str) -> Any:
        """A stored fact (`source`, `libraries`), or None."""
        row = self._query("SELECT value FROM facts WHERE name = ?", (name,))
        return json.loads(row[0][0]) if row else None

    def libraries(self) -> tuple[LibraryName, ...]:
        """The libraries of the last refresh."""
        return tuple(LibraryName(*told) for told in self.fact("libraries") or ())

    def counts(self) -> dict[str, int]:
        """How many items each library has."""
        return dict(self._query("SELECT library, COUNT(*) FROM items GROUP BY library"))

    @contextmanager
    def refreshing(self) -> Iterator[Refresh]:
        """One refresh: all of it is kept, or nothing. Others wait for it.

        Raises `ToolError` where another process has been at it for a minute.
        """
        with self._lock:
            connection = self._open()
            try:
                connection.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError:
                raise ToolError("Another yaz is reading the Zotero library at this moment. Try again.") from None
            try:
                yield Refresh(connection)
                connection.execute("COMMIT")
            except IndexFault as fault:
                raise self._named(fault.cause) from None
            except sqlite3.Error as fault:
                raise self._named(fault) from None
            finally:
                if self._connection is not None and connection.in_transaction:
                    connection.execute("ROLLBACK")

    def matching(self, expression: str, limit: int) -> list[Row]:
        """The items that match an FTS5 expression, the newest rows first."""
        rows: list[Row] = self._query(
            f"SELECT i.id, {_listed('i')} FROM words w JOIN items i ON i.id = w.rowid "  # noqa: S608
            "WHERE w.words MATCH ? ORDER BY w.rowid DESC LIMIT ?",
            (expression, limit),
        )
        return rows

    def count_matching(self, expression: str) -> int:
        """How many items match an FTS5 expression."""
        return int(self._query("SELECT COUNT(*) FROM words WHERE words MATCH ?", (expression,))[0][0])

    def containing(self, words: Sequence[Sequence[str]], limit: int) -> list[Row]:
        """The items whose folded text has, of each of `words`, one of the forms anywhere inside."""
        condition = " AND ".join("(" + " OR ".join("instr(text, ?)" for _ in forms) + ")" for forms in words)
        rows: list[Row] = self._query(
            f"SELECT id, {_listed('items')} FROM items WHERE {condition} ORDER BY id DESC LIMIT ?",  # noqa: S608
            (*(form for forms in words for form in forms), limit),
        )
        return rows

    def only_containing(self, rows: Sequence[Row], words: Sequence[Sequence[str]]) -> list[Row]:
        """Of these rows, those whose folded text has each of the words as it stands."""
        texts: dict[int, str] = dict(
            self._query(
                "SELECT id, text FROM items WHERE id IN (SELECT value FROM json_each(?))",
                (json.dumps([row[0] for row in rows]),),
            )
        )
        return [row for row in rows if all(any(form in texts[row[0]] for form in forms) for forms in words)]

    def latest(self, before: tuple[str, int] | None, limit: int) -> list[tuple[str, int]]:
        """The items added last, as (time, row), those before `before` if given."""
        if before is None:
            return self._query("SELECT added, id FROM items ORDER BY added DESC, id DESC LIMIT ?", (limit,))
        return self._query(
            "SELECT added, id FROM items WHERE (added, id) < (?, ?) ORDER BY added DESC, id DESC LIMIT ?",
            (*before, limit),
        )

    def items(self, rows: Sequence[int]) -> list[Item]:
        """The items of these rows, in this order."""
        found: dict[int, str] = dict(
            self._query(
                "SELECT id, record FROM records WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(list(rows)),)
            )
        )
        return [_item(found[row]) for row in rows if row in found]

    def find(self, key: str, library: str | None = None) -> list[Item]:
        """The items with this key: at most one in each library."""
        found = self._query(
            "SELECT record, library FROM items JOIN records USING (id) WHERE key = ? ORDER BY library DESC", (key,)
        )
        return [_item(record) for record, where in found if library in (None, where)]

    def abstract(self, library: str, key: str) -> str:
        """The item's abstract, at most 4,000 characters of it."""
        found = self._query(
            "SELECT abstract FROM items JOIN records USING (id) WHERE key = ? AND library = ?", (key, library)
        )
        return str(found[0][0]) if found else ""

    def keys(self, library: str, prefix: str, limit: int) -> list[str]:
        """The item keys of a library that begin with `prefix`, in order."""
        found = self._query(
            "SELECT key FROM items WHERE library = ? AND substr(key, 1, ?) = ? ORDER BY key LIMIT ?",
            (library, len(prefix), prefix, limit),
        )
        return [str(row[0]) for row in found]

    def _query(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        with self._lock:
            try:
                return self._open().execute(statement, values).fetchall()
            except sqlite3.Error as fault:
                raise self._named(fault) from None

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            try:
                self._connection = _connect(self._path)
            except sqlite3.OperationalError as fault:
                raise self._named(fault) from None
            except sqlite3.DatabaseError:
                self._discard()
                self._connection = _connect(self._path)
        return self._connection

    def _named(self, fault: sqlite3.Error) -> ToolError:
        """What a person is told; a damaged index is thrown away, because it holds nothing that cannot be read again."""
        if isinstance(fault, sqlite3.OperationalError):
            return ToolError(f"The index of the Zotero library cannot be used ({fault}). Try again.")
        self._discard()
        return ToolError("The index of the Zotero library was damaged and is thrown away. Try again: it is made anew.")

    def _discard(self) -> None:
        self.close()
        for ending in ("", "-wal", "-shm"):
            self._path.with_name(self._path.name + ending).unlink(missing_ok=True)


class IndexFault(Exception):
    """The index could not be written: not to be taken for a fault of Zotero's database, which is read meanwhile."""

    def __init__(self, cause: sqlite3.Error) -> None:
        super().__init__(str(cause))
        self.cause = cause


class Refresh:
    """The writing half of the index, inside one transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def fact(self, name: str) -> Any:
        """A stored fact, or None."""
        row = self._execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
        return json.loads(row[0]) if row else None

    def keep(self, name: str, value: Any) -> None:
        """Store a fact."""
        self._execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, json.dumps(value)))

    def keep_libraries(self, known: Iterable[LibraryName]) -> None:
        """Store the libraries."""
        self.keep("libraries", [attrs.astuple(library) for library in known])

    def outdated(self, current: Mapping[int, tuple[str, str, str]]) -> list[int]:
        """Forget the items that are gone, and say which of the current ones must be read."""
        kept = {
            (library, key): (row, stamp)
            for row, library, key, stamp in self._execute("SELECT id, library, key, stamp FROM items")
        }
        identities = {(library, key) for library, key, _ in current.values()}
        for identity, (row, _) in kept.items():
            if identity not in identities:
                self._forget(row)
        return [
            row
            for row, (library, key, stamp) in current.items()
            if not stamp or kept.get((library, key), (0, ""))[1] != stamp
        ]

    def store(self, items: Iterable[Item], stamps: Iterable[str], done: Callable[[int], None]) -> None:
        """Store the items with their stamps; `done` hears how many there are so far."""
        for count, (item, stamp) in enumerate(zip(items, stamps, strict=True), 1):
            old = self._execute(
                "SELECT id FROM items WHERE key = ? AND library = ?", (item.key, item.library)
            ).fetchone()
            if old is not None:
                self._forget(old[0])
            self._insert(old[0] if old else None, item, stamp)
            if count % 500 == 0:
                done(count)

    def _forget(self, row: int) -> None:
        # An FTS5 table over another table's content must be told what it forgets.
        columns = ", ".join(_COLUMNS)
        self._execute(
            f"INSERT INTO words (words, rowid, {columns}) SELECT 'delete', id, {columns} FROM items WHERE id = ?",  # noqa: S608
            (row,),
        )
        self._execute("DELETE FROM items WHERE id = ?", (row,))
        self._execute("DELETE FROM records WHERE id = ?", (row,))

    def _insert(self, row: int | None, item: Item, stamp: str) -> None:
        words, text = _texts(item)
        cursor = self._execute(
            "INSERT INTO items VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (row, item.library, item.key, stamp, item.added, *(words[column] for column in _COLUMNS), text),
        )
        abstract = item.fields.get("abstractNote", "")[:_ABSTRACT]
        self._execute("INSERT INTO records VALUES (?, ?, ?)", (cursor.lastrowid, _record(item), abstract))
        self._execute(
            f"INSERT INTO words (rowid, {', '.join(_COLUMNS)}) VALUES (?, ?, ?, ?, ?, ?)",  # noqa: S608
            (cursor.lastrowid, *(words[column] for column in _COLUMNS)),
        )

    def _execute(self, statement: str, values: Sequence[Any] = ()) -> sqlite3.Cursor:
        try:
            return self._connection.execute(statement, values)
        except sqlite3.Error as fault:
            raise IndexFault(fault) from fault


def _listed(table: str) -> str:
    return ", ".join(f"{table}.{column}" for column in _COLUMNS)


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=_WAIT_SECONDS, isolation_level=None, check_same_thread=False)
    try:
        if connection.execute("PRAGMA user_version").fetchone()[0] != _FORMAT:
            connection.execute("BEGIN IMMEDIATE")
            if connection.execute("PRAGMA user_version").fetchone()[0] != _FORMAT:
                if connection.execute("SELECT 1 FROM sqlite_master").fetchone() is not None:
                    raise sqlite3.DatabaseError("another format")
                for statement in _SCHEMA.split(";\n"):
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {_FORMAT}")
            connection.execute("COMMIT")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
    except BaseException:
        connection.close()
        raise
    return connection


def _texts(item: Item) -> tuple[dict[str, str], str]:
    sources = {
        "title": " ".join(plain(item.fields.get(name, "")) for name in ("title", "shortTitle")),
        "creators": " ".join(f"{creator.last} {creator.first}" for creator in item.creators),
        "container": " ".join(plain(item.fields.get(name, "")) for name in ("publicationTitle", "seriesTitle")),
        "year": str(item.year or ""),
        "keys": " ".join([*item.citation_keys, item.key]),
    }
    found = {column: searchable(source) for column, source in sources.items()}
    return {column: words for column, (words, _) in found.items()}, "\n".join(text for _, text in found.values())


def _record(item: Item) -> str:
    told = attrs.asdict(item, recurse=False)
    told["fields"] = {name: value for name, value in item.fields.items() if name != "abstractNote"}
    told["creators"] = [attrs.astuple(creator) for creator in item.creators]
    told["retraction"] = attrs.astuple(item.retraction) if item.retraction else None
    return json.dumps(told, ensure_ascii=False)


def _item(record: str) -> Item:
    told = json.loads(record)
    told["creators"] = tuple(Creator(*creator) for creator in told["creators"])
    if told["retraction"] is not None:
        warn, date, reasons = told["retraction"]
        told["retraction"] = Retraction(warn, date, tuple(reasons))
    return Item(**told)
