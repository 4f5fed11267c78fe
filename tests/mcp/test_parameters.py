"""Calls whose parameters are unfit: refused before the gate sees them, and recorded all the same."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.mcp.serving import ACCEPT, http, listening, modern
from yazcore import Host, Principal
from yazcore.mcp.listener import Address
from yazcore.mcp.parameters import call_in, unfit

pytestmark = pytest.mark.anyio

DEEP: Any = "x"
for _ in range(100):
    DEEP = [DEEP]
SESSION = {"Accept": ACCEPT, "MCP-Protocol-Version": "2025-11-25"}
TEMPLATE = {"type": "ref/resource", "uri": "yaz://sample/item/{key}"}
ANNA = Principal(name="anna")


@pytest.fixture(scope="module")
async def address(host: Host) -> AsyncIterator[Address]:
    async with listening(host, named={"anna": ANNA}.get) as (_, address):
        yield address


@pytest.fixture
async def client() -> AsyncIterator[httpx2.AsyncClient]:
    async with http("anna") as client:
        yield client


async def asked(client: httpx2.AsyncClient, url: str, era: str, method: str, params: dict[str, Any]) -> dict[str, Any]:
    """The answer to one request, as it comes: nothing of it is looked at by a client's library."""
    request = modern(method, params)
    headers = {**request["headers"], "Content-Type": "application/json"}
    if era == "older":
        client_info = {"name": "t", "version": "1"}
        hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client_info}
        body = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}
        opened = await client.post(url, json=body, headers={"Accept": ACCEPT})
        headers = {**SESSION, "Mcp-Session-Id": opened.headers["mcp-session-id"], "Content-Type": "application/json"}
        note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        await client.post(url, json=note, headers=headers)
        request["json"]["params"] = params
    response = await client.post(url, content=json.dumps(request["json"]), headers=headers)
    events = [line.removeprefix("data:") for line in response.text.splitlines() if line.startswith("data:")]
    answer: dict[str, Any] = json.loads(events[-1] if events else response.text)
    return answer


@pytest.mark.parametrize("era", ["newer", "older"])
@pytest.mark.parametrize(
    ("method", "params", "said", "record"),
    [
        ("tools/call", {"name": "sample__echo", "arguments": {"text": float("nan")}}, "nan is no number of JSON",
         ("tool", "sample__echo", {"text": "number"})),
        ("tools/call", {"name": "sample__echo", "arguments": {"text": DEEP}},
         "the parameters are nested deeper than 64", ("tool", "sample__echo", {"text": "list 1"})),
        ("tools/call", {"name": "sample__echo", "arguments": [1]}, "arguments must be an object",
         ("tool", "sample__echo", {})),
        ("tools/call", {"name": "sample__echo", "arguments": "x"}, "arguments must be an object",
         ("tool", "sample__echo", {})),
        ("tools/call", {"name": "sample__echo", "arguments": []}, "arguments must be an object",
         ("tool", "sample__echo", {})),
        ("tools/call", {"name": "sample__echo", "arguments": {}, "requestState": "bogus"},
         "Invalid or expired requestState", ("tool", "sample__echo", {})),
        ("tools/call", {"name": "sample__echo", "arguments": {}, "requestState": 7},
         "Invalid or expired requestState", ("tool", "sample__echo", {})),
        ("resources/read", {"uri": "yaz://sample/item/secret", "x": float("inf")}, "inf is no number of JSON",
         ("resource", "yaz://sample/item/{key}", {"key": "text 6"})),
        ("prompts/get", {"name": "sample__greet", "arguments": {"name": 7}}, "Invalid request parameters",
         ("prompt", "sample__greet", {"name": "integer"})),
        ("prompts/get", {"name": "sample__greet", "requestState": "bogus"}, "Invalid or expired requestState",
         ("prompt", "sample__greet", {})),
        ("completion/complete", {"ref": TEMPLATE, "argument": {"name": "key", "value": 7}},
         "Invalid request parameters", ("completion", "yaz://sample/item/{key}", {"key": "integer"})),
    ],
    ids=["NaN", "deep", "list", "text", "empty list", "bogus state", "no state", "a resource", "a prompt",
         "a prompt's state", "a completion"],
)  # fmt: skip
async def test_a_call_that_is_refused_before_the_gate_leaves_one_record(
    host: Host, address: Address, client: httpx2.AsyncClient, era: str, method: str, params: dict[str, Any], said: str,
    record: tuple[str, str, dict[str, str]],
) -> None:  # fmt: skip
    before = len(host.audit.calls())
    answer = await asked(client, address.url, era, method, params)
    assert (answer["error"]["code"], answer["error"]["message"]) == (-32602, said)
    (made,) = host.audit.calls()[before:]
    assert (made["what"], made["name"], made["arguments"]) == record
    assert (made["principal"], made["outcome"]) == ("anna", "malformed")


