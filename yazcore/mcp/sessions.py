"""The sessions of the older protocol era: bounded for each principal, and one request for one id.

A client that opens a session for each call and never ends one is an everyday fault. Its own sessions make room: the
one that has been silent longest ends, as it would have a little later by itself.
"""

from __future__ import annotations

import math
from typing import Any

import pydantic_core
from mcp.server import Server
from mcp.server.auth.middleware.bearer_auth import AuthorizationContext
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER, StreamableHTTPServerTransport
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types import INVALID_REQUEST, ErrorData, JSONRPCError
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

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

    # --- one request for one id -----------------------------------------------------------------------------------

    async def _handle_stateful_request(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request whose id another one of its session has at this moment (mcp 15)."""
        request = Request(scope, receive)
        transport = self._server_instances.get(request.headers.get(MCP_SESSION_ID_HEADER, ""))
        replay = None if transport is None else self._replays.get(transport)
        if replay is None or request.method != "POST":
            await super()._handle_stateful_request(scope, receive, send)
            return
        body = await request.body()
        given = _id_of(body)
        if given is None:
            await super()._handle_stateful_request(scope, _again(body, receive), send)
            return
        key = str(given)
        if key in replay.open:
            await _used_id(given)(scope, receive, send)
            return
        replay.open.add(key)

        async def watch(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] >= 400:
                replay.open.discard(key)  # it never became a call
            await send(message)

        await super()._handle_stateful_request(scope, _again(body, receive), watch)


def _id_of(body: bytes) -> str | int | None:
    """The id of a request; None for what is no request, which the SDK answers."""
    try:
        message = pydantic_core.from_json(body)  # the SDK's own parser: both see the same message (mcp 16)
    except ValueError:
        return None
    if not isinstance(message, dict) or "method" not in message:
        return None
    given = message.get("id")
    return given if isinstance(given, (str, int)) and not isinstance(given, bool) else None


def _again(body: bytes, receive: Receive) -> Receive:
    """A `receive` that gives the body which was read already, and after it whatever comes."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return waiting.pop() if waiting else await receive()

    return again


def _used_id(given: str | int) -> Response:
    error = ErrorData(code=INVALID_REQUEST, message="a request with this id is still running in this session")
    answer = JSONRPCError(jsonrpc="2.0", id=given, error=error)
    return Response(answer.model_dump_json(by_alias=True, exclude_unset=True), 400, media_type="application/json")
