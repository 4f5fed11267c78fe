"""Input and output schemas as the rules see them: what can be reached from the top, and a tool's parameters.

A schema may be a stranger's, of any size and form: the walk is bounded, follows references inside the schema once each,
and fetches nothing. What stands only in `$defs` and is referred to by nobody is not looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import Any
from urllib.parse import unquote

import attrs

from yazcore.manifest.places import Path

MOST_NODES = 5_000
"""The most schemas of one schema that are looked at."""

DEEPEST = 24
"""How deep the walk goes, in schemas."""

MOST_FORMS = 64
"""The most forms of one value that are told apart."""

MOST_STEPS = 512
"""The most schemas that are gone through to find them."""

MOST_SAID = 4_000
"""As much of a description in a schema is judged, in characters."""

NO_BOUND = 2**53 - 1
"""From here on a bound is none: what generators write for any safe integer."""

_UNIONS = ("anyOf", "oneOf", "allOf")


@attrs.frozen
class Node:
    """One schema, and where it stands. `said` is its description, else that of what encloses it in one property; of a
    long one the beginning."""

    path: Path
    schema: Mapping[str, Any]
    said: str


@attrs.frozen
class Form:
    """One form that a value may have: a schema without unions and references."""

    path: Path
    schema: Mapping[str, Any]

    @property
    def types(self) -> frozenset[str]:
        """The types it names."""
        return types_of(self.schema)

    @property
    def is_free_text(self) -> bool:
        """Whether any text at all will do."""
        return "string" in self.types and not any(key in self.schema for key in ("enum", "const", "pattern", "format"))

    @property
    def maximum(self) -> float | None:
        """The largest number, None where there is no real bound."""
        for key in ("maximum", "exclusiveMaximum"):
            value = self.schema.get(key)
            if isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < NO_BOUND:
                return float(value)
        return None


@attrs.frozen(kw_only=True)
class Parameter:
    """One property of an object in a schema; `path` leads to it within the schema.

    * `required`: whether the object needs it. `is_top`: whether it is an argument of the tool itself.
    * `forms`: what its value may be. `said`: its description, or what describes its forms; of a long one the beginning.
    """

    name: str
    path: Path
    schema: Mapping[str, Any]
    required: bool
    is_top: bool
    forms: tuple[Form, ...]
    said: str

    @cached_property
    def types(self) -> frozenset[str]:
        """The types that its forms name."""
        return frozenset().union(*(form.types for form in self.forms))

    @cached_property
    def values(self) -> tuple[str, ...]:
        """The texts that it may be, where all its forms but null are lists of values; empty where any other may be."""
        listed: list[str] = []
        for form in self.forms:
            if form.types == {"null"}:
                continue
            if "const" in form.schema:
                listed.append(str(form.schema["const"]))
            elif isinstance(form.schema.get("enum"), list):
                listed += [str(value) for value in form.schema["enum"] if value is not None]
            else:
                return ()
        return tuple(listed)

    @cached_property
    def is_free_text(self) -> bool:
        """Whether any text at all will do."""
        return any(form.is_free_text for form in self.forms)

    @cached_property
    def is_number(self) -> bool:
        """Whether it is a number and nothing else but null."""
        return bool(self.types & {"integer", "number"}) and self.types <= {"integer", "number", "null"}

    @property
    def is_bounded(self) -> bool:
        """Whether each form that is a number has a largest one, or a list of values."""
        numbers = [form for form in self.forms if form.types & {"integer", "number"}]
        return all(form.maximum is not None or "enum" in form.schema or "const" in form.schema for form in numbers)


def types_of(schema: Mapping[str, Any]) -> frozenset[str]:
    """The types that a schema names, or shows by the values it lists."""
    named = schema.get("type")
    if isinstance(named, str):
        return frozenset({named})
    if isinstance(named, (list, tuple)):
        return frozenset(one for one in named if isinstance(one, str))
    values = schema.get("enum", [schema["const"]] if "const" in schema else [])
    return frozenset(map(_type_of, values)) if isinstance(values, list) else frozenset()


def _type_of(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    kinds = {str: "string", int: "integer", float: "number", list: "array", dict: "object", type(None): "null"}
    return kinds.get(type(value), "object")


@attrs.frozen
class SchemaView:
    """One schema, walked. `is_whole` is False where there was more than is looked at."""

    schema: Any

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """Every schema that can be reached from the top, itself first."""
        return tuple(self._walked[0])

    @cached_property
    def is_whole(self) -> bool:
        """Whether all of it was looked at."""
        return not self._walked[1]

    @cached_property
    def dangling(self) -> tuple[tuple[Path, str], ...]:
        """References that lead nowhere in the schema, and where they stand."""
        return tuple(
            ((*node.path, "$ref"), str(node.schema["$ref"]))
            for node in self.nodes
            if "$ref" in node.schema and self.target(node.schema["$ref"]) is None
        )

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """The properties of every object that can be reached, in the order of the walk."""
        return tuple(islice(self._parameters(), MOST_NODES))

    @property
    def arguments(self) -> tuple[Parameter, ...]:
        """The properties at the top: a tool's arguments."""
        return tuple(one for one in self.parameters if one.is_top)

    def argument(self, name: str) -> Parameter | None:
        """The argument of that name."""
        return next((one for one in self.arguments if one.name == name), None)

    def target(self, reference: Any) -> tuple[Path, Mapping[str, Any]] | None:
        """The schema that a reference of this schema leads to; None where it leads nowhere inside."""
        if not isinstance(reference, str) or not reference.startswith("#") or len(reference) > 1_000:
            return None
        if len(reference) > 1 and reference[1] != "/":  # a name, which no listing was seen to use
            return None
        path: list[str | int] = []
        found: Any = self.schema
        for part in unquote(reference[1:]).split("/")[1:]:
            key = part.replace("~1", "/").replace("~0", "~")
            if isinstance(found, Mapping) and key in found:
                path.append(key)
                found = found[key]
            elif isinstance(found, (list, tuple)) and key.isascii() and key.isdecimal() and int(key) < len(found):
                path.append(int(key))
                found = found[int(key)]
            else:
                return None
        return (tuple(path), found) if isinstance(found, Mapping) else None

    @cached_property
    def _walked(self) -> tuple[list[Node], bool]:
        nodes: list[Node] = []
        seen: set[Path] = set()
        waiting: list[tuple[Path, Any, str, int]] = [((), self.schema, "", 0)]
        cut = False
        while waiting:
            path, schema, said, depth = waiting.pop()
            if not isinstance(schema, Mapping) or path in seen:
                continue
            if len(nodes) >= MOST_NODES or depth > DEEPEST:
                cut = True
                continue
            seen.add(path)
            own = schema.get("description")
            said = own[:MOST_SAID] if isinstance(own, str) and own.strip() else said
            nodes.append(Node(path, schema, said))
            inner = [
                (place, one, "" if len(place) > 1 and place[-2] == "properties" else said, depth + 1)
                for place, one in _inside(schema, path)
            ]
            if (found := self.target(schema.get("$ref"))) is not None:
                inner.append((*found, said, depth + 1))
            waiting += reversed(inner)
        return nodes, cut

    def _parameters(self) -> Iterator[Parameter]:
        tops = {form.path for form in self.forms((), self.schema)} | {()}
        for node in self.nodes:
            properties = node.schema.get("properties")
            if not isinstance(properties, Mapping):
                continue
            required = node.schema.get("required")
            needed = set(filter(_is_text, required)) if isinstance(required, list) else set()
            for name, schema in properties.items():
                if isinstance(schema, Mapping):
                    path = (*node.path, "properties", name)
                    forms = tuple(self.forms(path, schema))
                    yield Parameter(
                        name=str(name), path=path, schema=schema, required=name in needed, is_top=node.path in tops,
                        forms=forms, said=_said(schema, forms),
                    )  # fmt: skip

    def forms(self, path: Path, schema: Any) -> list[Form]:
        """The forms of a value of a schema in this one: unions taken apart, references followed."""
        if not isinstance(schema, Mapping):
            return []
        found: list[Form] = []
        waiting: list[tuple[Path, Mapping[str, Any], frozenset[Path]]] = [(path, schema, frozenset())]
        for _ in range(MOST_STEPS):
            if not waiting or len(found) >= MOST_FORMS:
                break
            place, one, above = waiting.pop()
            if place in above or len(above) > DEEPEST:
                continue
            inner = [
                ((*place, key, index), part)
                for key in _UNIONS
                for index, part in enumerate(one.get(key) if isinstance(one.get(key), list) else ())  # type: ignore[arg-type]
                if isinstance(part, Mapping)
            ]
            if (target := self.target(one.get("$ref"))) is not None:
                inner.append(target)
            if not inner or "properties" in one or "enum" in one:
                found.append(Form(place, one))
            waiting += [(where, part, above | {place}) for where, part in reversed(inner)]
        return found


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _said(schema: Mapping[str, Any], forms: Sequence[Form]) -> str:
    own = schema.get("description")
    if isinstance(own, str) and own.strip():
        return own[:MOST_SAID]
    texts = [form.schema.get("description") for form in forms]
    return " ".join(text[:MOST_SAID] for text in texts if isinstance(text, str))[:MOST_SAID]


_ONE = ("additionalProperties", "items", "contains", "unevaluatedProperties", "unevaluatedItems", "not", "if", "then",
        "else", "propertyNames")  # fmt: skip
_NAMED = ("properties", "patternProperties", "dependentSchemas")
_LISTED = (*_UNIONS, "prefixItems")


def _inside(schema: Mapping[str, Any], path: Path) -> Iterator[tuple[Path, Any]]:
    """The schemas that apply to a value of this one, or to parts of it, and where they stand."""
    for key in _ONE:
        if key in schema:
            yield (*path, key), schema[key]
    for key in _NAMED:
        if isinstance(schema.get(key), Mapping):
            yield from (((*path, key, name), one) for name, one in schema[key].items())
    for key in _LISTED:
        if isinstance(schema.get(key), list):
            yield from (((*path, key, index), one) for index, one in enumerate(schema[key]))
