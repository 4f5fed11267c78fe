"""A sample Zotero library: a real `zotero.sqlite` with the tables and columns of Zotero 7 to 10 (zotero 1.2).

For the demonstration, for tests and for measuring. The same arguments give the same content.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import sqlite3
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

import attrs

from yaz_plugin_zotero.folding import fold
from yaz_plugin_zotero.sample_items import FEED, GROUP, SAMPLE_ITEMS, USER, SampleItem
from yaz_plugin_zotero.sample_schema import ITEM_TYPES, LEGACY_TYPE_IDS, NO_CREATORS, statements
from yaz_plugin_zotero.sample_words import GIVEN, SURNAMES, WORDS

GROUP_NUMBER = 2468
"""The group's number: its library is `group-2468`."""

_LIBRARIES = {USER: "user", GROUP: f"group-{GROUP_NUMBER}", FEED: "feed"}
_ALPHABET = "23456789ABCDEFGHIJKLMNPQRSTUVWXYZ"
_EPOCH = datetime(2015, 1, 1, tzinfo=UTC)
_WRITTEN = datetime(2026, 1, 5, 10, 0, tzinfo=UTC)

_JOURNALS = (
    "Nature", "Science", "PLOS ONE", "The Lancet", "Zeitschrift für Soziologie", "Annales. Histoire, Sciences Sociales",
    "Physical Review Letters", "Computers & Education", "Econometrica", "Water Resources Research", "自然言語処理",
)  # fmt: skip


@attrs.frozen
class SampleLibrary:
    """A written library: the database, and (library, key) of each hand-written item, by its slug."""

    path: Path
    keys: Mapping[str, tuple[str, str]]


