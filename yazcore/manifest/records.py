"""attrs classes from plain data, by cattrs: exact types, keys in camelCase, every fault at once with its path.

cattrs is loaded when a first object is structured.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin, get_type_hints

import attrs

from yazcore.kinds import Capability
from yazcore.manifest.places import Fault, Path
from yazcore.manifest.words import did_you_mean, listed, nearest, quoted, shortened

if TYPE_CHECKING:
    from cattrs import Converter


MOST_ENTRIES = 500
"""The most entries of any list in a manifest, those inside schemas apart: what is read costs more than its bytes."""


def camel(name: str) -> str:
    """A field's name on the wire: `description_key` is `descriptionKey`."""
    head, *rest = name.split("_")
    return head + "".join(word.capitalize() for word in rest)


@attrs.frozen
class Field:
    """One field of a class: how the manifest calls it, and what stands for it where it cannot be read."""

    name: str
    wire: str
    hint: Any
    required: bool
    default: Any

    def stand_in(self) -> Any:
        """Its default, else an empty value of its type."""
        if not self.required and not isinstance(self.default, attrs.Factory):  # type: ignore[arg-type]
            return self.default
        return neutral(self.hint)


@cache
def fields_of(cls: type) -> tuple[Field, ...]:
    """The fields of an attrs class, in their order."""
    hints = get_type_hints(cls)
    return tuple(
        Field(one.name, camel(one.name), hints[one.name], one.default is attrs.NOTHING, one.default)
        for one in attrs.fields(cls)
        if one.init
    )


def unchecked(cls: type, values: Mapping[str, Any]) -> Any:
    """An object of an attrs class with these values, past the class's own validators: a draft may not satisfy them."""
    made: Any = object.__new__(cls)
    for name, value in values.items():
        object.__setattr__(made, name, value)
    return made


def neutral(hint: Any) -> Any:
    """An empty value of a type, to stand where none could be read."""
    origin = get_origin(hint)
    if origin is Literal:
        return get_args(hint)[0]
    if origin is Union or origin is types.UnionType:
        return None
    if attrs.has(hint):
        return unchecked(hint, {field.name: field.stand_in() for field in fields_of(hint)})
    empty = {str: "", int: 0, float: 0.0, bool: False, tuple: (), list: []}
    return empty.get(origin or hint, {})


# -- what cattrs is told ---------------------------------------------------------------------------------------------


class WrongType(TypeError):
    """A value of another type than it must have; `expected` in words."""

    def __init__(self, expected: str, found: Any) -> None:
        super().__init__(expected)
        self.expected = expected
        self.found = found


class TooMany(ValueError):
    """A list of more entries than a manifest may have."""

    def __init__(self, count: int) -> None:
        super().__init__(count)
        self.count = count


class _NotOneOf(ValueError):
    def __init__(self, allowed: tuple[Any, ...], found: Any) -> None:
        super().__init__()
        self.allowed = allowed
        self.found = found


_NAMES: dict[Any, str] = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}


def _origin(hint: Any) -> Any:
    return get_origin(hint) or hint


def _exact(cls: type) -> Callable[[Any, Any], Any]:
    # `type is`, for a bool is an int to isinstance; a number may be written without a decimal point
    accepted = (int, float) if cls is float else (cls,)

    def exact(value: Any, _: Any) -> Any:
        if type(value) not in accepted:
            raise WrongType(_NAMES[cls], value)
        return value

    return exact


@cache
def converter() -> Converter:
    """The converter: exact types, no coercion, unknown keys refused."""
    from cattrs import Converter
    from cattrs.cols import list_structure_factory
    from cattrs.gen import make_dict_structure_fn, override

    made = Converter(detailed_validation=True, forbid_extra_keys=True)
    for cls in _NAMES:
        made.register_structure_hook(cls, _exact(cls))

    @made.register_structure_hook_factory(lambda hint: _origin(hint) is Literal)
    def literal(hint: Any) -> Callable[[Any, Any], Any]:
        allowed = get_args(hint)

        def one_of(value: Any, _: Any) -> Any:
            if type(value) is not type(allowed[0]):
                raise WrongType(_NAMES.get(type(allowed[0]), "another value"), value)
            if value not in allowed:
                raise _NotOneOf(allowed, value)
            return value

        return one_of

    @made.register_structure_hook_factory(lambda hint: _origin(hint) in (Union, types.UnionType))
    def union(hint: Any) -> Callable[[Any, Any], Any]:
        members = [member for member in get_args(hint) if member is not type(None)]
        if len(members) == 1:  # what is optional may be left out; null is no way to say so
            inner = made.get_structure_hook(members[0])
            return lambda value, _: inner(value, members[0])
        names = " or ".join(_NAMES.get(member, "another value") for member in members)

        def scalar(value: Any, _: Any) -> Any:
            if type(value) not in members:
                raise WrongType(names, value)
            return value

        return scalar

    @made.register_structure_hook_factory(lambda hint: _origin(hint) in (Mapping, dict))
    def mapping(hint: Any) -> Callable[[Any, Any], Any]:
        def an_object(value: Any, _: Any) -> Any:
            if not isinstance(value, dict):
                raise WrongType("an object", value)
            return value

        return an_object

    @made.register_structure_hook_factory(lambda hint: _origin(hint) in (tuple, list))
    def many(hint: Any) -> Callable[[Any, Any], Any]:
        whole = get_origin(hint)
        each = list_structure_factory(types.GenericAlias(list, get_args(hint)[:1]), made)  # type: ignore[arg-type]

        def a_list(value: Any, _: Any) -> Any:
            if not isinstance(value, list):  # cattrs itself would take a text for a list of its letters
                raise WrongType("a list", value)
            if len(value) > MOST_ENTRIES:
                raise TooMany(len(value))
            return whole(each(value, hint))

        return a_list

    @made.register_structure_hook_factory(attrs.has)
    def record(cls: Any) -> Callable[[Any, Any], Any]:
        names = {field.name: override(rename=field.wire) for field in fields_of(cls)}
        each = make_dict_structure_fn(cls, made, _cattrs_forbid_extra_keys=True, **names)  # type: ignore[arg-type]

        def an_object(value: Any, hint: Any) -> Any:
            if not isinstance(value, dict):
                raise WrongType("an object", value)
            return each(value, hint)

        return an_object

    return made


