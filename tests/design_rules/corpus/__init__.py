"""Labelled tools: what servers of many kinds publish, in our own words, and what a careful reader says of each.

The labels are of people who read the seed's rules, not of the checks: where the two differ, the check is wrong. `TUNED`
was there while the checks were written; `HELD` was labelled before any check had seen it. What the checks made of it at
first sight stands in `docs/design-rules.md`: by that, and not by what was mended afterwards, two of them became
questions.
"""

from __future__ import annotations

from tests.design_rules.corpus import held, tuned
from tests.design_rules.corpus.making import Server

TUNED: tuple[Server, ...] = tuned.SERVERS
HELD: tuple[Server, ...] = held.SERVERS
