"""Counting the processes of a group and their memory. The groups are real, and small."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from yazcore.process_groups import Bounds, Watch, members, memory_of

MIB = 2**20


@contextmanager
def group(code: str) -> Iterator[int]:
    """A group of its own that runs this and says when it is ready."""
    child = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", f"import mmap, os, signal\n{code}\nos.write(1, b'x')\nsignal.pause()"],
        stdout=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    assert child.stdout is not None
    try:
        assert child.stdout.read(1) == b"x"
        yield child.pid
    finally:
        os.killpg(child.pid, signal.SIGKILL)
        child.stdout.close()
        child.wait()


FORKS = "for _ in range(3):\n    if os.fork() == 0: signal.pause()"


def exceeded(leader: int, processes: int = 100, memory: int = 2**40) -> str | None:
    return Watch(leader, Bounds(processes=processes, memory=memory)).exceeded()


def test_all_that_a_process_starts_belong_to_its_group() -> None:
    with group(FORKS) as leader:
        found = list(members(leader))
        assert leader in found
        assert len(found) == 4
        assert os.getpid() not in found
        assert exceeded(leader, processes=3) == "processes"
        assert exceeded(leader, processes=4) is None


def test_a_name_like_a_line_of_numbers_misleads_nobody() -> None:
    name = "open('/proc/self/comm', 'w').write(') S 1 1 1')"
    with group(name) as leader:
        assert list(members(leader)) == [leader]


def test_what_processes_share_counts_once() -> None:
    shared = "held = mmap.mmap(-1, 40 * 2**20); held.write(b'x' * 40 * 2**20)\n"
    with group(shared + FORKS.replace("signal.pause()", "(held.seek(0), held.read(), signal.pause())")) as leader:
        found = list(members(leader))
        assert 40 * MIB < memory_of(found, enough=0) < 120 * MIB
        assert exceeded(leader, memory=120 * MIB) is None
        assert exceeded(leader, memory=30 * MIB) == "memory"


def test_what_each_takes_for_itself_is_added_up() -> None:
    each = "for _ in range(2):\n    if os.fork() == 0:\n        held = b'x' * 30 * 2**20\n        signal.pause()"
    with group(each) as leader:
        watch = Watch(leader, Bounds(processes=100, memory=50 * MIB))
        while memory_of(list(members(leader)), enough=0) < 60 * MIB:
            os.sched_yield()  # the children are still at it
        assert watch.exceeded() == "memory"


def test_what_has_gone_has_no_memory() -> None:
    with group("pass") as leader:
        pass
    assert memory_of([leader], enough=0) == 0
    assert exceeded(leader) is None
