"""Walking a project's folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.writing.worlds import write
from yazcore.writing.projects.tree import extension, readable, walk


def everything(path: str) -> bool:
    return True


def test_files_and_folders_are_found_in_order_of_path(tmp_path: Path) -> None:
    write(tmp_path, {"b.typ": "", "a/z.typ": "", "a/y.bib": ""})
    assert [entry.path for entry in walk(tmp_path, everything).entries] == ["a", "a/y.bib", "a/z.typ", "b.typ"]


def test_files_of_an_extension_come_nearest_first(tmp_path: Path) -> None:
    write(tmp_path, {"z.TYP": "", "a/deep.typ": "", "a.bib": ""})
    assert walk(tmp_path, everything).files(frozenset({".typ"})) == ["z.TYP", "a/deep.typ"]


def test_what_is_refused_is_not_entered(tmp_path: Path) -> None:
    write(tmp_path, {".git/config": "", "main.typ": ""})
    found = walk(tmp_path, lambda path: path != ".git")
    assert [entry.path for entry in found.entries] == ["main.typ"]


def test_links_and_pipes_are_left_out(tmp_path: Path) -> None:
    write(tmp_path, {"main.typ": ""})
    (tmp_path / "out").symlink_to("/etc")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "pipe")
    assert [entry.path for entry in walk(tmp_path, everything).entries] == ["main.typ"]


def test_a_name_that_is_no_text_is_left_out(tmp_path: Path) -> None:
    write(tmp_path, {"main.typ": ""})
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.typ")).touch()
    assert [entry.path for entry in walk(tmp_path, everything).entries] == ["main.typ"]


def test_the_bound_ends_the_walk_and_says_so(tmp_path: Path) -> None:
    write(tmp_path, {f"{number}.typ": "" for number in range(5)})
    found = walk(tmp_path, everything, most=3)
    assert (len(found.entries), found.complete) == (3, False)


def test_a_folder_that_is_not_there_is_empty(tmp_path: Path) -> None:
    assert walk(tmp_path / "gone", everything).entries == ()


def test_the_fingerprint_changes_with_content_and_with_names(tmp_path: Path) -> None:
    write(tmp_path, {"main.typ": "a"})
    first = walk(tmp_path, everything).fingerprint()
    assert walk(tmp_path, everything).fingerprint() == first
    write(tmp_path, {"main.typ": "ab"})
    second = walk(tmp_path, everything).fingerprint()
    write(tmp_path, {"new.typ": ""})
    assert len({first, second, walk(tmp_path, everything).fingerprint()}) == 3


def test_a_project_without_secrets_is_opened_as_a_whole(tmp_path: Path) -> None:
    write(tmp_path, {"a/b.typ": "", "main.typ": ""})
    assert readable(tmp_path, walk(tmp_path, everything)) == (tmp_path,)


def test_beside_something_refused_only_the_rest_is_opened(tmp_path: Path) -> None:
    write(tmp_path, {"main.typ": "", "img/a.svg": "", "ch/a.typ": "", "ch/.env": "", "ch/deep/b.typ": ""})
    found = readable(tmp_path, walk(tmp_path, lambda path: not path.endswith(".env")))
    assert found == tuple(tmp_path / path for path in ("ch/a.typ", "ch/deep", "img", "main.typ"))


def test_a_folder_whose_walk_was_cut_is_never_opened_as_a_whole(tmp_path: Path) -> None:
    write(tmp_path, {"a/1.typ": "", "a/2.typ": "", "a/3.typ": ""})
    found = readable(tmp_path, walk(tmp_path, everything, most=2))
    assert found == (tmp_path / "a/1.typ",)


@pytest.mark.parametrize(
    ("path", "expected"), [("a/b.TYP", ".typ"), ("Makefile", ""), (".bib", ""), ("a.b/c", ""), ("x.tar.gz", ".gz")]
)
def test_an_extension_is_that_of_the_name_in_lower_case(path: str, expected: str) -> None:
    assert extension(path) == expected
