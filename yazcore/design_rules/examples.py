"""What rules show as their good and their bad example: small documents, and the view of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from yazcore.design_rules.documents import read
from yazcore.design_rules.record import record_of
from yazcore.design_rules.rule import Document
from yazcore.design_rules.view import View


def tool(
    name: str, text: str, properties: Mapping[str, Any] | None = None, required: Sequence[str] = (), **more: Any
) -> dict[str, Any]:
    """A tool whose arguments are these properties and no others; `more` replaces or adds keys, None takes one out."""
    schema: dict[str, Any] = {"type": "object", "properties": dict(properties or {}), "additionalProperties": False}
    if required:
        schema["required"] = list(required)
    entry = {"name": name, "description": text, "inputSchema": schema, **more}
    return {key: value for key, value in entry.items() if value is not None}


def tools(*entries: Mapping[str, Any], **more: Any) -> Document:
    """A server with these tools."""
    return {"tools": list(entries), **more}


def plugin(*entries: Mapping[str, Any], **more: Any) -> Document:
    """A plugin with these tools."""
    return {"kind": "plugin", **tools(*entries, **more)}


def resource(uri: str, text: str, **more: Any) -> dict[str, Any]:
    """A resource, or a template where the URI has variables."""
    key = "uriTemplate" if "{" in uri else "uri"
    entry = {key: uri, "description": text, **more}
    return {key: value for key, value in entry.items() if value is not None}


def resources(*entries: Mapping[str, Any], **more: Any) -> Document:
    """A server with these resources."""
    return {"resources": list(entries), **more}


def prompt(name: str, text: str, arguments: Sequence[tuple[str, str]] = ()) -> dict[str, Any]:
    """A prompt, with its arguments and what is said of each."""
    noted = [{"name": one, "description": said} for one, said in arguments]
    return {"name": name, "description": text, "arguments": noted}


def prompts(*entries: Mapping[str, Any], **more: Any) -> Document:
    """A server with these prompts."""
    return {"prompts": list(entries), **more}


def view_of(document: Document) -> View:
    """The view of an example: its surface, and where it says so the one `before` it and the reviewer's `record`."""
    before, record = document.get("before"), document.get("record")
    return View(
        read(document),
        before=None if before is None else read(before),
        record=None if record is None else record_of(record),
    )
