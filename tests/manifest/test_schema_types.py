"""What is surely good is good by the library too: whatever the schema, whatever the value."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from yazcore.manifest.schema_types import surely_good
from yazcore.manifest.schemas import argument_errors, schema_faults, validator

ARGUMENTS = {
    "type": "object",
    "properties": {
        "text": {"type": "string", "minLength": 1, "maxLength": 5, "description": "words"},
        "limit": {"type": "integer", "minimum": 1, "maximum": 10, "default": 5},
        "share": {"type": "number", "minimum": 0, "exclusiveMaximum": 1},
        "kind": {"type": "string", "enum": ["a", "b"], "x-audit": True},
        "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 2},
        "a-b": {"type": ["boolean", "null"]},
        "names": {"type": "object", "additionalProperties": {"type": "integer"}, "maxProperties": 1},
        "any": {},
    },
    "required": ["text"],
    "additionalProperties": False,
}


def by_library(schema: Any, value: Any) -> list[str]:
    return argument_errors(attrs.evolve(validator(schema), surely_good=None), value)


@pytest.mark.parametrize(
    "value",
    [
        {"text": "four"},
        {"text": "ä😀", "limit": 10, "share": 0, "kind": "b", "tags": ["x", "y"], "a-b": None, "names": {"n": 1}},
        {"text": "t", "share": 0.5, "a-b": True, "names": {}, "tags": [], "any": [{"deep": [1]}]},
    ],
)
def test_good_arguments_are_surely_good(value: dict[str, Any]) -> None:
    good = surely_good(ARGUMENTS)
    assert good is not None
    assert good(value)
    assert by_library(ARGUMENTS, value) == []


@pytest.mark.parametrize(
    "value",
    [
        {}, [], None, "text", {"text": ""}, {"text": "123456"}, {"text": 1}, {"text": None}, {"text": "t", "other": 1},
        {"text": "t", "limit": 0}, {"text": "t", "limit": 11}, {"text": "t", "limit": True},
        {"text": "t", "limit": "1"},
        {"text": "t", "limit": 2.5}, {"text": "t", "share": 1}, {"text": "t", "share": 1.0}, {"text": "t", "share": -1},
        {"text": "t", "share": True}, {"text": "t", "kind": "c"}, {"text": "t", "kind": None},
        {"text": "t", "tags": ["x", "y", "z"]}, {"text": "t", "tags": [1]}, {"text": "t", "tags": "xy"},
        {"text": "t", "a-b": 0}, {"text": "t", "names": {"a": 1, "b": 2}}, {"text": "t", "names": {"a": "1"}},
        {"text": "t", "limit": None},
    ],
)  # fmt: skip
def test_bad_arguments_never_are(value: Any) -> None:
    good = surely_good(ARGUMENTS)
    assert good is not None
    assert not good(value)
    assert by_library(ARGUMENTS, value)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "pattern": "^a$"}, {"const": 1}, {"enum": [1, "a"]}, {"oneOf": [{"type": "string"}]},
        {"type": "array", "uniqueItems": True}, {"type": "array", "prefixItems": [{"type": "string"}]},
        {"type": "number", "multipleOf": 0.1}, {"type": "number", "maximum": 0.5}, {"type": "number", "maximum": 2**60},
        {"$ref": "#/$defs/a", "$defs": {"a": {"type": "string"}}}, {"not": {}}, {"type": "object", "required": ["a"]},
        {"type": "object", "properties": {"a": False}}, {"type": "string", "enum": ["a"], "maxLength": 3},
        {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": {"type": "string"}},
        {"type": "object", "properties": {"a": {"type": "string"}}, "maxProperties": 1},
        {"type": "object", "patternProperties": {"^x": {"type": "string"}}}, {"maxLength": 3}, {}, True, False,
    ],
)  # fmt: skip
def test_another_form_is_for_the_library_alone(schema: Any) -> None:
    assert surely_good(schema) is None


def test_what_it_is_not_sure_of_the_library_decides() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "additionalProperties": False}
    good = surely_good(schema)
    assert good is not None
    assert not good({"n": "1"})
    assert argument_errors(validator(schema), {"n": 5.0}) == []
    assert argument_errors(validator(schema), {"n": "1"}) == ["/n must be an integer, not a string"]


# --- whatever the schema, whatever the value --------------------------------------------------------------------------

BOUND = st.integers(-3, 3) | st.sampled_from([0.5, -1.5, 2**53, 2**53 + 1, 2**63, 2**64, -(2**70), 1e300])
SIZE = st.integers(0, 3)
NAMES = st.sampled_from(["a", "b", "a-b", "property_0", "ä", ""])
WORDS = st.sampled_from(["", "a", "b", "ä😀", "\ud800", "abcd"])


def keywords(**of: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=of)


FLAT = st.builds(
    lambda name, said: {"type": name, **said},
    st.sampled_from(["string", "integer", "number", "boolean", "null", "array", "object", ["string", "null"],
                     ["number", "integer"], ["integer", "boolean", "string"], ["null", "array", "object"]]),
    keywords(
        minLength=SIZE, maxLength=SIZE, minItems=SIZE, maxItems=SIZE, minProperties=SIZE, maxProperties=SIZE,
        minimum=BOUND, maximum=BOUND, exclusiveMinimum=BOUND, exclusiveMaximum=BOUND, format=st.just("date"),
        title=st.just("t"),
    ).map(lambda said: dict(list(said.items())[:2])),
)  # fmt: skip
LEAVES = FLAT | st.lists(WORDS.filter(str.isprintable), min_size=1, unique=True).map(lambda words: {"enum": words})


def nested(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    an_object = st.builds(
        lambda properties, most, others: {
            "type": "object", "properties": properties, "required": list(properties)[:most],
            **({} if others is None else {"additionalProperties": others}),
        },
        st.dictionaries(NAMES, inner, max_size=3), SIZE, st.sampled_from([None, True, False]),
    )  # fmt: skip
    a_map = inner.map(lambda one: {"type": "object", "additionalProperties": one})
    a_list = st.builds(lambda one, most: {"type": "array", "items": one, "maxItems": most}, inner, SIZE)
    return an_object | a_map | a_list


SCHEMAS = st.recursive(LEAVES, nested, max_leaves=6)
SCALARS = st.sampled_from(
    [None, True, False, 0, 1, -1, 3, 0.0, 1.0, 0.5, -1.5, 2**53, 2**53 + 1, 2**63, 2**64, -(2**70), 10**400, 1e300,
     float("nan"), float("inf")]
) | WORDS  # fmt: skip
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4), max_leaves=8
)


@settings(max_examples=150)
@given(SCHEMAS, st.data())
def test_what_is_surely_good_is_good(schema: Any, data: st.DataObject) -> None:
    if schema_faults(schema) or (good := surely_good(schema)) is None:
        return
    for _ in range(10):
        value = data.draw(fitting(schema) | VALUES)
        if good(value):
            assert by_library(schema, value) == [], (schema, value)


def fitting(schema: Any) -> st.SearchStrategy[Any]:
    """Values that may well be good."""
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if "properties" in schema:
        known = {name: fitting(inner) for name, inner in schema["properties"].items()}
        return st.fixed_dictionaries({}, optional=known)
    if isinstance(schema.get("additionalProperties"), dict):
        return st.dictionaries(NAMES, fitting(schema["additionalProperties"]), max_size=3)
    if "items" in schema:
        return st.lists(fitting(schema["items"]), max_size=3)
    return VALUES