@pytest.mark.parametrize("params", [{"name": 7, "arguments": {"a": "b"}}, {"arguments": {"a": "b"}}], ids=str)
async def test_a_tool_without_a_name_leaves_a_record_too(
    host: Host, address: Address, client: httpx2.AsyncClient, params: dict[str, Any]
) -> None:
    before = len(host.audit.calls())
    answer = await asked(client, address.url, "older", "tools/call", params)
    assert answer["error"]["message"] == "Invalid request parameters"
    (made,) = host.audit.calls()[before:]
    assert (made["name"], made["arguments"], made["outcome"]) == ("", {"a": "text 1"}, "malformed")


@pytest.mark.parametrize("era", ["newer", "older"])
async def test_what_the_gate_itself_refuses_is_recorded_once(
    host: Host, address: Address, client: httpx2.AsyncClient, era: str
) -> None:
    before = len(host.audit.calls())
    gone = {"name": "sample__gone", "arguments": [1]}
    answer = await asked(client, address.url, era, "tools/call", gone)
    assert answer["error"]["message"] == "Unknown tool: sample__gone"
    assert [made["outcome"] for made in host.audit.calls()[before:]] == ["unknown"]


@pytest.mark.parametrize("era", ["newer", "older"])
async def test_what_is_no_call_leaves_no_record(
    host: Host, address: Address, client: httpx2.AsyncClient, era: str
) -> None:
    before = len(host.audit.calls())
    answer = await asked(client, address.url, era, "tools/list", {"cursor": float("nan")})
    assert answer["error"]["message"] == "nan is no number of JSON"
    assert host.audit.calls()[before:] == []


JSON = st.recursive(
    st.none() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(["name", "uri", "ref", "argument", "arguments", "value"]), inner, max_size=4),
    max_leaves=8,
)


@given(st.sampled_from(["tools/call", "resources/read", "prompts/get", "completion/complete", "tools/list"]), JSON)
def test_whatever_the_parameters_are_they_can_be_named(method: str, params: Any) -> None:
    found = call_in(method, params)
    assert (found is None) is (method == "tools/list")
    assert found is None or isinstance(found[1], str)


@given(JSON)
def test_what_is_shallow_and_finite_is_fit(params: Any) -> None:
    assert unfit(params) is None


def nested(depth: int, inner: Any) -> Any:
    for _ in range(depth):
        inner = [inner]
    return inner


@pytest.mark.parametrize(
    ("params", "wrong"),
    [
        (nested(64, 1), None),
        (nested(63, {}), None),
        (nested(64, {}), "the parameters are nested deeper than 64"),
        (nested(65, 1), "the parameters are nested deeper than 64"),
        (nested(64, float("nan")), "nan is no number of JSON"),
        (nested(63, float("inf")), "inf is no number of JSON"),
    ],
    ids=repr,
)
def test_how_deep_parameters_may_nest_exactly(params: Any, wrong: str | None) -> None:
    assert unfit(params) == wrong
