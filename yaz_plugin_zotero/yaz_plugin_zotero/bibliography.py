"""The project's .bib file: which entry is an item's, and a new entry at its end (Y-77, YG-21, YA-26).

What stands in the file is never rewritten: a new text is the old one, byte for byte, and the entry after it.
"""

from __future__ import annotations

import logging
import re
from itertools import zip_longest

import attrs
from yazcore import ToolError

from yaz_plugin_zotero.bibtex import doi, entry
from yaz_plugin_zotero.folding import fold
from yaz_plugin_zotero.keys import Key, choose
from yaz_plugin_zotero.library import Item
from yaz_plugin_zotero.tex import Dialect

# bibtexparser logs every entry it cannot read; they are reported as warnings of the answer instead.
logging.getLogger("bibtexparser").addHandler(logging.NullHandler())

_COMMAND = re.compile(r"\\[A-Za-z]+")
_NO_LETTER = re.compile(r"[\W_]+")
_RESOLVER = re.compile(r"^(?:https?://(?:dx\.)?doi\.org/|doi:\s*)", re.IGNORECASE)


@attrs.frozen
class Entry:
    """One entry of a .bib file: its key, its text as it stands, its first line, its fields without delimiters."""

    key: str
    text: str
    line: int
    fields: dict[str, str] = attrs.field(factory=dict, eq=False)


@attrs.frozen
class Bibliography:
    """A .bib file, read: its entries in order, and the lines on which something begins that cannot be read.

    `open` is the first of those that is not closed: for BibTeX and Typst all that follows lies inside it.
    """

    entries: tuple[Entry, ...]
    broken: tuple[int, ...]
    open: int | None = None


@attrs.frozen
class Ensured:
    """A bibliography that has the item: its text, the item's key, whether an entry was added."""

    text: str
    key: Key
    added: bool
    broken: tuple[int, ...] = ()


def read(text: str) -> Bibliography:
    """Read a .bib file. Never raises: what cannot be read is skipped and its line kept."""
    from bibtexparser.model import DuplicateBlockKeyBlock, ParsingFailedBlock
    from bibtexparser.model import Entry as Block
    from bibtexparser.splitter import Splitter

    entries, broken = [], []
    lines = text.split("\n")
    unclosed: int | None = None
    blocks = Splitter(text).split().blocks
    for found, following in zip_longest(blocks, blocks[1:]):
        block = found
        if isinstance(found, DuplicateBlockKeyBlock) and found.ignore_error_block is not None:
            block = found.ignore_error_block
        line = (block.start_line or 0) + 1
        if isinstance(block, Block):
            fields = {field.key.lower(): str(field.value).strip('{}" \t\n') for field in block.fields}
            entries.append(Entry(block.key, block.raw or "", line, fields))
        elif isinstance(block, ParsingFailedBlock):
            broken.append(line)
            end = len(lines) if following is None else following.start_line or 0
            depth = sum(part.count("{") - part.count("}") for part in lines[line - 1 : end])
            if unclosed is None and (following is None or depth > 0):
                unclosed = line
    return Bibliography(tuple(entries), tuple(broken), unclosed)


def ensure(text: str, item: Item, dialect: Dialect, name: str) -> Ensured:
    """A text of the .bib that has exactly one entry of the item, and its key.

    An entry is the item's if it records the item's address, under whatever key; else if it is plainly the same work,
    typed or exported by the author: the same DOI and title, or the item's own key and the same title. `name` is the
    file's name, for messages.

    Raises `ToolError` where the file's end is open, so that an entry there would not be one.
    """
    before = read(text)
    if (found := find(before, item)) is not None:
        return Ensured(text, Key(found.key, "bibliography"), False, before.broken)
    key = choose(item, [one.key for one in before.entries])
    added = appended(text, entry(item, key.text, dialect))
    after = read(added)
    # An open end may also hide where the reader sees none: what was added must come out as one entry more.
    hidden = after.entries[:-1] != before.entries or [one.key for one in after.entries[-1:]] != [key.text]
    if before.open is not None or hidden:
        line = before.open or text.count("\n") + 1
        raise ToolError(
            f"{name} has an entry that is not closed (line {line}), so that nothing can be added after it. "
            "Close its braces or quotes, then cite again."
        )
    return Ensured(added, key, True, before.broken)


def find(bibliography: Bibliography, item: Item) -> Entry | None:
    """The item's entry, or None."""
    address = address_pattern(item)
    for one in bibliography.entries:
        if address.search(one.text):
            return one
    return next((one for one in bibliography.entries if _same_work(one, item)), None)


def address_pattern(item: Item) -> re.Pattern[str]:
    """What finds the item's address in a text, in the forms that Zotero and earlier exporters write."""
    key = re.escape(item.key)
    if item.library == "user":
        return re.compile(rf"zotero://select/(?:library/)?items/(?:[01]_)?{key}(?![0-9A-Za-z])")
    group = re.escape(item.library.removeprefix("group-"))
    return re.compile(rf"zotero://select/groups/{group}/items/{key}(?![0-9A-Za-z])")


def appended(text: str, new: str) -> str:
    """The text with an entry after it, a blank line between, in the text's own line ends."""
    end = "\r\n" if "\r\n" in text else "\n"
    gap = "" if not text.strip("\ufeff") else end if text.endswith("\n") else end * 2
    if text.endswith(("\n\n", "\n\r\n")):
        gap = ""
    return text + gap + new.replace("\n", end) + end


def _same_work(one: Entry, item: Item) -> bool:
    title = _letters(item.title)
    if not title or "zotero://select/" in one.text or _letters(one.fields.get("title", "")) != title:
        return False
    if one.key in item.citation_keys:
        return True
    number = doi(item).casefold()
    return bool(number) and _RESOLVER.sub("", one.fields.get("doi", "")).casefold() == number


def _letters(text: str) -> str:
    return _NO_LETTER.sub("", fold(_COMMAND.sub("", text)))
