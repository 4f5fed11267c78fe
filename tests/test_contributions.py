"""The contribution kinds as objects: what names one, which hook brings it, what must agree with the manifest."""

from __future__ import annotations

import json
from collections import OrderedDict
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.manifest.samples import GOOD, manifest_of
from yazcore import hookspecs
from yazcore.contributions import (
    COMMANDS,
    CONTRIBUTION_KINDS,
    FORMATS,
    PROMPTS,
    RESOURCES,
    TOOLS,
    Command,
    ContributionKind,
    Format,
    Page,
    Prompt,
    Resource,
    Result,
    Tool,
    same_json,
)

MANIFEST = manifest_of(GOOD)
SCHEMA = GOOD["provides"]["tools"][0]["inputSchema"]


def test_the_five_kinds_have_the_keys_and_hooks_of_the_design() -> None:
    assert [(kind.key, kind.hook) for kind in CONTRIBUTION_KINDS] == [
        ("commands", "addCommand"), ("formats", "registerFormat"), ("tools", "provide_tools"),
        ("resources", "provide_resources"), ("prompts", "provide_prompts"),
    ]  # fmt: skip


def test_every_kind_has_a_hookspec_of_its_name() -> None:
    for kind in CONTRIBUTION_KINDS:
        assert hasattr(getattr(hookspecs, kind.hook), f"{hookspecs.PROJECT}_spec")


@pytest.mark.parametrize(
    ("kind", "registered", "name"),
    [
        (COMMANDS, Command("cite", print), "cite"),
        (FORMATS, Format("bib", print, print, print, print), "bib"),
        (TOOLS, Tool("search-library", print), "search-library"),
        (RESOURCES, Resource("yaz://zotero/libraries", print), "yaz://zotero/libraries"),
        (PROMPTS, Prompt("review", print), "review"),
    ],
)  # fmt: skip
def test_a_declaration_and_its_registration_have_one_name(kind: ContributionKind, registered: Any, name: str) -> None:
    assert kind.registered_name(registered) == name
    assert name in [kind.declared_name(one) for one in MANIFEST.provides.of(kind.key)]


def test_a_template_is_named_by_its_template() -> None:
    assert RESOURCES.declared_name(MANIFEST.provides.resources[0]) == "yaz://zotero/library/{library}/item/{key}"


def test_only_commands_run_as_write_by_their_kind() -> None:
    assert {kind.key: kind.posture for kind in CONTRIBUTION_KINDS} == {
        "commands": "write", "formats": "read", "tools": "read", "resources": "read", "prompts": "read",
    }  # fmt: skip


def test_the_fields_that_hold_code_are_fields_of_the_registration() -> None:
    for kind in CONTRIBUTION_KINDS:
        assert set(kind.handlers) <= set(attrs.fields_dict(kind.registration))


# --- what must agree


def fields(**registered: Any) -> list[str]:
    tool = Tool("search-library", print, **registered)
    return [field for field, _, _ in TOOLS.compare(MANIFEST.provides.tools[0], tool)]


def test_what_a_registration_leaves_out_agrees() -> None:
    assert fields() == []
    assert fields(input_schema=SCHEMA, output_schema={"type": "object"}, read_only_hint=True) == []


@pytest.mark.parametrize(
    ("registered", "field"),
    [
        ({"input_schema": {**SCHEMA, "title": "x"}}, "inputSchema"), ({"input_schema": {}}, "inputSchema"),
        ({"output_schema": {}}, "outputSchema"), ({"read_only_hint": False}, "readOnlyHint"),
    ],
)  # fmt: skip
def test_what_a_registration_says_otherwise_is_named_by_its_field(registered: dict[str, Any], field: str) -> None:
    assert fields(**registered) == [field]


def test_every_field_that_differs_is_named_with_both_values() -> None:
    tool = Tool("search-library", print, input_schema={}, read_only_hint=False)
    assert list(TOOLS.compare(MANIFEST.provides.tools[0], tool)) == [
        ("inputSchema", SCHEMA, {}), ("readOnlyHint", True, False)
    ]  # fmt: skip


def test_an_output_schema_that_was_not_declared_differs() -> None:
    tool = Tool("cite-item", print, output_schema={"type": "object"})
    assert list(TOOLS.compare(MANIFEST.provides.tools[1], tool)) == [("outputSchema", None, {"type": "object"})]


@pytest.mark.parametrize("kind", [COMMANDS, FORMATS, RESOURCES, PROMPTS], ids=lambda kind: kind.key)
def test_the_other_kinds_have_nothing_to_compare_but_the_name(kind: ContributionKind) -> None:
    assert list(kind.compare(object(), object())) == []


# --- equality as JSON has it

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "a", "b"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)


@given(VALUES, VALUES)
def test_two_values_are_the_same_where_their_json_text_is(left: Any, right: Any) -> None:
    assert same_json(left, right) == (json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True))


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        (1, 1.0, True), (True, 1, False), (0, False, False), ([1, 2], (1, 2), True), ([1, 2], [2, 1], False),
        ([1], [1, 1], False), (None, False, False), ({"a": True}, {"a": 1}, False), ("1", 1, False), ([], {}, False),
        (OrderedDict(b=1, a=2), {"a": 2, "b": 1}, True), (0.5, 0.5, True), (None, None, True),
    ],
)  # fmt: skip
def test_numbers_are_one_kind_and_truth_is_another(left: Any, right: Any, same: bool) -> None:
    assert same_json(left, right) is same
    assert same_json(right, left) is same


# --- what handlers return


def test_a_page_without_a_cursor_is_the_last_and_a_result_says_nothing_by_itself() -> None:
    assert Page([1]).next_cursor is None
    assert (Result().structured, Result().text, Result().links) == (None, None, ())
