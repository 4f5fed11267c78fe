"""One thread that does something small at a given time: ends what ran over."""

from __future__ import annotations

import heapq
import itertools
import threading
import time
from collections.abc import Callable


class Clock:
    """Calls functions at their times (`time.monotonic`), one after the other; they must not wait.

    The thread is started with the first, and ends when nothing is left to be done.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._due: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = itertools.count()
        self._runs = False

    def at(self, moment: float, function: Callable[[], None]) -> None:
        """Call `function` then, or soon where that is past."""
        with self._changed:
            heapq.heappush(self._due, (moment, next(self._numbers), function))
            if not self._runs:
                self._runs = True
                threading.Thread(target=self._run, name="yaz-clock", daemon=True).start()
            elif self._due[0][2] is function:
                self._changed.notify()

    def close(self) -> None:
        """Forget everything."""
        with self._changed:
            self._due.clear()
            self._changed.notify()

    def _run(self) -> None:
        while (function := self._next()) is not None:
            function()

    def _next(self) -> Callable[[], None] | None:
        with self._changed:
            while self._due:
                left = self._due[0][0] - time.monotonic()
                if left <= 0:
                    return heapq.heappop(self._due)[2]
                self._changed.wait(left)
            self._runs = False
            return None
