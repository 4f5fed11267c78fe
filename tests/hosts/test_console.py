"""The second host is built on the public names alone: what it could not say through them would be a fault of `Host`."""

from __future__ import annotations

import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import yazcore
from tests.hosts import console
from tests.hosts.running import call, running
from tests.plugins_in_test import manifest, plugin_folder, tool
from tests.test_floors import imports
from yazcore import OWNER, Home, PluginStatus


def test_a_host_is_built_on_the_public_names_alone() -> None:
    taken = [one for one in imports(Path(console.__file__).parent) if one.where.startswith("hosts/console.py")]
    names = [one.name for one in taken if one.module.split(".")[0] == "yazcore"]
    assert names
    assert [f"{one.module} {one.name}" for one in taken if one.module.startswith("yazcore.")] == []
    assert [name for name in names if name not in yazcore.__all__] == []


def test_it_has_a_group_a_prefix_a_number_a_scope_a_kind_and_a_hook_of_its_own() -> None:
    contract, shipped = console.CONTRACT, yazcore.Contract(number=1, group="", prefix="", host="", version="0")
    assert (contract.group, contract.prefix, contract.number) == ("console.manifest", "console-plugin-", 3)
    assert [kind.name for kind in contract.scope_kinds] == ["global", "cluster"]
    assert contract.contribution_kinds[: len(shipped.contribution_kinds)] == shipped.contribution_kinds
    assert contract.contribution_kinds[-1].key == "panels"
    assert contract.hookspecs == (*shipped.hookspecs, console.ConsoleHooks)


def test_a_cluster_has_one_spelling() -> None:
    parse = console.CLUSTER.parse
    one = "12345678-1234-4234-8234-123456789abc"
    assert parse(one) == one
    for text in (one.upper(), f"{{{one}}}", f"urn:uuid:{one}", one.replace("-", ""), f" {one}", f"{one}\n", "", "x"):
        assert parse(text) is None


MANY = """
class Plugin:
    def __init__(self, context):
        pass

    @hookimpl
    def provide_tools(self):
        return [Tool(f"tool-{n}", lambda context, arguments: {}) for n in range(500)]
"""


def test_help_names_every_tool_of_a_plugin_that_has_as_many_as_it_may(tmp_path: Path, home: Home) -> None:
    """S-38 holds with many plugins: the index is a result that fits, and each tool can still be asked about."""
    provides = {"tools": [tool(f"tool-{n}") for n in range(500)]}
    messages = {"en-US": f"text = {'A long text. ' * 10}\n"}
    with running(tmp_path, home, MANY, provides=provides, messages=messages) as host:
        index = call(host, "help")
        assert (index.is_error, index.links) == (False, ())
        assert index.structured is not None
        named = [one["tool"] for one in index.structured["tools"]["read"]]
        assert named == [one.exposed for one in host.gate.tools(OWNER)]
        one = call(host, "help", {"topic": "demo__tool-499"})
        assert one.structured is not None
        assert one.structured["tool"]["summary"].startswith("A long text.")


SLOW = """
entered, released = threading.Event(), threading.Event()

class Plugin:
    made = 0

    def __init__(self, context):
        Plugin.made += 1
        self.number = Plugin.made

    @hookimpl
    def provide_tools(self):
        return [Tool("which", self.which), Tool("slow", self.slow)]

    def which(self, context, arguments):
        return {"made": self.number}

    def slow(self, context, arguments):
        entered.set()
        released.wait(20)
        return {"made": self.number}
"""


