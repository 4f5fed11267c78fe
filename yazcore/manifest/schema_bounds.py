"""What a schema may cost, found out before it is used: size, references, composition (design 4; P-8).

Schemas come from strangers, and each call's arguments are validated in the host. So a schema must be small, point only
into itself, and not multiply: neither by composition nor by recursion may the work on one value grow without bounds.
Nothing here needs a JSON Schema library.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import Any
from urllib.parse import unquote

import attrs

from yazcore.manifest.patterns import BadPattern, compiled
from yazcore.manifest.places import Fault, Path
from yazcore.manifest.words import is_harmless, is_printable, quoted

MOST_BYTES = 64 * 1024
"""The largest schema, in bytes of compact JSON."""

DEEPEST = 32
"""The deepest nesting of a schema, and of the values that its recursion is judged by."""

MOST_NODES = 2000
"""The most values of any kind in a schema."""

MOST_FAN_OUT = 1024
"""The most subschemas that may be applied to one value."""

MOST_ON_A_PATH = MOST_FAN_OUT * DEEPEST
"""The most subschemas that may be applied on the way from a value to one of its innermost parts."""

DIALECT = "https://json-schema.org/draft/2020-12/schema"
"""The dialect: the only one that `$schema` may name."""

_MOST_ENTRIES = 200_000  # of the tables below: what an honest schema needs is a hundredth

_ONE = ("additionalProperties", "unevaluatedProperties", "propertyNames", "items", "contains", "unevaluatedItems",
        "not", "if", "then", "else", "contentSchema")  # fmt: skip
_BY_NAME = ("properties", "patternProperties", "dependentSchemas", "$defs", "definitions")
_IN_LINE = ("allOf", "anyOf", "oneOf", "prefixItems")
_DYNAMIC = ("$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor")


def bound_faults(schema: Any) -> Iterator[Fault]:
    """Everything about a schema that its size, its references and its patterns make unusable; paths are within it."""
    if not isinstance(schema, Mapping):
        yield Fault("schema-invalid", "a schema is an object", "write it as an object")
        return
    if (fault := _size_fault(schema)) is not None:
        yield fault
        return
    places = dict(_subschemas(schema, ()))
    faults = [fault for path, place in places.items() for fault in _keyword_faults(place, path, places)]
    faults += _text_faults(schema, ())
    yield from faults
    if not faults:
        yield from _work_faults(places)


def _size_fault(schema: Mapping[str, Any]) -> Fault | None:
    level: list[Any] = [schema]
    nodes = 0
    for depth in range(DEEPEST + 1):
        nodes += len(level)
        if nodes > MOST_NODES:
            return Fault("schema-too-large", f"the schema holds more than {MOST_NODES} values", "make it smaller")
        if depth == DEEPEST and any(isinstance(value, (Mapping, list, tuple)) for value in level):
            return Fault("schema-too-deep", f"the schema nests deeper than {DEEPEST} levels", "use $defs and $ref")
        level = [
            inner
            for value in level
            for inner in (
                value.values() if isinstance(value, Mapping) else value if isinstance(value, (list, tuple)) else ()
            )
        ]
    if len(json.dumps(schema, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "replace")) > MOST_BYTES:
        return Fault("schema-too-large", f"the schema is larger than {MOST_BYTES} bytes", "make it smaller")
    return None


def parts(schema: Any, path: Path) -> Iterator[tuple[str, str | int | None, Path, Any]]:
    """The schemas directly inside a schema: keyword, name or index under it, path, schema.

    What stands under `enum`, `const` or `default` is no schema; neither is what has not the form of its keyword.
    """
    if not isinstance(schema, Mapping):
        return
    for key in _ONE:
        if key in schema:
            yield key, None, (*path, key), schema[key]
    for key in _BY_NAME:
        if isinstance(schema.get(key), Mapping):
            for name, inner in schema[key].items():
                yield key, name, (*path, key, name), inner
    for key in _IN_LINE:
        if isinstance(schema.get(key), (list, tuple)):
            for index, inner in enumerate(schema[key]):
                yield key, index, (*path, key, index), inner


def _subschemas(schema: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    """Every schema inside a schema, itself first."""
    yield path, schema
    for _, _, place, inner in parts(schema, path):
        yield from _subschemas(inner, place)


def _keyword_faults(schema: Any, path: Path, places: Mapping[Path, Any]) -> Iterator[Fault]:
    if not isinstance(schema, Mapping):
        return
    if path and "$id" in schema:
        yield Fault("schema-id", "an $id inside a schema changes what $ref means", "take it away", (*path, "$id"))
    if "$schema" in schema and (path or str(schema["$schema"]).removesuffix("#") != DIALECT):
        message = f"only the dialect {DIALECT} is understood"
        yield Fault("schema-dialect", message, "take $schema away", (*path, "$schema"))
    for key in _DYNAMIC:
        if key in schema:
            yield Fault("schema-ref", f"{key} is not supported", "use $ref", (*path, key))
    if "$ref" in schema and _target(schema["$ref"], places) is None:
        shown = quoted(str(schema["$ref"]))
        fix = 'point at a schema in this one, as in "#/$defs/item"; nothing is ever fetched'
        yield Fault("schema-ref", f"{shown} is no schema inside this one", fix, (*path, "$ref"))
    patterns = [("pattern", schema.get("pattern"))]
    if isinstance(schema.get("patternProperties"), Mapping):
        patterns += [("patternProperties", pattern) for pattern in schema["patternProperties"]]
    for key, pattern in patterns:
        if isinstance(pattern, str):
            try:
                compiled(pattern)
            except BadPattern as bad:
                fix = "write a simpler one, or say it in the description and check it in the tool"
                yield Fault("schema-pattern", f"the pattern {quoted(pattern)} cannot be used: {bad}", fix, (*path, key))


def _text_faults(value: Any, path: Path) -> Iterator[Fault]:
    """Texts that people do not see: agents read a schema as it stands, its values, names and comments included."""
    if isinstance(value, str) and not is_harmless(value):
        key = next((part for part in reversed(path) if isinstance(part, str)), "")
        yield _unprintable(f"the {key}" if key in ("title", "description") else f"a text of {quoted(key)}", path)
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            if not is_printable(str(name)):
                yield _unprintable(f"the name {quoted(str(name))}", (*path, name))
            yield from _text_faults(inner, (*path, name))
    elif isinstance(value, (list, tuple)):
        for index, inner in enumerate(value):
            yield from _text_faults(inner, (*path, index))


def _unprintable(what: str, path: Path) -> Fault:
    message = f"{what} holds control characters, or ones that reorder text"
    return Fault("schema-unprintable", message, "remove them: nobody can see them", path)


def _target(reference: Any, places: Mapping[Path, Any]) -> Path | None:
    """Where a `$ref` points, if that is a schema inside this one."""
    if not isinstance(reference, str) or not reference.startswith("#"):
        return None
    fragment = unquote(reference[1:])
    if fragment and not fragment.startswith("/"):
        anchored = [path for path, one in places.items() if isinstance(one, Mapping) and one.get("$anchor") == fragment]
        return anchored[0] if len(anchored) == 1 else None
    path: Path = ()
    for part in fragment.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        in_line = bool(path) and path[-1] in _IN_LINE and (path[:-1] in places)
        path = (*path, int(name) if in_line and name.isdecimal() else name)
    return path if path in places else None


# -- how much work one value can cause -------------------------------------------------------------------------------


@attrs.frozen
class _Edges:
    """Where a schema applies others: to the same value, to a value's properties, to its entries."""

    same: tuple[Path, ...]
    looks_back: bool
    named: Mapping[str, Path]
    additional: Path | None
    any_property: tuple[Path, ...]
    entries: Mapping[int, Path]
    any_entry: tuple[Path, ...]


