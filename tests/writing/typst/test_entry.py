"""Where a Typst project begins."""

from __future__ import annotations

import pytest

from yazcore.writing.plugins.typst.entry import find_entry


def unread(name: str) -> str | None:
    raise AssertionError(f"{name} need not be read")


@pytest.mark.parametrize(
    ("names", "entry"),
    [
        (["a.typ", "main.typ"], "main.typ"),
        (["thesis.typ", "main.typ"], "main.typ"),
        (["template.typ", "Thesis.typ"], "Thesis.typ"),
        (["only.typ", "refs.bib"], "only.typ"),
        (["sub/main.typ", "top.typ"], "top.typ"),
        (["src/main.typ", "src/lib.typ"], "src/main.typ"),
        (["refs.bib"], None),
        ([], None),
    ],
)
def test_names_that_decide(names: list[str], entry: str | None) -> None:
    assert find_entry(names, unread) == entry


def found(files: dict[str, str]) -> str | None:
    return find_entry(list(files), files.get)


def test_the_document_that_draws_the_others_together() -> None:
    assert found({"a.typ": "= A", "z.typ": '#include "a.typ"\n#import "b.typ": x', "b.typ": "#let x = 1"}) == "z.typ"


def test_a_document_that_another_includes_is_no_entry() -> None:
    part = '#include "x/1.typ"\n#include "x/2.typ"'
    files = {"all.typ": '#include "part.typ"', "part.typ": part, "x/1.typ": "", "x/2.typ": ""}
    assert found(files) == "all.typ"


def test_equals_are_decided_by_name() -> None:
    assert found({"b.typ": "", "a.typ": ""}) == "a.typ"


def test_documents_that_include_each_other_still_have_an_entry() -> None:
    assert found({"a.typ": '#include "b.typ"', "b.typ": '#include "a.typ"'}) == "a.typ"


def test_what_cannot_be_read_counts_as_empty() -> None:
    assert find_entry(["a.typ", "b.typ"], lambda name: None) == "a.typ"
