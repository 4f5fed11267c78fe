from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from yazcore.manifest.places import pointer
from yazcore.manifest.schemas import LONGEST_PROPERTY, MOST_ERRORS, argument_errors, schema_faults, validator
from yazcore.violations import YazError


def errors(schema: Any, value: Any) -> list[str]:
    return argument_errors(validator(schema), value)


def test_a_good_schema_has_no_faults() -> None:
    assert schema_faults({"type": "object", "properties": {"a": {"type": "string", "format": "date"}}}) == ()


def test_the_dialects_own_rules_are_reported_with_their_places() -> None:
    schema = {"properties": {"a": {"type": "text"}, "b": {"minLength": -1}, "c": 5}, "required": "a"}
    assert [(one.code, pointer(one.path), one.message) for one in schema_faults(schema)] == [
        (
            "schema-invalid", "/properties/a/type",
            ("this is not JSON Schema: /properties/a/type fits none of 2 forms; of the nearest: /properties/a/type "
            'must be one of "array", "boolean", "integer", "null", "number", "object", "string"'),
        ),
        (
            "schema-invalid", "/properties/b/minLength",
            "this is not JSON Schema: /properties/b/minLength must be at least 0",
        ),
        (
            "schema-invalid", "/properties/c",
            "this is not JSON Schema: /properties/c must be an object or true or false, not a number",
        ),
        ("schema-invalid", "/required", "this is not JSON Schema: /required must be an array, not a string"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("schema", "code", "text"),
    [
        (
            {"properties": {"a": {"$ref": "https://example.org/x"}}}, "schema-ref",
            '"https://example.org/x" is no schema inside this one at /properties/a/$ref',
        ),
        ({"type": 5}, "schema-invalid", "this is not JSON Schema: /type fits none of 2 forms"),
    ],
)  # fmt: skip
def test_a_schema_that_may_not_be_used_makes_no_validator(schema: Any, code: str, text: str) -> None:
    with pytest.raises(YazError) as caught:
        validator(schema)
    assert caught.value.code == code
    assert caught.value.message.startswith(text)
    assert caught.value.fix


def test_nothing_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    import socket

    def refuse(*arguments: Any, **more: Any) -> None:
        pytest.fail("a schema opened a connection")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    with pytest.raises(YazError):
        validator({"$ref": "http://127.0.0.1:9/schema.json"})
    assert errors({"$id": "http://127.0.0.1:9/", "$ref": "#/$defs/a", "$defs": {"a": {"type": "string"}}}, 5) != []


# -- values ----------------------------------------------------------------------------------------------------------

SCHEMA = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "minLength": 2, "maxLength": 5},
        "limit": {"type": "integer", "minimum": 1, "maximum": 50},
        "sort": {"enum": ["title", "year"]},
        "keys": {
            "type": "array",
            "items": {"type": "string", "pattern": "^[A-Z]{4}$"},
            "maxItems": 2,
            "uniqueItems": True,
        },
    },
    "required": ["query"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    "value", [{"query": "abc"}, {"query": "abc", "limit": 50, "sort": "year", "keys": ["ABCD", "EFGH"]}]
)
def test_good_values(value: Any) -> None:
    assert errors(SCHEMA, value) == []


@pytest.mark.parametrize(
    ("value", "sentences"),
    [
        ({}, ['the value needs "query"']),
        ({"query": 5}, ["/query must be a string, not a number"]),
        ({"query": "a"}, ["/query must have at least 2 characters, not 1"]),
        ({"query": "abcdef"}, ["/query must have at most 5 characters, not 6"]),
        ({"query": "abc", "limit": True}, ["/limit must be an integer, not true or false"]),
        ({"query": "abc", "limit": 51}, ["/limit must be at most 50"]),
        ({"query": "abc", "sort": "name"}, ['/sort must be one of "title", "year"']),
        ({"query": "abc", "keys": ["abcd"]}, ["/keys/0 must match the pattern ^[A-Z]{4}$"]),
        ({"query": "abc", "keys": ["ABCD\n"]}, ["/keys/0 must match the pattern ^[A-Z]{4}$"]),
        ({"query": "abc", "keys": ["ABCD", "ABCD"]}, ["/keys must not hold the same entry twice"]),
        ({"query": "abc", "keys": ["ABCD", "EFGH", "IJKL"]}, ["/keys must have at most 2 entries, not 3"]),
        ({"query": "abc", "qery": 1}, ['the value has the unknown property "qery"; did you mean "query"?']),
        ({"query": "abc", "x1": 1, "x2": 1}, [
            'the value has the unknown properties "x1", "x2"; known are "query", "limit", "sort", "keys"',
        ]),
        ([], ["the value must be an object, not an array"]),
        ({"limit": 0, "query": None}, ["/limit must be at least 1", "/query must be a string, not null"]),
    ],
)  # fmt: skip
def test_each_sentence_names_the_field_and_what_is_allowed(value: Any, sentences: list[str]) -> None:
    assert errors(SCHEMA, value) == sentences


