"""The file service against what moves under its hands, and names that one file system takes for another."""

from __future__ import annotations

import hashlib
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import attrs
import pytest

from tests.capabilities.conftest import Setup, entered
from yazcore import CapabilityError, FileRequest, Home, ServiceError
from yazcore.capabilities.services import atomic
from yazcore.kinds import FsProject
from yazcore.kinds.files import PROJECT_AREA, FsRead, FsWrite, is_protected, is_secret

SECRET = b"the secret outside"
TURNS = 300


@attrs.frozen
class Project:
    root: Path
    id: str = "prj_aaaaaaaaaaaa"
    name: str = "thesis"


@pytest.fixture
def setup(tmp_path: Path) -> Setup:
    (tmp_path / "thesis").mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret").write_bytes(SECRET)
    made = Setup(Home(tmp_path / "home"), tmp_path / "thesis")
    made.hold(FsProject(access="write"))
    return made


def swapping(turn: Callable[[int], None]) -> tuple[threading.Thread, threading.Event]:
    """A thread that does `turn(n)` again and again until the event is set."""
    over = threading.Event()

    def run() -> None:
        number = 0
        while not over.is_set():
            turn(number)
            number += 1

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread, over


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_a_name_that_turns_into_a_link_while_it_is_used_leads_nowhere(setup: Setup, tmp_path: Path, kind: str) -> None:
    root = setup.project.root
    outside = tmp_path / "outside"
    (root / "real").mkdir()
    (root / "real" / "secret").write_bytes(b"inside")
    (root / "inner").write_bytes(b"inside")
    targets = (outside, root / "real") if kind == "folder" else (outside / "secret", root / "inner")
    name = root / "swapped"

    def turn(number: int) -> None:
        spare = root / f"spare{number % 2}"
        spare.unlink(missing_ok=True)
        spare.symlink_to(os.path.relpath(targets[number % 2], root))
        spare.replace(name)

    turn(1)
    thread, over = swapping(turn)
    path = "swapped/secret" if kind == "folder" else "swapped"
    files, data = setup.files(), setup.home.plugin_data("zotero")
    written = 0
    try:
        with entered(setup.frame(project=Project(root))):
            for number in range(TURNS):
                try:
                    assert files.read_bytes(path) != SECRET
                    assert SECRET not in [(data / copy).read_bytes() for copy in files.copy([path]).values()]
                    if number % 5 == 0:
                        files.write_bytes(path, b"inside")
                        written += 1
                except (CapabilityError, ServiceError):
                    pass
    finally:
        over.set()
        thread.join()
    assert (outside / "secret").read_bytes() == SECRET
    assert os.listdir(outside) == ["secret"]


