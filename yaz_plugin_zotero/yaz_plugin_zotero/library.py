"""The items of a Zotero library, read from an open database (zotero 1.2, 1.3).

Everything is joined by name: the ids of item types, fields and creator types differ from database to database
(zotero 0, fact 3). Trashed items, feeds, attachments, notes and annotations are no items here.
"""

from __future__ import annotations

import json
import re
import sqlite3
import unicodedata
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import attrs

from yaz_plugin_zotero import foreign_json
from yaz_plugin_zotero.folding import plain

_KEY_LINE = re.compile(r"^[ \t]*citation[ \t]?key[ \t]*:[ \t]*(\S.*?)[ \t]*$", re.IGNORECASE | re.MULTILINE)
_STORED_DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?: (.*))?$", re.DOTALL)
_KEY = re.compile(r"[0-9A-Z]{8}")  # it stands in an entry's address as it is
_ANY_YEAR = re.compile(r"(?<!\d)(1\d{3}|20\d\d)(?!\d)")

_NO_ITEMS = ("attachment", "note", "annotation")
_BATCH = 2_000


@attrs.frozen
class Creator:
    """One creator. `single` means one name for all, in `last`: an institution (Zotero's fieldMode 1).

    `primary` says that the role is the first one of the item's type: author, director, inventor.
    """

    role: str
    last: str
    first: str = ""
    single: bool = False
    primary: bool = False

    @property
    def name(self) -> str:
        """The name as lists show it: `Last, First`."""
        return f"{self.last}, {self.first}" if self.first and self.last else self.last or self.first


@attrs.frozen
class Retraction:
    """A retraction that Zotero knows of. `warn` is false where the user wants no warning for this item (flag 2)."""

    warn: bool
    date: str = ""
    reasons: tuple[str, ...] = ()


@attrs.frozen
class LibraryName:
    """One library: `id` is `user` or `group-<number of the group>`, stable on every machine; `local` is its row."""

    id: str
    name: str
    local: int


@attrs.frozen(kw_only=True)
class Item:
    """One item. `fields` are by base name (`title` also where Zotero says `caseName`); values as stored."""

    library: str
    key: str
    type: str
    added: str = ""
    fields: Mapping[str, str] = attrs.field(factory=dict)
    creators: tuple[Creator, ...] = ()
    retraction: Retraction | None = None

    @property
    def title(self) -> str:
        """The title without markup."""
        return plain(self.fields.get("title", ""))

    @property
    def year(self) -> int | None:
        """The year of the date, if it has one after year 0."""
        return date_of(self.fields.get("date", ""))[0]

    @property
    def citation_key(self) -> str | None:
        """The item's own citation key, as it stands: a line of Extra wins over the field, as in Zotero's exporters."""
        keys = self.citation_keys
        return keys[0] if keys else None

    @property
    def citation_keys(self) -> tuple[str, ...]:
        """Every citation key of the item, the one that counts first."""
        keys = _KEY_LINE.findall(self.fields.get("extra", ""))[:1]
        if field := self.fields.get("citationKey", "").strip():
            keys.append(field)
        return tuple(dict.fromkeys(keys))

    @property
    def main_creators(self) -> tuple[Creator, ...]:
        """Those the item is known by: of the primary role, else the editors, else everyone."""
        for wanted in (lambda one: one.primary, lambda one: one.role == "editor", lambda one: True):
            if found := tuple(filter(wanted, self.creators)):
                return found
        return ()

    @property
    def uri(self) -> str:
        """The address that opens the item in Zotero; it identifies the item in a bibliography (Y-77)."""
        where = "library" if self.library == "user" else f"groups/{self.library.removeprefix('group-')}"
        return f"zotero://select/{where}/items/{self.key}"


