"""What a call ends in, as data: for whoever asked, in whatever protocol (design 7)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import attrs

from yazcore.contributions import Link
from yazcore.declarations import Cache

INVALID_PARAMS = -32602
"""JSON-RPC's code for parameters that are wrong as a request."""

INTERNAL_ERROR = -32603
"""JSON-RPC's code for a request that was right and could not be answered."""

encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
"""Plain data as JSON text. Made once: `json.dumps` with options makes an encoder for each call."""


class ProtocolFault(Exception):
    """A call that is wrong as a request: a JSON-RPC error, because a model cannot mend it by other arguments."""

    def __init__(self, message: str, code: int = INVALID_PARAMS, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


@attrs.frozen(kw_only=True)
class Outcome:
    """What a caller gets for a tool call. `structured` is never there together with `is_error` (mcp 48)."""

    is_error: bool = False
    text: str
    structured: Mapping[str, Any] | None = None
    links: tuple[Link, ...] = ()


@attrs.frozen(kw_only=True)
class Content:
    """What reading a resource gives."""

    uri: str
    mime: str
    data: str | bytes
    cache: Cache
