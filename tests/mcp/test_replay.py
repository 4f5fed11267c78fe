"""What a session has lately been sent: bounded, its own, gone with it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.server.streamable_http import EventMessage
from mcp_types import JSONRPCNotification, JSONRPCResponse

from yazcore.mcp import replay
from yazcore.mcp.replay import MOST_EVENTS, Replay, Room

pytestmark = pytest.mark.anyio


def word(text: str) -> JSONRPCNotification:
    return JSONRPCNotification(jsonrpc="2.0", method="notifications/message", params={"data": text})


def said(message: EventMessage) -> str:
    assert isinstance(message.message, JSONRPCNotification)
    assert message.message.params is not None
    return str(message.message.params["data"])


async def replayed(store: Replay, last: str) -> tuple[str | None, list[str]]:
    heard: list[str] = []

    async def hear(message: EventMessage) -> None:
        heard.append(said(message))

    return await store.replay_events_after(last, hear), heard


async def test_the_rest_of_a_stream_is_sent_again_and_no_other() -> None:
    store = Replay(Room())
    first = await store.store_event("1", None)
    await store.store_event("2", None)
    await store.store_event("1", word("a"))
    second = await store.store_event("1", word("b"))
    await store.store_event("2", word("c"))
    assert await replayed(store, first) == ("1", ["a", "b"])
    assert await replayed(store, second) == ("1", [])


@pytest.mark.parametrize("last", ["", "0", "99", "x", "1\n", "-1", "1.0", "٣"])
async def test_an_event_that_never_was_brings_nothing(last: str) -> None:
    store = Replay(Room())
    await store.store_event("1", word("a"))
    assert await replayed(store, last) == (None, [])


async def test_another_sessions_events_are_not_found() -> None:
    room = Room()
    one, other = Replay(room), Replay(room)
    for text in "abc":
        last = await one.store_event("1", word(text))
    assert await replayed(other, last) == (None, [])


async def test_the_oldest_events_are_forgotten() -> None:
    store = Replay(Room())
    ids = [await store.store_event("1", word(str(number))) for number in range(MOST_EVENTS + 2)]
    assert await replayed(store, ids[1]) == (None, [])
    assert len((await replayed(store, ids[2]))[1]) == MOST_EVENTS - 1


async def test_all_sessions_together_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replay, "MOST_BYTES_OF_ALL", 300)
    room = Room()
    one, other = Replay(room), Replay(room)
    first = await one.store_event("1", word("x" * 200))
    second = await other.store_event("1", word("x" * 200))
    assert (await replayed(one, first))[0] == "1"
    assert (await replayed(other, second))[0] is None
    one.clear()
    assert room.taken == 0
    third = await other.store_event("1", word("x" * 200))
    assert (await replayed(other, third))[0] == "1"


async def test_an_answer_ends_its_request() -> None:
    store = Replay(Room())
    store.open |= {"1", "2"}
    await store.store_event("1", word("a"))
    assert store.open == {"1", "2"}
    await store.store_event("1", JSONRPCResponse(jsonrpc="2.0", id=1, result={}))
    assert store.open == {"2"}


@given(st.lists(st.integers(0, 400), max_size=100))
def test_what_is_taken_is_what_is_kept(sizes: list[int]) -> None:
    import asyncio

    room = Room()
    store = Replay(room)

    async def store_all() -> None:
        for size in sizes:
            await store.store_event("1", word("x" * size))

    asyncio.run(store_all())
    assert room.taken == sum(event.size for event in store._events) <= replay.MOST_BYTES
    store.clear()
    assert room.taken == 0
