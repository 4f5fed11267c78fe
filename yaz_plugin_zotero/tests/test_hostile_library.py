"""A library that somebody made to do harm: each value where it does not belong, queries without end, text that injects.

Nobody's Zotero writes such a database; one that was sent, found or restored may be any file at all.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from yazcore import Call, Cancelled, ToolError

from yaz_plugin_zotero.bibliography import ensure
from yaz_plugin_zotero.bibliography import read as read_bibliography
from yaz_plugin_zotero.library import Creator, Item
from yaz_plugin_zotero.sample import SampleLibrary

if TYPE_CHECKING:
    from yaz_plugin_zotero.tests.conftest import Desk

MakeDesk = Callable[..., "Desk"]

INJECTIONS = (
    "}, evil = {x",
    "}}\n@misc{evil, title={x}}\n",
    "\\}, evil = {x",
    '", evil = "x',
    "a\0b",
    "\\",
    "{",
    "}",
    "{{",
    "%",
    "@misc{evil,",
    '$#panic("evil")$',
    '$#read("main.typ")$',
    '#panic("evil")',
    '$a$#panic("evil")$b$',
    '$$#panic("evil")$$',
    '\\$#panic("evil")\\$',
    '${#panic("evil")}$',
    '$\\alpha#panic("evil")$',
    '<i>$#panic("evil")$</i>',
    '$ #panic("evil") $',
    "\\input{/etc/passwd}",
    "\\write18{touch evil}",
    "\\immediate\\openout5=evil",
    "^^5cinput{evil}",
    "~\\catcode`\\@=0 @input{evil}",
    "]\\input{evil}[",
    "[evil](javascript:evil)",
    "<script>evil</script>",
    "\u2028@misc{evil,}",
    "\x85@misc{evil,}",
    "\u202eevil",
    "\ud800",
)


@pytest.fixture
def spoiled(tmp_path: Path, finished_library: SampleLibrary, make_desk: MakeDesk) -> Callable[..., Desk]:
    """`spoiled(statement, *values)`: a desk over a copy of the library to which that was done."""

    def spoil(*statements: str, values: tuple[Any, ...] = ()) -> Desk:
        folder = tmp_path / "Zotero"
        folder.mkdir()
        shutil.copy(finished_library.path, folder / "zotero.sqlite")
        with closing(sqlite3.connect(folder / "zotero.sqlite")) as database:
            for statement in statements:
                database.execute(statement, values if "?" in statement else ())
            database.commit()
        return make_desk(folder)

    return spoil


def some_key(library: SampleLibrary) -> str:
    with closing(sqlite3.connect(library.path)) as database:
        row = database.execute(
            "SELECT i.key FROM items i JOIN itemTypes t USING (itemTypeID) WHERE t.typeName = 'journalArticle'"
        ).fetchone()
    return str(row[0])


ODD_VALUES = [None, "x", "a\0b}\n@x{y", b"\xff\xfe\x00", 2**62, -1, 1.5, "[" * 100_000, ""]


@pytest.mark.parametrize(
    ("table", "column"),
    [
        ("version", "version"),
        ("fields", "fieldName"),
        ("retractedItems", "data"),
        ("itemTypes", "typeName"),
        ("itemDataValues", "value"),
        ("creators", "lastName"),
        ("creatorTypes", "creatorType"),
        ("items", "dateAdded"),
    ],
)
@pytest.mark.parametrize("value", ODD_VALUES, ids=lambda value: repr(value)[:12])
def test_a_value_where_it_does_not_belong_is_an_answer_or_a_sentence(
    spoiled: Callable[..., Desk], table: str, column: str, value: Any
) -> None:
    try:
        desk = spoiled(f"UPDATE OR REPLACE {table} SET {column} = ?", values=(value,))
    except sqlite3.IntegrityError:
        pytest.skip("the database itself refuses it")
    for act in (lambda: desk.search("a"), lambda: desk.search("")):
        try:
            act()
        except ToolError as told:
            assert "zotero.sqlite" in str(told)  # noqa: PT017


def test_an_item_or_group_with_a_name_that_is_none_is_no_item(
    spoiled: Callable[..., Desk], finished_library: SampleLibrary
) -> None:
    """Key and group stand in the entry's address as they are: a forged one would end the field."""
    key = some_key(finished_library)
    evil = "7}, evil = {x"
    desk = spoiled(
        "ALTER TABLE groups RENAME TO old_groups",
        "CREATE TABLE groups AS SELECT * FROM old_groups",
        "UPDATE groups SET groupID = ?",
        "UPDATE OR IGNORE items SET libraryID = (SELECT libraryID FROM groups LIMIT 1) WHERE libraryID = 1",
        values=(evil,),
    )
    with pytest.raises(ToolError):
        desk.cite(key)
    assert all("evil" not in item["library"] for item in desk.search("")["items"])


def test_a_key_that_is_none_is_no_item(spoiled: Callable[..., Desk]) -> None:
    desk = spoiled("UPDATE items SET key = 'AAAAAAA' || char(10) || '}' || itemID")
    assert desk.search("")["items"] == []


