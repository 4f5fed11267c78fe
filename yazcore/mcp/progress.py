"""Progress of one call, from whatever thread reports it to the client that asked for it."""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections import deque
from collections.abc import Awaitable
from typing import Any, TypeVar

import anyio
from mcp.server.session import ServerSession

from yazcore.outcomes import ProtocolFault

LONGEST_MESSAGE = 500
"""The most characters of a report's message that are sent."""

_T = TypeVar("_T")


class Progress:
    """The way from a handler's `context.progress` to one client's session.

    The latest report wins: a client that reads slowly misses steps in between, never the last one. Values that do not
    grow are dropped, as the protocol wants them to grow.
    """

    def __init__(self, session: ServerSession) -> None:
        self._session = session
        self._loop = asyncio.get_running_loop()
        self._wake = asyncio.Event()
        self._latest: deque[tuple[float, float | None, str]] = deque(maxlen=1)
        self._over = False

    def report(self, done: float, total: float | None, message: str) -> None:
        """Take a report. Safe from any thread; never blocks, never raises for a client that left."""
        self._latest.append((done, total, message))
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody listens any more
            self._loop.call_soon_threadsafe(self._wake.set)

    async def during(self, call: Awaitable[_T]) -> _T:
        """Pass reports on while `call` runs; all of them are sent before its result is given."""
        fault: ProtocolFault | None = None
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._pass_on)
            try:
                result = await call
            except ProtocolFault as error:  # out of here it would come as an exception group
                fault = error
            finally:
                self._over = True
                self._wake.set()
        if fault is not None:
            raise fault
        return result

    async def _pass_on(self) -> None:
        sent, last_round = -math.inf, False
        while not last_round:
            await self._wake.wait()
            self._wake.clear()
            last_round = self._over
            if self._latest:
                done, total, message = self._latest.popleft()
                if _is_number(done) and done > sent and (total is None or _is_number(total)):
                    sent = done
                    await self._session.report_progress(done, total, _words(message))


def _is_number(value: Any) -> bool:
    """Whether a value is a number that JSON has, in the form every client can read."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer of hundreds of digits
        return False


def _words(message: Any) -> str | None:
    """A few words as they can be sent: progress is said in passing, and never a reason to lose the result."""
    if not isinstance(message, str) or not message:
        return None
    return message[:LONGEST_MESSAGE].encode("utf-8", "backslashreplace").decode()
