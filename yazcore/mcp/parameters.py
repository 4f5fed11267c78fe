"""What a request's parameters say before any handler looks at them, in either protocol era."""

from __future__ import annotations

import math
from typing import Any

MAX_DEPTH = 64
"""The deepest nesting of a request's parameters (mcp 17)."""


def unfit(params: Any) -> str | None:
    """What no handler should have to meet in a request's parameters, or None: nesting, and numbers JSON has not.

    Python's parsers accept `NaN` and any depth; a deep value would exhaust the stack further in (mcp 16, 17).
    """
    level: list[Any] = [params]
    for _ in range(MAX_DEPTH):
        deeper: list[Any] = []
        for value in level:
            if isinstance(value, dict):
                deeper.extend(value.values())
            elif isinstance(value, list):
                deeper.extend(value)
            elif isinstance(value, float) and not math.isfinite(value):
                return _no_number(value)
        if not deeper:
            return None
        level = deeper
    for value in level:
        if isinstance(value, (dict, list)):
            return f"the parameters are nested deeper than {MAX_DEPTH}"
        if isinstance(value, float) and not math.isfinite(value):
            return _no_number(value)
    return None


def _no_number(value: float) -> str:
    return f"{value} is no number of JSON"


_CALLS = {
    "tools/call": ("tool", "name"),
    "resources/read": ("resource", "uri"),
    "resources/subscribe": ("subscription", "uri"),
    "prompts/get": ("prompt", "name"),
    "completion/complete": ("completion", "ref"),
}


def call_in(method: str, params: Any) -> tuple[str, str, Any] | None:
    """What, which and with what arguments a request calls, as far as it says so; None for what is no call."""
    if method not in _CALLS:
        return None
    what, key = _CALLS[method]
    given = params if isinstance(params, dict) else {}
    name, arguments = given.get(key), given.get("arguments")
    if what == "completion":
        name = name.get("uri", name.get("name")) if isinstance(name, dict) else None
        asked = given["argument"] if isinstance(given.get("argument"), dict) else {}
        arguments = {asked["name"]: asked.get("value")} if isinstance(asked.get("name"), str) else {}
    return what, name if isinstance(name, str) else "", arguments
