"""A list that was encoded once is the very list: whoever asks, under its own id, in pages, and after a change."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from starlette.types import Message, Receive, Scope, Send

from tests.mcp.serving import host_with, http, listening, modern
from yazcore import Home, PermissionGrant, Principal
from yazcore.mcp.prepared import PREPARED, encoded, with_prepared
from yazcore.mcp.surface import PAGE_ITEMS

pytestmark = pytest.mark.anyio

NAMES = [f"tool{number:03}" for number in range(PAGE_ITEMS + 30)]
LIMITED = Principal(name="limited", grants=(PermissionGrant("yaz:look"),), tools=frozenset({"tool007"}))


@pytest.fixture
async def lists(tmp_path: Path, home: Home) -> AsyncIterator[Any]:
    host = host_with(tmp_path / "own", home, NAMES)
    async with listening(host, named={"limited": LIMITED}.get) as (_, address), http() as client:

        async def listed(token: str, request_id: Any, **params: Any) -> Any:
            request = modern("tools/list", params, request_id)
            request["headers"]["Authorization"] = f"Bearer {token or address.token}"
            response = await client.post(address.url, **request)
            assert int(response.headers["content-length"]) == len(response.content)
            assert response.headers["content-type"] == "application/json"
            return response.json()

        yield listed
    host.close()


async def test_the_second_answer_is_the_first_with_another_id(lists: Any) -> None:
    first = await lists("", 1)
    for request_id in (2, "a", "\u00e9\"", 10**30):
        again = await lists("", request_id)
        assert again == {**first, "id": request_id}
    assert [tool["name"] for tool in first["result"]["tools"]] == NAMES[:PAGE_ITEMS]


async def test_each_page_and_each_principal_has_its_own(lists: Any) -> None:
    for _ in range(3):
        first = (await lists("", 1))["result"]
        second = (await lists("", 1, cursor=first["nextCursor"]))["result"]
        assert [tool["name"] for tool in second["tools"]] == NAMES[PAGE_ITEMS:]
        assert "nextCursor" not in second
        assert [tool["name"] for tool in (await lists("limited", 1))["result"]["tools"]] == ["tool007"]
        assert (await lists("", 1, cursor="wrong"))["error"]["code"] == -32602


async def sent(headers: list[tuple[bytes, bytes]], *messages: Message) -> list[Message]:
    """What leaves where a handler prepared a result and then sent these messages."""
    out: list[Message] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        scope[PREPARED] = encoded({"tools": [1]}), 7
        for message in messages:
            await send(message)

    async def send(message: Message) -> None:
        out.append(message)

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    await with_prepared(app, {"type": "http", "headers": headers}, receive, send)
    return out


LISTING = [(b"mcp-method", b"tools/list")]
WHOLE = b'{"jsonrpc":"2.0","id":7,"result":{"tools":[1]}}'


async def test_a_stream_that_began_meanwhile_gets_it_as_its_last_event() -> None:
    start = {"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/event-stream")]}
    ping = {"type": "http.response.body", "body": b": ping\r\n\r\n", "more_body": True}
    last = {"type": "http.response.body", "body": b'event: message\r\ndata: {"result":{}}\r\n\r\n', "more_body": False}
    out = await sent(LISTING, start, ping, last)
    assert out == [start, ping, {**last, "body": b"event: message\r\ndata: " + WHOLE + b"\r\n\r\n"}]


async def test_what_is_no_listing_is_left_alone() -> None:
    start = {"type": "http.response.start", "status": 200, "headers": []}
    body = {"type": "http.response.body", "body": b"x"}
    assert await sent([(b"mcp-method", b"tools/call")], start, body) == [start, body]
