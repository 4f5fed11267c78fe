"""A handler's call on its way through a worker: a future that is set with what the worker said, looked at first.

A worker may say anything, so nothing it says is taken for more than plain data: results are checked as those of a
handler in this process are, errors are made anew from a list.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from typing import Any

from yazcore.capabilities.context import Frame
from yazcore.runtimes.base import HandlerFailed
from yazcore.runtimes.facade import Failure
from yazcore.runtimes.isolated import wire
from yazcore.runtimes.isolated.answers import UNPACK
from yazcore.runtimes.isolated.crossing import error_from
from yazcore.runtimes.isolated.link import Link
from yazcore.runtimes.isolated.wire import RESULT, Later
from yazcore.runtimes.values import NotPortable

PATIENCE_SECONDS = 10.0
"""How long a call without a deadline may go on when nobody waits for it any more, in seconds."""


class Promise(Future[Any]):
    """The future of one handler's call: `which` by contribution key, name and field, with these arguments.

    `finish` says how its answer is taken (`answers`). `abandoned` is called once, where it is cancelled or nobody waits
    any more.
    """

    def __init__(
        self,
        frame: Frame,
        which: tuple[str, str, str],
        arguments: list[Any],
        finish: str,
        abandoned: Callable[[Promise], None],
    ) -> None:
        super().__init__()
        self.frame = frame
        self.which = which
        self.arguments = arguments
        self.finish = finish
        self.takes_bytes = finish in ("readable", "plain")
        self.link: Link | None = None
        self.number = 0
        self.overrun_at = 0.0
        self._abandoned = abandoned
        self.is_abandoned = False

    unpacks = False

    def exception(self, timeout: float | None = None) -> BaseException | None:
        """As a future's. Whoever waits attends to the worker meanwhile."""
        return super().exception(self._attended(timeout))

    def result(self, timeout: float | None = None) -> Any:
        """As a future's. Whoever waits attends to the worker meanwhile."""
        return super().result(self._attended(timeout))

    def _attended(self, timeout: float | None) -> float | None:
        """Attend, and give what is left of the time."""
        if self.link is None or self.done():
            return timeout
        end = time.monotonic() + (float("inf") if timeout is None else timeout)
        self.link.attend(self.done, end - time.monotonic())
        return timeout and max(end - time.monotonic(), 0)

    def cancel(self) -> bool:
        """Give the call up: the worker is told, and what it answers is dropped."""
        was_cancelled = super().cancel()
        if was_cancelled:
            self.abandon()
        return was_cancelled

    def abandon(self) -> None:
        """Tell the worker that nobody waits. From its deadline on, or soon where it has none, it has run over."""
        if self.is_abandoned:
            return
        self.is_abandoned = True
        now, deadline = time.monotonic(), self.frame.call.deadline
        self.overrun_at = max(now, deadline) if deadline < float("inf") else now + PATIENCE_SECONDS
        self._abandoned(self)

    def answered(self, kind: int, name: str, value: Any) -> None:
        """Take what the worker said. Raises `Broken` where that cannot be, after the future has been set."""
        if kind != RESULT and name == "ended":
            super().cancel()
            return
        try:
            with contextlib.suppress(InvalidStateError):  # nobody waits any more
                if kind == RESULT:
                    self.set_result(UNPACK[self.finish](_there(value)))
                else:
                    self.set_exception(_raised(error_from(name, _there(value), self.frame)))
        except ValueError as error:  # it is no plain data
            self._fail(error)
        except wire.Broken as broken:
            self.lost(f"it sent {broken}")
            raise

    def lost(self, why: str) -> None:
        """The worker has ended."""
        self._fail(HandlerFailed(failure_of(self.frame, why)))

    def progress(self, done: float, total: float | None, message: str) -> None:
        """Pass on how far it is."""
        self.frame.call.report(done, total, message)

    def _fail(self, error: Exception) -> None:
        with contextlib.suppress(InvalidStateError):
            self.set_exception(error)


def failure_of(frame: Frame, why: str) -> Failure:
    """That a worker ended while this ran in it."""
    return Failure(frame.plugin, frame.version, frame.where, "WorkerEnded", f"its worker was ended: {why}", "")


def not_portable(error: NotPortable, frame: Frame) -> Failure:
    """That a hook's argument, or what it returned, is no plain data, and so nothing for a worker."""
    return Failure(frame.plugin, frame.version, frame.where, "hook-not-portable", str(error), "")


def _there(value: Any) -> Any:
    return value.value() if isinstance(value, Later) else value


def _raised(error: Exception | Failure) -> Exception:
    return HandlerFailed(error) if isinstance(error, Failure) else error


def hook_value(kind: int, name: str, value: Any, frame: Frame) -> Any:
    """What a hook returned, as it came. Raises `HookFailed`, and `Broken`."""
    value = _there(value)
    if kind == RESULT:
        return value
    error = error_from(name, value, frame)
    if isinstance(error, NotPortable):
        error = not_portable(error, frame)
    elif isinstance(error, Exception):
        error = Failure.of(error, frame.plugin, frame.version, frame.where)
    raise HookFailed(error)


class HookFailed(Exception):
    """A hook, or the start of a plugin, raised."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(str(failure))
        self.failure = failure
