"""Folders that somebody else filled: counted and removed however deep they are, and whoever moves things meanwhile."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from yazcore.trees import Moved, TooMany, remove_tree, walk

DEEP = 1500


def deep(folder: Path, levels: int = DEEP) -> None:
    """Folders in folders, with a file in the last; names are short, so that paths stay possible."""
    for _ in range(levels):
        folder = folder / "d"
        os.mkdir(folder)
    (folder / "file").write_bytes(b"x" * 7)


@contextmanager
def opened(folder: Path) -> Iterator[int]:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield handle
    finally:
        os.close(handle)


def seen(folder: Path, most: int = 10_000) -> tuple[list[str], list[str]]:
    files: list[str] = []
    left: list[str] = []
    with opened(folder) as root:
        walk(root, lambda _, name: files.append(name), lambda _, name: left.append(name), most=most)
    return files, left


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def test_everything_below_is_seen_once_and_a_folder_after_what_is_in_it(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "x").touch()
    (tmp_path / "y").touch()
    (tmp_path / "z").symlink_to("/")
    files, left = seen(tmp_path)
    assert (sorted(files), left) == (["x", "y", "z"], ["b", "a"])


def test_a_folder_without_bottom_is_walked_with_three_descriptors(tmp_path: Path) -> None:
    deep(tmp_path)
    most = 0

    def look(folder: int, name: str) -> None:
        nonlocal most
        most = max(most, descriptors())

    before = descriptors()
    with opened(tmp_path) as root:
        walk(root, look, look)
    assert 0 < most - before <= 1 + 3  # the root of this test, and what the walk has open
    assert descriptors() == before
    remove_tree(tmp_path / "d")


def test_a_folder_without_bottom_is_removed(tmp_path: Path) -> None:
    (tmp_path / "top").mkdir()
    deep(tmp_path / "top")
    remove_tree(tmp_path / "top")
    assert list(tmp_path.iterdir()) == []


def test_one_that_no_path_can_name_is_removed(tmp_path: Path) -> None:
    """Deeper than the longest path: made from step to step, as a plugin would."""
    (tmp_path / "top").mkdir()
    folder = os.open(tmp_path / "top", os.O_RDONLY)
    for _ in range(40):
        os.mkdir("d" * 200, dir_fd=folder)
        below = os.open("d" * 200, os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = below
    os.close(folder)
    remove_tree("top", dir_fd=(root := os.open(tmp_path, os.O_RDONLY)))
    os.close(root)
    assert list(tmp_path.iterdir()) == []


def test_no_link_is_followed_when_something_is_removed(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "file").touch()
    (tmp_path / "top" / "in").mkdir(parents=True)
    (tmp_path / "top" / "in" / "link").symlink_to(tmp_path / "kept")
    (tmp_path / "alias").symlink_to(tmp_path / "kept")
    remove_tree(tmp_path / "top")
    remove_tree(tmp_path / "alias")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["alias", "kept"]
    assert (tmp_path / "kept" / "file").exists()


def test_what_is_not_there_is_removed_already(tmp_path: Path) -> None:
    remove_tree(tmp_path / "gone")
    (tmp_path / "file").touch()
    remove_tree(tmp_path / "file")
    assert (tmp_path / "file").exists()


def test_too_many_entries_are_said(tmp_path: Path) -> None:
    for name in "abcd":
        (tmp_path / name).touch()
    assert seen(tmp_path, most=4)[0]
    with pytest.raises(TooMany):
        seen(tmp_path, most=3)


def test_a_folder_that_is_moved_while_one_is_in_it_is_noticed(tmp_path: Path) -> None:
    """Else the way up would lead to where the plugin wants it."""
    for name in ("a/b", "elsewhere"):
        (tmp_path / "top" / name).mkdir(parents=True)
    (tmp_path / "top" / "a" / "b" / "file").touch()

    def move(folder: int, name: str) -> None:
        os.rename(tmp_path / "top" / "a" / "b", tmp_path / "top" / "elsewhere" / "b")

    with opened(tmp_path / "top") as root, pytest.raises(Moved):
        walk(root, move, check=lambda: None)


def test_whoever_waits_can_stop_it(tmp_path: Path) -> None:
    for number in range(1100):
        (tmp_path / str(number)).touch()

    class Stop(Exception):
        pass

    def check() -> None:
        raise Stop

    with opened(tmp_path) as root, pytest.raises(Stop):
        walk(root, lambda folder, name: None, check=check)


def test_a_lack_of_descriptors_is_an_error_and_no_smaller_count(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with opened(tmp_path) as root:
        top = max(int(one) for one in os.listdir("/proc/self/fd"))
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(3, top), hard))
        try:
            with pytest.raises(OSError, match="Too many open files"):
                walk(root, lambda folder, name: None)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