def test_a_schema_says_whether_headers_repeat_its_properties() -> None:
    region = {"type": "string", "x-mcp-header": "Region"}
    named = {"type": "object", "properties": {"a": {"type": "object", "properties": {"b": region}}}}
    assert validator(named).names_headers
    assert not validator({"type": "object", "properties": {"a": {"type": "string"}}}).names_headers


def test_values_are_never_repeated() -> None:
    secret = "s3cret" * 1000
    found = errors({"additionalProperties": {"enum": ["a"]}, "maxProperties": 1}, {secret[:500]: secret, "b": secret})
    assert found
    assert all(len(one) < 400 and secret[:200] not in one for one in found)


def test_only_the_first_errors_are_told() -> None:
    found = errors({"items": {"type": "string"}}, [1] * 50_000)
    assert len(found) == MOST_ERRORS + 1
    assert found[0] == "/0 must be a string, not a number"
    assert found[-1] == "and 90 more"


def test_one_is_one_point_nought_and_not_true() -> None:
    schema = {"uniqueItems": True}
    assert errors(schema, [1, True, 0, False, "1", [1], [True], {"a": 1}, {"a": True}]) == []
    assert errors(schema, [1, 1.0]) == errors(schema, [{"a": [1], "b": 2}, {"b": 2, "a": [1.0]}]) != []


def test_many_entries_are_compared_in_one_pass() -> None:
    assert errors({"uniqueItems": True}, [{"n": n} for n in range(20_000)]) == []


def test_a_long_text_is_not_matched() -> None:
    assert errors({"pattern": "^a*$"}, "a" * 20_000) == [
        "the value must have at most 16384 characters, as its pattern is not matched on more"
    ]


def test_a_long_name_is_not_looked_at() -> None:
    value = {"a": [{"x" * (LONGEST_PROPERTY + 1): 1}]}
    assert errors({}, value) == [f"the value has a property with a name of more than {LONGEST_PROPERTY} characters"]


def test_a_value_that_nests_endlessly_is_refused() -> None:
    value: Any = []
    for _ in range(20_000):
        value = [value]
    assert errors({"items": {"$ref": "#"}}, value) == ["the value is nested too deeply to be checked"]


def test_a_number_that_no_computer_divides_is_refused() -> None:
    assert errors({"multipleOf": 0.1}, 10**400) == ["the value holds a number that is too large to be checked"]


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)
KEYWORDS = st.sampled_from(
    ["type", "properties", "required", "items", "anyOf", "allOf", "oneOf", "not", "enum", "const", "minimum", "pattern",
     "additionalProperties", "$ref", "$defs", "uniqueItems", "if", "then", "contains", "minContains", "prefixItems",
     "propertyNames", "dependentRequired", "unevaluatedProperties", "multipleOf", "maxLength", "$id", "$anchor"]
)  # fmt: skip
SCHEMAS = st.recursive(
    st.booleans() | st.fixed_dictionaries({"type": st.sampled_from(["string", "integer", "object", "array"])}) | PLAIN,
    lambda inner: st.dictionaries(KEYWORDS, inner | st.lists(inner, max_size=2) | st.just("#"), max_size=4),
    max_leaves=10,
)


@settings(max_examples=200)
@given(schema=SCHEMAS, value=PLAIN)
def test_no_schema_and_no_value_raises(schema: Any, value: Any) -> None:
    if schema_faults(schema):
        with pytest.raises(YazError):
            validator(schema)
    else:
        assert all(isinstance(one, str) and one for one in argument_errors(validator(schema), value))
