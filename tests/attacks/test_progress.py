"""Progress that no client could read: it is dropped or cut, and the result of the call arrives all the same."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from tests.attacks.hosts import host_with, tools
from tests.attacks.sockets import INITIALIZE, modern, port_of, request, sent
from tests.mcp.serving import listening
from yazcore import Host
from yazcore.mcp.listener import Address

pytestmark = pytest.mark.anyio

ODD = {
    "half_a_character": '1, 2, "a\\ud800"',
    "no_text": "1, 2, 5",
    "megabytes": '1, 2, "x" * 5_000_000',
    "objects": "object(), object(), object()",
    "nothing": "None, None, None",
    "an_integer_without_end": '10 ** 400, 10 ** 400, "x"',
    "a_total_without_end": '1, 10 ** 400, "x"',
    "no_numbers": '"1", "2", "x"',
    "backwards": '-1e308, 1e308, "x"',
    "control": '1, 2, "\\x1b[2J\\0"',
}
CODE = f"""
REPORTS = {{{", ".join(f"{name!r}: lambda c: c.progress({what})" for name, what in ODD.items())}}}

class Plugin:
    def __init__(self, context):
        pass

    @hookimpl
    def provide_tools(self):
        return [Tool(name, functools.partial(self.report, report)) for name, report in REPORTS.items()]

    def report(self, report, context, arguments):
        report(context)
        return {{"done": True}}
"""


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    with host_with(tmp_path_factory.mktemp("progress"), ("demo", CODE, tools(list(ODD)))) as host:
        yield host


@pytest.fixture
async def address(host: Host) -> AsyncIterator[Address]:
    async with listening(host) as (_, address):
        yield address


def asking(name: str) -> dict[str, Any]:
    call = modern("tools/call", {"name": f"demo__{name}", "arguments": {}})
    call["params"]["_meta"] = {**call["params"]["_meta"], "progressToken": "t"}
    return call


@pytest.mark.parametrize("name", ODD)
async def test_odd_progress_loses_no_result_in_the_newer_era(address: Address, name: str) -> None:
    port = port_of(address.url)
    answer = await sent(port, request(port, address.token, asking(name)))
    assert b'"structuredContent":{"done":true}' in answer
    assert len(answer) < 5_000


@pytest.mark.parametrize("name", ODD)
async def test_odd_progress_loses_no_result_in_the_older_era(address: Address, name: str) -> None:
    port = port_of(address.url)
    opened = await sent(port, request(port, address.token, INITIALIZE))
    session = opened.lower().split(b"mcp-session-id: ")[1].split(b"\r\n")[0].decode()
    call = {**asking(name), "params": {"name": f"demo__{name}", "arguments": {}, "_meta": {"progressToken": "t"}}}
    body = json.dumps(call).encode()
    lines = (f"Mcp-Session-Id: {session}", "MCP-Protocol-Version: 2025-11-25")
    answer = await sent(port, request(port, address.token, body, *lines))
    assert b'"structuredContent":{"done":true}' in answer
    assert len(answer) < 5_000
