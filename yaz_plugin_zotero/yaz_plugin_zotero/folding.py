"""Text as search sees it: without markup, accents, case and typographic variants, cut into words (zotero 1.4)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

MARKUP = re.compile(r"</?(?:i|b|sub|sup|sc)>|</?span(?:\s[^<>]*)?>", re.IGNORECASE)
"""The markup Zotero allows in titles; spans hold small capitals and what keeps its case."""

_LETTERS = str.maketrans({
    "ø": "o", "œ": "oe", "æ": "ae", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ß": "ss", "ı": "i", "⁄": "/",
    **dict.fromkeys("‘’‚‛′", "'"),
    **dict.fromkeys("“”„‟″", '"'),
    **dict.fromkeys("‐‑‒–—―−", "-"),
    **dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufeff"),
})  # fmt: skip
"""Letters that have no decomposition, quotes and dashes in many forms, and characters that cannot be seen."""

_MARKS = re.compile("[\u0300-\u036f]")

_SPELLED_OUT = str.maketrans({
    "ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "ø": "oe", "Ø": "Oe", "å": "aa", "Å": "Aa",
})  # fmt: skip

_IDEOGRAPHS = re.compile("[\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+")
"""Scripts written without spaces: Han, Hiragana, Katakana."""


def plain(text: str) -> str:
    """The text without Zotero's markup, on one line; what people should read."""
    return " ".join(MARKUP.sub("", text).split())


def fold(text: str) -> str:
    """The text as it is compared: decomposed, without accents, in one case, with plain quotes and dashes.

    Folding a folded text changes nothing.
    """
    if text.isascii():
        return text.lower()
    lower = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    return unicodedata.normalize("NFC", _MARKS.sub("", lower).translate(_LETTERS))


def spelled_out(text: str) -> str | None:
    """The folded text with umlauts written as two letters (`Müller`: `mueller`); None where there are none."""
    if text.isascii():
        return None
    composed = unicodedata.normalize("NFC", text)
    written = composed.translate(_SPELLED_OUT)
    return fold(written) if written != composed else None


def tokens(folded: str) -> list[str]:
    """The words of a folded text; what is written without spaces comes in overlapping pairs, its last sign alone too.

    So the signs of a query stand in a row in an item's text exactly where their pairs do.
    """
    words = folded.translate(_SEPARATORS).split()
    if folded.isascii():
        return words
    return [token for word in words for token in _pairs(word)]


def searchable(text: str) -> tuple[str, str]:
    """What the index keeps of a text: its tokens, and the folded text itself, each with umlauts spelled out as well."""
    folded = fold(text)
    found = tokens(folded)
    extra = [written for word in text.split() if (written := spelled_out(word)) is not None]
    for written in extra:
        found.extend(tokens(written))
    return " ".join(found), " ".join([folded, *extra])


def _pairs(word: str) -> Iterator[str]:
    end = 0
    for run in _IDEOGRAPHS.finditer(word):
        if before := word[end : run.start()]:
            yield before
        signs = run.group()
        yield from (signs[at : at + 2] for at in range(len(signs)))
        end = run.end()
    if rest := word[end:]:
        yield rest


class _Separators(dict[int, str]):
    """What `str.translate` makes of a character: letters, marks and digits stay, everything else parts words."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        kept = character if unicodedata.category(character)[0] in "LMN" else " "
        self[code] = kept
        return kept


_SEPARATORS = _Separators()
