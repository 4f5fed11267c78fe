"""Both ways of opening below a root, on the same cases; the kernel's own way only where there is one."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from yazcore.capabilities.services.beneath import (
    Leaves,
    Opener,
    Parts,
    closing,
    has_openat2,
    make_folders,
    open_by_openat2,
    open_by_walk,
    open_root,
    opener,
    real_parts,
    resolve,
)

BOTH = pytest.mark.parametrize(
    "open_beneath",
    [
        open_by_walk,
        pytest.param(
            open_by_openat2, marks=pytest.mark.skipif(not has_openat2(), reason="this kernel has no openat2 for us")
        ),
    ],
)
ALL_RESOLVERS = pytest.mark.parametrize("resolver", [resolve, real_parts])


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """`inside` is the root; what lies beside it must never be reached."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/secret").write_text("secret")
    (tmp_path / "inside-too").mkdir()
    (tmp_path / "inside-too/secret").write_text("secret")
    root = tmp_path / "inside"
    (root / "a/b").mkdir(parents=True)
    (root / "a/file").write_text("file")
    (root / "a/b/deep").write_text("deep")
    links = {
        "to-file": "a/file", "to-folder": "a", "a/up-and-in": "../a/b", "chain": "to-folder", "self": ".",
        "out": "../outside", "out-file": "../outside/secret", "absolute": str(tmp_path / "outside/secret"),
        "absolute-in": str(root / "a/file"), "dangling": "nothing", "dangling-out": "../outside/new",
        "deep-out": "a/../../outside", "loop-1": "loop-2", "loop-2": "loop-1", "loop": "loop",
        "to-proc": "/proc/self/root",
    }  # fmt: skip
    for name, target in links.items():
        (root / name).symlink_to(target)
    os.mkfifo(root / "fifo")
    return root


@pytest.fixture
def root(tree: Path) -> Iterator[int]:
    with closing(open_root(tree)) as handle:
        yield handle


def read(open_beneath: Opener, root: int, *parts: str) -> str:
    with closing(open_beneath(root, parts, os.O_RDONLY, 0)) as handle:
        return os.read(handle, 100).decode()


@BOTH
def test_a_file_below_the_root_is_opened(open_beneath: Opener, root: int) -> None:
    assert read(open_beneath, root, "a", "file") == "file"
    assert read(open_beneath, root, "a", "b", "deep") == "deep"


@BOTH
def test_the_root_itself_is_opened_without_parts(open_beneath: Opener, root: int) -> None:
    with closing(open_beneath(root, (), os.O_RDONLY | os.O_DIRECTORY, 0)) as handle:
        assert os.path.sameopenfile(handle, root)


@BOTH
def test_a_new_file_is_made_below_the_root(open_beneath: Opener, root: int, tree: Path) -> None:
    with closing(open_beneath(root, ("a", "new"), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)) as handle:
        os.write(handle, b"new")
    assert (tree / "a/new").read_text() == "new"


@BOTH
@pytest.mark.parametrize(
    "path",
    [
        "to-file", "to-folder/file", "a/up-and-in/deep", "chain/file", "self/a/file", "out/secret", "out-file",
        "absolute", "absolute-in", "dangling", "dangling-out", "deep-out/secret", "loop", "loop-1",
        "to-proc/etc/passwd",
    ],
)  # fmt: skip
@pytest.mark.parametrize("flags", [os.O_RDONLY, os.O_RDONLY | os.O_DIRECTORY, os.O_WRONLY | os.O_CREAT])
def test_no_link_is_followed(open_beneath: Opener, root: int, tree: Path, path: str, flags: int) -> None:
    with pytest.raises(Leaves, match="a link is in the way"):
        open_beneath(root, tuple(path.split("/")), flags, 0o600)
    assert not (tree.parent / "outside/new").exists()


@BOTH
@pytest.mark.parametrize(
    "parts", [("..",), ("a", "..", "..", "outside"), ("",), (".",), ("a/../..",), ("/etc",), ("a\0",)]
)
def test_what_is_no_name_is_no_part(open_beneath: Opener, root: int, parts: Parts) -> None:
    with pytest.raises(Leaves, match="a path has a part that is no name"):
        open_beneath(root, parts, os.O_RDONLY, 0)
    with pytest.raises(Leaves):
        resolve(root, parts)
    with pytest.raises(Leaves):
        make_folders(root, parts)


@BOTH
@pytest.mark.parametrize(
    ("path", "error"),
    [("nothing", FileNotFoundError), ("a/nothing/x", FileNotFoundError), ("a/file/x", NotADirectoryError)],
)
def test_both_ways_say_the_same_about_what_is_not_there(
    open_beneath: Opener, root: int, path: str, error: type[OSError]
) -> None:
    with pytest.raises(error):
        open_beneath(root, tuple(path.split("/")), os.O_RDONLY, 0)


@BOTH
def test_a_handle_is_not_inherited(open_beneath: Opener, root: int) -> None:
    with closing(open_beneath(root, ("a", "file"), os.O_RDONLY, 0)) as handle:
        assert not os.get_inheritable(handle)


@BOTH
def test_no_handle_is_left_open(open_beneath: Opener, root: int) -> None:
    before = os.listdir("/proc/self/fd")
    os.close(open_beneath(root, ("a", "b", "deep"), os.O_RDONLY, 0))
    for path in ("out/secret", "a/nothing/x", "a/file/x"):
        with pytest.raises((Leaves, OSError)):
            open_beneath(root, tuple(path.split("/")), os.O_RDONLY, 0)
        with contextlib.suppress(Leaves, OSError):
            resolve(root, tuple(path.split("/")))
        with contextlib.suppress(Leaves, OSError):
            os.close(make_folders(root, tuple(path.split("/"))))
    assert len(os.listdir("/proc/self/fd")) == len(before)


