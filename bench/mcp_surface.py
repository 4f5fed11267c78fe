"""What an agent meets beside one call: FastMCP as a peer, a thousand tools, the gate alone, the end, lost sessions.

Each server is a process of its own; rounds alternate and medians are compared, as in `bench.mcp_call`. FastMCP serves
the one tool, or a thousand in twenty servers that are mounted into one, as a host with twenty plugins would. Both serve
as they do for their users: ours writes its audit record of each call, FastMCP its line of log.
"""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import importlib.util
import json
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TextIO
from urllib.parse import urlsplit

from bench.measuring import figure
from bench.raw_client import raw_calls
from bench.servers import on_processor, server
from yazcore import OWNER, Contract, Home, Host

ME = "bench.mcp_surface"
ROUNDS = 11
CALLS = 100
LISTS = 3
TOOLS, PLUGINS = 1000, 20
SESSIONS = 1000
VERSION = "2026-07-28"
TEXT = "a sentence of about the length that a search query has"
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"text": {"type": "string", "maxLength": 200}},
    "required": ["text"],
    "additionalProperties": False,
}


def figures() -> list[dict[str, Any]]:
    """Measure them all; what FastMCP is needed for is said to be missing where it is not installed."""
    found = [_gate(), *_end_and_sessions()]
    with ExitStack() as stack:
        one, many = (stack.enter_context(server(ME, "ours", str(count))) for count in (1, TOOLS))
        first = _tool_name(0, 0)
        alike = _quotient(raw_calls(many, first, TEXT), raw_calls(one, first, TEXT), CALLS)
        found.append(figure("mcp-call-1000-tools", alike, "<= 1.05", "a call's time with 1 tool, raw connection"))
        called = listed = None
        if importlib.util.find_spec("fastmcp") is not None:
            plain, mounted = (stack.enter_context(server(ME, "fastmcp", str(count))) for count in (1, TOOLS))
            called = 1 / _quotient(raw_calls(one, first, TEXT), raw_calls(plain, "t0", TEXT), CALLS)
            listed = _quotient(_whole_lists(many), _whole_lists(mounted), LISTS)
    missing = "" if called is not None else " (not installed: requirements/bench.txt)"
    against = f"the whole tools/list of FastMCP, {TOOLS} tools in {PLUGINS} mounted servers{missing}"
    found.append(figure("mcp-call-fastmcp", called, ">= 1.5", f"calls per second of FastMCP with the tool{missing}"))
    found.append(figure("mcp-list-fastmcp", listed, "<= 0.1", against))
    return found


# --- the clients ------------------------------------------------------------------------------------------------------


