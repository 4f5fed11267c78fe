"""The loopback server that agents connect to: off until switched on, and off means off (design 7).

    async with anyio.create_task_group() as tasks:
        listener = Listener(host)
        address = await tasks.start(listener.run)     # on: address.url, address.token
        ...
        await listener.stop()                         # off: from any task, as often as you like

An object and not a context manager, since whoever switches it off is seldom the task that switched it on. It never
handles a signal and never sets logging up: the process belongs to the application.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import secrets
import socket
from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import TYPE_CHECKING

import anyio
import anyio.abc
import attrs
import uvicorn
from starlette.types import ASGIApp

from yazcore.mcp.asgi import HEADER_BYTES, Authenticate, Entrance
from yazcore.mcp.connection import Connection
from yazcore.mcp.server import Face
from yazcore.permissions import OWNER, Principal
from yazcore.permissions.curation import Curation
from yazcore.violations import YazError

if TYPE_CHECKING:
    from yazcore.host import Host

PATH = "/mcp"
"""Where the server answers."""

_LOOPBACK = "127.0.0.1"
_TOKEN_BYTES = 32
_LAST_FRAMES_SECONDS = 0.05
_GRACE_SECONDS = 1
_KEEP_ALIVE_SECONDS = 75


def _nobody(token: str) -> Principal | None:
    return None


@attrs.frozen
class Address:
    """Where one switching-on is reached, and with what. The token is in no `repr`, so in no log."""

    url: str
    token: str = attrs.field(repr=False)


class Listener:
    """The MCP server of a host on 127.0.0.1: on while `run` runs, off after `stop`; it may be switched on again.

    `port` 0 lets the system choose. The token of a start is new each time and stands for the owner; `named` says whose
    any other token is (named tokens open nothing while the listener is off). `curation`: what there is for all of them.
    """

    def __init__(
        self, host: Host, *, port: int = 0, named: Authenticate = _nobody, curation: Curation | None = None
    ) -> None:
        self._host = host
        self._port = port
        self._named = named
        self._curation = curation or Curation()
        self._start: _Start | None = None

    @property
    def address(self) -> Address | None:
        """Where it is reached; None while it is off."""
        return None if self._start is None or self._start.over else self._start.address

    async def run(self, *, task_status: anyio.abc.TaskStatus[Address] = anyio.TASK_STATUS_IGNORED) -> None:
        """Switch on and serve until `stop`, or until this task is cancelled; either way nothing is left behind.

        Reports its `Address` once it answers. Raises `YazError` where it is on already, or the port is taken.
        """
        if self._start is not None:
            raise YazError("listener-on", "the MCP server is on already", "switch it off before switching it on again")
        self._start = start = _Start(Face(self._host), _bind(self._port), self._whose)
        try:
            await start.serve(task_status)
        finally:
            self._start = None

    def _whose(self, token: str | None) -> Principal | None:
        """Whom a token stands for, as there is to know for everybody; None: the owner's own."""
        principal = OWNER if token is None else self._named(token)
        return None if principal is None else self._curation.of(principal)

    async def stop(self) -> None:
        """Switch off: the token is dead and the port closed at once; then open streams end, and that is awaited."""
        if (start := self._start) is not None:
            start.off()
            await start.done.wait()


def _bind(port: int) -> socket.socket:
    # With the protocol left at 0, asyncio would not set TCP_NODELAY: 44 ms for each call instead of 0.5 (mcp D6).
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((_LOOPBACK, port))
        sock.listen(128)
    except (OSError, OverflowError) as error:
        sock.close()
        raise YazError(
            "port-unavailable", f"port {port} of {_LOOPBACK} cannot be used: {error}", "choose another, or none"
        ) from None
    return sock


class _Start:
    """One switching-on: one socket, one token, one server."""

    def __init__(
        self, face: Face, sock: socket.socket, whose: Callable[[str | None], Principal | None]
    ) -> None:
        port = sock.getsockname()[1]
        self.address = Address(f"http://{_LOOPBACK}:{port}{PATH}", secrets.token_urlsafe(_TOKEN_BYTES))
        self.over = False
        self.done = anyio.Event()
        self._face = face
        self._sock = sock
        self._whose = whose
        self._digest = sha256(self.address.token.encode()).digest()
        self._hosts = (f"{_LOOPBACK}:{port}", f"localhost:{port}")
        # Its own origin is nobody's: no page is served there.
        self._origins = tuple(f"http://{name}" for name in self._hosts)
        self._server: _Server | None = None

    def _authenticate(self, token: str) -> Principal | None:
        if self.over:
            return None
        # Digests, so that the comparison takes the same time whatever the length (mcp 7).
        if hmac.compare_digest(sha256(token.encode()).digest(), self._digest):
            return self._whose(None)
        return self._whose(token)

    async def serve(self, task_status: anyio.abc.TaskStatus[Address]) -> None:
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._off_when_cancelled)
                # uvicorn cancelled would leave its port open behind: it is told to stop, never cancelled.
                with anyio.CancelScope(shield=True):
                    async with self._face.serving() as manager:
                        entrance = Entrance(
                            manager.asgi_app, self._authenticate, hosts=self._hosts, origins=self._origins, path=PATH
                        )
                        self._server = _Server(entrance, lambda: task_status.started(self.address))
                        if not self.over:
                            await self._server.serve([self._sock])
                tasks.cancel_scope.cancel()
        finally:
            self.off()
            self._sock.close()
            self.done.set()

    async def _off_when_cancelled(self) -> None:
        try:
            await anyio.sleep_forever()
        finally:
            self.off()

    def off(self) -> None:
        """Token, port, streams: in this order. What is left to await, `serve` awaits."""
        if self.over:
            return
        self.over = True
        if self._server is None:
            self._sock.close()
            return
        self._server.close_port()
        self._face.end()
        self._server.leave()


class _Server(uvicorn.Server):
    """uvicorn without its signal handlers, and with an end that does not wait for clients to go."""

    def __init__(self, app: ASGIApp, started: Callable[[], None]) -> None:
        config = _Config(
            app,
            http=Connection,
            ws="none",
            lifespan="off",
            interface="asgi3",
            log_config=None,
            proxy_headers=False,
            server_header=False,
            date_header=False,
            h11_max_incomplete_event_size=HEADER_BYTES,
            timeout_graceful_shutdown=_GRACE_SECONDS,
            # Clients let go of an idle connection after 5 seconds; if we did so too, a call sent just then was lost.
            timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        )
        super().__init__(config)
        self._announce = started
        self._leaving = asyncio.Event()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to the application."""
        yield

    async def main_loop(self) -> None:
        """Wait to be told; uvicorn's own loop looks ten times a second."""
        self._announce()
        await self._leaving.wait()

    def close_port(self) -> None:
        """Refuse new connections from now on."""
        for server in getattr(self, "servers", ()):
            server.close()

    def leave(self) -> None:
        """End: streams have a moment for their last frames, then they see their client leave."""
        self.should_exit = True
        self._leaving.set()
        asyncio.get_running_loop().call_later(_LAST_FRAMES_SECONDS, self._disconnect)

    def _disconnect(self) -> None:
        for connection in tuple(self.server_state.connections):
            connection.transport.abort()


class _Config(uvicorn.Config):
    def configure_logging(self) -> None:
        """Leave logging to the application: uvicorn's own would silence the access log of every other server here."""
