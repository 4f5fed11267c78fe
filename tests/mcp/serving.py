"""How the tests of this room serve and connect: always over real HTTP on the loopback interface."""

from __future__ import annotations

import contextlib
import json
import os
import socket
from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path
from typing import Any

import anyio
import httpx2
import uvicorn
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, TextContent

from yazcore import GLOBAL, PROJECT, Contract, Home, Host, Own, Tool, hookimpl
from yazcore.mcp.listener import Address, Listener

SAMPLE = Path(__file__).parent / "sample"
CONTRACT = Contract(
    number=1, group="yaz.manifest", prefix="yaz-plugin-", host="yaz", version="0.1.0", scope_kinds=(GLOBAL, PROJECT)
)  # fmt: skip
MODERN = "2026-07-28"
ERAS = (MODERN, "legacy")
ACCEPT = "application/json, text/event-stream"


def sample_host(home: Home) -> Host:
    """A host with the sample plugin, active."""
    host = Host(CONTRACT, home=home, builtin=[SAMPLE], discover=False)
    (status,) = host.activate()
    assert status.state == "active", status
    return host


def host_with(folder: Path, home: Home, names: list[str], handler: Any = None) -> Host:
    """A host whose own plugin has tools of these names, each of which answers with its name, or has this handler."""

    def manifest_tool(name: str) -> dict[str, Any]:
        return {
            "name": name, "descriptionKey": "tool", "posture": "read", "scope": "global", "permission": "yaz:look",
            "inputSchema": {"type": "object", "additionalProperties": False},
        }  # fmt: skip

    manifest = {
        "contract": 1, "id": "yaz", "name": "yaz", "version": "0.1.0", "minAppVersion": "0.1.0", "author": "the tests",
        "description": "Many tools.", "module": "many:Many", "locales": "locales",
        "permissions": [{"action": "yaz:look", "descriptionKey": "permission"}],
        "provides": {"tools": [manifest_tool(name) for name in names]},
    }  # fmt: skip
    (folder / "locales").mkdir(parents=True)
    (folder / "locales" / "en-US.ftl").write_text("tool = A tool.\npermission = Look.\n")
    (folder / "manifest.json").write_text(json.dumps(manifest))

    class Many:
        @hookimpl
        def provide_tools(self) -> list[Tool]:
            return [Tool(name, handler or (lambda context, arguments, name=name: {"name": name})) for name in names]

    host = Host(CONTRACT, home=home, own=Own(folder=folder, make=lambda context: Many()), discover=False)
    (status,) = host.activate()
    assert status.state == "active", status
    return host


@contextlib.asynccontextmanager
async def listening(host: Host, **options: Any) -> AsyncIterator[tuple[Listener, Address]]:
    """A listener, switched on, and off again at the end."""
    async with anyio.create_task_group() as tasks:
        listener = Listener(host, **options)
        address = await tasks.start(listener.run)
        try:
            yield listener, address
        finally:
            with anyio.CancelScope(shield=True):
                await listener.stop()


@contextlib.asynccontextmanager
async def http(token: str | None = None) -> AsyncIterator[httpx2.AsyncClient]:
    """A plain HTTP client that no proxy of the environment sees."""
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient(headers=headers, trust_env=False, verify=False, timeout=10) as client:
        yield client


@contextlib.asynccontextmanager
async def connected(url: str, token: str, mode: str, **options: Any) -> AsyncIterator[Client]:
    """The official client."""
    async with (
        http(token) as plain,
        Client(streamable_http_client(url, http_client=plain), mode=mode, **options) as client,
    ):
        yield client


def words(result: CallToolResult) -> str:
    """The text of a result."""
    (first, *_) = result.content
    assert isinstance(first, TextContent)
    return first.text


def modern(method: str, params: Mapping[str, Any] | None = None, request_id: Any = 1) -> dict[str, Any]:
    """A request of the newer era, as `httpx2` takes it."""
    meta = {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}}
    body = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": {**(params or {}), "_meta": meta}}
    headers = {"Accept": ACCEPT, "MCP-Protocol-Version": MODERN, "Mcp-Method": method}
    named = (params or {}).get("name") or (params or {}).get("uri")
    if named is not None:
        headers["Mcp-Name"] = named
    return {"json": body, "headers": headers}


def accepted(port: int) -> list[int]:
    """TCP_NODELAY of every connection that this process has accepted on the port and still holds."""
    found = []
    for name in os.listdir("/proc/self/fd"):
        try:
            sock = socket.socket(fileno=os.dup(int(name)))
        except OSError:
            continue
        with sock, contextlib.suppress(OSError):  # the listening socket has no peer
            if sock.family == socket.AF_INET and sock.getsockname()[1] == port and sock.getpeername():
                found.append(sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
    return found


@contextlib.asynccontextmanager
async def served(app: Any) -> AsyncIterator[str]:
    """Another application, served by uvicorn; gives its address."""
    config = uvicorn.Config(app, port=0, log_config=None, access_log=False, ws="none", timeout_graceful_shutdown=5)
    started = anyio.Event()

    class Server(uvicorn.Server):
        @contextlib.contextmanager
        def capture_signals(self) -> Iterator[None]:
            yield

        async def startup(self, sockets: Any = None) -> None:
            await super().startup(sockets)
            started.set()

    server = Server(config)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(server.serve)
        await started.wait()
        try:
            yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
        finally:
            server.should_exit = True
