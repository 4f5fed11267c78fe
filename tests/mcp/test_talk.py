"""What a call says to its client while it runs."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from tests.hosts.conformance import conformance
from tests.mcp.serving import MODERN, connected, http, listening, modern
from yazcore import Home, Host
from yazcore.mcp.listener import Address

pytestmark = [
    pytest.mark.anyio,
    # what only the older era has, the SDK's client calls deprecated
    pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning"),
]


@pytest.fixture(scope="module")
def talking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    host = conformance(Home(tmp_path_factory.mktemp("talking")))
    yield host
    host.close()


@pytest.fixture
async def address(talking: Host) -> AsyncIterator[Address]:
    async with listening(talking) as (_, address):
        yield address


@pytest.mark.parametrize(("level", "count"), [(None, 3), ("debug", 3), ("info", 3), ("warning", 0)])
async def test_an_older_session_reads_what_it_wants_to(address: Address, level: Any, count: int) -> None:
    heard = []

    async def hear(params: Any) -> None:
        heard.append(params.data)

    async with connected(address.url, address.token, "legacy", logging_callback=hear) as client:
        if level is not None:
            await client.set_logging_level(level)
        await client.call_tool("test_tool_with_logging", {})
    assert heard == ["Tool execution started", "Tool processing data", "Tool execution completed"][:count]


@pytest.mark.parametrize(("level", "said"), [(None, False), ("info", True), ("error", False)])
async def test_in_the_newer_era_each_request_says_so(address: Address, level: str | None, said: bool) -> None:
    request = modern("tools/call", {"name": "test_logging_tool", "arguments": {}})
    if level is not None:
        request["json"]["params"]["_meta"]["io.modelcontextprotocol/logLevel"] = level
    async with http(address.token) as client:
        answer = (await client.post(address.url, **request)).text
    assert ("a few words" in answer) is said
    assert '"resultType":"complete"' in answer


async def test_a_client_whose_stream_was_let_go_comes_back_for_the_result(address: Address) -> None:
    async with connected(address.url, address.token, "legacy") as client:
        result = await client.call_tool("test_reconnection", {})
    assert result.content[0].text == "Reconnection test completed"  # type: ignore[union-attr]


async def test_letting_go_does_nothing_in_the_newer_era(address: Address) -> None:
    async with connected(address.url, address.token, MODERN) as client:
        result = await client.call_tool("test_reconnection", {})
    assert result.content[0].text == "Reconnection test completed"  # type: ignore[union-attr]
