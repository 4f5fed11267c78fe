"""Rules about what a tool may and does: permission, scope, posture, hints, exports (G5, G14, G22, G23, G48, G91)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from yazcore.design_rules.examples import plugin, tool, tools
from yazcore.design_rules.rule import Found, found_in, rule
from yazcore.design_rules.view import ToolView, View
from yazcore.design_rules.words import CHANGING, STRONG, phrases, tokens, word_set, words
from yazcore.manifest.words import listed, quoted

_MAY_READ: Mapping[str, Any] = {"posture": "read", "scope": "global", "permission": "desk:read"}
_MAY_WRITE: Mapping[str, Any] = {"posture": "write", "scope": "global", "permission": "desk:write"}
_LIST = tool("list_tickets", "Lists tickets.", **_MAY_READ)
_CLOSE = tool("close_ticket", "Closes a ticket.", **_MAY_WRITE)


@rule(
    "G5", "error", "Everything that can be asked for needs a permission, in a scope",
    change="name the permission and the scope",
    good=plugin(_LIST),
    bad=plugin(tool("list_tickets", "Lists tickets.", posture="read", scope="global")),
    at=["/tools/0"],
    argument="a permission and a scope are keys of the entry: they are there, or nobody can be refused what it does",
)  # fmt: skip
def needs_a_permission(view: View) -> Iterator[Found]:
    """Who may do it is decided by policy, whatever the text says and the model chooses; without a permission there is
    nothing to decide by."""
    if view.surface.kind != "plugin":
        return
    for entry in view.surface.entries:
        missing = [
            what for what, is_there in (("permission", entry.permissions), ("scope", entry.scope)) if not is_there
        ]
        if missing:
            yield found_in(entry, entry.path, f"it names no {' and no '.join(missing)}")


@rule(
    "G22", "error", "A tool reads or writes",
    change='say "posture": "read" or "write"',
    good=plugin(_LIST),
    bad=plugin(tool("list_tickets", "Lists tickets.", scope="global", permission="desk:read", posture="both")),
    at=["/tools/0/posture"],
    argument="the posture is one of two words, and any other decides nothing",
)  # fmt: skip
def one_posture(view: View) -> Iterator[Found]:
    """Only a tool with one posture can be allowed, shown and asked about as what it is."""
    if view.surface.kind == "plugin":
        for found in view.surface.tools:
            if found.posture not in ("read", "write"):
                yield found_in(found, (*found.path, "posture"), "it has no posture, or one that does not exist")


@rule(
    "G23", "error", "A tool needs one permission",
    change="split the tool where the second permission begins",
    good=plugin(_CLOSE),
    bad=plugin(tool("close_ticket", "Closes a ticket.", **{**_MAY_WRITE, "permission": ["desk:read", "desk:write"]})),
    at=["/tools/0/permission"],
    argument="the permissions are listed, and two of them are two decisions",
)  # fmt: skip
def one_permission(view: View) -> Iterator[Found]:
    """A second permission is a second decision, and the tool hides where it falls."""
    for entry in view.surface.entries:
        if len(entry.permissions) > 1:
            yield found_in(entry, (*entry.path, "permission"), f"it needs {listed(entry.permissions, 5)}")


_READS_ONLY = word_set("list search find query get read describe count lookup")
_WRITES_FOR_SURE = STRONG | word_set(
    """
    create update add edit rename set write insert connect disconnect export cancel close assign invite approve
    """
)  # fmt: skip
_SAVES = phrases("save | saved | saves | write | written | output file")


@rule(
    "G48", "suspicion", "Posture, hint and verb say the same",
    change="mend the posture or the hint; if it does both, split the tool",
    good=tools(tool("delete_ticket", "Deletes a ticket; it is lost.", annotations={"readOnlyHint": False})),
    bad=tools(
        tool("delete_ticket", "Deletes a ticket; it is lost.", annotations={"readOnlyHint": True}),
        tool("search_tickets", "Finds tickets.", annotations={"destructiveHint": True}),
    ),
    at=["/tools/0/annotations/readOnlyHint", "/tools/1/annotations/destructiveHint"],
)  # fmt: skip
def no_contradiction(view: View) -> Iterator[Found]:
    """A hint is never an authorisation, but people and hosts look at it; one that is wrong is worse than none."""
    for one in view.tools:
        if (wrong := _contradiction(one)) is not None:
            key, message = wrong
            yield found_in(one.tool, (*one.tool.path, *key), message)


def _contradiction(one: ToolView) -> tuple[tuple[str, ...], str] | None:
    found = one.tool
    hint = found.hints.get("readOnlyHint")
    posture = None if found.posture is None else found.posture == "read"
    if posture is not None and hint is not None and posture is not hint:
        return ("annotations", "readOnlyHint"), "the hint contradicts the posture"
    where = ("posture",) if posture is not None else ("annotations", "readOnlyHint")
    if found.reads is True:
        if found.destroys:
            return where, "it says that it only reads, and that it destroys"
        if one.tokens and one.tokens[0] in _WRITES_FOR_SURE:
            return where, f"it says that it only reads, and its verb is {quoted(one.tokens[0])}"
        for each in one.input.arguments:
            changing = [value for value in each.values if tokens(value) and tokens(value)[0] in CHANGING]
            if changing and "_".join(tokens(each.name)) in ("action", "operation", "op", "mode", "command", "method"):
                return where, f"it says that it only reads, and {quoted(each.name)} may be {quoted(changing[0])}"
            is_file = "_".join(tokens(each.name)) in (
                "filename",
                "output_path",
                "output_file",
                "save_path",
                "dest_path",
            )
            if is_file and _SAVES.search(each.said):
                return where, f"it says that it only reads, and {quoted(each.name)} is a file that is written"
    elif one.tokens and one.tokens[0] in _READS_ONLY and not _has_changing_mode(one):
        if found.destroys:
            key = ("effect", "destructive") if found.effect.get("destructive") else ("annotations", "destructiveHint")
            return key, f"it says that it destroys, and its verb is {quoted(one.tokens[0])}"
        if found.reads is False:
            return where, f"it says that it writes, and its verb is {quoted(one.tokens[0])}"
    return None


def _has_changing_mode(one: ToolView) -> bool:
    return any(tokens(value) and tokens(value)[0] in CHANGING for each in one.input.arguments for value in each.values)


_EXPORTS = frozenset({"export", "dump", "backup", "snapshot", "archive"})
_MAKES = word_set("create generate start make build request run export prepare trigger")
_LEADS = phrases(
    """
    uri | uris | url | urls | link | links | resource | resources | address | addresses | href | download*
    """
)
_GOES_TO = word_set(
    """
    path filename output_path destination target file output filepath file_path bucket dest directory output_file
    save_path
    """
)  # fmt: skip


@rule(
    "G14", "suspicion", "An export gives the address of what it made",
    change="give the URI in the result and in the output schema; the artefact is a resource",
    good=tools(tool(
        "create_log_export", "Collects a day's log, which takes a minute, and gives the URI of the file.",
        outputSchema={"type": "object", "properties": {"uri": {"type": "string"}}},
    )),
    bad=tools(tool(
        "create_log_export", "Collects a day's log.",
        outputSchema={"type": "object", "properties": {"text": {"type": "string"}}},
    )),
    at=["/tools/0"],
)  # fmt: skip
def gives_an_address(view: View) -> Iterator[Found]:
    """The tool shows trigger and cost, the resource makes what came out addressable: then it is read when it is needed,
    and as often, without being made again."""
    for one in view.in_english:
        named = set(one.tokens)
        is_export = bool(one.tokens) and ((one.tokens[0] in _EXPORTS and len(one.tokens) > 1) or (
            one.tokens[0] in _MAKES and bool(named & (_EXPORTS | {"report"}))
        ))  # fmt: skip
        if is_export and not _says_where(one):
            yield found_in(one.tool, one.tool.path, "nothing says under which address its result can be read")


def _says_where(one: ToolView) -> bool:
    if any("_".join(tokens(each.name)) in _GOES_TO for each in one.input.arguments):
        return True
    if _LEADS.search(one.tool.description[:6_000]):
        return True
    names = {word for each in (one.output.parameters if one.output is not None else ()) for word in words(each.name)}
    return bool(names & {"uri", "url", "link", "links", "href", "resource", "address", "location"})


@rule(
    "G91", "suspicion", "What a plugin asks for is no wider than what it offers",
    change="ask only for reading, or take the capability away",
    good=plugin(_LIST, capabilities=[{"kind": "fs-read", "place": "desk"}]),
    bad=plugin(_LIST, capabilities=[{"kind": "fs-write", "place": "desk"}]),
    at=["/capabilities/0"],
    unmeasured="the corpus is of servers, which say nothing of what they may do",
)  # fmt: skip
def no_wider(view: View) -> Iterator[Found]:
    """A narrow tool before a wide account bounds only the path that was planned; a mistake opens the rest."""
    surface = view.surface
    only_reads = not surface.has_commands and not any(one.posture == "write" for one in surface.tools)
    if surface.kind == "plugin" and only_reads:
        for asked in surface.asks:
            if asked.changes:
                message = f"it may change things ({asked.kind}), and everything it offers only reads"
                yield Found("surface", asked.path, message)


@rule(
    "G92", "question", "What reads and what writes have accounts of their own",
    change="ask for one credential for reading and one for writing, where the backend has both",
    good=plugin(_LIST, capabilities=[{"kind": "credential", "names": ["desk"]}]),
    bad=plugin(_LIST, _CLOSE, capabilities=[{"kind": "credential", "names": ["desk"]}]),
    at=["/capabilities/0"],
    unsure="whether a backend has narrower accounts, and what one of a name may do, no manifest says",
)  # fmt: skip
def separate_accounts(view: View) -> Iterator[Found]:
    """An account for everything makes each reading tool one mistake away from writing."""
    postures = {one.posture for one in view.surface.tools}
    if {"read", "write"} <= postures:
        for asked in view.surface.asks:
            if asked.kind == "credential" and asked.count == 1:
                yield Found("surface", asked.path, "tools that read and tools that write spend the same credential")


RULES = (
    needs_a_permission,
    gives_an_address,
    one_posture,
    one_permission,
    no_contradiction,
    no_wider,
    separate_accounts,
)
"""The rules of this page, in the order of the seed."""
