"""Rules about the size of answers: limits, cursors, signs that there is more (G10, G77, G78, G80, G81, G84)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from yazcore.design_rules.examples import tool, tools
from yazcore.design_rules.rule import Found, found_in, rule
from yazcore.design_rules.schemas import Parameter
from yazcore.design_rules.view import ToolView, View
from yazcore.design_rules.words import CHANGING, is_plural, phrases, tokens, word_set
from yazcore.manifest.words import quoted

_LIMIT = {"type": "integer", "minimum": 1, "maximum": 50, "default": 20, "description": "The most in one page."}
_CURSOR = {"type": "string", "maxLength": 200, "description": "nextCursor of the page before."}
_ITEMS = {"type": "array", "items": {"type": "string"}}
_PAGE = {"type": "object", "properties": {"tickets": _ITEMS, "nextCursor": {"type": ["string", "null"]}}}
_ALL = {"type": "object", "properties": {"tickets": _ITEMS}}
_QUERY = {"type": "string", "maxLength": 200, "description": "Words of the title."}

_LIMITS = re.compile(
    r"(?:max|maximum|num|number_of|n)(?:_?(?:results?|records?|items?|rows?|hits?|entries|count|events|pages?|lines|messages))?"
    r"|max_\w+|\w+_count|(?:\w+_)?limit|limit_?\w*|page_?size|per_?page|top(?:_?[kn])?"
    r"|size|count|k|n|head|tail|length|first|last|lines"
)
_CURSORS = re.compile(
    r"(?:\w+_)?cursor|(?:next_?|scroll_?)?page|page_?(?:number|num|no|token)|next_?token|continuation\w*|offset|skip"
    r"|start(?:_?at|_?index)?|after|before|from|from_?line|marker|since_id|max_id|position|index|scroll_id"
)
_MORE = phrases(
    """
    next* | cursor* | truncat* | total* | remaining | more | has_more | hasmore | last page | page | pages |
    paginat* | complete | continuation | partial | count
    """
)
_COLLECTIVE = word_set(
    "history inventory feed backlog catalog catalogue timeline directory tree hits log logs people children data"
)
_STARTS = phrases(
    """
    list | lists | returns all | returns every | returns a list | get all | gets all | gets a list | get a list
    | retrieves all | retrieves a list | retrieve a list | shows all | search | searches | finds all
    """
)
_NARROWS = word_set("keys ids names paths urls uuids symbols uris")
_FEW_BY_NATURE = word_set(
    """
    languages timezones settings capabilities permissions scopes status stats statistics metrics details allowed
    types roles info headers options columns cookies tabs windows displays monitors
    """
)  # fmt: skip


def _name(one: Parameter) -> str:
    return "_".join(tokens(one.name))


def limit_of(one: ToolView) -> Parameter | None:
    """The argument that says how many are wanted."""
    return next((each for each in one.input.arguments if each.is_number and _LIMITS.fullmatch(_name(each))), None)


def cursor_of(one: ToolView) -> Parameter | None:
    """The argument that says where to go on."""
    return next((each for each in one.input.arguments if _CURSORS.fullmatch(_name(each))), None)


def sounds_like_a_list(one: ToolView) -> bool:
    """Whether its name or its text says that it gives many."""
    if one.verb in CHANGING or one.tool.reads is False:
        return False
    if any(each.required and "array" in each.types and _name(each) in _NARROWS for each in one.input.arguments):
        return False
    if one.objects and one.objects[-1] in _FEW_BY_NATURE:
        return False
    if {"list", "search", "find"} & set(one.tokens):
        return True
    many = [word for word in one.objects if is_plural(word) or word in _COLLECTIVE]
    if one.verb in ("get", "read", "fetch", "show", "browse") and many and not _asks_for_one(one):
        return True
    return _STARTS.match(one.text) is not None and not _asks_for_one(one)


def _asks_for_one(one: ToolView) -> bool:
    required = [each for each in one.input.arguments if each.required]
    return (
        len(required) == 1
        and _name(required[0]).endswith(("path", "name"))
        and not is_plural(one.objects[-1] if one.objects else "")
    )


def lists_in_result(one: ToolView) -> tuple[Parameter, ...]:
    """The lists of any length directly in its result."""
    if one.output is None:
        return ()
    return tuple(
        each
        for each in one.output.arguments
        if any("array" in form.types and not _few(form.schema.get("maxItems")) for form in each.forms)
    )


MOST_FOR_ONE_ANSWER = 2_000
"""A list of at most so many needs no pages."""


def _few(value: object) -> bool:
    return isinstance(value, int) and value <= MOST_FOR_ONE_ANSWER


@rule(
    "G10", "question", "What is read under a known name is a resource",
    change="offer it as a resource, or let the tool search",
    good=tools(tool("search_runbooks", "Finds runbooks.", {"query": _QUERY}, ["query"])),
    bad=tools(tool("get_runbook", "Gives one runbook.", {"id": {"type": "string"}}, ["id"])),
    at=["/tools/0"],
    unsure="many clients read no resources yet, and whether model or host starts the reading, no schema says",
)  # fmt: skip
def tool_or_resource(view: View) -> Iterator[Found]:
    """A search is started by the model; a known page is context that the host picks, and can keep."""
    for one in view.tools:
        arguments = one.input.arguments
        is_one_id = len(arguments) == 1 and arguments[0].required and "string" in arguments[0].types
        if one.reads and is_one_id and re.search(r"(?:^|_)(?:id|key|slug|uri|name)$", _name(arguments[0])):
            yield found_in(one.tool, one.tool.path, f"it reads the one thing that {quoted(arguments[0].name)} names")


@rule(
    "G77", "question", "What may give many takes a limit or a cursor",
    change="take a limit with a maximum and a default, and a cursor; or filters that bound the answer",
    good=tools(tool("list_tickets", "Lists tickets, newest first.", {"limit": _LIMIT, "cursor": _CURSOR})),
    bad=tools(tool("list_tickets", "Lists tickets, newest first.")),
    at=["/tools/0/inputSchema"],
    unsure="how many there are by nature, a name does not say: ten tabs need no pages, ten thousand tickets do",
)  # fmt: skip
def bounded_by_name(view: View) -> Iterator[Found]:
    """The reader is a context window: a list without an end fills it with what nobody asked for."""
    for one in view.tools:
        if sounds_like_a_list(one) and limit_of(one) is None and cursor_of(one) is None and not lists_in_result(one):
            yield found_in(
                one.tool, one.tool.schema_path, "it sounds as if it gives many, and takes no limit and no cursor"
            )


@rule(
    "G77b", "suspicion", "A result that holds a list of any length has a limit or a cursor",
    change="take a limit with a maximum, or a cursor; or give the list maxItems where it is short by nature",
    good=tools(tool("list_tickets", "Lists tickets.", {"limit": _LIMIT, "cursor": _CURSOR}, outputSchema=_PAGE)),
    bad=tools(tool("list_tickets", "Lists tickets.", outputSchema=_ALL)),
    at=["/tools/0/outputSchema/properties/tickets"],
)  # fmt: skip
def bounded_by_schema(view: View) -> Iterator[Found]:
    """Here the schema itself says that there may be any number, and no argument asks for fewer."""
    for one in view.tools:
        if one.tool.reads is False or (one.tool.reads is None and one.verb in CHANGING):
            continue
        if limit_of(one) is None and cursor_of(one) is None:
            for each in lists_in_result(one)[:1]:
                path = (*one.tool.output_path, *each.path)
                yield found_in(one.tool, path, f"{quoted(each.name)} may hold any number, and no argument bounds it")


@rule(
    "G78", "suspicion", "A limit has a largest value",
    change="give it a maximum, and a default for who does not say",
    good=tools(tool("list_tickets", "Lists tickets.", {"limit": _LIMIT, "cursor": _CURSOR})),
    bad=tools(tool("list_tickets", "Lists tickets.", {"limit": {"type": "integer"}, "cursor": _CURSOR})),
    at=["/tools/0/inputSchema/properties/limit"],
)  # fmt: skip
def has_a_largest(view: View) -> Iterator[Found]:
    """A limit that may be a billion is none: who wants to be sure asks for everything."""
    for one in view.tools:
        each = limit_of(one)
        if each is not None and not each.is_bounded and one.tool.reads is not False:
            yield found_in(one.tool, (*one.tool.schema_path, *each.path), f"{quoted(each.name)} has no largest value")


@rule(
    "G80", "question", "A result with data in it has an output schema",
    change="declare what programs may rely on; the text for the model stays short",
    good=tools(tool("list_tickets", "Lists tickets.", {"limit": _LIMIT}, outputSchema=_PAGE)),
    bad=tools(tool("list_tickets", "Lists tickets.", {"limit": _LIMIT})),
    at=["/tools/0"],
    unsure="for pictures, texts and acknowledgements a schema adds nothing, and which it is, no name says",
)  # fmt: skip
def has_a_shape(view: View) -> Iterator[Found]:
    """With a schema the next step takes a field; without one it reads prose and guesses."""
    for one in view.tools:
        if one.tool.output_schema is None and one.reads is not False:
            yield found_in(one.tool, one.tool.path, "it has no output schema")


@rule(
    "G81", "suspicion", "A page says whether there is more",
    change="give nextCursor, total or truncated in the result, and declare it",
    good=tools(tool("list_tickets", "Lists tickets.", {"limit": _LIMIT, "cursor": _CURSOR}, outputSchema=_PAGE)),
    bad=tools(tool("list_tickets", "Lists tickets.", {"limit": _LIMIT}, outputSchema=_ALL)),
    at=["/tools/0/outputSchema"],
)  # fmt: skip
def says_if_more(view: View) -> Iterator[Found]:
    """A list that was cut and does not say so is taken for the whole truth."""
    for one in view.in_english:
        if one.output is not None and limit_of(one) is not None and lists_in_result(one) and one.reads is not False:
            names = " ".join(" ".join(tokens(each.name)) for each in one.output.arguments)
            if not _MORE.search(names) and not _MORE.search(one.text):
                yield found_in(one.tool, one.tool.output_path, "a page of it does not say whether there is more")


@rule(
    "G81b", "question", "A text says how a cut answer is told",
    change="say in the description what shows that there is more, or declare it in an output schema",
    good=tools(tool("list_tickets", "Lists tickets; nextCursor says that there are more.", {"limit": _LIMIT})),
    bad=tools(tool("list_tickets", "Lists tickets.", {"limit": _LIMIT})),
    at=["/tools/0/description"],
    unsure="without an output schema the answer may well say it, and the text need not",
)  # fmt: skip
def tells_if_more(view: View) -> Iterator[Found]:
    """A model that does not know the sign takes the first page for all of it."""
    for one in view.in_english:
        if one.output is None and limit_of(one) is not None and sounds_like_a_list(one) and not _MORE.search(one.text):
            yield found_in(one.tool, one.tool.text_path, "it takes a limit, and does not say how a cut answer is told")


@rule(
    "G84", "suspicion", "Where a result has a cursor, the tool takes one",
    change="take the cursor as an argument",
    good=tools(tool("list_tickets", "Lists tickets.", {"limit": _LIMIT, "cursor": _CURSOR}, outputSchema=_PAGE)),
    bad=tools(tool("list_tickets", "Lists tickets.", {"limit": _LIMIT}, outputSchema=_PAGE)),
    at=["/tools/0/outputSchema/properties/nextCursor"],
)  # fmt: skip
def takes_its_cursor(view: View) -> Iterator[Found]:
    """A cursor that can be given to nobody leads nowhere."""
    for one in view.tools:
        if one.output is None or cursor_of(one) is not None:
            continue
        for each in one.output.arguments:
            if re.fullmatch(r"(?:next_)?(?:page_)?(?:cursor|token)|next_page|continuation_token", _name(each)):
                path = (*one.tool.output_path, *each.path)
                yield found_in(one.tool, path, f"{quoted(each.name)} is given, and no argument takes it")


@rule(
    "G84b", "question", "There is a way to the rest of a list",
    change="take a cursor, an offset or a page",
    good=tools(tool("list_tickets", "Lists tickets.", {"limit": _LIMIT, "cursor": _CURSOR})),
    bad=tools(tool("list_tickets", "Lists tickets.", {"limit": _LIMIT})),
    at=["/tools/0/inputSchema"],
    unsure="the best ten hits of a search may be all that anybody needs, and finer filters are a way, too",
)  # fmt: skip
def way_to_the_rest(view: View) -> Iterator[Found]:
    """What a limit leaves out must be within reach, else the limit hides it."""
    for one in view.tools:
        if limit_of(one) is not None and cursor_of(one) is None and sounds_like_a_list(one):
            yield found_in(
                one.tool, one.tool.schema_path, "it takes a limit, and nothing leads to what that leaves out"
            )


RULES = (
    tool_or_resource, bounded_by_name, bounded_by_schema, has_a_largest, has_a_shape, says_if_more, tells_if_more,
    takes_its_cursor, way_to_the_rest,
)  # fmt: skip
"""The rules of this page, in the order of the seed."""
