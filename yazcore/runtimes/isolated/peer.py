"""The threads of a worker, and its side of the wire.

The thread that leads reads, and runs what it reads; another one reads on where that takes longer (`leadership`). So an
answer is always read by a thread that waits for nothing. Async handlers run on one loop thread. The main thread looks
for calls that take longer.
"""

from __future__ import annotations

import asyncio
import contextvars
import itertools
import os
import socket
import threading
from collections import deque
from collections.abc import Callable, Coroutine, Hashable
from typing import Any

import attrs

from yazcore.runtimes.isolated import wire
from yazcore.runtimes.isolated.crossing import service_error_from
from yazcore.runtimes.isolated.leadership import Leadership
from yazcore.runtimes.isolated.wire import CALL, CANCEL, ERROR, EVENT, RESULT
from yazcore.runtimes.values import MAX_BYTES, TooLarge, portable

HANDLER_THREADS = 8
"""How many blocking handlers run at a time, as in the `trusted` runtime."""

MOST_THREADS = 32
"""How many calls run at a time, hooks that the host calls meanwhile included."""

_BLOB = 256 * 1024
"""Longer texts and bytes among the arguments of a service travel in parts."""


@attrs.frozen
class Job:
    """What to run for a call. `kind` tells it from others: the same handler takes about as long the next time."""

    kind: Hashable
    run: Callable[[], None]


