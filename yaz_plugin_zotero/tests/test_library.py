from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from yaz_plugin_zotero.library import Creator, Item, Retraction, date_of, libraries, read_items, stamps
from yaz_plugin_zotero.sample import SampleLibrary, make_library


def everything(library: SampleLibrary) -> dict[str, Item]:
    database = sqlite3.connect(library.path)
    try:
        known = libraries(database)
        found = {(item.library, item.key): item for item in read_items(database, list(stamps(database, known)), known)}
    finally:
        database.close()
    return {slug: found[identity] for slug, identity in library.keys.items() if identity in found}


@pytest.fixture(
    params=[(123, "rollback", False), (125, "rollback", True), (129, "wal", False)],
    ids=["zotero-7", "zotero-9-upgraded", "zotero-10"],
)
def items(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, Item]:
    userdata, journal, legacy_ids = request.param
    return everything(make_library(tmp_path, userdata=userdata, journal=journal, legacy_ids=legacy_ids))


def test_fields_are_found_by_their_base_names(items: dict[str, Item]) -> None:
    assert items["court"].title == "Brown v. Board of Education"
    assert items["court"].year == 1954
    assert items["court"].fields["pages"] == "483"
    assert items["statute"].title == "Data Protection Act"
    assert items["thesis"].fields["publisher"] == "Universität Zürich"
    assert items["chapter"].fields["publicationTitle"] == "The Book: & Its Parts"


def test_trash_and_feeds_are_left_out(items: dict[str, Item]) -> None:
    assert "trashed" not in items
    assert "feed" not in items


def test_notes_and_attachments_are_no_items(finished_library: SampleLibrary) -> None:
    database = sqlite3.connect(finished_library.path)
    known = libraries(database)
    kinds = {item.type for item in read_items(database, list(stamps(database, known)), known)}
    database.close()
    assert kinds.isdisjoint({"note", "attachment", "annotation"})


def test_groups_are_known_by_their_number(items: dict[str, Item]) -> None:
    assert items["group"].library == "group-2468"
    assert items["group"].uri == f"zotero://select/groups/2468/items/{items['group'].key}"
    assert items["court"].uri == f"zotero://select/library/items/{items['court'].key}"


def test_the_primary_role_is_read_not_assumed(items: dict[str, Item]) -> None:
    assert items["film"].main_creators == (Creator("director", "Kurosawa", "Akira", primary=True),)
    assert [creator.name for creator in items["editors"].main_creators] == ["Ėdward, Ūla", "Șerban, Ion"]


def test_an_institution_is_one_name(items: dict[str, Item]) -> None:
    assert items["corporate"].creators == (Creator("author", "Barnes and Noble, Inc.", "", single=True, primary=True),)


def test_a_number_as_a_title_is_text(items: dict[str, Item]) -> None:
    assert items["number-title"].fields["title"] == "1984"


def test_a_key_in_extra_wins_over_the_field_as_in_zotero(items: dict[str, Item]) -> None:
    assert items["key-in-extra"].citation_key == "PinnedExtra2014"
    assert items["two-keys"].citation_keys == ("extraKey", "nativeKey")
    assert items["key-in-field"].citation_key == "native_nora:2022"
    assert items["cost-risk"].citation_key is None


def test_a_retraction_that_the_user_hid_is_none(items: dict[str, Item]) -> None:
    reasons = ("Falsification of Data", "Error in Data")
    assert items["retracted"].retraction == Retraction(True, "2010-02-06", reasons)
    assert items["retraction-hidden"].retraction is None
    assert items["retraction-shown"].retraction == Retraction(False, "2010-02-06", reasons)


@pytest.mark.parametrize(
    ("stored", "year", "month"),
    [
        ("2019-00-00 2019", 2019, None),
        ("2013-05-21 5/21/2013", 2013, 5),
        ("2010-01-15 2010-01-15T00:00:00Z", 2010, 1),
        ("2015-00-00 Spring 2015", 2015, None),
        ("2012-02-00 février 2012", 2012, 2),
        ("2011", 2011, None),
        ("Sept. 1988", 1988, None),
        ("0000-00-00 in press", None, None),
        ("0000-00-00 44 BCE", None, None),
        ("0044-00-00 44", 44, None),
        ("2020-13-00 2020", 2020, None),
        ("", None, None),
        ("no. 123456", None, None),
    ],
)
def test_dates_are_read_from_their_stored_part(stored: str, year: int | None, month: int | None) -> None:
    assert date_of(stored) == (year, month)


def test_a_damaged_retraction_is_still_one(library: SampleLibrary) -> None:
    database = sqlite3.connect(library.path)
    database.execute("UPDATE retractedItems SET data = 'no json' WHERE flag = 0")
    database.commit()
    database.close()
    assert everything(library)["retracted"].retraction == Retraction(True)


def test_items_of_the_newest_second_never_count_as_unchanged(library: SampleLibrary) -> None:
    database = sqlite3.connect(library.path)
    database.execute("UPDATE items SET clientDateModified = '2030-01-01 00:00:00' WHERE itemID IN (1, 4)")
    found = stamps(database, libraries(database))
    database.close()
    assert {row for row, (_, _, stamp) in found.items() if not stamp} == {1, 4}


def test_decomposed_text_is_composed(items: dict[str, Item]) -> None:
    assert items["decomposed"].title == "Über formal unentscheidbare Sätze"
    assert items["decomposed"].creators[0].last == "Gödel"
