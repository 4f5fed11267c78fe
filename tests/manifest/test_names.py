from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from packaging.version import InvalidVersion, Version

from yazcore.manifest.names import VERSION, exposed, folded, is_action_word, is_id, is_message_key, is_name, is_version


@pytest.mark.parametrize("text", ["a", "zotero", "a1-b2-c3", "a" * 24])
def test_ids(text: str) -> None:
    assert is_id(text)


@pytest.mark.parametrize(
    "text",
    ["", "1a", "A", "a-", "-a", "a--b", "a_b", "a.b", "a b", "a\n", "é", "a٣", "a" * 25, "ａ", "a\x00"],
)
def test_what_is_no_id(text: str) -> None:
    assert not is_id(text)


@pytest.mark.parametrize("text", ["search-library", "search_library", "a1_b-2", "a" * 48])
def test_names(text: str) -> None:
    assert is_name(text)


@pytest.mark.parametrize("text", ["", "a__b", "a-_b", "Search", "a\n", "_a", "a-", "a" * 49, "a٣"])
def test_what_is_no_name(text: str) -> None:
    assert not is_name(text)


@pytest.mark.parametrize("text", ["why", "Why-Not_2", "a" * 100])
def test_message_keys(text: str) -> None:
    assert is_message_key(text)


@pytest.mark.parametrize("text", ["", "-why", "1", "a.b", "a b", "a\n", "ä", "a" * 101])
def test_what_is_no_message_key(text: str) -> None:
    assert not is_message_key(text)


def test_the_word_of_a_permission() -> None:
    assert all(map(is_action_word, ["read-all", "a" * 48]))
    assert not any(map(is_action_word, ["", "*", "Read", "read:all", "read\n", "2read", "a" * 49]))


def test_only_the_hosts_own_names_carry_no_prefix() -> None:
    assert exposed("zotero", "search", own=False) == "zotero__search"
    assert exposed("yaz", "help", own=True) == "help"


def test_names_that_differ_only_in_case_and_joiner_are_the_same() -> None:
    assert folded("Search-Library") == folded("search_library") == "search_library"


def is_one_to_packaging(text: str) -> bool:
    try:
        Version(text)
    except InvalidVersion:
        return False
    return text == text.strip()


@given(st.text(alphabet="01.-_+!vVaAbBcCrRlphetviwosDd", max_size=12) | st.from_regex(VERSION, fullmatch=True))
@example("1.0poſt1")
@example("1.0+K")
@example("1.0-post-1")
@example("1.0.dev")
def test_a_version_is_what_packaging_takes_for_one(text: str) -> None:
    assert is_version(text) is (is_one_to_packaging(text) and len(text) <= 64)
