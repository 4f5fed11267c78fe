"""What counts as citations that stand together, format by format."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yaz_plugin_zotero.runs import Standing, around, plain


def cited(text: str, form: Any) -> list[tuple[str, str]]:
    """The works of the run at the place that the text marks with ^."""
    before, _, behind = text.partition("^")
    return [(one.key, one.locator) for one in around(before + behind, len(before), form)]


@pytest.mark.parametrize(
    ("text", "works"),
    [
        ("claim^ @a @b[p. 7]~@c. @d", [("a", ""), ("b", "p. 7"), ("c", "")]),
        ("claim @a^ @b", [("a", ""), ("b", "")]),
        ("claim @a @b^.", [("a", ""), ("b", "")]),
        ("claim @a @b ^more", [("a", ""), ("b", "")]),
        ("claim^@a@b", [("a", ""), ("b", "")]),
        ("claim^\n  @a\r\n@b", [("a", ""), ("b", "")]),
        ("claim^\n\n@a", []),
        ("@a\n\n^claim", []),
        ("claim^ @a, @b", [("a", "")]),
        ("claim @a, @b^", [("b", "")]),
        ("claim^, @a", []),
        ("claim^ (@a)", []),
        ("claim^ @a:b.c. More", [("a:b.c", "")]),
        ("claim^ @a[p. 7 [x] \\] y] @b", [("a", "p. 7 [x] \\] y"), ("b", "")]),
        ("claim^ @a[never closed", [("a", "")]),
        ('claim^ #cite(<a>) #cite(label("b/c"));@d', [("a", ""), ("b/c", ""), ("d", "")]),
        ('claim^ #cite(<a>, supplement: [p. (7], form: "prose") @b', [("a", "p. (7"), ("b", "")]),
        ('claim^ #cite(<a>, form: "prose", supplement: "p. 7")', [("a", "p. 7")]),
        ('claim #cite(label("a"))^; @b', [("a", ""), ("b", "")]),
        ('claim #cite(label("a\\"b"));^[note]', [('a"b', "")]),
        ("claim (so)^; @a", []),
        ("claim \\@a^", []),
        ("claim `@a`^", []),
        ("claim @aaa^2020", []),
        ("claim #cite(sources.first())^", []),
    ],
)
def test_in_typst(text: str, works: list[tuple[str, str]]) -> None:
    assert cited(text, "typst") == works


@pytest.mark.parametrize(
    ("text", "works"),
    [
        (r"claim^~\cite{a} \citep[p. 7]{b}. \cite{c}", [("a", ""), ("b", "p. 7")]),
        (r"claim^\parencite[see][p.~8]{a}", [("a", "p. 8")]),
        (r"claim~\cite{a}^~\cite{b}", [("a", ""), ("b", "")]),
        (r"claim^~\cite[p. 7]{a, b}", [("a", ""), ("b", "p. 7")]),
        (r"claim^\autocites[p. 1]{a}[][2]{b}{c}", [("a", "p. 1"), ("b", "2"), ("c", "")]),
        (r"claim^~\cite{a}{b}", [("a", "")]),
        ("claim^%\n\\cite{a}% \\cite{x}\n\\cite{b}", [("a", ""), ("b", "")]),
        ("claim % \\cite{x}\n^", []),
        ("claim 50\\% \\cite{a}^", [("a", "")]),
        ("claim^\n\n\\cite{a}", []),
        (r"claim^~\cite{a}, \cite{b}", [("a", "")]),
        (r"claim\,\cite{a}^", [("a", "")]),
        (r"claim^\citep*[{§ 3 [1], 50\%}]{a}", [("a", r"{§ 3 [1], 50\%}")]),
        (r"claim^\footcite{a}\Textcite{b}", [("a", ""), ("b", "")]),
        (r"claim of \citeauthor{a}^", []),
        (r"claim^\nocite{a}", []),
        (r"claim \\cite{a}^", []),
        (r"claim^\cite{never closed", []),
    ],
)
def test_in_latex(text: str, works: list[tuple[str, str]]) -> None:
    assert cited(text, "latex") == works


@pytest.mark.parametrize(
    ("text", "works"),
    [
        ("claim^ [@a] [@b, p. 7][@c]. [@d]", [("a", ""), ("b", "p. 7"), ("c", "")]),
        ("claim [@a]^ [@b]", [("a", ""), ("b", "")]),
        ("claim^ [see @a, p. 7; -@b]", [("a", "p. 7"), ("b", "")]),
        (r"claim^ [@{ends.}, § 3 \[1\]\; 50\%]", [("ends.", r"§ 3 \[1\]\; 50\%")]),
        ("claim^ [@a]: more", [("a", "")]),
        ("claim^ [@a](address)", []),
        ("claim^ [a note]", []),
        ("claim^ [a note; @a]", []),
        ("claim of^ @a says", [("a", "")]),
        ("claim of^ @a [p. 7] says", [("a", "p. 7")]),
        ("claim of^ @a [@b]", [("a", ""), ("b", "")]),
        ("claim^, [@a]", []),
        ("claim^\n[@a]", [("a", "")]),
        ("claim^\n\n[@a]", []),
        (r"claim\ [@a]^", [("a", "")]),
        ("write to me@example.org^", []),
        ("claim `[@a]`^", []),
        (r"claim \@a^", []),
    ],
)
def test_in_markdown(text: str, works: list[tuple[str, str]]) -> None:
    assert cited(text, "markdown") == works


def test_a_citation_says_where_it_begins() -> None:
    assert around("claim @a[p.~7]", 5, "typst") == [Standing("a", "p. 7", 6)]


def test_blanks_of_a_locator_are_one_space() -> None:
    assert plain(" p.~7\u00a0\n f. ") == "p. 7 f."


@pytest.mark.parametrize("form", ["typst", "latex", "markdown"])
@pytest.mark.parametrize("sign", ["@a[", "[@a", "\\cite[", "#cite(<a>, [", "@a ", "[[", "((", "{{", "\\", "[@a;"])
def test_very_many_signs_are_no_trouble(form: Any, sign: str) -> None:
    text = sign * 100_000
    around(text, len(text) // 2, form)


@given(
    st.lists(st.sampled_from([*"@a[](){}<>\\#;,.`\"~%- \n", "\\cite", "#cite(", "[@a]"])).map("".join), st.text(),
    st.sampled_from(["typst", "latex", "markdown"]),
)
def test_any_text_can_be_read(before: str, behind: str, form: Any) -> None:
    text = before + behind
    for one in around(text, len(before), form):
        assert one.key in text.replace("\\", "")
