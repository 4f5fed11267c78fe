"""A type whose every value is good by a schema, for the forms that most schemas have.

msgspec compiles such a type and looks at a value in a microsecond, where jsonschema needs twenty. It is asked only
whether a value is surely good: what it refuses, and every schema of another form, is for jsonschema, which alone finds
the words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

_SAY_NOTHING = frozenset({
    "title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "format", "$comment",
    "$schema",
})  # fmt: skip
"""Keywords that no value breaks. A `format` is a note in this dialect."""

_BOUNDS = {
    "minLength": "min_length", "maxLength": "max_length", "minItems": "min_length", "maxItems": "max_length",
    "minProperties": "min_length", "maxProperties": "max_length", "minimum": "ge", "maximum": "le",
    "exclusiveMinimum": "gt", "exclusiveMaximum": "lt",
}  # fmt: skip
_OWN = {
    "string": frozenset({"minLength", "maxLength"}),
    "integer": frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}),
    "number": frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}),
    "boolean": frozenset[str](),
    "null": frozenset[str](),
    "array": frozenset({"minItems", "maxItems", "items"}),
    "object": frozenset({"minProperties", "maxProperties", "properties", "required", "additionalProperties"}),
}
_LARGEST = 2**53
"""Up to here a number with a fraction and one without are compared exactly."""


class _Other(Exception):
    """The schema has a form for which there is no such type."""


def surely_good(schema: Any) -> Callable[[Any], bool] | None:
    """Says of a JSON value whether it is surely good by a usable schema; None where the schema has another form.

    False says nothing: the value may be good or not.
    """
    import msgspec

    try:
        made = _type(schema)
        if made is Any:
            return None
        msgspec.json.Decoder(made)  # says now what it cannot compile
    except (_Other, TypeError, ValueError, OverflowError):
        return None
    convert = msgspec.convert

    def good(value: Any) -> bool:
        try:
            convert(value, made)
        except Exception:  # noqa: BLE001 - whatever it cannot look at (a lone surrogate) is not surely good
            return False
        return True

    return good


def _type(schema: Any) -> Any:
    if schema is True:
        return Any
    if not isinstance(schema, Mapping):
        raise _Other
    said = {key: value for key, value in schema.items() if key not in _SAY_NOTHING and not key.startswith("x-")}
    if not said:
        return Any
    names = said.pop("type", "string" if "enum" in said else None)
    if "enum" in said:
        return _one_of(said, names)
    names = [names] if isinstance(names, str) else names
    if not isinstance(names, (list, tuple)) or said.keys() - frozenset().union(*(_OWN[name] for name in names)):
        raise _Other
    made: Any = None
    for number, name in enumerate(names):
        one = _of_kind(name, {key: said[key] for key in said.keys() & _OWN[name]})
        made = one if number == 0 else made | one
    return made


def _one_of(said: Mapping[str, Any], names: Any) -> Any:
    values = said["enum"]
    if names != "string" or len(said) > 1 or not values or not all(isinstance(value, str) for value in values):
        raise _Other
    return Literal[tuple(values)]


def _of_kind(name: str, said: dict[str, Any]) -> Any:
    if name == "object":
        return _object(said)
    if name == "array":
        return _bounded(list[_type(said.pop("items", True))], said)  # type: ignore[misc]
    if name == "number":
        if any(abs(bound) > _LARGEST or bound != int(bound) for bound in said.values()):
            raise _Other
        whole = {key: int(bound) for key, bound in said.items()}
        return _bounded(int, whole) | _bounded(float, said)
    return _bounded({"string": str, "integer": int, "boolean": bool, "null": None}[name], said)


def _object(said: dict[str, Any]) -> Any:
    import msgspec

    properties, required = said.pop("properties", {}), said.pop("required", [])
    others = said.pop("additionalProperties", True)
    if not properties and not required and others is not False:
        return _bounded(dict[str, _type(others)], said)  # type: ignore[misc]
    if said or others not in (True, False) or not set(required) <= properties.keys():
        raise _Other
    fields: list[Any] = []
    names: dict[str, str] = {}
    defaults_last = sorted(properties, key=lambda name: name not in required)
    for number, name in enumerate(defaults_last):
        field = f"property_{number}"
        names[field] = name
        made = _type(properties[name])
        fields.append((field, made) if name in required else (field, made, None))
    return msgspec.defstruct("Object", fields, rename=names, forbid_unknown_fields=others is False)


def _bounded(made: Any, said: Mapping[str, Any]) -> Any:
    import msgspec

    if not said:
        return made
    return Annotated[made, msgspec.Meta(**{_BOUNDS[key]: bound for key, bound in said.items()})]
