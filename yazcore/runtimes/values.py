"""What may pass between the host and a plugin: plain data, checked by one codec in both runtimes (design 5).

Handler arguments and results and service answers pass through `portable`, so that a plugin behaves alike in this
process and in a worker: a tuple becomes a list, objects, lone surrogates, NaN and integers over 64 bits are refused.
"""

from __future__ import annotations

import math
from typing import Any

import attrs

from yazcore.contributions import Link, Page, Result

MAX_DEPTH = 64
"""The deepest nesting of a value."""

MAX_STRUCTURE = 2 * 2**20
"""The most bytes of a structured value (a hostile one of 32 MiB costs a host 2.3 GB and 9 s)."""

_LARGEST = 2**64 - 1
_SMALLEST = -(2**63)


class NotPortable(ValueError):
    """A value that cannot leave or enter a plugin; the text says what and where."""


@attrs.frozen(kw_only=True)
class Answer:
    """What a tool's handler said, as plain data: the structured result, its text where the plugin chose it, links."""

    structured: dict[str, Any] | None = None
    text: str | None = None
    links: tuple[Link, ...] = ()


def portable(value: Any) -> Any:
    """A copy of `value` as plain data: None, bool, int, float, str, bytes, list, dict with string keys.

    Raises `NotPortable` for anything else, and where the whole is deeper than 64 or larger than 2 MiB.
    """
    budget = [MAX_STRUCTURE]
    return _copy(value, "", 0, budget)


def _spend(budget: list[int], size: int, where: str) -> None:
    budget[0] -= size
    if budget[0] < 0:
        raise NotPortable(f"{where or 'the value'} is larger than {MAX_STRUCTURE} bytes: page it, or publish it")


def _copy(value: Any, where: str, depth: int, budget: list[int]) -> Any:
    kind = type(value)
    if value is None or kind is bool:
        _spend(budget, 1, where)
        return value
    if kind is str:
        try:
            _spend(budget, len(value.encode()), where)
        except UnicodeEncodeError:
            raise NotPortable(f"{where or 'the value'} holds half of a surrogate pair") from None
        return value
    if kind is int:
        _spend(budget, 8, where)
        if not _SMALLEST <= value <= _LARGEST:
            raise NotPortable(f"{where or 'the value'} is an integer over 64 bits")
        return value
    if kind is float:
        _spend(budget, 8, where)
        if not math.isfinite(value):
            raise NotPortable(f"{where or 'the value'} is {value}, which JSON does not have")
        return value
    if kind is bytes:
        return value
    if depth >= MAX_DEPTH:
        raise NotPortable(f"{where or 'the value'} is nested deeper than {MAX_DEPTH}")
    if kind is list or kind is tuple:
        _spend(budget, 8, where)
        return [_copy(item, f"{where}/{index}", depth + 1, budget) for index, item in enumerate(value)]
    if kind is dict:
        copied = {}
        for key, item in value.items():
            if type(key) is not str:
                raise NotPortable(f"{where or 'the value'} has a key that is no text: {type(key).__name__}")
            _copy(key, f"{where}/<key>", depth + 1, budget)
            copied[key] = _copy(item, f"{where}/{key}", depth + 1, budget)
        return copied
    raise NotPortable(f"{where or 'the value'} is a {kind.__name__}; only plain data may leave a plugin")


def answer(value: Any) -> Answer:
    """What a tool's handler returned, as an `Answer`.

    A dict is the structured result, a `Page` the structured `{"items", "nextCursor"}`, a `Result` says each part, a
    text is text alone. Raises `NotPortable` for anything else.
    """
    if isinstance(value, Result):
        structured = None if value.structured is None else portable(dict(value.structured))
        if value.text is not None and type(value.text) is not str:
            raise NotPortable("the text of the result is no text")
        return Answer(structured=structured, text=portable(value.text), links=tuple(value.links))
    if isinstance(value, Page):
        return Answer(structured=portable({"items": list(value.items), "nextCursor": value.next_cursor}))
    if type(value) is dict:
        return Answer(structured=portable(value))
    if type(value) is str:
        return Answer(text=portable(value))
    raise NotPortable(f"the result is a {type(value).__name__}; return a dict, a Page, a Result or a text")
