"""Rules about schemas that can be decided: they are there, valid, closed, typed (G25, G28, G29, G39, G49 to G51)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from yazcore.design_rules.examples import tool, tools
from yazcore.design_rules.rule import Found, found_in, rule
from yazcore.design_rules.schemas import Node, SchemaView, types_of
from yazcore.design_rules.view import ToolView, View
from yazcore.design_rules.words import word_set
from yazcore.manifest.places import Path
from yazcore.manifest.schemas import dialect_faults
from yazcore.manifest.words import quoted

MOST_VALUES = 20_000
"""The most values of any kind in a schema that is held against its dialect."""

_QUERY = {"type": "string", "maxLength": 200, "description": "Words of the ticket's title."}


@rule(
    "G25", "error", "A tool has a name, a description and a valid input schema, and a prompt the first two",
    change="give it what is missing; a schema is JSON Schema (2020-12) and refers only into itself",
    good=tools(tool("search_tickets", "Finds tickets by words of their title, newest first.", {"query": _QUERY})),
    bad=tools(
        tool("search_tickets", "", {"query": {"type": "text"}}),
        tool("close_ticket", "Closes a ticket.", {"ticket": {"$ref": "https://example.org/ticket.json"}}),
    ),
    at=[
        "/tools/0/description", "/tools/0/inputSchema/properties/query/type",
        "/tools/1/inputSchema/properties/ticket/$ref",
    ],
    argument="name, text and schema are there or not, and a schema is valid against its own meta-schema or not",
)  # fmt: skip
def whole(view: View) -> Iterator[Found]:
    """A model knows a tool by these three alone; where one is missing or broken it guesses, or its client drops the
    tool, or all tools of the server."""
    for path in view.surface.broken:
        yield Found("surface", path, "this entry is no object")
    for one in view.tools:
        found = one.tool
        if not found.name:
            yield found_in(found, (*found.path, "name"), "the tool has no name")
        if not found.description.strip():
            yield found_in(found, found.text_path, "the tool has no description")
        if not isinstance(found.input_schema, Mapping):
            yield found_in(found, found.schema_path, "the tool has no input schema")
            continue
        for path, message in schema_problems(one.input):
            yield found_in(found, (*found.schema_path, *path), f"the input schema {message}")
    for prompt in view.surface.prompts:
        if not prompt.name:
            yield found_in(prompt, (*prompt.path, "name"), "the prompt has no name")
        if not prompt.description.strip():
            yield found_in(prompt, prompt.text_path, "the prompt has no description")


def schema_problems(view: SchemaView) -> Iterator[tuple[Path, str]]:
    """(place, what is wrong) of a schema that cannot be used as it stands. Bounded, whatever the schema is."""
    if not view.is_whole or not _is_bounded(view.schema):
        yield (), "is too large or too deep to be judged"
        return
    for path, reference in view.dangling:
        yield path, f"refers to {quoted(reference)}, which is not in it; nothing is fetched"
    try:
        faults = dialect_faults(view.schema)
    except RecursionError:
        yield (), "is too deep to be judged"
        return
    for fault in faults:
        yield fault.path, f"is not valid: {fault.message.removeprefix('this is not JSON Schema: ')}"


def _is_bounded(schema: Any) -> bool:
    level, count = [schema], 0
    while level:
        count += len(level)
        if count > MOST_VALUES:
            return False
        level = [
            inner
            for one in level
            for inner in (one.values() if isinstance(one, Mapping) else one if isinstance(one, (list, tuple)) else ())
        ]
    return True


_SAYS_WHAT = word_set(
    """
    type enum const $ref properties items prefixItems patternProperties additionalProperties pattern format minimum
    maximum exclusiveMinimum exclusiveMaximum minLength maxLength minItems maxItems multipleOf not if anyOf oneOf
    allOf
    """
)


@rule(
    "G28", "error", "Every argument has a type",
    change="say the type, or list the values",
    good=tools(tool("set_label", "Puts a label on a ticket.", {"label": {"type": "string", "maxLength": 40}})),
    bad=tools(tool("set_label", "Puts a label on a ticket.", {"label": {"description": "The label."}})),
    at=["/tools/0/inputSchema/properties/label"],
    argument="without a keyword that says anything, {} and 3 and null all keep the schema",
)  # fmt: skip
def typed(view: View) -> Iterator[Found]:
    """A schema that allows anything says nothing: the model guesses, and the server must check what it published no
    rule for."""
    for one in view.tools:
        for node in one.input.nodes:
            properties = node.schema.get("properties")
            for name, schema in properties.items() if isinstance(properties, Mapping) else ():
                if schema is True or (isinstance(schema, Mapping) and _SAYS_WHAT.isdisjoint(schema)):
                    path = (*one.tool.schema_path, *node.path, "properties", name)
                    yield found_in(one.tool, path, f"{quoted(str(name))} may be anything at all")


FORMATS = word_set(
    """
    date date-time time duration email idn-email hostname idn-hostname ipv4 ipv6 uri uri-reference iri iri-reference
    uuid uri-template json-pointer relative-json-pointer regex
    """
)
"""The formats that JSON Schema knows (2020-12, section 7.3)."""


@rule(
    "G28b", "suspicion", "A format is one that JSON Schema knows",
    change="use a known format, a pattern, or minimum and maximum",
    good=tools(tool("read_log", "Reads the log of one day.", {"day": {"type": "string", "format": "date"}})),
    bad=tools(tool("read_log", "Reads a log.", {"file": {"type": "string", "format": "path"}})),
    at=["/tools/0/inputSchema/properties/file/format"],
)  # fmt: skip
def known_format(view: View) -> Iterator[Found]:
    """An unknown format is skipped by every validator, so it looks like a check and is none."""
    for one in view.tools:
        for node in one.input.nodes:
            word = node.schema.get("format")
            if isinstance(word, str) and word not in FORMATS:
                path = (*one.tool.schema_path, *node.path, "format")
                yield found_in(one.tool, path, f"the format {quoted(word)} checks nothing")


@rule(
    "G28c", "question", "Texts, lists and numbers have bounds",
    change="give maxLength, maxItems and maximum where the task has them",
    good=tools(tool("search_tickets", "Finds tickets.", {"query": {"type": "string", "maxLength": 200}})),
    bad=tools(tool("search_tickets", "Finds tickets.", {"query": {"type": "string"}})),
    at=["/tools/0/inputSchema"],
    unsure="nine in ten of all real tools leave some text unbounded, most of them without any harm",
)  # fmt: skip
def bounded(view: View) -> Iterator[Found]:
    """A bound is what keeps one call from carrying a whole file, or asking for a million rows."""
    for one in view.tools:
        counts = {"texts": 0, "lists": 0, "numbers": 0}
        for each in one.input.parameters:
            counts["numbers"] += each.is_number and not each.is_bounded
            for form in each.forms:
                counts["texts"] += form.is_free_text and "maxLength" not in form.schema
                counts["lists"] += "array" in form.types and "maxItems" not in form.schema
        if any(counts.values()):
            said = ", ".join(f"{count} {what}" for what, count in counts.items() if count)
            yield found_in(one.tool, one.tool.schema_path, f"without a bound are {said}")


@rule(
    "G29", "error", "An output schema is a valid schema of an object",
    change='set "type": "object" at its top, and mend what is invalid',
    good=tools(tool("count", "Counts the words.", outputSchema={"type": "object", "required": ["words"]})),
    bad=tools(tool("count", "Counts the words.", outputSchema={"type": "integer"})),
    at=["/tools/0/outputSchema"],
    argument="structuredContent is an object by the protocol, so that a schema of anything else refuses every result",
)  # fmt: skip
def output(view: View) -> Iterator[Found]:
    """Structured content is an object, and clients check it against this schema; some drop a whole server whose output
    schemas they cannot use."""
    for one in view.tools:
        if one.output is None:
            continue
        path = one.tool.output_path
        if not isinstance(one.tool.output_schema, Mapping) or one.tool.output_schema.get("type") != "object":
            yield found_in(one.tool, path, "the output schema is not one of an object")
            continue
        for place, message in schema_problems(one.output):
            yield found_in(one.tool, (*path, *place), f"the output schema {message}")


@rule(
    "G39", "error", "A pattern has its meaning in words",
    change="describe what the text means; the pattern only says how it is written",
    good=tools(tool(
        "read_ticket", "Reads one ticket.",
        {"key": {"type": "string", "pattern": "^[A-Z]{2}-[0-9]+$", "description": "The ticket's key, as in OP-17."}},
    )),
    bad=tools(tool("read_ticket", "Reads one ticket.", {"key": {"type": "string", "pattern": "^[A-Z]{2}-[0-9]+$"}})),
    at=["/tools/0/inputSchema/properties/key/pattern"],
    argument="the pattern stands alone: neither it nor what encloses it has a description, and no note has one",
)  # fmt: skip
def meaning(view: View) -> Iterator[Found]:
    """A regular expression shows the form of a value and hides what the value is."""
    for one in view.tools:
        noted = {note.name for note in one.tool.notes if note.text.strip()}
        for node in one.input.nodes:
            is_noted = len(node.path) > 1 and node.path[0] == "properties" and node.path[1] in noted
            if isinstance(node.schema.get("pattern"), str) and not node.said.strip() and not is_noted:
                path = (*one.tool.schema_path, *node.path, "pattern")
                yield found_in(one.tool, path, f"{_name_of(node)} is described by its pattern alone")


def _name_of(node: Node) -> str:
    names = [part for before, part in zip(node.path, node.path[1:], strict=False) if before == "properties"]
    return quoted(str(names[-1])) if names else "the value"


@rule(
    "G49", "error", "An input schema is one of an object, with or without parameters",
    change='set "type": "object" at its top',
    good=tools(tool("read_clock", "Gives the time in UTC.")),
    bad=tools(tool("read_clock", "Gives the time in UTC.", inputSchema={"additionalProperties": False})),
    at=["/tools/0/inputSchema"],
    argument="arguments are an object by the protocol, so that another schema accepts no call, or says nothing",
)  # fmt: skip
def an_object(view: View) -> Iterator[Found]:
    """Arguments are an object; a schema that leaves this open makes some clients drop the tool and others the
    server."""
    for one in view.tools:
        schema = one.tool.input_schema
        if isinstance(schema, Mapping) and schema.get("type") != "object":
            yield found_in(one.tool, one.tool.schema_path, "the input schema is not one of an object")


_COMPOSED = frozenset({"$ref", "allOf", "anyOf", "oneOf", "patternProperties"})


def _takes_none(one: ToolView) -> bool:
    """Whether it has no arguments at all."""
    schema = one.tool.input_schema
    return isinstance(schema, Mapping) and not schema.get("properties") and _COMPOSED.isdisjoint(schema)


def _says_if_closed(schema: Mapping[str, Any]) -> bool:
    return "additionalProperties" in schema or "unevaluatedProperties" in schema


@rule(
    "G50", "error", "A tool without parameters takes exactly the empty object",
    change='set "additionalProperties": false',
    good=tools(tool("read_clock", "Gives the time in UTC.")),
    bad=tools(tool("read_clock", "Gives the time in UTC.", inputSchema={"type": "object"})),
    at=["/tools/0/inputSchema"],
    argument='{"anything": 1} keeps the schema, though there is no parameter that it could be',
)  # fmt: skip
def no_parameters(view: View) -> Iterator[Found]:
    """An open object takes whatever a model makes up, and the model believes that it was heard."""
    for one in view.tools:
        schema = one.tool.input_schema
        if _takes_none(one) and not (
            schema.get("additionalProperties") is False or schema.get("unevaluatedProperties") is False
        ):
            yield found_in(one.tool, one.tool.schema_path, "the tool has no parameters, and takes any")


_PARTS = frozenset({"allOf", "not", "if", "then", "else", "dependentSchemas"})


@rule(
    "G51", "error", "Every object says whether it takes other properties",
    change='set "additionalProperties": false, or to what other properties may be',
    good=tools(tool("create_ticket", "Opens a ticket.", {
        "at": {"type": "object", "properties": {"floor": {"type": "integer"}}, "additionalProperties": False},
    })),
    bad=tools(tool("create_ticket", "Opens a ticket.", {
        "at": {"type": "object", "properties": {"floor": {"type": "integer"}}},
    })),
    at=["/tools/0/inputSchema/properties/at"],
    argument="the same object with one more property is accepted, and no word of the schema says that this is meant",
)  # fmt: skip
def explicit(view: View) -> Iterator[Found]:
    """The default of JSON Schema is open: a misspelt optional argument is accepted and ignored. What holds by default
    is a decision like any other."""
    for one in view.tools:
        for node in one.input.nodes:
            is_object = "object" in types_of(node.schema) or isinstance(node.schema.get("properties"), Mapping)
            is_part = any(part in _PARTS for part in node.path[-2:])
            if is_object and not is_part and not _says_if_closed(node.schema) and (node.path or not _takes_none(one)):
                whose = _name_of(node) if node.path else "the input schema"
                path = (*one.tool.schema_path, *node.path)
                yield found_in(one.tool, path, f"{whose} does not say whether it takes other properties")


RULES = (whole, typed, known_format, bounded, output, meaning, an_object, no_parameters, explicit)
"""The rules of this page, in the order of the seed."""
