"""attrs classes from plain data: exact types, keys in camelCase, everything that is wrong at once with its path.

By hand, and not by cattrs: every listing reads manifests, and loading it would cost one half more than all of yaz does.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import attrs

from yazcore.kinds import Capability
from yazcore.manifest.places import Fault, Path
from yazcore.manifest.words import did_you_mean, listed, nearest, quoted, shortened

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


# -- what may be wrong with a value ----------------------------------------------------------------------------------

Problem = Callable[[Path], Fault]
"""What is wrong with a value: gives the fault for the place where it stands, with advice, which costs something."""


def wrong_type(expected: str, found: Any) -> Problem:
    """A value of another type than it must have; `expected` in words."""

    def fault(path: Path) -> Fault:
        fix = "leave the key out" if found is None else _HOW_TO_WRITE.get(expected, f"give {expected}")
        return Fault("manifest-wrong-type", f"{_subject(path)} must be {expected}, not {_kind_of(found)}", fix, path)

    return fault


def too_many(count: int) -> Problem:
    """A list of more entries than a manifest may have."""

    def fault(path: Path) -> Fault:
        message = f"{_subject(path)} has {count} entries, and at most {MOST_ENTRIES} are read"
        return Fault("manifest-too-many", message, "leave some out, or split the plugin", path)

    return fault


def missing_key(wire: str, hint: Any = None) -> Problem:
    """A required key that an object does not have."""

    def fault(path: Path) -> Fault:
        choices = f", one of {listed(get_args(hint))}" if get_origin(hint) is Literal else ""
        message, fix = f"{quoted(wire)} is missing", f"add {quoted(wire)}{choices}"
        return Fault("manifest-missing-key", message, fix, (*path, wire))

    return fault


def unknown_key(key: str, known: Sequence[str]) -> Problem:
    """A key that an object may not have."""

    def fault(path: Path) -> Fault:
        message, fix = f"unknown key {quoted(key)}", did_you_mean(key, known)
        return Fault("manifest-unknown-key", message, fix, (*path, key), at_key=True)

    return fault


def _not_one_of(allowed: tuple[Any, ...], found: Any) -> Problem:
    def fault(path: Path) -> Fault:
        words = [str(one) for one in allowed]
        near = nearest(str(found), words)
        fix = f"did you mean {quoted(near)}?" if near is not None else f"use one of {listed(words)}"
        return Fault("manifest-not-one-of", f"{quoted(str(found))} is not one of {listed(words)}", fix, path)

    return fault


def _refused(reason: str) -> Problem:
    """What the class's own validators say, which a host's declaration may have."""

    def fault(path: Path) -> Fault:
        message = f"{_subject(path)} does not fit: {shortened(reason)}"
        return Fault("manifest-wrong-value", message, "see the documentation of the host application", path)

    return fault


_NOTHING: Mapping[str, Any] = MappingProxyType({})


class Unreadable:
    """Stands for a value that could not be read: everything that is wrong with it, each at its path below the value.

    `values` are the fields of an object that could be read all the same, by name.
    """

    __slots__ = ("problems", "values")

    def __init__(self, problems: Sequence[tuple[Path, Problem]], values: Mapping[str, Any] = _NOTHING) -> None:
        self.problems = problems
        self.values = values

    def faults(self, path: Path) -> Iterator[Fault]:
        """The faults of a value that stands at a path, each made when it is asked for."""
        return (problem((*path, *below)) for below, problem in self.problems)


# -- reading a value -------------------------------------------------------------------------------------------------

Reader = Callable[[Any], Any]
"""Gives the value that plain data stands for, or `Unreadable`. Types are exact: nothing is taken for something else."""

_NAMES: dict[Any, str] = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}


@cache
def reader(hint: Any) -> Reader:
    """The reader for a type. Raises `TypeError` for a type that no manifest's declaration may use.

    Those are texts, numbers, booleans, `Literal`, unions of them, `Mapping`, `tuple`, `list`, `Any`, and attrs classes.
    """
    origin = get_origin(hint) or hint
    if hint is Any:
        return lambda value: value
    if origin in _NAMES:
        return _exact(origin)
    if origin is Literal:
        return _one_of(get_args(hint))
    if origin is Union or origin is types.UnionType:
        return _any_of([member for member in get_args(hint) if member is not type(None)])
    if origin in (Mapping, dict):
        return _an_object
    if origin in (tuple, list):
        return _list_of(origin, (get_args(hint) or (Any,))[0])
    if attrs.has(origin):
        return _record(origin)
    raise TypeError(f"a declaration cannot have a field of type {hint}")


def _exact(cls: type) -> Reader:
    # `type is`, for a bool is an int to isinstance; a number may be written without a decimal point
    accepted = (int, float) if cls is float else (cls,)

    def exact(value: Any) -> Any:
        return value if type(value) in accepted else Unreadable([((), wrong_type(_NAMES[cls], value))])

    return exact


def _one_of(allowed: tuple[Any, ...]) -> Reader:
    cls = type(allowed[0])

    def one_of(value: Any) -> Any:
        if type(value) is not cls:
            return Unreadable([((), wrong_type(_NAMES.get(cls, "another value"), value))])
        return value if value in allowed else Unreadable([((), _not_one_of(allowed, value))])

    return one_of


def _any_of(members: list[Any]) -> Reader:
    if len(members) == 1:  # what is optional may be left out; null is no way to say so
        return reader(members[0])
    names = " or ".join(_NAMES.get(member, "another value") for member in members)

    def scalar(value: Any) -> Any:
        return value if type(value) in members else Unreadable([((), wrong_type(names, value))])

    return scalar


def _an_object(value: Any) -> Any:
    return value if isinstance(value, dict) else Unreadable([((), wrong_type("an object", value))])


def _list_of(whole: Callable[[list[Any]], Any], hint: Any) -> Reader:
    def a_list(value: Any) -> Any:
        if not isinstance(value, list):
            return Unreadable([((), wrong_type("a list", value))])
        if len(value) > MOST_ENTRIES:
            return Unreadable([((), too_many(len(value)))])
        read = reader(hint)
        entries = [read(entry) for entry in value]
        problems = _below((index, entry) for index, entry in enumerate(entries) if type(entry) is Unreadable)
        return Unreadable(problems) if problems else whole(entries)

    return a_list


def _record(cls: Any) -> Reader:
    known = tuple(field.wire for field in fields_of(cls))
    suggested = (*known, "kind") if issubclass(cls, Capability) else known
    # its name, its key, what it is where that is a plain value, its reader, and the problem where it must be there
    plan: list[tuple[str, str, Any, Reader, Problem | None]] = []  # at the first use: a field may be of its class

    def a_record(value: Any) -> Any:
        if not isinstance(value, dict):
            return Unreadable([((), wrong_type("an object", value))])
        if not plan:
            plan.extend(map(_planned, fields_of(cls)))
        values: dict[str, Any] = {}
        problems: list[tuple[Path, Problem]] = []
        for name, wire, plain, read, missing in plan:
            if wire in value:
                found = value[wire]  # which is most often a text, where a text belongs
                if type(found) is not plain and type(found := read(found)) is Unreadable:
                    problems += _below([(wire, found)])
                else:
                    values[name] = found
            elif missing is not None:
                problems.append(((), missing))
        if problems or len(values) != len(value):
            problems += (((), unknown_key(key, suggested)) for key in sorted(value) if key not in known)
            return Unreadable(problems, values)
        try:
            return cls(**values)
        except Exception as error:  # noqa: BLE001 - a host's declaration may have validators of its own
            return Unreadable([((), _refused(str(error)))], values)

    return a_record


def _planned(field: Field) -> tuple[str, str, Any, Reader, Problem | None]:
    plain = field.hint if field.hint in _NAMES else None
    missing = missing_key(field.wire, field.hint) if field.required else None
    return field.name, field.wire, plain, reader(field.hint), missing


def _below(found: Iterable[tuple[str | int, Unreadable]]) -> list[tuple[Path, Problem]]:
    """The problems of values below one, each at its path from there."""
    return [((part, *path), problem) for part, inner in found for path, problem in inner.problems]


# -- in words --------------------------------------------------------------------------------------------------------

_HOW_TO_WRITE = {
    "text": "put it in quotes",
    "a whole number": "write digits only, without quotes or a decimal point",
    "a number": "write it without quotes",
    "true or false": "write true or false, without quotes",
    "an object": "put it in braces",
    "a list": "put it in square brackets",
}


def _subject(path: Path) -> str:
    if not path:
        return "the manifest"
    return quoted(path[-1]) if isinstance(path[-1], str) else f"entry {path[-1] + 1} of {quoted(str(path[-2]))}"


def _kind_of(value: Any) -> str:
    if isinstance(value, float):
        return "a number with a decimal point"
    names = {dict: "an object", list: "a list", str: "text", bool: "true or false", int: "a number", type(None): "null"}
    return names.get(type(value), "such a number")
