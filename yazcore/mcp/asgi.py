"""The server's HTTP side: who may come in, and how it is put into another application.

    from yazcore.mcp.asgi import asgi
    app = Starlette(routes=[Mount("/agents", app=asgi(host, authenticate=users.principal_of))])

A token is asked for on every request, before anything else is looked at; neither the loopback address nor an opened
session stands in for it (mcp D4, 5).
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Collection, Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from yazcore.mcp.changes import STILL
from yazcore.mcp.server import PRINCIPAL, Face
from yazcore.permissions import Principal

if TYPE_CHECKING:
    from yazcore.host import Host

Authenticate = Callable[[str], Principal | None]
"""Whose token this is; None where nobody's. Asked on each request, so what it answers counts at once."""

METHODS = ("POST", "GET", "DELETE")
"""What the protocol uses: requests, and in the older era a stream for the server's words and the end of a session."""


HEADER_BYTES = 16 * 1024
"""The most bytes that the headers of a request may have together."""


class Entrance:
    """The outermost gate of HTTP: it lets a request in, as its principal, or refuses it without looking further.

    In this order: token (401, the same bytes for a missing and a wrong one), `Host` (421, exactly one of `hosts`; None
    leaves that to the application around), `Origin` (403 for any but those of `origins`: no page of another site is a
    client), `path` (404; None: whatever reaches here), method (405), the size of the headers (431). No CORS header is
    ever sent.
    """

    def __init__(
        self,
        app: ASGIApp,
        authenticate: Authenticate,
        *,
        hosts: Collection[str] | None = None,
        origins: Collection[str] = (),
        path: str | None = None,
    ) -> None:
        self._app = app
        self._authenticate = authenticate
        self._hosts = None if hosts is None else {host.lower().encode() for host in hosts}
        self._origins = {origin.encode() for origin in origins}
        self._path = path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request as ASGI."""
        if scope["type"] != "http":
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008})
            return
        headers = _Headers(scope["headers"])
        token = headers.token
        principal = None if token is None else self._authenticate(token)
        refusal = _NO_TOKEN if principal is None else self._refusal(scope, headers)
        if token is None or principal is None or refusal is not None:
            await _refuse(refusal or _NO_TOKEN, send)
            return
        # What is inside never sees the token, so it can neither log it nor hand it to a plugin.
        inner = {
            **scope,
            "headers": headers.others,
            PRINCIPAL: principal,
            STILL: lambda: self._authenticate(token),
            "user": _owner_of_sessions(principal.name),
        }
        with contextlib.suppress(ClientDisconnect):
            await self._app(inner, receive, send)

    def _refusal(self, scope: Scope, headers: _Headers) -> _Refusal | None:
        if self._hosts is not None and (len(headers.host) != 1 or headers.host[0].lower() not in self._hosts):
            return _WRONG_HOST
        if not self._origins.issuperset(headers.origin):
            return _WRONG_ORIGIN
        if self._path is not None and scope["path"] != self._path:
            return _WRONG_PATH
        if scope["method"] not in METHODS:
            return _WRONG_METHOD
        return _LARGE_HEADERS if headers.size > HEADER_BYTES else None


class _Headers:
    """What the entrance asks of a request's headers, in one walk: every request passes here."""

    __slots__ = ("authorization", "host", "origin", "others", "size")

    def __init__(self, headers: Iterable[tuple[bytes, bytes]]) -> None:
        self.authorization: list[bytes] = []
        self.host: list[bytes] = []
        self.origin: list[bytes] = []
        self.others: list[tuple[bytes, bytes]] = []
        self.size = 0
        for header in headers:
            name, value = header
            self.size += len(name) + len(value)
            if name == b"authorization":
                self.authorization.append(value)
                continue
            self.others.append(header)
            if name == b"host":
                self.host.append(value)
            elif name == b"origin":
                self.origin.append(value)

    @property
    def token(self) -> str | None:
        """The one bearer token; None where there is none, or more than one header to choose from."""
        if len(self.authorization) != 1:
            return None
        scheme, _, token = self.authorization[0].partition(b" ")
        token = token.strip()
        if scheme.lower() != b"bearer" or not token or not token.isascii():
            return None
        return token.decode("ascii")