def test_a_root_that_is_a_link_is_opened(tree: Path) -> None:
    link = tree.parent / "link"
    link.symlink_to(tree)
    with closing(open_root(link)) as handle:
        assert read(opener(), handle, "a", "file") == "file"


def test_a_root_that_is_a_file_is_not_opened(tree: Path) -> None:
    with pytest.raises(NotADirectoryError):
        open_root(tree / "a/file")


# --- resolving links


@ALL_RESOLVERS
@pytest.mark.parametrize(
    ("path", "real"),
    [
        ("a/file", "a/file"),
        ("to-file", "a/file"),
        ("to-folder/file", "a/file"),
        ("to-folder", "a"),
        ("a/up-and-in/deep", "a/b/deep"),
        ("chain/b/deep", "a/b/deep"),
        ("self/self/a/file", "a/file"),
        ("new", "new"),
        ("to-folder/new", "a/new"),
        ("to-folder/new/newer", "a/new/newer"),
        ("fifo", "fifo"),
    ],
)
def test_links_that_stay_below_the_root_are_followed(
    resolver: Callable[[int, Parts], Parts], root: int, path: str, real: str
) -> None:
    assert resolver(root, tuple(path.split("/"))) == tuple(real.split("/"))


@ALL_RESOLVERS
@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("out", "a link leads out of the folder"),
        ("out/secret", "a link leads out of the folder"),
        ("out-file", "a link leads out of the folder"),
        ("deep-out/secret", "a link leads out of the folder"),
        ("dangling-out", "a link leads out of the folder"),
        ("absolute", "a link leads to an absolute path"),
        ("absolute-in", "a link leads to an absolute path"),
        ("to-proc/etc/passwd", "a link leads to an absolute path"),
        ("dangling", "a link leads to nothing"),
        ("dangling/x", "a link leads to nothing"),
        ("loop", "links lead in circles"),
        ("loop-1/x", "links lead in circles"),
    ],
)
def test_links_that_leave_or_lead_nowhere_are_refused(
    resolver: Callable[[int, Parts], Parts], root: int, path: str, why: str
) -> None:
    with pytest.raises(Leaves) as caught:
        resolver(root, tuple(path.split("/")))
    assert str(caught.value) == why


@ALL_RESOLVERS
def test_a_file_on_the_way_is_no_folder(resolver: Callable[[int, Parts], Parts], root: int) -> None:
    with pytest.raises(NotADirectoryError):
        resolver(root, ("a", "file", "x"))


def test_the_walk_and_the_kernel_agree_on_where_a_path_leads(root: int, tree: Path) -> None:
    for path in ("to-file", "chain/b/deep", "a/up-and-in/deep", "self/a/file"):
        assert tree.joinpath(*resolve(root, tuple(path.split("/")))) == (tree / path).resolve()


# --- folders


def test_missing_folders_are_made(root: int, tree: Path) -> None:
    os.close(make_folders(root, ("a", "x", "y")))
    assert (tree / "a/x/y").is_dir()


@pytest.mark.parametrize("path", ["out/x", "to-folder/x", "dangling", "dangling-out/x"])
def test_no_folder_is_made_through_a_link(root: int, tree: Path, path: str) -> None:
    with pytest.raises(Leaves):
        make_folders(root, tuple(path.split("/")))
    assert sorted(entry.name for entry in (tree.parent / "outside").iterdir()) == ["secret"]
    assert not (tree / "a/x").exists()


def test_a_file_in_the_way_of_a_folder_is_an_error(root: int) -> None:
    with pytest.raises(NotADirectoryError):
        make_folders(root, ("a", "file", "x"))


# --- never outside, whatever is asked and whatever changes

NAMES = st.sampled_from(
    ["a", "b", "file", "deep", "out", "out-file", "secret", "to-folder", "chain", "self", "absolute", "up-and-in"]
)


@BOTH
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(path=st.lists(NAMES, min_size=1, max_size=5))
def test_no_generated_path_reads_outside_the_root(open_beneath: Opener, root: int, path: list[str]) -> None:
    try:
        real = resolve(root, tuple(path))
        text = read(open_beneath, root, *real)
    except (Leaves, OSError):
        return
    assert text in ("file", "deep")


@BOTH
def test_a_link_that_comes_and_goes_is_never_followed(open_beneath: Opener, root: int, tree: Path) -> None:
    (tree / "flip").mkdir()
    (tree / "flip/secret").write_text("harmless")
    done = threading.Event()

    def flip() -> None:
        spare, link = tree / "spare", tree / "link-out"
        link.symlink_to("../outside")
        while not done.is_set():
            os.rename(tree / "flip", spare)
            os.rename(link, tree / "flip")
            os.rename(tree / "flip", link)
            os.rename(spare, tree / "flip")

    seen = {read(open_beneath, root, *resolve(root, ("flip", "secret")))}
    thread = threading.Thread(target=flip)
    thread.start()
    try:
        for number in range(200_000):  # on a busy machine the two may keep step for a while
            if number >= 2000 and seen >= {"harmless", "Leaves"}:
                break
            try:
                seen.add(read(open_beneath, root, *resolve(root, ("flip", "secret"))))
            except (Leaves, OSError) as error:
                seen.add(type(error).__name__)
    finally:
        done.set()
        thread.join()
    assert "secret" not in seen
    assert seen >= {"harmless", "Leaves"}
