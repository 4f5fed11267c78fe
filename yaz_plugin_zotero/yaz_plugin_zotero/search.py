"""Answering a query from the index: every word must be found, the best items come first (zotero 4: 6, 7, 40, 43)."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Sequence
from typing import Any

import attrs
from yazcore import ToolError

from yaz_plugin_zotero.folding import fold, spelled_out, tokens
from yaz_plugin_zotero.index import Index, Row
from yaz_plugin_zotero.library import Item

RANKED = 5_000
"""At most so many matches are ranked, the newest ones; a query with more is too wide for its order to matter."""

PAGE_BYTES = 30_000
"""A page ends before it is larger than this, whatever the limit: a result over 40,000 bytes would be refused."""

_MEANT = frozenset("%_\\&#$+*@^~<>=|")
"""Signs that someone types because they mean them; other punctuation only parts words."""

_TITLE, _NAME, _CONTAINER = 240, 80, 120

_KEY, _CREATOR, _YEAR, _TITLE_WORD, _CONTAINER_WORD = 100, 12, 10, 8, 3
"""What a whole word counts, by where it stands; the beginning of a word counts half of it, of a key next to nothing."""

_FIRST_CREATOR, _TITLE_BEGINS, _PHRASE = 4, 5, 6


@attrs.frozen
class Word:
    """One word of a query: its folded forms (with umlauts spelled out as a second one) and the tokens of each."""

    forms: tuple[str, ...]
    tokens: tuple[tuple[str, ...], ...]

    @property
    def meant(self) -> bool:
        """Whether it must stand in the text exactly so: `100%`, `A_B`, `C++`."""
        return not _MEANT.isdisjoint(self.forms[0]) or not self.tokens

    @property
    def expression(self) -> str:
        """The word for FTS5: its tokens in a row, the last one as a beginning."""
        return "(" + " OR ".join(f'"{" ".join(form)}" *' for form in self.tokens) + ")"


@attrs.frozen
class Query:
    """A query, cut into words. Without any word it asks for the items added last."""

    text: str
    words: tuple[Word, ...]

    @property
    def expression(self) -> str:
        """The query for FTS5; empty where no word has a letter or digit."""
        return " AND ".join(word.expression for word in self.words if word.tokens)

    @property
    def digest(self) -> str:
        """What ties a cursor to its query."""
        return hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


@attrs.frozen
class Answer:
    """One page of items, the cursor of the next one, and how many items match in all."""

    items: tuple[Item, ...]
    next_cursor: str | None
    total: int


def parse(text: str) -> Query:
    """Cut a query into words at blanks; every word counts."""
    words = []
    for word in text.split():
        forms = tuple(dict.fromkeys(form for form in (fold(word), spelled_out(word)) if form))
        if forms:
            cut = dict.fromkeys(tuple(tokens(form)) for form in forms)
            words.append(Word(forms, tuple(form for form in cut if form)))
    return Query(" ".join(fold(text).split()), tuple(words))


def search(index: Index, query: Query, limit: int, cursor: str | None) -> Answer:
    """One page. Raises `ToolError` for a cursor that is broken or belongs to another query."""
    after = _position(cursor, query) if cursor is not None else None
    if not query.words:
        return _latest(index, query, limit, after)
    rows, total = _candidates(index, query)
    words = [[" " + " ".join(form) for form in word.tokens] for word in query.words if word.tokens]
    phrase = "".join(forms[0] for forms in words)
    ranked = sorted((_order(row, words, phrase), row[0]) for row in rows)
    rest = [entry for entry in ranked if after is None or entry[0] > tuple(after)]
    return _page(index, query, limit, rest, total)


def shown(item: Item) -> dict[str, Any]:
    """One item as a result shows it; long texts are cut with an ellipsis, creators after the third are counted."""
    creators = item.main_creators
    return {
        "key": item.key,
        "library": item.library,
        "citationKey": _cut(key, _NAME) if (key := item.citation_key) else None,
        "title": _cut(item.title, _TITLE),
        "creators": [_cut(creator.name, _NAME) for creator in creators[:3]],
        "creatorCount": len(creators),
        "year": item.year,
        "container": _cut(" ".join(item.fields.get("publicationTitle", "").split()), _CONTAINER) or None,
        "type": item.type,
        "retracted": item.retraction is not None,
    }


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _candidates(index: Index, query: Query) -> tuple[list[Row], int]:
    meant = [word.forms for word in query.words if word.meant]
    if query.expression:
        rows = index.matching(query.expression, RANKED)
        total = len(rows) if len(rows) < RANKED else index.count_matching(query.expression)
        if meant and rows:
            rows = index.only_containing(rows, meant)
            total = len(rows)
        if rows:
            return rows, total
    # Nothing begins so: look inside words ("netzwerk" in "Neuronennetzwerk"), and for signs that are no words.
    rows = index.containing([word.forms for word in query.words], RANKED)
    return rows, len(rows)


def _order(row: Row, words: Sequence[Sequence[str]], phrase: str) -> tuple[int, int, int]:
    """The place of an item among others, the first one least: by score, then year, then the time of adding.

    `words` are the forms of each word of the query, `phrase` all of them in a row; a blank before each.
    """
    number, title, creators, container, year, keys = row
    fields = f" {title} ", f" {creators} ", f" {container} ", f" {year} ", f" {keys} "
    score = 0
    for forms in words:
        score += max(_score(fields, form) for form in forms)
    if phrase and phrase in fields[0]:
        score += _PHRASE if len(words) > 1 else 0
        score += _TITLE_BEGINS if fields[0].startswith(phrase) else 0
    return -score, -int(year or 0), -number


def _score(fields: tuple[str, str, str, str, str], word: str) -> int:
    title, creators, container, year, keys = fields
    whole = word + " "
    if whole in keys:
        return _KEY
    if whole in creators:
        return _CREATOR + (_FIRST_CREATOR if creators.startswith(whole) else 0)
    if whole in year:
        return _YEAR
    if whole in title:
        return _TITLE_WORD
    if word in creators:
        return _CREATOR // 2 + (_FIRST_CREATOR if creators.startswith(word) else 0)
    if word in title:
        return _TITLE_WORD // 2
    return _CONTAINER_WORD if whole in container else 1


def _latest(index: Index, query: Query, limit: int, after: list[Any] | None) -> Answer:
    before = (after[0], after[1]) if after is not None else None
    found = index.latest(before, limit + 1)
    return _page(index, query, limit, [(entry, entry[1]) for entry in found], sum(index.counts().values()))


def _page(index: Index, query: Query, limit: int, rest: list[tuple[tuple[Any, ...], int]], total: int) -> Answer:
    items: list[Item] = []
    size = 0
    for item in index.items([row for _, row in rest[:limit]]):
        size += len(json.dumps(shown(item), ensure_ascii=False).encode("utf-8", "surrogatepass"))
        if items and size > PAGE_BYTES:
            break
        items.append(item)
    more = len(items) < len(rest) and bool(items)
    return Answer(tuple(items), _cursor(rest[len(items) - 1][0], query) if more else None, total)


def _cursor(position: tuple[Any, ...], query: Query) -> str:
    told = json.dumps([query.digest, *position], separators=(",", ":"))
    return base64.urlsafe_b64encode(told.encode()).decode().rstrip("=")


def _position(cursor: str, query: Query) -> list[Any]:
    try:
        told = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (ValueError, binascii.Error, RecursionError):
        told = None
    shape = [str, str, int] if not query.words else [str, int, int, int]
    if not isinstance(told, list) or not told or not isinstance(told[0], str):
        raise ToolError("cursor is not one that this tool gave. Leave it out to start with the first page.")
    if told[0] != query.digest:
        raise ToolError(
            "cursor belongs to another query. Pass the query that gave it, or leave the cursor out to start anew."
        )
    if [type(part) for part in told] != shape or any(isinstance(n, int) and abs(n) >= 2**63 for n in told):
        raise ToolError("cursor is not one that this tool gave. Leave it out to start with the first page.")
    return told[1:]
