from __future__ import annotations

import sqlite3
from typing import Any

import pytest

from yaz_plugin_zotero.bibtex import entry, entry_type, names
from yaz_plugin_zotero.library import Creator, Item, libraries, read_items, stamps
from yaz_plugin_zotero.sample import SampleLibrary


@pytest.fixture(scope="session")
def sample(finished_library: SampleLibrary) -> dict[str, Item]:
    database = sqlite3.connect(f"file:{finished_library.path}?immutable=1", uri=True)
    known = libraries(database)
    found = {(item.library, item.key): item for item in read_items(database, list(stamps(database, known)), known)}
    database.close()
    return {slug: found[identity] for slug, identity in finished_library.keys.items() if identity in found}


def lines(item: Item, dialect: Any = "tex") -> list[str]:
    """The entry's lines, without the address."""
    return [line for line in entry(item, "k", dialect).splitlines() if not line.startswith("\tzotero = ")]


@pytest.mark.parametrize(
    ("slug", "wanted"),
    [
        (
            "specials",
            [
                "@article{k,",
                (
                    "\ttitle = {R\\&{D} spending: 50\\% of \\$10 \\#1 \\{braces\\} "
                    "{\\textasciitilde}tilde{\\textasciicircum} "
                    "back{\\textbackslash}slash under\\_score {\\textless}tag{\\textgreater} {\\textbar} pipe},"
                ),
                "\tauthor = {Smith \\& Co, J\\_1},",
                "\tjournal = {Journal of Sample Studies},",
                "\tvolume = {12},",
                "\tnumber = {3},",
                "\tpages = {100--110},",
                "\tdoi = {10.1000/a_b%20c&d},",
                "\turl = {https://example.org/a_b?x=1&y=%20#f~g},",
                "\tyear = {2020},",
                "\tmonth = may,",
                "}",
            ],
        ),
        (
            "court",
            [
                "@misc{k,", "\ttitle = {Brown v. {Board} of {Education}},", "\tvolume = {347},", "\tpages = {483},",
                "\tyear = {1954},", "\tmonth = may,", "}",
            ],
        ),
        (
            "corporate",
            [
                "@techreport{k,", "\ttitle = {Annual report},", "\tauthor = {{Barnes and Noble, Inc.}},",
                "\tnumber = {TR-1},", "\tinstitution = {B\\&N},", "\tyear = {2018},", "}",
            ],
        ),
        (
            "film",
            [
                "@misc{k,", "\ttitle = {羅生門 ({Rashōmon})},", "\tauthor = {Kurosawa, Akira},",
                "\tcollaborator = {Hashimoto, Shinobu},", "\tyear = {1950},", "}",
            ],
        ),
        (
            "particles",
            [
                "@book{k,", "\ttitle = {Particles in names},",
                "\tauthor = {van der Berg, Jan and de la Cruz, María José and Beethoven, Ludwig van},",
                "\tpublisher = {Springer},", "\taddress = {Berlin},", "\tyear = {1999},", "}",
            ],
        ),
        (
            "key-in-extra",
            [
                "@article{k,", "\ttitle = {Pinned key in {Extra}},", "\tauthor = {Pinned, Paula},",
                "\tjournal = {Journal of Sample Studies},", "\tvolume = {12},", "\tnumber = {3},",
                "\tpages = {100--110},",
                "\tnote = {Read this twice.},", "\tyear = {2014},", "}",
            ],
        ),
        ("one-name", ["@book{k,", "\ttitle = {Republic},", "\tauthor = {Plato},", "}"]),
        ("empty", ["@misc{k,", "}"]),
        (
            "chapter",
            [
                "@incollection{k,", "\ttitle = {A chapter},", "\tauthor = {Chapter, Charlotte},",
                "\teditor = {Editor, Ed},",
                "\tcollaborator = {Book, Bea},", "\tbooktitle = {The {Book}: \\& {Its} {Parts}},",
                "\tpages = {1--20, 25},",
                "\tpublisher = {O’Reilly \\& Associates},", "\taddress = {Sebastopol, CA},",
                "\tisbn = {978-0-596-00027-1},",
                "\tyear = {2011},", "}",
            ],
        ),
        (
            "mathematics",
            [
                "@misc{k,",
                "\ttitle = {On {$L^2$}-bounds for {$\\alpha<\\beta$} and {\\textbackslash}emph\\{emphasis\\}},",
                "\tauthor = {Nguyễn, Thị Hương},", "\tpublisher = {arXiv},", "\teprint = {2103.01234},",
                "\tarchiveprefix = {arXiv},", "\tdoi = {10.48550/arXiv.2103.01234},",
                "\turl = {https://arxiv.org/abs/2103.01234},", "\turldate = {2024-01-02},", "\tyear = {2021},",
                "\tmonth = mar,", "}",
            ],
        ),
        (
            "collaboration",
            [
                "@article{k,", "\ttitle = {Observation of small waves},",
                "\tauthor = {Abbott, B. P. and {The Sample Wave Collaboration} and 王, 小明},",
                "\tjournal = {Journal of Sample Studies},", "\tvolume = {12},", "\tnumber = {3},",
                "\tpages = {100--110},",
                "\tyear = {2016},", "\tmonth = feb,", "}",
            ],
        ),
    ],
)  # fmt: skip
def test_entries_are_as_zotero_exports_them(sample: dict[str, Item], slug: str, wanted: list[str]) -> None:
    assert lines(sample[slug]) == wanted