def test_an_old_version_that_drains_takes_nothing_of_the_new_one_along(tmp_path: Path, home: Home) -> None:
    """SA-27, S-25: leaving undoes only what that same activation made."""
    with running(tmp_path, home, SLOW, provides={"tools": [tool("slow"), tool("which")]}) as host:
        old = host.catalogue.now.plugins["demo"].manifest
        module, gone = sys.modules[old.module.partition(":")[0]], threading.Event()
        stop_listening = host.catalogue.on_change(gone.set)
        with ThreadPoolExecutor(2) as threads:
            draining = threads.submit(call, host, "demo__slow")
            assert module.entered.wait(10)
            leaving = threads.submit(host.deactivate, "demo", "allowed", "an update is there")
            assert gone.wait(10)
            stop_listening()
            folder = next(tmp_path.glob("test_plugin_*"))
            text = (folder / "manifest.json").read_text()
            (folder / "manifest.json").write_text(text.replace('"version": "1.0"', '"version": "2.0"'))
            states = {one.id: (one.state, one.version) for one in host.activate()}
            assert states["demo"] == ("active", "2.0")
            assert not leaving.done()
            module.released.set()
            assert draining.result(10).structured == {"made": 1}
            leaving.result(10)
        (status,) = (one for one in host.plugins() if one.id == "demo")
        assert (status.state, status.version, status.reasons) == ("active", "2.0", ())
        assert {"demo__slow", "demo__which"} <= set(host.catalogue.now.tools)
        assert call(host, "demo__which").structured == {"made": 2}
        assert call(host, "demo__slow").is_error is False


ID = {"type": "string"}


@pytest.mark.parametrize(
    ("properties", "required"),
    [
        ({"clusterId": ID}, []),
        ({"clusterId": {"type": ["string", "null"]}}, ["clusterId"]),
        ({"clusterId": {"type": "integer"}}, ["clusterId"]),
        ({"clusterId": {}}, ["clusterId"]),
        ({"cluster": ID}, ["cluster"]),
        ({}, []),
    ],
    ids=["optional", "union", "integer", "untyped", "another name", "absent"],
)
def test_a_tool_of_a_cluster_takes_its_id_as_a_required_string(
    tmp_path: Path, home: Home, properties: dict[str, Any], required: list[str]
) -> None:
    """SA-10, 2.9 #8: the scope of a host's own is held to the same rule, by the name of its argument."""
    schema = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    status = refused(tmp_path, home, [tool("at", scope="cluster", inputSchema=schema)], 'Tool("at", print)')
    assert [one.code for one in status.violations] == ["tool-scope-argument"]
    assert "clusterId" in status.violations[0].message


AT = {"type": "object", "properties": {"clusterId": ID}, "required": ["clusterId"], "additionalProperties": False}


@pytest.mark.parametrize(
    ("registered", "name", "change"),
    [
        ('Tool("at", print, read_only_hint=False)', "at", "changed"),
        ('Tool("at", print), Tool("over", print)', "over", "undeclared"),
        ("", "at", "missing"),
    ],
)
def test_a_tool_of_a_cluster_that_is_not_as_declared_is_refused(
    tmp_path: Path, home: Home, registered: str, name: str, change: str
) -> None:
    """SA-9, SA-11, 2.9 #7 and #9."""
    status = refused(tmp_path, home, [tool("at", scope="cluster", inputSchema=AT)], registered)
    assert status.violations == ()
    (difference,) = status.differences
    assert (difference.kind, difference.name, difference.change) == ("tools", name, change)
    if change == "changed":
        assert "readOnlyHint" in difference.message


def refused(tmp_path: Path, home: Home, declared: list[dict[str, Any]], registered: str) -> PluginStatus:
    """What becomes of a plugin with these tools: refused, and nothing of it is seen in the console."""
    code = "\n".join((
        "from yazcore import *", "class Plugin:", "    def __init__(self, context): ...",
        "    @hookimpl", f"    def provide_tools(self): return [{registered}]",
    ))  # fmt: skip
    with plugin_folder(tmp_path, manifest(provides={"tools": declared}), code) as package:
        host = console.console(home, builtin=(package,))
        try:
            (status,) = (one for one in host.activate() if one.id == "demo")
            assert status.state == "refused"
            assert [one.exposed for one in host.gate.tools(OWNER)] == ["help", "list_clusters"]
            assert "demo" not in str(call(host, "help").structured)
        finally:
            host.close()
    return status
