"""What calls answer, as the plain data that goes over the wire. Pure; loads no SDK."""

from __future__ import annotations

import base64
import json
from typing import Any

from yazcore.contributions import Link
from yazcore.outcomes import Content, Outcome, Prompted, part_object
from yazcore.parts import Message


def tool_result(outcome: Outcome) -> dict[str, Any]:
    """The result of `tools/call`, which `yaz call` prints too (design 9).

    A structured result is an object, never altered, and given as text as well (G52); an error never carries one, since
    clients would check it against the output schema and lose the error (mcp 48).
    """
    text = outcome.text
    structured = None if outcome.is_error else outcome.structured
    if not text and structured is not None:
        text = json.dumps(structured, ensure_ascii=False)
    content: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
    content += [part_object(part) for part in outcome.parts]
    content += [_link(link) for link in outcome.links]
    result: dict[str, Any] = {"content": content, "isError": outcome.is_error}
    if structured is not None:
        result["structuredContent"] = structured
    return result


def _link(link: Link) -> dict[str, Any]:
    shown = {"type": "resource_link", "uri": link.uri, "name": link.name}
    if link.mime_type is not None:
        shown["mimeType"] = link.mime_type
    if link.description is not None:
        shown["description"] = link.description
    return shown


def read_result(content: Content) -> dict[str, Any]:
    """The result of `resources/read`: text as text, bytes as base64, and how long it may be kept."""
    body = (
        {"text": content.data}
        if isinstance(content.data, str)
        else {"blob": base64.b64encode(content.data).decode("ascii")}
    )
    return {
        "contents": [{"uri": content.uri, "mimeType": content.mime, **body}],
        "ttlMs": content.cache.ttl_ms,
        "cacheScope": content.cache.scope,
    }


def prompt_result(prompted: Prompted) -> dict[str, Any]:
    """The result of `prompts/get`."""
    return {"description": prompted.description, "messages": [_message(message) for message in prompted.messages]}


def _message(message: Message) -> dict[str, Any]:
    content = message.content
    shown = {"type": "text", "text": content} if isinstance(content, str) else part_object(content)
    return {"role": message.role, "content": shown}


def completion_result(values: list[str], most: int = 100) -> dict[str, Any]:
    """The result of `completion/complete`, which may hold a hundred values."""
    return {"completion": {"values": values[:most], "total": len(values), "hasMore": len(values) > most}}
