"""The host's end of one worker: calls go out, answers and questions come in, and it ends for everybody at once.

Whoever reads only routes (`attending`): it never writes, and never runs code that could wait. Sending never blocks
either, whoever sends: what the socket does not take waits in a queue with a thread of its own. Services run in threads
of this worker's own, so that no other plugin waits for them. Whatever a worker says that cannot be is its end.
"""

from __future__ import annotations

import contextlib
import itertools
import queue
import socket
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any

import attrs

from yazcore.capabilities.context import Frame
from yazcore.runtimes.isolated import wire
from yazcore.runtimes.isolated.allowance import Allowance
from yazcore.runtimes.isolated.attending import Attending
from yazcore.runtimes.isolated.crossing import service_fault_of
from yazcore.runtimes.isolated.lanes import Lane
from yazcore.runtimes.isolated.said import is_line, is_report, question
from yazcore.runtimes.isolated.spawner import Process
from yazcore.runtimes.isolated.waiting import OpenCall, Waiting, WorkerGone
from yazcore.runtimes.isolated.wire import CALL, CANCEL, ERROR, EVENT, RESULT, Later
from yazcore.runtimes.threads import Threads
from yazcore.runtimes.values import MAX_BYTES

SERVICE_THREADS = 8
"""How many services of one plugin run at a time."""

GRACE_SECONDS = 0.3
"""How long a call that is over may still take to end before its worker is ended."""

MOST_QUESTIONS = 256
"""How many questions of a worker may be open."""

_AT_ONCE = int(socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL)
_MOST_PARTS = 2 * MAX_BYTES
_MOST_BACKLOG = MAX_BYTES
_LOW_BACKLOG = 8 * 2**20
_STALL_SECONDS = 30.0
_HOW_SECONDS = 2.0
_LOOK_SECONDS = 0.01
_MOST_LINES = 1000


class Overdue(Exception):
    """The worker did not answer in time."""


Serve = Callable[[str, list[Any], dict[str, Any], Frame | None], Any]
"""Answers a question of the plugin's: what it asks for, with what, in whose call (None: in nobody's)."""


@attrs.frozen
class Gone:
    """Why a worker ended, and whether that was the plugin's fault."""

    why: str
    fault: bool


