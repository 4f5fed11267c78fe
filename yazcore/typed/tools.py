"""`@tool`: a `Tool` from a typed function, whose annotations say once what the code and the manifest both need.

    from typing import Annotated, TypedDict
    from pydantic import Field
    from yazcore import hookimpl, tool

    class Found(TypedDict):
        lines: list[str]

    class NotesPlugin:
        @hookimpl
        def provide_tools(self):
            return [self.search_notes]

        @tool
        def search_notes(
            self, context, query: Annotated[str, Field(max_length=200, description="words that all must occur")]
        ) -> Found: ...

What comes of it is a plain `Tool`, here `search-notes`: nothing later can tell it from one that was written by hand.
`yaz manifest sync` writes its schemas into the manifest, where they are what counts (design 4).

* The gate validates arguments against the schema; the function gets them as they came, as keywords, nothing coerced.
* Names are snake_case here and camelCase on the wire (design 4): `project_id` is the argument `projectId`.
* Which types there are, and what bounds they need, says `yazcore.typed.schemas`.
"""

from __future__ import annotations

import functools
import inspect
import json
from collections.abc import Callable, Mapping
from typing import Any, cast, overload

import attrs

from yazcore.contributions import Handler, Tool
from yazcore.manifest.names import is_name
from yazcore.manifest.records import camel
from yazcore.manifest.schemas import argument_errors, validator
from yazcore.manifest.words import quoted
from yazcore.typed.schemas import WORDS, Hints, NotATool, Schema, closed, resolved, shown, unresolved, usable


@overload
def tool(function: Callable[..., Any], /, *, name: str | None = None, read_only_hint: bool | None = None) -> Tool: ...
@overload
def tool(*, name: str | None = None, read_only_hint: bool | None = None) -> Callable[[Callable[..., Any]], Tool]: ...


def tool(
    function: Callable[..., Any] | None = None, /, *, name: str | None = None, read_only_hint: bool | None = None
) -> Tool | Callable[[Callable[..., Any]], Tool]:
    """Derive a `Tool` from a typed function or a bound method; as a decorator in a class, from a method.

    * `name`: the tool's name; the function's with `-` for `_` if it is not said.
    * `read_only_hint`: as `Tool` has it.

    A parameter `context` gets the call's context and is no argument. The first parameter of a method is called `self`.
    Raises `NotATool`, a `YazError` with a code `typed-...` or `schema-...`, for what no closed and bounded schema can
    say (G28, G51).
    """
    if function is None:
        return functools.partial(tool, name=name, read_only_hint=read_only_hint)
    derived = _derive(function, name, read_only_hint)
    if derived.is_method:
        return cast(Tool, _ToolMethod(function, derived))  # for checkers it is what an instance's attribute gives
    return derived.tool_of(function)


@attrs.frozen(kw_only=True)
class _Derived:
    """What a function's signature says; `names` are its parameters by their names on the wire."""

    name: str
    names: Mapping[str, str]
    takes_context: bool
    is_method: bool
    input_schema: Schema
    output_schema: Schema | None
    read_only_hint: bool | None

    def tool_of(self, function: Callable[..., Any]) -> Tool:
        return Tool(self.name, self._handler(function), self.input_schema, self.output_schema, self.read_only_hint)

    def _handler(self, function: Callable[..., Any]) -> Handler:
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def handler(context: Any, arguments: Mapping[str, Any]) -> Any:
                return await function(**self._keywords(context, arguments))
        else:

            @functools.wraps(function)
            def handler(context: Any, arguments: Mapping[str, Any]) -> Any:
                return function(**self._keywords(context, arguments))

        return handler

    def _keywords(self, context: Any, arguments: Mapping[str, Any]) -> dict[str, Any]:
        given = {self.names[wire]: value for wire, value in arguments.items()}
        return {**given, "context": context} if self.takes_context else given


class _ToolMethod:
    """A method that was decorated: as an instance's attribute it is the `Tool` with that instance's handler."""

    def __init__(self, function: Callable[..., Any], derived: _Derived) -> None:
        self._function = function
        self._derived = derived

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        if instance is None:
            return self
        return self._derived.tool_of(self._function.__get__(instance, owner))


