"""What a document says of its bibliography; no file is touched here."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yaz_plugin_zotero.naming import Named, in_project, line_for, named


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ('= A\n#bibliography("refs.bib")', ["refs.bib"]),
        ('#bibliography(("a.bib", "b/c.bib"), style: "apa")', ["a.bib", "b/c.bib"]),
        ('#bibliography(style: "mine.bib", title: [See "x.bib"], "refs.bib")', ["refs.bib"]),
        ('#bibliography(\n  title: none, // "x.bib"\n  "refs.bib", /* "y.bib" */\n)', ["refs.bib"]),
        ('#bibliography(read("refs.bib", encoding: none))', ["refs.bib"]),
        ('#show: article.with(bibliography: bibliography("refs.bib"))', ["refs.bib"]),
        ('#std.bibliography("/refs.bib")', ["/refs.bib"]),
        ('#bibliography("a.bib")\n#bibliography("b.bib")', ["a.bib", "b.bib"]),
        ('// #bibliography("x.bib")\n#bibliography("refs.bib")', ["refs.bib"]),
        ('See https://example.org/a #bibliography("refs.bib")', ["refs.bib"]),
        ('#link("https://example.org")[x]#bibliography("refs.bib")', ["refs.bib"]),
        ('/* #bibliography("x.bib") */ `#bibliography("y.bib")` ```typ #bibliography("z.bib")```', []),
        ('/* never closed #bibliography("x.bib")', []),
        ('#set bibliography(style: "apa")\n#set  bibliography(title: [x])', []),
        ("The bibliography (annotated) is long.", []),
        ('#my-bibliography("x.bib")', []),
    ],
)
def test_typst_names_its_files_in_a_call(text: str, paths: list[str]) -> None:
    assert named(text, "typst") == Named(tuple(paths))


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        (r"\bibliography{refs}", ["refs.bib"]),
        (r"\bibliography{a, b/c.bib}", ["a.bib", "b/c.bib"]),
        ("\\addbibresource{refs.bib}\n\\addbibresource[datatype=bibtex]{b.bib}", ["refs.bib", "b.bib"]),
        ("% \\bibliography{x}\n50\\% \\bibliography{refs} % \\bibliography{y}", ["refs.bib"]),
        ("text\\\\% \\bibliography{x}", []),
        (r"\bibliographystyle{plain}", []),
        (r"\printbibliography", []),
        (r"\addbibresource[location=remote]{https://example.org/x.bib}", ["https://example.org/x.bib"]),
    ],
)
def test_latex_names_its_files_in_commands(text: str, paths: list[str]) -> None:
    assert named(text, "latex") == Named(tuple(paths))


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("---\nbibliography: refs.bib\n---\nText", ["refs.bib"]),
        ("\ufeff---\r\ntitle: T\r\nbibliography: refs.bib\r\n---\r\nText", ["refs.bib"]),
        ("---\nbibliography: \"my refs.bib\" # mine\n...\n", ["my refs.bib"]),
        ("---\nbibliography: 'refs.bib'\n---", ["refs.bib"]),
        ("---\nbibliography: [a.bib, \"b.bib\"]\n---\n", ["a.bib", "b.bib"]),
        ("---\nbibliography:\n  - a.bib\n- 'b.bib'  # old\ntitle: T\n---\n", ["a.bib", "b.bib"]),
        ("---\nbibliography: refs.bib  # mine\n---\n", ["refs.bib"]),
        ("---\n# bibliography: x.bib\ntitle: T\n---\n", []),
        ("---\nextra:\n  bibliography: x.bib\n---\n", []),
        ("---\ntitle: T\n---\nbibliography: x.bib\n", []),
        ("Text\n\nbibliography: x.bib\n", []),
        ("---\nbibliography: x.bib\nnever closed", []),
        ("", []),
    ],
)
def test_markdown_names_its_files_in_the_front_matter(text: str, paths: list[str]) -> None:
    assert named(text, "markdown") == Named(tuple(paths))


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("#bibliography(sources)", "typst"), ("#bibliography(", "typst"), (r"\bibliography\files", "latex"),
        (r"\addbibresource{}", "latex"), ("---\nbibliography:\n---\n", "markdown"),
        ("---\nbibliography: '\n---\n", "markdown"),
    ],
)  # fmt: skip
def test_a_bibliography_without_a_plain_name_is_unclear(text: str, form: Any) -> None:
    assert named(text, form) == Named(unclear=True)


@pytest.mark.parametrize(
    ("path", "document", "typst", "others"),
    [
        ("refs.bib", "main.typ", "refs.bib", "refs.bib"),
        ("./a/../refs.BIB", "main.typ", "refs.BIB", "refs.BIB"),
        ("refs.bib", "chapters/one.typ", "chapters/refs.bib", "chapters/refs.bib"),
        ("../my refs.bib", "chapters/one.typ", "my refs.bib", "my refs.bib"),
        ("/refs.bib", "chapters/one.typ", "refs.bib", None),
        ("/../refs.bib", "chapters/one.typ", None, None),
        ("../refs.bib", "main.typ", None, None),
        ("../../refs.bib", "chapters/one.typ", None, None),
        ("a/../../../refs.bib", "chapters/one.typ", None, None),
        ("~/refs.bib", "main.typ", None, None),
        ("C:/refs.bib", "main.typ", None, None),
        ("https://example.org/refs.bib", "main.typ", None, None),
        (".git/refs.bib", "main.typ", None, None),
        ("a/.hidden.bib", "main.typ", None, None),
        ("refs.yml", "main.typ", None, None),
        ("", "main.typ", None, None),
        (r"\jobname.bib", "main.typ", None, None),
        ("a\\b.bib", "main.typ", None, None),
        ("a\nb.bib", "main.typ", None, None),
        ("*.bib", "main.typ", None, None),
        ("a" * 400 + ".bib", "main.typ", None, None),
        ("refs.bib", "a" * 396 + "/main.typ", None, None),
    ],
)
def test_only_a_plain_bib_of_the_project_can_be_used(
    path: str, document: str, typst: str | None, others: str | None
) -> None:
    assert in_project(path, document, "typst") == typst
    assert in_project(path, document, "latex") == in_project(path, document, "markdown") == others


@pytest.mark.parametrize(
    ("form", "wanted"),
    [
        ("typst", '#bibliography("../references.bib")'),
        ("latex", r"\bibliography{references}"),
        ("markdown", "bibliography: ../references.bib (in the front matter)"),
    ],
)
def test_each_format_has_its_own_line(form: Any, wanted: str) -> None:
    assert line_for("references.bib", "chapters/one", form) == wanted


@given(st.text(st.sampled_from("ab./\\~:\n *") | st.characters()), st.sampled_from(["typst", "latex", "markdown"]))
def test_whatever_is_named_stays_in_the_project(path: str, form: Any) -> None:
    found = in_project(path + ".bib", "a/b.typ", form)
    assert found is None or not (found.startswith(("/", "~", ".")) or ".." in found.split("/"))


PIECES = [
    "bibliography(", "\\bibliography", "\\addbibresource[", "bibliography:", "---\n", '"', "a.bib", "(", ")", "[", "]",
    "{", "}", ",", " ", "\n", "- ", "//", "/*", "*/", "`", "```", "\\", "%", "'", "#",
]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES)).map("".join), st.sampled_from(["typst", "latex", "markdown"]))
def test_any_text_can_be_read(text: str, form: Any) -> None:
    found = named(text, form)
    assert not (found.paths and found.unclear)


@pytest.mark.parametrize("form", ["typst", "latex", "markdown"])
@pytest.mark.parametrize("piece", [*PIECES, "---\nbibliography: a", "`` ", "bibliography: [", "\\addbibresource[a]{"])
def test_very_many_signs_are_no_trouble(piece: str, form: Any) -> None:
    named(piece * 50_000, form)
    named("---\n" + piece * 50_000 + "\n---\n", form)
