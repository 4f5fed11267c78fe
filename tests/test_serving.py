"""Serving: the two ports and `run.json` come and go together, and the user's door reaches all of the application."""

from __future__ import annotations

import http.client as http_client
import json
import socket
import struct
import threading
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Any

import anyio
import anyio.abc
import anyio.lowlevel
import anyio.to_thread
import httpx2
import pytest

from tests.mcp.sample import plugin
from tests.mcp.serving import http, modern, sample_host
from yazcore.control import Running, running
from yazcore.control.door import Control
from yazcore.home import Home
from yazcore.host import Host
from yazcore.mcp.listener import Address
from yazcore.serving import Serving
from yazcore.violations import YazError

pytestmark = pytest.mark.anyio
PATIENCE = 120.0


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def host(home: Home) -> AsyncIterator[Host]:
    made = sample_host(home)
    yield made
    plugin.seen.released.set()
    await anyio.to_thread.run_sync(made.close)


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> plugin.Seen:
    """What the sample's tools do during this test."""
    fresh = plugin.Seen()
    monkeypatch.setattr(plugin, "seen", fresh)
    return fresh


class Door:
    """A served host, and the user's own door to it."""

    def __init__(self, host: Host, serving: Serving, address: Address, there: Running) -> None:
        self.host, self.serving, self.address, self.there = host, serving, address, there

    async def ask(self, command: str, **arguments: Any) -> Any:
        return await in_thread(self.there.ask, command, **arguments)


