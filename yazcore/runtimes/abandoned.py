"""Calls that nobody waits for any more: those that end soon are no fault, those that never do are their plugin's.

A client that leaves abandons all its calls in one moment, and every blocking handler needs a while to hear of it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

PATIENCE_SECONDS = 10.0
"""How long an abandoned call may take to end before it counts as stuck, in seconds."""

MOST_STUCK = 4
"""More stuck calls of one plugin than this, and the plugin has failed (issue 4)."""


class Overstaying(Future[Any]):
    """The future of a handler that may go on after it was cancelled: `over` is set when it has really ended."""

    over = False


def is_over(future: Future[Any]) -> bool:
    """Whether nothing of a call runs any more, however its future was ended."""
    return future.over if isinstance(future, Overstaying) else future.done()


class Abandoned:
    """The abandoned calls of every plugin. Safe from any thread, and never waits for a plugin."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._calls: dict[str, list[tuple[Future[Any], float]]] = {}

    def note(self, plugin_id: str, future: Future[Any]) -> int:
        """Note one more abandoned call, and give how many of the plugin's are stuck by now."""
        now = self._clock()
        with self._lock:
            running = [(one, since) for one, since in self._calls.get(plugin_id, ()) if not is_over(one)]
            self._calls[plugin_id] = [*running, (future, now)]
        return sum(now - since > PATIENCE_SECONDS for _, since in running)