_TO_THE_SAME = frozenset({"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"})
_TO_ANY_PROPERTY = frozenset({"patternProperties", "unevaluatedProperties", "propertyNames"})
_TO_ANY_ENTRY = frozenset({"items", "contains", "unevaluatedItems"})


def _edges(schema: Any, path: Path, places: Mapping[Path, Any]) -> _Edges:
    inner = list(parts(schema, path))

    def under(keys: Collection[str]) -> tuple[Path, ...]:
        return tuple(place for key, _, place, _ in inner if key in keys)

    same = under(_TO_THE_SAME)
    if isinstance(schema, Mapping) and (target := _target(schema.get("$ref"), places)) is not None:
        same += (target,)
    return _Edges(
        same=same,
        looks_back=any(key in ("unevaluatedProperties", "unevaluatedItems") for key, *_ in inner),
        named={str(name): place for key, name, place, _ in inner if key == "properties"},
        additional=next(iter(under(("additionalProperties",))), None),
        any_property=under(_TO_ANY_PROPERTY),
        entries={index: place for key, index, place, _ in inner if key == "prefixItems" and isinstance(index, int)},
        any_entry=under(_TO_ANY_ENTRY),
    )


def _work_faults(places: Mapping[Path, Any]) -> Iterator[Fault]:
    edges = {path: _edges(schema, path, places) for path, schema in places.items()}
    order, cycle = _inner_first(edges)
    if cycle is not None:
        yield Fault(
            "schema-ref-cycle", "this schema applies itself to the same value, so that no check of it would end",
            "let the way back go through a property or an entry", cycle,
        )  # fmt: skip
        return
    applied = _applied(edges, order)
    if isinstance(applied, tuple):
        yield Fault(
            "schema-fan-out", f"more than {MOST_FAN_OUT} schemas would be applied to one value",
            "use fewer alternatives, and do not nest them", applied,
        )  # fmt: skip
        return
    if _most_on_a_path(edges, applied) > MOST_ON_A_PATH:
        yield Fault(
            "schema-fan-out", "alternatives that nest in themselves multiply with each level of a value",
            "let only one alternative hold the nested schema", (),
        )  # fmt: skip


