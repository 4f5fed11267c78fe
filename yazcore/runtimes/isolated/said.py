"""What a worker says unasked, looked at: a question, a line of log, a report of progress."""

from __future__ import annotations

from typing import Any

from yazcore.runtimes.isolated import wire
from yazcore.runtimes.isolated.wire import Later


def question(value: Any, data: bytes) -> tuple[int, list[Any], dict[str, Any]]:
    """What a question is about: the call it is for, its arguments. `data` is what came before it. Raises `Broken`."""
    value = value.value() if isinstance(value, Later) else value
    if type(value) is not list or [type(part) for part in value] != [int, list, dict, list]:
        raise wire.Broken("a question that is none")
    parent, args, kwargs, blobs = value
    if any(type(key) is not str for key in kwargs):
        raise wire.Broken("a question that is none")
    start = 0
    for blob in blobs:
        if type(blob) is not list or [type(part) for part in blob[1:]] != [bool, int]:
            raise wire.Broken("a question that is none")
        place, is_text, size = blob
        piece = data[start : start + size]
        start += size
        content = piece.decode("utf-8", "surrogatepass") if is_text else piece
        if type(place) is int and 0 <= place < len(args):
            args[place] = content
        elif type(place) is str and place in kwargs:
            kwargs[place] = content
        else:
            raise wire.Broken("a part that belongs to nothing")
    return parent, args, kwargs


def is_line(value: Any) -> bool:
    """Whether this is a line of log: its level, its text."""
    return type(value) is list and [type(part) for part in value] == [int, str] and 0 <= value[0] <= 50


def is_report(value: Any) -> bool:
    """Whether this is a report of progress: how far, of how much (None: unknown), a few words."""
    return (
        type(value) is list
        and len(value) == 3
        and type(value[0]) in (int, float)
        and (value[1] is None or type(value[1]) in (int, float))
        and type(value[2]) is str
    )
