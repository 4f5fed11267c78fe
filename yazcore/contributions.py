"""What hooks return, what handlers return, and the contribution kinds that tie both to a manifest (design 6)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs

from yazcore.declarations import (
    CommandDeclaration,
    FormatDeclaration,
    JsonSchema,
    PromptDeclaration,
    ResourceDeclaration,
    ToolDeclaration,
)

if TYPE_CHECKING:
    from yazcore.parts import Part

Handler = Callable[..., Any]
"""`handler(context, arguments)`, sync or async; `arguments` is a dict of plain data."""


@attrs.frozen
class Command:
    """A command for people: `handler(context, arguments: list[str])`, whose returned text is printed."""

    id: str
    handler: Handler


@attrs.frozen
class Tool:
    """A tool for agents: `handler(context, arguments: dict)` gives a dict, a `Page`, a `Result` or a text.

    Schemas may be left out: the declared ones count. A given schema, and `read_only_hint`, must agree with the
    manifest, else the plugin is refused.
    """

    name: str
    handler: Handler
    input_schema: JsonSchema | None = None
    output_schema: JsonSchema | None = None
    read_only_hint: bool | None = None


@attrs.frozen
class Resource:
    """A readable thing: `handler(context, variables: dict[str, str])` gives text, bytes or JSON data.

    `address` is the declared `uri` or `uriTemplate`. `complete(context, variable, prefix)` lists values for a variable.
    """

    address: str
    handler: Handler
    complete: Handler | None = None


@attrs.frozen
class Prompt:
    """A runbook: `handler(context, arguments: dict[str, str])` gives a text, a `Message` or a list of them.

    `complete(context, argument, prefix)` lists values for an argument.
    """

    name: str
    handler: Handler
    complete: Handler | None = None


@attrs.frozen
class Format:
    """A document format (provisional, open to shipped plugins only: design 8); plain data in, plain data out.

    * `find_entry(context, names)`: of the project's file names, the entry document or None.
    * `outline(context, source)`: `source` is `{"entry", "files": {name: text}}`; gives outline nodes; pure, never
      raises on bad text, never runs an engine.
    * `plan(context, job)`: `job` is `{"entry"}`; gives `{"engine", "arguments"}` for an engine the host registered.
    * `collect(context, outcome)`: what the engine said, `{"exit", "output", ...}`; gives `{"diagnostics": [...]}`.
    """

    id: str
    find_entry: Handler
    outline: Handler
    plan: Handler
    collect: Handler


class ToolError(Exception):
    """What a plugin wants the caller to read: its text is the only exception text that leaves (design 6, mcp 51)."""


@attrs.frozen
class Link:
    """A resource that a result points to."""

    uri: str
    name: str
    mime_type: str | None = None
    description: str | None = None


@attrs.frozen
class Page:
    """A slice of a list: `{"items": [...], "nextCursor": ...}` on the wire. Without a `next_cursor` it is the last."""

    items: Sequence[Any]
    next_cursor: str | None = None


@attrs.frozen
class Result:
    """A result with its own words: `text` for the model, `structured` (a dict) for programs, `links` to resources.

    `parts` are pictures, sound and documents that belong to the result itself.
    """

    structured: Mapping[str, Any] | None = None
    text: str | None = None
    links: Sequence[Link] = ()
    parts: Sequence[Part] = ()


FieldDifference = tuple[str, Any, Any]
"""What differs: the field's name on the wire, the declared and the registered value."""


def _nothing_to_compare(declared: Any, registered: Any) -> Iterator[FieldDifference]:
    return iter(())


@attrs.frozen(kw_only=True)
class ContributionKind:
    """One kind of contribution: its manifest key, the hook that collects it, what identifies one, what is compared.

    The shipped kinds are five such objects; a host application adds its own to its `Contract` in the same way.

    * `declaration`: the attrs class of an entry under `provides[key]`; `declared_name` names one.
    * `registration`: the attrs class that the hook returns; `registered_name` names one.
    * `handlers`: the fields of a registration that hold code.
    * `compare`: yields what differs between a declaration and the registration of the same name.
    * `posture`: how its code runs where the declaration has no posture of its own (design 5).
    """

    key: str
    hook: str
    declaration: type
    registration: type
    declared_name: Callable[[Any], str]
    registered_name: Callable[[Any], str]
    handlers: tuple[str, ...] = ("handler",)
    compare: Callable[[Any, Any], Iterator[FieldDifference]] = _nothing_to_compare
    posture: str = "read"


def _compare_tools(declared: ToolDeclaration, registered: Tool) -> Iterator[FieldDifference]:
    if registered.input_schema is not None and not same_json(registered.input_schema, declared.input_schema):
        yield "inputSchema", declared.input_schema, registered.input_schema
    if registered.output_schema is not None and not same_json(registered.output_schema, declared.output_schema):
        yield "outputSchema", declared.output_schema, registered.output_schema
    read_only = declared.posture == "read"
    if registered.read_only_hint is not None and registered.read_only_hint is not read_only:
        yield "readOnlyHint", read_only, registered.read_only_hint


def same_json(left: Any, right: Any) -> bool:
    """Equality as JSON has it: `true` is not `1`, `1` is `1.0`, the order of keys does not count."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(same_json(left[key], right[key]) for key in left)
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        return len(left) == len(right) and all(map(same_json, left, right))
    return bool(left == right)


COMMANDS = ContributionKind(
    key="commands", hook="addCommand", declaration=CommandDeclaration, registration=Command,
    declared_name=lambda declared: str(declared.id), registered_name=lambda registered: str(registered.id),
    posture="write",
)  # fmt: skip
FORMATS = ContributionKind(
    key="formats", hook="registerFormat", declaration=FormatDeclaration, registration=Format,
    declared_name=lambda declared: str(declared.id), registered_name=lambda registered: str(registered.id),
    handlers=("find_entry", "outline", "plan", "collect"),
)  # fmt: skip
TOOLS = ContributionKind(
    key="tools", hook="provide_tools", declaration=ToolDeclaration, registration=Tool,
    declared_name=lambda declared: str(declared.name), registered_name=lambda registered: str(registered.name),
    compare=_compare_tools,
)  # fmt: skip
RESOURCES = ContributionKind(
    key="resources", hook="provide_resources", declaration=ResourceDeclaration, registration=Resource,
    declared_name=lambda declared: str(declared.address), registered_name=lambda registered: str(registered.address),
    handlers=("handler", "complete"),
)  # fmt: skip
PROMPTS = ContributionKind(
    key="prompts", hook="provide_prompts", declaration=PromptDeclaration, registration=Prompt,
    declared_name=lambda declared: str(declared.name), registered_name=lambda registered: str(registered.name),
    handlers=("handler", "complete"),
)  # fmt: skip

CONTRIBUTION_KINDS = (COMMANDS, FORMATS, TOOLS, RESOURCES, PROMPTS)
"""The kinds that every host accepts."""
