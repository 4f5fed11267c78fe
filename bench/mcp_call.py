"""A tool call over HTTP through listener, gate and runtime, against the same tool on a bare server of the SDK.

Each server is a process of its own; rounds on both alternate, and the medians are compared. The bare server checks no
token, no arguments, no result and no permission, writes no audit, and runs the tool on its own event loop. It is told
the tool's schema, without which the SDK lists all tools for every call.

Where there are two processors, servers get the first and the client the second, so that a scheduler does not decide.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.measuring import figure
from bench.raw_client import VERSION, raw_calls
from bench.servers import on_processor, server

ME = "bench.mcp_call"
ROUNDS = 60
CALLS = 40
TEXT = "a sentence of about the length that a search query has"

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"text": {"type": "string", "maxLength": 200}},
    "required": ["text"],
    "additionalProperties": False,
}
MANIFEST: dict[str, Any] = {
    "contract": 1, "id": "bench", "name": "Bench", "version": "0.1.0", "minAppVersion": "0.1.0",
    "author": "the yaz developers", "description": "One tool.",
    "module": "yaz_plugin_bench.plugin:Bench", "locales": "locales",
    "permissions": [{"action": "bench:read", "descriptionKey": "permission"}],
    "provides": {
        "tools": [
            {
                "name": "echo", "descriptionKey": "tool", "posture": "read", "scope": "global",
                "permission": "bench:read", "inputSchema": SCHEMA,
            }
        ]
    },
}  # fmt: skip
TOOL = "bench__echo"


def figures() -> list[dict[str, Any]]:
    """Measure both ways of calling: a raw keep-alive connection, and the official client."""
    with server(ME, "ours") as ours, server(ME, "bare") as bare, on_processor(-1):
        raw = _compare(raw_calls(ours, TOOL, TEXT), raw_calls(bare, TOOL, TEXT))
        with asyncio.Runner() as runner:
            sdk = runner.run(_compare_sdk(ours, bare))
    against = "calls per second of the same tool on a bare low-level server of the MCP SDK"
    return [
        figure("mcp-call-raw", raw, ">= 0.80", f"{against}, raw connection"),
        figure("mcp-call-sdk", sdk, ">= 0.90", f"{against}, the SDK's client"),
    ]


# --- the clients ------------------------------------------------------------------------------------------------------


def _compare(ours: Callable[[], float], bare: Callable[[], float]) -> float:
    """The median, over the rounds, of the bare server's time over ours."""
    quotients = []
    for _ in range(ROUNDS + 1):
        ours_took = statistics.median(ours() for _ in range(CALLS))
        bare_took = statistics.median(bare() for _ in range(CALLS))
        quotients.append(bare_took / ours_took)
    return statistics.median(quotients[1:])  # the first round warms up


async def _compare_sdk(ours: dict[str, str], bare: dict[str, str]) -> float:
    from contextlib import AsyncExitStack

    import httpx2
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client

    async with AsyncExitStack() as stack:
        clients: list[Client] = []
        for address in (ours, bare):
            headers = {"Authorization": f"Bearer {address['token']}"}
            plain = await stack.enter_async_context(httpx2.AsyncClient(headers=headers, trust_env=False, verify=False))
            transport = streamable_http_client(address["url"], http_client=plain)
            clients.append(await stack.enter_async_context(Client(transport, mode=VERSION)))
        quotients = []
        for _ in range(ROUNDS + 1):
            took = [statistics.median([await _sdk_call(client) for _ in range(CALLS)]) for client in clients]
            quotients.append(took[1] / took[0])
        return statistics.median(quotients[1:])


async def _sdk_call(client: Any) -> float:
    began = time.perf_counter()
    result = await client.call_tool(TOOL, {"text": TEXT})
    took = time.perf_counter() - began
    if result.structured_content != {"text": TEXT}:
        raise RuntimeError(f"the server answered {result}")
    return took


# --- the servers ------------------------------------------------------------------------------------------------------


PLUGIN = '''
from yazcore import Tool, hookimpl

class Bench:
    def __init__(self, context):
        self.context = context

    @hookimpl
    def provide_tools(self):
        return [Tool("echo", self.echo)]

    async def echo(self, context, arguments):
        return {"text": arguments["text"]}
'''
"""The plugin with the one tool."""


async def _serve_ours() -> None:
    import anyio

    from yazcore import GLOBAL, Contract, Home, Host
    from yazcore.mcp.listener import Listener

    folder = Path(os.environ["YAZ_HOME"])
    package = folder / "yaz_plugin_bench"
    (package / "locales").mkdir(parents=True)
    (package / "locales" / "en-US.ftl").write_text("tool = Give the text back.\npermission = Read.\n")
    (package / "manifest.json").write_text(json.dumps(MANIFEST))
    (package / "plugin.py").write_text(PLUGIN)
    sys.path.insert(0, str(folder))
    contract = Contract(
        number=1, group="yaz.manifest", prefix="yaz-plugin-", host="yaz", version="0.1.0", scope_kinds=(GLOBAL,)
    )  # fmt: skip
    host = Host(contract, home=Home(folder), builtin=[package], discover=False)
    (status,) = host.activate()
    if status.state != "active":
        raise RuntimeError(str(status))
    async with anyio.create_task_group() as tasks:
        address = await tasks.start(Listener(host).run)
        print(json.dumps({"url": address.url, "token": address.token}), flush=True)
        await anyio.sleep_forever()


async def _serve_bare() -> None:
    import mcp_types as types
    import uvicorn
    from mcp.server import Server

    async def list_tools(ctx: Any, params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[types.Tool(name=TOOL, description="Give it back.", input_schema=SCHEMA)])

    async def call_tool(ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        result = {"text": (params.arguments or {})["text"]}
        content = [types.TextContent(text=json.dumps(result))]
        return types.CallToolResult(content=content, structured_content=result)  # type: ignore[arg-type]

    server: Server[Any] = Server(
        "bare", on_list_tools=list_tools, on_call_tool=call_tool, get_tool_input_schema={TOOL: SCHEMA}.get
    )
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    sock.bind(("127.0.0.1", 0))
    sock.listen()
    print(json.dumps({"url": f"http://127.0.0.1:{sock.getsockname()[1]}/mcp", "token": "none"}), flush=True)
    app = server.streamable_http_app()
    config = uvicorn.Config(app, http="h11", access_log=False, log_level="warning", ws="none", timeout_keep_alive=75)
    await uvicorn.Server(config).serve([sock])


if __name__ == "__main__":
    with on_processor(0):
        asyncio.run(_serve_ours() if sys.argv[1] == "ours" else _serve_bare())
