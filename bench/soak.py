"""Many calls over many workers, some of which are killed at random: `python -m bench.soak [CALLS] [WORKERS]`.

Every call gets its answer or the reason why there is none, and in the end nothing is left: no descriptor, no thread, no
process, no file, no memory. Exit status 1 where that is not so.

Memory is what this process has for itself (USS), after a round in which everything was loaded and made once: the same
round again, with as many workers and however many calls, may not need more than `MOST_MEMORY` beyond it.
"""

from __future__ import annotations

import asyncio
import ctypes
import gc
import json
import os
import random
import re
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import attrs

from yazcore.capabilities.context import Call
from yazcore.capabilities.grants import Grant
from yazcore.contract import Contract
from yazcore.home import Home
from yazcore.host import Host
from yazcore.permissions import GLOBAL, PROJECT
from yazcore.runtimes.base import HandlerFailed
from yazcore.runtimes.isolated.runtime import IsolatedRuntime
from yazcore.runtimes.isolated.strikes import Strikes

_CALLERS = 16
_KILLED = 0.003
_LEFT_SECONDS = 20.0
_WARMING_CALLS = 2_000
MOST_MEMORY = 6 * 2**20
"""How many more bytes this process may have after a soak than after its first round."""

_CODE = """
from yazcore import Tool, hookimpl

class Plugin:
    def __init__(self, context):
        self.context = context

    @hookimpl
    def provide_tools(self):
        return [Tool(name, getattr(self, name)) for name in ("echo", "later", "reads", "reads_later")]

    def echo(self, context, arguments):
        return arguments

    async def later(self, context, arguments):
        return arguments

    def reads(self, context, arguments):
        return {"n": arguments["n"], "text": context.files.read_text("a.txt")}

    async def reads_later(self, context, arguments):
        return {"n": arguments["n"], "text": await context.aio.files.read_text("a.txt")}
"""
_TOOLS = ("echo", "later", "reads", "reads_later")
_CONTRACT = Contract(
    number=1, group="soak.manifest", prefix="soak-", host="soak", version="1", scope_kinds=(GLOBAL, PROJECT)
)


@attrs.frozen(kw_only=True)
class Soaked:
    """What came of it. `wrong`: answers that were not those of the call, and calls without any."""

    answered: int
    ended: int
    wrong: int
    killed: int
    seconds: float
    before: tuple[int, int, int]
    after: tuple[int, int, int]
    files: list[str]
    memory: int

    @property
    def holds(self) -> bool:
        """Whether nothing was lost, and nothing is left."""
        return self.wrong == 0 and self.after == self.before and not self.files and self.memory <= MOST_MEMORY


def soak(calls: int, workers: int, seed: int = 1) -> Soaked:
    """Make so many calls of so many workers."""
    _round(min(calls, _WARMING_CALLS), workers, seed)
    before = _state()
    memory = _memory()
    counted, seconds, files = _round(calls, workers, seed)
    return Soaked(
        answered=counted["answered"], ended=counted["ended"], killed=counted["killed"], seconds=seconds,
        wrong=counted["wrong"] + calls // _CALLERS * _CALLERS - counted["answered"] - counted["ended"],
        before=before, after=_settled(before), files=files, memory=_memory() - memory,
    )  # fmt: skip


def _round(calls: int, workers: int, seed: int) -> tuple[Counter[str], float, list[str]]:
    """What was counted, how long it took, and which files it left: temporary ones, and new ones in the home folder."""
    counted: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="yaz-soak-") as folder:
        project = _Project(root=Path(folder) / "project")
        project.root.mkdir()
        (project.root / "a.txt").write_text("text")
        temporary, home = Path(folder) / "temporary", Path(folder) / "home"
        temporary.mkdir()
        with ExitStack() as stack:
            stack.callback(setattr, tempfile, "tempdir", tempfile.tempdir)
            tempfile.tempdir = str(temporary)
            host = _host(Path(folder), workers)
            stack.callback(host.close)
            there = set(home.rglob("*"))
            began = time.perf_counter()
            asyncio.run(_all(host, project, calls, workers, random.Random(seed), counted))
            seconds = time.perf_counter() - began
        left = [*temporary.rglob("*"), *(set(home.rglob("*")) - there)]
        return counted, seconds, sorted(str(path.relative_to(folder)) for path in left)