# -- what cattrs says ------------------------------------------------------------------------------------------------


def faults_of(error: BaseException, path: Path) -> Iterator[Fault]:
    """Every fault in what cattrs raised, each at its path in the document."""
    from cattrs.errors import (
        BaseValidationError,
        ClassValidationError,
        ForbiddenExtraKeysError,
        IterableValidationError,
    )

    if isinstance(error, IterableValidationError):
        noted_entries, others = error.group_exceptions()
        for inner, entry in noted_entries:
            yield from faults_of(inner, (*path, entry.index))
        for inner in others:
            yield from faults_of(inner, path)
    elif isinstance(error, ClassValidationError):
        noted_fields, others = error.group_exceptions()
        hints = {field.name: field.hint for field in fields_of(error.cl)}
        for inner, note in noted_fields:
            wire = camel(note.name)  # the note has the field's name, the KeyError the manifest's
            place = (*path, wire)
            if isinstance(inner, KeyError) and inner.args == (wire,):
                yield missing_key(wire, place, hints.get(note.name))
            else:
                yield from faults_of(inner, place)
        for inner in others:
            yield from faults_of(inner, path)
    elif isinstance(error, ForbiddenExtraKeysError):
        known = [field.wire for field in fields_of(error.cl)] + ["kind"] * issubclass(error.cl, Capability)
        for key in sorted(error.extra_fields):
            yield unknown_key(key, known, path)
    elif isinstance(error, WrongType):
        yield wrong_type(error, path)
    elif isinstance(error, _NotOneOf):
        yield _not_one_of(error, path)
    elif isinstance(error, TooMany):
        yield too_many(error, path)
    elif isinstance(error, BaseValidationError):
        for inner in error.exceptions:
            yield from faults_of(inner, path)
    else:
        message = f"{_subject(path)} does not fit: {shortened(str(error))}"
        yield Fault("manifest-wrong-value", message, "see the documentation of the host application", path)


def missing_key(wire: str, path: Path, hint: Any = None) -> Fault:
    """A required key that is not there."""
    choices = f", one of {listed(get_args(hint))}" if get_origin(hint) is Literal else ""
    return Fault("manifest-missing-key", f"{quoted(wire)} is missing", f"add {quoted(wire)}{choices}", path)


def unknown_key(key: str, known: Iterable[str], path: Path) -> Fault:
    """A key that the object at the path may not have."""
    return Fault(
        "manifest-unknown-key", f"unknown key {quoted(key)}", did_you_mean(key, known), (*path, key), at_key=True
    )


_HOW_TO_WRITE = {
    "text": "put it in quotes",
    "a whole number": "write digits only, without quotes or a decimal point",
    "a number": "write it without quotes",
    "true or false": "write true or false, without quotes",
    "an object": "put it in braces",
    "a list": "put it in square brackets",
}


def wrong_type(error: WrongType, path: Path) -> Fault:
    """A value of another type than it must have."""
    fix = "leave the key out" if error.found is None else _HOW_TO_WRITE.get(error.expected, f"give {error.expected}")
    return Fault(
        "manifest-wrong-type", f"{_subject(path)} must be {error.expected}, not {_kind_of(error.found)}", fix, path
    )


def too_many(error: TooMany, path: Path) -> Fault:
    """A list of more entries than a manifest may have."""
    message = f"{_subject(path)} has {error.count} entries, and at most {MOST_ENTRIES} are read"
    return Fault("manifest-too-many", message, "leave some out, or split the plugin", path)


def _not_one_of(error: _NotOneOf, path: Path) -> Fault:
    allowed = [str(one) for one in error.allowed]
    near = nearest(str(error.found), allowed)
    fix = f"did you mean {quoted(near)}?" if near is not None else f"use one of {listed(allowed)}"
    return Fault("manifest-not-one-of", f"{quoted(str(error.found))} is not one of {listed(allowed)}", fix, path)


def _subject(path: Path) -> str:
    if not path:
        return "the manifest"
    return quoted(path[-1]) if isinstance(path[-1], str) else f"entry {path[-1] + 1} of {quoted(str(path[-2]))}"


def _kind_of(value: Any) -> str:
    if isinstance(value, float):
        return "a number with a decimal point"
    names = {dict: "an object", list: "a list", str: "text", bool: "true or false", int: "a number", type(None): "null"}
    return names.get(type(value), "such a number")
