"""One HTTP connection of the listener: bounded in number and in silence, and one packet for one answer."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

MOST_CONNECTIONS = 512
"""How many connections are held at once; more are closed at once. Each takes a file of those the process may open."""

REQUEST_SECONDS = 30.0
"""How long the first request of a connection may take to arrive, in seconds; how long the rest of one whose headers
have come, and how long a client may read nothing of what is sent to it, is this to twice as long."""

_MOST_GATHERED = 64 * 1024


class Connection(H11Protocol):
    """uvicorn's connection with the bounds that it does not know."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # A request line would carry what somebody put into the query.
        self.access_log = False
        self._silence: asyncio.TimerHandle | None = None
        self._seen: tuple[Any, int] = (None, 0)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Hold the connection, unless there are too many, or nothing is asked on it."""
        self._gathering = Gathering(transport, self.loop)
        super().connection_made(self._gathering)
        if len(self.connections) > MOST_CONNECTIONS:
            transport.abort()
        else:
            self._silence = self.loop.call_later(REQUEST_SECONDS, self._look)

    def connection_lost(self, exc: Exception | None) -> None:
        """Let the connection go."""
        super().connection_lost(exc)
        if self._silence is not None:
            self._silence.cancel()

    def on_response_complete(self) -> None:
        """Send what was gathered before anything else is done: the client waits for it."""
        self._gathering.flush()
        super().on_response_complete()

    def _look(self) -> None:
        """Now and then: is it stuck? A look at the connection, so that no request pays for a timer of its own."""
        cycle = getattr(self, "cycle", None)  # uvicorn declares it as if there always were one
        unread = self._gathering.unread
        stuck = (cycle if cycle is not None and cycle.more_body else None, unread)
        slow = stuck[0] is not None and stuck[0] is self._seen[0]
        deaf = unread > 0 and unread == self._seen[1]
        if cycle is None or slow or deaf:
            self.transport.abort()
            return
        self._seen = stuck
        self._silence = self.loop.call_later(REQUEST_SECONDS, self._look)


class Gathering(asyncio.Transport):
    """A transport that sends together what is written in one turn of the event loop.

    uvicorn writes the head of an answer and its body apart: two system calls, and a client that is woken twice, for
    answers that are mostly a few hundred bytes. It takes a tenth off the time of a call.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self._transport = transport
        self._loop = loop
        self._gathered = bytearray()

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Take bytes; they leave when the loop turns, at a `flush`, or when there are many."""
        if not self._gathered and data:
            self._loop.call_soon(self.flush)
        self._gathered += data
        if len(self._gathered) > _MOST_GATHERED:  # the transport's own bound must come to know of them
            self.flush()

    def flush(self) -> None:
        """Send what was taken."""
        if self._gathered:
            gathered, self._gathered = self._gathered, bytearray()
            self._transport.write(gathered)

    @property
    def unread(self) -> int:
        """How many bytes the client has not taken."""
        return self._transport.get_write_buffer_size()

    def close(self) -> None:
        """Send what was taken, and close."""
        self.flush()
        self._transport.close()

    def abort(self) -> None:
        """Close at once; what was taken is lost, as what the transport holds is."""
        self._gathered = bytearray()
        self._transport.abort()

    def is_closing(self) -> bool:
        """Whether it closes or is closed."""
        return self._transport.is_closing()

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        """What the transport says of itself."""
        return self._transport.get_extra_info(name, default)

    def pause_reading(self) -> None:
        """Read no more for now."""
        self._transport.pause_reading()

    def resume_reading(self) -> None:
        """Read on."""
        self._transport.resume_reading()
