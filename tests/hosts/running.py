"""A console with one plugin of a test, active: what a test of the gate, the host or a plugin's context starts from."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import attrs

from tests.hosts.console import Cluster, console
from tests.plugins_in_test import manifest, plugin_folder
from yazcore import OWNER, Host, Outcome, Principal
from yazcore.capabilities.grants import Grant, RuntimeName
from yazcore.home import Home

HEAD = """
import asyncio, threading
from yazcore import *
"""
"""What the code of every plugin here begins with."""

ONE = "11111111-1111-4111-8111-111111111111"
"""The id of the one cluster that the console has."""


@contextmanager
def running(
    folder: Path,
    home: Home,
    code: str,
    *,
    messages: Mapping[str, str] | None = None,
    runtime: RuntimeName = "trusted",
    **document: Any,
) -> Iterator[Host]:
    """A console with the plugin `demo`: `code` holds its class `Plugin`, `document` the parts of its manifest."""
    with plugin_folder(folder, manifest(**document), HEAD + code, messages) as package:
        host = console(home, {ONE: Cluster(ONE, "one")}, (package,))
        granted_for(host, "demo", runtime)
        try:
            (status,) = (one for one in host.activate() if one.id == "demo")
            assert status.state == "active", status
            yield host
        finally:
            host.close()


def granted_for(host: Host, plugin_id: str, runtime: RuntimeName) -> None:
    """Let a shipped plugin run in the runtime that a user would choose for it; places and denials stay."""
    old = host.grants.get(plugin_id) or Grant(plugin=plugin_id)
    host.grants.put(attrs.evolve(old, runtime=runtime, time="2026-01-01T00:00:00+00:00"))


def call(host: Host, name: str, arguments: Any = None, principal: Principal = OWNER) -> Outcome:
    """One call of a tool through the gate."""
    return asyncio.run(host.gate.call_tool(principal, name, {} if arguments is None else arguments))


def outcomes(host: Host) -> list[str]:
    """How every call so far ended, as the audit has it."""
    return [record["outcome"] for record in host.audit.calls()]
