from __future__ import annotations

from typing import Any

import pytest

from yazcore.manifest.places import pointer
from yazcore.manifest.schema_bounds import DEEPEST, DIALECT, MOST_NODES, bound_faults


def faults(schema: Any) -> list[tuple[str, str]]:
    return [(one.code, pointer(one.path)) for one in bound_faults(schema)]


def nested(depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {}
    for _ in range(depth - 1):
        schema = {"not": schema}
    return schema


def test_the_largest_schemas_that_may_be() -> None:
    assert faults(nested(DEEPEST)) == []
    assert faults({"enum": list(range(MOST_NODES - 2))}) == []
    assert faults({"title": "x" * (64 * 1024 - len('{"title":""}'))}) == []


@pytest.mark.parametrize(
    ("schema", "code"),
    [
        (nested(DEEPEST + 1), "schema-too-deep"),
        ({"default": [[[nested(DEEPEST - 3)]]]}, "schema-too-deep"),
        ({"enum": list(range(MOST_NODES - 1))}, "schema-too-large"),
        ({"title": "x" * (64 * 1024)}, "schema-too-large"),
        (True, "schema-invalid"),
        ([], "schema-invalid"),
    ],
)
def test_what_is_too_large_or_no_schema(schema: Any, code: str) -> None:
    assert faults(schema) == [(code, "")]


# -- references ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#/$defs/a", "$defs": {"a": {}}},
        {"properties": {"a": {"$ref": "#"}}},
        {"$ref": "#/$defs/a~1b~0c%20d", "$defs": {"a/b~c d": {}}},
        {"allOf": [{}, {"$ref": "#/allOf/0"}]},
        {"$ref": "#here", "$defs": {"a": {"$anchor": "here"}}},
        {"$id": "https://example.org/a", "$ref": "#/$defs/a", "$defs": {"a": {}}},
        {"$schema": DIALECT},
        {"enum": [{"$ref": "https://example.org"}], "const": {"$id": "x"}, "default": {"$dynamicRef": "x"}},
        {"properties": {"$ref": {"type": "string"}, "$id": {}, "pattern": {"type": "string"}}},
    ],
)
def test_references_into_the_schema_itself(schema: Any) -> None:
    assert faults(schema) == []


@pytest.mark.parametrize(
    "reference",
    [
        "https://example.org/a",
        "other.json",
        "file:///etc/passwd",
        "#/$defs/b",
        "#nowhere",
        "#/properties",
        "#/enum/0",
        "",
        5,
        "//x#/a",
    ],
)
def test_references_to_anything_else(reference: Any) -> None:
    schema = {"$defs": {"a": {}}, "enum": [{}], "properties": {"x": {"$ref": reference}}}
    assert faults(schema) == [("schema-ref", "/properties/x/$ref")]


@pytest.mark.parametrize(
    ("schema", "found"),
    [
        ({"properties": {"a": {"$id": "b"}}}, ("schema-id", "/properties/a/$id")),
        ({"$schema": "http://json-schema.org/draft-07/schema#"}, ("schema-dialect", "/$schema")),
        ({"items": {"$schema": DIALECT}}, ("schema-dialect", "/items/$schema")),
        ({"$dynamicRef": "#"}, ("schema-ref", "/$dynamicRef")),
        ({"items": {"pattern": "(a+)+"}}, ("schema-pattern", "/items/pattern")),
        ({"patternProperties": {"(?=a)": {}}}, ("schema-pattern", "/patternProperties")),
    ],
)
def test_keywords_that_may_not_be_used(schema: Any, found: tuple[str, str]) -> None:
    assert faults(schema) == [found]


def test_a_reference_that_is_refused_says_why() -> None:
    (fault,) = bound_faults({"$ref": "https://example.org/a"})
    assert f"{fault.message}. {fault.fix}" == (
        '"https://example.org/a" is no schema inside this one. '
        'point at a schema in this one, as in "#/$defs/item"; nothing is ever fetched'
    )


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"allOf": [{"$ref": "#"}]},
        {"$ref": "#/$defs/a", "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/b"}]}, "b": {"not": {"$ref": "#/$defs/a"}}}},
        {"$defs": {"a": {"if": {"$ref": "#/$defs/a"}}}},
        {"dependentSchemas": {"x": {"$ref": "#"}}},
    ],
)
def test_a_circle_that_consumes_nothing_is_refused(schema: Any) -> None:
    assert [code for code, _ in faults(schema)] == ["schema-ref-cycle"]


