"""How an event loop waits for a handler that runs elsewhere: in a thread of its plugin's, or in a worker."""

from __future__ import annotations

import asyncio
import contextlib
from concurrent.futures import CancelledError, Future
from typing import Any

MOMENT_SECONDS = 0.0003
"""How long the server's loop may stand still for one handler, where only that one runs and was as quick before."""


class Dropped(Exception):
    """The handler's task was cancelled by its plugin or with it, not by the caller."""


async def finished(future: Future[Any], seconds: float, at_once: bool) -> Any:
    """Wait for a future of another thread without taking its cancellation for one's own. Raises `TimeoutError`.

    `at_once`: the answer is near and nobody else waits, so this thread stands still for a moment. A turn of the event
    loop costs more than the whole handler: two system calls, and two threads that want the interpreter at once.
    """
    if at_once:
        with contextlib.suppress(TimeoutError, CancelledError):
            future.exception(MOMENT_SECONDS)
    if not future.done():
        await _told(future, seconds)
    if future.cancelled():
        raise Dropped("the handler cancelled itself")
    return future.result()


async def _told(future: Future[Any], seconds: float) -> None:
    """Wait, on the loop, until the future is done. Raises `TimeoutError`."""
    loop = asyncio.get_running_loop()
    done = loop.create_future()

    def overdue() -> None:
        if not done.done():
            done.set_exception(TimeoutError())

    def wake(_: Future[Any]) -> None:
        def tell() -> None:
            if not done.done():
                done.set_result(None)

        # a handler that hung may end after the loop of whoever asked is closed
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(tell)

    future.add_done_callback(wake)
    timer = loop.call_later(seconds, overdue)
    try:
        await done
    finally:
        timer.cancel()