class Link:
    """One worker, from its start to its end.

    `ended` is called once, when nothing is left of it; `log` takes a level and a line.
    """

    def __init__(
        self,
        connection: socket.socket,
        process: Process,
        serve: Serve,
        log: Callable[[int, str], None],
        ended: Callable[[Link, Gone], None],
    ) -> None:
        self._connection = connection
        self.process = process
        self._serve = serve
        self._log = log
        self._ended = ended
        self.gone: Gone | None = None
        self._numbers = itertools.count(1)
        self._last = 0
        self._open: dict[int, OpenCall] = {}
        self._lock = threading.Lock()
        self._out = threading.Condition(self._lock)
        self._backlog: deque[memoryview] = deque()
        self._pending = 0
        self._writer: threading.Thread | None = None
        self._questions: set[int] = set()
        self._parts: dict[tuple[str, int], list[bytes]] = {}
        self._parts_size = 0
        self._lines: deque[tuple[int, str]] = deque(maxlen=_MOST_LINES)
        self._lanes: dict[int, Lane] = {}
        self._over = threading.Event()
        self._allowance = Allowance()
        self._attending = Attending(connection, self._route)
        self._threads = Threads(f"yaz-services-{process.number}", SERVICE_THREADS)
        self._thread = threading.Thread(target=self._read, name=f"yaz-worker-{process.number}", daemon=True)
        self._thread.start()

    # --- calls ----------------------------------------------------------------------------------------------------

    def begin(self, call: OpenCall, name: str, value: Any) -> int:
        """Send a call, and give its number. Raises `WorkerGone`, and then nothing was sent."""
        with self._lock:
            if self.gone is not None:
                raise WorkerGone(self.gone.why)
            number = self._last = next(self._numbers)
            self._open[number] = call
        try:
            self.send(CALL, number, name, value)
        except BaseException:
            self._open.pop(number, None)
            raise
        return number

    def ask(self, name: str, value: Any, frame: Frame, seconds: float) -> Any:
        """Call and wait for the answer; from any thread, also one that runs an event loop.

        Gives the kind, name and value of the answer. Raises `WorkerGone` and `Overdue`.
        """
        call = Waiting(frame)
        end = time.monotonic() + seconds
        number = self.begin(call, name, value)
        try:
            self.attend(call.is_over, seconds)
            return call.wait(end - time.monotonic())
        except queue.Empty:
            self.abandon(number)
        except BaseException:  # Ctrl-C
            self.abandon(number)
            raise
        try:
            call.wait(GRACE_SECONDS)
        except (queue.Empty, WorkerGone):
            self.end(f"{frame.where} did not end in {seconds:g} seconds")
        raise Overdue

    def attend(self, is_over: Callable[[], bool], seconds: float) -> None:
        """Read what the worker says until `is_over`, instead of waiting; perhaps for a moment only, or not at all."""
        self._attending.attend(is_over, seconds)

    def abandon(self, number: int) -> None:
        """Tell the worker that nobody waits for a call any more."""
        with contextlib.suppress(WorkerGone):
            self.send(CANCEL, number, "", None)

    def is_open(self, number: int) -> bool:
        """Whether a call has not been answered."""
        return number in self._open

    def drain(self, seconds: float) -> None:
        """Wait until the worker has answered everything, or has ended; also what nobody waits for any more."""
        end = time.monotonic() + seconds
        while self._open and time.monotonic() < end and not self._over.wait(_LOOK_SECONDS):
            pass

    # --- out ------------------------------------------------------------------------------------------------------

    def send(self, kind: int, number: int, name: str, value: Any) -> None:
        """Send a message. Never blocks. Raises `WorkerGone`, and what the wire does for what is no data."""
        frame = wire.frame(kind, number, name, value)
        with self._lock:
            if self.gone is not None:
                raise WorkerGone(self.gone.why)
            rest = memoryview(frame)
            if not self._backlog:
                try:
                    rest = rest[self._connection.send(rest, _AT_ONCE) :]
                except BlockingIOError:
                    pass
                except OSError:  # it has ended: whoever reads will say how
                    return
                if not rest:
                    return
            self._backlog.append(rest)
            self._pending += len(rest)
            if self._pending <= _MOST_BACKLOG:
                if self._writer is None:
                    self._writer = threading.Thread(target=self._write, name="yaz-writer", daemon=True)
                    self._writer.start()
                self._out.notify_all()
                return
        self.end("it does not read what it is sent")
        raise WorkerGone(self.gone.why if self.gone is not None else "")

    def _write(self) -> None:
        while True:
            with self._out:
                while not self._backlog and self.gone is None:
                    self._out.wait()
                if self.gone is not None:
                    return
                rest = self._backlog[0]
            try:
                self._connection.sendall(rest)  # ended by `shutdown`
            except OSError:
                return
            with self._out:
                self._backlog.popleft()
                self._pending -= len(rest)
                self._out.notify_all()

    def _wait_for_room(self) -> None:
        """Wait until little is left to be sent: before each part of what is long. For the services' own threads."""
        deadline = time.monotonic() + _STALL_SECONDS
        with self._out:
            while self._pending > _LOW_BACKLOG and self.gone is None:
                if not self._out.wait(deadline - time.monotonic()):
                    break
            else:
                return
        self.end("it does not read what it is sent")

    # --- in -------------------------------------------------------------------------------------------------------

    def _read(self) -> None:
        try:
            self._attending.listen(self._over)
        except wire.Broken as broken:
            self.end(f"it sent {broken}")
        except wire.Closed:
            self.process.kill()  # it may have closed its end and gone on
            self.end(f"it ended with {self.process.how(_HOW_SECONDS)}")
        except Exception as error:  # noqa: BLE001 - whatever it said must not leave a worker that nobody reads
            self.end(f"what it sent could not be read: {type(error).__name__}")
        finally:
            with self._out:  # nobody else can be in `send` now, or attend, and nobody can come
                self._connection.close()
            self.process.how(_HOW_SECONDS)
            self.process.close()
            self._threads.close()
            self._ended(self, self.gone or Gone("it ended", fault=True))

    def _route(self, message: wire.Message, length: int) -> float:
        """Bring a message to whom it is for; for how long to read nothing more, in seconds. Raises `Broken`."""
        kind, number, name, value = message
        if kind in (RESULT, ERROR):
            self._answered(kind, number, name, value)
            return 0
        if kind == EVENT and name in ("result-part", "argument-part"):
            self._part(name, number, value)
            return self._allowance.spend(0)
        if kind == CALL:
            self._question(number, name, value)
        elif kind == EVENT:
            self._event(number, name, value)
        return self._allowance.spend(length)

    def _answered(self, kind: int, number: int, name: str, value: Any) -> None:
        parts = self._joined("result-part", number)
        call = self._open.get(number)
        if call is None:
            if not 0 < number <= self._last:
                raise wire.Broken("an answer to a call that was never made")
            return  # nobody waits for it any more
        if kind == RESULT and name == wire.WHOLE:
            if not call.takes_bytes:
                raise wire.Broken("bytes where none can be")
            value = parts
        if self._open.pop(number, None) is None:  # it was lost a moment ago
            return
        lane = self._lanes.pop(number, None)
        if lane is not None:  # after what it has reported
            lane.put(lambda: call.answered(kind, name, value))
        elif isinstance(value, Later) and not call.unpacks:
            self._later(lambda: call.answered(kind, name, value))
        else:
            call.answered(kind, name, value)

    def _later(self, job: Callable[[], None]) -> None:
        def run() -> None:
            try:
                job()
            except wire.Broken as broken:
                self.end(f"it sent {broken}")

        with contextlib.suppress(RuntimeError):  # the threads are closed: it has ended
            self._threads.submit(run)

    def _part(self, name: str, number: int, data: Any) -> None:
        data = data.value() if isinstance(data, Later) else data
        if type(data) is not bytes:
            raise wire.Broken("a part that is none")
        if name == "result-part" and number not in self._open:
            return
        self._parts.setdefault((name, number), []).append(data)
        self._parts_size += len(data)
        if self._parts_size > _MOST_PARTS or len(self._parts) > MOST_QUESTIONS:
            raise wire.Broken("more parts than belong to anything")

    def _joined(self, name: str, number: int) -> bytes:
        parts = self._parts.pop((name, number), None)
        if parts is None:
            return b""
        self._parts_size -= sum(map(len, parts))
        return b"".join(parts)

    def _event(self, number: int, name: str, value: Any) -> None:
        if isinstance(value, Later):
            raise wire.Broken("an event that is too long")
        if name == "log" and is_line(value):
            is_first = not self._lines
            self._lines.append((value[0], value[1]))
            if is_first:
                self._later(self._tell_lines)
        elif name == "progress" and is_report(value):
            call = self._open.get(number)
            if call is not None:
                report = call.progress
                self._lanes.setdefault(number, Lane(self._later)).put(lambda: report(*value))
        else:
            raise wire.Broken("an event that is none")

    def _tell_lines(self) -> None:
        while self._lines:
            level, line = self._lines.popleft()
            self._log(level, line)

    # --- questions ------------------------------------------------------------------------------------------------

    def _question(self, number: int, name: str, value: Any) -> None:
        if number in self._questions:
            raise wire.Broken("a question whose number is taken")
        if len(self._questions) >= MOST_QUESTIONS:
            raise wire.Broken(f"more than {MOST_QUESTIONS} questions at once")
        self._questions.add(number)
        data = self._joined("argument-part", number)
        self._later(lambda: self._serve_one(number, name, value, data))

    def _serve_one(self, number: int, name: str, value: Any, data: bytes) -> None:
        try:
            parent, args, kwargs = question(value, data)
            call = self._open.get(parent)
            answer = self._serve(name, args, kwargs, None if call is None else call.frame)
            self._answer(number, answer)
        except wire.Broken:
            raise
        except WorkerGone:
            return
        except Exception as error:  # noqa: BLE001 - whatever a service raised is the plugin's to see
            with contextlib.suppress(WorkerGone):
                self.send(ERROR, number, *service_fault_of(error))
        finally:
            self._questions.discard(number)

    def _answer(self, number: int, value: Any) -> None:
        if type(value) is not bytes:
            try:
                self.send(RESULT, number, "", value)
            except ValueError:  # too long for one frame
                self._in_parts(number, wire.PACKED, wire.pack(value))
        elif len(value) > wire.PART:
            self._in_parts(number, wire.WHOLE, value)
        else:
            self.send(RESULT, number, "", value)

    def _in_parts(self, number: int, name: str, data: bytes) -> None:
        for part in wire.parts(data):
            self._wait_for_room()
            self.send(EVENT, number, "result-part", part)
        self.send(RESULT, number, name, None)

    # --- the end --------------------------------------------------------------------------------------------------

    def end(self, why: str, fault: bool = True) -> None:
        """End the worker at once. Whoever waits for it learns why; nothing of it is left soon after."""
        with self._out:
            if self.gone is not None:
                return
            self.gone = Gone(why, fault)
            self._out.notify_all()
        self._over.set()
        self.process.kill()
        with contextlib.suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)
        while self._open:
            with contextlib.suppress(KeyError):
                self._open.popitem()[1].lost(why)

    def join(self, seconds: float) -> None:
        """Wait until nothing is left of it; not in a thread of its own."""
        if threading.current_thread() is not self._thread:
            self._thread.join(seconds)
