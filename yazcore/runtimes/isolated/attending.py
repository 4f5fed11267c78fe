"""Who reads what a worker says: a thread that listens, or whoever waits for an answer.

An answer that another thread reads costs a switch between two threads, which is more than a short call. So whoever
waits attends to the socket meanwhile, and routes whatever comes, for a moment; the listener is not woken then. It reads
what comes while nobody attends. One of them has the lead at a time.
"""

from __future__ import annotations

import contextlib
import select
import socket
import struct
import threading
import time
from collections.abc import Callable

from yazcore.runtimes.isolated import wire

MOMENT_SECONDS = 0.002
"""How long whoever waits attends while nothing comes, at least: the kernel rounds it up to ticks of its clock."""

_LOOK_SECONDS = 5.0
"""After how long of silence the listener looks without having heard anything: an interruption can deafen it."""

_TIMEVAL = struct.Struct("@ll")
_SILENT = 0

Route = Callable[[wire.Message, int], float]
"""Brings a message of so many bytes to whom it is for; never waits. Gives for how long to read nothing, in seconds."""


class Interrupted(Exception):
    """Whoever attended was interrupted (Ctrl-C) with a message in hand, which is lost."""


class Attending:
    """The reading end of one worker's socket, which is the caller's to close when `listen` has ended."""

    def __init__(self, connection: socket.socket, route: Route) -> None:
        connection.settimeout(None)
        # A `select` before each `recv` would cost half of a short call.
        connection.setsockopt(
            socket.SOL_SOCKET, socket.SO_RCVTIMEO, _TIMEVAL.pack(0, int(MOMENT_SECONDS * 1_000_000))
        )
        self._connection = connection
        self._number = connection.fileno()
        self._reader = wire.Reader(connection, lazy=True)
        self._route = route
        self._lead = threading.Lock()
        self._epoll = select.epoll()
        self._heard = select.EPOLLIN | select.EPOLLONESHOT
        self._epoll.register(self._number, _SILENT)
        self._quiet_until = 0.0
        self._trouble: Exception | None = None

    def listen(self, over: threading.Event) -> None:
        """Read and route, until `over` is set in a time of quiet; for a thread of its own.

        Raises `Broken`, `Closed`, `Interrupted`, and whatever routing raises, whoever read. When it ends, however it
        does, nobody attends any more.
        """
        try:
            while True:
                left = self._quiet_until - time.monotonic()
                if left > 0 and over.wait(left):
                    return
                with self._lead:
                    if self._trouble is None:
                        self._read(socket.MSG_DONTWAIT)
                    if self._trouble is not None:
                        raise self._trouble
                    self._hear()
                self._epoll.poll(_LOOK_SECONDS)
        finally:
            self._lead.acquire()
            self._epoll.close()
            self._reader.close()

    def attend(self, is_over: Callable[[], bool], seconds: float) -> None:
        """Read and route until `is_over`, and for `seconds` at most; where somebody else reads, return at once.

        What goes wrong the listener raises.
        """
        leads: list[bool] = []
        try:
            leads.extend(map(self._lead.acquire, (False,)))  # as in `Reader.fill`: no signal comes between the two
            if leads[0] and self._trouble is None and not self._is_quiet():
                self._epoll.modify(self._number, _SILENT)
                end = time.monotonic() + seconds
                is_brief = seconds < MOMENT_SECONDS
                while not is_over() and (not is_brief or self._comes(end)) and self._read():
                    if self._is_quiet() or time.monotonic() >= end:
                        break
        finally:
            if leads and leads[0]:
                try:
                    self._hear()
                finally:
                    self._lead.release()

    def _comes(self, end: float) -> bool:
        """Whether something comes until `end`: exactly, where a socket's own limit is a tick of the kernel's clock."""
        if self._reader.comes_soon():
            return True
        try:
            return bool(select.select((self._number,), (), (), max(end - time.monotonic(), 0))[0])
        except ValueError:  # a descriptor beyond those that it knows
            return False

    def _read(self, flags: int = 0) -> bool:
        """Receive and route; whether something came. For whoever has the lead."""
        has_received = False
        try:
            self._reader.fill(flags)
            has_received = True
            # All of it: of what lies here no `epoll` would tell.
            while (found := self._reader.take()) is not None:
                if (wait := self._route(*found)) > 0:
                    self._quiet_until = time.monotonic() + wait
        except BlockingIOError:
            return False
        except Exception as error:  # noqa: BLE001 - whatever it is, the listener ends the worker with it
            self._trouble = error
            return False
        except BaseException:
            if has_received:
                self._trouble = Interrupted("whoever read was interrupted")
            raise
        return True

    def _is_quiet(self) -> bool:
        return self._quiet_until > 0 and self._quiet_until > time.monotonic()

    def _hear(self) -> None:
        """Have the listener hear of what comes next, and of trouble."""
        if self._trouble is not None:
            with contextlib.suppress(OSError):
                self._connection.shutdown(socket.SHUT_RD)
        self._epoll.modify(self._number, self._heard)
