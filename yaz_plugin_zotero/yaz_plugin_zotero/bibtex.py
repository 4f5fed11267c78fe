"""An item as a .bib entry, valid for BibTeX, biber, pandoc and Typst's bibliography (zotero 5; Y-79).

Types, fields and layout follow Zotero's own BibTeX exporter: a tab before each field, one field a line. The item's
address in Zotero stands in the field `zotero`, which no style prints: by it the entry is found again whatever its key.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from yaz_plugin_zotero.library import Creator, Item, date_of
from yaz_plugin_zotero.tex import Dialect, escaped, one_line, value, verbatim

ADDRESS_FIELD = "zotero"
"""The field that holds the item's `zotero://select/…` address."""

_TYPES = {
    "journalArticle": "article", "magazineArticle": "article", "newspaperArticle": "article",
    "book": "book", "bookSection": "incollection", "encyclopediaArticle": "incollection",
    "dictionaryEntry": "incollection", "conferencePaper": "inproceedings", "report": "techreport",
    "manuscript": "unpublished", "patent": "patent", "thesis": "phdthesis",
}  # fmt: skip

_PUBLISHER = {"techreport": "institution", "phdthesis": "school", "mastersthesis": "school"}
_CONTAINER = {"article": "journal", "incollection": "booktitle", "inproceedings": "booktitle"}
_ROLES = {"editor": "editor", "seriesEditor": "editor", "translator": "translator"}
_MASTERS = re.compile(r"master|magister|diplom|\bm\.?\s?(sc|a|phil)\b", re.IGNORECASE)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")

_DASHES = re.compile("(?<=[^\\W_])\\s*[-\u2010-\u2015\u2212]+\\s*(?=[^\\W_])")
_DOI = re.compile(r"^(?:https?://(?:dx\.)?doi\.org/|doi:\s*)", re.IGNORECASE)
_ARXIV = re.compile(r"^arxiv:\s*(\S+)", re.IGNORECASE)
_SUFFIX = re.compile(r"^(.*?),\s*((?:jr|sr)\.?|[IVX]+)$", re.IGNORECASE)
_TOLD = re.compile(r"^[\w][\w .-]{0,40}:", re.UNICODE)
_DAY = re.compile(r"\d{4}-\d\d-\d\d")


def entry(item: Item, key: str, dialect: Dialect) -> str:
    """The entry, without a line break at its end."""
    kind = entry_type(item)
    lines = "".join(f"\t{name} = {text},\n" for name, text in _fields(item, kind, dialect))
    return f"@{kind}{{{key},\n{lines}}}"


def entry_type(item: Item) -> str:
    """BibTeX's type for the item; what it has no word for is `misc`."""
    kind = _TYPES.get(item.type, "misc")
    if kind == "phdthesis" and _MASTERS.search(item.fields.get("type", "")):
        return "mastersthesis"
    return kind


def doi(item: Item) -> str:
    """The item's DOI alone, without the resolver's address; empty without one."""
    return _DOI.sub("", one_line(item.fields.get("DOI", "")))


def names(creators: Sequence[Creator]) -> str:
    """The value of `author`: `Last, First`, with `Jr.` in the middle, institutions braced, joined by `and`."""
    return " and ".join(_name(creator) for creator in creators)


def _fields(item: Item, kind: str, dialect: Dialect) -> Iterator[tuple[str, str]]:
    for name, text in _values(item, kind, dialect):
        if text:
            yield name, "{" + text + "}"
    year, month = date_of(item.fields.get("date", ""))
    if year:
        yield "year", f"{{{year}}}"
    if month:
        yield "month", _MONTHS[month - 1]
    yield ADDRESS_FIELD, f"{{{item.uri}}}"


def _values(item: Item, kind: str, dialect: Dialect) -> Iterator[tuple[str, str]]:
    def plain(field: str) -> str:
        return escaped(item.fields.get(field, ""))

    def title(field: str) -> str:
        return value(item.fields.get(field, ""), dialect, protect=True)

    yield "title", title("title")
    yield from _people(item)
    if kind in _CONTAINER:
        yield _CONTAINER[kind], title("publicationTitle") if kind != "article" else plain("publicationTitle")
    elif item.type in ("webpage", "blogPost", "forumPost"):
        yield "organization", plain("publicationTitle")
    yield "series", title("series")
    yield "volume", plain("volume")
    yield "number", plain("issue") or plain("seriesNumber") or (plain("number") if item.type != "preprint" else "")
    yield "edition", plain("edition")
    yield "pages", _DASHES.sub("--", plain("pages"))
    publisher = plain("publisher")
    yield _PUBLISHER.get(kind, "publisher"), publisher
    if kind in _PUBLISHER and dialect == "typst":
        # Typst prints neither school nor institution.
        yield "publisher", publisher
    yield "address", plain("place")
    if item.type in ("report", "thesis"):
        yield "type", title("type")
    yield "holder", plain("assignee")
    yield "version", plain("versionNumber")
    yield "isbn", plain("ISBN")
    yield "issn", plain("ISSN")
    yield from _electronic(item)
    yield "language", plain("language")
    yield "note", _note(item, dialect)


def _electronic(item: Item) -> Iterator[tuple[str, str]]:
    number = _ARXIV.match(one_line(item.fields.get("number", "")))
    if item.type == "preprint" and number:
        yield "eprint", verbatim(number[1])
        yield "archiveprefix", "arXiv"
    elif item.type == "preprint" and not any(item.fields.get(name, "").strip() for name in ("issue", "seriesNumber")):
        yield "number", escaped(item.fields.get("number", ""))  # a field that stands twice makes no entry
    yield "doi", verbatim(doi(item))
    if url := verbatim(item.fields.get("url", "")):
        yield "url", url
        if day := _DAY.match(item.fields.get("accessDate", "")):
            yield "urldate", day.group()


def _people(item: Item) -> Iterator[tuple[str, str]]:
    groups: dict[str, list[Creator]] = {"author": [], "editor": [], "translator": [], "collaborator": []}
    for creator in item.creators:
        role = "author" if creator.primary else _ROLES.get(creator.role, "collaborator")
        groups[role].append(creator)
    for role, people in groups.items():
        yield role, names(people)


def _name(creator: Creator) -> str:
    last, first = one_line(creator.last), one_line(creator.first)
    if creator.single or not last or not first:
        whole = last or first
        literal = creator.single or not whole.isalpha() or whole.lower() in ("and", "others")
        return "{" + escaped(whole) + "}" if literal else escaped(whole)
    if suffix := _SUFFIX.match(first):
        return f"{_part(last)}, {escaped(suffix[2])}, {_part(suffix[1])}"
    return f"{_part(last)}, {_part(first)}"


def _part(text: str) -> str:
    """One part of a name; braced where a comma or the word `and` would divide it."""
    divided = "," in text or re.search(r"(?i)(?:^|\s)and(?:\s|$)", text)
    return "{" + escaped(text) + "}" if divided else escaped(text)


def _note(item: Item, dialect: Dialect) -> str:
    """The lines of Extra that are prose; `name: value` lines are for programs and would be printed as they stand."""
    lines = [line.strip() for line in item.fields.get("extra", "").splitlines()]
    return value(" ".join(line for line in lines if line and not _TOLD.match(line)), dialect)
