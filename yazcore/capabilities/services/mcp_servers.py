"""`mcp_servers`: the MCP servers that the user has named, asked on behalf of one plugin (seed 0022, Y-49, Y-50).

    checker = context.mcp_servers["reference-checker"]
    found = checker.call("check", {"text": text})           # blocks; await context.aio.mcp_servers[...].call(...)

Names are exact, tools are those that the user has seen, and in a call of posture `read` only those that the user says
only read. What comes back is data: nothing here looks into it. `RemoteServers` is what the host hands over.
"""

from __future__ import annotations

import asyncio
import math
import time
from concurrent.futures import CancelledError, Future
from concurrent.futures import TimeoutError as FutureTimeout
from typing import Any, Protocol, TypeVar

import anyio.to_thread

from yazcore.capabilities.broker import Broker
from yazcore.capabilities.context import Frame, frame_of
from yazcore.capabilities.errors import Cancelled, ServiceError
from yazcore.kinds import McpRequest

T = TypeVar("T")

SECONDS = 30.0
"""How long a request may take where neither the plugin nor its own caller says."""

_LOOK_SECONDS = 0.05
_SPARE_SECONDS = 1.0
_SPARE_SHARE = 0.1
_LATE_SECONDS = 0.5


class RemoteServers(Protocol):
    """The servers themselves, as a host gives them to the service. Safe from any thread.

    A future raises `ServiceError`; cancelling it cancels the request on the server.
    """

    def reads(self, server: str, tool: str) -> bool:
        """Whether the user says that the tool only reads. Never raises."""

    def tools(self, server: str, seconds: float) -> Future[list[dict[str, Any]]]:
        """The tools that the user has seen as they are now."""

    def call(self, server: str, tool: str, arguments: Any, seconds: float) -> Future[dict[str, Any]]:
        """Call one of them."""


class McpServers:
    """The servers of one plugin. Every method raises `CapabilityError` where the broker forbids it.

    Other failures are `ServiceError`: `server-unknown`, `server-settings`, `server-gone`, `server-slow`,
    `server-refused`, `server-redirects`, `server-invalid`, `server-too-large`, `server-endless`, `server-asks`,
    `server-error`, `server-tool-unknown`, `server-tool-held`, `server-tool-invalid`, `server-result-invalid`,
    `server-arguments`, `server-seen-broken`, and what the user's secrets give.
    """

    def __init__(self, broker: Broker, plugin: str, remote: RemoteServers) -> None:
        self._asking = _Asking(broker, plugin, remote)

    def __getitem__(self, server: str) -> McpServer:
        """One server by its name in the user's settings. Nothing is asked before it is used."""
        return McpServer(self, server)

    def tools(self, server: str, *, seconds: float | None = None) -> list[dict[str, Any]]:
        """The tools of the server that this plugin may call: `name`, `description`, `inputSchema` and so on as the
        server gives them, and `read`, whether a call of posture `read` may use it.

        `seconds` bounds the request; it never takes longer than the call that it serves.
        """
        frame, left = self._asking.frame(seconds)
        self._asking.require(frame, server, None)
        return self._asking.covered(server, _waited(frame, self._asking.remote.tools(server, left), server, left))

    def call(
        self, server: str, tool: str, arguments: dict[str, Any] | None = None, *, seconds: float | None = None
    ) -> dict[str, Any]:
        """Call a tool, and give its answer: `content` (the parts as the server gives them), `isError`, and
        `structuredContent` where there is one, which fits the tool's own output schema.

        `seconds` as for `tools`. What the server did before it was too late stays done.
        """
        frame, left = self._asking.frame(seconds)
        self._asking.require(frame, server, tool)
        return _waited(frame, self._asking.remote.call(server, tool, arguments, left), server, left)

    @property
    def aio(self) -> AioMcpServers:
        """The same, to be awaited."""
        return AioMcpServers(self._asking)


