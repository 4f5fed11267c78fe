"""JSON Schema, 2020-12: whether a schema may be used, and what is wrong with a value, in sentences (design 4, 7).

The only module that knows jsonschema, and it loads it when a first schema is used. Nothing is ever fetched.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import islice
from typing import Any

import attrs

from yazcore.manifest.patterns import compiled
from yazcore.manifest.places import Fault, pointer
from yazcore.manifest.schema_bounds import bound_faults, parts
from yazcore.manifest.schema_errors import sentence
from yazcore.manifest.schema_form import is_plain_schema
from yazcore.manifest.schema_types import surely_good
from yazcore.violations import YazError

MOST_ERRORS = 10
"""The most sentences about one value."""

LONGEST_PROPERTY = 512
"""The longest property name that is looked at, in characters."""

_MOST_LOOKED_AT = 100
_HEADER = '"x-mcp-header"'


@attrs.frozen
class Validator:
    """A schema that is usable, made ready for `argument_errors`."""

    library: Any
    surely_good: Callable[[Any], bool] | None
    names_headers: bool = False
    """Whether a property may say that a header of the request repeats it (`x-mcp-header`)."""


def schema_faults(schema: Any) -> tuple[Fault, ...]:
    """What is wrong with a schema: its bounds, and then the dialect's own rules; paths are within it. Never raises."""
    return tuple(bound_faults(schema)) or dialect_faults(schema)


def dialect_faults(schema: Any) -> tuple[Fault, ...]:
    """What is wrong with a schema by the rules of its dialect. Its depth must be bounded."""
    if is_plain_schema(schema):
        return ()
    invalid = []
    for error in _errors(_meta_validator(), schema):
        message = f"this is not JSON Schema: {sentence(error)}"
        invalid.append(Fault("schema-invalid", message, "see the 2020-12 dialect", tuple(error.path)))
    return tuple(dict.fromkeys(invalid))


def validator(schema: Any) -> Validator:
    """A validator for the schema, for `argument_errors`. Raises `YazError` `schema-...` for one that is not usable."""
    for fault in schema_faults(schema):
        where = f" at {pointer(fault.path)}" if fault.path else ""
        raise YazError(fault.code, f"{fault.message}{where}", fault.fix)
    import referencing

    library = _validator_class()(_spelled_out(schema), registry=referencing.Registry())
    return Validator(library, surely_good(schema), _HEADER in json.dumps(schema))


def argument_errors(validator: Validator, value: Any) -> list[str]:
    """What is wrong with a value, each in a sentence that names the place as a JSON pointer and says what is allowed.

    For callers: values are not repeated, names only in part. At most `MOST_ERRORS` sentences; empty for a good value.
    """
    if _has_long_name(value):
        return [f"the value has a property with a name of more than {LONGEST_PROPERTY} characters"]
    if validator.surely_good is not None and validator.surely_good(value):
        return []
    try:
        if not (errors := _errors(validator.library, value)):
            return []
        found = list(dict.fromkeys(map(sentence, errors)))
    except RecursionError:
        return ["the value is nested too deeply to be checked"]
    except ArithmeticError:  # an integer of hundreds of digits against a decimal fraction
        return ["the value holds a number that is too large to be checked"]
    if len(found) > MOST_ERRORS:
        return [*found[:MOST_ERRORS], f"and {len(found) - MOST_ERRORS} more"]
    return found


def _errors(validator: Any, value: Any) -> list[Any]:
    """The first errors the library finds, in the order of their places."""
    found = list(islice(validator.iter_errors(value), _MOST_LOOKED_AT))
    return found and sorted(found, key=lambda error: [str(part) for part in error.absolute_path])


def _has_long_name(value: Any) -> bool:
    """Whether an object anywhere has a name that patterns and comparisons would have to run over for long."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            for name in one:
                if len(name) > LONGEST_PROPERTY:
                    return True
            waiting.extend(one.values())
        elif isinstance(one, list):
            waiting.extend(one)
    return False


@cache
def _meta_validator() -> Any:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(Draft202012Validator.META_SCHEMA)


@cache
def _validator_class() -> Any:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import ValidationError
    from jsonschema.validators import extend

    def pattern(validator: Any, wanted: str, value: Any, schema: Any) -> Iterator[Any]:
        """Bounded, and with `$` as the very end: the library would let a line break follow (P-1)."""
        if isinstance(value, str) and not compiled(wanted).matches(value):
            yield ValidationError("pattern")

    def unique_items(validator: Any, wanted: bool, value: Any, schema: Any) -> Iterator[Any]:
        """In one pass: the library compares each entry with each other where they cannot be sorted."""
        if wanted and isinstance(value, list) and len({_identity(one) for one in value}) < len(value):
            yield ValidationError("uniqueItems")

    keywords = {"pattern": pattern, "uniqueItems": unique_items}
    return extend(Draft202012Validator, keywords)  # type: ignore[no-untyped-call]


_WITH_WORDS_FOR_FALSE = frozenset({"additionalProperties", "unevaluatedProperties", "items", "unevaluatedItems"})


def _spelled_out(schema: Any) -> Any:
    """The schema with `false` as `{"not": {}}`: the library gives an error of the former no place."""
    if not isinstance(schema, Mapping):
        return schema
    made: dict[str, Any] = {
        key: dict(value) if isinstance(value, Mapping) else list(value) if isinstance(value, (list, tuple)) else value
        for key, value in schema.items()
    }
    for key, name, _, inner in parts(schema, ()):
        spelled: Any = _spelled_out(inner)
        if inner is False and key not in _WITH_WORDS_FOR_FALSE:
            spelled = {"not": {}}
        if name is None:
            made[key] = spelled
        else:
            made[key][name] = spelled
    return made


def _identity(value: Any) -> Any:
    """A value that is equal for two values exactly where JSON has them equal: 1 is 1.0 and not true."""
    if isinstance(value, dict):
        return "object", frozenset((name, _identity(inner)) for name, inner in value.items())
    if isinstance(value, (list, tuple)):
        return "array", tuple(map(_identity, value))
    return isinstance(value, bool), value
