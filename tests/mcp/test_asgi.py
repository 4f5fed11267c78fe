"""The server inside another application, for that application's own users."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import AsyncIterator, Callable
from typing import Any

import anyio
import anyio.to_thread
import httpx2
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, Route

from tests.mcp.sample.plugin import Seen
from tests.mcp.serving import ACCEPT, ERAS, connected, http, modern, served, words
from yazcore import Host, PermissionGrant, Principal
from yazcore.mcp.asgi import Entrance, Mounted, asgi
from yazcore.mcp.server import PRINCIPAL

pytestmark = pytest.mark.anyio

USERS = {
    f"of-{name}": Principal(name=name, grants=(PermissionGrant("sample:*"),)) for name in ("ada", "bob", "cy")
} | {"of-nil": Principal(name="nil")}  # fmt: skip
CALL = modern("tools/call", {"name": "sample__echo", "arguments": {"text": "hi"}})


def application(mounted: Mounted, *, lifespan: bool = True) -> Starlette:
    async def hello(request: Request) -> PlainTextResponse:
        return PlainTextResponse("hello")

    return Starlette(
        routes=[Route("/hello", hello), Mount("/agents", app=mounted)],
        lifespan=(lambda app: mounted.running()) if lifespan else None,
    )


@contextlib.asynccontextmanager
async def serving(
    host: Host, authenticate: Callable[[str], Principal | None] = USERS.get, **options: Any
) -> AsyncIterator[str]:
    lifespan = options.pop("lifespan", True)
    async with served(application(asgi(host, authenticate=authenticate, **options), lifespan=lifespan)) as url:
        yield f"{url}/agents/"


@pytest.mark.parametrize("mode", ERAS)
async def test_each_user_is_the_principal_of_its_token(host: Host, mode: str) -> None:
    async with serving(host) as url, connected(url, "of-ada", mode) as ada, connected(url, "of-bob", mode) as bob:
        for client, name in ((ada, "ada"), (bob, "bob"), (ada, "ada")):
            result = await client.call_tool("sample__echo", {"text": "hi"})
            assert result.structured_content == {"text": "hi", "caller": name}


@pytest.mark.parametrize("mode", ERAS)
async def test_permissions_are_those_of_the_asking_user(host: Host, mode: str) -> None:
    async with serving(host) as url, connected(url, "of-nil", mode) as nil:
        result = await nil.call_tool("sample__echo", {"text": "hi"})
    assert result.is_error is True
    assert "sample:read" in words(result)


async def test_concurrent_users_are_never_mixed(host: Host) -> None:
    mixed: list[object] = []

    async def many(url: str, name: str, mode: str) -> None:
        async with connected(url, f"of-{name}", mode) as client:

            async def one(number: int) -> None:
                text = f"{name} {mode} {number}"
                result = await client.call_tool("sample__echo", {"text": text, "turns": number % 7})
                if result.structured_content != {"text": text, "caller": name}:
                    mixed.append((name, mode, number, result))

            for first in range(0, 40, 10):
                async with anyio.create_task_group() as tasks:
                    for number in range(first, first + 10):
                        tasks.start_soon(one, number)

    async with serving(host) as url, anyio.create_task_group() as tasks:
        for name in ("ada", "bob", "cy"):
            for mode in ERAS:
                tasks.start_soon(many, url, name, mode)
    assert mixed == []


async def test_the_application_is_asked_on_each_request(host: Host) -> None:
    users = dict(USERS)
    async with serving(host, users.get) as url, http("of-ada") as client:
        assert (await client.post(url, **CALL)).status_code == 200
        users["of-ada"] = Principal(name="ada")
        answer = (await client.post(url, **CALL)).json()["result"]
        assert answer["isError"] is True
        del users["of-ada"]
        assert (await client.post(url, **CALL)).status_code == 401


async def test_a_session_is_its_users_alone(host: Host) -> None:
    async with serving(host) as url, http("of-ada") as ada, http("of-bob") as bob:
        session = await open_session(ada, url)
        call = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
        stolen = await bob.post(url, json=call, headers=session)
        unknown = await bob.post(url, json=call, headers={**session, "Mcp-Session-Id": "0" * 32})
        assert (stolen.status_code, stolen.content) == (unknown.status_code, unknown.content)
        assert stolen.status_code == 404
        assert (await bob.delete(url, headers=session)).status_code == 404
        assert (await ada.post(url, json=call, headers=session)).status_code == 200


async def test_a_renewed_token_keeps_its_session(host: Host) -> None:
    users = {"old": USERS["of-ada"], "new": USERS["of-ada"]}
    async with serving(host, users.get) as url, http("old") as old, http("new") as new:
        session = await open_session(old, url)
        del users["old"]
        call = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
        assert (await old.post(url, json=call, headers=session)).status_code == 401
        assert (await new.post(url, json=call, headers=session)).status_code == 200


async def open_session(client: httpx2.AsyncClient, url: str) -> dict[str, str]:
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    opened = await client.post(url, json=body, headers={"Accept": ACCEPT})
    return {"Accept": ACCEPT, "Mcp-Session-Id": opened.headers["mcp-session-id"]}


async def test_the_rest_of_the_application_is_its_own(host: Host) -> None:
    async with serving(host) as url, http() as anyone:
        assert (await anyone.get(url.replace("/agents/", "/hello"))).text == "hello"
        assert (await anyone.get(url)).status_code == 401


@pytest.mark.parametrize(
    ("origin", "status"), [("https://evil.example", 403), ("null", 403), ("https://own.example", 200)]
)
async def test_origins_are_refused_unless_named(host: Host, origin: str, status: int) -> None:
    async with serving(host, origins={"https://own.example"}) as url, http("of-ada") as client:
        response = await client.post(url, json=CALL["json"], headers={**CALL["headers"], "Origin": origin})
    assert response.status_code == status


@pytest.mark.parametrize(("hosts", "status"), [(None, 200), ({"own.example"}, 421), ({"OTHER.example"}, 200)])
async def test_hosts_are_the_applications_own_unless_named(host: Host, hosts: set[str] | None, status: int) -> None:
    async with serving(host, hosts=hosts) as url, http("of-ada") as client:
        response = await client.post(url, json=CALL["json"], headers={**CALL["headers"], "Host": "other.example"})
    assert response.status_code == status


@pytest.mark.parametrize("mode", ERAS)
async def test_without_a_lifespan_the_first_request_starts_it(host: Host, mode: str) -> None:
    async with serving(host, lifespan=False) as url, connected(url, "of-ada", mode) as ada:
        result = await ada.call_tool("sample__echo", {"text": "hi"})
        assert result.structured_content == {"text": "hi", "caller": "ada"}


async def test_it_can_be_the_whole_application(host: Host) -> None:
    async with served(asgi(host, authenticate=USERS.get)) as url, http("of-ada") as client:
        assert (await client.post(url, **CALL)).status_code == 200


async def test_the_end_of_the_application_ends_a_running_call(
    host: Host, seen: Seen, caplog: pytest.LogCaptureFixture
) -> None:
    mounted = asgi(host, authenticate=USERS.get)

    async def call(url: str) -> None:
        async with http("of-ada") as client:
            session = await open_session(client, url)
            body = {
                "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "sample__wait", "arguments": {}},
            }  # fmt: skip
            await client.post(url, json=body, headers=session)

    with anyio.fail_after(10):
        async with served(mounted) as url, anyio.create_task_group() as tasks:
            tasks.start_soon(call, url)
            assert await anyio.to_thread.run_sync(seen.waiting.wait, 10)
            tasks.cancel_scope.cancel()
        assert await anyio.to_thread.run_sync(seen.ended.wait, 10)
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING] == []


async def test_the_token_stays_outside() -> None:
    inside: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        inside.append(scope)

    headers = [(b"authorization", b"Bearer of-ada"), (b"accept", b"text/plain")]
    scope = {"type": "http", "method": "POST", "path": "/", "headers": headers}
    await Entrance(app, USERS.get)(scope, _never, _never)
    assert inside[0]["headers"] == [(b"accept", b"text/plain")]
    assert inside[0][PRINCIPAL] == USERS["of-ada"]
    assert scope["headers"] == headers


async def _never(message: Any = None) -> Any:
    raise AssertionError(message)


async def test_a_web_socket_is_refused(host: Host) -> None:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "websocket.connect"}

    scope = {"type": "websocket", "path": "/", "headers": [(b"authorization", b"Bearer of-ada")]}
    await asgi(host, authenticate=USERS.get)(scope, receive, send)
    assert sent == [{"type": "websocket.close", "code": 1008}]
