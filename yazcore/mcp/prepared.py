"""A list that is encoded once and sent many times.

The SDK copies and encodes each result anew: of a page of a hundred tools that is nearly all of its time. So the handler
gives a small stand-in, leaves the encoded list in the request's scope, and here the one takes the other's place.
"""

from __future__ import annotations

import json
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

TAKES = "yazcore.takes-prepared"
"""The key of the ASGI scope that says: a prepared list would be sent."""

PREPARED = "yazcore.prepared"
"""The key of the ASGI scope under which a handler leaves the encoded result and the request's id."""

_LISTS_TOOLS = (b"mcp-method", b"tools/list")


def encoded(result: dict[str, Any]) -> bytes:
    """A result as it stands in an answer."""
    return json.dumps(result, separators=(",", ":")).encode()


async def with_prepared(app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
    """Serve one request; where its handler prepared the result, that is sent."""
    if _LISTS_TOOLS not in scope["headers"]:
        await app(scope, receive, send)
        return
    scope[TAKES] = True
    as_stream = False

    async def send_prepared(message: Message) -> None:
        nonlocal as_stream
        prepared = scope.get(PREPARED)
        if message["type"] == "http.response.start":
            as_stream = any(name == b"content-type" and b"event-stream" in value for name, value in message["headers"])
            if prepared is not None and not as_stream:
                length = str(len(_answer(*prepared))).encode()
                others = [header for header in message["headers"] if header[0] != b"content-length"]
                message = {**message, "headers": [*others, (b"content-length", length)]}
        elif prepared is not None and not as_stream:
            message = {**message, "body": _answer(*prepared)}
        elif prepared is not None and b'"result"' in message.get("body", b""):  # it took so long that a stream began
            message = {**message, "body": b"event: message\r\ndata: " + _answer(*prepared) + b"\r\n\r\n"}
        await send(message)

    await app(scope, receive, send_prepared)


def _answer(result: bytes, request_id: Any) -> bytes:
    return b'{"jsonrpc":"2.0","id":' + json.dumps(request_id).encode() + b',"result":' + result + b"}"
