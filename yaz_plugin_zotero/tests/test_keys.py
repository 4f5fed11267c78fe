from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yaz_plugin_zotero.keys import Key, choose, made, tidied
from yaz_plugin_zotero.library import Creator, Item


def item(last: str = "", title: str = "", date: str = "2024-00-00 2024", **more: Any) -> Item:
    creators = (Creator("author", last, "A.", primary=True),) if last else ()
    fields = {"title": title, "date": date, **more}
    return Item(library="user", key="ABCD2345", type="book", fields=fields, creators=creators)


@pytest.mark.parametrize(
    ("last", "title", "date", "key"),
    [
        ("Müller", "Cost & risk in 50% of cases", "2024-00-00 2024", "mueller2024cost"),
        ("Weiß", "The Big Picture", "2020-00-00 2020", "weiss2020big"),
        ("van der Berg", "Über die Natur", "1999-00-00 1999", "vanderberg1999natur"),
        ("O’Connor", "«L'été» à Paris", "2001-00-00 2001", "oconnor2001lete"),
        ("Ångström", "Ørsted", "", "aangstroemndoersted"),
        ("Достоевский", "О теории чтения", "2003-00-00 2003", "dostoevskii2003teorii"),
        ("Παπαδόπουλος", "x", "2003-00-00 2003", "papadopoylos2003x"),
        ("田中", "日本語の題名", "2017-00-00 2017", "abcd23452017"),
        ("", "About us", "", "anonndabout"),
        ("", "", "", "anonnd"),
        ("Nguyễn", "On $L^2$-bounds", "2021-00-00 2021", "nguyen2021bounds"),
        ("Orwell", "1984", "1949-00-00 1949", "orwell19491984"),
        (
            "Barnes and Noble, Inc. of the Whole Wide World",
            "A",
            "2018-00-00 2018",
            "barnesandnobleincofthewholewid2018",
        ),
    ],
)
def test_a_made_key_is_surname_year_and_first_word(last: str, title: str, date: str, key: str) -> None:
    assert made(item(last, title, date)) == key


@given(st.text(max_size=30), st.text(max_size=60))
def test_a_made_key_is_ascii_that_every_reader_takes(last: str, title: str) -> None:
    assert re.fullmatch(r"[a-z0-9]+", made(item(last, title)))


@pytest.mark.parametrize(
    ("key", "kept"),
    [
        ("muller2019", "muller2019"),
        ("native_nora:2022", "native_nora:2022"),
        ("DBLP:journals/x/y", "DBLP:journals/x/y"),
        ("Müller2020", "Müller2020"),
        ("田中2017", "田中2017"),
        ("ünsafe key,2020#1", "uensafe-key-2020-1"),
        ("Ünsafe key", "Uensafe-key"),
        ("smith_&_co_r&d_2020", "smith_-_co_r-d_2020"),
        ("ends.", "ends"),
        ("$\\theta$", "theta"),
        ("{}", ""),
        ("#", ""),
        ("日本 語", ""),
    ],
)
def test_a_key_is_tidied_where_some_reader_would_stumble(key: str, kept: str) -> None:
    assert tidied(key) == kept


@given(st.text())
def test_a_tidied_key_needs_no_tidying(key: str) -> None:
    once = tidied(key)
    assert tidied(once) == once or not once


def test_the_items_own_key_is_taken() -> None:
    assert choose(item("Müller", citationKey="mine"), []) == Key("mine", "zotero")


def test_a_key_that_cannot_be_used_is_tidied_and_named() -> None:
    assert choose(item("Müller", citationKey="my key"), []) == Key("my-key", "made", "my key")


def test_a_key_of_which_nothing_is_left_is_made() -> None:
    assert choose(item("Müller", "Cost", citationKey="#"), []) == Key("mueller2024cost", "made", "#")


def test_a_key_in_use_gets_a_letter_then_a_number() -> None:
    taken = ["mine"]
    for suffix in [*"abcdefghijklmnopqrstuvwxyz", "-2", "-3"]:
        key = choose(item(citationKey="mine"), taken)
        assert key == Key("mine" + suffix, "made", "mine")
        taken.append(key.text)


def test_keys_that_differ_in_case_alone_are_the_same_to_bibtex() -> None:
    assert choose(item(citationKey="Mine"), ["mINE"]).text == "Minea"
