"""Which thread of a worker reads: the pattern Leader/Followers, with a leader that keeps the lead while it can.

The leader reads. What it reads, it runs, and a call that is soon over costs no switch between threads. A follower takes
the lead as soon as the call asks the host for something, or goes on for a moment: the main thread looks for such calls
while there are any. A kind of call that once needed that gives the lead away at once the next times.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Hashable
from time import sleep  # a plugin may put another in its place

MOMENT_SECONDS = 0.002
"""How long a call may keep the lead, in seconds; up to twice that."""

AT_ONCE = 64
"""How often a kind of call that had to give the lead away does so at once, before it is tried without again."""

_QUIET_MOMENTS = 25
"""After how many moments without a call the main thread looks no more."""


class Leadership:
    """The lead among the threads of a worker. `start_follower` starts one more thread, which is to `take` it."""

    def __init__(self, start_follower: Callable[[], None]) -> None:
        self._start_follower = start_follower
        self._lead = threading.Lock()
        self._state = threading.Lock()
        self._followers = 0
        self._keeper = 0
        self._kind: Hashable = None
        self._kept = 0
        self._at_once: dict[Hashable, int] = {}
        self._is_watched = False
        self._watch_again = threading.Event()

    def take(self) -> None:
        """Wait for the lead: as a follower, until it is given away."""
        with self._state:
            self._followers += 1
        self._lead.acquire()
        with self._state:
            self._followers -= 1

    def keep(self, kind: Hashable) -> None:
        """Run a call of this kind as the leader, from now until `regain`; or give the lead away at once."""
        with self._state:
            self._keeper, self._kind = threading.get_ident(), kind
            self._kept += 1
            left = self._at_once.get(kind, 0)
            if left:
                self._at_once[kind] = left - 1
            elif not self._is_watched:
                self._is_watched = True
                self._watch_again.set()
        if left:
            self.give_away(is_expected=True)

    def regain(self) -> bool:
        """Whether this thread still leads, now that its call is over; it reads on then, and nobody takes the lead."""
        with self._state:
            if self._keeper != threading.get_ident():
                return False
            self._keeper = 0
            return True

    def give_away(self, is_expected: bool = False) -> bool:
        """Let a follower lead where the leader runs a call. From any thread. Gives whether it did.

        Unless it `is_expected`, the kind of that call does so at once the next times.
        """
        with self._state:
            if not self._keeper:
                return False
            self._keeper = 0
            if not is_expected:
                self._at_once[self._kind] = AT_ONCE
            is_nobody_there = self._followers == 0
        if is_nobody_there:
            with contextlib.suppress(RuntimeError):  # no more threads: whoever runs the call will lead again
                self._start_follower()
        self._lead.release()
        return True

    def watch(self) -> None:
        """For ever: look for calls that go on, and give their lead away. For the main thread."""
        while True:
            self._watch_again.wait()
            quiet = 0
            while quiet < _QUIET_MOMENTS:
                before = self._kept
                sleep(MOMENT_SECONDS)
                if self._kept != before:
                    quiet = 0
                elif not self.give_away():
                    quiet += 1
            with self._state:
                if not self._keeper:
                    self._is_watched = False
                    self._watch_again.clear()
