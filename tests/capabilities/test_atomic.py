from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest

from yazcore.capabilities.services.atomic import Locks, replace, write_all
from yazcore.capabilities.services.beneath import closing, open_root


def put(folder: Path, name: str, data: bytes, mode: int | None = None) -> None:
    with closing(open_root(folder)) as handle:
        replace(handle, name, data, mode)


def test_a_file_is_replaced_and_nothing_else_is_left(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")
    put(tmp_path, "a", b"new")
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("a", b"new")]


def test_who_has_the_old_file_open_keeps_reading_the_old_file(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")
    with (tmp_path / "a").open() as reader:
        put(tmp_path, "a", b"new")
        assert reader.read() == "old"


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o664, 0o755])
def test_a_mode_is_kept_whatever_the_umask(tmp_path: Path, mode: int) -> None:
    put(tmp_path, "a", b"new", stat.S_IFREG | mode)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == mode


def test_a_set_user_id_bit_is_not_kept(tmp_path: Path) -> None:
    put(tmp_path, "a", b"new", stat.S_IFREG | 0o4755)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o755


def test_a_link_is_replaced_not_followed(tmp_path: Path) -> None:
    (tmp_path / "other").write_text("other")
    (tmp_path / "a").symlink_to("other")
    put(tmp_path, "a", b"new")
    assert (tmp_path / "other").read_text() == "other"
    assert not (tmp_path / "a").is_symlink()


def test_where_it_fails_the_old_file_is_whole_and_nothing_is_left(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a/in-it").write_text("x")
    with pytest.raises(IsADirectoryError):
        put(tmp_path, "a", b"new")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_everything_is_written_where_the_system_takes_a_part_at_a_time() -> None:
    reader, writer = os.pipe()
    data = os.urandom(300_000)
    received = bytearray()

    def receive() -> None:
        while chunk := os.read(reader, 5000):
            received.extend(chunk)

    thread = threading.Thread(target=receive)
    thread.start()
    with closing(reader):
        with closing(writer):
            write_all(writer, data)
        thread.join()
    assert bytes(received) == data


def test_a_lock_is_held_by_one_at_a_time() -> None:
    locks = Locks()
    counter = {"now": 0, "most": 0}

    def work() -> None:
        for _ in range(50):
            with locks.holding("a"):
                counter["now"] += 1
                counter["most"] = max(counter["most"], counter["now"])
                counter["now"] -= 1

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counter == {"now": 0, "most": 1}


def test_locks_of_different_keys_do_not_wait_for_each_other() -> None:
    locks = Locks()
    with locks.holding("a"), locks.holding("b"):
        assert len(locks) == 2


def test_a_lock_that_nobody_holds_is_forgotten() -> None:
    locks = Locks()
    with pytest.raises(RuntimeError), locks.holding("a"):
        raise RuntimeError
    assert len(locks) == 0
