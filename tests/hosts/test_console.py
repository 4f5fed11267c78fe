"""The second host is built on the public names alone: what it could not say through them would be a fault of `Host`."""

from __future__ import annotations

from pathlib import Path

import yazcore
from tests.hosts import console
from tests.hosts.running import call, running
from tests.plugins_in_test import tool
from tests.test_floors import imports
from yazcore import OWNER, Home


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
