"""The quick yes to a schema's form, held against the library's own meta-schema."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from yazcore.manifest.schema_form import _FORMS, is_plain_schema

SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 3), st.floats(-2, 2), st.sampled_from(["", "string", "object", "a", "^a"])
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from("ab"), inner)),
    max_leaves=4,
)  # fmt: skip
KEYWORDS = st.sampled_from(
    [*_FORMS, "$id", "$anchor", "$dynamicRef", "$vocabulary", "dependencies", "x-other", "contentSchema"]
)
SCHEMAS = st.recursive(
    st.one_of(st.booleans(), st.dictionaries(KEYWORDS, VALUES, max_size=3)),
    lambda inner: st.dictionaries(
        KEYWORDS, st.one_of(VALUES, inner, st.lists(inner, max_size=2), st.dictionaries(st.sampled_from("ab"), inner)),
        max_size=3,
    ),
    max_leaves=8,
)  # fmt: skip


@given(SCHEMAS)
def test_what_is_accepted_is_valid(schema: Any) -> None:
    if is_plain_schema(schema):
        assert Draft202012Validator(Draft202012Validator.META_SCHEMA).is_valid(schema)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"a": {"type": ["string", "null"], "maxLength": 3}}, "required": ["a"]},
        {"anyOf": [{"$ref": "#/$defs/a"}, True], "$defs": {"a": {"enum": []}}, "patternProperties": {"^a": False}},
        {"type": "array", "items": {"type": "number", "exclusiveMinimum": 0.5}, "x-header": {"anything": [1]}},
    ],
)
def test_what_authors_write_is_accepted(schema: Any) -> None:
    assert is_plain_schema(schema)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "text"}, {"type": []}, {"type": ["string", "string"]}, {"required": ["a", "a"]}, {"minLength": -1},
        {"minLength": True}, {"properties": []}, {"items": [{}]}, {"anyOf": []}, {"enum": "a"}, {"multipleOf": 0},
        {"properties": {"a": {"properties": {"b": 3}}}}, {"pattern": 3}, 3, None,
    ],
)  # fmt: skip
def test_what_is_wrong_is_left_to_the_library(schema: Any) -> None:
    assert not is_plain_schema(schema)
