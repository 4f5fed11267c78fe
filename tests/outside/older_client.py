"""The Python SDK of the older major version against the server under test; prints what it saw as one line of JSON.

    python older_client.py URL TOKEN
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from mcp import ClientSession, McpError
from mcp.client.streamable_http import streamablehttp_client


async def seen(url: str, token: str) -> dict[str, Any]:
    saw: dict[str, Any] = {"progress": []}

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        saw["progress"].append([progress, total])

    async def code_of(call: Any) -> int | None:
        try:
            await call
        except McpError as error:
            return error.error.code
        return None

    async with (
        streamablehttp_client(url, headers={"Authorization": f"Bearer {token}"}) as (read, write, _),
        ClientSession(read, write) as session,
    ):
        saw["protocol"] = (await session.initialize()).protocolVersion
        saw["tools"] = sum(tool.name == "test_simple_text" for tool in (await session.list_tools()).tools)
        saw["text"] = (await session.call_tool("test_simple_text", {})).content[0].text
        failed = await session.call_tool("test_error_handling", {})
        saw["error"] = [failed.isError, failed.content[0].text]
        saw["unknown"] = await code_of(session.call_tool("nothing", {}))
        saw["resource"] = (await session.read_resource("test://static-text")).contents[0].text
        saw["missing"] = await code_of(session.read_resource("test://nothing"))
        saw["prompt"] = (await session.get_prompt("test_simple_prompt")).messages[0].content.text
        await session.call_tool("test_tool_with_progress", {}, progress_callback=hear)
    try:
        async with streamablehttp_client(url) as (read, write, _), ClientSession(read, write) as session:
            await asyncio.wait_for(session.initialize(), 10)
        saw["refused"] = False
    except BaseExceptionGroup:
        saw["refused"] = True
    return saw


print(json.dumps(asyncio.run(seen(*sys.argv[1:]))))  # noqa: T201 - whoever started it reads this line