def date_of(stored: str) -> tuple[int | None, int | None]:
    """Year and month of a stored date; a part that is unknown is None.

    Zotero stores `YYYY-MM-DD` with zeros for what is unknown, a blank, and what the user typed; old rows lack the first
    part. What was typed is not parsed again: its order of day and month depends on the user's locale (zotero 1.3).
    """
    if match := _STORED_DATE.match(stored):
        year, month = int(match[1]), int(match[2])
        return year or None, month if year and 1 <= month <= 12 else None
    if match := _ANY_YEAR.search(stored):
        return int(match[1]), None
    return None, None


def libraries(database: sqlite3.Connection) -> tuple[LibraryName, ...]:
    """The user's library and the groups; feeds are none."""
    groups = {
        row: (number, name)
        for row, number, name in (
            database.execute("SELECT libraryID, groupID, name FROM groups") if has_table(database, "groups") else ()
        )
    }
    found = []
    for local, kind in database.execute("SELECT libraryID, type FROM libraries ORDER BY libraryID"):
        if kind == "user":
            found.append(LibraryName("user", "My Library", local))
        elif kind == "group" and isinstance(groups.get(local, (None,))[0], int):
            number, name = groups[local]
            found.append(LibraryName(f"group-{number}", str(name), local))
    return tuple(found)


def stamps(database: sqlite3.Connection, known: Collection[LibraryName]) -> dict[int, tuple[str, str, str]]:
    """Every item that counts: its row, and (library, key, stamp). A stamp that is equal means nothing changed.

    `dateModified` would not do: tools save without touching it (zotero 0, fact 5). Times have a resolution of a
    second, so that items of the newest second have an empty stamp, which never counts as equal.
    """
    names = {library.local: library.id for library in known}
    client = "i.clientVersion" if has_column(database, "items", "clientVersion") else "0"
    retracted = has_table(database, "retractedItems")
    rows = database.execute(
        f"""
        SELECT i.itemID, i.libraryID, i.key, i.clientDateModified, i.version, {client},
               {"r.flag" if retracted else "NULL"}
        FROM items i
        JOIN itemTypes t ON t.itemTypeID = i.itemTypeID
        {"LEFT JOIN retractedItems r ON r.itemID = i.itemID" if retracted else ""}
        WHERE t.typeName NOT IN (?, ?, ?)
          AND i.itemID NOT IN (SELECT itemID FROM deletedItems)
        ORDER BY i.dateAdded, i.itemID
        """,  # noqa: S608 (only names from above, no value)
        _NO_ITEMS,
    ).fetchall()
    newest = max((str(row[3]) for row in rows), default="")
    return {
        row[0]: (names[row[1]], str(row[2]), "" if str(row[3]) == newest else "|".join(map(str, row[3:])))
        for row in rows
        if row[1] in names and _KEY.fullmatch(str(row[2]))
    }


def read_items(database: sqlite3.Connection, rows: Collection[int], known: Collection[LibraryName]) -> Iterator[Item]:
    """The items of these rows, in their order; memory is bounded by a batch."""
    names = {library.local: library.id for library in known}
    bases = dict(_base_names(database))
    primary = {
        (kind, role)
        for kind, role in database.execute(
            "SELECT itemTypeID, creatorTypeID FROM itemTypeCreatorTypes WHERE primaryField = 1"
        )
    }
    wanted = list(rows)
    for start in range(0, len(wanted), _BATCH):
        batch = wanted[start : start + _BATCH]
        fields, creators = _fields(database, batch, bases), _creators(database, batch, primary)
        retractions = _retractions(database, batch)
        heads = {
            row: (library, key, kind, added)
            for row, library, key, kind, added in database.execute(
                "SELECT i.itemID, i.libraryID, i.key, t.typeName, i.dateAdded FROM items i "
                "JOIN itemTypes t ON t.itemTypeID = i.itemTypeID "
                "WHERE i.itemID IN (SELECT value FROM json_each(?))",
                (json.dumps(batch),),
            )
        }
        for row in batch:
            library, key, kind, added = heads[row]
            yield Item(
                library=names[library],
                key=str(key),
                type=str(kind),
                added=str(added),
                fields=fields.get(row, {}),
                creators=tuple(creators.get(row, ())),
                retraction=retractions.get(row),
            )


