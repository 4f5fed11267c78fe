"""Telling clients of both protocol eras what changed: lists, and resources that they subscribed to (mcp D15).

In the newer era a client holds a stream open and says what it wants to hear (`subscriptions/listen`); in the older one
its session has a stream, and it subscribes to each URI. Whoever may no longer read a resource is told nothing more, on
streams that are open too; and a stream whose token opens nothing any more ends.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Protocol

import anyio
import attrs
import mcp_types as types
from anyio.lowlevel import checkpoint
from mcp.server import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.server.subscriptions import (
    ListenHandler,
    PromptsListChanged,
    ResourcesListChanged,
    ResourceUpdated,
    ServerEvent,
    ToolsListChanged,
)
from mcp.shared.exceptions import MCPError

from yazcore.outcomes import INTERNAL_ERROR, INVALID_PARAMS
from yazcore.permissions import Principal

if TYPE_CHECKING:
    from yazcore.host import Host

MOST_URIS = 256
"""How many resources one stream, or one session of the older era, may subscribe to."""

MOST_STREAMS_EACH = 64
"""How many listen streams one principal may have open."""

_MOST_WAITING = 1000
"""How many changed resources wait to be told; beyond, a client learns of them when it reads again."""

_TELLING_SECONDS = 2.0

WATCH_SECONDS = 2.0
"""How often the tokens of open streams are looked at: so long one may stay open whose token is dead."""

_Context = ServerRequestContext[Any, Any]
Still = Callable[[], Principal | None]
"""Who a request's token stands for now; None where it opens nothing any more."""

STILL = "yazcore.still"
"""The key of the ASGI scope under which stands how to ask again who a request's token stands for."""

_log = logging.getLogger("yazcore.mcp")

_STREAM: ContextVar[tuple[Still, Callable[[], None]]] = ContextVar("yazcore_stream")


@attrs.define(eq=False)
class _Session:
    """A session of the older era: what it subscribed to, and who it is now."""

    session: ServerSession
    still: Still
    uris: set[str] = attrs.field(factory=set)


class OpenStream(Protocol):
    """A stream that ends with its token."""

    @property
    def still(self) -> Still:
        """Who its token stands for now."""

    @property
    def end(self) -> Callable[[], None]:
        """Ends it."""


@attrs.frozen(eq=False)
class _Stream:
    """An open stream of the newer era: where its events go, who it is now, and how it is ended."""

    deliver: Callable[[ServerEvent], None]
    still: Still
    end: Callable[[], None]


class _Bus:
    """The SDK's streams subscribe here; what each is told is decided for its own caller first."""

    def __init__(self) -> None:
        self.streams: dict[int, _Stream] = {}
        self._numbers = itertools.count()

    async def publish(self, event: ServerEvent) -> None:
        """Nothing is told to all alike."""
        raise NotImplementedError

    def subscribe(self, listener: Callable[[ServerEvent], None]) -> Callable[[], None]:
        """Take a stream's listener. The SDK does this inside the request, and hands no more over."""
        number, (still, end) = next(self._numbers), _STREAM.get()
        self.streams[number] = _Stream(listener, still, end)

        def unsubscribe() -> None:
            self.streams.pop(number, None)

        return unsubscribe


