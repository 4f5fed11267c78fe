"""What `tools/list` and its siblings show: the catalogue as plain data, in pages. Pure; loads no SDK.

The objects here are the very objects on the wire, and what `yaz tools --json` prints (design 9).
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from typing import Any

import attrs

from yazcore.catalogue import ActivePrompt, ActiveResource, ActiveTool
from yazcore.declarations import Posture, ToolDeclaration, Variable

PAGE_ITEMS = 250
"""How many entries one page of a list holds: some 80 KB of tools. Every client reads them all, a round trip a page."""

_META = "yazcore/"


def tool_object(tool: ActiveTool) -> dict[str, Any]:
    """One entry of `tools/list`. The declared schemas go as they are: what is published is what is pinned."""
    declaration = tool.declaration
    shown: dict[str, Any] = {
        "name": tool.exposed,
        "description": tool.description,
        "inputSchema": declaration.input_schema,
    }
    if declaration.output_schema is not None:
        shown["outputSchema"] = declaration.output_schema
    shown["annotations"] = hints(declaration, tool.posture)
    shown["_meta"] = _meta(tool.plugin, declaration.permission, declaration.scope)
    return shown


def hints(declaration: ToolDeclaration, posture: Posture | None = None) -> dict[str, bool]:
    """The hints of a tool, from the posture that counts (None: the declared one) and its effect (T-10).

    Never an authorisation. What the author has not said is left out, so that a client assumes the worst, as MCP wants
    it. Nothing is read-only and destructive at once: reading a manifest refuses that (`tool-effect`).
    """
    said = {"readOnlyHint": (posture or declaration.posture) == "read"}
    if declaration.effect is not None:
        said["destructiveHint"] = declaration.effect.destructive
        said["idempotentHint"] = declaration.effect.idempotent
        said["openWorldHint"] = declaration.effect.external
    return said


def resource_object(resource: ActiveResource) -> dict[str, Any]:
    """One entry of `resources/list`."""
    return {"uri": resource.declaration.uri, **_resource(resource)}


def template_object(resource: ActiveResource) -> dict[str, Any]:
    """One entry of `resources/templates/list`; what may stand for each variable is in `_meta` (G43)."""
    shown = {"uriTemplate": resource.declaration.uri_template, **_resource(resource)}
    shown["_meta"] |= {f"{_META}variables": [_variable(one) for one in resource.declaration.variables]}
    return shown


def _variable(variable: Variable) -> dict[str, Any]:
    values = {} if variable.values is None else {"values": list(variable.values)}
    return {"name": variable.name, "note": variable.note, **values}


def _resource(resource: ActiveResource) -> dict[str, Any]:
    declaration = resource.declaration
    shown: dict[str, Any] = {"name": resource.name, "description": resource.description}
    if declaration.mime_type is not None:
        shown["mimeType"] = declaration.mime_type
    shown["_meta"] = _meta(resource.plugin, declaration.permission, declaration.scope)
    return shown


def prompt_object(prompt: ActivePrompt) -> dict[str, Any]:
    """One entry of `prompts/list`."""
    declaration = prompt.declaration
    return {
        "name": prompt.exposed,
        "description": prompt.description,
        "arguments": [
            {"name": argument.name, "description": argument.note, "required": argument.required}
            for argument in declaration.arguments
        ],
        "_meta": _meta(prompt.plugin, declaration.permission, declaration.scope),
    }


def _meta(plugin: str, permission: str, scope: str) -> dict[str, str]:
    return {f"{_META}plugin": plugin, f"{_META}permission": permission, f"{_META}scope": scope}


@attrs.frozen
class ListPage:
    """A slice of a list, and where the next one begins (None: this is the end)."""

    items: tuple[dict[str, Any], ...]
    next_cursor: str | None = None


class BadCursor(ValueError):
    """A cursor that this list never gave (mcp 56)."""


def list_page(listing: str, entries: Mapping[str, dict[str, Any]], cursor: str | None) -> ListPage:
    """The page of `entries` (sorted by key) that `cursor` points to; None is the first page.

    A cursor names the last key of the page before, so a plugin that comes or goes between two pages shifts nothing.
    Raises `BadCursor` for a text that is no cursor of this `listing`.
    """
    after = None if cursor is None else _key_of(listing, cursor)
    keys = [key for key in entries if after is None or key > after]
    page = keys[:PAGE_ITEMS]
    more = len(keys) > len(page)
    return ListPage(tuple(entries[key] for key in page), cursor_after(listing, page[-1]) if more else None)


def cursor_after(listing: str, key: str) -> str:
    """The cursor for what comes after `key`. Its check sum finds what was cut or typed by hand; it is no secret."""
    text = f"{listing}\n{key}".encode()
    return base64.urlsafe_b64encode(hashlib.blake2b(text, digest_size=6).digest() + text).decode()


def _key_of(listing: str, cursor: str) -> str:
    try:
        text = base64.b64decode(cursor.encode(), altchars=b"-_", validate=True)[6:].decode()
    except ValueError:
        raise BadCursor(cursor) from None
    key = text.partition("\n")[2]
    if cursor != cursor_after(listing, key):
        raise BadCursor(cursor)
    return key