def has_table(database: sqlite3.Connection, table: str) -> bool:
    """Whether the database has the table, as a plain one: no view, and none that a module makes."""
    found = database.execute(
        "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ? AND sql NOT LIKE 'CREATE VIRTUAL %'", (table,)
    ).fetchone()
    return found is not None


def has_column(database: sqlite3.Connection, table: str, column: str) -> bool:
    """Whether the table has the column; newer databases have more."""
    found = database.execute("SELECT 1 FROM pragma_table_info(?) WHERE name = ?", (table, column)).fetchone()
    return found is not None


def _base_names(database: sqlite3.Connection) -> Iterator[tuple[tuple[int, int], str]]:
    """(item type, field) to the base field's name: the title of a case is its `caseName`."""
    for kind, field, name in database.execute(
        "SELECT m.itemTypeID, m.fieldID, f.fieldName FROM baseFieldMappings m "
        "JOIN fields f ON f.fieldID = m.baseFieldID"
    ):
        yield (kind, field), str(name)


def _fields(
    database: sqlite3.Connection, batch: list[int], bases: Mapping[tuple[int, int], str]
) -> dict[int, dict[str, str]]:
    found: dict[int, dict[str, str]] = {}
    for row, kind, field, name, value in database.execute(
        "SELECT d.itemID, i.itemTypeID, d.fieldID, f.fieldName, v.value FROM itemData d "
        "JOIN items i ON i.itemID = d.itemID JOIN fields f ON f.fieldID = d.fieldID "
        "JOIN itemDataValues v ON v.valueID = d.valueID "
        "WHERE d.itemID IN (SELECT value FROM json_each(?)) ORDER BY d.itemID, d.fieldID",
        (json.dumps(batch),),
    ):
        found.setdefault(row, {})[bases.get((kind, field), str(name))] = _text(value)
    return found


def _creators(
    database: sqlite3.Connection, batch: list[int], primary: Collection[tuple[int, int]]
) -> dict[int, list[Creator]]:
    found: dict[int, list[Creator]] = {}
    for row, kind, role, name, last, first, mode in database.execute(
        "SELECT l.itemID, i.itemTypeID, l.creatorTypeID, t.creatorType, c.lastName, c.firstName, c.fieldMode "
        "FROM itemCreators l JOIN items i ON i.itemID = l.itemID JOIN creators c ON c.creatorID = l.creatorID "
        "JOIN creatorTypes t ON t.creatorTypeID = l.creatorTypeID "
        "WHERE l.itemID IN (SELECT value FROM json_each(?)) ORDER BY l.itemID, l.orderIndex",
        (json.dumps(batch),),
    ):
        creator = Creator(str(name), _text(last or ""), _text(first or ""), mode == 1, (kind, role) in primary)
        if creator.last.strip() or creator.first.strip():
            found.setdefault(row, []).append(creator)
    return found


def _text(value: Any) -> str:
    """A stored value as text, composed: values have no fixed type, and some programs store accents apart."""
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
    return unicodedata.normalize("NFC", text)


def _retractions(database: sqlite3.Connection, batch: list[int]) -> dict[int, Retraction]:
    """Flag 0 warns, 2 is shown without a warning, 1 was hidden by the user as a false match."""
    if not has_table(database, "retractedItems"):
        return {}
    return {
        row: _retraction(data, flag)
        for row, data, flag in database.execute(
            "SELECT itemID, data, flag FROM retractedItems "
            "WHERE flag IN (0, 2) AND itemID IN (SELECT value FROM json_each(?))",
            (json.dumps(batch),),
        )
    }


def _retraction(data: Any, flag: int) -> Retraction:
    try:
        told = foreign_json.loads(data)
    except (TypeError, ValueError):
        told = {}
    if not isinstance(told, dict):
        told = {}
    reasons = told.get("reasons")
    listed = tuple(str(reason) for reason in reasons) if isinstance(reasons, list) else ()
    return Retraction(warn=flag == 0, date=str(told.get("date") or ""), reasons=listed)
