"""Where a citation goes, and how each format writes it; no file is touched here."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from yazcore import ToolError

from yaz_plugin_zotero.placing import Placed, citation, place
from yaz_plugin_zotero.runs import around


@pytest.mark.parametrize(
    ("key", "locator", "typst", "latex", "markdown"),
    [
        ("mueller2024cost", None, "@mueller2024cost", r"\cite{mueller2024cost}", "[@mueller2024cost]"),
        ("a:b.c_d-e", None, "@a:b.c_d-e", r"\cite{a:b.c_d-e}", "[@a:b.c_d-e]"),
        ("Müller2020", "p. 7", "@Müller2020[p. 7]", r"\cite[p. 7]{Müller2020}", "[@Müller2020, p. 7]"),
        (
            "DBLP:journals/x/y",
            None,
            '#cite(label("DBLP:journals/x/y"))',
            r"\cite{DBLP:journals/x/y}",
            "[@DBLP:journals/x/y]",
        ),
        ("ends.", "p. 7", '#cite(label("ends."), supplement: [p. 7])', r"\cite[p. 7]{ends.}", "[@{ends.}, p. 7]"),
        ("k", "§ 3 [1], 50%", r"@k[§ 3 \[1\], 50%]", r"\cite[{§ 3 [1], 50\%}]{k}", r"[@k, § 3 \[1\], 50\%]"),
        ("k", "a_b#c", r"@k[a\_b\#c]", r"\cite[a\_b\#c]{k}", r"[@k, a\_b\#c]"),
    ],
)
def test_each_format_has_its_own_citation(key: str, locator: str | None, typst: str, latex: str, markdown: str) -> None:
    assert citation("typst", key, locator) == typst
    assert citation("latex", key, locator) == latex
    assert citation("markdown", key, locator) == markdown


@pytest.mark.parametrize("key", ["a#b", "a%b", "a~b", "a\\b", "a{b", "a&b", "a,b", "a b", "a$b"])
def test_a_key_that_latex_cannot_take_is_refused(key: str) -> None:
    with pytest.raises(ToolError) as refused:
        citation("latex", key)
    assert str(refused.value) == (
        f"LaTeX cannot cite the key {key}. Rename it in the .bib with letters, digits, - and : only."
    )


@pytest.mark.parametrize(
    ("text", "after", "form", "wanted"),
    [
        ("A claim. More.", "A claim", "typst", "A claim @k. More."),
        ("A claim. More.", "A claim", "latex", r"A claim~\cite{k}. More."),
        ("A claim. More.", "A claim", "markdown", "A claim [@k]. More."),
        ("A claim ", "A claim ", "typst", "A claim @k"),
        ("(see )", "(see ", "typst", "(see @k)"),
        ("()", "(", "latex", r"(\cite{k})"),
        ("A claim", "A claim", "typst", "A claim @k"),
        ("one\ntwo\n", "one", "typst", "one @k\ntwo\n"),
        ("one\r\ntwo\r\n", "one\ntwo", "typst", "one\r\ntwo @k\r\n"),
        ("claim: more", "claim", "typst", "claim @k: more"),
        ("claim:more", "claim", "typst", 'claim #cite(label("k")):more'),
        ("claim.More", "claim", "typst", 'claim #cite(label("k"));.More'),
        ("claim[note]", "claim", "typst", 'claim #cite(label("k"));[note]'),
        ("claim(note)", "claim", "typst", "claim @k(note)"),
        ("claimmore", "claim", "typst", 'claim #cite(label("k"))more'),
        ("claim-more", "claim", "typst", 'claim #cite(label("k"))-more'),
        ("claim[note]", "claim", "markdown", "claim [@k] [note]"),
        ("claim(note)", "claim", "markdown", "claim [@k] (note)"),
    ],
)
def test_a_citation_goes_right_behind_the_text(text: str, after: str, form: Any, wanted: str) -> None:
    assert place(text, "paper", after, form, "k", None).text == wanted


@pytest.mark.parametrize("form", ["typst", "latex", "markdown"])
@pytest.mark.parametrize("rest", [". More.", "", " more", ":more", "more", "[x]"])
@pytest.mark.parametrize("locator", [None, "p. 7"])
def test_a_second_time_changes_nothing(form: Any, rest: str, locator: str | None) -> None:
    once = place("A claim" + rest, "paper", "A claim", form, "k", locator)
    again = place(once.text, "paper", "A claim", form, "k", locator)
    assert once.inserted
    assert not again.inserted
    assert again.text == once.text


FORMATS = ("typst", "latex", "markdown")
KEYS = ("aaa2020", "b:c.d_e-f", "journals/x/y", "Müller2020", "ends.", "-a", "1")
ANCHORS = ("A claim", "A claim ", "(see ", "A claim~", "one\ntwo", "A [claim]", "claim (so)")
RESTS = ("", ". More.", " more", "more", ":more", "(note)", "[note]", "; more", ", more", ")", "\nmore", "\n\nMore")
LOCATORS = (None, "p. 7", "§ 3 [1], 50% (a) ~ \\ \"b\"; {c}", "p.\u00a07")
WORKS = st.lists(st.tuples(st.sampled_from(KEYS), st.sampled_from(LOCATORS)), max_size=8)


def cited_at_once(form: Any, anchor: str, rest: str, works: list[tuple[str, str | None]]) -> tuple[str, list[bool]]:
    text, inserted = anchor + rest, []
    for key, locator in works:
        placed = place(text, "paper", anchor, form, key, locator)
        text = placed.text
        inserted.append(placed.inserted)
    return text, inserted


@given(st.sampled_from(FORMATS), st.sampled_from(ANCHORS), st.sampled_from(RESTS), WORKS)
def test_any_works_cited_at_one_place_stand_there_once(
    form: Any, anchor: str, rest: str, works: list[tuple[str, str | None]]
) -> None:
    # A protected space is a space: which of the two was asked for does not matter.
    asked = [(key, locator and locator.replace("\u00a0", " ")) for key, locator in works]
    text, inserted = cited_at_once(form, anchor, rest, works)
    assert inserted == [work not in asked[:number] for number, work in enumerate(asked)]
    assert text.startswith(anchor)
    assert text.endswith(rest)
    standing = [one.key for one in around(text, len(anchor), form)]
    assert sorted(standing) == sorted(key for key, _ in set(asked))
    for work in works:
        assert not place(text, "paper", anchor, form, *work).inserted


@given(st.sampled_from(FORMATS), st.sampled_from(ANCHORS), st.sampled_from(RESTS), WORKS)
def test_a_text_that_is_read_again_with_its_citations_gets_none_twice(
    form: Any, anchor: str, rest: str, works: list[tuple[str, str | None]]
) -> None:
    text, _ = cited_at_once(form, anchor, rest, works)
    after = text.removesuffix(rest)
    for key, locator in works:
        again = place(text, "paper", after, form, key, locator)
        assert (again.inserted, again.text) == (False, text)


def test_a_citation_of_a_longer_key_is_another_one() -> None:
    assert place("A claim @key2.", "paper", "A claim", "typst", "key", None).text == "A claim @key @key2."


def test_a_citation_with_another_locator_is_another_one() -> None:
    assert place("A claim @key.", "paper", "A claim", "typst", "key", "p. 7").text == "A claim @key[p. 7] @key."


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("typst", "A claim @bbb2021 @aaa2020."),
        ("latex", r"A claim~\cite{bbb2021}~\cite{aaa2020}."),
        ("markdown", "A claim [@bbb2021] [@aaa2020]."),
    ],
)
def test_two_works_cited_in_turn_stand_there_once(form: Any, text: str) -> None:
    works = [("aaa2020", None), ("bbb2021", None)]
    assert cited_at_once(form, "A claim", ".", works * 2) == (text, [True, True, False, False])


@pytest.mark.parametrize(
    ("form", "text"),
    [("typst", "A claim @aaa2020"), ("latex", r"A claim~\cite{aaa2020}"), ("markdown", "A claim [@aaa2020]")],
)
@pytest.mark.parametrize("rest", ["", ".", " more"])
def test_a_text_that_ends_in_the_citation_gets_it_no_second_time(form: Any, text: str, rest: str) -> None:
    placed = place(text + rest, "paper", text, form, "aaa2020", None)
    assert (placed.text, placed.inserted) == (text + rest, False)


def test_the_line_of_a_citation_that_stands_there_is_its_own() -> None:
    assert place("one\ntwo @a\n@k.", "paper", "two", "typst", "k", None) == Placed("one\ntwo @a\n@k.", 3, False)


def test_the_line_is_counted_from_one() -> None:
    assert place("one\ntwo\nthree", "paper", "two", "typst", "k", None).line == 2


def test_text_that_does_not_stand_there_is_refused() -> None:
    with pytest.raises(ToolError) as refused:
        place("A claim.", "paper.typ", "a claim", "typst", "k", None)
    assert str(refused.value) == (
        "The text to cite after does not stand in paper.typ, so nothing was written. Read the document and pass "
        "a piece of "
        "it exactly as it stands there."
    )


def test_text_that_stands_there_more_than_once_is_refused() -> None:
    with pytest.raises(ToolError) as refused:
        place("aa\nb aaa", "paper.typ", "aa", "typst", "k", None)
    assert str(refused.value) == (
        "The text to cite after stands in paper.typ 3 times (lines 1, 2, 2), so nothing was written. Pass a "
        "longer piece "
        "that stands there once."
    )


@given(st.text(min_size=1), st.text(), st.sampled_from(["typst", "latex", "markdown"]))
def test_the_other_text_is_never_touched(after: str, rest: str, form: Any) -> None:
    text = after + rest
    try:
        placed = place(text, "paper", after, form, "mueller2024cost", None)
    except ToolError:
        return
    assert placed.text.startswith(after)
    assert placed.text.endswith(rest)
    assert placed.text.count("mueller2024cost") == 1
