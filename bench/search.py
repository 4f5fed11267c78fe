"""`search-library` at 10,000 items through its FTS5 index, against the same search by SQL on the same database."""

from __future__ import annotations

import random
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.measuring import figure

ITEMS = 10_000
QUERIES = 100

_FIELDS = "'title', 'shortTitle', 'publicationTitle', 'bookTitle', 'date', 'citationKey'"
_WORD = f"""
    (EXISTS (SELECT 1 FROM itemData JOIN fields USING (fieldID) JOIN itemDataValues USING (valueID)
             WHERE itemData.itemID = items.itemID AND fieldName IN ({_FIELDS}) AND value LIKE ?)
     OR EXISTS (SELECT 1 FROM itemCreators JOIN creators USING (creatorID)
                WHERE itemCreators.itemID = items.itemID AND (lastName LIKE ? OR firstName LIKE ?)))
"""


def figures() -> list[dict[str, Any]]:
    """The ratio of both searches at the median query, and the median itself as a guide value."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            ours, theirs = _prepare(Path(folder))
        except ImportError:
            return [figure("search-10000", None, "<= 0.02", "SQL; yaz-plugin-zotero is not installed")]
        queries = _queries(Path(folder) / "library" / "zotero.sqlite")
        fast, slow = _medians(ours, theirs, queries)
    return [
        figure("search-10000", fast / slow, "<= 0.02", "the same search by SQL"),
        figure("search-10000-p50", fast * 1000, "<= 2", "nothing", "ms", guide=True),
    ]


def _medians(
    ours: Callable[[str], object], theirs: Callable[[str], object], queries: list[str]
) -> tuple[float, float]:
    spent: tuple[list[float], list[float]] = ([], [])
    for query in queries:
        for function, times in zip((ours, theirs), spent, strict=True):
            began = time.perf_counter()
            function(query)
            times.append(time.perf_counter() - began)
    return statistics.median(spent[0]), statistics.median(spent[1])


def _prepare(folder: Path) -> tuple[Callable[[str], object], Callable[[str], object]]:
    from yaz_plugin_zotero.index import Index
    from yaz_plugin_zotero.library import libraries, read_items, stamps
    from yaz_plugin_zotero.sample import make_library
    from yaz_plugin_zotero.search import parse, search

    make_library(folder / "library", items=ITEMS)
    database = sqlite3.connect(folder / "library" / "zotero.sqlite")
    known = libraries(database)
    current = stamps(database, known)
    index = Index(folder / "index.sqlite")
    with index.refreshing() as changes:
        changes.keep_libraries(known)
        rows = changes.outdated(current)
        changes.store(read_items(database, rows, known), [current[row][2] for row in rows], lambda count: None)

    def by_index(query: str) -> object:
        return search(index, parse(query), 20, None)

    def by_sql(query: str) -> object:
        words = query.split()
        statement = (
            "SELECT itemID FROM items WHERE itemID NOT IN (SELECT itemID FROM deletedItems) AND "
            f"{' AND '.join([_WORD] * len(words))} LIMIT 5000"
        )
        return database.execute(statement, [f"%{word}%" for word in words for _ in range(3)]).fetchall()

    return by_index, by_sql


def _queries(path: Path) -> list[str]:
    """A creator's name and a word of a title, of items at random: what people type."""
    database = sqlite3.connect(path)
    found = database.execute(
        "SELECT lastName, value FROM items JOIN itemCreators USING (itemID) JOIN creators USING (creatorID)"
        " JOIN itemData USING (itemID) JOIN fields USING (fieldID) JOIN itemDataValues USING (valueID)"
        " WHERE fieldName = 'title' AND orderIndex = 0"
    ).fetchall()
    chosen = random.Random(1).sample(sorted((str(name), str(title)) for name, title in found), QUERIES)
    return [f"{name.split()[0]} {max(title.split(), key=len)}" for name, title in chosen]