def _inner_first(edges: Mapping[Path, _Edges]) -> tuple[list[Path], Path | None]:
    """The schemas, each after those it applies to the same value; and one that applies itself to it, if any does."""
    done: dict[Path, bool] = {}
    order: list[Path] = []
    for start in edges:
        stack = [(start, iter(edges[start].same))] if start not in done else []
        done.setdefault(start, False)
        while stack:
            path, rest = stack[-1]
            following = next(rest, None)
            if following is None:
                stack.pop()
                done[path] = True
                order.append(path)
            elif following not in done:
                done[following] = False
                stack.append((following, iter(edges[following].same)))
            elif not done[following]:
                return order, following
    return order, None


def _applied(edges: Mapping[Path, _Edges], order: list[Path]) -> dict[Path, Counter[Path]] | Path:
    """How often each schema is applied to a value when one is; or the schema of which that is too often.

    A schema with `unevaluated...` asks those beside it a second time, and they theirs.
    """
    once: dict[Path, Counter[Path]] = {}
    again: dict[Path, Counter[Path]] = {}
    entries = 0
    for path in order:
        back: Counter[Path] = Counter()
        whole = Counter({path: 1})
        for inner in edges[path].same:
            whole.update(once[inner])
            back.update(once[inner])
            back.update(again[inner])
        if edges[path].looks_back:
            whole.update(back)
        entries += len(whole) + len(back)
        if whole.total() > MOST_FAN_OUT or back.total() > MOST_FAN_OUT**2 or entries > _MOST_ENTRIES:
            return path
        once[path], again[path] = whole, back
    return once


@attrs.frozen
class _Step:
    """What one level of a value costs: so much at once, and these schemas on the next level."""

    here: int
    each_property: Counter[Path]
    by_name: tuple[Counter[Path], ...]
    each_entry: Counter[Path]
    by_index: tuple[Counter[Path], ...]


def _step(applied: Counter[Path], edges: Mapping[Path, _Edges]) -> _Step:
    each_property: Counter[Path] = Counter()
    each_entry: Counter[Path] = Counter()
    by_name: dict[str, Counter[Path]] = {}
    by_index: dict[int, Counter[Path]] = {}
    for path, times in applied.items():
        one = edges[path]
        for place in one.any_property:
            each_property[place] += times
        if one.additional is not None:
            each_property[one.additional] += times
        for name, place in one.named.items():
            mine = by_name.setdefault(name, Counter())
            mine[place] += times
            if one.additional is not None:  # a property that is named is no additional one
                mine[one.additional] -= times
        for place in one.any_entry:
            each_entry[place] += times
        for index, place in one.entries.items():
            by_index.setdefault(index, Counter())[place] += times
    return _Step(applied.total(), each_property, tuple(by_name.values()), each_entry, tuple(by_index.values()))


def _most_on_a_path(edges: Mapping[Path, _Edges], applied: Mapping[Path, Counter[Path]]) -> int:
    """The most schemas applied on a way of `DEEPEST` levels into a value, from the whole schema on."""
    steps = {path: _step(counter, edges) for path, counter in applied.items()}
    work = {path: step.here for path, step in steps.items()}

    def cost(counter: Counter[Path]) -> int:
        return sum(times * work[path] for path, times in counter.items())

    for _ in range(DEEPEST):
        deeper = {
            path: step.here
            + max(
                cost(step.each_property) + max(map(cost, step.by_name), default=0),
                cost(step.each_entry) + max(map(cost, step.by_index), default=0),
            )
            for path, step in steps.items()
        }
        if deeper == work or deeper[()] > MOST_ON_A_PATH:  # without a `$ref` nothing is deeper than the schema is
            return deeper[()]
        work = deeper
    return work[()]
