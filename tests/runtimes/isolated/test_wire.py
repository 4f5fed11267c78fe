"""Frames: what is sent arrives whole, and what no honest side would send is refused before it costs anything."""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from yazcore.runtimes.isolated import wire
from yazcore.runtimes.isolated.wire import CALL, EVENT, MAX_FRAME, RESULT, Broken, Closed, Later, Reader
from yazcore.runtimes.values import MAX_STRUCTURE, portable

text = st.text(st.characters(exclude_categories=["Cs"]))
plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False) | text | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(text, inner),
    max_leaves=20,
)


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2**61), text, plain), min_size=1), st.booleans())
@settings(max_examples=50)
def test_messages_arrive_as_they_were_sent(messages: list[Any], lazy: bool) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        data = b"".join(wire.frame(*message) for message in messages)
        sender = threading.Thread(target=lambda: theirs.sendall(data))
        sender.start()
        reader = Reader(ours, lazy)
        assert [reader.read()[0] for _ in messages] == messages
        sender.join()


def test_a_message_arrives_however_it_is_cut(pair: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = pair
    reader = Reader(ours)
    frame = wire.frame(CALL, 7, "x", {"a": [1, 2.5, "ü"]})
    for byte in frame:
        theirs.send(bytes([byte]))
    assert reader.read() == ((CALL, 7, "x", {"a": [1, 2.5, "ü"]}), len(frame) - 4)


def test_a_large_value_is_left_packed_for_whoever_waits_for_it(pair: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = pair
    value = {"text": "x" * 1_000_000, "list": list(range(1000))}
    threading.Thread(target=lambda: theirs.sendall(wire.frame(RESULT, 1, "", value))).start()
    (_, _, _, later), length = Reader(ours, lazy=True).read()
    assert isinstance(later, Later)
    assert later.value() == value
    assert length > 1_000_000


def test_the_largest_structure_fits_into_a_frame() -> None:
    texts, numbers = ["x" * 11] * (MAX_STRUCTURE // 16 - 1), [2**63] * (MAX_STRUCTURE // 9 - 1)
    for value in (texts, numbers, "y" * (MAX_STRUCTURE - 5), [[]] * (MAX_STRUCTURE // 8 - 1)):
        wire.frame(RESULT, 1, "", portable(value))


def test_a_longer_frame_is_not_made() -> None:
    with pytest.raises(ValueError, match="more than a frame may have"):
        wire.frame(CALL, 1, "x", b"\0" * (MAX_FRAME + 1))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (struct.pack("<I", MAX_FRAME + 1), f"a frame of {MAX_FRAME + 1} bytes"),
        (struct.pack("<I", 2**32 - 1), "a frame of 4294967295 bytes"),
        (struct.pack("<I", 4) + b"junk", "a frame that is no message: "),
        (struct.pack("<I", 0), "a frame that is no message: "),
        (struct.pack("<I", 1) + b"\x90", "a frame that is no message: "),
        (b"\x05\0\0\0\x94\x05\x01\xa0\xc0", "a frame of no known kind"),
        (b"\x0d\0\0\0\x94\x00\xcf" + b"\xff" * 8 + b"\xa0\xc0", "a frame of no known kind"),
        (b"\x05\0\0\0\x94\x00\x01\xa0", "the end of a frame is missing"),
        (b"\x05\0", "the end of a frame is missing"),
        (struct.pack("<I", 60_004) + b"\x94\x00\x01\xa0" + b"\x91" * 60_000, "a frame that is no message: "),
        (struct.pack("<I", 200_004) + b"\x94\x00\x01\xa0" + b"\x91" * 200_000, "a frame that is no message: "),
        (b"\x06\0\0\0\x94\x00\x01\xa0\xa1\xff", "a frame that is no message: "),
    ],
)  # fmt: skip
def test_what_is_no_message_is_refused(pair: tuple[socket.socket, socket.socket], data: bytes, message: str) -> None:
    ours, theirs = pair
    theirs.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
    theirs.sendall(data)
    theirs.close()
    with pytest.raises(Broken) as broken:
        Reader(ours, lazy=True).read()
    assert str(broken.value).startswith(message)


def test_what_was_received_before_an_interruption_is_read_after_it(pair: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = pair
    reader = Reader(ours)
    theirs.sendall(wire.frame(CALL, 1, "x", None))
    reader._got.append(ours.recv_into(reader._view))  # as far as `fill` had come
    assert reader.read()[0] == (CALL, 1, "x", None)


def looks_of(reader: Reader, *answers: list[Any]) -> list[int]:
    """How often a reader looked whether something comes; it finds these answers."""
    looked: list[int] = []
    left = iter(answers)

    def comes(patience: int) -> list[Any]:
        looked.append(patience)
        return next(left)

    reader._comes = comes  # type: ignore[assignment]
    return looked


def hear(reader: Reader, theirs: socket.socket) -> None:
    theirs.sendall(wire.frame(CALL, 1, "x", None))
    assert reader.read()[0] == (CALL, 1, "x", None)


def test_a_reader_looks_for_what_comes_where_the_last_came_soon(
    pair: tuple[socket.socket, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wire, "BRISK_SECONDS", 600.0)
    monkeypatch.setattr(wire, "_HAS_PROCESSORS", True)
    ours, theirs = pair
    reader = Reader(ours)
    looked = looks_of(reader, [], [], [1])
    for expected in (0, 3):
        hear(reader, theirs)
        assert looked == [0] * expected


def test_a_reader_sleeps_where_the_last_took_longer(
    pair: tuple[socket.socket, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wire, "BRISK_SECONDS", 0.0)
    ours, theirs = pair
    reader = Reader(ours)
    looked = looks_of(reader)
    for _ in range(2):
        hear(reader, theirs)
    assert looked == []


def test_a_reader_that_looked_for_long_enough_sleeps(
    pair: tuple[socket.socket, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wire, "BRISK_SECONDS", 0.0)
    ours, theirs = pair
    reader = Reader(ours)
    reader._is_brisk = True
    looked = looks_of(reader, [])
    hear(reader, theirs)
    assert looked == [0]


def test_with_one_processor_nobody_looks(
    pair: tuple[socket.socket, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wire, "BRISK_SECONDS", 600.0)
    monkeypatch.setattr(wire, "_HAS_PROCESSORS", False)
    ours, theirs = pair
    reader = Reader(ours)
    looked = looks_of(reader)
    for _ in range(2):
        hear(reader, theirs)
    assert looked == []


def test_the_end_is_the_end(pair: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = pair
    theirs.close()
    with pytest.raises(Closed):
        Reader(ours).read()


def array_of(count: int, item: bytes) -> bytes:
    return b"\xdd" + struct.pack(">I", count) + item * count


@pytest.mark.parametrize("item", [b"\x90", b"\x80", b"\xdc\0\0", b"\xdf\0\0\0\0", b"\x91\x90", b"\x81\xa1a\x90"])
def test_a_crowd_of_lists_is_not_unpacked(item: bytes) -> None:
    data = array_of(MAX_STRUCTURE // len(item) - 1, item)
    began = time.process_time()
    with pytest.raises(Broken, match=r"^a value with more than 262144 lists and objects$"):
        Later(data).value()
    assert time.process_time() - began < 5  # a hostile one took the interpreter for seconds


@given(plain)
@settings(max_examples=60)
def test_lists_and_objects_are_counted_as_they_are(value: object) -> None:
    data = msgspec.msgpack.encode([value] * 3)
    most, wire._MOST_CONTAINERS = wire._MOST_CONTAINERS, containers([value] * 3)
    try:
        assert not wire._crowded(data)
        wire._MOST_CONTAINERS -= 1
        assert wire._crowded(data)
    finally:
        wire._MOST_CONTAINERS = most


def containers(value: object) -> int:
    if isinstance(value, dict):
        return 1 + sum(map(containers, value.values()))
    return 1 + sum(map(containers, value)) if isinstance(value, list) else 0


def test_a_long_text_in_another_script_is_no_crowd() -> None:
    value = {"text": "灣" * 600_000}
    assert Later(msgspec.msgpack.encode(value)).value() == value


def test_ext_types_and_other_keys_arrive_and_are_no_plain_data() -> None:
    for packed in (msgspec.msgpack.encode({1: 2}), msgspec.msgpack.encode(msgspec.msgpack.Ext(5, b"x"))):
        with pytest.raises(ValueError, match=r"plain data|no text"):
            portable(wire.unpack(packed))


def test_long_data_is_cut_and_joined() -> None:
    data = bytes(range(256)) * 10_000
    assert b"".join(wire.parts(data)) == data
    assert all(wire.frame(EVENT, 1, "part", part) for part in wire.parts(data))
