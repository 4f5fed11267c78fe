"""What a session of the older era has lately been sent, so that a client that lost its connection gets the rest.

Bounded for each session and for all together: what is too old or too large is gone, and a client asks again.
"""

from __future__ import annotations

from collections import deque

import attrs
from mcp.server.streamable_http import EventCallback, EventMessage, EventStore
from mcp_types import JSONRPCError, JSONRPCMessage, JSONRPCResponse

MOST_EVENTS = 64
"""How many events of one session are kept."""

MOST_BYTES = 256 * 1024
"""How many bytes of events are kept for one session."""

MOST_BYTES_OF_ALL = 32 * 2**20
"""How many bytes of events are kept for all sessions of a server together."""

RETRY_MS = 500
"""After how many milliseconds a client whose stream was let go may come back for the rest."""


@attrs.define
class Room:
    """What the events of all sessions of one server take."""

    taken: int = 0


@attrs.frozen
class _Event:
    number: int
    stream: str
    message: JSONRPCMessage | None
    size: int


class Replay(EventStore):
    """The latest events of one session; `open` are the ids of its requests that have had no answer yet.

    A store of its own for each session: event ids say nothing of another's, whatever a client sends (mcp 12).
    """

    def __init__(self, room: Room) -> None:
        self.open: set[str] = set()
        self._room = room
        self._events: deque[_Event] = deque()
        self._number = 0
        self._size = 0

    async def store_event(self, stream_id: str, message: JSONRPCMessage | None) -> str:
        """Keep an event, if there is room; None marks the beginning of a stream. Gives its id."""
        if isinstance(message, JSONRPCResponse | JSONRPCError):
            self.open.discard(stream_id)
        size = 0 if message is None else len(message.model_dump_json(by_alias=True, exclude_none=True))
        self._number += 1
        while self._events and (len(self._events) >= MOST_EVENTS or self._size + size > MOST_BYTES):
            self._forget_oldest()
        if size <= MOST_BYTES and self._room.taken + size <= MOST_BYTES_OF_ALL:
            self._events.append(_Event(self._number, stream_id, message, size))
            self._size += size
            self._room.taken += size
        return str(self._number)

    async def replay_events_after(self, last_event_id: str, send_callback: EventCallback) -> str | None:
        """Send what came after an event on its stream. Gives the stream; None for an event that is not kept."""
        last = next((event for event in self._events if str(event.number) == last_event_id), None)
        if last is None:
            return None
        for event in tuple(self._events):
            if event.number > last.number and event.stream == last.stream and event.message is not None:
                await send_callback(EventMessage(event.message, str(event.number)))
        return last.stream

    def clear(self) -> None:
        """Forget everything: the session has ended."""
        while self._events:
            self._forget_oldest()

    def _forget_oldest(self) -> None:
        size = self._events.popleft().size
        self._size -= size
        self._room.taken -= size
