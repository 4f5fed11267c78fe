"""From a type to a JSON Schema that is closed and bounded, or a refusal that says what to write instead (G28, G51).

Values are plain data, and nothing is converted. So a type has to be one that plain data has: `str`, `int`, `float`,
`bool`, `None`, `Literal`, `list[...]`, `TypedDict`, unions and aliases of them; an `Enum` or a `datetime` would never
come. Every object is closed.

No bound is invented. A schema is published, pinned with the user's grant and what callers build on, and a number that
nobody chose would be as binding as one that somebody did. So texts, lists and numbers of arguments need their bounds in
`Annotated`, by `Field` of pydantic or what `annotated_types` has. Results need none: the gate bounds their size.

pydantic turns a type and its metadata into keywords, and is loaded when a first schema is derived. What it would do to
a value beyond what the keywords say (strip, convert, call a validator) nobody would do, so that is refused.
"""

from __future__ import annotations

import inspect
import json
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any, Literal

from yazcore.manifest.places import pointer
from yazcore.manifest.schemas import schema_faults
from yazcore.manifest.words import quoted
from yazcore.violations import YazError, sentence

Schema = dict[str, Any]
Path = tuple[str, ...]


class NotATool(YazError):
    """A function from which no tool can be derived. Its text is the whole sentence: authors meet it in a traceback."""

    def __str__(self) -> str:
        return sentence(self)


def closed(properties: Mapping[str, Schema], required: list[str]) -> Schema:
    """The schema of an object with these properties and no others."""
    needed: Schema = {"required": required} if required else {}
    return {"type": "object", "properties": dict(properties), **needed, "additionalProperties": False}


def resolved(annotation: Any, function: Callable[..., Any], tool: str, where: str) -> Any:
    """An annotation with every name in it looked up. Raises `NotATool` `typed-unresolved`.

    One annotation at a time, so that those which are not asked for may name what only type checkers know.
    """
    import typing_extensions

    holder = types.SimpleNamespace(__annotations__={"it": annotation})
    names = getattr(inspect.unwrap(function), "__globals__", {})
    try:
        return typing_extensions.get_type_hints(holder, globalns=names, include_extras=True)["it"]
    except Exception as error:  # noqa: BLE001 - an annotation is code of the plugin's, and may raise anything
        raise unresolved(tool, where, error) from None


def unresolved(tool: str, where: str, error: Exception) -> NotATool:
    """What to raise for an annotation that cannot be looked up."""
    fix = "define or import what it names above the function, and not for type checkers only"
    return NotATool("typed-unresolved", f"{tool}: the type of {where} cannot be looked up: {error}", fix)


def usable(tool: str, what: str, schema: Schema) -> Schema:
    """The schema as plain data. Raises `NotATool`, also with the code `schema-...` of what no manifest may have."""
    try:
        plain: Schema = json.loads(json.dumps(schema, allow_nan=False))
    except (TypeError, ValueError) as error:
        fix = "use finite numbers and plain data in bounds, defaults and examples"
        raise NotATool("typed-constraint", f"{tool}: the schema of {what} is no JSON: {error}", fix) from None
    for fault in schema_faults(plain):
        place = f" at {pointer(fault.path)}" if fault.path else ""
        raise NotATool(fault.code, f"{tool}: the schema of {what} cannot be used: {fault.message}{place}", fault.fix)
    return plain


_ORDER = (
    "type", "const", "enum", "anyOf", "minLength", "maxLength", "pattern", "minimum", "exclusiveMinimum", "maximum",
    "exclusiveMaximum", "multipleOf", "minItems", "maxItems", "items", "properties", "required", "additionalProperties",
    "title", "description", "examples",
)  # fmt: skip
"""The keywords a derived schema may have, in the order people write them: what it is, its bounds, what it means."""

WORDS = ("title", "description", "examples")
"""The keywords that bound nothing."""

_CORE: Mapping[str, frozenset[str]] = {
    "str": frozenset({"min_length", "max_length", "pattern"}),
    "int": frozenset({"ge", "gt", "le", "lt", "multiple_of"}),
    "float": frozenset({"ge", "gt", "le", "lt", "multiple_of"}),
    "bool": frozenset(),
    "none": frozenset(),
    "any": frozenset(),
    "literal": frozenset({"expected"}),
    "list": frozenset({"items_schema", "min_length", "max_length"}),
}
"""What pydantic may do to a value of each type: a keyword says all of it."""


def _ordered(schema: Schema) -> Schema:
    return {keyword: schema[keyword] for keyword in _ORDER if keyword in schema}


