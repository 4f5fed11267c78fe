from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yazcore.manifest.words import did_you_mean, escaped, is_harmless, is_printable, listed, nearest, quoted, shortened


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("plain ü 字", "plain ü 字"),
        ("\x1b[31mred", r"\x1b[31mred"),
        ("a\nb", r"a\nb"),
        ("abc\u202edcba", r"abc\u202edcba"),
        ("\u2066x\u2069", r"\u2066x\u2069"),
        ("\ud800", r"\ud800"),
        ("\x9b", r"\x9b"),
    ],
)
def test_what_could_disturb_a_terminal_is_escaped(text: str, seen: str) -> None:
    assert escaped(text) == seen


@given(st.text(alphabet=st.characters()))
def test_an_escaped_text_is_printable_and_can_be_encoded(text: str) -> None:
    assert is_printable(escaped(text))
    escaped(text).encode()


def test_a_quoted_text_is_cut() -> None:
    assert quoted("x" * 1000) == '"' + "x" * 59 + '…"'


@pytest.mark.parametrize(
    ("text", "harmless"),
    [
        ("two\nlines\tand a tab", True),
        ("شكرا \u200eyaz\u200e", True),
        ("a\u202eb", False),
        ("a\x07", False),
        ("\u2067a", False),
    ],
)
def test_running_text_may_have_line_breaks_and_marks_of_direction_only(text: str, harmless: bool) -> None:
    assert is_harmless(text) is harmless


def test_of_another_s_sentence_the_middle_is_left_out() -> None:
    assert shortened("short \x1b") == r"short \x1b"
    assert shortened("a" * 500 + "b" * 500, most=10) == "aaaaa…bbbbb"


def test_a_long_list_says_how_many_it_leaves_out() -> None:
    assert listed(["a", "b", "c"], most=2) == '"a", "b" and 1 more'
    assert listed(["a", "b"], most=2) == '"a", "b"'


@pytest.mark.parametrize(
    ("word", "found"),
    [("minAppVerson", "minAppVersion"), ("WRITE", "write"), ("min-app-version", "minAppVersion"), ("zzz", None)],
)
def test_the_nearest_word_ignores_case_and_hyphens(word: str, found: str | None) -> None:
    assert nearest(word, ["minAppVersion", "read", "write"]) == found


def test_among_thousands_of_words_one_of_about_the_same_length_is_found() -> None:
    known = ["x" * 40 + str(number) for number in range(3000)] + ["minAppVersion"]
    assert nearest("minAppVerson", known) == "minAppVersion"


def test_advice_names_the_nearest_word_or_all_of_them_or_none() -> None:
    assert did_you_mean("gobal", ["global", "project"]) == 'did you mean "global"?'
    assert did_you_mean("x", ["global", "project"]) == 'known are "global", "project"'
    assert did_you_mean("x", []) == "none is known"
