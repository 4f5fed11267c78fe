"""Whether a schema plainly has the form of JSON Schema (2020-12): a quick yes, before the meta-schema is asked.

The meta-schema takes milliseconds for a schema that holds nothing unusual. What is accepted here is valid; what is not
accepted may be valid too, and the meta-schema decides. A test holds the first half against the library.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

TYPES = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})
"""The types that JSON Schema knows."""


def is_plain_schema(schema: Any) -> bool:
    """Whether every keyword of the schema, and of the schemas in it, has a value of the form it must have.

    The schema must be bounded in depth. Keywords that are rare, or of which a mistake needs words, are not accepted.
    """
    if isinstance(schema, bool):
        return True
    if not isinstance(schema, dict):
        return False
    for keyword, value in schema.items():
        form = _FORMS.get(keyword)
        if form is None:
            if keyword.startswith("$") or keyword in _LEFT_TO_THE_META_SCHEMA:
                return False
        elif not form(value):
            return False
    return True


_LEFT_TO_THE_META_SCHEMA = frozenset({"contentSchema", "dependencies"})


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_truth(value: Any) -> bool:
    return isinstance(value, bool)


def _is_anything(value: Any) -> bool:
    return True


def _are_names(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_text, value)) and len(set(value)) == len(value)


def _is_type(value: Any) -> bool:
    if isinstance(value, str):
        return value in TYPES
    return _are_names(value) and bool(value) and TYPES.issuperset(value)


def _are_schemas(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(map(is_plain_schema, value))


def _are_named_schemas(value: Any) -> bool:
    return isinstance(value, dict) and all(map(is_plain_schema, value.values()))


def _are_dependencies(value: Any) -> bool:
    return isinstance(value, Mapping) and all(map(_are_names, value.values()))


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


_FORMS: Mapping[str, Callable[[Any], bool]] = {
    **dict.fromkeys(("title", "description", "$comment", "$ref", "$schema", "format"), _is_text),
    **dict.fromkeys(("pattern", "contentEncoding", "contentMediaType"), _is_text),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _is_number),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"), _is_count),
    **dict.fromkeys(("minContains", "maxContains"), _is_count),
    **dict.fromkeys(("uniqueItems", "readOnly", "writeOnly", "deprecated"), _is_truth),
    **dict.fromkeys(("default", "const"), _is_anything),
    **dict.fromkeys(("enum", "examples"), _is_list),
    **dict.fromkeys(("allOf", "anyOf", "oneOf", "prefixItems"), _are_schemas),
    **dict.fromkeys(
        ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas"), _are_named_schemas
    ),
    **dict.fromkeys(("items", "additionalProperties", "contains", "not", "propertyNames"), is_plain_schema),
    **dict.fromkeys(("if", "then", "else", "unevaluatedItems", "unevaluatedProperties"), is_plain_schema),
    "type": _is_type,
    "required": _are_names,
    "dependentRequired": _are_dependencies,
    "multipleOf": lambda value: _is_number(value) and value > 0,
}
