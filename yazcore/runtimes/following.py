"""Waiting for a call from outside the gate: whoever waits may go, and a call that takes too long is ended."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from typing import Any, TypeVar

from yazcore.capabilities.context import Call

T = TypeVar("T")


def following(running: Future[Any], call: Call, seconds: float, outcome: Callable[[], T]) -> Future[T]:
    """A future of what `outcome` gives, asked once: when `running` has ended, or when it had so many seconds.

    Where it is overdue, and where the future is cancelled, the call is told and `running` is cancelled.
    """
    told: Future[T] = Future()
    asked = threading.Lock()

    def tell(_: Future[Any] | None = None) -> None:
        if not asked.acquire(blocking=False):
            return
        with contextlib.suppress(InvalidStateError):  # whoever waited has gone
            try:
                value = outcome()
            except Exception as error:  # noqa: BLE001 - whatever it is, it is for whoever waits
                told.set_exception(error)
            else:
                told.set_result(value)

    def end() -> None:
        call.cancelled.set()
        running.cancel()

    def overdue() -> None:
        tell()
        end()

    timer = threading.Timer(seconds, overdue)
    timer.daemon = True
    told.add_done_callback(lambda one: end() if one.cancelled() else None)
    told.add_done_callback(lambda _: timer.cancel())
    timer.start()
    running.add_done_callback(tell)
    return told