class Changes:
    """What changed in one host, told to whoever listens to one server."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._bus = _Bus()
        self._listening = ListenHandler(self._bus)
        self._sessions: dict[Any, _Session] = {}
        self._streams: Counter[str] = Counter()

    # --- who listens ----------------------------------------------------------------------------------------------

    async def listen(
        self, ctx: _Context, params: types.SubscriptionsListenRequestParams, who: Principal, still: Still
    ) -> types.SubscriptionsListenResult:
        """Serve one listen stream. Resources that may not be read are left out of what is acknowledged."""
        asked = params.notifications
        uris = asked.resource_subscriptions or []
        if len(uris) > MOST_URIS:
            raise MCPError(INVALID_PARAMS, f"at most {MOST_URIS} resources can be subscribed to")
        readable = [uri for uri in uris if await self._host.gate.subscribe(who, uri)]
        honoured = params.model_copy(
            update={"notifications": asked.model_copy(update={"resource_subscriptions": readable or None})}
        )
        with self._stream_of(who), anyio.CancelScope() as scope:
            _STREAM.set((still, scope.cancel))
            return await self._listening(ctx, honoured)
        raise MCPError(types.CONNECTION_CLOSED, "the token opens nothing any more")

    @contextlib.contextmanager
    def _stream_of(self, who: Principal) -> Iterator[None]:
        if self._streams[who.name] >= MOST_STREAMS_EACH:
            raise MCPError(INTERNAL_ERROR, f"{MOST_STREAMS_EACH} listen streams are open already: end one")
        self._streams[who.name] += 1
        try:
            yield
        finally:
            self._streams[who.name] -= 1
            if not self._streams[who.name]:
                del self._streams[who.name]

    def opened(self, ctx: _Context, still: Still) -> None:
        """A session of the older era is open: it is told of lists, until its connection ends."""
        # The SDK has no public way to hear that a session ended, nor one to name a session (mcp 1.2).
        connection = ctx.session._connection
        self._sessions[connection] = _Session(ctx.session, still)
        connection.exit_stack.callback(self._sessions.pop, connection, None)

    async def subscribe(self, ctx: _Context, uri: str, who: Principal) -> bool:
        """Subscribe an older session to a resource; False where it may not be read, or is not there."""
        session = self._sessions.get(ctx.session._connection)
        if session is None:
            raise MCPError(types.INVALID_REQUEST, "the session is not initialized")
        if len(session.uris) >= MOST_URIS and uri not in session.uris:
            raise MCPError(INVALID_PARAMS, f"at most {MOST_URIS} resources can be subscribed to")
        if not await self._host.gate.subscribe(who, uri):
            return False
        session.uris.add(uri)
        return True

    def unsubscribe(self, ctx: _Context, uri: str) -> None:
        """End a subscription of an older session; one that is not there has ended."""
        session = self._sessions.get(ctx.session._connection)
        if session is not None:
            session.uris.discard(uri)

    def close(self) -> None:
        """End every listen stream; each still sends its last frame (mcp D7)."""
        self._listening.close()

    async def watch(self, older: Collection[OpenStream]) -> None:
        """End each stream whose token is dead, those of the older era that `older` holds too, until cancelled."""
        while True:
            await anyio.sleep(WATCH_SECONDS)
            for stream in (*self._bus.streams.values(), *older):
                if _known(stream.still) is None:
                    stream.end()
                await checkpoint()  # an application's own users may be asked for each: requests go between

    # --- telling --------------------------------------------------------------------------------------------------

    async def tell(self) -> None:
        """Tell of every change, until cancelled."""
        loop, wake = asyncio.get_running_loop(), asyncio.Event()
        waiting: dict[str, None] = {}
        lists = [False]

        def woken() -> None:
            with contextlib.suppress(RuntimeError):  # its loop was closed: whoever commits is not to suffer
                loop.call_soon_threadsafe(wake.set)

        def lists_changed() -> None:
            lists[0] = True
            woken()

        def resource_changed(uri: str) -> None:
            if len(waiting) < _MOST_WAITING:
                waiting[uri] = None
                woken()

        with contextlib.ExitStack() as stack:
            stack.callback(self._host.catalogue.on_change(lists_changed))
            stack.callback(self._host.changes.add(resource_changed))
            while True:
                await wake.wait()
                wake.clear()
                events: list[ServerEvent] = []
                if lists[0]:
                    lists[0] = False
                    events += [ToolsListChanged(), ResourcesListChanged(), PromptsListChanged()]
                while waiting:
                    events.append(ResourceUpdated(uri=waiting.popitem()[0]))
                await self._tell(events)

    async def _tell(self, events: list[ServerEvent]) -> None:
        async with anyio.create_task_group() as tasks:
            for session in tuple(self._sessions.values()):
                tasks.start_soon(self._tell_session, session, events)
            for stream in tuple(self._bus.streams.values()):
                tasks.start_soon(self._tell_stream, stream, events)

    async def _tell_stream(self, stream: _Stream, events: list[ServerEvent]) -> None:
        for event in events:
            who = _known(stream.still)
            if who is None:
                stream.end()
                return
            if await self._may_hear(who, event):
                stream.deliver(event)

    async def _tell_session(self, session: _Session, events: list[ServerEvent]) -> None:
        with anyio.move_on_after(_TELLING_SECONDS):  # a client that does not read keeps nobody waiting
            for event in events:
                who = _known(session.still)
                if who is None:
                    return
                wanted = not isinstance(event, ResourceUpdated) or event.uri in session.uris
                if wanted and await self._may_hear(who, event):
                    await session.session.send_notification(_note(event))

    async def _may_hear(self, who: Principal, event: ServerEvent) -> bool:
        return not isinstance(event, ResourceUpdated) or await self._host.gate.may_read(who, event.uri)


def _known(still: Still) -> Principal | None:
    """Who it is now; nobody, too, where the application cannot say."""
    try:
        return still()
    except Exception:  # noqa: BLE001 - it is the application's code, and one of its faults ends no server
        _log.exception("whose token it is could not be told")
        return None


def _note(event: ServerEvent) -> types.ServerNotification:
    if isinstance(event, ResourceUpdated):
        return types.ResourceUpdatedNotification(params=types.ResourceUpdatedNotificationParams(uri=event.uri))
    return _LISTS[type(event)]()


_LISTS: dict[type, Callable[[], types.ServerNotification]] = {
    ToolsListChanged: types.ToolListChangedNotification,
    ResourcesListChanged: types.ResourceListChangedNotification,
    PromptsListChanged: types.PromptListChangedNotification,
}
