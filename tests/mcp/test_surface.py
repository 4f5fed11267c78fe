from __future__ import annotations

import base64
import json
import subprocess
import sys
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from yazcore.catalogue import ActivePrompt, ActiveResource, ActiveTool
from yazcore.declarations import (
    Effect,
    PromptArgument,
    PromptDeclaration,
    ResourceDeclaration,
    ToolDeclaration,
    Variable,
)
from yazcore.mcp.surface import (
    PAGE_ITEMS,
    BadCursor,
    cursor_after,
    hints,
    list_page,
    prompt_object,
    resource_object,
    template_object,
    tool_object,
)

READ = ToolDeclaration(
    name="search", description_key="d", posture="read", scope="global", permission="zotero:read",
    input_schema={"type": "object", "default": None},
)  # fmt: skip
WRITE = attrs.evolve(READ, posture="write")
TOOL = ActiveTool(plugin="zotero", exposed="zotero__search", declaration=READ, description="Search.", own=False)
META = {"yazcore/plugin": "zotero", "yazcore/permission": "zotero:read", "yazcore/scope": "global"}


def test_tool_object_says_what_was_declared() -> None:
    assert tool_object(TOOL) == {
        "name": "zotero__search",
        "description": "Search.",
        "inputSchema": {"type": "object", "default": None},
        "annotations": {"readOnlyHint": True},
        "_meta": META,
    }


def test_tool_object_shows_an_output_schema_only_where_one_is_declared() -> None:
    declared = attrs.evolve(TOOL, declaration=attrs.evolve(READ, output_schema={"type": "object"}))
    assert tool_object(declared)["outputSchema"] == {"type": "object"}
    assert "outputSchema" not in tool_object(TOOL)