# -- the signature ----------------------------------------------------------------------------------------------------


def _derive(function: Callable[..., Any], name: str | None, read_only_hint: bool | None) -> _Derived:
    if not (inspect.isfunction(function) or inspect.ismethod(function)):
        fix = "give a function or a method; @tool stands below @staticmethod"
        raise NotATool("typed-function", f"{shown(function)} is no function", fix)
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise NotATool("typed-function", f"{function.__name__} is a generator", "return the whole result, or a Page")
    name = function.__name__.replace("_", "-") if name is None else name
    if not is_name(name):
        fix = 'give one of a-z, 0-9 and single - or _, as in @tool(name="search-notes")'
        raise NotATool("typed-name", f"{quoted(name)} is no name of a tool", fix)
    try:
        signature = inspect.signature(function)
    except NameError as error:  # from Python 3.14 on, annotations are evaluated here
        raise unresolved(name, "its signature", error) from None
    parameters = list(signature.parameters.values())
    is_method = inspect.isfunction(function) and bool(parameters) and parameters[0].name == "self"
    arguments = [one for one in parameters[is_method:] if one.name != "context"]
    names: dict[str, str] = {}
    for parameter in parameters[is_method:]:
        _check(name, parameter, names)
        names[camel(parameter.name)] = parameter.name
    properties = {camel(one.name): _property(name, one, function) for one in arguments}
    required = [camel(one.name) for one in arguments if one.default is inspect.Parameter.empty]
    return _Derived(
        name=name,
        names={wire: parameter for wire, parameter in names.items() if wire != "context"},
        takes_context="context" in names,
        is_method=is_method,
        input_schema=usable(name, "the arguments", closed(properties, required)),
        output_schema=_output(name, signature.return_annotation, function),
        read_only_hint=read_only_hint,
    )


def _check(name: str, parameter: inspect.Parameter, names: Mapping[str, str]) -> None:
    """Whether a parameter can be given as a keyword, under a name that no other has."""
    what = f"{name}: {quoted(parameter.name)}"
    if parameter.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
        raise NotATool("typed-parameter", f"{what} would take anything", "name every argument")
    if parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
        fix = 'take "/" out of the signature: arguments come as keywords'
        raise NotATool("typed-parameter", f"{what} can only be given by its position", fix)
    if parameter.name != "context" and parameter.annotation is inspect.Parameter.empty:
        raise NotATool("typed-parameter", f"{what} has no type", "annotate it; only self and context need no type")
    wire = camel(parameter.name)
    if parameter.name.startswith("_"):
        raise NotATool("typed-parameter", f"{what} begins with an underscore", "let an argument begin with a letter")
    if wire in names:
        message = f"{what} and {quoted(names[wire])} are both {quoted(wire)} on the wire"
        raise NotATool("typed-parameter", message, "rename one of them")


def _property(name: str, parameter: inspect.Parameter, function: Callable[..., Any]) -> Schema:
    wire = camel(parameter.name)
    hint = resolved(parameter.annotation, function, name, quoted(wire))
    schema = Hints(name, bounded=True).schema(hint, (wire,))
    if parameter.default is inspect.Parameter.empty:
        return schema
    plain = _plain(parameter.default)
    if plain != parameter.default:
        wrong = ["it is no plain data"]
    else:
        wrong = argument_errors(validator(usable(name, quoted(wire), schema)), plain)
    if wrong:
        fix = "give a default that a caller could give, or let the type have None"
        raise NotATool("typed-default", f"{name}: the default of {quoted(wire)} does not fit: {wrong[0]}", fix)
    words = {key: schema.pop(key) for key in WORDS if key in schema}
    return {**schema, "default": plain, **words}


def _plain(value: Any) -> Any:
    """The value as JSON brings it; not equal to it where it is no plain data."""
    try:
        return json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        return _NOTHING


_NOTHING = object()


def _output(name: str, annotation: Any, function: Callable[..., Any]) -> Schema | None:
    if annotation is inspect.Signature.empty:
        return None
    hint = resolved(annotation, function, name, "the result")
    schema = Hints(name, bounded=False).promise(hint)
    return None if schema is None else usable(name, "the result", schema)
