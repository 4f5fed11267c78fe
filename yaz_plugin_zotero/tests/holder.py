"""A process that holds a zotero.sqlite open as a running Zotero does; run with `python holder.py DATABASE MODE`.

MODE `wal` is Zotero 10 (exclusive lock, write-ahead log, no -shm file), `rollback` Zotero 5 to 9 (exclusive lock,
rollback journal). It reads commands: `add TITLE` commits an item, `begin TITLE` adds one without committing, `spill`
writes pages of the open transaction to disk, `rollback`, `commit`, `checkpoint`, `quit`; each is answered by `done`.
"""

from __future__ import annotations

import sqlite3
import sys


def main(path: str, mode: str) -> None:
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("PRAGMA locking_mode = EXCLUSIVE")
    database.execute(f"PRAGMA journal_mode = {'WAL' if mode == 'wal' else 'DELETE'}")
    database.execute("PRAGMA synchronous = NORMAL")
    # So small a cache cannot hold a transaction: its pages go to disk before it is committed.
    database.execute("PRAGMA cache_size = 1")
    database.execute("PRAGMA cache_spill = 1")
    database.execute("BEGIN EXCLUSIVE")
    database.execute("COMMIT")
    print("done", flush=True)  # noqa: T201
    for line in sys.stdin:
        command, _, rest = line.strip().partition(" ")
        if command == "quit":
            break
        if command == "add":
            database.execute("BEGIN")
            add(database, rest)
            database.execute("COMMIT")
        elif command == "begin":
            database.execute("BEGIN")
            add(database, rest)
        elif command == "spill":
            database.execute("UPDATE itemDataValues SET value = value || ' spilled' WHERE typeof(value) = 'text'")
            database.execute("UPDATE items SET version = version + 1, clientDateModified = '2026-02-02 02:02:02'")
            database.execute("UPDATE creators SET firstName = firstName || ' spilled'")
        elif command == "checkpoint":
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        else:
            database.execute(command.upper())
        print("done", flush=True)  # noqa: T201
    database.close()


def add(database: sqlite3.Connection, title: str) -> None:
    item = database.execute("SELECT MAX(itemID) + 1 FROM items").fetchone()[0]
    value = database.execute("SELECT MAX(valueID) + 1 FROM itemDataValues").fetchone()[0]
    kind = database.execute("SELECT itemTypeID FROM itemTypes WHERE typeName = 'book'").fetchone()[0]
    field = database.execute("SELECT fieldID FROM fields WHERE fieldName = 'title'").fetchone()[0]
    database.execute(
        "INSERT INTO items (itemID, itemTypeID, libraryID, key) VALUES (?, ?, 1, ?)", (item, kind, f"FRESH{item:03d}")
    )
    database.execute("INSERT INTO itemDataValues (valueID, value) VALUES (?, ?)", (value, title))
    database.execute("INSERT INTO itemData VALUES (?, ?, ?)", (item, field, value))


if __name__ == "__main__":
    main(*sys.argv[1:])
