"""Results that are too large for one answer, and exports: kept for whoever asked, read page by page (design 7)."""

from __future__ import annotations

import secrets
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable

import attrs

RESULT_PREFIX = "yaz://result/"
"""The URIs of kept results."""

PAGE_BYTES = 32_000
"""The size of one page, in bytes."""

KEEP_SECONDS = 900.0
"""How long a result is kept unless it says otherwise."""

LONGEST_SECONDS = 86_400.0
"""How long a plugin may ask to have something kept."""

_MOST_BYTES = 64 * 2**20
_MOST_RESULTS = 256


@attrs.frozen(kw_only=True)
class Kept:
    """One kept result. `principal` is the name of the only caller who may read it.

    `paged`: it was too large for one answer, so it is given in pages alone.
    """

    id: str
    principal: str
    data: bytes
    mime: str
    expires: float
    paged: bool = False


class ResultStore:
    """Kept results, bounded in number, in bytes and in time. Safe from any thread."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._kept: OrderedDict[str, Kept] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def keep(
        self, principal: str, data: bytes, mime: str, ttl: float = KEEP_SECONDS, *, paged: bool = False
    ) -> str:
        """Keep `data` for `ttl` seconds and give its id. Whoever keeps most makes room, with their oldest result.

        Raises `ValueError` where the data alone is over the store's bound.
        """
        if len(data) > _MOST_BYTES:
            raise ValueError(f"{len(data)} bytes are more than the {_MOST_BYTES} that can be kept: make it smaller")
        kept = Kept(
            id=secrets.token_urlsafe(12), principal=principal, data=data, mime=mime,
            expires=self._clock() + ttl, paged=paged,
        )  # fmt: skip
        with self._lock:
            self._forget_expired()
            while self._kept and (len(self._kept) >= _MOST_RESULTS or self._bytes + len(data) > _MOST_BYTES):
                self._drop(self._oldest_of_most(in_bytes=len(self._kept) < _MOST_RESULTS))
            self._kept[kept.id] = kept
            self._bytes += len(data)
        return kept.id

    def get(self, principal: str, result_id: str) -> Kept | None:
        """The result, if it is there and this principal's; another's and none are the same."""
        with self._lock:
            self._forget_expired()
            kept = self._kept.get(result_id)
        return kept if kept is not None and kept.principal == principal else None

    def _oldest_of_most(self, in_bytes: bool) -> str:
        """The oldest result of the principal who keeps most, so that nobody pushes out what others still read."""
        held: Counter[str] = Counter()
        for kept in self._kept.values():
            held[kept.principal] += len(kept.data) if in_bytes else 1
        most = max(held, key=held.__getitem__)
        return next(result_id for result_id, kept in self._kept.items() if kept.principal == most)

    def _forget_expired(self) -> None:
        now = self._clock()
        for result_id in [key for key, kept in self._kept.items() if kept.expires <= now]:
            self._drop(result_id)

    def _drop(self, result_id: str) -> None:
        self._bytes -= len(self._kept.pop(result_id).data)
