"""What a server offers, all pages of it, as plain data; none of its lists may go on for ever (mcp 54, 55)."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

import mcp_types as types
from mcp import Client
from mcp.shared.exceptions import MCPError

from yazcore.mcp.client import faults

MOST_PAGES = 100
"""The most pages of one list."""

MOST_ENTRIES = 2000
"""The most entries of one list."""

MOST_BYTES = 8 * 2**20
"""The most bytes of JSON of one list."""

Page = TypeVar("Page", bound=types.PaginatedResult)


async def tools_of(client: Client, name: str) -> list[dict[str, Any]]:
    """The server's tools, with the keys of the wire."""
    return await _all(name, "tools", client.list_tools, lambda page: [_tool(one) for one in page.tools])


async def surface_of(client: Client, name: str) -> dict[str, Any]:
    """All that the server offers: `server`, `protocol`, `instructions`, `tools`, `resources`, `templates`, `prompts`.

    A list that the server does not say it has is not asked for.
    """
    has = client.server_capabilities
    info = client.server_info
    resources: list[dict[str, Any]] = []
    templates: list[dict[str, Any]] = []
    prompts: list[dict[str, Any]] = []
    tools: list[dict[str, Any]] = []
    if has.tools is not None:
        tools = await tools_of(client, name)
    if has.resources is not None:
        resources = await _all(name, "resources", client.list_resources, lambda page: _data(page.resources))
        templates = await _all(
            name, "templates", client.list_resource_templates, lambda page: _data(page.resource_templates)
        )
    if has.prompts is not None:
        prompts = await _all(name, "prompts", client.list_prompts, lambda page: _data(page.prompts))
    return {
        "server": None if info is None else {"name": info.name, "version": info.version},
        "protocol": client.protocol_version,
        "instructions": client.instructions,
        "tools": tools,
        "resources": resources,
        "templates": templates,
        "prompts": prompts,
    }


async def _all(
    name: str,
    what: str,
    fetch: Callable[..., Awaitable[Page]],
    entries_of: Callable[[Page], list[dict[str, Any]]],
) -> list[dict[str, Any]]:
    """Every page of one list. Raises `ServerFault` for a list that comes back to where it was, or is too long."""
    found: list[dict[str, Any]] = []
    cursor: str | None = None
    before: set[str] = set()
    size = 0
    for _ in range(MOST_PAGES):
        try:
            page = await fetch(cursor=cursor)
        except MCPError as error:
            if error.code == types.METHOD_NOT_FOUND and cursor is None:
                return []
            raise
        entries = entries_of(page)
        found += entries
        size += sum(len(json.dumps(entry)) for entry in entries)
        if size > MOST_BYTES:
            raise faults.too_large(name, MOST_BYTES)
        if page.next_cursor is None:
            return found
        if page.next_cursor in before or len(found) > MOST_ENTRIES:
            break
        cursor = page.next_cursor
        before.add(cursor)
    raise faults.endless(name, what)


def _tool(tool: types.Tool) -> dict[str, Any]:
    data = {
        "name": tool.name, "title": tool.title, "description": tool.description, "inputSchema": tool.input_schema,
        "outputSchema": tool.output_schema,
        "annotations": tool.annotations and tool.annotations.model_dump(by_alias=True, mode="json", exclude_none=True),
    }  # fmt: skip
    return {key: value for key, value in data.items() if value is not None}


def _data(entries: Sequence[Any]) -> list[dict[str, Any]]:
    return [one.model_dump(by_alias=True, mode="json", exclude_none=True) for one in entries]
