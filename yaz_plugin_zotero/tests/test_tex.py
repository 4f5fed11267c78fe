from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yaz_plugin_zotero.tex import balanced, escaped, mathematics, one_line, value, verbatim

SPECIAL = st.text(st.sampled_from("ab{}$\\#%&_^~|<> \n\té言😀") | st.characters(exclude_categories=["Cs"]), max_size=40)
MARKED = st.lists(
    SPECIAL
    | st.sampled_from(["<i>", "</i>", "<sub>", "</sub>", "<sup>", "</sup>", '<span class="nocase">', "</span>", "$"]),
    max_size=8,
).map("".join)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("R&D 50% $10 #1 a_b", r"R\&D 50\% \$10 \#1 a\_b"),
        (
            "~ ^ \\ | < >",
            r"{\textasciitilde} {\textasciicircum} {\textbackslash} {\textbar} {\textless} {\textgreater}",
        ),
        ("{braces}", r"\{braces\}"),
        ("a { b", r"a {\textbraceleft} b"),
        ("a } { b", r"a {\textbraceright} {\textbraceleft} b"),
        ("First line\n\tsecond line  ", "First line second line"),
        ("bell\x07 and\x00 nul", "bell and nul"),
        ("Go\u0308del", "Gödel"),
    ],
)
def test_every_special_sign_stands_for_itself(text: str, written: str) -> None:
    assert escaped(text) == written


@pytest.mark.parametrize(
    ("text", "tex", "typst"),
    [
        ("<i>E. coli</i> and <b>bold</b>", r"\textit{E. coli} and \textbf{bold}", "E. coli and bold"),
        ("H<sub>2</sub>O", r"H$_{\textrm{2}}$O", "H₂O"),
        ("10<sup>-5</sup>", r"10$^{\textrm{-5}}$", "10⁻⁵"),
        ("x<sup>q&a</sup>", r"x$^{\textrm{q\&a}}$", r"xq\&a"),
        ("<i>a <b>b</b></i>", r"\textit{a \textbf{b}}", "a b"),
        ("<i>one</i>, <i>two</i>", r"\textit{one}, \textit{two}", "one, two"),
        ('<span style="font-variant:small-caps;">ad</span>', r"\textsc{ad}", "ad"),
        ('<span class="nocase">van</span>', "{van}", "{van}"),
        ('<span class="other">x</span>', "x", "x"),
        ("<i>never closed", r"\textit{never closed}", "never closed"),
        ("closed</i> only", "closed only", "closed only"),
        ("<i></i>empty", "empty", "empty"),
        ("<i>crossed <b>tags</i> here</b>", r"\textit{crossed \textbf{tags}} here", "crossed tags here"),
        ("a <tag> and 1 < 2", r"a {\textless}tag{\textgreater} and 1 {\textless} 2", None),
    ],
)
def test_markup_becomes_tex_and_is_dropped_for_typst(text: str, tex: str, typst: str | None) -> None:
    assert value(text, "tex") == tex
    assert value(text, "typst") == (tex if typst is None else typst)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("Brown v. Board of Education", "Brown v. {Board} of {Education}"),
        ("R&D spending", r"R\&{D} spending"),
        ("R: A Language and Environment", "R: {A} {Language} and {Environment}"),
        ("羅生門 (Rashōmon)", "羅生門 ({Rashōmon})"),
        ("О ТЕОРИИ ЧТЕНИЯ", "О ТЕОРИИ ЧТЕНИЯ"),
        ("RETRACTED: Ileal hyperplasia", "{RETRACTED}: {Ileal} hyperplasia"),
        ("mRNA and Can't", "{mRNA} and {Can't}"),
        ("1984", "1984"),
        ("<i>Escherichia coli</i> in Mice", r"\textit{Escherichia coli} in {Mice}"),
    ],
)
def test_capitals_that_a_style_would_lower_are_braced(text: str, written: str) -> None:
    assert value(text, "tex", protect=True) == written


@pytest.mark.parametrize(
    ("formula", "tex", "typst"),
    [
        ("L^2", "L^2", "L^2"),
        (r"\alpha<\beta", r"\alpha<\beta", "alpha < beta"),
        ("x_{10}", "x_{10}", "x_(10)"),
        ("ab", "ab", "a b"),
        (r"\mathbb{R}^n", r"\mathbb{R}^n", None),
        (r"{\alpha}", r"{\alpha}", None),
        ('#read("secret.txt")', None, None),
        ("#x", None, None),
        (r"\input{/etc/passwd}", None, None),
        (r"\write18{rm}", None, None),
        (r"\alpha\unknown", None, None),
        ("x_{1", None, None),
        ("a}b{", None, None),
        ('"text"', None, None),
        ("a%b", None, None),
        ("a&b", None, None),
        ("é", None, None),
        ("a\\\\b", None, None),
    ],
)
def test_only_harmless_mathematics_is_kept(formula: str, tex: str | None, typst: str | None) -> None:
    assert mathematics(formula, "tex") == tex
    assert mathematics(formula, "typst") == typst


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("On $L^2$-bounds", "On {$L^2$}-bounds"),
        ("costs $5 and $10", r"costs \$5 and \$10"),
        ("a $ b", r"a \$ b"),
        ("$10-$20", r"\$10-\$20"),
        ("$#x$ and $y$", r"\$\#x\$ and {$y$}"),
        ("$x$$y$", "{$x$}{$y$}"),
        ("$", r"\$"),
        ("$$", r"\$\$"),
    ],
)
def test_dollars_are_mathematics_only_in_pairs(text: str, written: str) -> None:
    assert value(text, "tex") == written


def test_very_many_dollars_are_no_trouble() -> None:
    assert value("$#" * 5_000, "tex") == r"\$\#" * 5_000


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("https://example.org/a_b?x=1&y=%20#f~g", "https://example.org/a_b?x=1&y=%20#f~g"),
        ("10.1000/a_b%20c&d", "10.1000/a_b%20c&d"),
        ("https://e.org/{a}\\b", "https://e.org/%7Ba%7D%5Cb"),
        (" https://e.org/a b\n", "https://e.org/a%20b"),
    ],
)
def test_addresses_stay_as_they_are_but_for_what_would_end_the_field(text: str, written: str) -> None:
    assert verbatim(text) == written


@given(MARKED, st.booleans())
def test_a_value_never_ends_its_field_early(text: str, protect: bool) -> None:
    for dialect in ("tex", "typst"):
        written = value(text, dialect, protect=protect)
        # BibTeX counts every brace, other readers all but the escaped ones: both must come out even.
        assert balanced(written)
        assert balanced(re.sub(r"\\[{}\\]", "", written))


@given(MARKED)
def test_a_dollar_that_is_not_escaped_has_a_partner(text: str) -> None:
    assert len(re.findall(r"(?<!\\)\$", value(text, "tex"))) % 2 == 0


@given(SPECIAL)
def test_no_unescaped_sign_is_left_in_plain_text(text: str) -> None:
    assert not re.search(r"(?<!\\)[#$%&_]|[~^|<>]", escaped(text))


@pytest.mark.parametrize("sign", ["\ufdd0", "\ufffe", "\U0010ffff", "\x00", "\ud800"])
def test_signs_that_no_text_passes_on_are_left_out(sign: str) -> None:
    assert one_line(f"a{sign}b") == "ab"
