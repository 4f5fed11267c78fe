"""Landlock, asked of the kernel in a process of its own."""

from __future__ import annotations

import errno
import subprocess
import sys
from pathlib import Path

import pytest

from yazcore.confinement import landlock

pytestmark = pytest.mark.skipif(landlock.landlock_version() == 0, reason="this kernel has no Landlock")

TRY = """
import sys, socket
sys.path.insert(0, {path!r})
from yazcore.confinement import landlock
assert landlock.restrict_files(read=[{read!r}, {read!r} + "/link", "/nowhere"], write=[{write!r}])
def tried(what):
    try:
        return what() or "done"
    except OSError as error:
        return type(error).__name__
for what in {tries}:
    print(tried(eval("lambda: " + what)))
"""


def confined(tmp_path: Path, *tries: str) -> list[str]:
    """What a process that may read `in` and write `out` gets when it tries."""
    for name in ("in", "out"):
        (tmp_path / name).mkdir(exist_ok=True)
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "in" / "file").write_text("inside")
    (tmp_path / "in" / "link").symlink_to(tmp_path / "secret")
    path = str(Path(landlock.__file__).parents[2])
    code = TRY.format(path=path, read=str(tmp_path / "in"), write=str(tmp_path / "out"), tries=list(tries))
    ran = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.splitlines()


def test_what_may_be_read_is_read(tmp_path: Path) -> None:
    assert confined(tmp_path, "open('in/file').read()") == ["inside"]


def test_nothing_outside_is_read_whatever_it_is_called(tmp_path: Path) -> None:
    assert (
        confined(tmp_path, "open('secret')", "open('in/link')", "open('in/../secret')", "open('/etc/passwd')")
        == ["PermissionError"] * 4
    )


LINKS = """
import errno, sys
sys.path.insert(0, sys.argv[1])
from yazcore.confinement import landlock
attempt, error = landlock.attempt, int(sys.argv[2])
if error:
    landlock.attempt = lambda number, *rest: -error if number == 437 else attempt(number, *rest)
landlock.restrict_files(read=sys.argv[3:])
try:
    print(open("real/deep/file").read())
except PermissionError:
    print("closed")
"""


@pytest.mark.parametrize("lacking", [0, errno.ENOSYS, errno.EPERM], ids=["openat2", "a walk", "a walk, forbidden"])
def test_a_folder_on_the_way_that_turned_into_a_link_opens_nothing(tmp_path: Path, lacking: int) -> None:
    def said(*read: str) -> str:
        path = str(Path(landlock.__file__).parents[2])
        ran = subprocess.run(
            [sys.executable, "-I", "-S", "-c", LINKS, path, str(int(lacking)), *read],
            cwd=tmp_path, capture_output=True, text=True, check=True,
        )  # fmt: skip
        return ran.stdout.strip()

    (tmp_path / "real" / "deep").mkdir(parents=True)
    (tmp_path / "real" / "deep" / "file").write_text("inside")
    (tmp_path / "linked").symlink_to("real")
    for good in ("real/deep", f"{tmp_path}/real", f"{tmp_path}/real/deep/../deep/file", "."):
        assert said(good) == "inside", good
    assert said("linked/deep", f"{tmp_path}/linked/deep", "linked", "real/none/deep", "linked/deep/file") == "closed"


def test_a_path_is_never_cut_off(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="null byte"):
        landlock._opened(b"/etc\0/more")


def test_only_the_folder_for_writing_is_written(tmp_path: Path) -> None:
    tries = ("open('out/new', 'w').close()", "open('in/file', 'w')", "open('in/new', 'w')", "open('secret', 'a')")
    assert confined(tmp_path, *tries) == ["done", *["PermissionError"] * 3]
    assert (tmp_path / "in" / "file").read_text() == "inside"


def test_no_link_is_made_even_where_files_are(tmp_path: Path) -> None:
    assert confined(tmp_path, "__import__('os').symlink('/etc/passwd', 'out/link')") == ["PermissionError"]


@pytest.mark.skipif(landlock.landlock_version() < 4, reason="this kernel's Landlock knows no network")
def test_no_connection_is_made(tmp_path: Path) -> None:
    assert confined(tmp_path, "socket.create_connection(('127.0.0.1', 9))") == ["PermissionError"]
