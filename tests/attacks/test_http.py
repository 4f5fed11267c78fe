"""The listener against what only a socket can say: targets, versions, pipelines, chunks, silence, crowds."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Iterator

import pytest

from tests.attacks.sockets import INITIALIZE, document, modern, port_of, request, sent, status
from tests.mcp.sample import plugin
from tests.mcp.serving import listening, sample_host
from yazcore import Home, Host, PermissionGrant, Principal
from yazcore.mcp import connection as connection_module
from yazcore.mcp import sessions
from yazcore.mcp.listener import Address

pytestmark = pytest.mark.anyio

CALL = modern("tools/call", {"name": "sample__echo", "arguments": {"text": "hi"}})
ADA = Principal(name="ada", grants=(PermissionGrant("sample:*"),))
BOB = Principal(name="bob", grants=(PermissionGrant("sample:*"),))


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    host = sample_host(Home(tmp_path_factory.mktemp("http") / "yaz"))
    yield host
    plugin.seen.released.set()
    host.close()


@pytest.fixture
async def address(host: Host) -> AsyncIterator[Address]:
    async with listening(host, named={"ada": ADA, "bob": BOB}.get) as (_, address):
        yield address


async def test_a_request_on_the_heels_of_another_needs_its_own_token(address: Address) -> None:
    port = port_of(address.url)
    answers = await sent(port, request(port, address.token, CALL) + request(port, None, CALL), answers=2)
    assert status(answers) == 200
    assert answers.count(b"HTTP/1.1 401 Unauthorized") == 1


@pytest.mark.parametrize(
    "target",
    ["http://127.0.0.1:{port}/mcp", "http://evil.example/mcp", "//evil.example/mcp", "/mcp/../mcp", "mcp", "*"],
)
async def test_no_other_spelling_of_the_target_is_served(address: Address, target: str) -> None:
    port = port_of(address.url)
    answer = await sent(port, request(port, address.token, CALL, line=f"POST {target.format(port=port)} HTTP/1.1"))
    assert status(answer) == 404


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"GET /mcp\r\n\r\n", 400),
        (b"POST /mcp HTTP/1.0\r\n\r\n", 401),
        (b"POST /mcp HTTP/1.1\r\n\r\n", 400),
        (b"POST /mcp HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
        (b"POST /mcp HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\n", 400),
        (b"POST /mcp HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", 400),
        (b"POST /mcp HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 64 + b"\r\n\r\n", 400),
    ],
    ids=["0.9", "1.0", "no host", "two hosts", "NUL", "negative", "two lengths", "TLS"],
)
async def test_what_is_no_request_gets_a_refusal_and_nothing_else(address: Address, data: bytes, expected: int) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port_of(address.url))
    writer.write(data)
    answer = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 10)
    writer.close()
    assert status(answer) == expected
    assert b"yaz" not in answer.lower()


@pytest.mark.parametrize("size", [b"zz", b"-1", b"g0000000000000000", b"1 0"])
async def test_a_chunk_of_no_size_ends_its_connection_only(address: Address, size: bytes) -> None:
    port = port_of(address.url)
    lines = ("Transfer-Encoding: chunked",)
    answer = await sent(port, request(port, address.token, size + b"\r\nxx\r\n0\r\n\r\n", *lines, length=False))
    assert status(answer) == 400
    assert status(await sent(port, request(port, address.token, CALL))) == 200


async def test_a_body_that_claims_two_lengths_is_read_in_one_way(address: Address) -> None:
    """Chunks count where both are named; what follows them is a request of its own, with a token of its own."""
    port = port_of(address.url)
    smuggled = request(port, None, CALL)
    body = b"0\r\n\r\n" + smuggled
    answers = await sent(port, request(port, address.token, body, "Transfer-Encoding: chunked"), answers=2)
    assert status(answers) == 400
    assert b"HTTP/1.1 401 Unauthorized" in answers
    assert b"HTTP/1.1 200" not in answers


async def test_a_connection_on_which_nothing_is_asked_is_ended(
    address: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_module, "REQUEST_SECONDS", 0.1)
    port = port_of(address.url)
    for beginning in (b"", b"POST /mcp HTTP/1.1\r\nHost: "):
        assert await sent(port, beginning) == b""


async def test_a_slow_request_is_no_silence(address: Address, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_module, "REQUEST_SECONDS", 0.2)
    port = port_of(address.url)
    data = request(port, address.token, CALL)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(data[:-20])  # the headers are there, the body is not
    await asyncio.sleep(0.3)
    writer.write(data[-20:])
    assert status(await asyncio.wait_for(reader.read(65_536), 10)) == 200
    writer.close()


async def test_a_body_that_never_ends_is_not_waited_for(address: Address, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_module, "REQUEST_SECONDS", 0.1)
    port = port_of(address.url)
    data = request(port, address.token, CALL)
    assert await sent(port, data[:-20]) == b""
    again = await sent(port, data + data[:-20], answers=2)  # a second request of one connection, too
    assert (status(again), again.count(b"HTTP/1.1")) == (200, 1)


async def test_a_client_that_reads_nothing_is_let_go(
    address: Address, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_module, "REQUEST_SECONDS", 0.1)
    port = port_of(address.url)
    one = request(port, address.token, modern("tools/list", {}))
    with socket.socket() as deaf:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.setblocking(False)
        loop = asyncio.get_running_loop()
        await loop.sock_connect(deaf, ("127.0.0.1", port))

        async def ask_for_ever() -> None:
            while True:
                await loop.sock_sendall(deaf, one * 100)

        with pytest.raises(ConnectionError):
            await asyncio.wait_for(ask_for_ever(), 20)


async def test_a_crowd_of_connections_is_bounded_and_leaves_the_others_alone(
    address: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_module, "MOST_CONNECTIONS", 8)
    port = port_of(address.url)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    crowd = [await asyncio.open_connection("127.0.0.1", port) for _ in range(20)]

    async def is_closed(one: asyncio.StreamReader) -> bool:
        try:
            return await asyncio.wait_for(one.read(1), 0.5) == b""
        except (ConnectionError, TimeoutError) as error:
            return isinstance(error, ConnectionError)

    closed = await asyncio.gather(*(is_closed(one) for one, _ in crowd))
    assert sum(closed) == 13
    writer.write(request(port, address.token, CALL))
    assert status(await asyncio.wait_for(reader.read(65_536), 10)) == 200
    for _, one in (*crowd, (reader, writer)):
        one.close()


async def test_sessions_that_nobody_ends_make_room_for_new_ones(
    address: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "MAX_SESSIONS_EACH", 4)
    port = port_of(address.url)
    opened = [await sent(port, request(port, "ada", INITIALIZE)) for _ in range(8)]
    assert [status(one) for one in opened] == [200] * 8
    ids = [one.lower().split(b"mcp-session-id: ")[1].split(b"\r\n")[0].decode() for one in opened]
    listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    used = [status(await sent(port, request(port, "ada", listing, f"Mcp-Session-Id: {ids[at]}"))) for at in (0, -1)]
    assert used == [404, 200]


async def test_one_principals_sessions_leave_room_for_anothers(
    address: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "MAX_SESSIONS_EACH", 3)
    port = port_of(address.url)
    bobs = await sent(port, request(port, "bob", INITIALIZE))
    for _ in range(8):
        await sent(port, request(port, "ada", INITIALIZE))
    session = bobs.lower().split(b"mcp-session-id: ")[1].split(b"\r\n")[0].decode()
    listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    assert status(await sent(port, request(port, "bob", listing, f"Mcp-Session-Id: {session}"))) == 200


async def test_a_session_in_use_is_never_ended_for_a_new_one(address: Address, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "MAX_SESSIONS_EACH", 1)
    port = port_of(address.url)
    opened = await sent(port, request(port, "ada", INITIALIZE))
    session = opened.lower().split(b"mcp-session-id: ")[1].split(b"\r\n")[0].decode()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request(port, "ada", b"", f"Mcp-Session-Id: {session}", line="GET /mcp HTTP/1.1"))
    await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 10)
    assert status(await sent(port, request(port, "ada", INITIALIZE))) == 503
    assert status(await sent(port, request(port, "bob", INITIALIZE))) == 200
    writer.close()


async def test_a_session_and_a_token_of_the_last_time_open_nothing(host: Host) -> None:
    async with listening(host) as (listener, address):
        port = port_of(address.url)
        opened = await sent(port, request(port, address.token, INITIALIZE))
        session = opened.lower().split(b"mcp-session-id: ")[1].split(b"\r\n")[0].decode()
        await listener.stop()
    async with listening(host, port=port) as (_, again):
        listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
        line = f"Mcp-Session-Id: {session}"
        assert status(await sent(port, request(port, address.token, listing, line))) == 401
        assert status(await sent(port, request(port, again.token, listing, line))) == 404


async def test_two_requests_with_one_id_in_the_newer_era_are_answered_each(address: Address) -> None:
    port = port_of(address.url)
    calls = [modern("tools/call", {"name": "sample__echo", "arguments": {"text": f"n{at}"}}) for at in range(4)]
    answers = await asyncio.gather(*(sent(port, request(port, address.token, call)) for call in calls))
    assert [document(one)["result"]["structuredContent"]["text"] for one in answers] == ["n0", "n1", "n2", "n3"]


@pytest.mark.parametrize("value", [b"1" * 5_000, b"-" + b"9" * 5_000, b"[" * 200_000])
async def test_a_value_that_no_parser_takes_is_no_request(address: Address, value: bytes) -> None:
    port = port_of(address.url)
    body = json.dumps(CALL).encode().replace(b'"hi"', value)
    lines = ("MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: sample__echo")
    assert document(await sent(port, request(port, address.token, body, *lines)))["error"]["code"] == -32700


async def test_a_request_without_a_token_is_refused_before_its_body_is_read(address: Address) -> None:
    port = port_of(address.url)
    answer = await sent(
        port, request(port, None, b"", "Content-Length: 100000000", "Expect: 100-continue", length=False)
    )
    assert status(answer) == 401
    assert b"100 Continue" not in answer


@pytest.mark.parametrize("again", [1, "1"])
async def test_a_second_request_with_the_id_of_a_running_one_is_refused(
    address: Address, monkeypatch: pytest.MonkeyPatch, again: int | str
) -> None:
    monkeypatch.setattr(plugin, "seen", plugin.Seen())
    port = port_of(address.url)
    opened = await sent(port, request(port, address.token, INITIALIZE))
    session = opened.lower().split(b"mcp-session-id: ")[1].split(b"\r\n")[0].decode()
    lines = (f"Mcp-Session-Id: {session}", "MCP-Protocol-Version: 2025-11-25")

    def older(name: str, request_id: int | str, *more: str) -> bytes:
        body = {"jsonrpc": "2.0", "id": request_id, "method": "tools/call", "params": {"name": name, "arguments": {}}}
        return request(port, address.token, json.dumps(body).encode(), *lines, *more)

    first = asyncio.create_task(sent(port, older("sample__hold", 1)))
    await asyncio.to_thread(plugin.seen.waiting.wait, 10)
    second = await sent(port, older("sample__describe", again))
    assert (status(second), document(second)["id"]) == (400, again)
    assert document(second)["error"] == {
        "code": -32600, "message": "a request with this id is still running in this session"
    }  # fmt: skip
    assert status(await sent(port, older("sample__describe", 2))) == 200
    plugin.seen.released.set()
    assert b'"id":1,' in await first
    assert status(await sent(port, older("sample__describe", again))) == 200


async def test_a_request_that_never_became_a_call_gives_its_id_back(address: Address) -> None:
    port = port_of(address.url)
    opened = await sent(port, request(port, address.token, INITIALIZE))
    session = opened.lower().split(b"mcp-session-id: ")[1].split(b"\r\n")[0].decode()
    listing = {"jsonrpc": "2.0", "id": 7, "method": "tools/list"}
    wrong = (f"Mcp-Session-Id: {session}", "MCP-Protocol-Version: 2025-11-25", "Accept: text/html")
    refused = request(port, address.token, listing, *wrong).replace(b"application/json, text/event-stream", b"x/y")
    assert status(await sent(port, refused)) == 406
    assert status(await sent(port, request(port, address.token, listing, *wrong[:2]))) == 200