class Hints:
    """The types of one tool's arguments (`bounded`), or of its result."""

    def __init__(self, tool: str, *, bounded: bool) -> None:
        self._tool = tool
        self._bounded = bounded
        self._within: list[Any] = []

    def promise(self, hint: Any) -> Schema | None:
        """The schema of a result, None where its type is no `TypedDict` and so promises no shape. Raises `NotATool`."""
        import typing_extensions as te

        inner = hint
        while typing.get_origin(inner) is typing.Annotated or _is_alias(inner):
            inner = self._value(inner, ()) if _is_alias(inner) else inner.__origin__
        return self.schema(hint, ()) if te.is_typeddict(inner) else None

    def schema(self, hint: Any, path: Path, metadata: tuple[Any, ...] = ()) -> Schema:
        """The schema of a type; `metadata` is what `Annotated` says of it. Raises `NotATool`."""
        import typing_extensions as te

        while typing.get_origin(hint) is typing.Annotated:
            hint, metadata = hint.__origin__, hint.__metadata__ + metadata
        origin = typing.get_origin(hint)
        if origin is Literal:
            return self._literal(hint, metadata, path)
        if hint in (str, int, float, bool, None, types.NoneType):
            return self._bounds_checked(self._translated(hint, metadata, path), path)
        if origin is list and typing.get_args(hint):
            found = self._bounds_checked(self._translated(list[Any], metadata, path), path)
            items = self.schema(typing.get_args(hint)[0], (*path[:-1], f"{path[-1]}[]"))
            return _ordered({**found, "items": items})
        is_union = origin in (typing.Union, types.UnionType)
        if not (is_union or isinstance(hint, typing.NewType) or _is_alias(hint) or te.is_typeddict(hint)):
            raise self._wrong_type(hint, path)
        # such a type is made of others, which have their own bounds: only words can be added
        words = self._translated(Any, metadata, path)
        if is_union:
            found = {"anyOf": [self.schema(member, path) for member in typing.get_args(hint)]}
        elif isinstance(hint, typing.NewType):
            found = self.schema(hint.__supertype__, path)
        elif _is_alias(hint):
            found = self._inside(hint, path, lambda: self.schema(self._value(hint, path), path))
        else:
            found = self._inside(hint, path, lambda: self._typed_dict(hint, path))
        return _ordered({**found, **words})

    def _inside(self, hint: Any, path: Path, make: Callable[[], Schema]) -> Schema:
        if any(hint is outer for outer in self._within):
            fix = "write a type for each level, or take a flat list whose entries name each other"
            raise self._fault("typed-recursive", f"contains its own type, {shown(hint)}", path, fix)
        self._within.append(hint)
        try:
            return make()
        finally:
            self._within.pop()

    def _value(self, alias: Any, path: Path) -> Any:
        try:
            return alias.__value__
        except NameError as error:
            raise unresolved(self._tool, self._place(path), error) from None

    def _typed_dict(self, hint: Any, path: Path) -> Schema:
        import typing_extensions as te

        if getattr(hint, "__extra_items__", te.NoExtraItems) is not te.NoExtraItems:
            message = f"takes keys that nobody named, as {shown(hint)} says"
            raise self._fault("typed-open", message, path, "take extra_items away")
        try:
            hints = te.get_type_hints(hint, include_extras=True)
        except Exception as error:  # noqa: BLE001 - an annotation is code of the plugin's, and may raise anything
            raise unresolved(self._tool, self._place(path), error) from None
        origin_of: Callable[[Any], Any] = typing.get_origin
        qualifiers: tuple[Any, ...] = (te.Required, te.NotRequired, te.ReadOnly, typing.Annotated)
        properties, required = {}, []
        for key, inner in hints.items():
            is_required, metadata = key in hint.__required_keys__, ()
            # under `from __future__ import annotations` a class does not know what its keys' qualifiers say
            while (origin := origin_of(inner)) in qualifiers:
                if origin is typing.Annotated:
                    inner, metadata = inner.__origin__, inner.__metadata__ + metadata
                    continue
                if origin is not te.ReadOnly:
                    is_required = origin is te.Required
                (inner,) = typing.get_args(inner)
            properties[key] = self.schema(inner, (*path, key), metadata)
            required += [key] * is_required
        return closed(properties, required)

    def _literal(self, hint: Any, metadata: tuple[Any, ...], path: Path) -> Schema:
        for value in typing.get_args(hint):
            if type(value) not in (str, int, bool, types.NoneType):
                fix = "use texts, whole numbers, True, False and None"
                raise self._fault("typed-type", f"has the choice {value!r}, which no plain data is", path, fix)
        return self._translated(hint, metadata, path)

    def _translated(self, hint: Any, metadata: tuple[Any, ...], path: Path) -> Schema:
        """What pydantic makes of a type that has no inner types, where the keywords say all of it."""
        from pydantic import TypeAdapter
        from pydantic.errors import PydanticUserError
        from pydantic_core import SchemaError

        for one in metadata:
            self._check_metadata(one, path)
            hint = typing.Annotated[hint, one]
        try:
            adapter = TypeAdapter[Any](hint)
            core: Mapping[str, Any] = adapter.core_schema
            schema = adapter.json_schema()
        except (PydanticUserError, SchemaError, TypeError, ValueError) as error:
            reason = " ".join(str(error).split())
            raise self._fault("typed-constraint", f"has a bound that cannot be: {reason}", path, _METADATA) from None
        known = _CORE.get(core["type"])
        if known is None:  # a function around the type, for what the type itself has no room for
            raise self._fault("typed-constraint", "has a bound or a check that is not for its type", path, _METADATA)
        beyond = {key for key in core if key not in known} - {"type", "metadata"} | schema.keys() - set(_ORDER)
        if not isinstance(core.get("pattern", ""), str):
            beyond.add("a pattern that is no text")
        if beyond:
            message = f"has {', '.join(sorted(beyond))}, which no schema can say"
            raise self._fault("typed-constraint", message, path, _METADATA)
        return _ordered(schema)

    def _check_metadata(self, one: Any, path: Path) -> None:
        from annotated_types import BaseMetadata, GroupedMetadata
        from pydantic.fields import FieldInfo

        if isinstance(one, FieldInfo):
            plain = FieldInfo()
            for option in FieldInfo.__slots__:
                if option.startswith("_") or option in WORDS or option == "metadata":
                    continue
                if getattr(one, option) != getattr(plain, option):
                    message = f"has a Field with {option}, which no schema can say"
                    raise self._fault("typed-constraint", message, path, _METADATA)
        elif not isinstance(one, (BaseMetadata, GroupedMetadata)):
            raise self._fault("typed-constraint", f"has {shown(one)}, which no schema can say", path, _METADATA)

    def _bounds_checked(self, schema: Schema, path: Path) -> Schema:
        if not self._bounded:
            return schema
        has = schema.keys()
        match schema["type"]:
            case "string" if "maxLength" not in has:
                fix = "give a bound, as in Annotated[str, Field(max_length=200)], or a Literal"
                raise self._fault("typed-unbounded", "is a text of any length", path, fix)
            case "array" if "maxItems" not in has:
                fix = "give a bound, as in Annotated[list[...], Field(max_length=20)]"
                raise self._fault("typed-unbounded", "is a list of any length", path, fix)
            case "integer" | "number" if not (
                has & {"minimum", "exclusiveMinimum"} and has & {"maximum", "exclusiveMaximum"}
            ):
                fix = "give both bounds, as in Annotated[int, Field(ge=1, le=50)]"
                raise self._fault("typed-unbounded", "is a number without a smallest and a largest value", path, fix)
        return schema

    def _wrong_type(self, hint: Any, path: Path) -> NotATool:
        from typing_extensions import is_typeddict

        if isinstance(hint, (str, typing.ForwardRef)):  # in an alias, where nobody says in which module to look
            text = hint if isinstance(hint, str) else hint.__forward_arg__
            return unresolved(self._tool, self._place(path), NameError(f"{quoted(text)} is a text"))
        origin = typing.get_origin(hint) or hint
        is_mapping = isinstance(origin, type) and issubclass(origin, Mapping) and not is_typeddict(origin)
        if hint in (Any, object) or origin is list or is_mapping:
            fix = "say what is in it: a TypedDict for an object, list[...] for a list"
            return self._fault("typed-open", f"may hold anything, as {shown(hint)} says", path, fix)
        fix = "use str, int, float, bool, None, Literal, list, TypedDict and unions of them: nothing is converted"
        return self._fault("typed-type", f"is {shown(hint)}, which no plain data is", path, fix)

    def _place(self, path: Path) -> str:
        if self._bounded:
            return quoted(".".join(path))
        return f"{quoted('.'.join(path))} of the result" if path else "the result"

    def _fault(self, code: str, message: str, path: Path, fix: str) -> NotATool:
        return NotATool(code, f"{self._tool}: {self._place(path)} {message}", fix)


_METADATA = (
    "say bounds with Field of pydantic (max_length, min_length, pattern, ge, gt, le, lt, multiple_of) right at the "
    "type they are about, and what it means with description; check everything else in the function"
)


def _is_alias(hint: Any) -> bool:
    """Whether it is an alias, of the `type` statement or of `typing_extensions`, which may be two classes."""
    from typing_extensions import TypeAliasType

    return isinstance(hint, (TypeAliasType, getattr(typing, "TypeAliasType", TypeAliasType)))


def shown(thing: Any) -> str:
    """How a message calls a type, or whatever stands in its place."""
    return quoted(thing.__name__ if isinstance(thing, type) and not typing.get_args(thing) else repr(thing))
