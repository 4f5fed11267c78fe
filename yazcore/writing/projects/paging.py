"""Pages of a list: as many items as were asked for and fit, and an opaque cursor for the rest (G79, mcp 60)."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Sequence
from typing import Any

import attrs

from yazcore import YazError

PAGE_BYTES = 24_000
"""About how much one page holds, as JSON, in bytes: the page ends before it, whatever the limit asked for."""


@attrs.frozen
class Slice:
    """One page: its items and the cursor of the next, None at the end."""

    items: list[dict[str, Any]]
    next_cursor: str | None


def page(items: Sequence[dict[str, Any]], limit: int, cursor: str | None, state: str) -> Slice:
    """The page of `items` at `cursor`, or the first; `state` names the state of the list that cursors are good for.

    Raises `YazError` (`cursor-malformed`, `cursor-expired`: the list is not the one the cursor was made for).
    """
    start = 0 if cursor is None else _start(cursor, state)
    taken: list[dict[str, Any]] = []
    size = 0
    for item in items[start : start + limit]:
        size += len(json.dumps(item, ensure_ascii=False).encode("utf-8", "replace")) + 2
        if size > PAGE_BYTES and taken:
            break
        taken.append(item)
    end = start + len(taken)
    return Slice(taken, _cursor(end, state) if end < len(items) else None)


def _cursor(start: int, state: str) -> str:
    return base64.urlsafe_b64encode(f"{start}:{state}".encode()).decode().rstrip("=")


def _start(cursor: str, state: str) -> int:
    try:
        text = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True).decode()
        number, _, made_for = text.partition(":")
        start = int(number) if number.isascii() and number.isdigit() and len(number) < 10 else -1
    except (binascii.Error, ValueError):
        start, made_for = -1, ""
    if start < 0:
        raise YazError("cursor-malformed", "the cursor is none of ours", "leave it out to begin at the first page")
    if made_for != state:
        raise YazError(
            "cursor-expired", "the list has changed since that page", "leave the cursor out to begin at the first page"
        )
    return start
