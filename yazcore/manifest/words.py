"""Words from a stranger, made fit for a sentence: quoted, cut, escaped; and the nearest word to one that is wrong.

A manifest and its messages come from people we do not know and end on a terminal, in a log or before a model. A
control character could rewrite the terminal, a bidirectional one could make a line read as another (trials 9).
"""

from __future__ import annotations

import re
from collections.abc import Iterable

LONGEST_QUOTE = 60
"""The most characters of a stranger's text that a message repeats."""

_UNPRINTABLE = re.compile(
    "[\x00-\x1f\x7f-\x9f"  # control characters
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # what changes the direction of text
    "\u2028\u2029"  # line breaks by other names
    "\ud800-\udfff]"  # halves of surrogate pairs, which no output can encode
)
_REORDERING = re.compile("[\u202a-\u202e\u2066-\u2069]")


def escaped(text: str) -> str:
    r"""The text with each control, bidirectional or unencodable character as an escape, such as `\x1b` or `\u202e`."""
    return _UNPRINTABLE.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


def is_printable(text: str, allowed: str = "") -> bool:
    """Whether nothing in the text would be escaped, the characters of `allowed` apart."""
    return _UNPRINTABLE.search(text) is None or all(found[0] in allowed for found in _UNPRINTABLE.finditer(text))


def is_harmless(text: str) -> bool:
    """Whether running text holds no control character but line breaks and tabs, and nothing that reorders it.

    Marks that only give a neighbour its direction are allowed: texts in right-to-left scripts need them.
    """
    return is_printable(text, "\n\t\u061c\u200e\u200f") and not _REORDERING.search(text)


def quoted(text: str) -> str:
    """The text in quotes, cut to `LONGEST_QUOTE` characters, escaped."""
    short = text if len(text) <= LONGEST_QUOTE else f"{text[: LONGEST_QUOTE - 1]}…"
    return f'"{escaped(short)}"'


def listed(words: Iterable[str], most: int = 20) -> str:
    """The words quoted and joined by commas, at most so many of them, with the number of the others."""
    words = list(words)
    more = f" and {len(words) - most} more" if len(words) > most else ""
    return ", ".join(map(quoted, words[:most])) + more


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that was probably meant, or None. Case does not count, and neither do `-` and `_`."""
    from difflib import get_close_matches  # here, because a good manifest needs no suggestion

    by_fold = {_folded(one): one for one in known}
    found = get_close_matches(_folded(word[:LONGEST_QUOTE]), by_fold, 1)
    return by_fold[found[0]] if found else None


def did_you_mean(word: str, known: Iterable[str], otherwise: str = "known are") -> str:
    """The advice for a wrong word: the nearest known one, or else all of them."""
    known = list(known)
    near = nearest(word, known)
    if near is not None:
        return f"did you mean {quoted(near)}?"
    return f"{otherwise} {listed(known)}" if known else "none is known"


def _folded(word: str) -> str:
    return word.lower().replace("-", "").replace("_", "")
