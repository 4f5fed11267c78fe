"""The plain text of headings."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yazcore.writing.plugins.typst.titles import matching, plain


@pytest.mark.parametrize(
    ("source", "title"),
    [
        (" A  b ", "A b"),
        ("*Bold* and _emphasis_", "Bold and emphasis"),
        ("snake_case and 2*3", "snake_case and 2*3"),
        ("`code` x", "code x"),
        ("Area $a^2$", "Area $a^2$"),
        ("A // comment", "A"),
        ("A /* c */ b", "A b"),
        ("C\\# and \\_", "C# and _"),
        ("\\u{1F600}!", "😀!"),
        ("\\u{D800}\\u{FFFFFF}x", "x"),
        ("#emph[Word] next", "Word next"),
        ("#text(fill: red, [Red])[ Body]", "Body"),
        ('#link("https://a.b//c")[Site] x', "Site x"),
        ("Note#footnote[not this]", "Note"),
        ("#LaTeX in use", "#LaTeX in use"),
        ("#sym.arrow.r far", "#sym.arrow.r far"),
        ("a#h(1fr)b", "a b"),
        ("https://a.b/c//d", "https://a.b/c//d"),
        ("see @key", "see @key"),
        ("#emph[open", "#emph[open"),
        ("a -- b", "a – b"),
        ("half-open", "half-open"),
        ("", ""),
    ],
)
def test_what_a_reader_sees(source: str, title: str) -> None:
    assert plain(source) == title


@given(st.text(alphabet=st.sampled_from(list('#[](){}`$\\"*_/~-.ab u{')), max_size=80))
def test_it_never_fails(source: str) -> None:
    assert plain(source) == " ".join(plain(source).split())


@pytest.mark.parametrize(
    ("text", "end"), [("(a)", 2), ('(")")', 4), ("([)])", 4), ("(", None), ("(`)`)", 4), ("(\\))", 3), ("[(])]", 4)]
)
def test_the_bracket_that_closes_another(text: str, end: int | None) -> None:
    assert matching(text, 0, 100) == end


def test_a_bracket_that_closes_too_far_away_is_not_looked_for() -> None:
    assert matching("(" + " " * 50 + ")", 0, 20) is None