# -- how much work ---------------------------------------------------------------------------------------------------

ANY_JSON = {
    "anyOf": [
        {"type": ["string", "number", "boolean", "null"]},
        {"type": "array", "items": {"$ref": "#"}},
        {"type": "object", "additionalProperties": {"$ref": "#"}},
    ]
}
TREE = {"properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}, "value": {"type": "integer"}}}
KINDS_OF_NODE = {
    "oneOf": [
        {"properties": {"kind": {"const": "not"}, "inner": {"$ref": "#"}}},
        {"properties": {"kind": {"const": "pair"}, "first": {"$ref": "#"}, "second": {"$ref": "#"}}},
    ]
}
MAP = {"properties": {"self": {"$ref": "#"}}, "additionalProperties": {"$ref": "#"}}


@pytest.mark.parametrize("schema", [ANY_JSON, TREE, KINDS_OF_NODE, MAP], ids=["any", "tree", "kinds", "map"])
def test_recursion_that_goes_one_way_is_allowed(schema: Any) -> None:
    assert faults(schema) == []


def test_what_agents_read_of_a_schema_can_be_seen() -> None:
    schema = {
        "title": "a\x1b[2J",
        "description": "two\nlines, one \u202e turned",
        "properties": {"a\u202eb": {"description": "\x07"}, "good": {"title": "two\nlines", "enum": ["\t", "\0"]}},
    }
    assert faults(schema) == [
        ("schema-unprintable", "/title"),
        ("schema-unprintable", "/description"),
        ("schema-unprintable", r"/properties/a\u202eb"),
        ("schema-unprintable", r"/properties/a\u202eb/description"),
        ("schema-unprintable", "/properties/good/enum/1"),
    ]
    (fault,) = bound_faults({"title": "\x1b"})
    assert (fault.message, fault.fix) == (
        "the title holds control characters, or ones that reorder text", "remove them: nobody can see them",
    )  # fmt: skip


def chain(length: int, step: Any) -> dict[str, Any]:
    """Definitions that each apply the next one, as `step` says."""
    return {
        "$ref": "#/$defs/d0",
        "$defs": {f"d{n}": step({"$ref": f"#/$defs/d{n + 1}"}) for n in range(length)} | {f"d{length}": {}},
    }


@pytest.mark.parametrize(
    "schema",
    [
        chain(20, lambda ref: {"anyOf": [ref, ref]}),
        chain(20, lambda ref: {"allOf": [{"not": ref}, {"if": ref}]}),
        chain(20, lambda ref: {"anyOf": [{"items": ref}, {"items": ref}]}),
        chain(20, lambda ref: {"items": ref, "contains": ref}),
        chain(20, lambda ref: {"anyOf": [{"properties": {"a": ref}}, {"additionalProperties": ref}]}),
        chain(40, lambda ref: {"allOf": [ref], "unevaluatedProperties": False}),
        {"anyOf": [{"items": {"$ref": "#"}}, {"items": {"$ref": "#"}}]},
        {"anyOf": [{"properties": {"a": {"$ref": "#"}}}, {"properties": {"a": {"$ref": "#"}, "b": {}}}]},
        {"prefixItems": [{"$ref": "#"}], "contains": {"$ref": "#"}},
        {"patternProperties": {"^a": {"$ref": "#"}, "^b": {"$ref": "#"}}},
        {"anyOf": [{}] * 1024},
    ],
)
def test_work_that_multiplies_is_refused(schema: Any) -> None:
    assert [code for code, _ in faults(schema)] == ["schema-fan-out"]


@pytest.mark.parametrize(
    "schema",
    [
        {"anyOf": [{}] * 1000},
        {"properties": {f"p{n}": {"$ref": "#/$defs/a"} for n in range(300)}, "$defs": {"a": {"anyOf": [{}] * 100}}},
        chain(500, lambda ref: {"items": ref}),
        chain(100, lambda ref: {"allOf": [ref]}),
    ],
    ids=["wide", "many properties", "deep values", "long chain"],
)
def test_work_that_only_adds_up_is_allowed(schema: Any) -> None:
    assert faults(schema) == []


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": 5}, {"allOf": {}}, {"$defs": []}, {"prefixItems": 1}, {"items": [1]}, {"anyOf": [5]},
        {"pattern": 1}, {"$anchor": []}, {"not": None},
    ],
)  # fmt: skip
def test_keywords_of_another_form_are_left_to_the_dialects_own_rules(schema: Any) -> None:
    assert faults(schema) == []
