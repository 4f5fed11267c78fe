"""The sessions of the older protocol era: bounded for each principal, and one request for one id.

A client that opens a session for each call and never ends one is an everyday fault. Its own sessions make room: the
one that has been silent longest ends, as it would have a little later by itself.
"""

from __future__ import annotations

import json
import math
from typing import Any

import anyio
import attrs
import pydantic_core
from mcp.server import Server
from mcp.server.auth.middleware.bearer_auth import AuthorizationContext
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER, StreamableHTTPServerTransport
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types import INVALID_PARAMS, INVALID_REQUEST, ErrorData, JSONRPCError
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from yazcore.mcp.changes import STILL, Still
from yazcore.mcp.parameters import unfit
from yazcore.mcp.prepared import with_prepared
from yazcore.mcp.replay import RETRY_MS, Replay, Room

MAX_SESSIONS_EACH = 64
"""How many sessions one principal may have open: each keeps 36 KiB (mcp D3)."""


class Sessions(StreamableHTTPSessionManager):
    """The SDK's manager, which knows one bound for all and lets two requests with one id take each other's answer."""

    def __init__(self, app: Server[Any], **options: Any) -> None:
        super().__init__(app, retry_interval=RETRY_MS, **options)
        self._room = Room()
        self._replays: dict[StreamableHTTPServerTransport, Replay] = {}
        self.streams: set[Stream] = set()

    def _admit_session(self, requestor: AuthorizationContext | None) -> StreamableHTTPServerTransport | None:
        """A new session; None, which is answered with 503, where all of the principal's are in use, or too many open.

        The SDK has no public place for this (mcp 1.4).
        """
        own = [session for session, owner in self._session_owners.items() if owner == requestor]
        if len(own) >= MAX_SESSIONS_EACH and not self._end_one_of(own):
            return None
        transport = super()._admit_session(requestor)
        if transport is not None:
            transport._event_store = self._replays[transport] = Replay(self._room)
        return transport

    async def _discard_session(self, session_id: str, transport: StreamableHTTPServerTransport) -> None:
        """Forget the session, and what it was sent."""
        if (replay := self._replays.pop(transport, None)) is not None:
            replay.clear()
        await super()._discard_session(session_id, transport)

    def _end_one_of(self, sessions: list[str]) -> bool:
        """End the session that has been silent longest; False where each serves a request at this moment."""
        silent = min(sessions, key=self._silent_until)
        if self._silent_until(silent) == math.inf:
            return False
        transport = self._server_instances.pop(silent)
        self._session_owners.pop(silent, None)
        if transport.idle_scope is not None:
            transport.idle_scope.cancel()
        return True

    def _silent_until(self, session: str) -> float:
        """When the session will end by itself; never while it serves a request or has a stream open."""
        scope = self._server_instances[session].idle_scope
        return math.inf if scope is None or scope.cancel_called else scope.deadline

    async def _handle_request(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request of either era."""
        await with_prepared(super()._handle_request, scope, receive, send)

    # --- streams --------------------------------------------------------------------------------------------------

    def stream_of(self, session: str) -> Stream | None:
        """The open stream of a session, if it has one."""
        return next((stream for stream in self.streams if stream.session == session), None)

    async def _stream(self, request: Request, send: Send) -> None:
        """Serve a stream, until its client leaves or its token opens nothing any more: then as if the client had left.

        The session stays: it belongs to its principal, who may have a newer token (mcp 10).
        """
        scope, session, still = request.scope, request.headers.get(MCP_SESSION_ID_HEADER), request.scope.get(STILL)
        if request.method != "GET" or session is None or still is None:
            await super()._handle_stateful_request(scope, request.receive, send)
            return
        stream = Stream(session=session, still=still)
        is_open = False

        async def receive() -> Message:
            message: Message = {"type": "http.disconnect"}
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_cancel_after, stream.ended, tasks.cancel_scope)
                message = await request.receive()
                tasks.cancel_scope.cancel()
            return message

        async def watch(message: Message) -> None:
            nonlocal is_open
            is_open = message["type"] == "http.response.start" or bool(message.get("more_body"))
            await send(message)

        self.streams.add(stream)
        try:
            await super()._handle_stateful_request(scope, receive, watch)
        finally:
            self.streams.discard(stream)
        if is_open and stream.ended.is_set():
            await send({"type": "http.response.body", "body": b""})

    # --- one message, and one request for one id ------------------------------------------------------------------

    async def _handle_stateful_request(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse what is no message, and a request whose id another one of its session has at this moment (mcp 15).

        The SDK would leave a request with a bad id without any answer (mcp 14), and explain the rest with what it was
        sent; the newer era refuses all of it with the same codes.
        """
        request = Request(scope, receive)
        if request.method != "POST":
            await self._stream(request, send)
            return
        body = await request.body()
        message = _parsed(body)
        if isinstance(message, _Wrong):
            await _refusal(message)(scope, receive, send)
            return
        transport = self._server_instances.get(request.headers.get(MCP_SESSION_ID_HEADER, ""))
        replay = None if transport is None else self._replays.get(transport)
        given = message.get("id") if message is not None and "method" in message else None
        if replay is None or given is None:
            await super()._handle_stateful_request(scope, _again(body, receive), send)
            return
        key = str(given)
        if key in replay.open:
            await _refusal(_Wrong("a request with this id is still running in this session", id=given))(
                scope, receive, send
            )
            return
        replay.open.add(key)

        async def watch(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] >= 400:
                replay.open.discard(key)  # it never became a call
            await send(message)

        await super()._handle_stateful_request(scope, _again(body, receive), watch)


@attrs.frozen(eq=False, kw_only=True)
class Stream:
    """An open stream of the older era: whose session it is of, and who its token stands for now."""

    session: str
    still: Still
    ended: anyio.Event = attrs.field(factory=anyio.Event)

    def end(self) -> None:
        """End it."""
        self.ended.set()


async def _cancel_after(event: anyio.Event, scope: anyio.CancelScope) -> None:
    await event.wait()
    scope.cancel()


@attrs.frozen
class _Wrong:
    """Why a body is no message; `id` is that of the request, where it can be told."""

    why: str
    code: int = INVALID_REQUEST
    id: str | int | None = None


_NO_MESSAGE = _Wrong("the body must be one JSON-RPC 2.0 message, and its id a text or an integer")


def _parsed(body: bytes) -> dict[str, Any] | _Wrong | None:
    """The one message of a body, or what is wrong with it; None for what is no JSON, which the SDK answers."""
    try:
        message = pydantic_core.from_json(body)  # the SDK's own parser: both see the same message (mcp 16)
    except ValueError:
        return _too_deep(body)
    return message if is_message(message) else _NO_MESSAGE


def is_message(value: Any) -> bool:
    """Whether a value is one JSON-RPC message as the SDK takes it: nothing else may reach its models (mcp 14)."""
    if not isinstance(value, dict) or value.get("jsonrpc") != "2.0":
        return False
    given, params = value.get("id"), value.get("params")
    has_id = isinstance(given, (str, int)) and not isinstance(given, bool)
    if "method" in value:
        is_call = isinstance(value["method"], str) and (params is None or isinstance(params, dict))
        return is_call and (has_id or "id" not in value)
    if "result" in value:
        return has_id and isinstance(value["result"], dict)
    error = value.get("error")
    if not isinstance(error, dict) or not (has_id or given is None):
        return False
    code = error.get("code")
    return isinstance(code, int) and not isinstance(code, bool) and isinstance(error.get("message"), str)


def _too_deep(body: bytes) -> _Wrong | None:
    """What to say of a request that is nested deeper than the SDK reads here; None where that is not what is wrong."""
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if not is_message(message) or "method" not in message or (why := unfit(message.get("params"))) is None:
        return None
    return _Wrong(why, INVALID_PARAMS, message.get("id"))


def _refusal(wrong: _Wrong) -> Response:
    answer = JSONRPCError(jsonrpc="2.0", id=wrong.id, error=ErrorData(code=wrong.code, message=wrong.why))
    return Response(answer.model_dump_json(by_alias=True, exclude_unset=True), 400, media_type="application/json")


def _again(body: bytes, receive: Receive) -> Receive:
    """A `receive` that gives the body which was read already, and after it whatever comes."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return waiting.pop() if waiting else await receive()

    return again
