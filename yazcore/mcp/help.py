"""`help`, `yaz://tools` and `yaz://permissions`: what an agent may look up, from the catalogue alone (S-38 to S-41).

Pure functions on what is active; they know nothing of MCP's wire.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from yazcore.catalogue import ActiveTool
from yazcore.declarations import MAX_RESULT
from yazcore.outcomes import encode
from yazcore.permissions import PermissionGrant, Principal, ScopeKind

NEXT = "help with a topic (a tool's name) explains one tool in full."

_INDEX = (("tool", "summary", "permission", "scope"), ("tool", "permission", "scope"), ("tool",))
"""What the index says of each tool, from all there is to say to what must be said."""


def help_for(tools: Iterable[ActiveTool], topic: str | None, budget: int = MAX_RESULT) -> dict[str, Any]:
    """The index without a topic; one tool in full with one; the names where the topic is unknown, which is no error.

    An index of more than `budget` bytes says less of each tool, never of fewer tools: no summary, then only the name.
    """
    known = {tool.exposed.lower(): tool for tool in tools}
    wanted = (topic or "").strip().lower()
    if not wanted:
        for parts in _INDEX:
            index = _index(known.values(), parts)
            if len(encode(index).encode()) <= budget:
                break
        return index
    if (tool := known.get(wanted)) is not None:
        return {"tool": full_entry(tool)}
    return {"unknown": topic, "tools": sorted(tool.exposed for tool in known.values()), "next": NEXT}


def tools_document(tools: Iterable[ActiveTool]) -> dict[str, Any]:
    """Every tool in full: the same entries that `help` gives one at a time."""
    return {"tools": [full_entry(tool) for tool in tools]}


def permissions_document(
    principal: Principal,
    actions: Collection[str],
    everywhere: Collection[str],
    granted: Iterable[PermissionGrant],
    unlisted: Iterable[ScopeKind] = (),
) -> dict[str, Any]:
    """Who the caller is and what it may do: `everywhere`, then what it was granted in one kind of scope or one scope.

    Permissions that nobody active declares (`actions`) grant nothing and are left out. `unlisted` are the kinds of
    scope of which only a call can tell: the host's own code decides there, and lists nothing.
    """
    held = [{"permission": action, "scope": "global", "scopeId": None} for action in sorted(everywhere)]
    held += [
        {"permission": action, "scope": grant.scope, "scopeId": grant.scope_id}
        for grant in granted
        for action in sorted(set(actions) - set(everywhere))
        if grant.scope != "global" and grant.names(action)
    ]
    document = {
        "principal": principal.name,
        "owner": principal.owner,
        "permissions": held,
        "tools": None if principal.tools is None else sorted(principal.tools),
        "readOnly": principal.read_only,
    }
    if notes := [_unlisted(kind) for kind in unlisted]:
        document["notListed"] = notes
    return document


def instructions(
    host: str, tools: Iterable[ActiveTool], everywhere: Collection[str], permissions_uri: str | None
) -> str:
    """What a client reads first: every tool by name, reads and writes apart (S-43), and where to read more.

    `everywhere` is what it may do in every scope; `permissions_uri` says so in full, where a host has such a resource.
    """
    listed = list(tools)
    reads = ", ".join(tool.exposed for tool in listed if tool.posture == "read") or "none"
    writes = ", ".join(tool.exposed for tool in listed if tool.posture == "write") or "none"
    allowed = sum(tool.declaration.permission in everywhere for tool in listed)
    more = "" if permissions_uri is None else f"; {permissions_uri} says what you may do"
    helps = " help explains each tool." if any(tool.own and tool.exposed == "help" for tool in listed) else ""
    return (
        f"This is {host}. Tools that read: {reads}. Tools that change things: {writes}. "
        f"Names with '__' come from plugins. You may call {allowed} of {len(listed)} everywhere{more}.{helps}"
    )


def full_entry(tool: ActiveTool) -> dict[str, Any]:
    """All that can be said of one tool: what it needs, what it does, what its arguments mean."""
    declaration = tool.declaration
    return {
        "name": tool.exposed,
        "plugin": tool.plugin,
        "posture": tool.posture,
        "summary": tool.description,
        "access": {"permission": declaration.permission, "scope": declaration.scope},
        "approval": "ask" if tool.asks else "none",
        "deadlineSeconds": declaration.deadline_seconds,
        "params": [
            {
                key: value
                for key, value in (
                    ("name", param.name),
                    ("values", None if param.values is None else list(param.values)),
                    ("shape", param.shape),
                    ("note", param.note),
                )
                if value is not None
            }
            for param in declaration.params
        ],
    }


def _index(tools: Collection[ActiveTool], parts: tuple[str, ...]) -> dict[str, Any]:
    return {
        "tools": {
            posture: [_short(tool, parts) for tool in tools if tool.posture == posture]
            for posture in ("read", "write")
        },
        "next": NEXT,
    }


def _short(tool: ActiveTool, parts: tuple[str, ...]) -> dict[str, Any]:
    said = {
        "tool": tool.exposed,
        "summary": tool.description,
        "permission": tool.declaration.permission,
        "scope": tool.declaration.scope,
    }
    return {part: said[part] for part in parts}


def _unlisted(kind: ScopeKind) -> dict[str, str]:
    source = f"; {kind.source} shows the ids there are for you" if kind.source else ""
    return {"scope": kind.name, "note": f"What you may do in one {kind.name} is decided on each call{source}."}