class AioMcpServers:
    """The same methods for async code; cancelling one cancels the request."""

    def __init__(self, asking: _Asking) -> None:
        self._asking = asking

    def __getitem__(self, server: str) -> McpServer:
        """One server by its name; its methods are to be awaited."""
        return McpServer(self, server)

    async def tools(self, server: str, *, seconds: float | None = None) -> list[dict[str, Any]]:
        """As `McpServers.tools`."""
        frame, left = self._asking.frame(seconds)
        await anyio.to_thread.run_sync(self._asking.require, frame, server, None)
        return self._asking.covered(server, await _awaited(self._asking.remote.tools(server, left), server))

    async def call(
        self, server: str, tool: str, arguments: dict[str, Any] | None = None, *, seconds: float | None = None
    ) -> dict[str, Any]:
        """As `McpServers.call`."""
        frame, left = self._asking.frame(seconds)
        await anyio.to_thread.run_sync(self._asking.require, frame, server, tool)
        return await _awaited(self._asking.remote.call(server, tool, arguments, left), server)


class McpServer:
    """One server of a service, by its name: `tools(...)` and `call(tool, arguments, ...)` as the service has them."""

    def __init__(self, service: Any, name: str) -> None:
        self._service = service
        self.name = name

    def tools(self, **options: Any) -> Any:
        """The server's tools."""
        return self._service.tools(self.name, **options)

    def call(self, tool: str, arguments: dict[str, Any] | None = None, **options: Any) -> Any:
        """Call one of its tools."""
        return self._service.call(self.name, tool, arguments, **options)


class _Asking:
    """What both faces do before they ask: the frame, and the broker."""

    def __init__(self, broker: Broker, plugin: str, remote: RemoteServers) -> None:
        self._broker = broker
        self._plugin = plugin
        self.remote = remote

    def frame(self, seconds: float | None) -> tuple[Frame, float]:
        """The frame of this moment, and how long a request may take in it.

        A little less than the call has left, so that its handler can still say what happened.
        """
        frame = frame_of(self._plugin, "mcp_servers")
        if seconds is not None and (type(seconds) not in (int, float) or not seconds > 0):
            raise ValueError("seconds is a number over 0")
        left = frame.call.deadline - time.monotonic()
        if left <= 0:
            raise Cancelled(f"{frame.where} has no time left")
        left -= min(_SPARE_SECONDS, left * _SPARE_SHARE)
        if seconds is None:
            seconds = left if math.isfinite(left) else SECONDS
        return frame, min(left, seconds)

    def require(self, frame: Frame, server: str, tool: str | None) -> None:
        """Whether the plugin may ask this. It may wait for the user's word, and so for a while."""
        if type(server) is not str or not (tool is None or type(tool) is str):
            raise TypeError("servers and tools are named by a str")
        read = tool is not None and self.remote.reads(server, tool)
        self._broker.require(McpRequest(server=server, tool=tool, read=read), frame)

    def covered(self, server: str, tools: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Those tools that a capability of this plugin covers."""
        return [one for one in tools if self._broker.allows(McpRequest(server=server, tool=one["name"]))]


def _waited(frame: Frame, future: Future[T], server: str, seconds: float) -> T:
    """The result of a future, as long as somebody waits for this call."""
    end = time.monotonic() + seconds + _LATE_SECONDS
    while True:
        try:
            return future.result(_LOOK_SECONDS)
        except FutureTimeout:
            if future.done():
                raise
        except CancelledError:
            raise _left(server) from None
        if frame.call.cancelled.is_set():
            future.cancel()
            raise Cancelled(f"{frame.where} was cancelled")
        if time.monotonic() > end:
            future.cancel()
            raise ServiceError("server-slow", f"the MCP server {server} did not answer in time")


async def _awaited(future: Future[T], server: str) -> T:
    try:
        return await asyncio.wrap_future(future)
    except asyncio.CancelledError:
        if (task := asyncio.current_task()) is not None and task.cancelling():
            raise
        raise _left(server) from None


def _left(server: str) -> ServiceError:
    return ServiceError("server-gone", f"the MCP server {server} is left: yaz is closing")


