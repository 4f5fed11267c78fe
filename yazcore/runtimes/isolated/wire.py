"""The wire between a host and a worker: frames of a length and one MessagePack array `[kind, id, name, value]`.

Five kinds, the same in both directions; either side calls, and an id belongs to the side that called.

    CALL     name: what to do                  value: what with
    RESULT   name: "", or how it was sent      value: the answer
    ERROR    name: which fault (`crossing`)    value: its parts
    CANCEL                                     nobody waits for that call any more
    EVENT    name: progress, log, a part       value: what it says

A frame holds at most a structure of 2 MiB and what belongs around it: a hostile frame of 32 MiB would cost a host
2.3 GB and 9 seconds. Bytes that are a whole value are longer than that and travel in parts, as EVENTs before the
message they belong to.
"""

from __future__ import annotations

import os
import select
import socket
import struct
from collections.abc import Iterator
from time import monotonic  # a plugin may put another in its place
from typing import Any

import msgspec

from yazcore.runtimes.values import MAX_STRUCTURE

CALL, RESULT, ERROR, CANCEL, EVENT = range(5)

MAX_FRAME = MAX_STRUCTURE + 65_536
"""The most bytes of one frame."""

PART = 1024 * 1024
"""The most bytes of one part of what is too long for a frame."""

PACKED, WHOLE = "packed", "whole"
"""The names of a RESULT whose value came in parts: as a packed structure, or as bytes."""

BRISK_SECONDS = 200e-6
"""How long a reader looks for what comes before it sleeps, at most."""

# With one processor, whoever looks keeps the other side from going on.
_HAS_PROCESSORS = hasattr(os, "sched_getaffinity") and len(os.sched_getaffinity(0)) > 1
_SMALL = 65_536
_FEW = 500
_MOST_CONTAINERS = MAX_STRUCTURE // 8  # `values` counts eight bytes for each
_NO_CONTAINER = bytes(byte for byte in range(256) if not (0x80 <= byte <= 0x9F or 0xDC <= byte <= 0xDF))
_HEAD = struct.Struct("<I")
_LARGEST_ID = 2**62

_encoder = msgspec.msgpack.Encoder()
_decode = msgspec.msgpack.Decoder(tuple[int, int, str, Any]).decode
_decode_head = msgspec.msgpack.Decoder(tuple[int, int, str, msgspec.Raw]).decode

Message = tuple[int, int, str, Any]


class Broken(Exception):
    """What came is no message: too long, malformed, or cut off."""


class Closed(Exception):
    """The other side is gone."""


class Later:
    """A value that has not been unpacked: a large one, so that whoever waits for it pays for that."""

    __slots__ = ("_data",)

    def __init__(self, data: bytes) -> None:
        self._data = data

    def value(self) -> Any:
        """The value. Raises `Broken`, also for more lists and dicts than a structure may have.

        Two megabytes of empty lists are 150 megabytes here, and a second in which no other thread runs.
        """
        if self._may_be_crowded() and _crowded(self._data):
            raise Broken(f"a value with more than {_MOST_CONTAINERS} lists and objects")
        return unpack(self._data)

    def _may_be_crowded(self) -> bool:
        return not _is_brief(self._data) and len(self._data.translate(None, _NO_CONTAINER)) > _MOST_CONTAINERS


def _is_brief(data: bytes) -> bool:
    """Whether a value has only a few parts, however long each is: found by walking over those few."""
    at = 0
    for _ in range(_FEW):
        if at >= len(data):
            return True
        at += _length_at(data, at)
    return at >= len(data)


def frame(kind: int, id: int, name: str, value: Any) -> bytearray:  # noqa: A002
    """One message as bytes. Raises `ValueError` where it is too long, and what msgspec does for what is no data."""
    buffer = bytearray(256)
    _encoder.encode_into((kind, id, name, value), buffer, _HEAD.size)
    length = len(buffer) - _HEAD.size
    if length > MAX_FRAME:
        raise ValueError(f"{length} bytes are more than a frame may have")
    _HEAD.pack_into(buffer, 0, length)
    return buffer


def pack(value: Any) -> bytes:
    """A value by itself."""
    return _encoder.encode(value)


def unpack(data: bytes) -> Any:
    """A value by itself. Raises `Broken`."""
    try:
        return msgspec.msgpack.decode(data)
    except (ValueError, RecursionError) as error:
        raise Broken(f"a value that is none: {error}") from None


def parts(data: bytes) -> Iterator[bytes]:
    """The data in pieces that a frame holds."""
    for start in range(0, len(data), PART):
        yield data[start : start + PART]


