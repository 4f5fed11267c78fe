"""Words from a stranger, made fit for a sentence: quoted, cut, escaped; and the nearest word to one that is wrong.

A manifest and its messages come from people we do not know and end on a terminal, in a log or before a model. A
control character could rewrite the terminal, a bidirectional one could make a line read as another (trials 9).
"""

from __future__ import annotations

import re
from collections.abc import Iterable

LONGEST_QUOTE = 60
"""The most characters of a stranger's text that a message repeats."""

HARMFUL = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters
    "\u2028\u2029"  # line breaks by other names
    "\u202a-\u202e\u2066-\u2069"  # what makes a line read as another
)
"""What no running text may hold, as the inside of a class in a regular expression."""

UNPRINTABLE = HARMFUL + "\t\n\u061c\u200e\u200f"
"""What no text on one line may hold, as the inside of a class: also tabs, line breaks, marks of direction."""

MOST_KNOWN = 500
"""The most words among which the nearest one is looked for: a stranger may give thousands, for a hundred faults."""

_HALVES = "\ud800-\udfff"  # of surrogate pairs, which no output can encode
_TAGS = "\U000e0000-\U000e007f"  # letters that nobody sees and models read
# Signs that scripts need one at a time spell out whole sentences to a model when they stand in a row.
_ROWS = "[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2,}|[\u200b-\u200d\u2060-\u2064\ufeff]{3,}"
_UNPRINTABLE = re.compile(f"[{UNPRINTABLE}{_HALVES}{_TAGS}]|{_ROWS}")
_HARMFUL = re.compile(f"[{HARMFUL}{_HALVES}{_TAGS}]|{_ROWS}")


def escaped(text: str) -> str:
    r"""The text with each control, bidirectional or unencodable character as an escape, such as `\x1b` or `\u202e`."""
    return _UNPRINTABLE.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


def is_printable(text: str) -> bool:
    """Whether nothing in the text would be escaped."""
    return _UNPRINTABLE.search(text) is None


def is_harmless(text: str) -> bool:
    """Whether running text holds no control character but line breaks and tabs, nothing that reorders it, and nothing
    that a model reads and a person does not see.

    Marks that only give a neighbour its direction are allowed: texts in right-to-left scripts need them.
    """
    return _HARMFUL.search(text) is None


def quoted(text: str) -> str:
    """The text in quotes, cut to `LONGEST_QUOTE` characters, escaped."""
    short = text if len(text) <= LONGEST_QUOTE else f"{text[: LONGEST_QUOTE - 1]}…"
    return f'"{escaped(short)}"'


def shortened(text: str, most: int = 240) -> str:
    """A sentence of another's, with what nobody should see escaped; the middle of a long one is left out."""
    text = escaped(text)
    return text if len(text) <= most else f"{text[: most // 2]}…{text[-most // 2 :]}"


def listed(words: Iterable[str], most: int = 20) -> str:
    """The words quoted and joined by commas, at most so many of them, with the number of the others."""
    words = list(words)
    more = f" and {len(words) - most} more" if len(words) > most else ""
    return ", ".join(map(quoted, words[:most])) + more


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that was probably meant, or None. Case does not count, and neither do `-` and `_`."""
    from difflib import get_close_matches  # here, because a good manifest needs no suggestion

    wanted = _folded(word[:LONGEST_QUOTE])
    by_fold = {_folded(one): one for one in known}
    if len(by_fold) > MOST_KNOWN:  # those of another length are not meant
        by_fold = dict(sorted(by_fold.items(), key=lambda pair: abs(len(pair[0]) - len(wanted)))[:MOST_KNOWN])
    found = get_close_matches(wanted, by_fold, 1)
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
