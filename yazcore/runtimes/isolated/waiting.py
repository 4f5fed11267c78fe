"""Calls that a worker has not answered yet, and the one for which a thread waits."""

from __future__ import annotations

import queue
from typing import Any, Protocol

from yazcore.capabilities.context import Frame


class WorkerGone(Exception):
    """The worker has ended. The text says why, as a sentence without its subject: `it ended with signal SIGKILL`."""


class OpenCall(Protocol):
    """A call that a worker has not answered yet. Each of its methods returns at once."""

    frame: Frame
    takes_bytes: bool
    unpacks: bool
    """Whether it leaves a large answer packed, for whoever waits."""

    def answered(self, kind: int, name: str, value: Any) -> None:
        """Take the worker's answer: a RESULT or an ERROR."""

    def lost(self, why: str) -> None:
        """The worker has ended."""

    def progress(self, done: float, total: float | None, message: str) -> None:
        """Pass on how far it is. Runs in a thread that may wait."""


class Waiting:
    """A call for which a thread waits: a hook's, which may return bytes of any size."""

    takes_bytes = True
    unpacks = True

    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        self._answers: queue.SimpleQueue[tuple[int, str, Any] | str] = queue.SimpleQueue()

    def answered(self, kind: int, name: str, value: Any) -> None:
        """Keep the worker's answer."""
        self._answers.put((kind, name, value))

    def lost(self, why: str) -> None:
        """Keep why there is none."""
        self._answers.put(why)

    def progress(self, done: float, total: float | None, message: str) -> None:
        """A hook has no progress."""

    def is_over(self) -> bool:
        """Whether there is an answer, or none will come."""
        return not self._answers.empty()

    def wait(self, seconds: float) -> tuple[int, str, Any]:
        """The answer. Raises `queue.Empty` after `seconds`, and `WorkerGone`."""
        answer = self._answers.get(timeout=max(seconds, 0))
        if isinstance(answer, str):
            raise WorkerGone(answer)
        return answer
