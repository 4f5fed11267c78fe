"""Citation keys: the item's own where it can be used, else a readable one, made once and then kept (Y-77, Y-78)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator
from typing import Literal

import attrs

from yaz_plugin_zotero.folding import fold, spelled_out
from yaz_plugin_zotero.library import Item

Origin = Literal["bibliography", "zotero", "made"]
"""Where a key comes from: the project's .bib had it, it is the item's own, or it was made here."""

_LONGEST = 64
_SURNAME = 30

_SMALL_WORDS = frozenset(
    re.findall(
        r"\w+",
        "a an the of on in at to for from and or is are some der die das dem den des ein eine einer eines zur zum von "
        "im am und ueber le la les l un une des du de d et sur el los las una y en sobre il lo gli i uno della del "
        "sul o os as um uma sobre het een op",
    )
)

_OTHER_SCRIPTS = str.maketrans(
    dict(zip("абвгдеёзийклмнопрстуфыэ", "abvgdeezijklmnoprstufye", strict=True))
    | {"ж": "zh", "х": "kh", "ц": "ts", "ч": "ch", "ш": "sh", "щ": "shch", "ъ": "", "ь": "", "ю": "yu", "я": "ya"}
    | {
        "і": "i",
        "ї": "yi",
        "є": "ye",
        "ґ": "g",
        "ў": "u",
        "ј": "j",
        "љ": "lj",
        "њ": "nj",
        "ћ": "c",
        "ђ": "dj",
        "џ": "dz",
    }
    | dict(zip("αβγδεζηικλμνξοπρσςτυφω", "avgdeziiklmnxoprsstyfo", strict=True))
    | {"θ": "th", "χ": "ch", "ψ": "ps"}
)
"""Cyrillic and Greek in Latin letters, after folding."""


@attrs.frozen
class Key:
    """A chosen key and where it comes from. `instead_of` is the item's own key where that could not be used."""

    text: str
    origin: Origin
    instead_of: str | None = None


def choose(item: Item, taken: Collection[str]) -> Key:
    """A key for an item that the bibliography does not have yet; `taken` are the keys in use there.

    Keys compare without case, as BibTeX does. A key in use gets `a` to `z`, then `-2`, `-3` … appended.
    """
    used = {key.casefold() for key in taken}
    own = item.citation_key
    base = (tidied(own) if own else "") or made(item)
    key = next(key for key in _with_suffixes(base) if key.casefold() not in used)
    return Key(key, "zotero") if key == own else Key(key, "made", own)


def made(item: Item) -> str:
    """The readable key: surname, year (`nd` without one), first word of the title that means something (Y-78).

    Without an author it begins with `anon`; where a name has no Latin form, with the item's key, which is stable too.
    """
    creators = item.main_creators
    surname = "anon"
    if creators:
        surname = ascii_word(creators[0].last or creators[0].first)[:_SURNAME] or item.key.lower()
    return f"{surname}{item.year or 'nd'}{_first_word(item.title)[:_SURNAME]}"


def _first_word(title: str) -> str:
    """The first word of three letters or more that is no article or preposition; else the first that is none."""
    composed = unicodedata.normalize("NFC", title)
    words = [
        word for part in re.split(r"[^\w'’]+", composed) if (word := ascii_word(part)) and word not in _SMALL_WORDS
    ]
    return next((word for word in words if len(word) > 2 and not word.isdigit()), words[0] if words else "")


def tidied(key: str) -> str:
    """The key as it is, if BibTeX, biber, pandoc, LaTeX and Typst all take it: letters, digits, `_ - : . + /` inside.

    Else with what some of them would stumble over replaced by `-`, and in ASCII; empty where nothing is left.
    """
    composed = unicodedata.normalize("NFC", key)
    if _KEY.fullmatch(composed) and len(composed) <= _LONGEST:
        return composed
    latin = "".join(_latin(part) if part.isalnum() else part for part in re.split(r"([^\W_]+)", composed))
    return re.sub(r"[^A-Za-z0-9_:.+/-]+", "-", latin)[:_LONGEST].strip("-:.+/")


_KEY = re.compile(r"[^\W_](?:[\w:.+/-]*[\w-])?|_[\w:.+/-]*[\w-]")


def ascii_word(text: str) -> str:
    """The letters and digits of a text in lower-case ASCII: umlauts spelled out, accents dropped, Cyrillic and Greek
    transliterated; other scripts have none."""
    return re.sub("[^a-z0-9]", "", (spelled_out(text) or fold(text)).translate(_OTHER_SCRIPTS))


def _latin(word: str) -> str:
    if word.isascii():
        return word
    written = ascii_word(word)
    return written.capitalize() if word[:1].isupper() else written


def _with_suffixes(base: str) -> Iterator[str]:
    yield base
    yield from (base + letter for letter in "abcdefghijklmnopqrstuvwxyz")
    number = 2
    while True:
        yield f"{base}-{number}"
        number += 1
