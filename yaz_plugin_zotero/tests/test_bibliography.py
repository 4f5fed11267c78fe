from __future__ import annotations

from typing import Any

import pytest
from bibtexparser.model import Entry as Block
from bibtexparser.splitter import Splitter
from hypothesis import given
from hypothesis import strategies as st
from yazcore import ToolError

from yaz_plugin_zotero.bibliography import appended, ensure, find, read
from yaz_plugin_zotero.keys import Key
from yaz_plugin_zotero.library import Creator, Item

TYPED = """% My own notes: mail me@example.org
@comment{jabref-meta: databaseType:bibtex;}
@string{jss = "Journal of {Sample} Studies"}
@preamble{"\\newcommand{\\x}{y}"}

@ARTICLE {  Doe2001 ,
  title= "An {@book{inside, a}} title" , journal = jss # " B",
    year =2001 }
Text between entries, with an @ sign, stays.


@book{kept, title={B}}   trailing text
"""


def item(title: str = "Cost & risk", last: str = "Müller", library: str = "user", **fields: Any) -> Item:
    return Item(
        library=library,
        key="ABCD2345",
        type="journalArticle",
        fields={"title": title, "date": "2024-00-00 2024", **fields},
        creators=(Creator("author", last, "Anna", primary=True),),
    )


def added(text: str, one: Item | None = None) -> str:
    found = ensure(text, one or item(), "tex", "references.bib")
    assert found.added
    return found.text


def test_what_stands_there_stays_byte_for_byte_and_the_entry_follows() -> None:
    text = added(TYPED)
    assert text.startswith(TYPED + "\n@article{mueller2024cost,\n")
    assert [one.key for one in read(text).entries] == ["Doe2001", "kept", "mueller2024cost"]


def test_a_second_time_adds_nothing() -> None:
    text = added(TYPED)
    again = ensure(text, item(), "tex", "references.bib")
    assert again.text == text
    assert again.key == Key("mueller2024cost", "bibliography")
    assert not again.added


def test_a_renamed_entry_is_found_by_its_address() -> None:
    text = added("").replace("mueller2024cost", "my:own-key")
    assert ensure(text, item(title="Changed since", last="Other"), "tex", "references.bib").key.text == "my:own-key"


@pytest.mark.parametrize(
    "address",
    [
        "zotero://select/library/items/ABCD2345", "zotero://select/items/ABCD2345", "zotero://select/items/0_ABCD2345",
        "zotero://select/items/1_ABCD2345",
    ],
)  # fmt: skip
def test_older_forms_of_the_address_are_known(address: str) -> None:
    text = f"@misc{{theirs, note = {{{address}}}}}\n"
    assert ensure(text, item(), "tex", "references.bib").key.text == "theirs"


@pytest.mark.parametrize(
    "address",
    [
        "zotero://select/groups/1/items/ABCD2345",
        "zotero://select/library/items/ABCD23456",
        "zotero://select/items/5_ABCD2345",
    ],
)
def test_another_items_address_is_not_the_items(address: str) -> None:
    text = f"@misc{{theirs, note = {{{address}}}}}\n"
    assert ensure(text, item(), "tex", "references.bib").added


def test_items_of_a_group_are_others_than_those_of_ones_own_library() -> None:
    text = added(added(""), item(library="group-2468"))
    assert [one.key for one in read(text).entries] == ["mueller2024cost", "mueller2024costa"]


@pytest.mark.parametrize(
    "entry",
    [
        "@article{theirs, title = {Cost {\\&} {Risk}}, doi = {https://doi.org/10.5555/X}}",
        '@article{theirs, title = "Cost \\& risk", doi = "10.5555/x"}',
        "@article{mine2024, title = {{Cost \\& risk}}}",
    ],
)
def test_the_same_work_typed_by_the_author_keeps_its_key(entry: str) -> None:
    one = item(DOI="10.5555/x", citationKey="mine2024")
    found = ensure(entry + "\n", one, "tex", "references.bib")
    assert not found.added
    assert found.key.origin == "bibliography"


@pytest.mark.parametrize(
    "entry",
    [
        "@article{theirs, title = {Cost and risk}, doi = {10.5555/x}}",
        "@article{theirs, title = {Cost \\& risk}, doi = {10.5555/other}}",
        "@article{mine2024, title = {Something else}}",
        "@article{mine2024, title = {Cost \\& risk}, note = {zotero://select/library/items/ZZZZ2345}}",
    ],
)
def test_another_work_is_not_taken_for_the_item(entry: str) -> None:
    found = ensure(entry + "\n", item(DOI="10.5555/x", citationKey="mine2024"), "tex", "references.bib")
    assert found.added
    assert len({one.key for one in read(found.text).entries}) == 2


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("", "@article"),
        ("@misc{a, title={x}}", "@misc{a, title={x}}\n\n@article"),
        ("@misc{a, title={x}}\n", "@misc{a, title={x}}\n\n@article"),
        ("@misc{a, title={x}}\n\n", "@misc{a, title={x}}\n\n@article"),
        ("@misc{a, title={x}}\r\n", "@misc{a, title={x}}\r\n\r\n@article"),
        ("\ufeff@misc{a, title={x}}\n", "\ufeff@misc{a, title={x}}\n\n@article"),
        ("\ufeff", "\ufeff@article"),
        ("% comment only", "% comment only\n\n@article"),
    ],
)
def test_an_entry_follows_after_one_blank_line(text: str, start: str) -> None:
    assert added(text).startswith(start)


def test_the_line_ends_of_the_file_are_kept() -> None:
    text = added("@misc{a, title={x}}\r\n")
    assert "\n" not in text.replace("\r\n", "")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("@misc{a, title={x}}\n@misc{b, title={open\n", 2),
        ('@misc{a, title={x}}\n\n@misc{b, title="open\n}\n', 3),
        ("@misc{b, title={open\n}\n\n@misc{a, title={x}}\n", 1),
        ("@misc{b", 1),
        ("@comment{open\n", 1),
    ],
)
def test_a_file_with_an_entry_that_is_not_closed_is_refused(text: str, line: int) -> None:
    with pytest.raises(ToolError) as refused:
        ensure(text, item(), "tex", "references.bib")
    assert str(refused.value) == (
        f"references.bib has an entry that is not closed (line {line}), so that nothing can be added after it. "
        f"Close its "
        "braces or quotes, then cite again."
    )


def test_an_entry_that_cannot_be_read_is_reported_and_left() -> None:
    text = "@misc{b, title=}\n\n@misc{a, title={x}}\n@misc{c title={x}}\n@misc{d, title={x}}\n"
    found = ensure(text, item(), "tex", "references.bib")
    assert found.text.startswith(text)
    assert found.broken == (4,)


def test_a_key_in_use_twice_is_taken_both_times() -> None:
    text = "@misc{mueller2024cost, title={x}}\n@misc{mueller2024cost, title={y}}\n"
    assert ensure(text, item(), "tex", "references.bib").key.text == "mueller2024costa"


@given(
    st.text(st.characters(exclude_categories=["Cs"])),
    st.text(max_size=20),
    st.sampled_from(["tex", "typst"]),
    st.booleans(),
)
def test_whatever_the_title_the_entry_is_read_as_one(title: str, last: str, dialect: Any, crlf: bool) -> None:
    text = TYPED.replace("\n", "\r\n") if crlf else TYPED
    found = ensure(
        text, item(title, last, abstractNote=title, url=title, DOI=title, extra=title), dialect, "references.bib"
    )
    assert found.text.startswith(text)
    entries = read(found.text).entries
    assert [one.key for one in entries[:-1]] == ["Doe2001", "kept"]
    assert find(read(found.text), item()) == entries[-1]
    again = ensure(found.text, item(), dialect, "references.bib")
    assert not again.added


@given(st.text("ab@{}\"'=,%# \n\\"))
def test_whatever_the_file_it_is_kept_or_refused(text: str) -> None:
    try:
        found = ensure(text, item(), "tex", "references.bib")
    except ToolError:
        return
    assert found.text.startswith(text)
    assert [one.key for one in read(found.text).entries].count(found.key.text) == 1


def test_the_parser_and_the_file_agree_on_the_value() -> None:
    text = added("", item("50% of {A} $x$", url="https://e.org/a_b?c=%20"))
    block = Splitter(text).split().blocks[0]
    assert isinstance(block, Block)
    assert {field.key: field.value for field in block.fields}["url"] == "{https://e.org/a_b?c=%20}"


def test_appending_to_nothing_begins_with_the_entry() -> None:
    assert appended("", "@misc{a,\n}") == "@misc{a,\n}\n"
