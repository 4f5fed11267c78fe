"""Standard input and output as messages, a line each, whatever they are: a pipe, a file or a terminal.

Threads of their own and not the loop's: what waits for a client that says nothing, or writes to one that does not
read, holds nothing up, and never keeps the process from ending.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import queue
import threading

MOST_BYTES = 64 * 2**20
"""The longest line that is read, in bytes."""

_READ_BYTES = 2**16
_WAITING_LINES = 64


class TooLong(Exception):
    """A line is longer than `MOST_BYTES`."""


class LinesIn:
    """The lines of a descriptor, from the moment it is made; each ends with the line break, the last one perhaps not.

    Only so many are read ahead as `next` is behind.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._loop = asyncio.get_running_loop()
        self._lines: asyncio.Queue[bytes | Exception | None] = asyncio.Queue()
        self._room = threading.Semaphore(_WAITING_LINES)
        threading.Thread(target=self._read, name="yaz-stdin", daemon=True).start()

    async def next(self) -> bytes | None:
        """The next line; None at the end of input. Raises `TooLong`, after which there is no next."""
        line = await self._lines.get()
        self._room.release()
        if isinstance(line, Exception):
            raise line
        return line

    def _read(self) -> None:
        begun: list[bytes] = []
        size = 0
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            while True:
                try:
                    read = os.read(self._descriptor, _READ_BYTES)
                except OSError:
                    read = b""
                *whole, rest = read.split(b"\n")
                for line in whole:
                    self._give(b"".join((*begun, line)))
                    begun, size = [], 0
                if not read:
                    if begun:
                        self._give(b"".join(begun))
                    self._give(None)
                    return
                if rest:
                    begun.append(rest)
                    size += len(rest)
                if size > MOST_BYTES:
                    self._give(TooLong())
                    return

    def _give(self, line: bytes | Exception | None) -> None:
        self._room.acquire()
        self._loop.call_soon_threadsafe(self._lines.put_nowait, line)


class LinesOut:
    """Lines to a descriptor, in the order in which they are put."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._loop = asyncio.get_running_loop()
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._room = asyncio.Semaphore(_WAITING_LINES)
        self._written = asyncio.Event()
        self.broken = asyncio.Event()
        """Set where nobody reads any more."""
        threading.Thread(target=self._write, name="yaz-stdout", daemon=True).start()

    async def put(self, line: bytes) -> None:
        """Write a line, without a line break in it. Waits where too many are not written yet."""
        await self._room.acquire()
        self._lines.put(line)

    async def close(self, seconds: float) -> None:
        """Write what is left, for at most so many seconds."""
        self._lines.put(None)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._written.wait(), seconds)

    def _write(self) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            while (line := self._lines.get()) is not None:
                try:
                    _write_all(self._descriptor, line + b"\n")
                except OSError:
                    self._loop.call_soon_threadsafe(self.broken.set)
                    break
                self._loop.call_soon_threadsafe(self._room.release)
            self._loop.call_soon_threadsafe(self._written.set)


def _write_all(descriptor: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(descriptor, left) :]