class Reader:
    """Messages from a socket, one after the other; for one thread at a time, with one buffer that is used again.

    `lazy`: the value of a large message comes as `Later`.

    It looks again and again, for `BRISK_SECONDS`, as long as what it waits for has come within them: to sleep and be
    woken takes longer than a short call.
    """

    __slots__ = (
        "_buffer", "_comes", "_end", "_got", "_is_brisk", "_lazy", "_need", "_receive", "_start", "_view"
    )  # fmt: skip

    def __init__(self, connection: socket.socket, lazy: bool = False) -> None:
        self._receive = connection.recv_into
        poll = select.poll()
        poll.register(connection, select.POLLIN)
        self._comes = poll.poll
        self._is_brisk = False
        self._lazy = lazy
        self._buffer = bytearray(_SMALL)
        self._view = memoryview(self._buffer)
        self._start = self._end = 0
        self._need = _HEAD.size
        self._got: list[int] = []

    def read(self) -> tuple[Message, int]:
        """The next message, and its length in bytes. Blocks; raises `Broken`, and `Closed` at the end."""
        while (found := self.take()) is None:
            self.fill()
        return found

    def take(self) -> tuple[Message, int] | None:
        """The next message of what was received, and its length; None where it is not whole. Raises `Broken`."""
        start = self._start
        have = self._end - start
        if have < _HEAD.size:
            self._need = _HEAD.size
            return None
        (length,) = _HEAD.unpack_from(self._buffer, start)
        if length > MAX_FRAME:
            raise Broken(f"a frame of {length} bytes")
        self._need = _HEAD.size + length
        if have < self._need:
            return None
        start += _HEAD.size
        end = start + length
        if end == self._end:
            self._start = self._end = 0
        else:
            self._start = end
        data = self._view[start:end]
        return _large(data) if self._lazy and length > _SMALL else _decoded(data), length

    def fill(self, flags: int = 0) -> None:
        """Receive more. Raises `BlockingIOError` where nothing came in the time that the socket or `flags` gives;
        `Closed` at the end, and `Broken` where that is inside a message.

        Of what was received nothing is lost where a signal interrupts (Ctrl-C): how much it was is in a list before
        the interpreter looks for one, and what follows makes no call.
        """
        if not self._got:
            self._make_room()
            began = monotonic()
            if not flags:
                self.comes_soon()
            try:
                self._got.extend(map(self._receive, (self._view[self._end :],), (0,), (flags,)))
            except BlockingIOError:
                raise
            except OSError:
                self._got.append(0)
            if not flags:
                self._is_brisk = _HAS_PROCESSORS and monotonic() - began < BRISK_SECONDS
        count = self._got[0]
        self._end, self._got = self._end + count, []
        if count == 0:
            raise Broken("the end of a frame is missing") if self._end > self._start else Closed()

    def comes_soon(self) -> bool:
        """Look for what comes, for a moment, where the last came within one. Gives whether there is something."""
        if not self._is_brisk:
            return False
        end = monotonic() + BRISK_SECONDS
        while not self._comes(0):
            if monotonic() >= end:
                self._is_brisk = False
                return False
        return True

    def close(self) -> None:
        """Let go of the buffer, whoever else still holds this; the socket is its owner's."""
        self._buffer = bytearray()
        self._view = memoryview(self._buffer)
        self._start = self._end = 0

    def _make_room(self) -> None:
        """Room for the rest of the message that has begun."""
        have = self._end - self._start
        if self._need > len(self._buffer):
            larger = bytearray(self._need)
            larger[:have] = self._view[self._start : self._end]
            self._buffer, self._view, self._start, self._end = larger, memoryview(larger), 0, have
        elif self._start and self._start + self._need > len(self._buffer):
            self._buffer[:have] = self._buffer[self._start : self._end]
            self._start, self._end = 0, have


def _decoded(data: memoryview) -> Message:
    try:
        message = _decode(data)
    except (ValueError, RecursionError) as error:
        raise Broken(f"a frame that is no message: {error}") from None
    return _checked(message)


def _large(data: memoryview) -> Message:
    try:
        kind, id, name, value = _decode_head(data)  # noqa: A001
    except (ValueError, RecursionError) as error:
        raise Broken(f"a frame that is no message: {error}") from None
    return _checked((kind, id, name, Later(bytes(value))))


def _checked(message: Message) -> Message:
    if not (CALL <= message[0] <= EVENT and 0 <= message[1] < _LARGEST_ID):
        raise Broken("a frame of no known kind")
    return message


def _crowded(data: bytes) -> bool:
    """Whether there are too many lists and objects: the first byte of each value says how long it is, or its content.

    Only asked where the bytes that begin one are many, which those inside a text in Greek or Chinese are, too.
    """
    count = at = 0
    while at < len(data) and count <= _MOST_CONTAINERS:
        count += 0x80 <= data[at] < 0xA0 or 0xDC <= data[at] < 0xE0
        at += _length_at(data, at)
    return count > _MOST_CONTAINERS


def _length_at(data: bytes, at: int) -> int:
    """How many bytes the value there has, or the head of a list or an object."""
    first = data[at]
    if first < 0xA0 or first >= 0xE0:  # a small number, or a short list or object
        return 1
    if first < 0xC0:  # a short text
        return 1 + (first & 0x1F)
    if first in _SIZED:
        size = _SIZED[first]
        return 1 + size + int.from_bytes(data[at + 1 : at + 1 + size], "big") + (1 if first in _TYPED else 0)
    return _FIXED[first]


_SIZED = {0xC4: 1, 0xC5: 2, 0xC6: 4, 0xC7: 1, 0xC8: 2, 0xC9: 4, 0xD9: 1, 0xDA: 2, 0xDB: 4}
_TYPED = (0xC7, 0xC8, 0xC9)
_FIXED = {
    0xC0: 1, 0xC1: 1, 0xC2: 1, 0xC3: 1, 0xCA: 5, 0xCB: 9, 0xCC: 2, 0xCD: 3, 0xCE: 5, 0xCF: 9, 0xD0: 2, 0xD1: 3,
    0xD2: 5, 0xD3: 9, 0xD4: 3, 0xD5: 4, 0xD6: 6, 0xD7: 10, 0xD8: 18, 0xDC: 3, 0xDD: 5, 0xDE: 3, 0xDF: 5,
}  # fmt: skip
