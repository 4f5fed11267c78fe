"""How much a worker may say unasked: what it costs the host to hear it, as a part of one processor's time."""

from __future__ import annotations

import time
from collections.abc import Callable

SHARE = 0.25
"""The part of one processor that hearing one worker may take for long."""

BURST_SECONDS = 1.0
"""How much of that time may be used at once."""

_SECONDS_A_MESSAGE = 40e-6
_SECONDS_A_BYTE = 0.15e-6  # of a structure as costly as it can be


class Allowance:
    """A bucket of time that fills by itself. Who has emptied it is not read for a while: nobody else hears of that."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._left = BURST_SECONDS
        self._filled = clock()

    def spend(self, structure: int) -> float:
        """Count one message with so many bytes of structure; for how long to read nothing, in seconds."""
        now = self._clock()
        self._left = min(BURST_SECONDS, self._left + (now - self._filled) * SHARE)
        self._filled = now
        self._left -= _SECONDS_A_MESSAGE + structure * _SECONDS_A_BYTE
        return 0.0 if self._left >= 0 else -self._left / SHARE
