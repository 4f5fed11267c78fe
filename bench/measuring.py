"""How figures are made: medians of interleaved rounds, so that a machine whose speed drifts drifts for both."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any


def figure(
    name: str, value: float | None, goal: str, against: str, unit: str = "ratio", guide: bool = False
) -> dict[str, Any]:
    """One figure; `goal` is `<= 1.4` or `>= 0.80`. A guide value never fails; one that could not be measured does."""
    holds: bool | None = None
    if not guide:
        sign, _, bound = goal.partition(" ")
        holds = value is not None and (value <= float(bound) if sign == "<=" else value >= float(bound))
    return {"name": name, "value": value, "unit": unit, "goal": goal, "holds": holds, "against": against}


def ratio(ours: Callable[[], object], theirs: Callable[[], object], *, rounds: int = 25, times: int = 2000) -> float:
    """The median, over interleaved rounds, of our time over theirs; each round runs both `times` times."""
    quotients = []
    for number in range(rounds + 1):
        pair = [(ours, 0), (theirs, 1)]
        if number % 2:
            pair.reverse()
        spent = [0.0, 0.0]
        for function, index in pair:
            began = time.perf_counter()
            for _ in range(times):
                function()
            spent[index] = time.perf_counter() - began
        if number:  # the first round warms up
            quotients.append(spent[0] / spent[1])
    return statistics.median(quotients)


def median_seconds(function: Callable[[], object], rounds: int = 15) -> float:
    """The median time of one call, in seconds."""
    spent = []
    for _ in range(rounds):
        began = time.perf_counter()
        function()
        spent.append(time.perf_counter() - began)
    return statistics.median(spent)
