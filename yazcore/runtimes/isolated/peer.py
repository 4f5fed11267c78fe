"""The threads of a worker, and its side of the wire.

Whichever thread reads a call runs it. A call that is soon over keeps the reading to its thread, and so costs no switch
between threads. Another thread reads on as soon as a call asks the host for something, or goes on for a moment: the
main thread looks for such calls while there are any. A call that once needed another reader gets one at once the next
times. So an answer is always read by a thread that waits for nothing. Async handlers run on one loop thread.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import itertools
import os
import socket
import threading
from collections import deque
from collections.abc import Callable, Coroutine, Hashable
from time import sleep  # a plugin may put another in its place
from typing import Any

import attrs

from yazcore.runtimes.isolated import wire
from yazcore.runtimes.isolated.crossing import service_error_from
from yazcore.runtimes.isolated.wire import CALL, CANCEL, ERROR, EVENT, RESULT
from yazcore.runtimes.values import MAX_BYTES, TooLarge, portable

HANDLER_THREADS = 8
"""How many blocking handlers run at a time, as in the `trusted` runtime."""

MOST_THREADS = 32
"""How many calls run at a time, hooks that the host calls meanwhile included."""

MOMENT_SECONDS = 0.002
"""How long a call may keep the reading to its thread, in seconds; up to twice that."""

_AT_ONCE = 64
"""How often a call that needed another reader gets one at once, before it is tried without again."""

_QUIET = 25
"""After how many moments without a call the main thread looks no more."""

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
        self._reading = threading.Lock()
        self._counting = threading.Lock()
        self._standing = 0
        self._running = 0
        self._keeper: object = None
        self._kind: Hashable = None
        self._kept = 0
        self._at_once: dict[Hashable, int] = {}
        self._is_watched = False
        self._watch_again = threading.Event()
        self._waiting_jobs: deque[Job] = deque()
        self._numbers = itertools.count(1)
        self._asked: dict[int, _Answer] = {}
        self._parts: dict[int, list[bytes]] = {}
        self._loop: asyncio.AbstractEventLoop | None = None

    def serve(self) -> None:
        """Begin to read, in a thread of its own."""
        threading.Thread(target=self._stand, name="yaz-hand", daemon=True).start()

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
        self._hand_over()
        self._asked[number] = answer
        try:
            self.send(CALL, number, name, [parent, *plain, blobs])
        except BaseException:
            self._asked.pop(number, None)
            raise

    # --- in -------------------------------------------------------------------------------------------------------

    def _stand(self) -> None:
        me, reads = object(), False
        while True:
            if not reads:
                self._take_reading()
            job = self._next_job()
            self._keep_reading(me, job.kind)
            following: Job | None = job
            while following is not None:
                following.run()
                following = self._next_waiting()
                if following is not None:
                    self._hand_over(is_expected=True)
            reads = self._still_reads(me)

    def _take_reading(self) -> None:
        with self._counting:
            self._standing += 1
        self._reading.acquire()
        with self._counting:
            self._standing -= 1

    def _keep_reading(self, me: object, kind: Hashable) -> None:
        """Keep the reading while a call of this kind runs, or let another thread have it at once."""
        with self._counting:
            self._keeper, self._kind = me, kind
            self._kept += 1
            left = self._at_once.get(kind, 0)
            if left:
                self._at_once[kind] = left - 1
            elif not self._is_watched:
                self._is_watched = True
                self._watch_again.set()
        if left:
            self._hand_over(is_expected=True)

    def _still_reads(self, me: object) -> bool:
        """Whether the reading was kept until the call was over; nobody can take it from this thread then."""
        with self._counting:
            if self._keeper is not me:
                return False
            self._keeper = None
            return True

    def _hand_over(self, is_expected: bool = False) -> bool:
        """Let another thread read on, where the one that reads runs a call. From any thread. Gives whether it did."""
        with self._counting:
            if self._keeper is None:
                return False
            self._keeper = None
            if not is_expected:
                self._at_once[self._kind] = _AT_ONCE
            is_last = self._standing == 0
        if is_last:
            with contextlib.suppress(RuntimeError):  # no more threads: whoever runs the call will read again
                self.serve()
        self._reading.release()
        return True

    def watch(self) -> None:
        """For ever: look for calls that go on, and let another thread read on. For the main thread."""
        while True:
            self._watch_again.wait()
            quiet = 0
            while quiet < _QUIET:
                before = self._kept
                sleep(MOMENT_SECONDS)
                if self._kept != before:
                    quiet = 0
                elif not self._hand_over():
                    quiet += 1
            with self._counting:
                if self._keeper is None:
                    self._is_watched = False
                    self._watch_again.clear()

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
            if self._waiting_jobs:
                return self._waiting_jobs.popleft()
            self._running -= 1
            return None

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
