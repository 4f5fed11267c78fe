"""Plugins for tests of a runtime alone: code on disk, a real context, no host around."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import attrs

from tests.hosts.console import CONTRACT
from tests.plugins_in_test import manifest, plugin_folder, tool
from yazcore.activation import collect
from yazcore.capabilities.context import Call
from yazcore.capabilities.denials import DenialLog
from yazcore.capabilities.grants import GrantedSet
from yazcore.home import Home
from yazcore.manifest.model import Manifest
from yazcore.manifest.reading import read
from yazcore.plugin_context import make_context
from yazcore.results import ResultStore
from yazcore.runtimes.base import PluginSource, RunningPlugin, Runtime

HEAD = """
import asyncio, os, sys, threading, time
import anyio, anyio.to_thread
from yazcore import (
    Cancelled, CapabilityError, Command, Embedded, Image, Link, Message, NoContext, Page, Prompt, Resource, Result,
    ServiceError, Tool, ToolError, hookimpl,
)
from yazcore.capabilities.context import current, frame_of

class Base:
    def __init__(self, context):
        self.context = context

    @hookimpl
    def provide_tools(self):
        return [Tool(name, getattr(self, name)) for name in dir(self) if name.startswith("t_")]
"""
"""What every plugin here begins with: its methods `t_...` are its tools."""


@attrs.frozen(kw_only=True)
class Project:
    """A project of a call."""

    root: Path
    id: str = "prj_testtesttest"
    name: str = "thesis"


class Workbench:
    """A runtime with plugins in it."""

    def __init__(self, runtime: Runtime, folder: Path, stack: ExitStack) -> None:
        self.runtime = runtime
        self.folder = folder
        self.home = Home(folder / "home")
        self.denials = DenialLog(self.home)
        self.results = ResultStore()
        self.failed: list[str] = []
        self._stack = stack
        self._count = 0

    def source(
        self, code: str, *, capabilities: Any = (), places: Mapping[str, str] | None = None, **more: Any
    ) -> PluginSource:
        """A plugin's source: `code` holds its class `Plugin`."""
        self._count += 1
        where = self.folder / f"plugin-{self._count}"
        where.mkdir(parents=True)
        document = manifest(version="1.2", capabilities=list(capabilities), provides={"tools": [tool("t")]})
        package = self._stack.enter_context(
            plugin_folder(where, document, HEAD + code, {"en-US": "text = A text\nhow-many = { $n } of { $what }\n"})
        )
        made = _read(package / "manifest.json")
        granted = GrantedSet(
            allowed=frozenset(one.identity for one in made.capabilities), places=dict(places or {})
        )
        context, _ = make_context(
            made, package, home=self.home, granted=lambda: granted, denials=self.denials, results=self.results,
            locale="en-US",
        )  # fmt: skip
        source = PluginSource(
            manifest=made, folder=package, context=attrs.evolve(context, log=logging.getLogger("yaz.test")),
            contract=CONTRACT, failed=lambda running, reason: self.failed.append(reason),
        )  # fmt: skip
        return attrs.evolve(source, **more)

    def start(self, code: str, **more: Any) -> RunningPlugin:
        """A running plugin, with all that it registers held."""
        plugin = self.runtime.start(self.source(code, **more))
        self._stack.callback(plugin.close)
        registered = collect(plugin, CONTRACT)
        plugin.hold({
            (kind.key, kind.registered_name(one)): one
            for kind in CONTRACT.contribution_kinds for one in registered[kind.key]
        })  # fmt: skip
        return plugin


def _read(path: Path) -> Manifest:
    reading = read(path.read_bytes(), CONTRACT)
    assert reading.manifest is not None, reading.violations
    return reading.manifest


@contextmanager
def workbench(runtime: Runtime, folder: Path) -> Iterator[Workbench]:
    """A runtime whose plugins are closed at the end; the runtime stays."""
    with ExitStack() as stack:
        yield Workbench(runtime, folder, stack)


def ask(plugin: RunningPlugin, name: str, arguments: Any = None, call: Call | None = None) -> Any:
    """One call of a tool, waited for."""
    given = {} if arguments is None else arguments
    return plugin.submit("tools", name, "handler", call or Call(posture="read"), given).result(20)


def said(plugin: RunningPlugin, name: str, arguments: Any = None, call: Call | None = None) -> Any:
    """The structured result of one call of a tool."""
    return ask(plugin, name, arguments, call).structured
