"""What JSON Schema finds wrong with a value, in sentences for whoever sent it, often a model (design 7; G45).

A sentence names the place as a JSON pointer and says what is allowed there. It never repeats the value.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

from yazcore.manifest.patterns import compiled
from yazcore.manifest.places import pointer
from yazcore.manifest.words import did_you_mean, escaped, listed, quoted

_LONGEST_SHOWN = 60
_LONGEST_PLACE = 120
_LONGEST_PATTERN = 200
_MOST_SHOWN = 20
_MOST_NAMES = 5

_TYPES = {
    "string": "a string", "integer": "an integer", "number": "a number", "boolean": "true or false",
    "object": "an object", "array": "an array", "null": "null",
}  # fmt: skip


def sentence(error: Any) -> str:
    """One error of the library, `jsonschema.ValidationError`, as a sentence without a full stop."""
    where = place(error.absolute_path)
    if "propertyNames" in error.schema_path:
        where = f"the property name {quoted(str(error.instance))} in {where}"
    if error.validator is None:  # the schema `false`
        return f"{where} is not allowed"
    explain = _EXPLAIN.get(error.validator)
    return f"{where} {explain(error) if explain is not None else f'breaks the rule {quoted(error.validator)}'}"


def place(path: Iterable[str | int]) -> str:
    """A place in a value: its JSON pointer, or "the value" for the whole."""
    found = pointer(tuple(path))
    if not found:
        return "the value"
    return found if len(found) <= _LONGEST_PLACE else f"{found[:_LONGEST_PLACE]}…"


def kind_of(value: Any) -> str:
    """What a value is, in a schema's words."""
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, (int, float)):
        return "a number"
    if value is None:
        return "null"
    return "a string" if isinstance(value, str) else "an array" if isinstance(value, (list, tuple)) else "an object"


def _shown(value: Any) -> str:
    text = escaped(json.dumps(value, ensure_ascii=False))
    return text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 1]}…"


def _type(error: Any) -> str:
    allowed = error.validator_value if isinstance(error.validator_value, (list, tuple)) else [error.validator_value]
    return f"must be {' or '.join(_TYPES.get(one, str(one)) for one in allowed)}, not {kind_of(error.instance)}"


def _required(error: Any) -> str:
    missing = [name for name in error.validator_value if name not in error.instance]
    return f"needs {listed(missing, _MOST_NAMES)}"


def _additional(error: Any) -> str:
    known = list(error.schema.get("properties", {}))
    extra = [name for name in error.instance if name not in known]
    patterns = error.schema.get("patternProperties", {})
    if patterns:
        return f"has a property that is not allowed; known are {listed(known)} and names that match a pattern"
    if len(extra) == 1:
        return f"has the unknown property {quoted(extra[0])}; {did_you_mean(extra[0], known)}"
    return f"has the unknown properties {listed(extra, _MOST_NAMES)}; {_known(known)}"


def _known(names: list[str]) -> str:
    return f"known are {listed(names)}" if names else "none is known"


def _enum(error: Any) -> str:
    values = [_shown(value) for value in error.validator_value]
    more = f" or {len(values) - _MOST_SHOWN} others" if len(values) > _MOST_SHOWN else ""
    return f"must be one of {', '.join(values[:_MOST_SHOWN])}{more}"


def _count(what: str, most: bool) -> Callable[[Any], str]:
    def explain(error: Any) -> str:
        return f"must have at {'most' if most else 'least'} {error.validator_value} {what}, not {len(error.instance)}"

    return explain


def _bound(words: str) -> Callable[[Any], str]:
    return lambda error: f"must be {words} {_shown(error.validator_value)}"


def _pattern(error: Any) -> str:
    longest = compiled(error.validator_value).longest
    if len(error.instance) > longest:
        return f"must have at most {longest} characters, as its pattern is not matched on more"
    shown = error.validator_value[:_LONGEST_PATTERN]
    return f"must match the pattern {escaped(shown)}{'…' if shown != error.validator_value else ''}"


def _alternatives(error: Any) -> str:
    count = len(error.validator_value)
    if not error.context:
        return f"must fit exactly one of {count} forms, and fits several"
    by_form: dict[Any, list[Any]] = {}
    for inner in error.context:
        by_form.setdefault(inner.schema_path[0], []).append(inner)
    nearest = min(by_form.values(), key=_distance)
    return f"fits none of {count} forms; of the nearest: {sentence(nearest[0])}"


def _distance(errors: list[Any]) -> tuple[int, bool, int]:
    """How far a value is from one of several forms: deep errors and few are near, another type is far."""
    return -max(len(one.path) for one in errors), any(one.validator == "type" for one in errors), len(errors)


def _dependent(error: Any) -> str:
    for name, needed in error.validator_value.items():
        missing = [one for one in needed if one not in error.instance]
        if name in error.instance and missing:
            return f"has {quoted(name)}, and with it needs {listed(missing, _MOST_NAMES)}"
    return "lacks a property that another one needs"


def _entries(error: Any) -> str:
    count = len(error.schema.get("prefixItems", ()))
    return f"must have at most {count} entries, not {len(error.instance)}"


_EXPLAIN: dict[str, Callable[[Any], str]] = {
    "type": _type,
    "required": _required,
    "additionalProperties": _additional,
    "unevaluatedProperties": lambda error: "has a property that is not allowed there",
    "unevaluatedItems": lambda error: "has an entry that is not allowed there",
    "items": _entries,
    "enum": _enum,
    "const": lambda error: f"must be {_shown(error.validator_value)}",
    "minimum": _bound("at least"),
    "maximum": _bound("at most"),
    "exclusiveMinimum": _bound("more than"),
    "exclusiveMaximum": _bound("less than"),
    "multipleOf": _bound("a multiple of"),
    "minLength": _count("characters", most=False),
    "maxLength": _count("characters", most=True),
    "minItems": _count("entries", most=False),
    "maxItems": _count("entries", most=True),
    "minProperties": _count("properties", most=False),
    "maxProperties": _count("properties", most=True),
    "uniqueItems": lambda error: "must not hold the same entry twice",
    "pattern": _pattern,
    "anyOf": _alternatives,
    "oneOf": _alternatives,
    "not": lambda error: "is not allowed" if error.validator_value == {} else "has a form that is excluded",
    "contains": lambda error: "does not hold the entries it must hold",
    "dependentRequired": _dependent,
}
