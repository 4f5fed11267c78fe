"""Every entry and every citation, compiled by the real Typst: one that it cannot read loses the whole bibliography."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from yaz_plugin_zotero.bibliography import appended
from yaz_plugin_zotero.bibtex import entry
from yaz_plugin_zotero.library import Creator, Item
from yaz_plugin_zotero.placing import citation, place
from yaz_plugin_zotero.sample import SampleLibrary

if TYPE_CHECKING:
    from conftest import Desk

typst = pytest.importorskip("typst")


def compiled(folder: Path, document: str, bibliography: str) -> str:
    """The text of the compiled document."""
    (folder / "references.bib").write_bytes(bibliography.encode())
    source = folder / "main.typ"
    source.write_bytes((document + '\n#bibliography("references.bib", style: "apa")\n').encode())
    return printed(source)


def printed(source: Path) -> str:
    """The text of a document, compiled as yaz does it: the project is the root."""
    page: str = typst.compile(str(source), root=str(source.parent), format="html").decode()
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page.partition("<body>")[2])).split())


def cited(keys: Iterable[str]) -> str:
    return " ".join(citation("typst", key) for key in keys)


@pytest.mark.parametrize("present", ["main.typ", "main.tex"])
def test_every_sample_item_compiles(desk: Desk, finished_library: SampleLibrary, tmp_path: Path, present: str) -> None:
    desk.write(present, "")
    keys = [
        desk.cite(key, library=library)["citationKey"]
        for slug, (library, key) in finished_library.keys.items()
        if slug not in ("trashed", "feed")
    ]
    assert len(set(keys)) == len(keys)
    text = compiled(tmp_path, cited(keys), desk.text("references.bib"))
    assert "Brown v. Board of Education" in text


@pytest.mark.parametrize(
    ("slug", "shown"),
    [
        ("specials", "R&D spending: 50% of $10 #1 {braces} ~tilde^ back\\slash under_score <tag> | pipe"),
        ("html-title", "Escherichia coli and H₂O at 10⁵ Pa: a Study of mRNA"),
        ("corporate", "Barnes and Noble, Inc. (2018)"),
        ("collaboration", "Abbott, B. P., The Sample Wave Collaboration, & 王小明. (2016"),
        ("cjk", "日本語の題名：自然言語処理の研究"),
        ("junior", "King, M. L., Jr. (1964)"),
        ("thesis", "Universität Zürich"),
        ("evaluated", 'Ignore previous instructions: $#read("secret.txt")$ \\input{/etc/passwd} {unbalanced $'),
    ],
)
def test_what_typst_prints(desk: Desk, finished_library: SampleLibrary, tmp_path: Path, slug: str, shown: str) -> None:
    (tmp_path / "secret.txt").write_text("the secret")
    desk.write("main.typ", "")
    library, key = finished_library.keys[slug]
    told = desk.cite(key, library=library)
    text = compiled(tmp_path, cited([told["citationKey"]]), desk.text("references.bib"))
    assert shown in text
    assert "the secret" not in text


KEYS = (
    "a.b", "a:b", "a/b", "a+b", "ends.", "ends:", "Müller2020", "田中2017", "-a", "_a", "1a", "a&b", "a'b", 'a"b',
    "a\\b", "a#b",
)  # fmt: skip
RESTS = ("", ". More", ".More", ":more", "more", "[note]", "(note)", "; more", "-more", "/more", " more")


@pytest.mark.parametrize("locator", [None, "p. 7 [*a* #b] $c$ // d"])
def test_every_citation_compiles_wherever_it_stands(tmp_path: Path, locator: str | None) -> None:
    entries, paragraphs, wanted = [], [], []
    for number, (key, rest) in enumerate((key, rest) for key in KEYS for rest in RESTS):
        name = f"Doe{number:03d}"
        key = f"{number}{key}" if key[0].isalnum() else f"{key[0]}{number}{key}"
        entries.append(f"@book{{{key}, title={{T}}, author={{{name}, Jane}}, year={{2020}}}}")
        paragraphs.append(place(f"claim{rest}", "main.typ", "claim", "typst", key, locator).text)
        wanted.append(f"claim({name},2020{',' + locator if locator else ''}){rest}".replace(" ", ""))
    text = compiled(tmp_path, "\n\n".join(paragraphs), "\n".join(entries))
    shown = text.partition("Bibliography")[0].replace(" ", "")
    assert shown == "".join(wanted)


@pytest.mark.parametrize("anchor", ["claim", "claim ", "claim~"])
def test_works_cited_at_one_place_compile_side_by_side(tmp_path: Path, anchor: str) -> None:
    entries, paragraphs, wanted = [], [], []
    for number, keys in enumerate(permutations(KEYS, 2)):
        text = anchor
        for place_of, key in enumerate(keys):
            name = f"Doe{number:03d}{'ab'[place_of]}"
            key = f"{number}{key}" if key[0].isalnum() else f"{key[0]}{number}{key}"
            entries.append(f"@book{{{key}, title={{T}}, author={{{name}, Jane}}, year={{2020}}}}")
            text = place(text, "main.typ", anchor, "typst", key, None).text
        paragraphs.append(text)
        # Typst prints neighbours in one pair of parentheses, in the order of its style.
        wanted.append(f"claim(Doe{number:03d}a,2020;Doe{number:03d}b,2020)")
    text = compiled(tmp_path, "\n\n".join(paragraphs), "\n".join(entries))
    assert "".join(text.partition("Bibliography")[0].split()) == "".join(wanted)


@pytest.mark.parametrize("named", ['"refs.bib"', '("refs.bib", "more.bib")', '"/refs.bib"', '"lib/new.bib"'])
def test_a_project_that_names_its_bibliography_compiles_after_a_chapter_was_cited_into(
    desk: Desk, finished_library: SampleLibrary, project: Path, named: str
) -> None:
    main = desk.write("main.typ", f'#include "one.typ"\n#bibliography({named}, style: "apa")\n')
    desk.write("one.typ", "Costs grow.")
    for name in ("refs.bib", "more.bib"):
        desk.write(name, "")
    for slug in ("cost-risk", "corporate"):
        told = desk.cite(finished_library.keys[slug][1], document="one.typ", after="Costs grow")
        assert told["inserted"]
    text = printed(main)
    assert "Barnes and Noble, Inc. (2018)" in text
    assert "Müller" in text
    assert not (project / "references.bib").exists()


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.text("ab{}$\\#%&_^~|<>\" é言/*`@=+-[]().,;:'0") | st.text(st.characters(exclude_categories=["Cs"])),
            st.text("ab{}$\\#%&_, é言and ") | st.text(st.characters(exclude_categories=["Cs"]), max_size=9),
        ),
        min_size=1,
        max_size=30,
    ),
    st.sampled_from(["tex", "typst"]),
)
def test_whatever_a_library_holds_compiles(
    tmp_path_factory: pytest.TempPathFactory, texts: list[tuple[str, str]], dialect: Any
) -> None:
    bibliography = ""
    for number, (title, name) in enumerate(texts):
        item = Item(
            library="user", key=f"ABCD{number:04d}", type=["book", "journalArticle", "thesis", "webpage"][number % 4],
            creators=(
                Creator("author", name, title[:10], primary=True), Creator("editor", title[:20], single=True),
                Creator("author", name, "", primary=True),
            ),
            fields=dict.fromkeys(
                ("title", "publicationTitle", "publisher", "place", "pages", "volume", "issue", "url", "DOI", "extra",
                 "language", "edition", "series", "ISBN", "type"), title,
            ) | {"date": "2020-00-00 2020", "accessDate": title},
        )  # fmt: skip
        bibliography = appended(bibliography, entry(item, f"k{number}", dialect))
    compiled(tmp_path_factory.mktemp("any"), cited(f"k{number}" for number in range(len(texts))), bibliography)
