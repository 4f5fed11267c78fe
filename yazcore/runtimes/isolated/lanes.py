"""What comes of one call that reports its progress, in its order, without holding up whoever reads."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable

_MOST_REPORTS = 64


class Lane:
    """What comes of one call that reports, in its order, in one thread at a time. Of many reports the newest count."""

    def __init__(self, later: Callable[[Callable[[], None]], None]) -> None:
        self._later = later
        self._lock = threading.Lock()
        self._jobs: deque[Callable[[], None]] = deque(maxlen=_MOST_REPORTS)
        self._runs = False

    def put(self, job: Callable[[], None]) -> None:
        """Do this after what is there. Never waits."""
        with self._lock:
            self._jobs.append(job)
            if self._runs:
                return
            self._runs = True
        self._later(self._run)

    def _run(self) -> None:
        while True:
            with self._lock:
                if not self._jobs:
                    self._runs = False
                    return
                job = self._jobs.popleft()
            job()
