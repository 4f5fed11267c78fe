"""What raw HTTP gets: the table of refusals, each before the next thing is looked at."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from mcp_types import jsonrpc_message_adapter

from tests.mcp.serving import ACCEPT, MODERN, accepted, http, listening, modern
from yazcore import Host
from yazcore.mcp.asgi import HEADER_BYTES
from yazcore.mcp.listener import Address
from yazcore.mcp.server import BODY_BYTES
from yazcore.mcp.sessions import is_message

pytestmark = pytest.mark.anyio

CALL = modern("tools/call", {"name": "sample__echo", "arguments": {"text": "hi"}})


@pytest.fixture(scope="module")
async def address(host: Host) -> AsyncIterator[Address]:
    async with listening(host) as (_, address):
        yield address


@pytest.fixture
async def anyone() -> AsyncIterator[httpx2.AsyncClient]:
    async with http() as client:
        yield client


@pytest.fixture
async def owner(address: Address) -> AsyncIterator[httpx2.AsyncClient]:
    async with http(address.token) as client:
        yield client


OLDER = {"Accept": ACCEPT, "MCP-Protocol-Version": "2025-11-25"}
INITIALIZE = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}  # fmt: skip


@pytest.fixture
async def session(owner: httpx2.AsyncClient, address: Address) -> dict[str, str]:
    """The headers of a request in an open session of the older era."""
    opened = await owner.post(address.url, json=INITIALIZE, headers={"Accept": ACCEPT})
    headers = {**OLDER, "Mcp-Session-Id": opened.headers["mcp-session-id"]}
    await owner.post(address.url, json={"jsonrpc": "2.0", "method": "notifications/initialized"}, headers=headers)
    return headers


@pytest.fixture(params=["newer era", "older era", "older era, no session"])
def spoken(request: pytest.FixtureRequest, session: dict[str, str]) -> dict[str, str]:
    """The headers of a call, in each way it may be sent."""
    by_name: dict[str, dict[str, str]] = {"newer era": CALL["headers"], "older era": session}
    return {**by_name.get(request.param, OLDER), "Content-Type": "application/json"}


def with_headers(request: dict[str, Any], *headers: tuple[str, str]) -> dict[str, Any]:
    return {**request, "headers": [*request["headers"].items(), *headers]}


def code_of(response: httpx2.Response) -> Any:
    return response.json()["error"]["code"]


async def test_a_request_with_the_token_is_answered(owner: httpx2.AsyncClient, address: Address) -> None:
    response = await owner.post(address.url, **CALL)
    assert response.status_code == 200
    assert response.json()["result"]["structuredContent"] == {"text": "hi", "caller": "owner"}


async def test_missing_and_wrong_tokens_get_the_same_bytes(anyone: httpx2.AsyncClient, address: Address) -> None:
    token = address.token
    refused = []
    for headers in (
        [],
        [("Authorization", "Bearer wrong")],
        [("Authorization", f"Bearer {token}x")],
        [("Authorization", f"Bearer {token[:-1]}")],
        [("Authorization", "Bearer")],
        [("Authorization", f"Basic {token}")],
        [("Authorization", token)],
        [("Authorization", f"Bearer {token}"), ("Authorization", f"Bearer {token}")],
        [("X-Authorization", f"Bearer {token}")],
        [("Cookie", f"token={token}")],
    ):
        response = await anyone.post(address.url, **with_headers(CALL, *headers))
        refused.append((response.status_code, sorted(response.headers.items()), response.content))
    response = await anyone.post(f"{address.url}?token={token}&access_token={token}", **CALL)
    refused.append((response.status_code, sorted(response.headers.items()), response.content))
    assert len({repr(one) for one in refused}) == 1
    status, headers, body = refused[0]
    assert status == 401
    assert ("www-authenticate", "Bearer") in headers
    assert body == b"a valid bearer token is needed\n"


async def test_the_scheme_is_no_matter_of_case(anyone: httpx2.AsyncClient, address: Address) -> None:
    response = await anyone.post(address.url, **with_headers(CALL, ("Authorization", f"bearer {address.token}")))
    assert response.status_code == 200


@pytest.mark.parametrize(
    "request_",
    [
        {"method": "GET", "path": "/elsewhere"},
        {"method": "OPTIONS", "path": "/mcp", "headers": {"Origin": "https://evil.example"}},
        {"method": "POST", "path": "/mcp", "headers": {"Host": "evil.example"}},
        {"method": "POST", "path": "/.well-known/oauth-protected-resource"},
        {"method": "POST", "path": "/mcp", "content": b"x" * (2 * 2**20)},
        {"method": "BREW", "path": "/mcp"},
    ],
    ids=lambda request_: f"{request_['method']} {request_['path']}",
)
async def test_without_a_token_nothing_else_is_looked_at(
    anyone: httpx2.AsyncClient, address: Address, request_: dict[str, Any]
) -> None:
    path = request_.pop("path")
    response = await anyone.request(url=address.url.removesuffix("/mcp") + path, **request_)
    assert response.status_code == 401
    assert response.content == b"a valid bearer token is needed\n"


@pytest.mark.parametrize(
    "name",
    ["evil.example", "evil.example:{port}", "localhost", "127.0.0.1", "localhost:1", "localhost:{port}@evil.example",
     "localhost:x@evil.example", "127.0.0.1:{port}.evil.example", "[::1]:{port}", "127.1:{port}", ""],
)  # fmt: skip
async def test_another_host_is_refused(owner: httpx2.AsyncClient, address: Address, name: str) -> None:
    port = address.url.split(":")[2].split("/")[0]
    response = await owner.post(address.url, **with_headers(CALL, ("Host", name.format(port=port))))
    assert response.status_code == 421


@pytest.mark.parametrize("name", ["localhost:{port}", "127.0.0.1:{port}", "LocalHost:{port}"])
async def test_its_own_names_are_taken(owner: httpx2.AsyncClient, address: Address, name: str) -> None:
    port = address.url.split(":")[2].split("/")[0]
    response = await owner.post(address.url, **with_headers(CALL, ("Host", name.format(port=port))))
    assert response.status_code == 200


@pytest.mark.parametrize(
    "origin",
    ["https://evil.example", "null", "http://localhost:1", "https://127.0.0.1:{port}", "http://127.0.0.1:{port}/", ""],
)
async def test_every_foreign_origin_is_refused(owner: httpx2.AsyncClient, address: Address, origin: str) -> None:
    port = address.url.split(":")[2].split("/")[0]
    response = await owner.post(address.url, **with_headers(CALL, ("Origin", origin.format(port=port))))
    assert response.status_code == 403
    assert not [name for name in response.headers if name.startswith("access-control")]


@pytest.mark.parametrize("origin", ["http://127.0.0.1:{port}", "http://localhost:{port}"])
async def test_its_own_origin_is_nobodys(owner: httpx2.AsyncClient, address: Address, origin: str) -> None:
    port = address.url.split(":")[2].split("/")[0]
    response = await owner.post(address.url, **with_headers(CALL, ("Origin", origin.format(port=port))))
    assert response.status_code == 200
    assert not [name for name in response.headers if name.startswith("access-control")]


async def test_a_preflight_gets_nothing(owner: httpx2.AsyncClient, address: Address) -> None:
    asked = {"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}
    assert (await owner.options(address.url, headers=asked)).status_code == 403
    response = await owner.options(address.url)
    assert response.status_code == 405
    assert not [name for name in response.headers if name.startswith("access-control")]


@pytest.mark.parametrize("method", ["PUT", "PATCH", "HEAD", "TRACE", "BREW"])
async def test_other_methods_are_refused(owner: httpx2.AsyncClient, address: Address, method: str) -> None:
    response = await owner.request(method, address.url)
    assert response.status_code == 405
    assert response.headers["allow"] == "POST, GET, DELETE"


async def test_the_newer_era_has_no_stream_to_get(owner: httpx2.AsyncClient, address: Address) -> None:
    response = await owner.get(address.url, headers=CALL["headers"])
    assert response.status_code == 405


@pytest.mark.parametrize("path", ["/", "/mcp/", "/MCP", "/mcp/x", "/.well-known/oauth-protected-resource"])
async def test_nothing_is_served_elsewhere(owner: httpx2.AsyncClient, address: Address, path: str) -> None:
    response = await owner.post(address.url.removesuffix("/mcp") + path, **CALL)
    assert response.status_code == 404


async def test_a_large_body_is_refused(owner: httpx2.AsyncClient, address: Address) -> None:
    body = json.dumps({**CALL["json"], "padding": "x" * (2 * 2**20)})
    response = await owner.post(
        address.url, content=body, headers={**CALL["headers"], "Content-Type": "application/json"}
    )
    assert response.status_code == 413


async def test_a_large_body_that_does_not_say_so_is_refused(owner: httpx2.AsyncClient, address: Address) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(BODY_BYTES // 2**16 + 1):
            yield b" " * 2**16

    response = await owner.post(
        address.url, content=pieces(), headers={**CALL["headers"], "Content-Type": "application/json"}
    )
    assert response.status_code == 413


async def test_large_headers_are_refused(owner: httpx2.AsyncClient, address: Address) -> None:
    response = await owner.post(address.url, **with_headers(CALL, ("X-Padding", "x" * HEADER_BYTES)))
    assert response.status_code == 431


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", -32700),
        (b"garbage", -32700),
        (b"\xff\xfe", -32700),
        (b"[" * 100_000, -32700),
        (json.dumps([CALL["json"], CALL["json"]]).encode(), -32600),
        (b'"text"', -32600),
        (json.dumps({**CALL["json"], "id": None}).encode(), -32600),
        (json.dumps({**CALL["json"], "id": 1.5}).encode(), -32600),
        (json.dumps({**CALL["json"], "id": True}).encode(), -32600),
        (json.dumps({**CALL["json"], "id": [1]}).encode(), -32600),
        (json.dumps({**CALL["json"], "id": 7}).replace(": 7", ": 1e400").encode(), -32600),
        (json.dumps({**CALL["json"], "jsonrpc": "1.0"}).encode(), -32600),
    ],
    ids=[
        "empty", "garbage", "no UTF-8", "deep", "batch", "text", "null id", "fraction id", "true id", "list id",
        "endless id", "old version",
    ],
)  # fmt: skip
async def test_what_is_no_request_is_refused(
    owner: httpx2.AsyncClient, address: Address, spoken: dict[str, str], body: bytes, code: int
) -> None:
    response = await owner.post(address.url, content=body, headers=spoken)
    assert (response.status_code, code_of(response), response.json()["id"]) == (400, code, None)
    assert "validation error" not in response.text
    assert "sample__echo" not in response.text  # nothing of what was sent


@pytest.mark.parametrize(
    "message",
    [{"method": 7, "id": 1}, {"method": "tools/call", "id": 1, "params": [CALL["json"]["params"]]}, {"id": 1},
     {"id": None, "result": {}}, {"id": 1, "result": "hi"}, {"id": 1, "error": "hi"},
     {"id": 1, "error": {"code": "hi", "message": "hi"}}, {}],
    ids=str,
)  # fmt: skip
async def test_the_older_era_says_what_a_message_is_and_nothing_of_what_was_sent(
    owner: httpx2.AsyncClient, address: Address, session: dict[str, str], message: dict[str, Any]
) -> None:
    response = await owner.post(address.url, json={"jsonrpc": "2.0", **message}, headers=session)
    assert (response.status_code, response.json()) == (
        400,
        {
            "jsonrpc": "2.0",
            "id": None,
            "error": {
                "code": -32600, "message": "the body must be one JSON-RPC 2.0 message, and its id a text or an integer",
            },
        },
    )  # fmt: skip


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=4,
)


@given(
    st.fixed_dictionaries(
        {}, optional={key: st.just("2.0") | JSON if key == "jsonrpc" else JSON for key in
                      ("jsonrpc", "id", "method", "params", "result", "error")}
    ) | JSON
)  # fmt: skip
@example({"jsonrpc": "2.0", "id": 1, "error": {"code": True, "message": ""}})
@example({"jsonrpc": "2.0", "id": None, "error": {"code": 1, "message": ""}})
@example({"jsonrpc": "2.0", "id": 10**30, "method": "", "params": {}, "result": 5})
def test_what_we_take_for_a_message_the_sdk_does_too(value: Any) -> None:
    if is_message(value):
        message = jsonrpc_message_adapter.validate_python(value, by_name=False)
        assert getattr(message, "id", None) == value.get("id")


@pytest.mark.parametrize("request_id", ["", "a", 0, -1, 10**30])
async def test_an_id_comes_back_as_it_was(owner: httpx2.AsyncClient, address: Address, request_id: Any) -> None:
    response = await owner.post(address.url, **modern("tools/list", request_id=request_id))
    assert (response.status_code, response.json()["id"]) == (200, request_id)


async def test_a_notification_is_taken_and_not_answered(owner: httpx2.AsyncClient, address: Address) -> None:
    request = modern("notifications/cancelled", {"requestId": 1})
    del request["json"]["id"]
    response = await owner.post(address.url, **request)
    assert (response.status_code, response.content) == (202, b"")


@pytest.mark.parametrize("missing", ["protocolVersion", "clientCapabilities", None])
async def test_a_request_of_the_newer_era_says_who_speaks_what(
    owner: httpx2.AsyncClient, address: Address, missing: str | None
) -> None:
    request = modern("tools/list")
    if missing is None:
        del request["json"]["params"]["_meta"]
    else:
        del request["json"]["params"]["_meta"][f"io.modelcontextprotocol/{missing}"]
    response = await owner.post(address.url, **request)
    assert (response.status_code, code_of(response)) == (400, -32602)


async def test_of_a_key_that_stands_twice_header_check_and_handler_see_the_same(
    owner: httpx2.AsyncClient, address: Address
) -> None:
    body = json.dumps(CALL["json"]).replace('"name":', '"name": "sample__store", "name":').encode()
    headers = {**CALL["headers"], "Content-Type": "application/json"}
    response = await owner.post(address.url, content=body, headers=headers)
    assert response.json()["result"]["structuredContent"]["text"] == "hi"
    other = {**headers, "Mcp-Name": "sample__store"}
    response = await owner.post(address.url, content=body, headers=other)
    assert (response.status_code, code_of(response)) == (400, -32020)


async def test_another_content_type_is_refused(owner: httpx2.AsyncClient, address: Address) -> None:
    headers = {**CALL["headers"], "Content-Type": "text/plain"}
    response = await owner.post(address.url, content=json.dumps(CALL["json"]), headers=headers)
    assert response.status_code == 400


async def test_a_client_must_take_streams(owner: httpx2.AsyncClient, address: Address) -> None:
    request = {**CALL, "headers": {**CALL["headers"], "Accept": "application/json"}}
    assert (await owner.post(address.url, **request)).status_code == 406


async def test_an_unknown_method(owner: httpx2.AsyncClient, address: Address) -> None:
    response = await owner.post(address.url, **modern("tools/steal"))
    assert (response.status_code, code_of(response)) == (404, -32601)


@pytest.mark.parametrize(
    "params",
    [{}, {"name": 5}, {"name": None}, {"name": "sample__echo", "arguments": []},
     {"name": "sample__echo", "arguments": "text"}],
    ids=str,
)  # fmt: skip
async def test_a_malformed_call_is_refused(
    owner: httpx2.AsyncClient, address: Address, params: dict[str, Any]
) -> None:
    request = modern("tools/call", {"name": "sample__echo", "arguments": {}})
    meta = request["json"]["params"]["_meta"]
    request["json"]["params"] = {**params, "_meta": meta}
    response = await owner.post(address.url, **request)
    assert response.status_code == 400
    assert code_of(response) in (-32602, -32020)


@pytest.mark.parametrize("params", [{"arguments": None}, {}], ids=str)
async def test_a_call_may_leave_its_arguments_out(
    owner: httpx2.AsyncClient, address: Address, params: dict[str, Any]
) -> None:
    response = await owner.post(address.url, **modern("tools/call", {"name": "sample__describe", **params}))
    assert response.json()["result"]["structuredContent"] == {"notes": 1}


@pytest.mark.parametrize("progress", [{}, {"progressToken": 1}], ids=["plain", "with progress"])
async def test_an_answer_has_the_shape_of_its_era(
    owner: httpx2.AsyncClient, address: Address, progress: dict[str, Any]
) -> None:
    request = modern("tools/call", {"name": "sample__store", "arguments": {}})
    request["json"]["params"]["_meta"] |= progress
    assert (await owner.post(address.url, **request)).json() == {
        "jsonrpc": "2.0",
        "id": 1,
        "result": {
            "content": [{"type": "text", "text": '{"stored": true}'}],
            "structuredContent": {"stored": True},
            "isError": False,
            "resultType": "complete",
            "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "yaz", "version": "0.1.0"}},
        },
    }


async def test_headers_that_contradict_the_body_are_refused(owner: httpx2.AsyncClient, address: Address) -> None:
    for other in (
        with_headers(CALL, ("Mcp-Name", "sample__echo")),  # it stands twice now
        {**CALL, "headers": {**CALL["headers"], "Mcp-Name": "sample__store"}},
        {**CALL, "headers": {**CALL["headers"], "Mcp-Method": "tools/list"}},
    ):
        response = await owner.post(address.url, **other)
        assert (response.status_code, code_of(response)) == (400, -32020)


async def test_an_unknown_version_is_told_the_known_ones(owner: httpx2.AsyncClient, address: Address) -> None:
    body = json.loads(json.dumps(CALL["json"]).replace(MODERN, "2031-01-01"))
    request = {"json": body, "headers": {**CALL["headers"], "MCP-Protocol-Version": "2031-01-01"}}
    response = await owner.post(address.url, **request)
    assert (response.status_code, code_of(response)) == (400, -32022)
    assert response.json()["error"]["data"] == {"supported": [MODERN], "requested": "2031-01-01"}


async def test_a_version_that_header_and_body_say_otherwise_is_refused(
    owner: httpx2.AsyncClient, address: Address
) -> None:
    request = {**CALL, "headers": {**CALL["headers"], "MCP-Protocol-Version": "2031-01-01"}}
    response = await owner.post(address.url, **request)
    assert (response.status_code, code_of(response)) == (400, -32020)


@pytest.mark.parametrize("value", ["[" * 900 + "]" * 900, '{"a":' * 900 + "1" + "}" * 900])
async def test_deep_arguments_are_refused(
    owner: httpx2.AsyncClient, address: Address, spoken: dict[str, str], value: str
) -> None:
    body = json.dumps(CALL["json"]).replace('"hi"', value)
    response = await owner.post(address.url, content=body, headers=spoken)
    assert (response.status_code, response.json()) == (
        400,
        {
            "jsonrpc": "2.0",
            "id": 1,
            "error": {"code": -32602, "message": "the parameters are nested deeper than 64"},
        },
    )


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity", "1e999"])
async def test_numbers_that_json_has_not_are_refused(owner: httpx2.AsyncClient, address: Address, value: str) -> None:
    body = json.dumps(CALL["json"]).replace('"hi"', value)
    response = await owner.post(
        address.url, content=body, headers={**CALL["headers"], "Content-Type": "application/json"}
    )
    assert (response.status_code, code_of(response)) == (400, -32602)


@pytest.mark.parametrize("value", ['"\\ud800"', "1" * 400])
async def test_values_that_cannot_be_kept_do_not_break_anything(
    owner: httpx2.AsyncClient, address: Address, value: str
) -> None:
    body = json.dumps(CALL["json"]).replace('"hi"', value)
    response = await owner.post(
        address.url, content=body, headers={**CALL["headers"], "Content-Type": "application/json"}
    )
    assert response.status_code == 200
    assert response.json()["result"]["isError"] is True


async def test_a_refused_opening_leaves_no_session(owner: httpx2.AsyncClient, address: Address) -> None:
    headers = {"Accept": ACCEPT}
    for _ in range(70):  # more than there may be sessions
        refused = await owner.post(address.url, json={**INITIALIZE, "method": "tools/list"}, headers=headers)
        assert refused.status_code == 400
    opened = await owner.post(address.url, json=INITIALIZE, headers=headers)
    assert opened.status_code == 200
    assert opened.headers["mcp-session-id"]


async def test_small_packets_are_not_held_back(owner: httpx2.AsyncClient, address: Address) -> None:
    await owner.post(address.url, **CALL)
    port = int(address.url.split(":")[2].split("/")[0])
    without_delay = accepted(port)
    assert without_delay
    assert all(without_delay)