class Peer:
    """The connection, and who runs what comes.

    `start(number, name, value)` says what a CALL means: a job for a thread, or None where it has taken it over;
    `cancel(number)` is told that nobody waits for a call any more. Both run in the thread that reads, and do not wait.
    """

    def __init__(
        self,
        connection: socket.socket,
        reader: wire.Reader,
        start: Callable[[int, str, Any], Job | None],
        cancel: Callable[[int], None],
    ) -> None:
        self._connection = connection
        self._reader = reader
        self._start = start
        self._cancel = cancel
        self._sending = threading.Lock()
        self.leadership = Leadership(self.serve)
        self._counting = threading.Lock()
        self._running = 0
        self._waiting_jobs: deque[Job] = deque()
        self._numbers = itertools.count(1)
        self._asked: dict[int, _Answer] = {}
        self._parts: dict[int, list[bytes]] = {}
        self._loop: asyncio.AbstractEventLoop | None = None

    def serve(self) -> None:
        """Begin to read, in a thread of its own."""
        threading.Thread(target=self._work, name="yaz-hand", daemon=True).start()

    # --- out ------------------------------------------------------------------------------------------------------

    def send(self, kind: int, number: int, name: str, value: Any) -> None:
        """Send a message; from any thread. Raises what the wire does for what is no data."""
        frame = wire.frame(kind, number, name, value)
        with self._sending:
            self._connection.sendall(frame)

    def send_whole(self, number: int, data: bytes) -> None:
        """Answer a call with bytes of any size."""
        for part in wire.parts(data):
            self.send(EVENT, number, "result-part", part)
        self.send(RESULT, number, wire.WHOLE, None)

    def tell(self, name: str, call: int, value: Any) -> None:
        """Tell something that is not answered."""
        self.send(EVENT, call, name, value)

    def ask(self, name: str, parent: int, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Ask the host and wait; from any thread, also inside async code, which then waits."""
        answer = _Answer()
        self._send_question(answer, name, parent, args, kwargs)
        return answer.wait()

    async def ask_later(self, name: str, parent: int, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Ask the host from async code."""
        loop = asyncio.get_running_loop()
        future = loop.create_future()

        def done() -> None:
            if not future.done():
                future.set_result(None)

        answer = _Answer(lambda: loop.call_soon_threadsafe(done))
        self._send_question(answer, name, parent, args, kwargs)
        await future
        return answer.value()

    def _send_question(
        self, answer: _Answer, name: str, parent: int, args: list[Any], kwargs: dict[str, Any]
    ) -> None:
        number = next(self._numbers)
        # What is small stands in the message; long texts and bytes come before it.
        blobs: list[list[Any]] = []
        for place, value in (*enumerate(args), *kwargs.items()):
            data = _blob(value)
            if data is None:
                continue
            if len(data) > MAX_BYTES:
                raise TooLarge(f"an argument is larger than {MAX_BYTES} bytes")
            for part in wire.parts(data):
                self.send(EVENT, number, "argument-part", part)
            blobs.append([place, type(value) is str, len(data)])
        taken = {blob[0] for blob in blobs}
        small = [None if place in taken else value for place, value in enumerate(args)]
        named = {key: None if key in taken else value for key, value in kwargs.items()}
        plain = portable([small, named])
        self.leadership.give_away()
        self._asked[number] = answer
        try:
            self.send(CALL, number, name, [parent, *plain, blobs])
        except BaseException:
            self._asked.pop(number, None)
            raise

    # --- in -------------------------------------------------------------------------------------------------------

    def _work(self) -> None:
        leads = False
        while True:
            if not leads:
                self.leadership.take()
            job: Job | None = self._next_job()
            while job is not None:
                job.run()
                job = self._next_waiting()
            leads = self.leadership.regain()

    def _next_job(self) -> Job:
        """Read until there is something to run."""
        while True:
            try:
                (kind, number, name, value), _ = self._reader.read()
            except (wire.Closed, wire.Broken):
                os._exit(0)  # the host is gone, and with it all that this worker is for
            if kind == CALL:
                job = self._start(number, name, value)
                if job is not None and self._may_run(job, limit=MOST_THREADS if name == "hook" else HANDLER_THREADS):
                    self.leadership.keep(job.kind)
                    return job
            elif kind in (RESULT, ERROR):
                self._answered(kind, number, name, value)
            elif kind == CANCEL:
                self._cancel(number)
            elif kind == EVENT and name == "result-part":
                self._parts.setdefault(number, []).append(value)

    def _may_run(self, job: Job, limit: int) -> bool:
        with self._counting:
            if self._running >= limit:
                self._waiting_jobs.append(job)
                return False
            self._running += 1
            return True

    def _next_waiting(self) -> Job | None:
        with self._counting:
            if not self._waiting_jobs:
                self._running -= 1
                return None
            job = self._waiting_jobs.popleft()
        self.leadership.give_away(is_expected=True)  # how long this one takes, nobody watches
        return job

    def _answered(self, kind: int, number: int, name: str, value: Any) -> None:
        parts = self._parts.pop(number, None)
        answer = self._asked.pop(number, None)
        if answer is None:
            return
        if kind == ERROR:
            answer.set_error(service_error_from(name, value))
            return
        if name == wire.WHOLE:
            value = b"".join(parts or ())
        elif name == wire.PACKED:
            value = wire.unpack(b"".join(parts or ()))
        answer.set_value(value)

    # --- async code -----------------------------------------------------------------------------------------------

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The loop of the async handlers; its thread is started with it. For the thread that reads."""
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            threading.Thread(target=self._run_loop, args=(self._loop,), name="yaz-loop", daemon=True).start()
        return self._loop

    def _run_loop(self, loop: asyncio.AbstractEventLoop) -> None:
        asyncio.set_event_loop(loop)
        while True:  # a handler can stop the loop it runs on, and its other calls still wait
            try:
                loop.run_forever()
            except (SystemExit, KeyboardInterrupt):  # of a task that a handler left behind
                continue

    def run_later(self, number: int, work: Callable[[], Coroutine[Any, Any, None]], tasks: dict[int, Any]) -> None:
        """Run `work()` as a task with an empty context of its own, kept in `tasks` while it runs."""
        loop = self.loop

        def begin() -> None:
            task = loop.create_task(work())
            tasks[number] = task
            task.add_done_callback(lambda _: tasks.pop(number, None))

        loop.call_soon_threadsafe(begin, context=contextvars.Context())


class _Answer:
    """What the host will answer. `wake` is called when it is there; without one a thread waits."""

    __slots__ = ("_error", "_there", "_value", "_wake")

    def __init__(self, wake: Callable[[], object] | None = None) -> None:
        self._value: Any = None
        self._error: Exception | None = None
        self._there = threading.Lock()
        self._there.acquire()
        self._wake = wake

    def set_value(self, value: Any) -> None:
        self._value = value
        self._tell()

    def set_error(self, error: Exception) -> None:
        self._error = error
        self._tell()

    def _tell(self) -> None:
        if self._wake is None:
            self._there.release()
            return
        try:
            self._wake()
        except RuntimeError:  # its loop is closed
            return

    def wait(self) -> Any:
        self._there.acquire()
        return self.value()

    def value(self) -> Any:
        if self._error is not None:
            raise self._error
        return self._value


def _blob(value: Any) -> bytes | None:
    """A value as bytes, where it is to travel in parts: a long text or bytes, or a text that no frame can hold."""
    if type(value) is bytes:
        return value if len(value) > _BLOB else None
    if type(value) is not str:
        return None
    if len(value) > _BLOB or not _is_text(value):
        return value.encode("utf-8", "surrogatepass")
    return None


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
