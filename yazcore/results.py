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
_MODEST = 8 * 2**20
"""What is larger takes the place of nobody else's results, where it does not fit beside them."""


@attrs.frozen(kw_only=True)
class Kept:
    """One kept result. `principal` is the name of the only caller who may read it, `plugin` the id of whose it is.

    `paged`: it was too large for one answer, so it is given in pages alone.
    """

    id: str
    principal: str
    data: bytes
    mime: str
    expires: float
    plugin: str = ""
    paged: bool = False


Holder = tuple[str, str]
"""Whose room a result takes: its caller's with that plugin."""


class ResultStore:
    """Kept results, bounded in number, in bytes and in time. Safe from any thread."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._kept: OrderedDict[str, Kept] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def keep(
        self, principal: str, data: bytes, mime: str, ttl: float = KEEP_SECONDS, *, plugin: str = "",
        paged: bool = False,
    ) -> str:  # fmt: skip
        """Keep `data` for `ttl` seconds and give its id. Whoever keeps most, of which plugin, makes room, oldest first.

        So neither a caller nor a plugin pushes out what others keep, as long as those keep less. Raises `ValueError`
        where the data alone is over the store's bound, or is large and would take the place of what others keep.
        """
        if len(data) > _MOST_BYTES:
            raise ValueError(f"{len(data)} bytes are more than the {_MOST_BYTES} that can be kept: make it smaller")
        kept = Kept(
            id=secrets.token_urlsafe(12), principal=principal, data=data, mime=mime,
            expires=self._clock() + ttl, plugin=plugin, paged=paged,
        )  # fmt: skip
        with self._lock:
            self._forget_expired()
            for result_id in self._in_the_way((principal, plugin), len(data)):
                self._drop(result_id)
            self._kept[kept.id] = kept
            self._bytes += len(data)
        return kept.id

    def get(self, principal: str, result_id: str) -> Kept | None:
        """The result, if it is there and this principal's; another's and none are the same."""
        with self._lock:
            self._forget_expired()
            kept = self._kept.get(result_id)
        return kept if kept is not None and kept.principal == principal else None

    def _in_the_way(self, holder: Holder, size: int) -> list[str]:
        """What has to go for `size` bytes more of `holder`'s: always the oldest of those of whoever then has most."""
        kept, room, dropped = dict(self._kept), _MOST_BYTES - self._bytes, []
        while kept and (len(kept) >= _MOST_RESULTS or size > room):
            in_bytes = len(kept) < _MOST_RESULTS
            held = Counter({holder: size if in_bytes else 1})
            for one in kept.values():
                held[one.principal, one.plugin] += len(one.data) if in_bytes else 1
            most = _most(held)
            if all((one.principal, one.plugin) != most for one in kept.values()):  # only what is to come is so much
                if size > _MODEST:
                    raise ValueError(f"{size} bytes do not fit beside what others keep: make it smaller, or try later")
                del held[most]
                most = _most(held)
            oldest = next(one for one in kept.values() if (one.principal, one.plugin) == most)
            room += len(oldest.data)
            del kept[oldest.id]
            dropped.append(oldest.id)
        return dropped

    def _forget_expired(self) -> None:
        now = self._clock()
        for result_id in [key for key, kept in self._kept.items() if kept.expires <= now]:
            self._drop(result_id)

    def _drop(self, result_id: str) -> None:
        self._bytes -= len(self._kept.pop(result_id).data)


def _most(held: Counter[Holder]) -> Holder:
    return max(held, key=held.__getitem__)
