"""One connection to one server, held by a task of its own (mcp D8).

Whoever calls never sits inside the SDK's client: when a server dies in the middle of a call, the SDK cancels whoever
does. So an *owner task* holds the client, and calls are tasks beside it that wait for the answer or for the
connection's end, whichever comes first.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any, TypeVar

import anyio
import httpx2
import mcp_types
from mcp import Client
from mcp.client.subscriptions import SubscriptionLost
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

import yazcore
from yazcore.mcp.client import faults
from yazcore.mcp.client.faults import ServerFault
from yazcore.mcp.client.settings import ServerSettings
from yazcore.mcp.client.transports import (
    MOST_MESSAGE,
    CannotStart,
    NotAsked,
    Note,
    Process,
    Streams,
    TooMuch,
    environment,
    http_streams,
    leaf,
    note,
    words_of,
)

T = TypeVar("T")

# What the SDK says of a hostile server is for a log that somebody keeps, not for the terminal of whoever keeps none.
logging.getLogger("mcp.client").addHandler(logging.NullHandler())
logging.getLogger("client").addHandler(logging.NullHandler())

CONNECT_SECONDS = 60.0
"""How long a server may take until it speaks: some fetch themselves when they are started first."""

CLOSE_SECONDS = 6.0
"""How long leaving a server may take."""

MOST_UNANSWERED = 3
"""After how many calls in a row without an answer a connection is given up."""

MOST_GIVEN_UP = 32
"""After how many calls that nobody waited for any more it is: each may still hold something open."""

LISTEN_SECONDS = 1.0
"""How long to wait before a stream of changes that has ended is opened again; twice as long each time."""

LONGEST_LISTEN_SECONDS = 60.0
"""The longest such pause; after a stream that was open for longer the next pause is a short one again."""

_LOOK_SECONDS = 0.5
"""How long to wait for the reason once a connection is closed."""

_LOST = ("Connection closed", "SSE stream ended")  # what the SDK says where no answer can come any more
_SESSION_OVER = "Session terminated"


class Connection:
    """One connection, from its start to its end; it is never opened again. Everything here runs on one event loop.

    `values` are the environment or the headers with secrets in them.
    """

    def __init__(self, settings: ServerSettings, values: Mapping[str, str]) -> None:
        self.settings = settings
        self.name = settings.name
        self.values = values
        loop = asyncio.get_running_loop()
        self.ready: asyncio.Future[None] = loop.create_future()
        self.over: asyncio.Future[ServerFault] = loop.create_future()
        self.has_new_tools = False
        self._stop = asyncio.Event()
        self._client: Client | None = None
        self._process: Process | None = None
        self._unanswered = 0
        self._given_up = 0
        self._retired = False
        self._under_way: set[asyncio.Task[Any]] = set()
        self._opening = Note()
        self._scope = anyio.CancelScope()
        self._owner = loop.create_task(self._hold(values), name=f"yaz-server-{self.name}")

    @property
    def is_usable(self) -> bool:
        """Whether a new call may go this way."""
        return not self.over.done() and not self._stop.is_set() and not self._retired

    @property
    def client(self) -> Client:
        """The SDK's client, while the connection is there."""
        if self._client is None:
            raise faults.gone(self.name, "closed the connection")
        return self._client

    async def opened(self) -> None:
        """Wait until the server speaks. Raises `ServerFault`."""
        await asyncio.wait((self.ready, self.over), return_when=asyncio.FIRST_COMPLETED)
        if self.over.done():
            raise self.over.result().again()

    async def request(self, work: Callable[[Client], Awaitable[T]]) -> T:
        """What `work` gives, asked of the client. Raises `ServerFault`, whatever happens.

        Cancelling it cancels the request, and the server is told.
        """
        mine = Note()
        task = asyncio.create_task(_noted(work(self.client), mine))
        self._under_way.add(task)
        task.add_done_callback(self._done)
        try:
            await asyncio.wait((task, self.over), return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                await asyncio.sleep(0)  # an answer may have come with the end
        except asyncio.CancelledError:
            self._give_up(task, mine)
            raise
        if not task.done():
            self._give_up(task, mine)
            raise self.over.result().again()
        self._unanswered = 0
        try:
            return task.result()
        except ServerFault:
            raise
        except asyncio.CancelledError:
            raise await self._reason() from None
        except Exception as error:  # noqa: BLE001 - what a client raises of a hostile server is never the caller's
            raise await self._fault_of(error, mine) from None

    def close(self) -> None:
        """Begin to leave; `closed` waits for the end."""
        self._stop.set()
        if not self.ready.done():
            self._scope.cancel()

    def retire(self) -> None:
        """Take no new call any more, and leave once those that are under way have ended."""
        self._retired = True
        if not self._under_way:
            self.close()

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._under_way.discard(task)
        if self._retired and not self._under_way:
            self.close()

    async def closed(self) -> None:
        """Wait until nothing is left of it."""
        await asyncio.wait({self._owner}, timeout=CLOSE_SECONDS + 1.0)

    def _give_up(self, task: asyncio.Task[Any], mine: Note) -> None:
        """Nobody waits for a request any more. Too many of those, and the connection goes with them."""
        mine.over = True
        task.cancel()
        task.add_done_callback(_retrieved)
        self._unanswered += 1
        self._given_up += 1
        if self._unanswered >= MOST_UNANSWERED or self._given_up >= MOST_GIVEN_UP:
            self.close()

    # -- the owner task -----------------------------------------------------------------------------------------------

    async def _hold(self, values: Mapping[str, str]) -> None:
        fault = faults.gone(self.name, "closed the connection")
        scope = self._scope
        scope.deadline = anyio.current_time() + CONNECT_SECONDS
        try:
            with scope:
                async with Client(
                    self._streams(values), mode="auto", cache=None, message_handler=self._hear,
                    client_info=mcp_types.Implementation(name="yazcore", version=yazcore.__version__),
                ) as self._client:  # fmt: skip
                    scope.deadline = math.inf
                    self.ready.set_result(None)
                    listening = asyncio.create_task(self._listen(self._client))
                    try:
                        await self._stop.wait()
                    finally:
                        listening.cancel()
                    scope.deadline = anyio.current_time() + CLOSE_SECONDS
                    await asyncio.wait({listening})
            if not self.ready.done() and not self._stop.is_set():
                fault = faults.slow(self.name, CONNECT_SECONDS)
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # noqa: BLE001 - an exception group of whatever the server brought about
            fault = self._named(leaf(error), self._opening) or fault
        finally:
            self._client = None
            self._stop.set()
            if self._process is not None:
                fault.detail = words_of(self._process.words)
            if not self.over.done():
                self.over.set_result(fault)

    @contextlib.asynccontextmanager
    async def _streams(self, values: Mapping[str, str]) -> AsyncIterator[Streams]:
        transport: AbstractAsyncContextManager[Streams]
        if self.settings.url is not None:
            transport = http_streams(self.settings, values)
        else:
            self._process = Process(self.settings, environment(values), self._stop.set)
            transport = self._process.streams()
        note.set(self._opening)
        async with transport as streams:
            yield streams

    async def _listen(self, client: Client) -> None:
        """Hear, in the newer era and where the server offers it, that its tools have changed; `_hear` is for the older.

        A stream that ends is opened again, after a pause that doubles. One that is refused is not: then, as with a
        server that offers none, the list is asked for anew by its age alone.
        """
        tools = client.server_capabilities.tools
        if client.protocol_version not in MODERN_PROTOCOL_VERSIONS or tools is None or not tools.list_changed:
            return
        pause = LISTEN_SECONDS
        while True:
            note.set(Note())
            began = anyio.current_time()
            try:
                async with client.listen(tools_list_changed=True) as events:
                    self.has_new_tools = True  # perhaps: nobody told us what changed before
                    async for _ in events:
                        self.has_new_tools = True
            except SubscriptionLost:
                pass
            except Exception:  # noqa: BLE001 - whatever a hostile server brings about, calls go on without the stream
                return
            pause = LISTEN_SECONDS if anyio.current_time() - began > LONGEST_LISTEN_SECONDS else pause
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_LISTEN_SECONDS)

    async def _hear(self, message: Any) -> None:
        if isinstance(message, mcp_types.ToolListChangedNotification):
            self.has_new_tools = True

    # -- what went wrong ----------------------------------------------------------------------------------------------

    async def _reason(self) -> ServerFault:
        """Why the connection is over. It may only be about to end; either way nothing goes over it any more."""
        self.close()
        if self._process is not None and self._process.says_too_much:
            return faults.too_large(self.name, MOST_MESSAGE)
        await asyncio.wait({self.over}, timeout=_LOOK_SECONDS)
        return self.over.result().again() if self.over.done() else faults.gone(self.name, "closed the connection")

    async def _fault_of(self, error: Exception, mine: Note) -> ServerFault:
        fault = self._named(error, mine)
        if fault is None:
            return await self._reason()
        if isinstance(fault, SessionOver):
            self.close()
        return fault

    def _named(self, error: BaseException, mine: Note) -> ServerFault | None:
        """The fault that an exception stands for; None where it only says that the connection is closed."""
        if mine.too_much or isinstance(error, TooMuch):
            return faults.too_large(self.name, MOST_MESSAGE)
        match error:
            case MCPError():
                return self._of_protocol(error, mine)
            case ServerFault():
                return error
            case CannotStart():
                return faults.gone(self.name, f"cannot be started: {error}")
            case NotAsked():
                return faults.invalid(self.name, str(error))
            case ValidationError():
                first = error.errors(include_url=False, include_context=False, include_input=False)[0]
                where = "/".join(map(str, first["loc"]))
                return faults.invalid(self.name, f"{where}: {first['type']}")
            case httpx2.HTTPError() | OSError():
                return faults.gone(self.name, f"cannot be reached: {type(error).__name__}")
            case RuntimeError():
                return faults.invalid(self.name, str(error))
            case _:
                return faults.gone(self.name, f"cannot be used: {type(error).__name__}")

    def _of_protocol(self, error: MCPError, mine: Note) -> ServerFault | None:
        code, message = error.code, error.message
        if mine.status in _NOT_LET_IN:
            return faults.refused(self.name, mine.status)
        if mine.elsewhere:
            return faults.redirects(self.name)
        if message == _SESSION_OVER and mine.status == _NOT_FOUND:
            return SessionOver("server-gone", f"the MCP server {self.name} has forgotten us")
        if message.startswith(_UNREADABLE):
            return faults.invalid(self.name, "an answer that cannot be read")
        if code == mcp_types.CONNECTION_CLOSED and message.startswith(_LOST):
            return None
        if mine.status >= _FIRST_ERROR and message in _STAND_INS:
            return faults.gone(self.name, f"answers HTTP {mine.status}")
        return faults.error(self.name, code, message)


class SessionOver(ServerFault):
    """The server knows our session no longer. What was asked was not done, so it can be asked anew."""


_NOT_LET_IN = (401, 403)
_NOT_FOUND = 404
_FIRST_ERROR = 400
_STAND_INS = ("Server returned an error response", "Not Found")  # the SDK's words for an answer that is no JSON-RPC
_UNREADABLE = ("Failed to parse", "Unexpected content type", "server answered a request with 202", "SSE stream failed")


async def _noted(work: Awaitable[T], mine: Note) -> T:
    note.set(mine)
    return await work


def _retrieved(task: asyncio.Task[Any]) -> None:
    if not task.cancelled():
        task.exception()