def test_a_folder_that_is_moved_out_while_it_is_written_to_gets_nothing_new(setup: Setup, tmp_path: Path) -> None:
    """The folder is held open: what is written may go with it, but never through a link in its place."""
    root, outside = setup.project.root, tmp_path / "outside"
    (root / "chapter").mkdir()

    def turn(number: int) -> None:
        with suppress(OSError):  # it is made anew by whoever writes, at any moment
            os.rename(root / "chapter", root / f"away{number}")
            os.symlink(outside, root / "chapter")
            os.unlink(root / "chapter")

    thread, over = swapping(turn)
    files = setup.files()
    try:
        with entered(setup.frame(project=Project(root))):
            for number in range(TURNS // 3):
                with suppress(CapabilityError, ServiceError):
                    files.write_bytes(f"chapter/{number}.typ", b"x")
    finally:
        over.set()
        thread.join()
    assert os.listdir(outside) == ["secret"]


def test_writing_to_a_name_of_a_hard_link_leaves_the_other_name_alone(setup: Setup, tmp_path: Path) -> None:
    os.link(tmp_path / "outside" / "secret", setup.project.root / "linked")
    with entered(setup.frame(project=Project(setup.project.root))):
        setup.files().write_bytes("linked", b"new")
    assert (tmp_path / "outside" / "secret").read_bytes() == SECRET
    assert (setup.project.root / "linked").read_bytes() == b"new"


@pytest.mark.parametrize("what", ["fifo", "socket", "device"])
def test_what_is_no_file_never_holds_a_call_up(setup: Setup, what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = setup.project.root / "odd"
    if what == "fifo":
        os.mkfifo(path)
    elif what == "socket":
        with socket.socket(socket.AF_UNIX) as bound:
            monkeypatch.chdir(path.parent)  # its path would be too long
            bound.bind(path.name)
    else:
        try:
            os.mknod(path, 0o20666, os.makedev(1, 5))  # /dev/zero, which never ends
        except PermissionError:
            pytest.skip("only root makes devices")
    files = setup.files()
    acts: list[Callable[[], Any]] = [
        lambda: files.read_bytes("odd"),
        lambda: files.write_bytes("odd", b"x"),
        lambda: files.revision("odd"),
        lambda: files.copy(["odd"]),
        lambda: files.stat("odd"),
        lambda: files.write_bytes("odd", b"x", expect="absent"),
    ]
    with entered(setup.frame(project=Project(setup.project.root))):
        for act in acts:
            with pytest.raises((CapabilityError, ServiceError)):
                act()
        assert files.list() == []


def test_a_terminal_is_never_taken_over(setup: Setup) -> None:
    leader, follower = os.openpty()
    os.symlink(os.ttyname(follower), setup.project.root / "tty")
    with entered(setup.frame(project=Project(setup.project.root))), pytest.raises(CapabilityError):
        setup.files().read_bytes("tty")
    os.close(leader)
    os.close(follower)


COUNT = """
import hashlib, sys
from pathlib import Path
from tests.attacks.test_files import Project
from tests.capabilities.conftest import Setup, entered
from yazcore import Home, ServiceError
from yazcore.kinds import FsProject

base = Path(sys.argv[1])
setup = Setup(Home(base / "home"), base / "thesis")
setup.hold(FsProject(access="write"))
files, won = setup.files(), 0
with entered(setup.frame(project=Project(base / "thesis"))):
    for _ in range(60):
        data = files.read_bytes("count")
        try:
            expected = hashlib.sha256(data).hexdigest()[:16]
            files.write_bytes("count", str(int(data) + 1).encode(), expect=expected)
            won += 1
        except ServiceError:
            pass
print(won)
"""


def test_of_processes_that_expect_the_same_revision_one_wins(setup: Setup, tmp_path: Path) -> None:
    (setup.project.root / "count").write_bytes(b"0")
    checkout = str(Path(__file__).parents[2])
    counting = [
        subprocess.Popen(
            [sys.executable, "-c", COUNT, str(tmp_path)],
            cwd=checkout,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": checkout},
        )
        for _ in range(3)
    ]
    won = [int(one.communicate(timeout=60)[0]) for one in counting]
    assert sum(won) == int((setup.project.root / "count").read_bytes())
    assert min(won) > 0


def test_a_folder_that_somebody_holds_for_ever_is_given_up(setup: Setup, monkeypatch: pytest.MonkeyPatch) -> None:
    import fcntl

    monkeypatch.setattr(atomic, "LOCK_SECONDS", 0.05)
    held = os.open(setup.project.root, os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    with (
        entered(setup.frame(project=Project(setup.project.root))),
        pytest.raises(ServiceError, match=r"^a\.typ: another process is writing there all the time$"),
    ):
        setup.files().write_bytes("a.typ", b"x")
    os.close(held)
    assert os.listdir(setup.project.root) == []


def test_writers_of_many_threads_leave_whole_files_and_no_other(setup: Setup) -> None:
    root, files = setup.project.root, setup.files()
    contents = [str(number).encode() * 5_000 for number in range(6)]

    def write(data: bytes) -> None:
        with entered(setup.frame(project=Project(root))):
            for _ in range(8):
                files.write_bytes("deep/er/same", data)

    threads = [threading.Thread(target=write, args=(data,)) for data in contents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (root / "deep/er/same").read_bytes() in contents
    assert os.listdir(root / "deep/er") == ["same"]


@pytest.mark.parametrize(
    "name",
    [
        ".git",
        ".GIT",
        ".Git ",
        ".git.",
        ".git. .",
        ".\u200bgit",
        ".git\u200d",
        "\ufeff.git",
        ".git\u00ad",
        ".\u2060git",
        ".git\ufe0f",
        ".gi\u034ft",
        ".git\U000e0100",
        ".\u115fgit",
        ".git\u3164",
        ".git\u180b",
        "\uffa0.git",
    ],
)
def test_a_name_that_some_file_system_takes_for_a_protected_one_is_protected(name: str) -> None:
    """Some file systems leave out, when they compare, what nobody can see: ext4 with casefold all of it."""
    assert is_protected(name)
    assert is_secret(name)


@pytest.mark.parametrize(
    "name", [".gıt", "git", ".g\u0456t", "x.git", ".git2", "\u115f", "a\u0301.typ", "한글.typ", "\u3164.typ"]
)
def test_a_name_that_none_takes_for_a_protected_one_is_not(name: str) -> None:
    assert not is_protected(name)


@pytest.mark.parametrize(
    "path",
    [
        "../x",
        "a/../../x",
        "a/..",
        "..",
        "./..",
        "a//b",
        "/",
        "//",
        "\0",
        "a\0b",
        "a\\..\\b",
        "\ud800",
        ".//x",
        "a/" * 101 + "b",
    ],
)
def test_no_form_of_going_up_is_a_path_anywhere(setup: Setup, tmp_path: Path, path: str) -> None:
    (tmp_path / "place").mkdir()
    setup.hold(
        FsProject(access="write"),
        FsWrite(place="notes"),
        FsRead(path=str(tmp_path / "place")),
        places={"notes": tmp_path / "place"},
    )
    files = setup.files()
    with entered(setup.frame(project=Project(setup.project.root))):
        for place in (None, "notes"):
            with pytest.raises(CapabilityError):
                files.read_bytes(path, place=place)
            with pytest.raises(CapabilityError):
                files.write_bytes(path, b"x", place=place)
        with pytest.raises(CapabilityError):
            files.read_bytes(f"{tmp_path}/place/{path}")
    assert os.listdir(tmp_path / "place") == []


def test_a_place_whose_folder_becomes_a_link_to_the_home_folder_is_refused(setup: Setup, tmp_path: Path) -> None:
    (tmp_path / "place").symlink_to(Path.home())
    (Path.home() / "x").write_bytes(SECRET)
    setup.hold(FsRead(place="notes"), places={"notes": tmp_path / "place"})
    with entered(setup.frame(project=None)), pytest.raises(CapabilityError) as refused:
        setup.files().read_bytes("x", place="notes")
    assert "your whole home folder" in refused.value.detail


def test_a_name_of_odd_bytes_is_neither_listed_nor_a_crash(setup: Setup) -> None:
    with open(os.fsencode(setup.project.root) + b"/\xff\xfe.typ", "wb"):
        pass
    (setup.project.root / "ok.typ").write_bytes(b"")
    with entered(setup.frame(project=Project(setup.project.root))):
        assert [one["path"] for one in setup.files().list()] == ["ok.typ"]


def test_a_folder_deeper_than_a_path_may_be_ends_the_listing_not_the_host(setup: Setup) -> None:
    here = os.open(setup.project.root, os.O_RDONLY)
    for _ in range(150):
        os.mkdir("d" * 60, dir_fd=here)
        below = os.open("d" * 60, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    with entered(setup.frame(project=Project(setup.project.root))):
        entries = setup.files().list(recursive=True)
    assert 0 < len(entries) < 150
    assert all(len(entry["path"]) < 4_096 for entry in entries)


def test_a_revision_of_a_file_without_end_is_refused(setup: Setup) -> None:
    """A sparse file of a terabyte takes no room and hours to read."""
    with open(setup.project.root / "sparse", "wb") as file:
        file.truncate(2**40)
    files = setup.files()
    acts: list[Callable[[], Any]] = [
        lambda: files.revision("sparse"),
        lambda: files.write_bytes("sparse", b"x", expect="0" * 16),
        lambda: files.read_bytes("sparse"),
        lambda: files.copy(["sparse"]),
    ]
    with entered(setup.frame(project=Project(setup.project.root))):
        for act in acts:
            with pytest.raises(ServiceError) as refused:
                act()
            assert refused.value.code in ("file-too-large", "quota-exceeded")


@pytest.mark.parametrize("data", ["text", 7, None, [1, 2], {"a": 1}])
def test_what_is_no_bytes_is_not_written_and_leaves_nothing(setup: Setup, data: Any) -> None:
    with entered(setup.frame(project=Project(setup.project.root))), pytest.raises(TypeError):
        setup.files().write_bytes("x", data)
    assert os.listdir(setup.project.root) == []


def test_a_data_folder_that_is_full_takes_no_copy_and_keeps_what_it_has(setup: Setup) -> None:
    (setup.project.root / "a").write_bytes(b"12345678")
    data = setup.home.plugin_data("zotero")
    (data / "own").write_bytes(b"x" * 100)
    files = setup.files(quota=104)
    with entered(setup.frame(project=Project(setup.project.root))), pytest.raises(ServiceError) as refused:
        files.copy(["a"])
    assert refused.value.code == "quota-exceeded"
    assert (data / "own").read_bytes() == b"x" * 100
    assert not list(data.rglob("a"))


def test_a_request_that_is_no_plain_text_is_covered_by_nothing() -> None:
    for path in ("a\0b", "..", "/etc/passwd"):
        assert not FsProject(access="write").covers(FileRequest(area=PROJECT_AREA, path=path, write=True))


def test_hashes_agree_with_what_is_there(setup: Setup) -> None:
    with entered(setup.frame(project=Project(setup.project.root))):
        revision = setup.files().write_bytes("a", b"x")
    assert revision == hashlib.sha256((setup.project.root / "a").read_bytes()).hexdigest()[:16]
