"""How often a plugin's worker may end by its own fault before it has failed."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

MOST = 3
"""With so many ends, a plugin has failed (issue 4)."""

WITHIN_SECONDS = 600.0
"""Ends that lie further back are forgotten: one that crashes once a week is better than none."""


class Strikes:
    """The ends of one plugin's workers."""

    def __init__(
        self, most: int = MOST, within: float = WITHIN_SECONDS, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.most = most
        self._within = within
        self._clock = clock
        self._ends: deque[float] = deque()

    def count(self) -> bool:
        """Count one more; whether that is too many."""
        now = self._clock()
        self._ends.append(now)
        while now - self._ends[0] > self._within:
            self._ends.popleft()
        return len(self._ends) >= self.most

    @property
    def pause(self) -> float:
        """How long to wait before the next start, in seconds: not at all after the first end, then longer."""
        return 0.0 if len(self._ends) <= 1 else min(0.1 * 4.0 ** (len(self._ends) - 2), 10.0)
