"""Headings and includes of Typst source, also where Typst itself is asked, and on any text at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import typst
from hypothesis import given, settings
from hypothesis import strategies as st

from yazcore.writing.plugins.typst.source import Heading, Include, scan


def headings(text: str) -> list[tuple[int, str, int, str | None]]:
    return [(one.level, one.title, one.line, one.label) for one in scan(text) if isinstance(one, Heading)]


def titles(text: str) -> list[str]:
    return [one.title for one in scan(text) if isinstance(one, Heading)]


def test_level_title_line_and_label() -> None:
    assert headings("= One <one>\n\n== Two\ntext\n=== Three <a:b.c-d_e>") == [
        (1, "One", 1, "one"),
        (2, "Two", 3, None),
        (3, "Three", 5, "a:b.c-d_e"),
    ]


# Each of these compiles; what Typst makes of it is asked, not believed.
AS_TYPST = [
    "= A\n== B <b>\n=== C _d_ *e*",
    "- = in list\n+ = enum\n/ T: = term\n1. = number\n- - = deep",
    "/* c */ = After a comment",
    "= A // c\ntext",
    "= A /* c\n d */ rest\n= B",
    "= A\n<lab>\ntext",
    "= A\n\n<lab>",
    "text <lab>\n= B",
    "= A <a> text <b>\n= C",
    "= A < b > c",
    "= A [x] #[y] z",
    "#[= A]\n#[\n= B\n]",
    "#[#[#[= A]]]",
    "#box[= A] = not",
    "#box(width: 1cm)[= B\nx] <a>\n= C",
    "#if false [\n  x\n] else if true [\n= A\n]\n= B",
    "#if true {[= A]}\nelse\n= B",
    '#if 1 == 1 and (2 > 1) [= A] tail "x\n= B',
    "#for i in range(1) {\n  [= L]\n}\n= M",
    "#while false {}\n= A",
    "#let f(x) = [= #x]\n= N",
    "#let f(x) = {\n  [= #x]\n}\n= N",
    "#let t = [= V]\n#t",
    "See https://example.org/a//b#c[d] text\n= N",
    "(https://example.org/a) // comment = x\n= N",
    '"quote\n= N',
    "don't `raw\n= no` x\n= N",
    "```typ\n= raw\n```\n= N",
    "````\n```\n= x\n````\n= A",
    "`` = x\n= N",
    "$ a\n= b $\n= N",
    '$ "str $" x $\n= N',
    '$ #text("$") $\n= N',
    "\\= no\n= N \\\ntext",
    "= N \\= m",
    "= a_b_c 2*3*4 _x_ *y*",
    "= A#footnote[x = y] B",
    "= N~a -- b --- c ... d",
    "= A\\u{42}C",
    '#heading[One]\n#heading(level: 2)[Two]\n#heading(level: 3, "Three")\n#heading(depth: 2)[Four]',
    "#set heading(offset: 1)\n= A\n== B",
    "#{\n  set heading(offset: 1)\n  [= A]\n}\n= B",
    "#[\n#set heading(offset: 2)\n= A\n]\n= B",
    "#show heading: set text(red)\n#show heading.where(level: 1): it => [#it.body]\n= A",
    "#let x = 1; = no\n= A",
    '#set text(lang: "en"); = A\n= B',
    "#set par(justify: true)  // = c\n= B",
    "#(1 + 2) = x\n= A",
    "#calc.max(1,\n2)\n= A",
    '#"str\\"\n= no" = x\n= A',
    '#text("a\n= b")\n= A',
    "#context [= A]\n#context { [= B] }\n#context counter(page).get().first() tail\n= C",
    "=A\n==\n = B\n\t= C",
    "= A #box[\nmulti\n] tail\n= B",
    "#table(columns: 2, [= A], [b])\n= B",
    "#grid[\n  = A\n][\n  = B\n]",
    "= 1. Intro\n= 2024 in review",
    "#none = A\n= B",
    "<x> = A\n= B",
    "_a\n= B\n_",
    "//= x\n= A//b\n= C",
    "#let a = `= x`\n= A",
    "#let a = $\n= x\n$\n= A",
    "#{} = x\n= A",
    "#[a]= x\n= A",
    "= x #h(1em) y",
    "= α β 漢字",
    "text /* unclosed\n= B",
    "#let z = if true { 1 } else { 2 }\n= A",
    "#let f(body) = body\n#f[= A <l>]",
    "#figure(caption: [= c])[x]\n= A",
    "#!/usr/bin/env typst\n= A",
    "= A\r\ntext\r\n= B\r\n",
    "a\u2028= B\n= C\x0b= D",
]


def _plain(content: Any) -> str:
    """The text of a content tree as `typst.query` gives it."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(map(_plain, content))
    match content["func"]:
        case "space" | "linebreak" | "h":
            return " "
        case "smartquote":
            return '"' if content.get("double", True) else "'"
        case "footnote":
            return ""
    inner = content.get("text") or content.get("children") or content.get("body") or ""
    return _plain(inner)