ENDLESS = "WITH RECURSIVE n(itemID) AS (SELECT 1 UNION ALL SELECT itemID + 1 FROM n) SELECT itemID FROM n"


@pytest.mark.parametrize(
    "table", ["deletedItems", "items", "itemData", "creators", "baseFieldMappings", "itemCreators"]
)
def test_a_view_that_never_ends_is_no_table_of_zotero(spoiled: Callable[..., Desk], table: str) -> None:
    desk = spoiled(f"ALTER TABLE {table} RENAME TO old", f"CREATE VIEW {table} AS {ENDLESS}")
    with pytest.raises(ToolError, match="is not a Zotero database"):
        desk.search("a")


def test_a_table_that_a_module_makes_is_no_table_of_zotero(spoiled: Callable[..., Desk]) -> None:
    desk = spoiled("DROP TABLE deletedItems", "CREATE VIRTUAL TABLE deletedItems USING fts5(itemID)")
    with pytest.raises(ToolError, match="is not a Zotero database"):
        desk.search("a")


def test_a_computed_column_of_gigabytes_is_a_sentence(spoiled: Callable[..., Desk]) -> None:
    desk = spoiled(
        "ALTER TABLE itemDataValues RENAME TO old",
        "CREATE TABLE itemDataValues (valueID INTEGER PRIMARY KEY, value AS (hex(zeroblob(40000000))))",
        "INSERT INTO itemDataValues (valueID) SELECT valueID FROM old",
    )
    with pytest.raises(ToolError, match=r"zotero\.sqlite is damaged"):
        desk.search("a")


def test_reading_ends_when_nobody_waits_any_more(spoiled: Callable[..., Desk]) -> None:
    """SQLite asks while it works: a call that is over does not hold its thread, and the index, for ever."""
    slow = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 300000000) SELECT count(*) FROM n"
    desk = spoiled(
        "ALTER TABLE itemTypes RENAME TO old",
        "CREATE TABLE itemTypes (itemTypeID INTEGER PRIMARY KEY, typeName TEXT)",
        "INSERT INTO itemTypes SELECT itemTypeID, typeName FROM old",
    )
    call = Call(posture="read", deadline=0.0)
    with pytest.raises((ToolError, Cancelled)):
        desk.run("tools search-library", call, lambda context: _count(context, slow))


def _count(context: Any, statement: str) -> None:
    from yaz_plugin_zotero import database

    with database.snapshot(context) as copy:
        copy.execute(statement).fetchall()


def hostile(text: str) -> Item:
    """An item whose every field says the same."""
    names = (
        "title",
        "shortTitle",
        "publicationTitle",
        "series",
        "volume",
        "issue",
        "edition",
        "pages",
        "publisher",
        "place",
        "type",
        "versionNumber",
        "ISBN",
        "ISSN",
        "DOI",
        "url",
        "accessDate",
        "language",
        "extra",
        "date",
        "number",
        "citationKey",
        "abstractNote",
    )
    return Item(
        library="user",
        key="ABCD2345",
        type="journalArticle",
        fields=dict.fromkeys(names, text),
        creators=(
            Creator("author", text, text, primary=True),
            Creator("editor", text, single=True),
            Creator(text, text),
        ),
    )


@pytest.mark.parametrize("text", INJECTIONS)
@pytest.mark.parametrize("dialect", ["tex", "typst"])
def test_no_text_of_a_library_makes_an_entry_or_a_field_of_its_own(text: str, dialect: Any) -> None:
    made = ensure("", hostile(text), dialect, "references.bib")
    (entry,) = read_bibliography(made.text).entries
    assert set(entry.fields) <= {
        "title",
        "author",
        "editor",
        "collaborator",
        "journal",
        "series",
        "volume",
        "number",
        "edition",
        "pages",
        "publisher",
        "address",
        "version",
        "isbn",
        "issn",
        "doi",
        "url",
        "urldate",
        "language",
        "note",
        "year",
        "month",
        "zotero",
    }
    assert made.text.count("\n@") == 0
    assert not any(ord(sign) < 32 and sign not in "\t\n" for sign in made.text)


@pytest.mark.parametrize("kind", ["journalArticle", "thesis", "preprint", "webpage", "bookSection"])
def test_typst_runs_nothing_that_stands_in_a_library(tmp_path: Path, kind: str) -> None:
    typst = pytest.importorskip("typst")
    import attrs

    texts = [text for text in INJECTIONS if text != "\ud800"]
    bib, keys = "", []
    for number, text in enumerate(texts):
        item = attrs.evolve(hostile(text), key=f"ABCD{2000 + number}", type=kind)
        item = attrs.evolve(item, fields={**item.fields, "citationKey": f"k{number}", "extra": text.replace(":", "")})
        made = ensure(bib, item, "typst", "references.bib")
        bib = made.text
        keys.append(made.key.text)
    (tmp_path / "references.bib").write_text(bib)
    citations = "\n".join(f'#cite(label("{key}"))' for key in keys)
    (tmp_path / "main.typ").write_text(f'#bibliography("references.bib", full: true)\n{citations}\n')
    pdf = typst.compile(str(tmp_path / "main.typ"), root=str(tmp_path), ignore_system_fonts=True)
    assert pdf[:5] == b"%PDF-"
