"""What one turn of the event loop writes leaves together, in order, and nothing is held back for longer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from yazcore.mcp.connection import Gathering


class Recording(asyncio.Transport):
    """Keeps what reaches it."""

    def __init__(self) -> None:
        super().__init__({"peername": ("127.0.0.1", 1)})
        self.seen: list[Any] = []

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.seen.append(bytes(data))

    def close(self) -> None:
        self.seen.append("close")

    def abort(self) -> None:
        self.seen.append("abort")

    def is_closing(self) -> bool:
        return bool(self.seen) and self.seen[-1] in ("close", "abort")

    def pause_reading(self) -> None:
        self.seen.append("pause")

    def resume_reading(self) -> None:
        self.seen.append("resume")


def written(work: Callable[[Gathering], None], turns: int = 2) -> list[Any]:
    """What reaches the transport of what `work` does, after the loop has turned."""
    transport = Recording()

    async def run() -> list[Any]:
        work(Gathering(transport, asyncio.get_running_loop()))
        for _ in range(turns):
            await asyncio.sleep(0)
        return list(transport.seen)

    return asyncio.run(run())


def test_head_and_body_leave_together() -> None:
    def answer(gathering: Gathering) -> None:
        gathering.write(b"head ")
        gathering.write(b"body")
        gathering.write(b"")

    assert written(answer) == [b"head body"]
    assert written(answer, turns=0) == []


def test_a_flush_does_not_wait_for_the_loop() -> None:
    def answer(gathering: Gathering) -> None:
        gathering.write(b"answer")
        gathering.flush()
        gathering.flush()

    assert written(answer, turns=0) == [b"answer"]


def test_much_is_not_held_so_that_the_transport_can_say_it_is_full() -> None:
    much = b"x" * 65_537
    assert written(lambda gathering: gathering.write(much), turns=0) == [much]


def test_closing_sends_first_and_aborting_does_not() -> None:
    def close(gathering: Gathering) -> None:
        gathering.write(b"last words")
        gathering.close()
        assert gathering.is_closing()

    def abort(gathering: Gathering) -> None:
        gathering.write(b"last words")
        gathering.abort()

    assert written(close) == [b"last words", "close"]
    assert written(abort) == ["abort"]


def test_reading_and_facts_are_the_transports() -> None:
    def ask(gathering: Gathering) -> None:
        gathering.pause_reading()
        gathering.resume_reading()
        assert gathering.get_extra_info("peername") == ("127.0.0.1", 1)
        assert gathering.get_extra_info("sslcontext", "none") == "none"

    assert written(ask) == ["pause", "resume"]


@pytest.mark.parametrize("turns", [1, 3])
def test_each_turn_sends_what_it_wrote(turns: int) -> None:
    transport = Recording()

    async def run() -> None:
        gathering = Gathering(transport, asyncio.get_running_loop())
        for number in range(turns):
            gathering.write(b"event %d" % number)
            await asyncio.sleep(0)

    asyncio.run(run())
    assert transport.seen == [b"event %d" % number for number in range(turns)]
