from __future__ import annotations

from typing import Any

import pytest

from tests.hosts.console import CONTRACT, Panel, PanelDeclaration
from yazcore.contributions import Command, Tool
from yazcore.declarations import CommandDeclaration, ToolDeclaration
from yazcore.differences import WrongReturn, differences, registrations
from yazcore.manifest.model import Manifest, Provides

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer", "maximum": 1}}, "additionalProperties": False}


def tool(name: str, posture: Any = "read") -> ToolDeclaration:
    return ToolDeclaration(
        name=name, description_key="k", posture=posture, scope="global", permission="p:read", input_schema=SCHEMA
    )


def manifest(**declared: tuple[Any, ...]) -> Manifest:
    return Manifest(
        contract=3, id="p", name="P", version="1", min_app_version="1", author="A", description="D", module="p:P",
        provides=Provides(declared),
    )  # fmt: skip


def handler(context: Any, arguments: Any) -> None:
    return None


def found(document: Manifest, **registered: tuple[Any, ...]) -> list[tuple[str, str, str]]:
    return [(one.kind, one.name, one.change) for one in differences(document, CONTRACT, registered)]


def test_what_is_declared_and_registered_alike_has_no_difference() -> None:
    assert found(manifest(tools=(tool("a"),)), tools=(Tool("a", handler),)) == []


def test_both_directions_are_reported_at_once() -> None:
    assert found(
        manifest(tools=(tool("a"), tool("b")), commands=(CommandDeclaration(id="c", name_key="k"),)),
        tools=(Tool("b", handler), Tool("x", handler)),
        commands=(Command("d", handler),),
    ) == [
        ("commands", "c", "missing"), ("commands", "d", "undeclared"),
        ("tools", "a", "missing"), ("tools", "x", "undeclared"),
    ]  # fmt: skip


def test_the_sentences_name_both_lists_and_the_fix() -> None:
    missing, undeclared = differences(manifest(tools=(tool("a"),)), CONTRACT, {"tools": (Tool("x", handler),)})
    assert missing.message == "the manifest declares 'a', which provide_tools did not register; it registered x"
    assert missing.fix == "register 'a' in provide_tools, or take it out of provides.tools"
    assert undeclared.message == "provide_tools registered 'x', which the manifest does not declare; it declares a"
    assert undeclared.fix == "declare 'x' under provides.tools, or do not register it"


def test_a_name_registered_twice_is_a_difference() -> None:
    assert found(manifest(tools=(tool("a"),)), tools=(Tool("a", handler), Tool("a", handler))) == [
        ("tools", "a", "duplicate")
    ]


@pytest.mark.parametrize(
    ("posture", "hint", "differs"),
    [
        ("read", True, False), ("read", None, False), ("read", False, True),
        ("write", False, False), ("write", None, False), ("write", True, True),
        ("read", 1, True), ("read", "true", True),
    ],
)  # fmt: skip
def test_a_hint_that_contradicts_the_posture_is_a_difference(posture: str, hint: Any, differs: bool) -> None:
    changes = found(manifest(tools=(tool("a", posture),)), tools=(Tool("a", handler, read_only_hint=hint),))
    assert changes == ([("tools", "a", "changed")] if differs else [])


def test_a_schema_must_be_equal_as_json() -> None:
    same: dict[str, Any] = {
        "additionalProperties": False,
        "type": "object",
        "properties": {"n": {"maximum": 1.0, "type": "integer"}},
    }
    other = {**same, "additionalProperties": 0}
    assert found(manifest(tools=(tool("a"),)), tools=(Tool("a", handler, input_schema=same),)) == []
    (difference,) = differences(manifest(tools=(tool("a"),)), CONTRACT, {"tools": (Tool("a", handler, other),)})
    assert difference.message == "'a' was registered with another inputSchema than the manifest declares"
    assert difference.declared == SCHEMA
    assert difference.registered == other


def test_a_hosts_own_kind_is_compared_by_its_own_rule() -> None:
    declared = manifest(panels=(PanelDeclaration(id="load", name_key="k", width=2),))
    assert found(declared, panels=(Panel("load", handler, width=2),)) == []
    assert found(declared, panels=(Panel("load", handler, width=3),)) == [("panels", "load", "changed")]
    assert found(declared) == [("panels", "load", "missing")]


def test_what_hooks_returned_is_sorted_by_kind() -> None:
    one = Tool("a", handler)
    sorted_out = registrations(CONTRACT, {"provide_tools": [[one], None], "provide_panels": [[Panel("x", handler)]]})
    assert sorted_out["tools"] == (one,)
    assert [panel.id for panel in sorted_out["panels"]] == ["x"]
    assert sorted_out["commands"] == ()


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (["x"], "provide_tools returned a str; it must return a list"),
        ([[Command("c", handler)]], "provide_tools returned a list with a Command; it must hold Tool objects only"),
        ([[Tool("t", "no handler")]], "provide_tools returned Tool 't', whose handler cannot be called"),  # type: ignore[arg-type]
        ([[Tool("", handler)]], "provide_tools returned a Tool without a name"),
    ],
)
def test_a_hook_that_returns_something_else_is_named(returned: Any, message: str) -> None:
    with pytest.raises(WrongReturn) as wrong:
        registrations(CONTRACT, {"provide_tools": returned})
    assert str(wrong.value) == message
