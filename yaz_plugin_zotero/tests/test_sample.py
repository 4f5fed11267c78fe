from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from yaz_plugin_zotero.sample import make_library


def dump(path: Path) -> list[str]:
    database = sqlite3.connect(path)
    try:
        return list(database.iterdump())
    finally:
        database.close()


def test_the_same_arguments_give_the_same_library(tmp_path: Path) -> None:
    first = make_library(tmp_path / "a", items=50)
    second = make_library(tmp_path / "b", items=50)
    assert dump(first.path) == dump(second.path)
    assert first.keys == second.keys


def test_another_seed_gives_other_items(tmp_path: Path) -> None:
    assert dump(make_library(tmp_path / "a", items=5).path) != dump(make_library(tmp_path / "b", items=5, seed=2).path)


def test_a_database_is_never_overwritten(tmp_path: Path) -> None:
    (tmp_path / "zotero.sqlite").write_bytes(b"mine")
    with pytest.raises(FileExistsError, match=r"^there is a database already: zotero\.sqlite$"):
        make_library(tmp_path)
    assert (tmp_path / "zotero.sqlite").read_bytes() == b"mine"


@pytest.mark.parametrize("legacy", [False, True])
def test_item_types_have_the_numbers_of_a_new_or_an_upgraded_database(tmp_path: Path, legacy: bool) -> None:
    database = sqlite3.connect(make_library(tmp_path, legacy_ids=legacy).path)
    types = dict(database.execute("SELECT typeName, itemTypeID FROM itemTypes"))
    title = database.execute("SELECT fieldID FROM fields WHERE fieldName = 'title'").fetchone()[0]
    database.close()
    assert (types["annotation"], types["attachment"], title) == ((100, 14, 110) if legacy else (1, 2, 1))
    assert len(set(types.values())) == len(types)


@pytest.mark.parametrize(("journal", "version"), [("wal", 2), ("rollback", 1)])
def test_the_journal_is_as_asked(tmp_path: Path, journal: str, version: int) -> None:
    path = make_library(tmp_path, journal=journal).path  # type: ignore[arg-type]
    assert path.read_bytes()[18] == version
    assert [found.name for found in tmp_path.iterdir()] == ["zotero.sqlite"]


def test_columns_follow_the_version(tmp_path: Path) -> None:
    def columns(userdata: int) -> set[str]:
        database = sqlite3.connect(make_library(tmp_path / str(userdata), userdata=userdata).path)
        found = {row[0] for row in database.execute("SELECT name FROM pragma_table_info('items')")}
        database.close()
        return found

    assert "clientVersion" not in columns(123)
    assert "clientVersion" in columns(129)
