"""Which texts are in English, so that their wording can be judged.

By function words and letters, as far as a text shows: a short one may show nothing. The lists hold only words that are
none of English.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from yazcore.design_rules.words import LONGEST_TEXT, word_set

ENGLISH = word_set(
    """
    the and of to for with from this that it its be are when if not all by which into only returns then than use
    """
)
"""Function words of English."""

OTHERS = tuple(
    word_set(line)
    for line in (
        "der das ein eine einen einem einer und oder nicht ist mit für von zu im auf nach bei durch wird nur den dem",
        "le la les un une du et ou est sont avec pour dans sur par pas ce cette qui que aux au",
        "el los las una del y es son con para por en se que al como",
        "il lo gli della del di sono con per che una nel alla dei le",
        "os um uma do da dos das são com para por não que em ao",
        "het een van niet met voor door te op dat wordt naar uit",
        "jest nie się na do przez dla oraz lub",
        "och att det som är inte för med av till på ett",
        "ve bir bu için ile olarak veya",
    )
)
"""Function words of German, French, Spanish, Italian, Portuguese, Dutch, Polish, Swedish and Turkish."""

MANY_WORDS = 15
"""A text of so many words without one of the function words of English is not English."""

_WORD = re.compile(r"[^\W\d_]+")
_LATIN_END = "\u0250"


def is_english(text: str) -> bool | None:
    """Whether a text is in English; None where it is too short to tell."""
    words = _WORD.findall(text[:LONGEST_TEXT].lower())
    letters = sum(map(len, words))
    if sum(letter < _LATIN_END for word in words for letter in word) < letters / 2:
        return False
    counts = Counter(words)
    english = sum(counts[word] for word in ENGLISH)
    other = max(sum(counts[word] for word in known) for known in OTHERS)
    if other >= 2 and other > english:
        return False
    if english:
        return True
    return False if len(words) >= MANY_WORDS else None


def which_are_english(texts: Iterable[str]) -> list[bool]:
    """For each text whether it is in English; one that is too short to tell is in the language of most of the others,
    English where none tells."""
    found = [is_english(text) for text in texts]
    others = found.count(True) >= found.count(False)
    return [others if one is None else one for one in found]
