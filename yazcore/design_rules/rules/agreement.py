"""Rules about what texts and schemas say of one thing: limits belong into the schema, and both agree (G38, G40)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from yazcore.design_rules.examples import tool, tools
from yazcore.design_rules.rule import Found, found_in, rule
from yazcore.design_rules.schemas import Form, Parameter, types_of
from yazcore.design_rules.view import ToolView, View
from yazcore.design_rules.words import phrases, sentences, tokens
from yazcore.manifest.words import quoted

_N = r"-?\d[\d,_]*(?:\.\d+)?"
_MOST = re.compile(
    r"\b(?:max(?:imum)?(?: of| is| value| allowed)?[:= ]*|at most |up to |no more than |limit(?:ed)? (?:of|to) )"
    rf"({_N})\b",
    re.IGNORECASE,
)
_RANGE = re.compile(rf"\({_N} ?(?:-|–|to) ?{_N}\)|\b(?:between {_N} and|from {_N} to) {_N}\b", re.IGNORECASE)
_HOW_MANY = re.compile(rf"\b(?:max(?:imum)?|at most|up to) {_N} (?:items|entries|elements|values)\b", re.IGNORECASE)
_EXAMPLE = phrases(
    """
    e.g | i.e | such as | for example | for instance | example* | like | recommended | typical* | usually
    """
)
_QUOTED = re.compile(r"(?<![\w'\"`])(['\"`])([A-Za-z][\w.-]{0,30})\1(?![\w'\"`])")
_VALUE = r"['\"`]?[A-Za-z][\w-]{0,24}['\"`]?"
_BETWEEN = r"(?:, (?:or |and )?| or | ?\| ?|/)"
_LISTED = re.compile(
    r"\b(?:one of|either|(?:valid|allowed|possible)(?: values| options| types)?(?: are| is)?|options(?: are)?|values|"
    rf"type|can be|must be)[: ]+\(?({_VALUE}(?:{_BETWEEN}{_VALUE})+)",
    re.IGNORECASE,
)
_FORM = re.compile(
    r"\b(?:ISO[- ]?8601|RFC[- ]?3339|YYYY-MM-DD|HH:MM|must (?:not )?(?:start|begin|end) with|\d+-character|UUID|"
    r"hex(?:adecimal)? (?:string|colou?r))\b",
    re.IGNORECASE,
)


def _plain(text: str) -> Iterator[str]:
    """The sentences that state something, not those that only give an example."""
    return (one for one in sentences(text) if _EXAMPLE.search(one) is None)


def _missing(one: Parameter) -> tuple[str, str] | None:
    """What the prose says of a value and its schema does not, as (what, keyword)."""
    for said in _plain(one.said):
        if one.is_number:
            if not one.is_bounded and (_MOST.search(said) or _RANGE.search(said)):
                return "its largest value", "maximum"
        elif one.types and one.types <= {"array", "null"}:
            if _HOW_MANY.search(said) and not _has(one, "maxItems"):
                return "how many there may be", "maxItems"
        elif one.is_free_text:
            if _lists_values(said):
                return "which values it takes", "enum"
            if _FORM.search(said):
                return "how it is written", "pattern or format"
            found = _MOST.search(said)
            if found and re.match(r" ?(?:char|letter)", said[found.end() :]) and not _has(one, "maxLength"):
                return "how long it may be", "maxLength"
    return None


def _has(one: Parameter, keyword: str) -> bool:
    return any(keyword in form.schema for form in one.forms)


def _lists_values(said: str) -> bool:
    if len({found[1] for found in _QUOTED.findall(said)}) >= 2:
        return True
    found = _LISTED.search(said)
    return found is not None and len(re.split(r", | or | ?\| ?|/", found[1])) >= (2 if "|" in found[1] else 3)


@rule(
    "G38", "suspicion", "Values, forms and bounds stand in the schema, not only in prose",
    change="write it into the schema, as the keyword that is named",
    good=tools(tool("list_tickets", "Lists tickets, newest first.", {
        "state": {"enum": ["open", "closed"], "description": "Which tickets."},
        "limit": {"type": "integer", "maximum": 50, "description": "At most so many; up to 50."},
    })),
    bad=tools(tool("list_tickets", "Lists tickets, newest first.", {
        "state": {"type": "string", "description": "Which tickets: 'open' or 'closed'."},
        "limit": {"type": "integer", "description": "At most so many; up to 50."},
    })),
    at=["/tools/0/inputSchema/properties/state", "/tools/0/inputSchema/properties/limit"],
)  # fmt: skip
def in_the_schema(view: View) -> Iterator[Found]:
    """Prose is read by a model and forgotten; the schema is checked by the client, the gate and the model's own
    decoder."""
    for one in view.in_english:
        for each in one.input.parameters:
            if (missing := _missing(each)) is not None:
                what, keyword = missing
                message = f"the text of {quoted(each.name)} says {what}, its schema does not ({keyword})"
                yield found_in(one.tool, (*one.tool.schema_path, *each.path), message)


# -- what contradicts itself ------------------------------------------------------------------------------------------


@rule(
    "G40", "error", "A schema does not contradict itself",
    change="mend the one of the two that is wrong",
    good=tools(tool("list_tickets", "Lists tickets.", {"limit": {"type": "integer", "maximum": 50, "default": 20}})),
    bad=tools(
        tool("list_tickets", "Lists tickets.", {"limit": {"type": "integer", "maximum": 50, "default": 100}}),
        tool("find_ticket", "Finds a ticket.", {"key": {"type": "string", "default": "OP-1"}}, ["key", "team"]),
    ),
    at=[
        "/tools/0/inputSchema/properties/limit/default", "/tools/1/inputSchema/required",
        "/tools/1/inputSchema/properties/key/default",
    ],
    argument="both halves stand in one schema, and no value keeps the two of them, or no call lets the default apply",
)  # fmt: skip
def consistent(view: View) -> Iterator[Found]:
    """A default that its own schema refuses, or that can never apply, leaves the model to guess which half is meant."""
    for one in view.tools:
        for node in one.input.nodes:
            properties, needed = node.schema.get("properties"), node.schema.get("required")
            if isinstance(properties, Mapping) and isinstance(needed, list):
                unknown = [name for name in needed if isinstance(name, str) and name not in properties]
                if unknown and node.schema.get("additionalProperties") is False:
                    path = (*one.tool.schema_path, *node.path, "required")
                    yield found_in(one.tool, path, f"{quoted(unknown[0])} is required, and not allowed")
        for each in one.input.parameters:
            for place, message in _contradictions(each):
                yield found_in(one.tool, (*one.tool.schema_path, *each.path, *place), f"{quoted(each.name)} {message}")


def _contradictions(one: Parameter) -> Iterator[tuple[tuple[str, ...], str]]:
    schema = one.schema
    low, high = _number(schema, "minimum"), _number(schema, "maximum")
    if low is not None and high is not None and low > high:
        yield ("minimum",), f"has a minimum of {low:g} and a maximum of {high:g}"
    short, long = _number(schema, "minLength"), _number(schema, "maxLength")
    if short is not None and long is not None and short > long:
        yield ("minLength",), f"has at least {short:g} and at most {long:g} characters"
    if "default" not in schema:
        return
    default = schema["default"]
    if one.required:
        yield ("default",), "is required, so that its default never applies"
    elif default is not None and one.forms and not any(_accepts(form, default) for form in one.forms):
        yield ("default",), "has a default that its own schema refuses"


def _number(schema: Mapping[str, Any], key: str) -> float | None:
    value = schema.get(key)
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


_PYTHON: Mapping[str, tuple[type, ...]] = {
    "string": (str,), "boolean": (bool,), "integer": (int, float), "number": (int, float), "array": (list,),
    "object": (dict,), "null": (type(None),),
}  # fmt: skip


def _accepts(form: Form, value: Any) -> bool:
    """Whether a form takes a value, by its type, its values and its bounds; what it cannot tell, it takes."""
    types = types_of(form.schema)
    if types and not any(_is_of(value, name) for name in types):
        return False
    if isinstance(form.schema.get("enum"), list) and value not in form.schema["enum"]:
        return False
    if _is_of(value, "number"):
        low, high = _number(form.schema, "minimum"), _number(form.schema, "maximum")
        return (low is None or value >= low) and (high is None or value <= high)
    if isinstance(value, str):
        high = _number(form.schema, "maxLength")
        return high is None or len(value) <= high
    return True


def _is_of(value: Any, name: str) -> bool:
    if isinstance(value, bool):
        return name == "boolean"
    if name == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _PYTHON.get(name, (object,)))


_SAYS_OPTIONAL = re.compile(r"^\W*optional\b|\(optional\b|\[optional\]", re.IGNORECASE)
_SAYS_REQUIRED = re.compile(
    r"^\W*(?:required|mandatory)\b(?! (?:for|if|when|with|unless|only|by))|\((?:required|mandatory)\)"
    r"|\bmust be (?:provided|given|set)\b(?! (?:if|when))",
    re.IGNORECASE,
)
_TRUE_FALSE = re.compile(r"\(?['\"]?true['\"]?(?: ?/ ?| or )['\"]?false['\"]?\)?", re.IGNORECASE)
_MUST_BE_LIST = re.compile(r"\bmust be (?:an? )?(?:array|list)\b", re.IGNORECASE)
_IDENTIFIER = re.compile(r"\b[a-z][a-z0-9]*(?:[_-][a-z0-9]+){1,6}\b")


@rule(
    "G40b", "suspicion", "Text and schema say the same of an argument",
    change="mend the one of the two that is wrong",
    good=tools(tool("read_ticket", "Reads a ticket.", {"key": {"type": "string", "description": "The key."}}, ["key"])),
    bad=tools(tool("read_ticket", "Reads a ticket.", {
        "key": {"type": "string", "description": "Required. The key."},
        "full": {"type": "string", "description": "Whether to give all of it (true/false)."},
    })),
    at=["/tools/0/inputSchema/properties/key", "/tools/0/inputSchema/properties/full"],
)  # fmt: skip
def agrees(view: View) -> Iterator[Found]:
    """Where the two differ, one caller follows the text and the other the schema, and one of them is refused."""
    for one in view.in_english:
        for each in one.input.parameters:
            if (message := _disagreement(each)) is not None:
                yield found_in(
                    one.tool, (*one.tool.schema_path, *each.path), f"the text of {quoted(each.name)} {message}"
                )
        if (unknown := _unknown_tool(one, view)) is not None:
            message = f"the description names {quoted(unknown)}, which is neither a tool nor an argument here"
            yield found_in(one.tool, one.tool.text_path, message)


def _disagreement(one: Parameter) -> str | None:
    if one.required and _SAYS_OPTIONAL.search(one.said):
        return "calls it optional, and the schema requires it"
    if not one.required and one.is_top and "default" not in one.schema and _SAYS_REQUIRED.search(one.said):
        return "calls it required, and the schema does not"
    if one.is_free_text and _TRUE_FALSE.search(one.said):
        return "says true or false, and the schema takes any text"
    if _MUST_BE_LIST.search(one.said) and one.types and "array" not in one.types:
        return "says a list, and the schema takes none"
    return None


def _unknown_tool(one: ToolView, view: View) -> str | None:
    """A name in the text with the server's own prefix that no tool, argument or value has."""
    if not view.prefix:
        return None
    named = [found[0] for found in _IDENTIFIER.finditer(one.tool.description[:6_000])]
    unknown = [
        name
        for name in named
        if tokens(name)[0] == view.prefix and name not in view.by_name and len(tokens(name)) > 1
    ]
    if not unknown:
        return None
    known = {known for each in one.input.parameters for known in (each.name, *each.values)}
    return next((name for name in unknown if name not in known), None)


RULES = (in_the_schema, consistent, agrees)
"""The rules of this page, in the order of the seed."""
