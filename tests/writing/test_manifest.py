"""The manifests of this room: what agents and people read of yaz's own tools."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import yazcore
from yazcore.catalogue import ActiveTool
from yazcore.declarations import ToolDeclaration
from yazcore.manifest.checking import check
from yazcore.manifest.messages import Messages
from yazcore.manifest.reading import read
from yazcore.manifest.schemas import argument_errors, validator
from yazcore.mcp.help import help_for
from yazcore.mcp.surface import hints
from yazcore.outcomes import encode
from yazcore.writing.contract import FOLDER, SHIPPED, YAZ

FOLDERS = [FOLDER, *SHIPPED]
OWN: dict[str, Any] = json.loads((FOLDER / "manifest.json").read_text())
TOOLS: dict[str, dict[str, Any]] = {tool["name"]: tool for tool in OWN["provides"]["tools"]}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_manifest_breaks_no_rule(folder: Path) -> None:
    reading = read((folder / "manifest.json").read_bytes(), YAZ, own=True)
    assert reading.violations == ()
    assert reading.manifest is not None
    assert check(reading.manifest, folder, YAZ) == ()


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_what_ships_has_the_version_it_ships_with(folder: Path) -> None:
    assert json.loads((folder / "manifest.json").read_text())["version"] == yazcore.__version__


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_text_is_there_in_german_too(folder: Path) -> None:
    messages = Messages(folder / "locales")
    assert messages.keys("de") == messages.keys("en-US")


def test_every_tool_says_what_its_effect_is() -> None:
    """S-38 of help, and of whatever else reads: nothing is lost, twice is as once, nothing leaves the machine."""
    quiet = {"destructive": False, "idempotent": True, "external": False}
    assert {name for name, tool in TOOLS.items() if tool["effect"] == quiet} == {
        "compile", "help", "list_diagnostics", "list_projects", "open_project", "read_document", "read_outline"
    }  # fmt: skip
    manifest = read((FOLDER / "manifest.json").read_bytes(), YAZ, own=True).manifest
    assert manifest is not None
    declared = {tool.name: tool for tool in manifest.provides.tools}
    assert hints(declared["help"]) == {
        "readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False
    }  # fmt: skip


def test_the_index_of_a_thousand_tools_with_the_longest_names_fits() -> None:
    declared = ToolDeclaration(
        name="x", description_key="x", posture="read", scope="global", permission="demo:read", input_schema={}
    )
    tools = [
        ActiveTool(plugin="demo", exposed=f"demo__{n:042}", declaration=declared, description="A" * 300, own=False)
        for n in range(1000)
    ]
    index, declared_help = help_for(tools, None), TOOLS["help"]
    assert len(index["tools"]["read"]) == 1000
    assert argument_errors(validator(declared_help["outputSchema"]), index) == []
    assert len(encode(index)) <= declared_help["maxResult"]


def test_the_tools_are_those_of_the_design() -> None:
    assert {name: (tool["posture"], tool["scope"], tool["permission"]) for name, tool in TOOLS.items()} == {
        "list_projects": ("read", "global", "yaz:look"),
        "help": ("read", "global", "yaz:look"),
        "open_project": ("read", "global", "yaz:open"),
        "read_outline": ("read", "project", "yaz:read"),
        "list_diagnostics": ("read", "project", "yaz:read"),
        "read_document": ("read", "project", "yaz:read"),
        "compile": ("write", "project", "yaz:compile"),
        "create_document": ("write", "project", "yaz:edit"),
        "edit_document": ("write", "project", "yaz:edit"),
    }


def test_compiling_has_ninety_seconds() -> None:
    assert TOOLS["compile"]["deadlineSeconds"] == 90


def schemas(value: Any, pointer: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every schema inside a schema, with where it stands."""
    if isinstance(value, dict):
        if "type" in value and not isinstance(value["type"], dict):
            yield pointer, value
        for key, inner in value.items():
            yield from schemas(inner, f"{pointer}/{key}")


EVERY_SCHEMA = [
    one
    for name, tool in TOOLS.items()
    for which in ("inputSchema", "outputSchema")
    for one in schemas(tool[which], f"{name}/{which}")
]


def kinds(schema: dict[str, Any]) -> set[str]:
    return {schema["type"]} if isinstance(schema["type"], str) else set(schema["type"])


# What `help` says of a tool is the host's, in its own shape.
HELP = "help/outputSchema/properties/tool"


@pytest.mark.parametrize(("pointer", "schema"), EVERY_SCHEMA, ids=[pointer for pointer, _ in EVERY_SCHEMA])
def test_every_schema_is_closed_and_bounded(pointer: str, schema: dict[str, Any]) -> None:
    if "object" in kinds(schema) and not pointer.startswith(HELP):
        assert schema["additionalProperties"] is False
    if "array" in kinds(schema):
        assert "maxItems" in schema
    if "string" in kinds(schema):
        assert {"maxLength", "enum", "pattern"} & set(schema)
    if "integer" in kinds(schema):
        assert "minimum" in schema
    if "integer" in kinds(schema) and "/inputSchema/" in pointer:
        assert "maximum" in schema


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_every_argument_is_described(name: str) -> None:
    for argument, schema in TOOLS[name]["inputSchema"]["properties"].items():
        assert schema["description"], argument


@pytest.mark.parametrize("locale", ["en-US", "de"])
@pytest.mark.parametrize("name", sorted(TOOLS))
def test_a_description_is_short_and_says_what_to_do_next(name: str, locale: str) -> None:
    text = Messages(FOLDER / "locales", locale).text(TOOLS[name]["descriptionKey"])
    assert 80 < len(text) < 320
    assert "\n" not in text
    # S-22: what a description costs, in tokens as they are guessed there.
    assert len(json.dumps(text)) / 4 <= 190


@pytest.mark.parametrize(
    ("name", "neighbour"),
    [
        ("list_projects", "open_project"),
        ("open_project", "list_projects"),
        ("read_outline", "read_document"),
        ("read_document", "read_outline"),
        ("read_document", "edit_document"),
        ("list_diagnostics", "compile"),
        ("compile", "list_diagnostics"),
        ("create_document", "edit_document"),
        ("edit_document", "read_document"),
    ],
)
def test_neighbours_are_told_apart_by_name(name: str, neighbour: str) -> None:
    for locale in ("en-US", "de"):
        assert neighbour in Messages(FOLDER / "locales", locale).text(TOOLS[name]["descriptionKey"])