async def in_thread(function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    return await anyio.to_thread.run_sync(partial(function, *arguments, **named))


@pytest.fixture
async def door(host: Host) -> AsyncIterator[Door]:
    serving = Serving(host, commands={"mine": lambda arguments: {"mine": arguments}})
    async with anyio.create_task_group() as tasks:
        address = await tasks.start(serving.run)
        there = await in_thread(running, host.home)
        assert there is not None
        yield Door(host, serving, address, there)
        with anyio.CancelScope(shield=True):
            await serving.stop()


async def test_run_json_says_where_while_it_serves_and_nothing_is_left_afterwards(host: Host) -> None:
    serving = Serving(host)
    async with anyio.create_task_group() as tasks:
        address = await tasks.start(serving.run)
        there = await in_thread(running, host.home)
        assert (there.url, there.token) == (address.url, address.token)
        assert address.token not in repr(there)
        assert there.secret not in repr(there)
        async with http(address.token) as client:
            assert (await client.post(address.url, **modern("tools/list"))).status_code == 200
        await serving.stop()
        assert not host.home.path("run.json").exists()
        async with http(address.token) as client:
            with pytest.raises(httpx2.ConnectError):
                await client.post(address.url, **modern("tools/list"))
        with pytest.raises(YazError) as raised:
            await in_thread(there.ask, "ping")
        assert raised.value.code == "not-running"


async def test_the_door_knows_the_host_and_the_applications_own_commands(door: Door) -> None:
    assert await door.ask("status") == {"plugins": 1, "tools": 9}
    assert (await door.ask("plugins"))["plugins"][0]["state"] == "active"
    assert await door.ask("mine", a=1) == {"mine": {"a": 1}}
    with pytest.raises(YazError, match="unknown command"):
        await door.ask("nothing")


async def test_tools_at_the_door_are_those_that_an_agent_lists(door: Door) -> None:
    async with http(door.address.token) as client:
        listed = (await client.post(door.address.url, **modern("tools/list"))).json()["result"]["tools"]
    assert await door.ask("tools") == {"live": True, "tools": listed}


async def test_a_call_at_the_door_gives_the_result_object_and_its_progress(door: Door, seen: plugin.Seen) -> None:
    told: list[tuple[float, float | None, str]] = []
    report = lambda *one: told.append(one)  # noqa: E731
    result = await door.ask("call", name="sample__count", arguments={"to": 3}, report=report)
    assert result["structuredContent"] == {"counted": 3}
    assert told == [(1, 3, "step 1"), (2, 3, "step 2"), (3, 3, "step 3")]


async def test_a_protocol_fault_at_the_door_is_a_code_and_a_message(door: Door) -> None:
    assert await door.ask("call", name="nothing") == {"error": {"code": -32602, "message": "Unknown tool: nothing"}}


async def test_who_goes_away_ends_the_call(door: Door, seen: plugin.Seen) -> None:
    connection = http_client.HTTPConnection("127.0.0.1", door.there.port, timeout=PATIENCE)
    body = json.dumps({"name": "sample__wait", "arguments": {}})
    connection.request("POST", "/call", body, {"Authorization": f"Bearer {door.there.secret}"})
    assert await in_thread(seen.waiting.wait, PATIENCE)
    connection.close()
    assert await in_thread(seen.ended.wait, PATIENCE)
    with anyio.fail_after(PATIENCE):
        while not (calls := door.host.audit.calls()):
            await anyio.lowlevel.checkpoint()
    assert [one["outcome"] for one in calls] == ["cancelled"]


async def test_stopping_ends_a_call_at_the_door_and_says_so(door: Door, seen: plugin.Seen) -> None:
    raised: list[YazError] = []

    def call() -> None:
        try:
            door.there.ask("call", name="sample__wait", arguments={})
        except YazError as error:
            raised.append(error)

    thread = threading.Thread(target=call)
    thread.start()
    assert await in_thread(seen.waiting.wait, PATIENCE)
    await door.serving.stop()
    assert await in_thread(seen.ended.wait, PATIENCE)
    await in_thread(thread.join, PATIENCE)
    assert [error.code for error in raised] == ["stopped"]


async def test_what_was_switched_off_on_disk_goes_at_a_refresh_and_comes_back(door: Door) -> None:
    door.host.grants.set_enabled("sample", False)
    (status,) = await door.ask("refresh")
    assert (status["state"], status["reasons"]) == ("disabled", ["it is switched off"])
    assert (await door.ask("tools"))["tools"] == []
    door.host.grants.set_enabled("sample", True)
    (status,) = await door.ask("refresh")
    assert status["state"] == "active"


async def test_denials_are_told_at_the_door(door: Door) -> None:
    door.host.denials.record("sample", "net", "example.org", "not-declared", "tools echo")
    (denial,) = await door.ask("denials", plugin="sample")
    assert (denial["capability"], denial["target"]) == ("net", "example.org")


async def test_the_door_can_stop_it(door: Door) -> None:
    assert await door.ask("stop") == "stopping"
    with anyio.fail_after(PATIENCE):
        await door.serving.stopped()
    assert not door.host.home.path("run.json").exists()


async def test_a_second_one_in_the_same_home_is_refused(door: Door) -> None:
    with pytest.raises(ExceptionGroup) as raised:
        async with anyio.create_task_group() as tasks:
            await tasks.start(Serving(door.host).run)
    assert raised.group_contains(YazError, match=r"a yaz is running already \(process \d+\)")
    assert (await door.ask("status"))["plugins"] == 1


async def test_a_port_that_cannot_be_had_leaves_nothing_behind(host: Host, door: Door) -> None:
    await door.serving.stop()
    async with await anyio.create_tcp_listener(local_host="127.0.0.1") as taken:
        port = taken.extra(anyio.abc.SocketAttribute.local_port)
        with pytest.raises(ExceptionGroup) as raised:
            async with anyio.create_task_group() as tasks:
                await tasks.start(Serving(host, port=port).run)
    assert raised.group_contains(YazError, match=f"port {port} of 127.0.0.1 cannot be used")
    assert not host.home.path("run.json").exists()
    again = Serving(host)
    async with anyio.create_task_group() as tasks:
        await tasks.start(again.run)
        await again.stop()


async def test_who_goes_before_the_answer_leaves_no_trace(host: Host, capfd: pytest.CaptureFixture[str]) -> None:
    asked, gone = threading.Event(), threading.Event()

    def slow(arguments: dict[str, Any]) -> str:
        asked.set()
        gone.wait(PATIENCE)
        return "x" * 2**20

    before = set(threading.enumerate())
    control = Control({"slow": slow})
    control.start()
    connection = http_client.HTTPConnection("127.0.0.1", control.port, timeout=PATIENCE)
    connection.request("POST", "/slow", b"{}", {"Authorization": f"Bearer {control.secret}"})
    assert await in_thread(asked.wait, PATIENCE)
    connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()
    handlers = [one for one in set(threading.enumerate()) - before if "process_request" in one.name]
    gone.set()
    for handler in handlers:
        await in_thread(handler.join, PATIENCE)
    await in_thread(control.close)
    assert len(handlers) == 1
    assert capfd.readouterr().err == ""


def test_strangers_take_neither_all_threads_nor_the_door() -> None:
    before = set(threading.enumerate())
    control = Control({"echo": lambda arguments: arguments})
    control.start()
    strangers = [socket.create_connection(("127.0.0.1", control.port), timeout=PATIENCE) for _ in range(100)]
    try:
        for one in strangers:
            one.sendall(b"POST /echo")
        there = Running(pid=1, url="", token="", port=control.port, secret=control.secret)
        assert there.ask("echo", a=1) == {"a": 1}
        threads = [one for one in set(threading.enumerate()) - before if "process_request" in one.name]
        assert len(threads) <= 33
    finally:
        for one in strangers:
            one.close()
        control.close()


def test_who_has_shown_the_secret_is_not_sent_away_for_strangers() -> None:
    asked, released = threading.Event(), threading.Event()

    def slow(arguments: dict[str, Any]) -> str:
        asked.set()
        released.wait(PATIENCE)
        return "done"

    control = Control({"slow": slow, "ping": lambda arguments: "pong"})
    control.start()
    there = Running(pid=1, url="", token="", port=control.port, secret=control.secret)
    answers: list[Any] = []
    mine = threading.Thread(target=lambda: answers.append(there.ask("slow")))
    mine.start()
    assert asked.wait(PATIENCE)
    strangers = [socket.create_connection(("127.0.0.1", control.port), timeout=PATIENCE) for _ in range(100)]
    try:
        assert there.ask("ping") == "pong"
        released.set()
        mine.join(PATIENCE)
        assert answers == ["done"]
    finally:
        released.set()
        for one in strangers:
            one.close()
        control.close()
