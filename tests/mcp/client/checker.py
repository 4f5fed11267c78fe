"""A reference checker: a real MCP server on the SDK's low-level server, over stdio or HTTP.

    python checker.py stdio [FOLDER]        python checker.py http PORT [TOKEN] [FOLDER]

`tools.json` in FOLDER, where there is one, adds to or changes what it lists. `calls` in FOLDER gets a line for each
call that arrives, `lists` one for each list, `listens` one for each stream of changes, and `ended` one for each call
that was cancelled. `token` in FOLDER, where there is one, takes the place of TOKEN; `refused` gets what was sent
instead. Where `older` is in FOLDER, only the older protocol era is spoken; where `streams` is, each stream of changes
ends as soon as it was opened.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import anyio
import mcp_types as t
from mcp.server import Server, ServerRequestContext
from mcp.server.runner import serve_loop
from mcp.server.session import ServerSession
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged
from mcp.shared.exceptions import MCPError

TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
ANY: dict[str, Any] = {"type": "object", "properties": {}}
FOUND = {
    "type": "object", "properties": {"found": {"type": "integer"}}, "required": ["found"],
    "additionalProperties": False,
}  # fmt: skip

TOOLS: dict[str, dict[str, Any]] = {
    "check": {"description": "Counts the references in a text.", "inputSchema": TEXT, "outputSchema": FOUND},
    "mend": {"description": "Mends references.", "inputSchema": TEXT},
    "lie": {"description": "Promises a number.", "inputSchema": TEXT, "outputSchema": FOUND},
    "silent": {"description": "Promises a number and says nothing.", "inputSchema": TEXT, "outputSchema": FOUND},
    "odd": {"description": "Has a schema nobody can use.", "inputSchema": TEXT, "outputSchema": {
        "type": "object", "properties": {"a": {"$ref": "http://127.0.0.1:9/schema.json"}}}},
    "older": {"description": "Has a schema of an older dialect.", "inputSchema": TEXT, "outputSchema": {
        "$schema": "http://json-schema.org/draft-07/schema#", **FOUND}},
    "announce": {"description": "Says that its tools have changed.", "inputSchema": TEXT},
    "fail": {"description": "Always fails.", "inputSchema": TEXT},
    "error": {"description": "Answers with an error of the protocol.", "inputSchema": TEXT},
    "wait": {"description": "Never ends.", "inputSchema": TEXT},
    "die": {"description": "Ends the server.", "inputSchema": TEXT},
    "big": {"description": "Answers with three megabytes.", "inputSchema": TEXT},
    "huge": {"description": "Answers with five megabytes.", "inputSchema": TEXT},
    "ask": {"description": "Asks its caller for a person's answer.", "inputSchema": TEXT},
    "env": {"description": "Says what its environment holds.", "inputSchema": TEXT},
    "picture": {"description": "Answers with an image.", "inputSchema": TEXT},
    "number": {"description": "Answers with a number that is too large.", "inputSchema": TEXT},
}  # fmt: skip


def noted(folder: Path | None, name: str, line: str) -> None:
    if folder is not None:
        with (folder / name).open("a") as file:
            file.write(f"{line}\n")


def made(folder: Path | None) -> Server[Any]:
    def tools() -> dict[str, dict[str, Any]]:
        more = folder / "tools.json" if folder is not None else None
        return {**TOOLS, **(json.loads(more.read_text()) if more is not None and more.exists() else {})}

    bus = InMemorySubscriptionBus()
    sessions: set[ServerSession] = set()
    serve_stream = ListenHandler(bus)

    async def listen(ctx: ServerRequestContext[Any], params: t.SubscriptionsListenRequestParams) -> Any:
        noted(folder, "listens", "a stream")
        if folder is None or not (folder / "streams").exists():
            return await serve_stream(ctx, params)
        with anyio.move_on_after(0.05):
            return await serve_stream(ctx, params)
        return t.SubscriptionsListenResult()

    async def initialized(ctx: ServerRequestContext[Any], params: t.NotificationParams) -> None:
        sessions.add(ctx.session)

    async def list_tools(ctx: ServerRequestContext[Any], params: t.PaginatedRequestParams | None) -> t.ListToolsResult:
        noted(folder, "lists", "tools")
        return t.ListToolsResult(tools=[t.Tool(name=name, **one) for name, one in tools().items()])

    async def call_tool(ctx: ServerRequestContext[Any], params: t.CallToolRequestParams) -> Any:
        noted(folder, "calls", params.name)
        text = (params.arguments or {}).get("text", "")
        match params.name:
            case "check" | "older":
                return structured({"found": text.count("@")})
            case "lie" | "odd":
                return structured({"found": "many"})
            case "fail":
                return t.CallToolResult(is_error=True, content=[t.TextContent(text="no reference is there")])
            case "announce":
                await bus.publish(ToolsListChanged())
                for session in sessions:
                    await session.send_notification(t.ToolListChangedNotification())
            case "error":
                raise MCPError(code=-32000, message="the database is away\x1b[2J")
            case "wait":
                try:
                    await anyio.sleep_forever()
                finally:
                    noted(folder, "ended", params.name)
            case "die":
                os._exit(3)
            case "big" | "huge":
                return said("x" * {"big": 3, "huge": 5}[params.name] * 2**20)
            case "ask":
                if ctx.protocol_version >= "2026":
                    form = t.ElicitRequestFormParams(message="Your key?", requested_schema=ANY)
                    return t.InputRequiredResult(input_requests={"key": t.ElicitRequest(params=form)})
                try:
                    await ctx.session.elicit_form("Your key?", ANY)
                except MCPError as error:
                    return said(f"refused: {error.message}")
            case "env":
                return said(os.environ.get(text, "nothing"))
            case "picture":
                return t.CallToolResult(content=[t.ImageContent(data="aGk=", mime_type="image/png")])
            case "number":
                return structured({"found": 2**80})
        return said(f"{params.name}: {text}")

    server: Server[Any] = Server(
        "checker", version="1.2", on_list_tools=list_tools, on_call_tool=call_tool, on_subscriptions_listen=listen,
        get_tool_input_schema=lambda name: tools().get(name, {}).get("inputSchema"),  # else each call lists them all
    )  # fmt: skip

    async def around(ctx: ServerRequestContext[Any], call_next: Any) -> Any:
        if ctx.method == "server/discover" and folder is not None and (folder / "older").exists():
            raise MCPError(code=t.METHOD_NOT_FOUND, message="Method not found")
        return await call_next(ctx)

    server.middleware.append(around)
    server.add_notification_handler("notifications/initialized", t.NotificationParams, initialized)
    return server


def said(text: str) -> t.CallToolResult:
    return t.CallToolResult(content=[t.TextContent(text=text)])


def structured(data: dict[str, Any]) -> t.CallToolResult:
    return t.CallToolResult(content=[t.TextContent(text=json.dumps(data))], structured_content=data)


def tell(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


async def over_stdio(folder: Path | None) -> None:
    tell("this line is no message")
    sys.stderr.write("and this is for whoever started me\n")
    server = made(folder)
    async with stdio_server() as (read, write):
        if folder is not None and (folder / "older").exists():
            await serve_loop(server, read, write, lifespan_state={})
        else:
            await server.run(read, write, server.create_initialization_options())


async def over_http(port: int, token: str, folder: Path | None) -> None:
    import uvicorn

    app = made(folder).streamable_http_app(streamable_http_path="/mcp")

    async def gated(scope: Any, receive: Any, send: Any) -> None:
        sent = dict(scope.get("headers", ())).get(b"authorization", b"").decode()
        rotated = folder / "token" if folder is not None else None
        wanted = rotated.read_text() if rotated is not None and rotated.exists() else token
        if scope["type"] == "http" and wanted and sent != f"Bearer {wanted}":
            noted(folder, "refused", sent)
            await send({"type": "http.response.start", "status": 401, "headers": []})
            await send({"type": "http.response.body", "body": b""})
        else:
            await app(scope, receive, send)

    class Telling(uvicorn.Server):
        async def startup(self, sockets: Any = None) -> None:
            await super().startup(sockets)
            tell(str(self.servers[0].sockets[0].getsockname()[1]))

    await Telling(uvicorn.Config(gated, host="127.0.0.1", port=port, log_level="critical", ws="none")).serve()


def main() -> None:
    kind, *more = sys.argv[1:]
    if kind == "stdio":
        anyio.run(over_stdio, Path(more[0]) if more else None)
    else:
        port, token, *folder = more
        anyio.run(over_http, int(port), token, Path(folder[0]) if folder else None)


if __name__ == "__main__":
    main()
