"""Identities of projects."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import attrs
import pytest

from yazcore import Home, YazError
from yazcore.writing.projects.identity import FILE, Identities, Mark, birth_time, new_id


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "thesis"
    folder.mkdir()
    return folder


def test_an_id_is_prj_and_twelve_characters(home: Home, folder: Path) -> None:
    assert re.fullmatch(r"prj_[a-z2-7]{12}", Identities(home).of(folder))


def test_two_new_ids_differ() -> None:
    assert new_id() != new_id()


def test_a_folder_keeps_its_id(home: Home, folder: Path) -> None:
    assert Identities(home).of(folder) == Identities(Home(home.folder)).of(folder)


def test_a_renamed_and_moved_folder_keeps_its_id(home: Home, folder: Path, tmp_path: Path) -> None:
    before = Identities(home).of(folder)
    (tmp_path / "elsewhere").mkdir()
    assert Identities(home).of(folder.rename(tmp_path / "elsewhere" / "dissertation")) == before


def test_a_copy_is_another_project(home: Home, folder: Path, tmp_path: Path) -> None:
    before = Identities(home).of(folder)
    shutil.copytree(folder, tmp_path / "copy")
    assert Identities(home).of(tmp_path / "copy") != before


def test_a_new_folder_in_the_place_of_a_removed_one_is_another_project(home: Home, folder: Path) -> None:
    if birth_time(folder) is None:
        pytest.skip("this file system keeps no time of birth")
    before = Identities(home).of(folder)
    folder.rmdir()
    folder.mkdir()
    assert Identities(home).of(folder) != before


def test_a_declared_id_goes_wherever_its_folder_goes(home: Home, folder: Path, tmp_path: Path) -> None:
    declared = "prj_abcdefgh2345"
    assert Identities(home).of(folder, declared) == declared
    shutil.copytree(folder, tmp_path / "other disk")
    assert Identities(home).of(tmp_path / "other disk", declared) == declared


def test_a_declared_id_takes_the_place_of_the_one_it_had(home: Home, folder: Path) -> None:
    Identities(home).of(folder)
    Identities(home).of(folder, "prj_abcdefgh2345")
    assert list(home.read_json(FILE) or {}) == ["prj_abcdefgh2345"]
    assert Identities(home).of(folder) == "prj_abcdefgh2345"


def test_nothing_is_written_into_the_folder(home: Home, folder: Path) -> None:
    Identities(home).of(folder)
    assert list(folder.iterdir()) == []


MARK = Mark(device=1, inode=2, born=3, path="/a")


@pytest.mark.parametrize(
    ("other", "same"),
    [
        ({"path": "/b"}, True),
        ({"device": 9}, True),
        ({"device": 9, "path": "/b"}, False),
        ({"inode": 9}, False),
        ({"born": 9}, False),
        ({"born": None}, True),
        ({"born": None, "device": 9}, False),
    ],
)
def test_which_marks_are_of_one_folder(other: dict[str, Any], same: bool) -> None:
    assert attrs.evolve(MARK, **other).is_same(MARK) is same


@pytest.mark.parametrize("damage", [[], {"x": {}}, {"prj_abcdefgh2345": {"device": "1"}}, {"prj_abcdefgh2345": 3}])
def test_a_damaged_record_is_an_error_and_stays_as_it_is(home: Home, folder: Path, damage: object) -> None:
    home.write_json(FILE, damage)
    with pytest.raises(YazError) as caught:
        Identities(home).of(folder)
    assert caught.value.code == "home-file-broken"
    assert home.read_json(FILE) == damage