def test_the_address_finds_the_entry_again(sample: dict[str, Item]) -> None:
    item = sample["group"]
    assert f"\n\tzotero = {{zotero://select/groups/2468/items/{item.key}}},\n}}" in entry(item, "k", "tex")


def test_typst_gets_a_publisher_because_it_prints_no_school(sample: dict[str, Item]) -> None:
    assert "\tschool = {Universität Zürich}," in lines(sample["thesis"], "typst")
    assert "\tpublisher = {Universität Zürich}," in lines(sample["thesis"], "typst")
    assert "\tpublisher = {Universität Zürich}," not in lines(sample["thesis"], "tex")


@pytest.mark.parametrize(
    ("kind", "told", "wanted"),
    [
        ("journalArticle", "", "article"),
        ("thesis", "PhD thesis", "phdthesis"),
        ("thesis", "Master's thesis", "mastersthesis"),
        ("thesis", "M.Sc.", "mastersthesis"),
        ("thesis", "Diplomarbeit", "mastersthesis"),
        ("thesis", "Dissertation in Samples", "phdthesis"),
        ("conferencePaper", "", "inproceedings"),
        ("manuscript", "", "unpublished"),
        ("podcast", "", "misc"),
    ],
)
def test_item_types_have_bibtex_types(kind: str, told: str, wanted: str) -> None:
    assert entry_type(Item(library="user", key="ABCD2345", type=kind, fields={"type": told})) == wanted


@pytest.mark.parametrize(
    ("creator", "written"),
    [
        (Creator("author", "King", "Martin Luther, Jr."), "King, Jr., Martin Luther"),
        (Creator("author", "Clinton", "William, III"), "Clinton, III, William"),
        (Creator("author", "Doe and Co", "J"), "{Doe and Co}, J"),
        (Creator("author", "A, B", "C"), "{A, B}, C"),
        (Creator("author", "Anderson", "Sandy"), "Anderson, Sandy"),
        (Creator("author", "Plato"), "Plato"),
        (Creator("author", "", "Madonna"), "Madonna"),
        (Creator("author", "Jane Doe"), "{Jane Doe}"),
        (Creator("author", "others"), "{others}"),
        (Creator("author", "IPCC", single=True), "{IPCC}"),
        (Creator("author", "Food {and} Co.", single=True), r"{Food \{and\} Co.}"),
        (Creator("author", "Line\nBreak", "A\tB"), "Line Break, A B"),
    ],
)
def test_names_are_never_divided_where_they_are_one(creator: Creator, written: str) -> None:
    assert names([creator]) == written


@pytest.mark.parametrize(
    ("pages", "written"),
    [
        ("100–110", "100--110"), ("1-20, 25", "1--20, 25"), ("1 — 2", "1--2"), ("e123", "e123"), ("xii-xv", "xii--xv"),
        ("12", "12"), ("100--110", "100--110"),
    ],
)  # fmt: skip
def test_page_ranges_have_two_hyphens(pages: str, written: str) -> None:
    item = Item(library="user", key="ABCD2345", type="journalArticle", fields={"pages": pages})
    assert f"\tpages = {{{written}}}," in lines(item)


@pytest.mark.parametrize(
    ("given", "written"),
    [
        ("https://doi.org/10.5555/twin.1", "10.5555/twin.1"), ("http://dx.doi.org/10.5555/A_b", "10.5555/A_b"),
        ("doi: 10.5555/x", "10.5555/x"), ("10.5555/x", "10.5555/x"),
    ],
)  # fmt: skip
def test_a_doi_is_written_without_its_resolver(given: str, written: str) -> None:
    item = Item(library="user", key="ABCD2345", type="journalArticle", fields={"DOI": given})
    assert f"\tdoi = {{{written}}}," in lines(item)
