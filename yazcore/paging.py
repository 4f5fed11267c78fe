"""Pages of a list, and cursors that nobody can make up (G79, mcp 54, 56).

    CURSORS = Cursors("search-library")

    def search(self, context, arguments):
        after = CURSORS.position(context, arguments)            # None: from the start
        rows = self.index.rows(arguments["query"], after)       # a generator: only what the page shows is made
        return CURSORS.page(context, arguments, rows, position_of=lambda row: row["key"])

The input schema has the properties `cursor` (a string) and, if you like, `limit` (an integer, bounded).
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from yazcore.contributions import Page, ToolError

PAGE_BYTES = 24_000
"""About how much one page holds, as JSON, in bytes: it ends before, whatever the limit asked for."""

LIMIT = 50
"""How many items a page holds where nobody says."""

_MAC_BYTES = 12
_LONGEST_POSITION = 2_000


class Cursors:
    """The cursors of one list.

    A cursor is opaque, and good for the caller, the arguments and the state of the list that it was given for; those
    arguments that say where a page begins and how long it is, `cursor` and `limit`, apart. It is sealed with a key of
    this object's own, so a plugin that starts anew refuses those it gave before: the list begins again.
    """

    def __init__(self, name: str, *, cursor: str = "cursor", limit: str = "limit") -> None:
        self._name = name
        self._cursor = cursor
        self._limit = limit
        self._key = secrets.token_bytes(32)

    def position(self, context: Any, arguments: Mapping[str, Any], state: str = "") -> Any:
        """Where the page of this call begins: what `position_of` gave for the item before it; None at the start.

        Raises `ToolError` for a cursor that was not given for this caller, these arguments and this `state`.
        """
        cursor = arguments.get(self._cursor)
        if cursor is None:
            return None
        try:
            sealed = base64.b64decode(str(cursor).encode("ascii"), altchars=b"-_", validate=True)
        except ValueError:
            sealed = b""
        mac, told = sealed[:_MAC_BYTES], sealed[_MAC_BYTES:]
        if _written(sealed) != cursor or not hmac.compare_digest(mac, self._mac(context, arguments, state, told)):
            raise ToolError(
                f"{self._cursor} is none that this list gave for these arguments as it stands now: "
                "leave it out to start with the first page"
            )
        return json.loads(told)

    def after(self, context: Any, arguments: Mapping[str, Any], position: Any, state: str = "") -> str:
        """The cursor for what comes after `position`: plain data of at most 2,000 bytes. Raises `ValueError`."""
        told = json.dumps(position, ensure_ascii=False, allow_nan=False).encode()
        if len(told) > _LONGEST_POSITION:
            raise ValueError(f"a position of {len(told)} bytes is more than the {_LONGEST_POSITION} a cursor may hold")
        mac = self._mac(context, arguments, state, told)
        return _written(mac + told)

    def page(
        self,
        context: Any,
        arguments: Mapping[str, Any],
        items: Iterable[Any],
        *,
        position_of: Callable[[Any], Any],
        limit: int = LIMIT,
        state: str = "",
    ) -> Page:
        """The first `items` that fit, and the cursor of the next page where there is more.

        `items` begins after `position`; one item more than the page shows is taken from it. How many fit is the
        argument `limit`, else `limit` here, and about `PAGE_BYTES`; one always does.
        """
        most = arguments.get(self._limit, limit)
        taken: list[Any] = []
        size = 0
        for item in items:
            size += len(json.dumps(item, ensure_ascii=False).encode("utf-8", "surrogatepass")) + 2
            if taken and (len(taken) >= most or size > PAGE_BYTES):
                return Page(taken, self.after(context, arguments, position_of(taken[-1]), state))
            taken.append(item)
        return Page(taken)

    def _mac(self, context: Any, arguments: Mapping[str, Any], state: str, told: bytes) -> bytes:
        caller = None if context.caller is None else context.caller.name
        asked = {name: value for name, value in arguments.items() if name not in (self._cursor, self._limit)}
        bound = json.dumps([self._name, caller, asked, state], sort_keys=True).encode()
        return hashlib.blake2b(b"%d:%b%b" % (len(bound), bound, told), key=self._key, digest_size=_MAC_BYTES).digest()


def _written(sealed: bytes) -> str:
    """A cursor as text; there is one for each, though base64 reads some texts alike."""
    return base64.b64encode(sealed, altchars=b"-_").decode("ascii")