@pytest.mark.parametrize(
    ("declaration", "expected"),
    [
        (READ, {"readOnlyHint": True}),
        (WRITE, {"readOnlyHint": False}),
        (
            attrs.evolve(READ, effect=Effect(idempotent=True, external=True)),
            {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": True},
        ),
        (
            attrs.evolve(WRITE, effect=Effect(destructive=True)),
            {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": False, "openWorldHint": False},
        ),
        (
            attrs.evolve(WRITE, effect=Effect(idempotent=True, external=True)),
            {"readOnlyHint": False, "destructiveHint": False, "idempotentHint": True, "openWorldHint": True},
        ),
    ],
)
def test_hints_come_from_posture_and_effect(declaration: ToolDeclaration, expected: dict[str, bool]) -> None:
    assert hints(declaration) == expected


def test_resource_and_template_objects() -> None:
    fixed = ResourceDeclaration(
        uri="yaz://zotero/all", name_key="n", description_key="d", scope="global", permission="zotero:read",
        mime_type="text/plain",
    )  # fmt: skip
    variables = (Variable(name="key", note="an item's key", values=("A", "B")),)
    template = attrs.evolve(
        fixed, uri=None, uri_template="yaz://zotero/{key}", mime_type=None, variables=variables
    )  # fmt: skip
    shown = {"name": "All", "description": "All of it.", "_meta": META}

    def active(declaration: ResourceDeclaration) -> ActiveResource:
        return ActiveResource(plugin="zotero", declaration=declaration, name="All", description="All of it.", own=False)

    assert resource_object(active(fixed)) == {"uri": "yaz://zotero/all", "mimeType": "text/plain", **shown}
    told = {"yazcore/variables": [{"name": "key", "note": "an item's key", "values": ["A", "B"]}]}
    assert template_object(active(template)) == {
        "uriTemplate": "yaz://zotero/{key}", **shown, "_meta": {**META, **told}
    }  # fmt: skip


def test_prompt_object_names_its_arguments() -> None:
    declaration = PromptDeclaration(
        name="greet", description_key="d", scope="global", permission="zotero:read",
        arguments=(
            PromptArgument(name="who", note="whom to greet", required=True), PromptArgument(name="how", note="-"),
        ),
    )  # fmt: skip
    prompt = ActivePrompt(
        plugin="zotero", exposed="zotero__greet", declaration=declaration, description="Greet.", own=False
    )
    assert prompt_object(prompt) == {
        "name": "zotero__greet",
        "description": "Greet.",
        "arguments": [
            {"name": "who", "description": "whom to greet", "required": True},
            {"name": "how", "description": "-", "required": False},
        ],
        "_meta": META,
    }


def entries(keys: Any) -> dict[str, dict[str, Any]]:
    return {key: {"name": key} for key in sorted(keys)}


def all_pages(listed: dict[str, dict[str, Any]]) -> list[tuple[dict[str, Any], ...]]:
    pages, cursor = [], None
    while True:
        page = list_page("tools", listed, cursor)
        pages.append(page.items)
        if page.next_cursor is None:
            return pages
        cursor = page.next_cursor


@given(st.sets(st.text(min_size=1, max_size=8), max_size=3 * PAGE_ITEMS + 1))
def test_pages_together_are_the_list(keys: set[str]) -> None:
    listed = entries(key.encode("utf-8", "replace").decode() for key in keys)
    pages = all_pages(listed)
    assert [item for page in pages for item in page] == list(listed.values())
    assert all(len(page) == PAGE_ITEMS for page in pages[:-1])


def test_each_page_begins_after_the_last_entry_of_the_page_before() -> None:
    listed = entries(f"t{n:03}" for n in range(550))
    pages = all_pages(listed)
    assert [len(page) for page in pages] == [250, 250, 50]
    assert [item["name"] for page in pages for item in page] == [f"t{n:03}" for n in range(550)]


def test_a_full_page_that_is_the_last_has_no_cursor() -> None:
    assert list_page("tools", entries(f"t{n:03}" for n in range(PAGE_ITEMS)), None).next_cursor is None


def test_a_cursor_survives_what_comes_and_goes_between_two_pages() -> None:
    listed = entries(f"t{n:03}" for n in range(2 * PAGE_ITEMS))
    first = list_page("tools", listed, None)
    gone, come = first.items[-1]["name"], "t1000"
    later = entries({*listed, come} - {gone})
    assert [item["name"] for item in list_page("tools", later, first.next_cursor).items] == [
        key for key in sorted(later) if key > gone
    ][:PAGE_ITEMS]


GOOD = cursor_after("tools", "t099")


@pytest.mark.parametrize(
    "cursor", ["", "abc", "t099", GOOD[:-1], GOOD + "=", "A" + GOOD[1:], GOOD.replace("=", ""), "ä", "\ud800", "YQ=="]
)
def test_a_cursor_that_was_never_given_is_refused(cursor: str) -> None:
    with pytest.raises(BadCursor):
        list_page("tools", entries(["t000"]), cursor)


def test_a_cursor_that_was_changed_is_refused() -> None:
    changed = base64.urlsafe_b64encode(base64.urlsafe_b64decode(GOOD)[:-1] + b"8").decode()
    with pytest.raises(BadCursor):
        list_page("tools", entries(["t000"]), changed)


def test_a_cursor_of_another_list_is_refused() -> None:
    with pytest.raises(BadCursor):
        list_page("prompts", entries(["t000"]), GOOD)


@given(st.text(max_size=60))
def test_a_text_at_random_is_no_cursor(text: str) -> None:
    with pytest.raises(BadCursor):
        list_page("tools", {}, text)


@given(st.text(max_size=60).filter(lambda key: key.isascii()))
def test_every_key_gives_a_cursor_that_is_taken(key: str) -> None:
    assert list_page("tools", {key + "a": {}}, cursor_after("tools", key)).items == ({},)


def test_shapes_load_no_sdk() -> None:
    code = (
        "import sys, json, yazcore, yazcore.mcp.surface, yazcore.mcp.results; "
        "print(json.dumps(sorted({'mcp', 'mcp_types', 'pydantic', 'starlette', 'uvicorn'} & set(sys.modules))))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == []
