"""A declared schema is compiled once, and no longer kept than its tool."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest

from tests.hosts.console import console
from tests.hosts.running import HEAD, call
from tests.plugins_in_test import manifest, plugin_folder, tool
from yazcore import Home, Host
from yazcore.gate import validators
from yazcore.gate.validators import Validators
from yazcore.manifest.schemas import Validator, argument_errors

CODE = """
class Plugin:
    def __init__(self, context):
        pass

    @hookimpl
    def provide_tools(self):
        return [Tool("echo", lambda context, arguments: {"n": arguments.get("n", 0)})]
"""
GIVEN = {"type": "object", "properties": {"n": {"type": "integer"}}}


def echo(plugin_id: str) -> dict[str, Any]:
    tools = [tool("echo", permission=f"{plugin_id}:read", inputSchema=GIVEN, outputSchema=GIVEN)]
    return manifest(plugin_id, provides={"tools": tools})


@attrs.frozen
class Bench:
    """A console with the plugins `one` and `two`, and what was compiled for their calls."""

    host: Host
    compiled: list[weakref.ref[Validator]]

    def call(self, plugin_id: str) -> None:
        outcome = call(self.host, f"{plugin_id}__echo", {"n": 3})
        assert (outcome.is_error, outcome.structured) == (False, {"n": 3})


@pytest.fixture
def bench(tmp_path: Path, home: Home, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    compiled: list[weakref.ref[Validator]] = []
    real = validators.validator

    def counted(schema: Any) -> Validator:
        made = real(schema)
        compiled.append(weakref.ref(made))
        return made

    monkeypatch.setattr(validators, "validator", counted)
    with (
        plugin_folder(tmp_path, echo("one"), HEAD + CODE) as one,
        plugin_folder(tmp_path, echo("two"), HEAD + CODE) as two,
    ):
        host = console(home, builtin=(one, two))
        assert {status.state for status in host.activate()} == {"active"}
        yield Bench(host, compiled)
        host.close()


def test_both_schemas_of_a_tool_are_compiled_once_for_all_its_calls(bench: Bench) -> None:
    for _ in range(3):
        bench.call("one")
    assert len(bench.compiled) == 2


def test_a_plugin_that_comes_or_goes_has_nothing_of_the_others_compiled_anew(bench: Bench) -> None:
    bench.call("one")
    bench.call("two")
    bench.host.switch("two", False)
    bench.call("one")
    assert len(bench.compiled) == 4
    bench.host.switch("two", True)
    bench.call("one")
    assert len(bench.compiled) == 4
    bench.call("two")
    assert len(bench.compiled) == 6


def test_what_belongs_to_a_tool_that_is_gone_is_not_kept(bench: Bench) -> None:
    bench.call("one")
    bench.call("two")
    bench.host.switch("two", False)
    gc.collect()
    assert [made() is None for made in bench.compiled] == [False, False, True, True]


def test_a_schema_that_is_equal_to_another_in_python_alone_has_a_validator_of_its_own(bench: Bench) -> None:
    kept, one = Validators(bench.host.catalogue), {"type": "object", "properties": {"n": {"const": 1}}}
    true: dict[str, Any] = {"type": "object", "properties": {"n": {"const": True}}}
    assert one == true
    assert argument_errors(kept.of(one), {"n": True}) != []
    assert argument_errors(kept.of(true), {"n": True}) == []
