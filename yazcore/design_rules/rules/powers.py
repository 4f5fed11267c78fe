"""Rules about how far one call can reach: pass-through, internal handles (G3, G16, G20, G88)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from yazcore.design_rules.examples import tool, tools
from yazcore.design_rules.rule import Found, found_in, rule
from yazcore.design_rules.rules.modes import KEEPS, is_http_method
from yazcore.design_rules.schemas import Parameter
from yazcore.design_rules.view import ToolView, View
from yazcore.design_rules.words import alternatives, phrases, tokens, word_set, words
from yazcore.manifest.words import quoted

_TICKET = {"type": "string", "pattern": "^[A-Z]+-[0-9]+$", "description": "The ticket's key, as in OP-17."}
_STATE = {"type": "string", "enum": ["open", "closed"], "description": "Which tickets."}

_LANGUAGES = phrases(
    """
    SQL | SELECT | INSERT | cypher | graphql | promql | logql | kql | spl | soql | jql | cql | sparql | flux |
    aql | dql | xpath | mongo* | aggregat* | javascript | typescript | python | bash | shell |
    powershell | lua | groovy | statement
    """
)
_COMMANDS = word_set(
    """
    command cmd commands sql script statement statements shell expression_code manifest javascript pipeline_script
    shell_command
    """
)  # fmt: skip
_CODE_OF = phrases(
    """
    country | language | currency | error | status | area | postal | zip | product | access | verification |
    authori* | one-time | airport | station | invite | voucher | coupon | tax | iata | icao | locale | ISO
    """
)
_ANY_COMMAND = re.compile(
    r"\b(?:any|arbitrary) (?:\w+ )?"
    + alternatives("command | code | script | sql | statement | query | request | endpoint | method | api | url")
    + r"s?\b",
    re.IGNORECASE,
)


_NAME_OF = phrases("name of | id of | key of | stored | saved")


def _is_text(one: Parameter) -> bool:
    return any(form.is_free_text for form in one.forms)


def _passes_through(one: ToolView, each: Parameter) -> str | None:
    """Why an argument takes a backend's own language, or None."""
    name = "_".join(tokens(each.name))
    text = f"{each.said} {one.text}"
    if _is_text(each):
        if name in _COMMANDS and _NAME_OF.search(each.said) is None:
            return "takes a command of a backend as it is"
        if name in ("query", "q", "expr", "expression", "filter_expression", "where") and _LANGUAGES.search(text):
            return "takes a query in a backend's own language"
        if (
            name in ("code", "source", "source_code", "snippet", "function", "js", "program")
            and (
                _LANGUAGES.search(text)
                or re.search(r"\b(?:code|function|snippet|program)\b[^\n]{0,200}?\b(?:run|execut|evaluat)", text, re.I)
                or one.verb in ("run", "execute", "exec", "eval", "evaluate")
            )
            and _CODE_OF.search(each.said) is None
        ):
            return "takes code to be run"
        if name in ("action", "method", "operation", "endpoint") and _has_free_object(one, each):
            return "takes the name of any operation, beside a free object"
    is_route = name in _ROUTES and _takes_any(each) and one.verb not in KEEPS
    if is_route and any(map(is_http_method, one.input.arguments)):
        return "takes any address of a backend, beside the method of the request"
    if "array" in each.types and name == "pipeline" and _LANGUAGES.search(f"{text} {' '.join(one.tokens)}"):
        return "takes a query in a backend's own language"
    if (
        "array" in each.types
        and name in ("command", "cmd", "args", "argv", "commands")
        and one.verb in ("run", "exec", "execute")
    ):
        return "takes a command line"
    return None


_ROUTES = word_set("path url uri endpoint route resource api_path request_path")
def _takes_any(each: Parameter) -> bool:
    return any("string" in form.types and not {"enum", "const", "pattern"} & form.schema.keys() for form in each.forms)


def _has_free_object(one: ToolView, but: Parameter) -> bool:
    """Whether another argument is an object of any properties."""
    return any(
        "object" in form.types
        and not form.schema.get("properties")
        and form.schema.get("additionalProperties") is not False
        for each in one.input.arguments
        if each is not but
        for form in each.forms
    )


@rule(
    "G20", "suspicion", "No argument passes a command of a backend through",
    change="offer the operations that are needed as tools of their own, with typed arguments",
    good=tools(tool("list_tickets", "Lists tickets of one state, newest first.", {"state": _STATE})),
    bad=tools(tool("list_tickets", "Lists the tickets that a query selects.", {
        "sql": {"type": "string", "description": "A statement for the tickets database."},
    })),
    at=["/tools/0/inputSchema/properties/sql"],
)  # fmt: skip
def passes_nothing_through(view: View) -> Iterator[Found]:
    """Behind such an argument lies everything that the backend can do, whatever the tool is called."""
    for one in view.tools:
        free = [each for each in one.input.arguments if _is_text(each)]
        said = False
        for each in one.input.arguments:
            if (why := _passes_through(one, each)) is not None:
                said = True
                yield found_in(one.tool, (*one.tool.schema_path, *each.path), f"{quoted(each.name)} {why}")
        if not said and free and (found := _ANY_COMMAND.search(one.text)):
            message = f"the description offers {quoted(found[0])}, and {quoted(free[0].name)} takes any text"
            yield found_in(one.tool, (*one.tool.schema_path, *free[0].path), message)


