"""The outline through several files."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yazcore.writing.plugins.typst.outline import MOST_NODES, outline, resolve


def shown(entry: str, files: dict[str, str]) -> list[tuple[int, str, str, int]]:
    return [(node["level"], node["title"], node["file"], node["line"]) for node in outline(entry, files)]


def test_included_headings_stand_where_they_are_included_each_with_its_file() -> None:
    files = {
        "main.typ": '= Start\n#include "ch/one.typ"\n= End',
        "ch/one.typ": '\n== One\n#include "two.typ"\n#include "/other.typ"',
        "ch/two.typ": "=== Two",
        "other.typ": "= Other",
    }
    assert shown("main.typ", files) == [
        (1, "Start", "main.typ", 1),
        (2, "One", "ch/one.typ", 2),
        (3, "Two", "ch/two.typ", 1),
        (1, "Other", "other.typ", 1),
        (1, "End", "main.typ", 3),
    ]


def test_an_entry_of_nothing_but_includes_has_an_outline() -> None:
    assert shown("main.typ", {"main.typ": '#include "a.typ"', "a.typ": "= A"}) == [(1, "A", "a.typ", 1)]


def test_an_offset_at_the_include_makes_its_headings_deeper() -> None:
    files = {"main.typ": '#{\n set heading(offset: 1)\n include "a.typ"\n}', "a.typ": "= A"}
    assert shown("main.typ", files) == [(2, "A", "a.typ", 1)]


def test_a_missing_file_is_a_node_and_not_a_silence() -> None:
    (node,) = outline("main.typ", {"main.typ": '\n#include "gone.typ"'})
    assert node == {"title": "gone.typ", "level": 1, "kind": "include", "file": "main.typ", "line": 2}


def test_a_file_included_twice_is_listed_twice() -> None:
    files = {"main.typ": '#include "a.typ"\n#include "a.typ"', "a.typ": "= A"}
    assert len(outline("main.typ", files)) == 2


def test_files_that_include_each_other_end() -> None:
    files = {"main.typ": '= M\n#include "a.typ"', "a.typ": '= A\n#include "main.typ"\n#include "a.typ"'}
    assert shown("main.typ", files) == [(1, "M", "main.typ", 1), (1, "A", "a.typ", 1)]


def test_includes_that_double_at_each_level_end() -> None:
    files = {f"{n}.typ": f'#include "{n + 1}.typ"\n#include "{n + 1}.typ"' for n in range(60)}
    assert outline("0.typ", {**files, "60.typ": ""}) == []


def test_a_chain_of_a_thousand_files_is_followed() -> None:
    files = {f"{n}.typ": f'#include "{n + 1}.typ"' for n in range(1_000)}
    assert shown("0.typ", {**files, "1000.typ": "= Deep"}) == [(1, "Deep", "1000.typ", 1)]


def test_a_huge_outline_stops_one_over_what_is_taken() -> None:
    assert len(outline("main.typ", {"main.typ": "= A\n" * 6_000})) == MOST_NODES


def test_without_the_entry_there_is_nothing() -> None:
    assert outline("main.typ", {}) == []


@pytest.mark.parametrize(
    ("document", "reference", "target"),
    [
        ("main.typ", "a.typ", "a.typ"),
        ("ch/one.typ", "two.typ", "ch/two.typ"),
        ("ch/one.typ", "../figures.typ", "figures.typ"),
        ("ch/one.typ", "/figures.typ", "figures.typ"),
        ("ch/one.typ", "../../x.typ", "../x.typ"),
        ("ch/one.typ", "./a/../b.typ", "ch/b.typ"),
    ],
)
def test_what_a_reference_names(document: str, reference: str, target: str) -> None:
    assert resolve(document, reference) == target


@given(st.dictionaries(st.sampled_from(["main.typ", "a.typ", "b/c.typ"]), st.text(max_size=60)))
def test_it_never_fails(files: dict[str, str]) -> None:
    outline("main.typ", files)
