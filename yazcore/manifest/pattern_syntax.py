"""The syntax of regular expressions that schemas may use, read into a tree (`patterns` says why it is this one)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

import attrs

MOST_POSITIONS = 200
"""The most places for a character that a pattern may have, with its fixed counts written out."""

_LAST = 0x10FFFF


class BadPattern(ValueError):
    """A pattern that a schema may not have; the text says why."""


# -- sets of characters ----------------------------------------------------------------------------------------------

Ranges = tuple[tuple[int, int], ...]
"""A set of characters: code points from and to, in order, apart from each other."""


def _union(ranges: Sequence[tuple[int, int]]) -> Ranges:
    merged: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    return tuple(merged)


def _complement(ranges: Ranges) -> Ranges:
    edges = [(-1, -1), *ranges, (_LAST + 1, _LAST + 1)]
    return tuple((one[1] + 1, other[0] - 1) for one, other in pairwise(edges) if one[1] + 1 < other[0])


def overlap(one: Ranges, other: Ranges) -> bool:
    """Whether two sets of characters have one in common."""
    return any(low <= high2 and low2 <= high for low, high in one for low2, high2 in other)


def _of(text: str) -> Ranges:
    return _union([(ord(character), ord(character)) for character in text])


_DIGITS = ((0x30, 0x39),)
_WORD = _union([*_DIGITS, (0x41, 0x5A), (0x61, 0x7A), *_of("_")])
_SPACE = _of(" \t\n\r\f\v")
_BEYOND_ASCII = ((0x80, _LAST),)
# beyond ASCII, engines disagree on what these are: both the class and its opposite are taken to hold everything there
_CLASSES: dict[str, Ranges] = {
    name: _union([*ranges, *_BEYOND_ASCII])
    for letter, ascii_ranges in (("d", _DIGITS), ("w", _WORD), ("s", _SPACE))
    for name, ranges in ((letter, ascii_ranges), (letter.upper(), _complement(ascii_ranges)))
}
_CONTROLS = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v"}


# -- text to tree ----------------------------------------------------------------------------------------------------


@attrs.frozen
class OneOf:
    """One character of a set."""

    ranges: Ranges


@attrs.frozen
class Row:
    """One part after the other; no part at all is the empty text."""

    parts: tuple[Node, ...]


@attrs.frozen
class Choice:
    """One of the parts."""

    parts: tuple[Node, ...]


@attrs.frozen
class Repeat:
    """A part that may be absent, or come again and again: bounds of a count are forgotten."""

    part: Node
    may_be_absent: bool
    loops: bool


Node = OneOf | Row | Choice | Repeat
_NOTHING = Row(())
_COUNT = re.compile(r"\{([0-9]{1,4})(,([0-9]{0,4}))?\}")


class Parser:
    """A recursive descent over one pattern. `ends` are the places of `$`."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._depth = 0
        self.ends: set[int] = set()
        self.alternatives_at_top = False

    def whole(self) -> Node:
        """The tree of the whole pattern. Raises `BadPattern`."""
        tree = self._choice()
        if self._at < len(self._text):
            raise BadPattern("a ) has no (")
        return tree

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _take(self) -> str:
        taken = self._peek()
        if not taken:
            raise BadPattern("it ends too early")
        self._at += 1
        return taken

    def _choice(self) -> Node:
        parts = [self._sequence()]
        while self._peek() == "|":
            self._at += 1
            self.alternatives_at_top = self.alternatives_at_top or self._depth == 0
            parts.append(self._sequence())
        return parts[0] if len(parts) == 1 else Choice(tuple(parts))

    def _sequence(self) -> Node:
        parts: list[Node] = []
        while self._peek() not in ("", "|", ")"):
            parts += self._repeated(self._atom())
        return parts[0] if len(parts) == 1 else Row(tuple(parts))

    def _atom(self) -> Node:
        taken = self._take()
        if taken == "(":
            return self._group()
        if taken == "[":
            return OneOf(self._class())
        if taken == "\\":
            return OneOf(self._escape())
        if taken == ".":
            return OneOf(_complement(_of("\n")))
        if taken == "$":
            self.ends.add(self._at - 1)
            return _NOTHING
        if taken == "^":
            return _NOTHING
        if taken in "*+?{}]":
            raise BadPattern(f"{taken} stands where it repeats nothing; a literal one needs a \\")
        return OneOf(_of(taken))

    def _group(self) -> Node:
        if self._peek() == "?":
            if not self._text.startswith("?:", self._at):
                raise BadPattern("groups are ( ) or (?: ) only, without look-around, names or flags")
            self._at += 2
        self._depth += 1
        if self._depth > 20:
            raise BadPattern("its groups nest too deeply")
        tree = self._choice()
        self._depth -= 1
        if self._peek() != ")":
            raise BadPattern("a ( has no )")
        self._at += 1
        return tree

    def _repeated(self, part: Node) -> list[Node]:
        """The part as often as it says; the same part several times where the count is fixed."""
        least, most = self._count()
        if (least, most) == (1, 1):
            return [part]
        if self._peek() == "?":  # lazy: the same texts match
            self._at += 1
        if self._peek() and self._peek() in "*+?{":
            raise BadPattern("a repeat is repeated")
        if _may_be_empty(part) and (most is None or most > 1):
            raise BadPattern("it repeats something that may be empty: take the inner ? or * away")
        if least == most and least * _size(part) <= MOST_POSITIONS:
            return [part] * least
        return [Repeat(part, may_be_absent=least == 0, loops=most is None or most > 1)]

    def _count(self) -> tuple[int, int | None]:
        mark = self._peek()
        if mark and mark in "*+?":
            self._at += 1
            return {"*": (0, None), "+": (1, None), "?": (0, 1)}[mark]
        if mark != "{":
            return 1, 1
        found = _COUNT.match(self._text, self._at)
        if found is None:
            raise BadPattern("a { begins no count; a literal one needs a \\")
        self._at = found.end()
        least = int(found[1])
        most = least if found[2] is None else int(found[3]) if found[3] else None
        if most is not None and most < least:
            raise BadPattern("a count has its numbers in the wrong order")
        return least, most

    def _class(self) -> Ranges:
        negated = self._peek() == "^"
        self._at += negated
        ranges: list[tuple[int, int]] = []
        while (taken := self._take()) != "]":
            if taken == "[" or (taken in "-&~|" and self._peek() == taken):
                raise BadPattern(f"{taken} in a class needs a \\, for engines read it differently")
            low = self._escape() if taken == "\\" else _of(taken)
            if self._peek() == "-" and self._text[self._at + 1 : self._at + 2] not in ("]", ""):
                self._at += 1
                taken = self._take()
                high = self._escape() if taken == "\\" else _of(taken)
                if len(low) != 1 or len(high) != 1 or low[0][0] != low[0][1] or high[0][0] != high[0][1]:
                    raise BadPattern("a range in a class must go from one character to another")
                if low[0][0] > high[0][0]:
                    raise BadPattern("a range in a class is the wrong way round")
                ranges.append((low[0][0], high[0][0]))
            else:
                ranges += low
        if not ranges:
            raise BadPattern("a class is empty")
        return _complement(_union(ranges)) if negated else _union(ranges)

    def _escape(self) -> Ranges:
        taken = self._take()
        if taken in _CLASSES:
            return _CLASSES[taken]
        if taken in _CONTROLS:
            return _of(_CONTROLS[taken])
        if taken in "xu":
            length = 2 if taken == "x" else 4
            digits = self._text[self._at : self._at + length]
            if not re.fullmatch(f"[0-9A-Fa-f]{{{length}}}", digits):
                raise BadPattern(f"\\{taken} needs {length} hexadecimal digits")
            self._at += length
            return _of(chr(int(digits, 16)))
        if taken.isalnum() or not taken.isascii():
            raise BadPattern(f"\\{taken} is not understood everywhere")
        return _of(taken)


def _may_be_empty(node: Node) -> bool:
    match node:
        case OneOf():
            return False
        case Row(parts):
            return all(map(_may_be_empty, parts))
        case Choice(parts):
            return any(map(_may_be_empty, parts))
        case Repeat(part, may_be_absent, _):
            return may_be_absent or _may_be_empty(part)


def _size(node: Node) -> int:
    match node:
        case OneOf():
            return 1
        case Row(parts) | Choice(parts):
            return sum(map(_size, parts))
        case Repeat(part, _, _):
            return _size(part)