def make_library(
    folder: Path,
    *,
    items: int = 0,
    seed: int = 1,
    userdata: int = 129,
    journal: Literal["wal", "rollback"] = "wal",
    legacy_ids: bool = False,
) -> SampleLibrary:
    """Write `zotero.sqlite` into `folder`, with the hand-written items and `items` made-up ones.

    `userdata` is the schema's version: 123 for Zotero 7 and 8, 125 for 9, 129 for 10. `journal` is how Zotero writes:
    `wal` since 10, `rollback` before. `legacy_ids` numbers item types and fields as a database does that was upgraded
    from Zotero 4. Raises `FileExistsError` where there is a database already: a real one is never overwritten.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "zotero.sqlite"
    if path.exists():
        raise FileExistsError(f"there is a database already: {path.name}")
    database = sqlite3.connect(path, isolation_level=None)
    try:
        database.execute("PRAGMA synchronous = OFF")
        writer = _Writer(database, userdata, legacy_ids)
        database.execute("BEGIN")
        writer.begin()
        keys = {item.slug: writer.hand_written(item) for item in SAMPLE_ITEMS}
        for number, item in enumerate(_made_up(items, seed)):
            writer.add(item, _key(f"made-up/{item.library}/{number}"), attachment=number % 10 < 7)
        writer.flush()
        database.execute("COMMIT")
        database.execute(f"PRAGMA journal_mode = {'WAL' if journal == 'wal' else 'DELETE'}")
    finally:
        database.close()
    os.utime(path, (_WRITTEN.timestamp(), _WRITTEN.timestamp()))
    return SampleLibrary(path, keys)


def _key(seed: str) -> str:
    return "".join(_ALPHABET[byte % len(_ALPHABET)] for byte in hashlib.sha256(seed.encode()).digest()[:8])


class _Writer:
    """Fills a database; rows are kept back and written many at a time."""

    def __init__(self, database: sqlite3.Connection, userdata: int, legacy_ids: bool) -> None:
        self._database = database
        self._userdata = userdata
        self._types, self._fields, self._roles = _ids(legacy_ids)
        self._rows: dict[str, list[tuple[Any, ...]]] = {}
        self._values: dict[tuple[type, Any], int] = {}
        self._creators: dict[tuple[str, str, int], int] = {}
        self._count = 0

    def begin(self) -> None:
        """Tables, item types, libraries."""
        for statement in statements(self._userdata):
            self._database.execute(statement)
        self._write_types()
        clients = (0,) if self._userdata >= 129 else ()
        admin = (0,) if self._userdata >= 125 else ()
        for row, kind in ((USER, "user"), (GROUP, "group"), (FEED, "feed")):
            self._put("libraries", (row, kind, 1, 1, 42, *clients, 42, 1767225600, 0, *admin))
        self._put("groups", (GROUP_NUMBER, GROUP, "Lab Papers", "<p>shared</p>", 5))
        self._put("feeds", (FEED, "arXiv cs.CL", "https://example.org/rss", None, None, None, 3, 30, 60))
        self._put("users", (475425, "sample"))
        for key, value in (("userID", 475425), ("username", "sample"), ("localUserKey", "v3aG8nQf")):
            self._put("settings", ("account", key, value))
        compatibility = 9 if self._userdata >= 127 else 7
        for schema, version in (("userdata", self._userdata), ("system", 32), ("compatibility", compatibility)):
            self._put("version", (schema, version))

    def hand_written(self, item: SampleItem) -> tuple[str, str]:
        """Write a hand-written item, with a note and an attachment below it; its library and key."""
        key = _key(item.same_key or item.slug)
        row = self.add(item, key, attachment=True)
        note = self._new_row("note", item.library, _key(f"{item.slug}/note"))
        self._put("itemNotes", (note, row, '<div class="zotero-note znv1"><p>Note zznote</p></div>', "Note zznote"))
        if item.retracted is not None:
            told = json.dumps({"date": "2010-02-06", "reasons": ["Falsification of Data", "Error in Data"], "urls": []})
            self._put("retractedItems", (row, told, item.retracted))
        if item.library == FEED:
            self._put("feedItems", (row, f"https://example.org/{key}", None, None))
        return _LIBRARIES[item.library], key

    def add(self, item: SampleItem, key: str, *, attachment: bool) -> int:
        """Write one item; its row."""
        row = self._new_row(item.type, item.library, key)
        for name, value in item.fields.items():
            own = ITEM_TYPES[item.type].own_name(name)
            if own is not None and value != "":
                self._put("itemData", (row, self._fields[own], self._value(value)))
        for order, (role, last, first) in enumerate(item.creators):
            creator = self._creator(last, first or "", 1 if first is None else 0)
            self._put("itemCreators", (row, creator, self._roles[role], order))
        if item.trashed:
            self._put("deletedItems", (row, "2026-01-05 10:00:00"))
        if attachment:
            paper = self._new_row("attachment", item.library, _key(f"attachment/{row}"))
            self._put("itemData", (paper, self._fields["title"], self._value("Full Text PDF")))
            read = (None,) if self._userdata >= 124 else ()
            self._put(
                "itemAttachments",
                (paper, row, 1, "application/pdf", None, "storage:paper.pdf", 0, None, None, None, *read),
            )
        return row

    def flush(self) -> None:
        """Write what was kept back."""
        for table, rows in self._rows.items():
            marks = ", ".join("?" * len(rows[0]))
            self._database.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)  # noqa: S608
        self._rows.clear()

    def _new_row(self, kind: str, library: int, key: str) -> int:
        self._count += 1
        when = (_EPOCH + timedelta(seconds=self._count * 6_113)).strftime("%Y-%m-%d %H:%M:%S")
        client = (self._count,) if self._userdata >= 129 else ()
        self._put("items", (self._count, self._types[kind], when, when, when, library, key, 1, *client, 1))
        return self._count

    def _put(self, table: str, row: tuple[Any, ...]) -> None:
        self._rows.setdefault(table, []).append(row)

    def _value(self, value: str | int) -> int:
        identity = (type(value), value)
        if identity not in self._values:
            self._values[identity] = len(self._values) + 1
            self._put("itemDataValues", (self._values[identity], value, *self._folded(value)))
        return self._values[identity]

    def _creator(self, last: str, first: str, mode: int) -> int:
        identity = (last, first, mode)
        if identity not in self._creators:
            self._creators[identity] = len(self._creators) + 1
            folded = (*self._folded(first), *self._folded(last))
            self._put("creators", (self._creators[identity], first, last, mode, *folded))
        return self._creators[identity]

    def _folded(self, value: str | int) -> tuple[str | None, ...]:
        """The normalised copy that Zotero 10 keeps beside a value: NULL where it is only the value in lower case."""
        if self._userdata < 126:
            return ()
        if not isinstance(value, str) or (folded := fold(value)) == value.lower():
            return (None,)
        return (folded,)

    def _write_types(self) -> None:
        for kind, row in self._types.items():
            self._put("itemTypes", (row, kind, None, 1))
            self._put("itemTypesCombined", (row, kind, 1, 0))
        for field, row in self._fields.items():
            self._put("fields", (row, field, None))
            self._put("fieldsCombined", (row, field, None, None, 0))
        for role, row in self._roles.items():
            self._put("creatorTypes", (row, role))
        for kind, told in ITEM_TYPES.items():
            for order, field in enumerate(told.fields):
                self._put("itemTypeFields", (self._types[kind], self._fields[field], 0, order))
            for base, field in told.bases.items():
                self._put("baseFieldMappings", (self._types[kind], self._fields[base], self._fields[field]))
            for order, role in enumerate(told.roles):
                self._put("itemTypeCreatorTypes", (self._types[kind], self._roles[role], int(order == 0)))


def _ids(legacy: bool) -> tuple[dict[str, int], dict[str, int], dict[str, int]]:
    """Numbers of item types, fields and roles: by the alphabet in a new database, by age in an upgraded one."""
    kinds = sorted([*ITEM_TYPES, *NO_CREATORS])
    fields = sorted({name for told in ITEM_TYPES.values() for name in (*told.fields, *told.bases)})
    roles = list(dict.fromkeys(role for told in ITEM_TYPES.values() for role in told.roles))
    if not legacy:
        return (
            {kind: number for number, kind in enumerate(kinds, 1)},
            {"title": 1, **{name: number for number, name in enumerate((f for f in fields if f != "title"), 2)}},
            {role: number for number, role in enumerate(roles, 1)},
        )
    later = (kind for kind in kinds if kind not in LEGACY_TYPE_IDS)
    return (
        {**LEGACY_TYPE_IDS, **{kind: number for number, kind in enumerate(later, 100)}},
        {"title": 110, **{name: number for number, name in enumerate((f for f in fields if f != "title"), 200)}},
        {role: number for number, role in enumerate(roles, 1)},
    )


def _made_up(count: int, seed: int) -> Iterator[SampleItem]:
    """Items with words and names as unevenly spread as in real libraries."""
    chance = random.Random(seed)  # noqa: S311 (nothing secret)
    words = [*WORDS, *(a + b for a in WORDS[:120] for b in ("s", "al", "ity", "ing", "graphy", "metric"))]
    weights = [1 / (rank + 8) for rank in range(len(words))]
    surnames = [*SURNAMES, *(a + b for a in SURNAMES[:60] for b in ("son", "mann", "ski", "ová", "ez", "berg"))]
    chances = [1 / (rank + 20) ** 0.8 for rank in range(len(surnames))]
    kinds = ("journalArticle",) * 6 + ("conferencePaper", "book", "bookSection", "report", "thesis", "preprint")
    for number in range(count):
        kind = chance.choice(kinds)
        year = min(2026, int(2026 - chance.expovariate(1 / 11)))
        people = min(12, 1 + int(chance.expovariate(1 / 2)))
        title = " ".join(chance.choices(words, weights, k=chance.randint(4, 12))).capitalize()
        fields: dict[str, str | int] = {"title": title, "date": f"{year}-00-00 {year}", "language": "en"}
        if chance.random() < 0.6:
            fields["abstractNote"] = " ".join(chance.choices(words, weights, k=90)).capitalize() + "."
        if kind == "journalArticle":
            first = chance.randint(1, 900)
            fields |= {"publicationTitle": chance.choice(_JOURNALS), "volume": str(chance.randint(1, 90))}
            fields |= {"pages": f"{first}–{first + 12}", "DOI": f"10.5555/made-up.{number}"}
        yield SampleItem(
            slug=f"made-up-{number}",
            type=kind,
            creators=tuple(
                ("author", surname, chance.choice(GIVEN)) for surname in chance.choices(surnames, chances, k=people)
            ),
            fields=fields,
            library=GROUP if number % 12 == 0 else USER,
            trashed=number % 50 == 49,
        )
