"""A plugin in a worker against the least that two processes can do, and against starting Python.

The host is pinned to one core and workers to another: unpinned, where the scheduler puts the two decides more than any
code does (a bare ping-pong alone takes between 10 and 30 us).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

from bench.measuring import figure, median_seconds
from yazcore import Contract, Home, Host
from yazcore.capabilities.context import Call
from yazcore.capabilities.grants import Grant
from yazcore.contract import HOOKSPECS
from yazcore.gate.waiting import finished
from yazcore.hookspecs import hookspec
from yazcore.runtimes.isolated.plugin import IsolatedPlugin

_SMALL, _LARGE = 60, 1 << 20

_CODE = """
from yazcore import Tool, hookimpl

class Plugin:
    def __init__(self, context):
        pass

    @hookimpl
    def provide_tools(self):
        return [Tool("echo", lambda context, arguments: arguments)]

    @hookimpl
    def bounce(self, data):
        return data
"""
_MANIFEST = {
    "contract": 1, "id": "bench", "name": "Bench", "version": "1.0", "minAppVersion": "0", "author": "A",
    "description": "A plugin of a benchmark.", "module": "bench_plugin:Plugin", "locales": "locales",
    "permissions": [{"action": "bench:read", "descriptionKey": "text"}],
    "provides": {"tools": [{
        "name": "echo", "descriptionKey": "text", "posture": "read", "scope": "global", "permission": "bench:read",
        "inputSchema": {
            "type": "object", "properties": {"text": {"type": "string", "maxLength": 2000}},
            "additionalProperties": False,
        },
    }]},
}  # fmt: skip


class _Hooks:
    @hookspec
    def bounce(self, data: Any) -> Any:
        """A hook with one argument."""


_CONTRACT = Contract(
    number=1, group="bench.manifest", prefix="bench-", host="bench", version="1", hookspecs=(*HOOKSPECS, _Hooks)
)


def figures() -> Iterator[dict[str, Any]]:
    """Calls, starts and memory."""
    if sys.platform != "linux" or len(os.sched_getaffinity(0)) < 2:
        yield figure("isolated-hook-call", None, "<= 2", "a bare socketpair: two cores of Linux are needed")
        return
    with tempfile.TemporaryDirectory(prefix="yaz-bench-") as folder, _plugins(Path(folder), 1) as host:
        yield from _calls(host)
    with tempfile.TemporaryDirectory(prefix="yaz-bench-") as folder:
        yield from _starts(Path(folder))


# --- calls


def _calls(host: Host) -> Iterator[dict[str, Any]]:
    running: IsolatedPlugin = host.catalogue.now.plugins["bench0"].running
    worker = running._generation.link.process.number  # type: ignore[union-attr]
    ours, child = _bouncer()
    before = os.sched_getaffinity(0)
    first, second, *_ = sorted(before)
    try:
        os.sched_setaffinity(0, {first})
        _pin_threads(os.getpid(), {first})
        for process in (worker, child):
            _pin_threads(process, {second})
        buffer = memoryview(bytearray(_LARGE))
        small, large = b"x" * _SMALL, bytes(_LARGE)

        def bare(data: bytes) -> None:
            ours.sendall(data)
            got = 0
            while got < len(data):
                got += ours.recv_into(buffer[got:])

        loop = asyncio.new_event_loop()
        call = Call(posture="read")
        handled = {"text": "x" * _SMALL}

        async def tool() -> None:
            """As the gate calls a tool: in a loop that runs, and for a lone call stands still a moment."""
            await finished(running.submit("tools", "echo", "handler", call, handled), 30, at_once=True)

        async def bare_tool() -> None:
            bare(small)

        took = _interleaved(
            {
                "bare": (lambda: bare(small), 150),
                "hook": (lambda: host.hook.bounce(data=small), 150),
                "bare-large": (lambda: bare(large), 15),
                "hook-large": (lambda: host.hook.bounce(data=large), 15),
            }
        )
        took |= loop.run_until_complete(_awaited({"bare-tool": bare_tool, "tool": tool}, 150))
        against = "a bare socketpair between the same two cores"
        yield figure("isolated-hook-call", took["hook"] / took["bare"], "<= 2", against)
        yield figure("isolated-hook-1-mib", took["hook-large"] / took["bare-large"], "<= 2.5", against)
        yield figure("isolated-tool-call", took["tool"] / took["bare-tool"], "<= 4", against)
        rate = loop.run_until_complete(_in_flight(running, handled))
        yield figure("isolated-32-in-flight", rate, ">= 25000", "nothing", "calls/s", guide=True)
        loop.close()
    finally:
        os.sched_setaffinity(0, before)
        _pin_threads(os.getpid(), before)
        ours.close()
        os.waitpid(child, 0)


async def _in_flight(running: IsolatedPlugin, arguments: dict[str, Any], count: int = 8000) -> float:
    call = Call(posture="read")

    async def caller(times: int) -> None:
        for _ in range(times):
            await asyncio.wrap_future(running.submit("tools", "echo", "handler", call, arguments))

    await asyncio.gather(*(caller(20) for _ in range(32)))
    began = time.perf_counter()
    await asyncio.gather(*(caller(count // 32) for _ in range(32)))
    return count / (time.perf_counter() - began)


def _interleaved(functions: dict[str, tuple[Callable[[], object], int]], rounds: int = 15) -> dict[str, float]:
    """The median time of each function, in seconds, over rounds in which each of them runs."""
    took: dict[str, list[float]] = {name: [] for name in functions}
    for number in range(rounds + 1):
        for name, (function, times) in functions.items():
            for _ in range(times):
                began = time.perf_counter()
                function()
                if number:  # the first round warms up
                    took[name].append(time.perf_counter() - began)
    return {name: statistics.median(spent) for name, spent in took.items()}


async def _awaited(
    functions: dict[str, Callable[[], Awaitable[object]]], times: int, rounds: int = 15
) -> dict[str, float]:
    """The same for what is awaited, in the loop that runs."""
    took: dict[str, list[float]] = {name: [] for name in functions}
    for number in range(rounds + 1):
        for name, function in functions.items():
            for _ in range(times):
                began = time.perf_counter()
                await function()
                if number:  # the first round warms up
                    took[name].append(time.perf_counter() - began)
    return {name: statistics.median(spent) for name, spent in took.items()}


def _bouncer() -> tuple[socket.socket, int]:
    """A process that sends back what it gets, in the two sizes that are measured."""
    ours, theirs = socket.socketpair()
    child = os.fork()
    if child == 0:
        try:
            ours.close()
            buffer = memoryview(bytearray(_LARGE))
            while count := theirs.recv_into(buffer):
                while count > _SMALL and count < _LARGE:
                    count += theirs.recv_into(buffer[count:])
                theirs.sendall(buffer[:count])
        finally:
            os._exit(0)
    theirs.close()
    return ours, child


def _pin_threads(process: int, cores: set[int]) -> None:
    for thread in os.listdir(f"/proc/{process}/task"):
        with contextlib.suppress(OSError):
            os.sched_setaffinity(int(thread), cores)


# --- starts


def _starts(folder: Path) -> Iterator[dict[str, Any]]:
    floor = median_seconds(lambda: subprocess.run([sys.executable, "-I", "-c", "pass"], check=True), rounds=11)
    with _plugins(folder, 10) as host:
        runtime = host._runtime("isolated")
        sources = [plugin.running._source for plugin in host.catalogue.now.plugins.values()]

        def start(count: int) -> float:
            began = time.perf_counter()
            started = [runtime.start(source) for source in sources[:count]]
            took = time.perf_counter() - began
            for one in started:
                one.close()
            return took

        against = "python -I -c pass"
        yield figure("isolated-one-ready", statistics.median(start(1) for _ in range(15)) / floor, "<= 1", against)
        yield figure("isolated-ten-ready", statistics.median(start(10) for _ in range(7)) / floor, "<= 6", against)
        running = [plugin.running for plugin in host.catalogue.now.plugins.values()]
        memory = statistics.median(_private_bytes(one._generation.link.process.number) for one in running)
        yield figure("isolated-memory", memory / 1e6, "<= 6", "nothing", "MB", guide=True)


def _private_bytes(process: int) -> int:
    """What only this process holds of the machine's memory."""
    total = 0
    for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
        if line.startswith(("Private_Clean:", "Private_Dirty:")):
            total += int(line.split()[1]) * 1024
    return total


# --- plugins


@contextlib.contextmanager
def _plugins(folder: Path, count: int) -> Iterator[Host]:
    """A host with so many isolated plugins, active."""
    import json

    packages = []
    for number in range(count):
        package = folder / f"site{number}" / f"bench_plugin_{number}"
        (package / "locales").mkdir(parents=True)
        name = f"bench{number}"
        document = json.loads(json.dumps(_MANIFEST).replace("bench:read", f"{name}:read"))
        document |= {"id": name, "module": f"{package.name}:Plugin"}
        (package / "manifest.json").write_text(json.dumps(document))
        (package / "__init__.py").write_text(_CODE)
        (package / "locales" / "en-US.ftl").write_text("text = A text\n")
        packages.append(package)
    host = Host(_CONTRACT, home=Home(folder / "home"), builtin=packages, discover=False)
    for number in range(count):
        host.grants.put(Grant(plugin=f"bench{number}", runtime="isolated", time="2026-01-01T00:00:00+00:00"))
    try:
        states = {status.id: (status.state, status.reasons, status.violations) for status in host.activate()}
        assert all(state == "active" for state, _, _ in states.values()), states
        yield host
    finally:
        host.close()


