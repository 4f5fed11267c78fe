"""What a running call says to its client: progress and words, from whatever thread they come."""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections import deque
from collections.abc import Awaitable, Mapping
from typing import Any, TypeVar, get_args

import mcp_types as types
from mcp.server import ServerRequestContext
from mcp.server.connection import allowed_log_levels
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

LONGEST_WORDS = 500
"""The most characters of a report's message, or of a few words, that are sent."""

MOST_WORDS = 100
"""How many words wait for a client that reads slowly; the oldest are dropped."""

LEVELS: tuple[types.LoggingLevel, ...] = get_args(types.LoggingLevel)
"""How important words are, from the least to the most."""

_LEVEL = "yazcore.level"
_FIRST_LEVEL: types.LoggingLevel = "info"

_T = TypeVar("_T")


def set_level(ctx: ServerRequestContext[Any, Any], level: types.LoggingLevel) -> None:
    """Keep what the client of an older session wants to read, until its session ends."""
    # The SDK keeps nothing public for a whole session (mcp 1.2).
    ctx.session._connection.state[_LEVEL] = level


def wanted(ctx: ServerRequestContext[Any, Any]) -> frozenset[str]:
    """The levels of words that the client wants to read: of this request in the newer era, of its session before."""
    if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
        meta: Any = ctx.meta
        return allowed_log_levels(ctx.protocol_version, meta)
    lowest = ctx.session._connection.state.get(_LEVEL, _FIRST_LEVEL)
    return frozenset(LEVELS[LEVELS.index(lowest) :])


class Talk:
    """The way from a handler to one client's request.

    Of progress the latest report wins: a client that reads slowly misses steps in between, never the last one. Values
    that do not grow are dropped, as the protocol wants them to grow. Whatever cannot be sent is dropped too: it is said
    in passing, and never a reason to lose the result.
    """

    def __init__(self, ctx: ServerRequestContext[Any, Any], name: str) -> None:
        self._ctx = ctx
        self._name = name
        self._reports = isinstance(ctx.meta, Mapping) and "progress_token" in ctx.meta
        self._loop = asyncio.get_running_loop()
        self._wake = asyncio.Event()
        self._latest: deque[tuple[float, float | None, str]] = deque(maxlen=1)
        self._words: deque[tuple[types.LoggingLevel, str]] = deque(maxlen=MOST_WORDS)
        self._sent = -math.inf
        self._passing: asyncio.Task[None] | None = None
        self._over = False

    def report(self, done: float, total: float | None, message: str) -> None:
        """Take a report of progress. Safe from any thread; never blocks, never raises for a client that left."""
        if self._reports:
            self._latest.append((done, total, message))
            self._call_soon()

    def say(self, text: str, level: str = "info") -> None:
        """Take a few words. Safe from any thread, as `report` is."""
        if level in wanted(self._ctx) and (words := _words(text)) is not None:
            self._words.append((LEVELS[LEVELS.index(level)], words))
            self._call_soon()

    def let_go(self) -> None:
        """End the stream of the request, where its client can come back for the rest. Safe from any thread."""
        close = self._ctx.close_sse_stream
        if close is not None:
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(lambda: self._loop.create_task(close()))  # type: ignore[arg-type]

    async def during(self, call: Awaitable[_T]) -> _T:
        """Pass on what is said while `call` runs; all of it is sent before its result is given."""
        try:
            result = await call
        except asyncio.CancelledError:
            if self._passing is not None:
                self._passing.cancel()
            raise
        except BaseException:
            await self._finished()
            raise
        await self._finished()
        return result

    def _call_soon(self) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody listens any more
            self._loop.call_soon_threadsafe(self._begin)

    def _begin(self) -> None:
        if not self._over:
            self._wake.set()
            if self._passing is None:  # most calls say nothing, and pay for nothing
                self._passing = self._loop.create_task(self._pass_on())

    async def _finished(self) -> None:
        if self._latest or self._words:  # a quick handler may end before the loop heard that it spoke
            self._begin()
        self._over = True
        if self._passing is not None:
            self._wake.set()
            try:
                await self._passing
            except asyncio.CancelledError:
                self._passing.cancel()
                raise

    async def _pass_on(self) -> None:
        last_round = False
        while not last_round:
            await self._wake.wait()
            self._wake.clear()
            last_round = self._over
            while self._words:
                level, text = self._words.popleft()
                params = types.LoggingMessageNotificationParams(level=level, data=text, logger=self._name)
                note = types.LoggingMessageNotification(params=params)
                await self._ctx.session.send_notification(note, related_request_id=self._ctx.request_id)
            if self._latest:
                done, total, message = self._latest.popleft()
                if _is_number(done) and done > self._sent and (total is None or _is_number(total)):
                    self._sent = done
                    await self._ctx.session.report_progress(done, total, _words(message))


def _is_number(value: Any) -> bool:
    """Whether a value is a number that JSON has, in the form every client can read."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer of hundreds of digits
        return False


def _words(message: Any) -> str | None:
    """A few words as they can be sent."""
    if not isinstance(message, str) or not message:
        return None
    return message[:LONGEST_WORDS].encode("utf-8", "backslashreplace").decode()
