"""A host under attack, in a process of its own: `python -m tests.attacks.beyond.attacked RUNTIME FOLDER`.

A line of JSON says which attack, a line answers what came of it, as far as this process can know.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import json
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import attrs

from tests.attacks.hosts import CONTRACT, OPEN, tools
from tests.hosts.running import granted_for
from tests.plugins_in_test import manifest, plugin_folder
from yazcore import OWNER, Home, Host
from yazcore.capabilities.grants import RuntimeName
from yazcore.capabilities.services import processes

HERE = Path(__file__).parent
GOOD = """
from yazcore import Tool, hookimpl

class Plugin:
    def __init__(self, context):
        self.context = context

    @hookimpl
    def provide_tools(self):
        return [
            Tool("fine", lambda context, arguments: {"fine": True}),
            Tool("export", lambda context, arguments: {"uri": self.context.publish(b"kept", "text/plain", 900)}),
        ]
"""
PATIENCE_SECONDS = 2
"""The deadline of each call, in seconds."""

attacked_secret = ""
_holder: dict[str, str] = {}
_held_open: list[int] = []


@attrs.frozen(kw_only=True)
class Project:
    """The project of each call."""

    id: str
    name: str
    root: Path


@contextlib.contextmanager
def hosting(folder: Path, runtime: RuntimeName, told: dict[str, Any], guard: bool = True) -> Iterator[Host]:
    """A host with the plugin that attacks, in that runtime, and a good one beside it."""
    provides = tools(["attack", "attack-later"], posture="write", deadlineSeconds=PATIENCE_SECONDS)
    capabilities = [
        {"kind": "fs-project", "access": "write"},
        {"kind": "net", "hosts": ["localhost"], "ports": [told["http"]], "private": True},
        {"kind": "process", "commands": ["env"]},
        {"kind": "credential", "names": ["key"]},
    ]
    reading = tools(["attack-reading"], posture="read", deadlineSeconds=PATIENCE_SECONDS)["tools"]
    for one in (*provides["tools"], *reading):
        one["scope"], one["inputSchema"] = "project", {**OPEN, "required": ["projectId"], "properties": {
            "projectId": {"type": "string"}
        }}  # fmt: skip
    provides["tools"] += reading
    with contextlib.ExitStack() as stack:
        evil = stack.enter_context(
            _package(folder, _document("evil", provides, capabilities), (HERE / "evil" / "plugin.py").read_text())
        )
        for module in (HERE / "evil").glob("*.py"):
            if module.name not in ("plugin.py", "__init__.py"):
                shutil.copyfile(module, evil / module.name)
        good = stack.enter_context(
            _package(folder, _document("good", tools(["fine", "export"]), [{"kind": "fs-project"}]), GOOD)
        )
        project = Project(id="prj_aaaaaaaaaaaa", name="thesis", root=folder / "project")
        host = Host(
            CONTRACT, home=Home(folder / "home"), builtin=[evil, good], resolve={"project": {project.id: project}.get},
            discover=False, guard=guard,
        )  # fmt: skip
        granted_for(host, "evil", runtime)
        os.environ["YAZ_ATTACK_KEY"] = attacked_secret
        host.secrets.point("evil/key", "YAZ_ATTACK_KEY")
        try:
            host.activate()
            yield host
        finally:
            host.close()


def _document(plugin_id: str, provides: dict[str, Any], capabilities: list[dict[str, Any]]) -> dict[str, Any]:
    for one in provides["tools"]:
        one["permission"] = f"{plugin_id}:read"
    return manifest(plugin_id, provides=provides, capabilities=capabilities)


@contextlib.contextmanager
def _package(folder: Path, document: dict[str, Any], code: str) -> Iterator[Path]:
    place = folder / "packages" / str(document["id"])
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    with plugin_folder(place, document, code) as package:
        yield package


async def attack(host: Host, tool: str, name: str, told: dict[str, Any]) -> dict[str, Any]:
    """One attack through the gate, and whether the host goes on."""
    (evil,) = (one for one in host.plugins() if one.id == "evil")
    if evil.state != "active":
        return {"text": f"it is {evil.state}: {evil.reasons} {evil.violations} {evil.differences}", "fine": True}
    arguments = {"name": name, "world": told, "projectId": "prj_aaaaaaaaaaaa"}
    beside: list[Any] = []
    if name == "the_widest_of_its_open_calls":
        beside.append(host.gate.call_tool(OWNER, "evil__attack", {**arguments, "name": "hold_a_writing_call"}))
    export = await host.gate.call_tool(OWNER, "good__export", {}) if name == "a_flood_of_exports" else None
    outcome, *_ = await asyncio.gather(host.gate.call_tool(OWNER, f"evil__{tool}", arguments), *beside)
    answer: dict[str, Any] = dict(outcome.structured or {})
    if outcome.is_error:
        answer = {"text": outcome.text, "why": _why(host, outcome.text)}
    fine = await asyncio.wait_for(host.gate.call_tool(OWNER, "good__fine", {}), 10)
    if export is not None:
        await host.gate.read_resource(OWNER, str((export.structured or {})["uri"]))  # raises where it is gone
    changed = os.environ.pop("YAZ_ATTACK_CHANGED", None) is not None
    return {**answer, "fine": fine.structured == {"fine": True} and not changed}


def _why(host: Host, text: str) -> str:
    """What the user would read of a crash."""
    reference = text.rpartition(" ")[2]
    found = host.audit.crash_of(reference)
    return "" if found is None else str(found["message"])


def main() -> None:
    """Serve attacks until nobody asks for more."""
    runtime, folder = cast(RuntimeName, sys.argv[1]), Path(sys.argv[2])
    global attacked_secret
    attacked_secret = os.environ["YAZ_ATTACK_SECRET"]
    _holder["attacked_secret"] = attacked_secret
    processes.PROCESSES, processes.TOTAL_MEMORY = 24, 128 * 2**20
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    with contextlib.ExitStack() as stack:
        host: Host | None = None
        for line in sys.stdin:
            asked = json.loads(line)
            told = {**asked["world"], "pid": os.getpid()}
            if not _held_open:
                _held_open.append(os.open(told["secret"], os.O_RDONLY))
            if host is None:
                importlib.invalidate_caches()
                host = stack.enter_context(hosting(folder, runtime, told))
            answer = asyncio.run(attack(host, asked["tool"], asked["name"], told))
            print(json.dumps(answer), file=answers, flush=True)
            if asked["close"]:
                stack.close()
                host = None
                print(json.dumps({"closed": True}), file=answers, flush=True)


if __name__ == "__main__":
    main()