class Connection:
    """A raw connection that is kept."""

    def __init__(self, address: dict[str, str]) -> None:
        parts = urlsplit(address["url"])
        self._path, self._host, self._token = parts.path, parts.netloc, address["token"]
        self._connection = http.client.HTTPConnection(parts.hostname or "", parts.port)
        self._connection.connect()
        self._connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """The result of one request of the newer era."""
        meta = {"io.modelcontextprotocol/protocolVersion": VERSION, "io.modelcontextprotocol/clientCapabilities": {}}
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
        headers = {"MCP-Protocol-Version": VERSION, "Mcp-Method": method}
        if "name" in params:
            headers["Mcp-Name"] = params["name"]
        status, _, body = self.send(message, headers)
        if status != 200:
            raise RuntimeError(f"the server answered {status}: {body[:300]!r}")
        data = next((line[5:] for line in body.splitlines() if line.startswith(b"data:")), body)
        result: dict[str, Any] = json.loads(data)["result"]
        return result

    def send(self, message: dict[str, Any], headers: dict[str, str]) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body of the answer to one message."""
        body = json.dumps(message).encode()
        usual = {
            "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
            "Authorization": f"Bearer {self._token}",
        }  # fmt: skip
        self._connection.request("POST", self._path, body, {**usual, **headers})
        answer = self._connection.getresponse()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()


def _whole_lists(address: dict[str, str]) -> Callable[[], None]:
    """The whole list, page by page."""
    connection = Connection(address)

    def listed() -> None:
        count, more = 0, {}
        while True:
            page = connection.ask("tools/list", **more)
            count += len(page["tools"])
            if page.get("nextCursor") is None:
                break
            more = {"cursor": page["nextCursor"]}
        if count != TOOLS:
            raise RuntimeError(f"the server listed {count} tools")

    return listed


def _quotient(ours: Callable[[], object], theirs: Callable[[], object], times: int) -> float:
    """The median, over the rounds, of the median time of ours over theirs."""
    quotients = []
    with on_processor(-1):
        for number in range(ROUNDS + 1):
            pair = (ours, theirs) if number % 2 else (theirs, ours)
            took = {one: statistics.median(_seconds(one) for _ in range(times)) for one in pair}
            quotients.append(took[ours] / took[theirs])
    return statistics.median(quotients[1:])  # the first round warms up


def _seconds(work: Callable[[], None]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


# --- in this process --------------------------------------------------------------------------------------------------


def _gate() -> dict[str, Any]:
    """One call through the gate, without HTTP: guide value. On one processor, as every server here is."""

    async def measured(host: Host) -> float:
        name = _tool_name(0, 0)
        took = []
        for _ in range(2000):
            began = time.perf_counter()
            await host.gate.call_tool(OWNER, name, {"text": TEXT})
            took.append(time.perf_counter() - began)
        return statistics.median(took[500:])

    with on_processor(0), _host(1) as host:
        value = asyncio.run(measured(host)) * 1e6
    return figure("mcp-gate-alone", value, "<= 60", "nothing: a guide value, plugin included", "µs", guide=True)


def _end_and_sessions() -> list[dict[str, Any]]:
    """How long the end takes while a stream is open, and what a thousand abandoned sessions leave behind."""
    with server(ME, "ours", "1", "stop") as address:
        connection = Connection(address)
        for number in range(SESSIONS):
            message = {
                "jsonrpc": "2.0", "id": number, "method": "initialize",
                "params": {"protocolVersion": "2025-11-25", "capabilities": {},
                           "clientInfo": {"name": "bench", "version": "1"}},
            }  # fmt: skip
            if connection.send(message, {})[0] != 200:
                raise RuntimeError("no session was opened")
        stopped = _stopped(address)
    return [
        figure("mcp-stop-open-stream", stopped["seconds"], "<= 0.5", "the clock, a listen stream open", "s"),
        figure("mcp-abandoned-sessions", stopped["sessions"], "<= 64", f"{SESSIONS} that were opened", "sessions"),
        figure("mcp-abandoned-memory", stopped["megabytes"], "<= 16", "memory before them", "MB", guide=True),
    ]


def _stopped(address: dict[str, str]) -> dict[str, float]:
    """Hold a listen stream open and tell the server to stop; gives what it measured."""
    parts = urlsplit(address["url"])
    meta = {"io.modelcontextprotocol/protocolVersion": VERSION, "io.modelcontextprotocol/clientCapabilities": {}}
    params = {"notifications": {"toolsListChanged": True}, "_meta": meta}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": params}).encode()
    head = (
        f"POST {parts.path} HTTP/1.1\r\nHost: {parts.netloc}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\nAccept: application/json, text/event-stream\r\n"
        f"Authorization: Bearer {address['token']}\r\nMCP-Protocol-Version: {VERSION}\r\n"
        "Mcp-Method: subscriptions/listen\r\n\r\n"
    ).encode()
    with socket.create_connection((parts.hostname or "", parts.port or 0), 10) as stream:
        stream.sendall(head + body)
        received = b""
        while b"acknowledged" not in received:
            received += stream.recv(4096)
        process: subprocess.Popen[bytes] = address["process"]  # type: ignore[assignment]
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"stop\n")
        process.stdin.flush()
        measured: dict[str, float] = json.loads(process.stdout.readline())
    return measured


# --- the servers ------------------------------------------------------------------------------------------------------


def _tool_name(plugin: int, tool: int) -> str:
    return f"p{plugin}__t{tool}"


CODE = """
from yazcore import Tool, hookimpl

class Echo:
    def __init__(self, context):
        self.count = context.settings["count"]

    @hookimpl
    def provide_tools(self):
        return [Tool(f"t{number}", self.echo) for number in range(self.count)]

    async def echo(self, context, arguments):
        return {"text": arguments["text"]}
