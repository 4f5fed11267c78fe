from __future__ import annotations

from typing import Any

import pytest

from yazcore.manifest.schema_errors import kind_of, place
from yazcore.manifest.schemas import argument_errors, validator


@pytest.mark.parametrize(
    ("schema", "value", "sentence"),
    [
        ({"type": ["string", "null"]}, 5, "the value must be a string or null, not a number"),
        ({"const": {"a": "x" * 99}}, 1, f'the value must be {{"a": "{"x" * 52}…'),
        ({"enum": list(range(30))}, -1, f"the value must be one of {', '.join(map(str, range(20)))} or 10 others"),
        ({"exclusiveMinimum": 1}, 1, "the value must be more than 1"),
        ({"exclusiveMaximum": 1}, 1, "the value must be less than 1"),
        ({"multipleOf": 2}, 3, "the value must be a multiple of 2"),
        ({"minItems": 1}, [], "the value must have at least 1 entries, not 0"),
        ({"minProperties": 1}, {}, "the value must have at least 1 properties, not 0"),
        ({"maxProperties": 0}, {"a": 1}, "the value must have at most 0 properties, not 1"),
        ({"required": ["a", "b"]}, {"b": 1}, 'the value needs "a"'),
        ({"required": ["a", "b"]}, {}, 'the value needs "a", "b"'),
        ({"additionalProperties": False}, {"a": 1}, 'the value has the unknown property "a"; none is known'),
        (
            {"properties": {"a": {}}, "patternProperties": {"^x-": {}}, "additionalProperties": False}, {"b": 1},
            'the value has a property that is not allowed; known are "a" and names that match a pattern',
        ),
        ({"unevaluatedProperties": False}, {"a": 1}, "the value has a property that is not allowed there"),
        ({"prefixItems": [{}], "items": False}, [1, 2], "the value must have at most 1 entries, not 2"),
        ({"unevaluatedItems": False}, [1], "the value has an entry that is not allowed there"),
        ({"properties": {"a": False}}, {"a": 1}, "/a is not allowed"),
        ({"prefixItems": [{}, False]}, [1, 2], "/1 is not allowed"),
        (
            {"anyOf": [False, {"const": 2}]}, 1,
            "the value fits none of 2 forms; of the nearest: the value is not allowed",
        ),
        ({"not": {"type": "integer"}}, 1, "the value has a form that is excluded"),
        ({"contains": {"type": "string"}}, [1], "the value does not hold the entries it must hold"),
        ({"dependentRequired": {"a": ["b"]}}, {"a": 1}, 'the value has "a", and with it needs "b"'),
        (
            {"propertyNames": {"maxLength": 1}}, {"ab": 1},
            'the property name "ab" in the value must have at most 1 characters, not 2',
        ),
        (
            {"anyOf": [{"type": "string"}, {"type": "object", "required": ["key"]}]}, {},
            'the value fits none of 2 forms; of the nearest: the value needs "key"',
        ),
        (
            {"oneOf": [{"properties": {"a": {"minimum": 5}}}, {"type": "string"}]}, {"a": 1},
            "the value fits none of 2 forms; of the nearest: /a must be at least 5",
        ),
        ({"oneOf": [{}, {}]}, 1, "the value must fit exactly one of 2 forms, and fits several"),
        ({"if": {"type": "string"}, "then": {"minLength": 3}}, "a", "the value must have at least 3 characters, not 1"),
        ({"properties": {"a/b": {"items": {"type": "null"}}}}, {"a/b": [1]}, "/a~1b/0 must be null, not a number"),
    ],
)  # fmt: skip
def test_what_callers_read(schema: Any, value: Any, sentence: str) -> None:
    assert argument_errors(validator(schema), value) == [sentence]


def test_a_place_is_cut() -> None:
    assert place(()) == "the value"
    assert place(("a", 0)) == "/a/0"
    assert place(("x" * 500,)) == "/" + "x" * 119 + "…"


def test_kinds() -> None:
    values: list[Any] = [True, 1, 1.5, None, "a", [], {}]
    assert [kind_of(value) for value in values] == [
        "true or false", "a number", "a number", "null", "a string", "an array", "an object",
    ]  # fmt: skip
