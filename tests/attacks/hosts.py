"""Hosts with plugins that misbehave, for the attacks: a contract of their own, and one call through the gate."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from tests.plugins_in_test import manifest, plugin_folder, tool
from yazcore import GLOBAL, OWNER, PROJECT, Contract, Home, Host, Outcome, Principal

CONTRACT = Contract(
    number=3,
    group="attack.manifest",
    prefix="attack-plugin-",
    host="attacked",
    version="1.0",
    scope_kinds=(GLOBAL, PROJECT),
)

OPEN: dict[str, Any] = {"type": "object", "properties": {"x": {}}, "additionalProperties": True}
"""The schema of a tool that takes anything."""

HEAD = """
import asyncio, functools, os, sys, threading, time
from yazcore import *

class Panic(BaseException):
    pass
"""
"""What every plugin here begins with. `Panic` is what a panic of a library in Rust is to Python."""


def tools(names: Sequence[str], **more: Any) -> dict[str, Any]:
    """The `provides` of a plugin with these tools, which take anything and have two seconds."""
    return {"tools": [tool(name, inputSchema=OPEN, **{"deadlineSeconds": 2, **more}) for name in names]}


@contextmanager
def host_with(folder: Path, *plugins: tuple[str, str, Mapping[str, Any]]) -> Iterator[Host]:
    """An active host with these builtin plugins: (id, code of the module, `provides`); not all have to be active."""
    with ExitStack() as stack:
        folders = []
        for plugin_id, code, provides in plugins:
            (folder / plugin_id).mkdir(parents=True, exist_ok=True)
            document = manifest(plugin_id, provides=_own(plugin_id, provides))
            folders.append(stack.enter_context(plugin_folder(folder / plugin_id, document, HEAD + code)))
        host = Host(CONTRACT, home=Home(folder / "home"), builtin=folders, discover=False)
        stack.callback(host.close)
        host.activate()
        yield host


def _own(plugin_id: str, provides: Mapping[str, Any]) -> dict[str, Any]:
    """The permission that a tool needs is one of its own plugin."""
    return {
        key: [
            {**entry, "permission": f"{plugin_id}:read"} if "permission" in entry else dict(entry) for entry in entries
        ]
        for key, entries in provides.items()
    }


def called(host: Host, name: str, arguments: Mapping[str, Any] | None = None, principal: Principal = OWNER) -> Outcome:
    """One call of a tool, on a loop of its own; whatever leaves the gate other than an outcome fails the test."""
    try:
        return asyncio.run(host.gate.call_tool(principal, name, dict(arguments or {})))
    except BaseException as error:
        raise AssertionError(f"{error!r} came through the gate") from error


def states(host: Host) -> dict[str, str]:
    """The state of each plugin."""
    return {status.id: status.state for status in host.plugins()}
