"""What a call ends in, as data: for whoever asked, in whatever protocol (design 7)."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Mapping
from typing import Any

import attrs

from yazcore.contributions import Link
from yazcore.declarations import Cache
from yazcore.parts import Ask, Audio, Image, Message, Part

INVALID_PARAMS = -32602
"""JSON-RPC's code for parameters that are wrong as a request."""

INTERNAL_ERROR = -32603
"""JSON-RPC's code for a request that was right and could not be answered."""

encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
"""Plain data as JSON text. Made once: `json.dumps` with options makes an encoder for each call."""


LONGEST_WORDS = 500
"""The most characters of the words of a progress report."""


def progress_said(done: Any, total: Any, message: Any) -> tuple[float, float | None, str] | None:
    """A progress report as it can be shown and sent; None where it says no number.

    Plugins say it in passing and in whatever way: it is never a reason to lose what they did.
    """
    if not _is_number(done) or not (total is None or _is_number(total)):
        return None
    words = message if isinstance(message, str) else ""
    return done, total, words[:LONGEST_WORDS].encode("utf-8", "backslashreplace").decode()


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer of hundreds of digits
        return False


LONGEST_ECHO = 200
"""The most characters of a name or a URI that an error repeats: whoever asked knows what it sent."""


def echo(name: str) -> str:
    """What a request named, as an error may repeat it."""
    return name if len(name) <= LONGEST_ECHO else f"{name[:LONGEST_ECHO]}…"


class ProtocolFault(Exception):
    """A call that is wrong as a request: a JSON-RPC error, because a model cannot mend it by other arguments."""

    def __init__(self, message: str, code: int = INVALID_PARAMS, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


@attrs.frozen(kw_only=True)
class Outcome:
    """What a caller gets for a tool call. `structured` is never there together with `is_error` (mcp 48).

    With `ask` the call has not been made: the client answers first, and calls again.
    """

    is_error: bool = False
    text: str = ""
    structured: Mapping[str, Any] | None = None
    links: tuple[Link, ...] = ()
    parts: tuple[Part, ...] = ()
    ask: Ask | None = None


@attrs.frozen(kw_only=True)
class Prompted:
    """What a caller gets for a prompt: its description and messages, or what the client has to answer first."""

    description: str = ""
    messages: tuple[Message, ...] = ()
    ask: Ask | None = None

    @property
    def text(self) -> str:
        """The texts of the messages, one after the other."""
        return "\n\n".join(message.content for message in self.messages if isinstance(message.content, str))


@attrs.frozen(kw_only=True)
class Content:
    """What reading a resource gives."""

    uri: str
    mime: str
    data: str | bytes
    cache: Cache


def part_object(part: Part) -> dict[str, Any]:
    """A part as JSON data, in the shape MCP gives it: its size is what counts against a result's."""
    if isinstance(part, (Image, Audio)):
        kind = "image" if isinstance(part, Image) else "audio"
        return {"type": kind, "data": base64.b64encode(part.data).decode("ascii"), "mimeType": part.mime_type}
    resource: dict[str, Any] = {"uri": part.uri}
    if part.mime_type is not None:
        resource["mimeType"] = part.mime_type
    if isinstance(part.data, str):
        resource["text"] = part.data
    else:
        resource["blob"] = base64.b64encode(part.data).decode("ascii")
    return {"type": "resource", "resource": resource}
