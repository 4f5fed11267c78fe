"""Many callers at once over real HTTP, in both eras: each is only ever itself, and may only what it was granted."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import anyio
import attrs
import pytest
from mcp import Client
from mcp_types import CallToolResult

from tests.mcp.serving import ERAS, connected, http, listening, modern, sample_host, words
from yazcore import Home, Host, PermissionGrant
from yazcore.mcp.listener import Address
from yazcore.permissions.tokens import Tokens

pytestmark = pytest.mark.anyio

READ = PermissionGrant("sample:read")
MAY, MAY_NOT = ("anna", "ben", "cleo"), ("dora", "emil")
CALLS = 20
DENIED = "sample__echo needs the permission sample:read, which you do not have."


@attrs.frozen
class Served:
    host: Host
    tokens: Tokens
    address: Address
    texts: dict[str, str]


@pytest.fixture
async def served(home: Home) -> AsyncIterator[Served]:
    host, tokens = sample_host(home), Tokens(home)
    texts = {name: tokens.create(name, [READ] if name in MAY else []) for name in (*MAY, *MAY_NOT)}
    async with listening(host, named=tokens.principal_of) as (_, address):
        yield Served(host, tokens, address, {"owner": address.token, **texts})
    host.close()


async def test_no_caller_is_ever_taken_for_another(served: Served) -> None:
    told: dict[str, list[tuple[str, Any]]] = {name: [] for name in served.texts}

    async def ask(client: Client, name: str, number: int) -> None:
        text = f"{name} {number}"
        result = await client.call_tool("sample__echo", {"text": text, "turns": number % 5})
        assert isinstance(result, CallToolResult)
        told[name].append((text, words(result) if result.is_error else result.structured_content))

    async with AsyncExitStack() as stack:
        clients = [
            (name, await stack.enter_async_context(connected(served.address.url, text, era)))
            for era, (name, text) in itertools.product(ERAS, served.texts.items())
        ]
        async with anyio.create_task_group() as tasks:
            for number, (name, client) in itertools.product(range(CALLS), clients):
                tasks.start_soon(ask, client, name, number)
    for name, answers in told.items():
        assert len(answers) == CALLS * len(ERAS)
        if name in MAY_NOT:
            assert {answer for _, answer in answers} == {DENIED}
        else:
            assert all(answer == {"text": text, "caller": name} for text, answer in answers)
    recorded = [(one["principal"], one["outcome"]) for one in served.host.audit.calls(most=10_000)]
    assert sorted(set(recorded)) == sorted(
        [("owner", "ok"), *((name, "ok") for name in MAY), *((name, "denied") for name in MAY_NOT)]
    )
    assert len(recorded) == CALLS * len(ERAS) * len(served.texts)


async def test_one_connection_may_carry_the_requests_of_several(served: Served) -> None:
    """What a proxy does: the principal is that of the request, never that of the connection."""
    async with http() as client:
        for name in ("anna", "owner", "dora", "ben") * 3:
            asked = modern("tools/call", {"name": "sample__echo", "arguments": {"text": "x"}})
            asked["headers"]["Authorization"] = f"Bearer {served.texts[name]}"
            result = (await client.post(served.address.url, **asked)).json()["result"]
            if name == "dora":
                assert result["content"][0]["text"] == DENIED
            else:
                assert result["structuredContent"]["caller"] == name


@pytest.mark.parametrize("era", ERAS)
async def test_a_grant_that_is_taken_back_counts_on_the_next_call_of_an_open_session(served: Served, era: str) -> None:
    async with connected(served.address.url, served.texts["anna"], era) as client:
        assert not (await client.call_tool("sample__echo", {"text": "x"})).is_error
        Tokens(served.host.home).withdraw("anna", [READ])
        assert words(await client.call_tool("sample__echo", {"text": "x"})) == DENIED
        Tokens(served.host.home).grant("anna", [PermissionGrant("sample:*")])
        assert not (await client.call_tool("sample__echo", {"text": "x"})).is_error


async def test_a_revoked_token_opens_nothing_from_the_next_request_on(served: Served) -> None:
    async with http(served.texts["anna"]) as client:
        asked = modern("tools/call", {"name": "sample__echo", "arguments": {"text": "x"}})
        assert (await client.post(served.address.url, **asked)).status_code == 200
        served.tokens.revoke("anna")
        gone = await client.post(served.address.url, **asked)
    async with http("yaz_never_was") as client:
        never = await client.post(served.address.url, **asked)
    assert (gone.status_code, gone.content, gone.headers) == (401, never.content, never.headers)


async def test_what_may_still_be_kept_is_read_no_more_once_the_right_or_the_token_is_gone(served: Served) -> None:
    """The note may be kept for five seconds; within them a grant is withdrawn, and a token revoked."""
    asked = modern("resources/read", {"uri": "yaz://sample/note"})
    async with http(served.texts["anna"]) as anna, http(served.texts["ben"]) as ben:
        for client in (anna, ben):
            assert (await client.post(served.address.url, **asked)).json()["result"]["ttlMs"] == 5000
        served.tokens.withdraw("anna", [READ])
        served.tokens.revoke("ben")
        refused, gone = [await client.post(served.address.url, **asked) for client in (anna, ben)]
    assert refused.json()["error"]["message"] == "No such resource: yaz://sample/note"
    assert gone.status_code == 401


async def test_another_principals_session_is_not_there(served: Served) -> None:
    headers = {"Accept": "application/json, text/event-stream"}
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    async with http(served.texts["anna"]) as anna, http(served.texts["ben"]) as ben:
        opened = await anna.post(
            served.address.url, json={"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params},
            headers=headers,
        )  # fmt: skip
        headers["Mcp-Session-Id"] = opened.headers["mcp-session-id"]
        listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
        assert (await anna.post(served.address.url, json=listing, headers=headers)).status_code == 200
        assert (await ben.post(served.address.url, json=listing, headers=headers)).status_code == 404


async def test_named_tokens_open_nothing_while_the_server_is_off(home: Home) -> None:
    host, tokens = sample_host(home), Tokens(home)
    text = tokens.create("anna", [READ])
    async with listening(host, named=tokens.principal_of) as (listener, address), http(text) as client:
        assert (await client.post(address.url, **modern("tools/list"))).status_code == 200
        await listener.stop()
        assert listener.address is None
    host.close()
