"""A result that does not fit, over MCP: a link, pages that are the whole, and nobody else's (design 7)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import ResourceLink, TextResourceContents

from tests.mcp.serving import ERAS, MODERN, connected, host_with, listening, words
from yazcore import Home, Principal

pytestmark = pytest.mark.anyio

OTHER = Principal(name="other", owner=True)
WHOLE = {"lines": [f"line {number} ü" for number in range(10_000)]}


@pytest.mark.parametrize("mode", ERAS)
async def test_all_of_it_is_read_in_pages_by_whoever_asked_and_by_nobody_else(
    tmp_path: Path, home: Home, mode: str
) -> None:
    host = host_with(tmp_path / "large", home, ["large"], lambda context, arguments: WHOLE)
    async with (
        listening(host, named={"of-another": OTHER}.get) as (_, address),
        connected(address.url, address.token, mode) as client,
        connected(address.url, "of-another", mode) as other,
    ):
        result = await client.call_tool("large", {})
        assert (result.is_error, result.structured_content) == (True, None)
        (link,) = (block for block in result.content if isinstance(block, ResourceLink))
        assert words(result).endswith(f"Ask for less, or read all of it in pages at {link.uri}.")

        async def page_at(uri: str) -> dict[str, Any]:
            (content,) = (await client.read_resource(uri)).contents
            assert isinstance(content, TextResourceContents)
            page: dict[str, Any] = json.loads(content.text)
            return page

        pages = [await page_at(link.uri)]
        while pages[-1]["next"] is not None:
            pages.append(await page_at(pages[-1]["next"]))
        assert len(pages) == pages[0]["pages"] > 1
        assert json.loads("".join(page["text"] for page in pages)) == WHOLE

        for uri in (link.uri, str(pages[0]["next"])):
            with pytest.raises(MCPError) as caught:
                await other.read_resource(uri)
            missing = -32602 if mode == MODERN else -32002
            assert (caught.value.code, caught.value.message) == (missing, f"No such resource: {uri}")
    host.close()