_FETCHES = word_set(
    """
    fetch open clone connect attach download navigate browse crawl scrape visit goto load import request curl
    install
    """
)  # fmt: skip
_ADDRESS = word_set(
    """
    url uri urls link href website address endpoint host connection_string dsn repo_url git_url repository_url
    base_url webhook_url callback_url
    """
)  # fmt: skip
_WHICH_URLS = phrases(
    """
    only | allow* | permitted | restricted | must be on | must be below | must be under | same origin
    """
)
_ABSOLUTE = re.compile(
    r"\b(?:absolute|local|full) (?:(?:file|directory|folder) )?path\b|\bpath (?:on|to) the (?:local|disk|host)",
    re.IGNORECASE,
)
_WHICH_FOLDERS = phrases(
    """
    allowed director* | allowed folder* | within | inside | below | relative to | only works | permitted |
    sandbox* | workspace | root | roots
    """
)


@rule(
    "G3", "suspicion", "No argument reaches further than the task: any address, any file, any selection",
    change="take the name of one of a few things, or say and enforce which addresses and folders are meant",
    good=tools(tool("read_runbook", "Reads one runbook of the payments team.", {
        "name": {"type": "string", "enum": ["timeout", "refund"], "description": "Which runbook."},
    })),
    bad=tools(
        tool("fetch_page", "Fetches a page and gives its text.", {"url": {"type": "string", "format": "uri"}}),
        tool("delete_tickets", "Deletes what a filter selects; it is lost.", {"filter": {"type": "string"}}),
    ),
    at=["/tools/0/inputSchema/properties/url", "/tools/1/inputSchema/properties/filter"],
)  # fmt: skip
def reaches_no_further(view: View) -> Iterator[Found]:
    """What an argument can name is what a wrong or misled call can touch."""
    for one in view.tools:
        for each in one.input.arguments:
            if (why := _reach(one, each)) is not None:
                yield found_in(one.tool, (*one.tool.schema_path, *each.path), f"{quoted(each.name)} {why}")


def _reach(one: ToolView, each: Parameter) -> str | None:
    name = "_".join(tokens(each.name))
    is_text = any(
        "string" in form.types and not {"enum", "const", "pattern"} & form.schema.keys() for form in each.forms
    )
    items = [form.schema.get("items") for form in each.forms if "array" in form.types]
    is_texts = any(isinstance(one, dict) and one.get("type") == "string" and "enum" not in one for one in items)
    said = f"{each.said} {one.text}"
    if (is_text or is_texts) and name in _ADDRESS and set(one.tokens) & _FETCHES and _WHICH_URLS.search(said) is None:
        return "may be any address, and the tool goes there"
    if (is_text or is_texts) and _ABSOLUTE.search(each.said) and _WHICH_FOLDERS.search(said) is None:
        return "may be any file of the machine"
    is_free = is_text or any("object" in form.types and not form.schema.get("properties") for form in each.forms)
    if (
        is_free
        and name in ("filter", "where", "selector", "match", "criteria")
        and one.verb in ("delete", "update", "remove", "purge", "drop")
    ):
        return "selects freely what is changed"
    return None


_OPAQUE = re.compile(r"(?:^|_)(?:id|ids|uuid|guid|handle|token|hash|sha|ref)$")


@rule(
    "G16", "question", "No step needs what only another step of the same backend gives",
    change="take what the user knows, or do both steps in one tool; else say which tool gives it",
    good=tools(
        tool("read_ticket", "Reads one that list_tickets gave.", {"ticket_id": _TICKET}, ["ticket_id"]),
        tool("list_tickets", "Lists tickets.", {"state": _STATE}),
    ),
    bad=tools(tool("read_ticket", "Reads a ticket.", {"queue_job_id": {"type": "string"}}, ["queue_job_id"])),
    at=["/tools/0/inputSchema/properties/queue_job_id"],
    unsure="whether an id is known to the user, or only to the backend, no name shows",
)  # fmt: skip
def no_raw_steps(view: View) -> Iterator[Found]:
    """Tools that hand ids to one another make the model rebuild the orchestration of today; each change behind them
    breaks it."""
    names = {" ".join(one.tokens) for one in view.in_english}
    for one in view.tools:
        for each in one.input.arguments:
            if (
                each.required
                and "string" in each.types
                and not each.values
                and _OPAQUE.search("_".join(tokens(each.name)))
            ):
                told = " ".join(words(f"{each.said} {one.tool.description[:6_000]}"))
                if not any(name in told for name in names - {" ".join(one.tokens)}):
                    message = f"{quoted(each.name)} is required, and no text says where it comes from"
                    yield found_in(one.tool, (*one.tool.schema_path, *each.path), message)


_INTERNAL = word_set(
    """
    pk row_id rowid oid db_id dbid record_pk internal_id transaction_handle tx_id txn_id txid cursor_handle
    lock_token primary_key surrogate_key connection_string
    auth_token session_token api_key password secret access_token run_as as_user sudo impersonate
    """
)


@rule(
    "G88", "suspicion", "No argument is a detail of what lies behind: row numbers, handles, accounts",
    change="take what the domain calls the thing; keep accounts and transactions on the server",
    good=tools(tool("close_ticket", "Closes a ticket.", {"key": _TICKET}, ["key"])),
    bad=tools(tool("close_ticket", "Closes one.", {"row_id": {"type": "integer"}, "run_as": {"type": "string"}})),
    at=["/tools/0/inputSchema/properties/row_id", "/tools/0/inputSchema/properties/run_as"],
)  # fmt: skip
def nothing_internal(view: View) -> Iterator[Found]:
    """What is passed on from the old system becomes part of the new contract, together with whatever it can be abused
    for."""
    for one in view.tools:
        for each in one.input.arguments:
            if "_".join(tokens(each.name)) in _INTERNAL:
                message = f"{quoted(each.name)} is a detail of what lies behind the tool"
                yield found_in(one.tool, (*one.tool.schema_path, *each.path), message)


RULES = (reaches_no_further, no_raw_steps, passes_nothing_through, nothing_internal)
"""The rules of this page, in the order of the seed."""