@lru_cache(maxsize=256)
def _owner_of_sessions(name: str) -> AuthenticatedUser:
    """By what the SDK binds a session to its principal: by name, so a renewed token keeps its sessions (mcp 10, 12)."""
    return AuthenticatedUser(AccessToken(token="", client_id=name, scopes=[]))


_Refusal = tuple[Message, Message]


def _refusal(status: int, body: bytes, *headers: tuple[bytes, bytes]) -> _Refusal:
    length = str(len(body)).encode()
    start = {
        "type": "http.response.start",
        "status": status,
        "headers": [(b"content-type", b"text/plain"), (b"content-length", length), *headers],
    }
    return start, {"type": "http.response.body", "body": body}


_NO_TOKEN = _refusal(401, b"a valid bearer token is needed\n", (b"www-authenticate", b"Bearer"))
_WRONG_HOST = _refusal(421, b"this server does not answer for that Host\n")
_WRONG_ORIGIN = _refusal(403, b"requests of web pages are refused\n")
_WRONG_PATH = _refusal(404, b"nothing is here\n")
_WRONG_METHOD = _refusal(405, b"use POST\n", (b"allow", ", ".join(METHODS).encode()))

_LARGE_HEADERS = _refusal(431, b"the headers are too large\n")


async def _refuse(refusal: _Refusal, send: Send) -> None:
    for message in refusal:
        await send(message)


def asgi(
    host: Host,
    *,
    authenticate: Authenticate,
    hosts: Collection[str] | None = None,
    origins: Collection[str] = (),
) -> Mounted:
    """The host's MCP server as an ASGI application, for another application's own users (design 7).

    `authenticate` says whose bearer token a request carries, on each request; a session of the older protocol era
    belongs to the name of the principal that opened it. `hosts` and `origins` are the `Host` and `Origin` headers to
    accept; without `hosts` that check is the application's own. Whatever path reaches the application is served, so
    under `Mount("/agents", ...)` clients are given `/agents/`.
    """
    return Mounted(Face(host), authenticate, hosts=hosts, origins=origins)


class Mounted:
    """An MCP server inside another ASGI application.

    Streams and sessions need a place to live in: enter `running()` in the application's lifespan, as in
    `Starlette(lifespan=lambda app: mounted.running(), ...)`. Starlette does not pass a lifespan on to what is mounted;
    where nobody entered it, the first request starts it, and it ends with the event loop.
    """

    def __init__(
        self,
        face: Face,
        authenticate: Authenticate,
        *,
        hosts: Collection[str] | None = None,
        origins: Collection[str] = (),
    ) -> None:
        self._face = face
        self._entrance = Entrance(self._inside, authenticate, hosts=hosts, origins=origins)
        self._ready: asyncio.Future[StreamableHTTPSessionManager] | None = None
        self._keeper: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or the lifespan where this is the whole application."""
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
        else:
            await self._entrance(scope, receive, send)

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Serve while the context lasts; at its end every stream and session ends."""
        async with self._face.serving() as manager:
            self._ready = asyncio.get_running_loop().create_future()
            self._ready.set_result(manager)
            try:
                yield
            finally:
                self._ready = None

    async def _inside(self, scope: Scope, receive: Receive, send: Send) -> None:
        loop = asyncio.get_running_loop()
        if self._ready is None or self._ready.get_loop() is not loop:
            self._ready = loop.create_future()
            self._keeper = loop.create_task(self._keep(self._ready))
        manager = await asyncio.shield(self._ready)
        await manager.asgi_app(scope, receive, send)

    async def _keep(self, ready: asyncio.Future[StreamableHTTPSessionManager]) -> None:
        async with self._face.serving() as manager:
            ready.set_result(manager)
            await asyncio.Event().wait()

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        async with contextlib.AsyncExitStack() as stack:
            while True:
                message = await receive()
                if message["type"] == "lifespan.startup":
                    await stack.enter_async_context(self.running())
                else:
                    await stack.aclose()
                await send({"type": f"{message['type']}.complete"})
                if message["type"] == "lifespan.shutdown":
                    return
