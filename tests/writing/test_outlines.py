"""The outline of a project, through the tool and the real file service."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.writing.worlds import done, refused, write
from yazcore.writing.application import WritingApp
from yazcore.writing.projects.formats import RawNode
from yazcore.writing.projects.outline import MOST_SOURCE, gather, named

Open = Callable[..., WritingApp]


def the(app: WritingApp) -> dict[str, Any]:
    return {"projectId": app.projects()[0]["projectId"]}


def test_headings_of_all_files_in_reading_order(open_on: Open) -> None:
    app = open_on(
        {"main.typ": '= Start <s>\n#include "ch/a.typ"\n', "ch/a.typ": "\n== A\n", "notes.typ": "= Not in it"}
    )
    outline = done(app, "read_outline", **the(app))
    assert [(one["title"], one["level"], one["file"], one["line"]) for one in outline["nodes"]] == [
        ("Start", 1, "main.typ", 1),
        ("A", 2, "ch/a.typ", 2),
    ]
    assert (outline["total"], outline["complete"], outline["unread"], outline["nextCursor"]) == (2, True, [], None)


def test_a_project_that_does_not_compile_has_an_outline(open_on: Open) -> None:
    app = open_on({"main.typ": "= One\n#broken(\n\n= Two\n"})
    assert [one["title"] for one in done(app, "read_outline", **the(app))["nodes"]] == ["One", "Two"]


def test_only_the_upper_levels_on_request(open_on: Open) -> None:
    app = open_on({"main.typ": "= A\n== B\n=== C\n= D"})
    outline = done(app, "read_outline", **the(app), maxLevel=1)
    assert [one["title"] for one in outline["nodes"]] == ["A", "D"]
    assert outline["total"] == 2


def test_a_long_outline_comes_in_pages(open_on: Open) -> None:
    app = open_on({"main.typ": "".join(f"= Heading {number}\n" for number in range(1_000))})
    titles: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        part = done(app, "read_outline", **the(app), **cursor)
        assert len(part["nodes"]) <= 300
        assert part["total"] == 1_000
        titles += [one["title"] for one in part["nodes"]]
        if part["nextCursor"] is None:
            break
        cursor = {"cursor": part["nextCursor"]}
    assert titles == [f"Heading {number}" for number in range(1_000)]


def test_a_huge_outline_is_cut_and_says_so(open_on: Open) -> None:
    app = open_on({"main.typ": "= A\n" * 6_000})
    outline = done(app, "read_outline", **the(app), limit=1)
    assert (outline["total"], outline["complete"]) == (5_000, False)


def test_a_page_of_an_outline_that_changed_since_is_refused(open_on: Open, root: Path) -> None:
    app = open_on({"main.typ": "= A\n= B\n"})
    cursor = done(app, "read_outline", **the(app), limit=1)["nextCursor"]
    write(root, {"main.typ": "= B\n"})
    text = refused(app, "read_outline", **the(app), limit=1, cursor=cursor)
    assert text == "the list has changed since that page. leave the cursor out to begin at the first page."


def test_a_source_that_is_no_text_is_named_and_the_rest_is_there(open_on: Open) -> None:
    app = open_on({"main.typ": '= A\n#include "bad.typ"\n= B', "bad.typ": b"\xff"})
    outline = done(app, "read_outline", **the(app))
    assert [one["title"] for one in outline["nodes"]] == ["A", "bad.typ", "B"]
    assert outline["unread"] == [{"file": "bad.typ", "reason": "the document is not UTF-8 text (line 1)"}]
    assert outline["complete"] is False


def test_a_link_out_of_the_project_is_no_source(open_on: Open, root: Path, tmp_path: Path) -> None:
    write(tmp_path, {"secret.typ": "= Secret"})
    app = open_on({"main.typ": '= A\n#include "link.typ"'})
    (root / "link.typ").symlink_to(tmp_path / "secret.typ")
    assert [one["title"] for one in done(app, "read_outline", **the(app))["nodes"]] == ["A", "link.typ"]


class Reading:
    """Files of a test, by name."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self.files = files

    def read_bytes(self, path: str) -> bytes:
        return self.files[path]

    def write_bytes(self, path: str, data: bytes, *, expect: str | None = None) -> str:
        raise AssertionError("nothing is written")


def test_sources_over_the_bound_are_named_and_smaller_ones_still_read() -> None:
    files = {"a.typ": b"a" * (MOST_SOURCE - 500), "b.typ": b"b" * 600, "c.typ": b"c"}
    sources = gather(Reading(files), list(files))
    assert list(sources.texts) == ["a.typ", "c.typ"]
    assert [one.file for one in sources.unread] == ["b.typ"]


def node(title: str, level: int = 1, line: int = 1, label: str | None = None) -> RawNode:
    return RawNode(title=title, level=level, kind="heading", file="main.typ", line=line, label=label)


def test_a_label_that_is_there_once_is_the_identity() -> None:
    assert [one.id for one in named([node("A", label="intro")])] == ["<intro>"]


def test_a_label_that_is_there_twice_is_none() -> None:
    first, second = named([node("A", label="x"), node("B", label="x")])
    assert first.id != second.id
    assert first.label == "x"


def test_an_identity_stays_when_lines_are_added_above() -> None:
    assert named([node("A"), node("B", 2, line=3)])[1].id == named([node("A"), node("B", 2, line=9)])[1].id


def test_equal_titles_have_different_identities() -> None:
    ids = [one.id for one in named([node("A"), node("Summary", 2), node("B"), node("Summary", 2), node("Summary", 2)])]
    assert len(set(ids)) == 5


@pytest.mark.parametrize("length", [300, 301, 5_000])
def test_a_long_title_ends_in_an_ellipsis(length: int) -> None:
    (one,) = named([node("x" * length)])
    assert one.title == ("x" * 300 if length == 300 else "x" * 300 + "…")
