"""Where a citation goes, and how each format writes it; no file is touched here."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from yazcore import ToolError

from yaz_plugin_zotero.citing import Request, citation, place


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


def test_a_citation_of_a_longer_key_is_another_one() -> None:
    assert place("A claim @key2.", "paper", "A claim", "typst", "key", None).text == "A claim @key @key2."


def test_a_citation_with_another_locator_is_another_one() -> None:
    assert place("A claim @key.", "paper", "A claim", "typst", "key", "p. 7").text == "A claim @key[p. 7] @key."


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


@pytest.mark.parametrize("name", ["paper", "paper.docx", "refs.bib", "a.typ/b"])
def test_a_document_of_another_kind_is_refused(name: str) -> None:
    with pytest.raises(ToolError) as refused:
        _ = Request("references.bib", name, "x").format
    assert str(refused.value) == (
        f"{name} is no document that a citation can be put into: its name must end in "
        ".ltx, .markdown, .md, .qmd, .tex, .typ."
    )


def test_a_bibliography_of_another_kind_is_refused() -> None:
    with pytest.raises(ToolError, match=r"^references\.yml is no bibliography: its name must end in \.bib\.$"):
        _ = Request("references.yml").format