"""


@contextmanager
def _host(tools: int) -> Iterator[Host]:
    """A host with so many tools: one plugin for one tool, else spread over `PLUGINS`."""
    folder = Path(tempfile.mkdtemp(prefix="bench-"))
    plugins = 1 if tools == 1 else PLUGINS
    packages = []
    for number in range(plugins):
        package = folder / f"bench_p{number}"
        (package / "locales").mkdir(parents=True)
        (package / "__init__.py").write_text("")
        (package / "plugin.py").write_text(CODE)
        (package / "locales" / "en-US.ftl").write_text("tool = Give the text back.\npermission = Read.\n")
        (package / "manifest.json").write_text(json.dumps(_manifest(f"p{number}", tools // plugins)))
        packages.append(package)
    contract = Contract(number=1, group="bench.manifest", prefix="bench-plugin-", host="bench", version="0.1.0")
    sys.path.insert(0, str(folder))
    host = Host(contract, home=Home(folder / "home"), builtin=packages, discover=False)
    try:
        for status in host.activate():
            if status.state != "active":
                raise RuntimeError(str(status))
        yield host
    finally:
        host.close()
        sys.path.remove(str(folder))
        shutil.rmtree(folder, ignore_errors=True)


def _manifest(plugin: str, tools: int) -> dict[str, Any]:
    tool = {
        "descriptionKey": "tool", "posture": "read", "scope": "global", "permission": f"{plugin}:read",
        "inputSchema": SCHEMA,
    }  # fmt: skip
    return {
        "contract": 1, "id": plugin, "name": "Bench", "version": "0.1.0", "minAppVersion": "0.1.0",
        "author": "the yaz developers", "description": "Tools.", "module": f"bench_{plugin}.plugin:Echo",
        "locales": "locales", "permissions": [{"action": f"{plugin}:read", "descriptionKey": "permission"}],
        "provides": {
            "tools": [{"name": f"t{number}", **tool} for number in range(tools)],
            "settings": [{"key": "count", "type": "integer", "default": tools, "descriptionKey": "tool"}],
        },
    }  # fmt: skip


async def _serve_ours(host: Host, measures: bool) -> None:
    import anyio
    import anyio.to_thread

    from yazcore.mcp import sessions
    from yazcore.mcp.listener import Listener

    held: list[sessions.Sessions] = []
    first = sessions.Sessions.__init__

    def remember(self: sessions.Sessions, *args: Any, **options: Any) -> None:
        first(self, *args, **options)
        held.append(self)

    sessions.Sessions.__init__ = remember  # type: ignore[method-assign]
    async with anyio.create_task_group() as tasks:
        listener = Listener(host)
        address = await tasks.start(listener.run)
        print(json.dumps({"url": address.url, "token": address.token}), flush=True)
        if not measures:
            await anyio.sleep_forever()
        before = _megabytes()
        await anyio.to_thread.run_sync(sys.stdin.readline)
        megabytes, open_sessions = _megabytes() - before, len(held[0]._server_instances)
        began = time.perf_counter()
        await listener.stop()
        took = time.perf_counter() - began
        print(json.dumps({"seconds": took, "sessions": open_sessions, "megabytes": megabytes}), flush=True)


def _megabytes() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def _serve_fastmcp(tools: int) -> None:
    from fastmcp import FastMCP

    async def echo(text: str) -> dict[str, str]:
        """Give the text back."""
        return {"text": text}

    server: Any = FastMCP("bench")
    if tools == 1:
        server.tool(echo, name="t0")
    for plugin in range(PLUGINS if tools > 1 else 0):
        mounted: Any = FastMCP(f"p{plugin}")
        for number in range(tools // PLUGINS):
            mounted.tool(echo, name=f"t{number}")
        server.mount(mounted, namespace=f"p{plugin}")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    threading.Thread(target=_announce, args=(port, sys.stdout), daemon=True).start()
    sys.stdout = sys.stderr  # it logs each request there
    asyncio.run(server.run_http_async(port=port, path="/mcp", show_banner=False))


def _announce(port: int, out: TextIO) -> None:
    """Say where a server is reached, once it is."""
    while True:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            break
        time.sleep(0.05)
    print(json.dumps({"url": f"http://127.0.0.1:{port}/mcp", "token": "none"}), file=out, flush=True)


if __name__ == "__main__":
    with on_processor(0):
        if sys.argv[1] == "fastmcp":
            _serve_fastmcp(int(sys.argv[2]))
        else:
            with _host(int(sys.argv[2])) as served:
                asyncio.run(_serve_ours(served, sys.argv[3:] == ["stop"]))
