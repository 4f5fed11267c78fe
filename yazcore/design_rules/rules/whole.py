"""Rules about a surface as a whole: how large it is, and whether a person has answered for it (G1, G95, G96)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from yazcore.design_rules.examples import plugin, tool, tools
from yazcore.design_rules.record import DECISIONS, QUESTIONS, SECTIONS
from yazcore.design_rules.rule import Found, found_in, rule
from yazcore.design_rules.surface import FALLBACK, Tool
from yazcore.design_rules.view import View
from yazcore.manifest.distribution_rules import REVIEW_FILE
from yazcore.manifest.words import listed

MOST_TOOLS = 40
"""More tools than this are hardly chosen from without help of the host."""

MOST_TOKENS = 10_000
"""The most tokens that the tools of one surface should cost in every conversation: characters of JSON / 4 (S-4)."""

MOST_TOKENS_OF_ONE = 1_000
"""The most tokens of one tool."""

_LONG = {f"field_{number}": {"type": "string", "description": "A field of the form. " * 5} for number in range(40)}


def tokens_of(found: Tool) -> int:
    """What a tool costs in every conversation: the characters of its entry in tools/list, divided by four. Hosts differ
    in what of it they hand on; the whole is what a server may count on."""
    hints = dict(found.hints)
    if found.posture is not None:  # what a host of yaz shows of a manifest's tool (`mcp.surface.hints`)
        hints = {"readOnlyHint": found.posture == "read", **{f"{key}Hint": one for key, one in found.effect.items()}}
    parts = {
        "name": found.name, "title": found.titles.get(FALLBACK), "description": found.description,
        "inputSchema": found.input_schema, "outputSchema": found.output_schema, "annotations": hints or None,
    }  # fmt: skip
    shown: dict[str, Any] = {key: one for key, one in parts.items() if one is not None}
    try:
        return len(json.dumps(shown, ensure_ascii=False, separators=(",", ":"), default=str)) // 4
    except (RecursionError, ValueError):
        return MOST_TOKENS


@rule(
    "G1", "suspicion", "A surface is small",
    change="publish what tasks need; let the host show the rest by profile",
    good=tools(tool("list_tickets", "Lists tickets.")),
    bad=tools(*(tool(f"read_table_{number}", "Reads a table.") for number in range(MOST_TOOLS + 1))),
    at=[""],
    unmeasured="no server of the corpus is as large as that; the bound is what hosts can show at once",
)  # fmt: skip
def small(view: View) -> Iterator[Found]:
    """A surface is a view that was chosen for a caller who knows nothing else, not a mirror of what happens to be
    there; each tool more makes each choice harder."""
    count = len(view.surface.tools)
    cost = sum(map(tokens_of, view.surface.tools))
    if count > MOST_TOOLS:
        yield Found("surface", (), f"there are {count} tools, more than {MOST_TOOLS}")
    if cost > MOST_TOKENS:
        yield Found("surface", (), f"the tools cost about {cost} tokens in every conversation, more than {MOST_TOKENS}")


@rule(
    "G1b", "suspicion", "A tool is small",
    change="shorten the texts, take arguments out, or split the tool",
    good=tools(tool("list_tickets", "Lists tickets.")),
    bad=tools(tool("fill_form", "Fills a form.", _LONG)),
    at=["/tools/0"],
    unmeasured="no tool of the corpus costs so much; the bound is a tenth of what a whole surface may cost",
)  # fmt: skip
def small_tool(view: View) -> Iterator[Found]:
    """Every conversation pays for every tool, used or not."""
    for one in view.surface.tools:
        if (cost := tokens_of(one)) > MOST_TOKENS_OF_ONE:
            message = f"it costs about {cost} tokens in every conversation, more than {MOST_TOKENS_OF_ONE}"
            yield found_in(one, one.path, message)


_ANSWERED = {
    "decisions": dict.fromkeys(DECISIONS, "Looked at and found good."),
    "questions": dict.fromkeys(QUESTIONS, "Looked at and found good."),
}


_COUNT = tool("count_words", "Counts words.", posture="read", scope="global", permission="count:read")


@rule(
    "G95", "suspicion", "A person has taken the nine decisions about the surface",
    change=f"answer them in {REVIEW_FILE} beside the manifest; yaz check --review prints them",
    good=plugin(_COUNT, record=_ANSWERED),
    bad=plugin(_COUNT, record={**_ANSWERED, "decisions": {"task-cut": "Each tool is one task."}}),
    at=[""],
    needs="record",
    unmeasured="the corpus has no reviewer's records",
)  # fmt: skip
def decided(view: View) -> Iterator[Found]:
    """What no program can judge, somebody must have judged, in words that the next one can read."""
    yield from _open(view, "decisions")
    if view.record is not None:
        yield from (Found(REVIEW_FILE, (), fault) for fault in view.record.faults)


@rule(
    "G96", "suspicion", "A person has answered the four questions about the surface",
    change=f"answer them in {REVIEW_FILE} beside the manifest; yaz check --review prints them",
    good=plugin(_COUNT, record=_ANSWERED),
    bad=plugin(_COUNT, record={**_ANSWERED, "questions": {}}),
    at=[""],
    needs="record",
    unmeasured="the corpus has no reviewer's records",
)  # fmt: skip
def answered(view: View) -> Iterator[Found]:
    """Design begins with who starts it, what it can do at most, what stays and what may change; endpoints come
    after."""
    yield from _open(view, "questions")


def _open(view: View, section: str) -> Iterator[Found]:
    if view.record is None or view.surface.is_empty:
        return
    keys = view.record.open(section)
    if keys and not view.record.is_there:
        yield Found(
            REVIEW_FILE, (), f"nobody has answered the {len(SECTIONS[section])} {section}: there is no {REVIEW_FILE}"
        )
    elif keys:
        message = f"of the {section}, {listed(keys)} {'is' if len(keys) == 1 else 'are'} not answered"
        yield Found(REVIEW_FILE, (), message)


RULES = (small, small_tool, decided, answered)
"""The rules of this page, in the order of the seed."""