@attrs.frozen(kw_only=True)
class _Project:
    root: Path
    id: str = "prj_soaksoaksoak"
    name: str = "soak"


async def _all(
    host: Host, project: _Project, calls: int, workers: int, chance: random.Random, counted: Counter[str]
) -> None:
    async def caller() -> None:
        for _ in range(calls // _CALLERS):
            number, tool = chance.randrange(1 << 30), chance.choice(_TOOLS)
            running: Any = host.catalogue.now.plugins[f"soak{chance.randrange(workers)}"].running
            call = Call(posture="read", project=project, deadline=time.monotonic() + 60)
            try:
                answer = await asyncio.wrap_future(running.submit("tools", tool, "handler", call, {"n": number}))
            except HandlerFailed as failed:
                counted["ended" if failed.failure.type == "WorkerEnded" else "wrong"] += 1
            else:
                expected = {"n": number, "text": "text"} if tool.startswith("reads") else {"n": number}
                counted["answered"] += 1
                counted["wrong"] += answer.structured != expected
            if chance.random() < _KILLED and (generation := running._generation) is not None:
                counted["killed"] += 1
                generation.link.process.kill()

    await asyncio.gather(*(caller() for _ in range(_CALLERS)))


def _host(folder: Path, workers: int) -> Host:
    packages = []
    for number in range(workers):
        name = f"soak{number}"
        package = folder / name / f"soak_plugin_{number}"
        (package / "locales").mkdir(parents=True)
        schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "additionalProperties": False}
        (package / "manifest.json").write_text(json.dumps({
            "contract": 1, "id": name, "name": "Soak", "version": "1.0", "minAppVersion": "0", "author": "A",
            "description": "A plugin of a soak.", "module": f"{package.name}:Plugin", "locales": "locales",
            "capabilities": [{"kind": "fs-project"}],
            "permissions": [{"action": f"{name}:read", "descriptionKey": "text"}],
            "provides": {"tools": [{
                "name": tool, "descriptionKey": "text", "posture": "read", "scope": "global",
                "permission": f"{name}:read", "inputSchema": schema,
            } for tool in _TOOLS]},
        }))  # fmt: skip
        (package / "__init__.py").write_text(_CODE)
        (package / "locales" / "en-US.ftl").write_text("text = A text\n")
        packages.append(package)
    host = Host(_CONTRACT, home=Home(folder / "home"), builtin=packages, discover=False)
    # No end of a worker is counted: here it is never the plugin's fault.
    host._runtimes["isolated"] = IsolatedRuntime(strikes=lambda: Strikes(most=10**9, within=0.0))
    for number in range(workers):
        host.grants.put(Grant(plugin=f"soak{number}", runtime="isolated", time="2026-01-01T00:00:00+00:00"))
    states = {status.id: (status.state, status.reasons, status.violations) for status in host.activate()}
    assert all(state == "active" for state, _, _ in states.values()), states
    return host


def _state() -> tuple[int, int, int]:
    """Descriptors, threads, child processes."""
    gc.collect()
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return len(os.listdir("/proc/self/fd")), threading.active_count(), len(children)


def _memory() -> int:
    """The bytes that this process has for itself."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    rollup = Path("/proc/self/smaps_rollup").read_text()
    return sum(int(size) for size in re.findall(r"^Private_\w+: +(\d+) kB", rollup, re.MULTILINE)) * 1024


def _settled(wanted: tuple[int, int, int]) -> tuple[int, int, int]:
    end = time.monotonic() + _LEFT_SECONDS
    while (now := _state()) != wanted and time.monotonic() < end:
        time.sleep(0.05)
    return now


def main() -> int:
    """Soak and say what came of it."""
    calls, workers = [int(word) for word in sys.argv[1:]] + [100_000, 20][len(sys.argv) - 1 :]
    done = soak(calls, workers)
    print(
        f"{done.answered} calls answered, {done.ended} told that their worker had ended, {done.wrong} wrong or lost; "
        f"{done.killed} kills over {workers} workers, {calls / done.seconds:.0f} calls a second\n"
        f"descriptors, threads, children: {done.before} before, {done.after} after; "
        f"files left: {len(done.files)}; memory: {done.memory / 2**20:+.1f} MiB (at most {MOST_MEMORY / 2**20:.0f})"
    )
    return 0 if done.holds else 1


if __name__ == "__main__":
    sys.exit(main())
