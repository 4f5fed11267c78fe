"""How many processes a group has and how much memory, looked at now and then (Linux).

No limit of the kernel's bounds either for a group: RLIMIT_NPROC counts all that a user runs, and root's not at all, and
RLIMIT_AS counts one process at a time. So the numbers are looked at from outside, and between two looks they can be
exceeded. What nobody in the group may do is leave it; that is for its sandbox to see to.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import Literal

import attrs

_EVERY_SECONDS = 0.5
_GROWN = 32


@attrs.frozen(kw_only=True)
class Bounds:
    """What a group may have at a time: `processes`, and `memory` of all of them together, in bytes."""

    processes: int
    memory: int


class Watch:
    """Says when a group exceeds its bounds. Where there is no `/proc` it says nothing."""

    def __init__(self, group: int, bounds: Bounds) -> None:
        self._group = group
        self._bounds = bounds
        self._threads = _threads()
        self._next = 0.0

    def exceeded(self) -> Literal["processes", "memory"] | None:
        """What the group has too much of, if anything.

        Cheap to ask often: it looks closely twice a second, and at once where the machine has many threads more.
        """
        now = time.monotonic()
        if now < self._next and _threads() - self._threads < _GROWN:
            return None
        self._next = now + _EVERY_SECONDS
        found = list(members(self._group))
        if len(found) > self._bounds.processes:
            return "processes"
        return "memory" if memory_of(found, self._bounds.memory) > self._bounds.memory else None


def members(group: int) -> Iterator[int]:
    """The processes of a group that this one can see, those that have ended and were not waited for among them."""
    for name in _listed("/proc"):
        if name.isdecimal():
            # the name of the program stands in brackets, and may hold any
            fields = _read(f"/proc/{name}/stat").rpartition(b")")[2].split()
            if len(fields) > 2 and int(fields[2]) == group:
                yield int(name)


def memory_of(processes: list[int], enough: int) -> int:
    """The memory that these processes have taken, in bytes: what they share counts once.

    What is shared is told apart only where the sum without that would be over `enough`: it takes the kernel longer.
    """
    quick = sum(_sum(_read(f"/proc/{one}/status"), b"RssAnon:", b"RssShmem:") for one in processes)
    if quick <= enough:
        return quick
    return sum(
        _sum(said, b"Pss_Anon:", b"Pss_Shmem:")
        if (said := _read(f"/proc/{one}/smaps_rollup"))
        else _sum(_read(f"/proc/{one}/status"), b"RssAnon:", b"RssShmem:")
        for one in processes
    )


def _sum(said: bytes, *names: bytes) -> int:
    lines = (line.split() for line in said.splitlines())
    return sum(int(words[1]) * 1024 for words in lines if len(words) > 1 and words[0] in names)


def _threads() -> int:
    """The threads of the whole machine; 0 where it does not say."""
    fields = _read("/proc/loadavg").split()
    return int(fields[3].partition(b"/")[2]) if len(fields) > 3 else 0


def _listed(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _read(path: str) -> bytes:
    try:
        with open(path, "rb", buffering=0) as file:
            return file.read(65_536)
    except OSError:
        return b""  # it has ended, or may not be looked at