def _as_typst_has_it(folder: Path, text: str) -> list[tuple[int, str, str | None]]:
    (folder / "main.typ").write_bytes(text.encode())
    found = typst.query(str(folder / "main.typ"), "heading", root=str(folder), ignore_system_fonts=True)
    return [
        (one["level"], " ".join(_plain(one["body"]).split()), one.get("label", "").strip("<>") or None)
        for one in json.loads(found)
    ]


@pytest.mark.parametrize("text", AS_TYPST)
def test_the_same_headings_as_typst_itself_finds(tmp_path: Path, text: str) -> None:
    assert [(level, title, label) for level, title, _, label in headings(text)] == _as_typst_has_it(tmp_path, text)


_BLOCKS = st.sampled_from(
    [
        "= A",
        "== B <{n}>",
        "text // = c",
        "/* = x\n= y */",
        "`= raw`",
        "```\n= raw\n```",
        "$ x\n= y $",
        "#let a{n} = 1",
        "#[\n= In\n]",
        "#if true [\n= If\n] else [\nx\n]",
        '#text("= s")',
        "- item\n- = L",
        "see https://a.b/c//d",
        "\\= e",
        "#box[= Box] t",
        'don\'t "quote"',
        "#set text(fill: red)",
        "#{\n  let y = 2\n}",
        "a [b = c] d",
    ]
)


@settings(max_examples=25, deadline=None)
@given(st.lists(_BLOCKS, max_size=12), st.sampled_from(["\n", "\n\n", "\r\n"]))
def test_any_mixture_has_the_headings_that_typst_finds(
    tmp_path_factory: pytest.TempPathFactory, blocks: list[str], between: str
) -> None:
    text = between.join(block.replace("{n}", f"l{number}") for number, block in enumerate(blocks))
    expected = _as_typst_has_it(tmp_path_factory.mktemp("oracle"), text)
    assert [(level, title, label) for level, title, _, label in headings(text)] == expected


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet=st.sampled_from(list('= \n\r[](){}$#`"/*\\<>ax1.;:_~hu')) | st.characters(), max_size=120))
def test_it_never_fails_and_every_line_is_one_of_the_text(text: str) -> None:
    lines = len(text.splitlines()) + 1
    assert all(1 <= found.line <= lines for found in scan(text))


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "#let f(x) = ",
                "#if ",
                " else ",
                "#context ",
                "#heading(",
                "level: 2",
                'include "a.typ"',
                "set heading(offset: 1)",
                "#{",
                "}",
                "[",
                "]",
                "(",
                ")",
                "$",
                "`",
                "```",
                "/*",
                "*/",
                "//",
                "\n",
                "\n\n",
                "= T",
                '"',
                "\\u{",
                "<l>",
                "https://",
                ";",
                "#set ",
                "- ",
                "/ t: ",
            ]
        ),
        max_size=40,
    )
)
def test_it_never_fails_on_pieces_of_typst(pieces: list[str]) -> None:
    scan("".join(pieces))


@pytest.mark.parametrize(
    "broken",
    [
        "#let x = (\n\n= Next",
        "$ open\n\n= Next",
        "#foo(a,\n  b\n\n= Next",
        "#{ let a = [x\n\n= Next",
        "`open\n= Next",
        '#text("open)\n\n= Next',
        "#f[\n= Next",
        "a ] b ) c }\n= Next",
        "#(\n]\n\n= Next",
    ],
)
def test_what_is_not_closed_does_not_hide_the_rest(broken: str) -> None:
    assert titles(broken) == ["Next"]


@pytest.mark.parametrize(
    "flood", ["[", "#{", "#(", "$", "`", '"', "= ", "/*", "\\u{", "= #a[", "#if ", "<a", "- ", "}", "= \\u{"]
)
def test_a_flood_of_one_sign_ends(flood: str) -> None:
    scan(flood * 20_000)


def test_an_include_of_a_written_name_is_followed_wherever_it_stands() -> None:
    text = '#include "a.typ"\n#{\n  include "b\\"c.typ"\n}\n#if true { include "d.typ" }\n'
    assert scan(text) == [Include("a.typ", 1, 0), Include('b"c.typ', 3, 0), Include("d.typ", 5, 0)]


@pytest.mark.parametrize(
    "text",
    [
        '// #include "a.typ"',
        '`#include "a.typ"`',
        "#include name",
        '"include \\"a.typ\\""',
        '#let f() = include "a.typ"',
        'include "a.typ"',
    ],
)
def test_what_only_looks_like_an_include_is_none(text: str) -> None:
    assert scan(text) == []


def test_an_include_knows_how_much_deeper_its_headings_are() -> None:
    text = '#{\n  set heading(offset: 1)\n  include "a.typ"\n}\n#include "b.typ"'
    assert [(one.name, one.offset) for one in scan(text) if isinstance(one, Include)] == [("a.typ", 1), ("b.typ", 0)]


def test_both_branches_of_a_condition_are_listed() -> None:
    assert titles("#if draft [\n= Draft\n] else [\n= Final\n]") == ["Draft", "Final"]
