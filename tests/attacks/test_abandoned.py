"""Clients that leave in the middle: their calls are told, and only calls that never end are held against a plugin."""

from __future__ import annotations

import asyncio
import builtins
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from tests.attacks.hosts import called, host_with, states, tools
from yazcore import OWNER, Host
from yazcore.runtimes.abandoned import MOST_STUCK, PATIENCE_SECONDS, Abandoned

CODE = """
import builtins
class Plugin:
    def __init__(self, context):
        pass

    @hookimpl
    def provide_tools(self):
        return [Tool("waits", self.waits), Tool("fine", lambda context, arguments: {"fine": True})]

    def waits(self, context, arguments):
        builtins.attack.acquire()
        while hasattr(builtins, "attack"):
            context.check()
            time.sleep(0.01)
        return {}
"""


@pytest.fixture
def begun() -> Iterator[threading.Semaphore]:
    builtins.attack = threading.Semaphore(8)  # type: ignore[attr-defined]
    yield builtins.attack  # type: ignore[attr-defined]
    del builtins.attack  # type: ignore[attr-defined]


async def leave(host: Host, calls: int) -> None:
    """Begin so many calls and leave while they run."""
    left = builtins.attack._value - calls  # type: ignore[attr-defined]
    tasks = [asyncio.create_task(host.gate.call_tool(OWNER, "demo__waits", {})) for _ in range(calls)]
    while builtins.attack._value > left:  # type: ignore[attr-defined]  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def test_a_client_that_leaves_its_calls_behind_takes_no_plugin_out(tmp_path: Path, begun: threading.Semaphore) -> None:
    with host_with(tmp_path, ("demo", CODE, tools(["waits", "fine"], deadlineSeconds=30))) as host:
        asyncio.run(leave(host, 8))
        assert called(host, "demo__fine").structured == {"fine": True}
        assert states(host) == {"demo": "active"}


def test_calls_that_end_soon_are_not_stuck_however_many() -> None:
    now = [0.0]
    calls = Abandoned(lambda: now[0])
    first: list[Future[Any]] = [Future() for _ in range(20)]
    assert [calls.note("p", one) for one in first] == [0] * 20
    for one in first:
        one.set_result(None)
    now[0] = PATIENCE_SECONDS * 2
    assert calls.note("p", Future()) == 0


def test_calls_that_never_end_are_counted_for_their_own_plugin() -> None:
    now = [0.0]
    calls = Abandoned(lambda: now[0])
    for _ in range(MOST_STUCK + 1):
        calls.note("p", Future())
    now[0] = PATIENCE_SECONDS + 1
    assert calls.note("q", Future()) == 0
    assert calls.note("p", Future()) == MOST_STUCK + 1


def test_a_plugin_whose_calls_never_end_is_taken_out(tmp_path: Path, begun: threading.Semaphore) -> None:
    code = CODE.replace("context.check()", "pass")
    with host_with(tmp_path, ("demo", code, tools(["waits", "fine"], deadlineSeconds=30))) as host:
        out = threading.Event()
        host.catalogue.on_change(out.set)
        host._abandoned._clock = lambda: 0.0
        asyncio.run(leave(host, MOST_STUCK + 1))
        assert states(host) == {"demo": "active"}
        host._abandoned._clock = lambda: PATIENCE_SECONDS + 1
        asyncio.run(leave(host, 2))
        assert out.wait(10)
        assert "demo" not in host.catalogue.now.plugins


SWALLOWS = """
import builtins
class Plugin:
    def __init__(self, context):
        pass

    @hookimpl
    def provide_tools(self):
        return [Tool("waits", self.waits), Tool("fine", lambda context, arguments: {"fine": True})]

    async def waits(self, context, arguments):
        builtins.attack.acquire()
        while hasattr(builtins, "attack"):
            try:
                await asyncio.sleep(0.01)
            except asyncio.CancelledError:
                pass
        return {}
"""


def test_async_handlers_that_swallow_their_cancellation_are_stuck_too(
    tmp_path: Path, begun: threading.Semaphore
) -> None:
    with host_with(tmp_path, ("demo", SWALLOWS, tools(["waits", "fine"], deadlineSeconds=30))) as host:
        out = threading.Event()
        host.catalogue.on_change(out.set)
        host._abandoned._clock = lambda: 0.0
        asyncio.run(leave(host, MOST_STUCK + 1))
        assert states(host) == {"demo": "active"}
        host._abandoned._clock = lambda: PATIENCE_SECONDS + 1
        asyncio.run(leave(host, 2))
        assert out.wait(10)
        assert "demo" not in host.catalogue.now.plugins
        assert host.plugins()[0].state == "failed"


def test_async_handlers_that_end_when_they_are_cancelled_are_not(tmp_path: Path, begun: threading.Semaphore) -> None:
    code = SWALLOWS.replace("except asyncio.CancelledError", "except ValueError")
    with host_with(tmp_path, ("demo", code, tools(["waits", "fine"], deadlineSeconds=30))) as host:
        host._abandoned._clock = lambda: 0.0
        asyncio.run(leave(host, MOST_STUCK + 1))
        assert called(host, "demo__fine").structured == {"fine": True}  # by then they have ended
        host._abandoned._clock = lambda: PATIENCE_SECONDS + 1
        asyncio.run(leave(host, 2))
        assert states(host) == {"demo": "active"}
