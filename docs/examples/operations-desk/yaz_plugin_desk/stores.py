"""The systems behind the desk, each of which can fail in its own words; with sample data, in memory or in SQLite.

They stand for what every company has: three services that grew at different times and know a deployment by different
names. Nothing outside `desk.py` sees their rows, their ids or their errors.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

SAMPLE = Path(__file__).parent / "sample.json"
"""The data that the example works on."""


class Down(Exception):
    """A system did not answer; the text is for its operators, never for a caller."""


class Store(Protocol):
    """Rows of one table, in the order of their `n`; `after` and `most` bound what is read, not what is shown."""

    def rows(self, table: str, where: Mapping[str, str], after: int, most: int) -> list[dict[str, Any]]:
        """At most `most` rows of a table behind `after` that have these values. Raises `Down`."""

    def close(self) -> None:
        """Let go of what it holds open."""


class InMemory:
    """The sample data as it stands in the file."""

    def __init__(self) -> None:
        self._tables: dict[str, list[dict[str, Any]]] = json.loads(SAMPLE.read_text("utf-8"))
        self.read = 0
        self.down: set[str] = set()

    def rows(self, table: str, where: Mapping[str, str], after: int, most: int) -> list[dict[str, Any]]:
        """See `Store`."""
        if table in self.down:
            raise Down(f"pool exhausted: {table}@db-3.internal:5432, user desk_rw")
        found = []
        for row in self._matching(table, where, after):
            if len(found) == most:
                break
            self.read += 1
            found.append(row)
        return found

    def close(self) -> None:
        """See `Store`."""

    def _matching(self, table: str, where: Mapping[str, str], after: int) -> Iterator[dict[str, Any]]:
        for number, row in enumerate(self._tables[table], 1):
            if number > after and all(str(row.get(key)) == value for key, value in where.items()):
                yield {**row, "n": number}


class InSqlite:
    """The same data in a database, where every row has a key that means nothing to anybody."""

    def __init__(self) -> None:
        self._db = sqlite3.connect(":memory:", check_same_thread=False)
        self._db.row_factory = sqlite3.Row
        for table, rows in json.loads(SAMPLE.read_text("utf-8")).items():
            keys = sorted({key for row in rows for key in row})
            self._db.execute(f"create table {table} (n integer primary key, {', '.join(keys)})")
            marks = ", ".join("?" * len(keys))
            self._db.executemany(
                f"insert into {table} ({', '.join(keys)}) values ({marks})",  # noqa: S608 - its own names
                [tuple(row.get(key) for key in keys) for row in rows],
            )

    def rows(self, table: str, where: Mapping[str, str], after: int, most: int) -> list[dict[str, Any]]:
        """See `Store`."""
        conditions = "".join(f" and {key} = ?" for key in where)
        try:
            with self._cursor() as cursor:
                cursor.execute(
                    f"select * from {table} where n > ?{conditions} order by n limit ?",  # noqa: S608 - its own names
                    (after, *where.values(), most),
                )
                return [dict(row) for row in cursor.fetchall()]
        except sqlite3.Error as error:
            raise Down(str(error)) from error

    def close(self) -> None:
        """See `Store`."""
        self._db.close()

    @contextmanager
    def _cursor(self) -> Iterator[sqlite3.Cursor]:
        cursor = self._db.cursor()
        try:
            yield cursor
        finally:
            cursor.close()


class Orchestrator:
    """What restarts a service: it takes it out, starts it again, and puts it back."""

    def __init__(self) -> None:
        self.out: set[str] = set()
        self.journal: list[tuple[str, str, str]] = []
        self.fails_at = ""

    def drain(self, service: str) -> None:
        """Take a service out of rotation. Raises `Down`."""
        self._do("drain", service)
        self.out.add(service)

    def start(self, service: str) -> None:
        """Start its processes again. Raises `Down`."""
        self._do("start", service)

    def put_back(self, service: str) -> None:
        """Put it back into rotation."""
        self.out.discard(service)

    def note(self, who: str, service: str, reason: str) -> None:
        """Keep who asked for what."""
        self.journal.append((who, service, reason))

    def _do(self, step: str, service: str) -> None:
        if self.fails_at == step:
            raise Down(f"kubelet on node-17 refused {step} {service}: 503")
