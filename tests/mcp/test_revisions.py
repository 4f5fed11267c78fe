"""The revisions of the older era, each as it was: what is negotiated is served (mcp 62)."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any

import attrs
import httpx2
import pytest

from tests.mcp.serving import ACCEPT, http, listening
from yazcore import Host

pytestmark = pytest.mark.anyio

OLDER = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")


@attrs.define
class Session:
    """A session of one revision, on raw HTTP."""

    client: httpx2.AsyncClient
    url: str
    headers: dict[str, str]
    number: int = 1

    async def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """The whole answer to one request."""
        self.number += 1
        return answer_in(await self.post({"id": self.number, "method": method, "params": params}))

    async def post(self, message: Any) -> httpx2.Response:
        body = message if isinstance(message, list) else {"jsonrpc": "2.0", **message}
        return await self.client.post(self.url, json=body, headers=self.headers)


def answer_in(response: httpx2.Response) -> dict[str, Any]:
    if response.headers["content-type"].startswith("application/json"):
        return response.json()  # type: ignore[no-any-return]
    (data,) = (line for line in response.text.splitlines() if line.startswith("data: {"))
    return json.loads(data.removeprefix("data: "))  # type: ignore[no-any-return]


@contextlib.asynccontextmanager
async def session_of(host: Host, revision: str) -> AsyncIterator[Session]:
    async with listening(host) as (_, address), http(address.token) as client:
        session = Session(client, address.url, {"Accept": ACCEPT})
        params = {"protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        opened = await session.post({"id": 1, "method": "initialize", "params": params})
        assert answer_in(opened)["result"]["protocolVersion"] == revision
        session.headers["Mcp-Session-Id"] = opened.headers["mcp-session-id"]
        if revision >= "2025-06-18":  # from there on clients say it with each request
            session.headers["MCP-Protocol-Version"] = revision
        assert (await session.post({"method": "notifications/initialized"})).status_code == 202
        yield session


@pytest.mark.parametrize("revision", OLDER)
async def test_tools_are_listed_and_called_and_errors_are_told(host: Host, revision: str) -> None:
    async with session_of(host, revision) as session:
        listed = (await session.ask("tools/list"))["result"]["tools"]
        assert "sample__echo" in [tool["name"] for tool in listed]
        called = (await session.ask("tools/call", name="sample__echo", arguments={"text": "hi"}))["result"]
        assert json.loads(called["content"][0]["text"]) == {"text": "hi", "caller": "owner"}
        refused = (await session.ask("tools/call", name="sample__refuse", arguments={}))["result"]
        assert (refused["isError"], refused["content"][0]["text"][:22]) == (True, "the cupboard is bare: ")
        wrong = (await session.ask("tools/call", name="sample__echo", arguments={"text": 1}))["result"]
        assert wrong["isError"]
        unknown = (await session.ask("tools/call", name="sample__gone", arguments={}))["error"]
        assert (unknown["code"], unknown["message"]) == (-32602, "Unknown tool: sample__gone")


@pytest.mark.parametrize("revision", OLDER)
async def test_resources_and_prompts_are_read(host: Host, revision: str) -> None:
    async with session_of(host, revision) as session:
        note = (await session.ask("resources/read", uri="yaz://sample/note"))["result"]["contents"]
        assert [one["text"] for one in note] == ["a note"]
        missing = (await session.ask("resources/read", uri="yaz://sample/gone"))["error"]
        assert missing["code"] == -32002
        prompt = (await session.ask("prompts/get", name="sample__greet", arguments={"name": "Anna"}))["result"]
        assert prompt["messages"][0]["content"]["text"] == "Greet Anna."


@pytest.mark.parametrize("revision", OLDER)
async def test_a_batch_is_refused(host: Host, revision: str) -> None:
    """Only 2025-03-26 knew them; no client is known to send any."""
    async with session_of(host, revision) as session:
        batch = [{"jsonrpc": "2.0", "id": number, "method": "ping"} for number in (8, 9)]
        response = await session.post(batch)
        assert response.status_code == 400
        assert "error" in response.json()


async def test_a_revision_that_there_never_was_is_answered_with_the_newest_of_its_era(host: Host) -> None:
    async with listening(host) as (_, address), http(address.token) as client:
        params = {"protocolVersion": "2020-01-01", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        session = Session(client, address.url, {"Accept": ACCEPT})
        opened = await session.post({"id": 1, "method": "initialize", "params": params})
        assert answer_in(opened)["result"]["protocolVersion"] == OLDER[-1]
