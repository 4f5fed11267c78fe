"""Regular expressions in schemas: the part that means the same everywhere and cannot run away.

A published schema is read by clients in other languages, and its patterns are matched in the host, on text that any
caller may choose. So a pattern may use literals, `.`, classes, `\\d \\w \\s`, groups, alternatives, repeats, `^` and
`$`: no look-around, no back references, no flags. And it has to be decidable that it cannot blow up:

* inside a repeat, no two ways to go on with the same character: that is what makes matching exponential;
* nothing repeated that may be empty;
* few choices between alternatives that begin alike;
* few repeats in a row of which the next character does not say whether one goes on or the next begins. Each of them is
  a power of the text's length in the time it takes, as is the search for a start: so the more there are, the shorter
  the text that is looked at.

The test is on the safe side: it refuses some patterns that are harmless, and says how to write them instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from math import log2

import attrs

from yazcore.manifest.pattern_syntax import (
    MOST_POSITIONS,
    BadPattern,
    Choice,
    Node,
    OneOf,
    Parser,
    Ranges,
    Repeat,
    Row,
    overlap,
)

__all__ = ["BadPattern", "Compiled", "compiled"]

LONGEST_PATTERN = 512
"""The longest pattern, in characters."""

LONGEST_TEXT = {1: 16_384, 2: 1024, 3: 128}
"""The longest text that is looked at, in characters, by the power of its length that matching takes."""

_MOST_CHOICES = 6  # as a power of two


@attrs.frozen
class Compiled:
    """A pattern that may be used, and the longest text it is matched on."""

    longest: int
    _pattern: re.Pattern[str]

    def matches(self, text: str) -> bool:
        """Whether the pattern is found anywhere in the text; not in one that is too long."""
        return len(text) <= self.longest and self._pattern.search(text) is not None


@lru_cache(maxsize=1024)
def compiled(pattern: str) -> Compiled:
    """The pattern, with `$` as the very end and classes of ASCII. Raises `BadPattern`."""
    if len(pattern) > LONGEST_PATTERN:
        raise BadPattern(f"it is longer than {LONGEST_PATTERN} characters")
    parser = Parser(pattern)
    power = _power(_Automaton.of(parser.whole()))
    if not pattern.startswith("^") or parser.alternatives_at_top:
        power += 1  # each place may be the start
    if power > max(LONGEST_TEXT):
        raise BadPattern("too many repeats in a row can match the same text: begin with ^, or put a mark between them")
    text = "".join(r"\Z" if index in parser.ends else character for index, character in enumerate(pattern))
    try:
        return Compiled(LONGEST_TEXT[max(power, 1)], re.compile(text, re.ASCII))
    except (re.error, OverflowError, RecursionError) as error:
        raise BadPattern(f"it cannot be compiled: {error}") from None


_TWO_WAYS = "inside a repeat, one character can be matched in two ways: make the parts begin differently"


@attrs.frozen
class _Automaton:
    """Glushkov's: a state for each set of characters. Sets of states are the bits of an integer."""

    sets: tuple[Ranges, ...]
    first: int
    follow: tuple[int, ...]

    @classmethod
    def of(cls, tree: Node) -> _Automaton:
        """The automaton of a tree. Raises `BadPattern` for one that is too large."""
        sets: list[Ranges] = []
        follow: list[int] = []

        def join(ends: int, starts: int) -> None:
            for state in _bits(ends):
                follow[state] |= starts

        def build(node: Node) -> tuple[int, int, bool]:
            """(states it can begin with, states it can end with, whether it may be empty)."""
            match node:
                case OneOf(ranges):
                    if len(sets) >= MOST_POSITIONS:
                        raise BadPattern("it is too long, with its counts written out")
                    sets.append(ranges)
                    follow.append(0)
                    return 1 << len(sets) - 1, 1 << len(sets) - 1, False
                case Choice(parts):
                    built = [build(part) for part in parts]
                    return _or(one[0] for one in built), _or(one[1] for one in built), any(one[2] for one in built)
                case Repeat(part, may_be_absent, loops):
                    first, last, empty = build(part)
                    if loops and any(follow[state] & first for state in _bits(last)):
                        raise BadPattern(_TWO_WAYS)  # the part repeats already: (a+)+
                    if loops:
                        join(last, first)
                    return first, last, empty or may_be_absent
                case Row(parts):
                    first, last, empty = 0, 0, True
                    for part in parts:
                        first2, last2, empty2 = build(part)
                        join(last, first2)
                        first |= first2 if empty else 0
                        last = last2 | (last if empty2 else 0)
                        empty = empty and empty2
                    return first, last, empty

        first, _, _ = build(tree)
        return cls(tuple(sets), first, tuple(follow))

    def reach(self) -> list[int]:
        """For each state, those that can come after it, at once or later."""
        reach = list(self.follow)
        for middle in range(len(reach)):
            for state in range(len(reach)):
                if reach[state] >> middle & 1:
                    reach[state] |= reach[middle]
        return reach


def _or(masks: Iterator[int]) -> int:
    found = 0
    for mask in masks:
        found |= mask
    return found


def _bits(mask: int) -> Iterator[int]:
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def _power(automaton: _Automaton) -> int:
    """The power of the text's length that bounds the time of matching at one place. Raises `BadPattern` for none."""
    count = len(automaton.sets)
    alike = [
        _or(1 << other for other in range(count) if other != state and overlap(ranges, automaton.sets[other]))
        for state, ranges in enumerate(automaton.sets)
    ]
    reach = automaton.reach()
    loops = [_or(1 << other for other in _bits(reach[state]) if reach[other] >> state & 1) for state in range(count)]
    open_loops = set()
    choices = _choices(automaton.first, alike)
    for state, follow in enumerate(automaton.follow):
        inside, outside = follow & loops[state], follow & ~loops[state]
        if any(alike[one] & inside for one in _bits(inside)):
            raise BadPattern(_TWO_WAYS)
        if any(alike[one] & outside for one in _bits(inside)):
            open_loops.add(loops[state])
        choices += _choices(outside, alike)
    if choices > _MOST_CHOICES:
        raise BadPattern("too many alternatives begin alike: take what they share out of them, or list them in an enum")

    @cache
    def power(loop: int) -> int:
        after = _or(reach[state] for state in _bits(loop)) & ~loop
        later = max((power(loops[state]) for state in _bits(after) if loops[state]), default=0)
        return later + 1 if loop in open_loops else max(later, 1)

    return max((power(loop) for loop in set(loops) if loop), default=0)


def _choices(states: int, alike: Sequence[int]) -> float:
    """How often matching may have to come back for another of these states, as a power of two."""
    tied = sum(1 for state in _bits(states) if alike[state] & states)
    return log2(tied) if tied else 0.0
