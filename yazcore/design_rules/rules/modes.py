"""Rules about what decides which effect a call has: modes, flags, shapes (G12, G21)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from yazcore.design_rules.examples import tool, tools
from yazcore.design_rules.rule import Found, found_in, rule
from yazcore.design_rules.schemas import Parameter
from yazcore.design_rules.view import ToolView, View
from yazcore.design_rules.words import CHANGING, READING, VERBS, tokens, word_set, words
from yazcore.manifest.words import listed, quoted

_TICKET = {"type": "string", "pattern": "^[A-Z]+-[0-9]+$", "description": "The ticket's key, as in OP-17."}
_STATE = {"type": "string", "enum": ["open", "closed"], "description": "Which tickets."}

_METHODS = word_set("get head post put patch delete options")
KEEPS = word_set("create update add register set configure edit save")
"""Verbs of tools that keep an address for later, such as one of a webhook, and send nothing there now."""


def is_http_method(each: Parameter) -> bool:
    """Whether an argument is the method of a request: by its name, free or of the methods of HTTP."""
    name = "_".join(tokens(each.name))
    values = {value.lower() for value in each.values}
    says_any = values <= _METHODS if values else each.is_free_text
    return says_any and name in ("method", "http_method", "verb", "http_verb")


_MIXES_READING = READING | {"info", "status", "load", "open", "export"}
_LIFECYCLE = tuple(
    word_set(line)
    for line in (
        "start continue abort skip quit",
        "append prepend rewrite overwrite",
        "open close closed merged",
        "start stop restart",
        "lock unlock",
        "enable disable",
        "add remove",
        "approve reject request_changes comment",
    )
)
"""Pairs and steps of one decision: not several effects that a permission could tell apart."""
_ACTIONS_LISTED = re.compile(r"\bactions?\b[^:\n]{0,40}:\s*(.{5,400})", re.I | re.S)
_BULLET = re.compile(r"^[ \t]*[-*•][ \t]*['\"`]?([a-z][a-z_-]{2,30})['\"`]?[ \t]*(?::|-|–|\()", re.M)


def _modes(one: ToolView) -> Iterator[tuple[Parameter, tuple[str, ...]]]:
    """Arguments whose values are verbs, with those values."""
    for each in one.input.arguments:
        values = each.values
        if not values and "_".join(tokens(each.name)) in ("action", "operation", "op", "command") and each.is_free_text:
            values = _listed_actions(f"{each.said}\n{one.tool.description[:6_000]}")
        verbs = [value for value in values if tokens(value) and tokens(value)[0] in VERBS]
        if is_http_method(each) and one.verb in KEEPS:
            continue
        if len(values) >= 2 and 2 * len(verbs) >= len(values) and not any(set(values) <= known for known in _LIFECYCLE):
            yield each, values


def _listed_actions(text: str) -> tuple[str, ...]:
    if len(bullets := _BULLET.findall(text)) >= 2:
        return tuple(bullets)
    found = _ACTIONS_LISTED.search(text)
    if found is None:
        return ()
    first = re.split(r"[.\n]", found[1])[0]
    return tuple(one.strip(" '\"`()") for one in re.split(r",| or | and |\|", first) if one.strip(" '\"`()"))


def _kinds(values: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """The values that read, and those that change something, by their first word."""
    reads = [value for value in values if tokens(value) and tokens(value)[0] in _MIXES_READING]
    changes = [value for value in values if tokens(value) and tokens(value)[0] in CHANGING - _MIXES_READING]
    return reads, changes


@rule(
    "G12", "suspicion", "No argument switches between reading and changing",
    change="make a tool that reads and one that changes; each has its own permission and approval",
    good=tools(
        tool("list_tickets", "Lists tickets.", {"state": _STATE}), tool("close_ticket", "Closes one.", {"key": _TICKET})
    ),
    bad=tools(tool("tickets", "Works on tickets.", {"action": {"enum": ["list", "create", "delete"]}})),
    at=["/tools/0/inputSchema/properties/action"],
)  # fmt: skip
def reads_or_changes(view: View) -> Iterator[Found]:
    """Who allows such a tool to read has allowed it to delete: no host can ask about a mode."""
    for one in view.tools:
        for each, values in _modes(one):
            reads, changes = _kinds(values)
            if reads and changes:
                which = f"reading ({listed(reads, 3)}) and changing ({listed(changes, 3)})"
                message = f"{quoted(each.name)} chooses between {which}"
                yield found_in(one.tool, (*one.tool.schema_path, *each.path), message)


_FLAGS = re.compile(
    r"^(?:archived?|in_trash|trash|trashed|deleted?|remove|purge|unpublish|clear_\w+|drop_\w+|delete_\w+|reset_\w+)$"
)


@rule(
    "G21", "suspicion", "A tool has one effect, whatever its arguments are",
    change="make a tool for each effect, named for it",
    good=tools(tool("rename_ticket", "Gives a ticket another title.", {"key": _TICKET}, ["key"])),
    bad=tools(
        tool("edit_ticket", "Works on a ticket.", {"op": {"type": "string", "enum": ["create", "merge", "delete"]}}),
        tool("update_ticket", "Changes a ticket.", {"key": _TICKET, "archived": {"type": "boolean"}}, ["key"]),
    ),
    at=["/tools/0/inputSchema/properties/op", "/tools/1/inputSchema/properties/archived"],
)  # fmt: skip
def one_effect(view: View) -> Iterator[Found]:
    """A mode that stands in an argument cannot be described, allowed or refused by itself."""
    for one in view.tools:
        for each, values in _modes(one):
            reads, changes = _kinds(values)
            if len(changes) >= 2 or (reads and changes):
                message = f"{quoted(each.name)} chooses between {listed(changes + reads, 4)}"
                yield found_in(one.tool, (*one.tool.schema_path, *each.path), message)
        if one.verb in ("delete", "remove", "purge", "drop", "archive", "clear", "trash") or one.reads:
            continue
        for each in one.input.arguments:
            if each.types - {"null"} == {"boolean"} and _FLAGS.match("_".join(tokens(each.name))):
                message = f"{quoted(each.name)} makes another effect of a call that is named for none"
                yield found_in(one.tool, (*one.tool.schema_path, *each.path), message)


_BY_KEY = {"properties": {"key": _TICKET}, "required": ["key"], "additionalProperties": False}
_BY_TITLE = {
    "properties": {"title": {"type": "string", "maxLength": 200, "description": "The title of a new ticket."}},
    "required": ["title"], "additionalProperties": False,
}  # fmt: skip


@rule(
    "G21b", "suspicion", "The arguments of a tool have one shape",
    change="make a tool for each shape, named for what it does",
    good=tools(tool("close_ticket", "Closes a ticket.", {"key": _TICKET}, ["key"])),
    bad=tools(tool("change_ticket", "Changes tickets.", inputSchema={"type": "object", "oneOf": [_BY_KEY, _BY_TITLE]})),
    at=["/tools/0/inputSchema/oneOf"],
    unmeasured="no tool of the corpus has a union at its top, for hardly a generator writes one",
)  # fmt: skip
def one_shape(view: View) -> Iterator[Found]:
    """Shapes that share nothing that is required are several tools under one name: which one is called, and what it
    needs, neither name nor permission says."""
    for one in view.tools:
        schema = one.tool.input_schema
        for key in ("oneOf", "anyOf") if isinstance(schema, Mapping) else ():
            shapes = [_shape(one, shape) for shape in schema[key]] if isinstance(schema.get(key), list) else []
            if len(shapes) >= 2 and all(shapes) and not _shared(shapes[:MOST_SHAPES]):
                message = f"its arguments have {len(shapes)} shapes that share nothing that is required"
                yield found_in(one.tool, (*one.tool.schema_path, key), message)


MOST_SHAPES = 64
"""As many shapes of one tool are held against each other."""


def _shape(one: ToolView, shape: object) -> Mapping[str, object]:
    """What a shape of the arguments requires, by name, where it has properties of its own; else nothing."""
    found = one.input.target(shape["$ref"]) if isinstance(shape, Mapping) and "$ref" in shape else None
    schema = shape if found is None else found[1]
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    needed = schema.get("required") if isinstance(schema, Mapping) else None
    if not isinstance(properties, Mapping) or not isinstance(needed, list):
        return {}
    return {name: properties[name] for name in needed if isinstance(name, str) and name in properties}


def _shared(shapes: Sequence[Mapping[str, object]]) -> bool:
    """Whether two of the shapes require something in common; what only tells one from the other does not count."""
    for index, one in enumerate(shapes):
        for other in shapes[:index]:
            if any(not _tells_apart(one[name], other[name]) for name in one.keys() & other.keys()):
                return True
    return False


def _tells_apart(one: object, other: object) -> bool:
    values = [each.get("const", each.get("enum")) if isinstance(each, Mapping) else None for each in (one, other)]
    return None not in values and values[0] != values[1]


_VERB_LIST = re.compile(r"(\w+)((?:, (?:or |and )?\w+){0,8}?)(?:,? (?:or|and) )(\w+)\b", re.IGNORECASE)


@rule(
    "G21c", "question", "What a call does is not told by which optional arguments are given",
    change="make a tool for each effect, each with what it requires",
    good=tools(tool("close_ticket", "Closes a ticket.", {"key": _TICKET}, ["key"])),
    bad=tools(tool("tickets", "Creates, changes or deletes tickets.", {"key": _TICKET, "title": {"type": "string"}})),
    at=["/tools/0"],
    unsure="of the labelled tools none is so, and two verbs in a text are as often one effect in two words",
)  # fmt: skip
def one_effect_by_text(view: View) -> Iterator[Found]:
    """Where nothing is required and several things are done, the fields that happen to be given decide which."""
    for one in view.in_english:
        arguments = one.input.arguments
        found = _VERB_LIST.match(one.text[:200])
        if len(arguments) < 2 or any(each.required for each in arguments) or found is None:
            continue
        verbs = [verb for word in words(found[0]) if (verb := _as_verb(word)) is not None]
        changes, reads = [verb for verb in verbs if verb in CHANGING], [verb for verb in verbs if verb in READING]
        if len(changes) >= 2 or (changes and reads):
            yield found_in(one.tool, one.tool.path, f"it requires nothing, and does several things: {listed(verbs, 4)}")


def _as_verb(word: str) -> str | None:
    return next((form for form in (word, word.removesuffix("s"), word.removesuffix("es")) if form in VERBS), None)


RULES = (reads_or_changes, one_effect, one_shape, one_effect_by_text)
"""The rules of this page, in the order of the seed."""
