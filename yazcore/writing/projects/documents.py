"""Documents: read by lines, made, and edited by exact match; each answer names the revision it speaks of.

A document is a project and a root-relative POSIX path. Files are reached through the file service of the calling
plugin's context alone, which keeps inside the project and to what was granted.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from typing import Protocol

import attrs

from yazcore import ServiceError, YazError
from yazcore.writing.projects.paths import document_path
from yazcore.writing.projects.project import SETTINGS_FILE
from yazcore.writing.projects.tree import extension

LARGEST_DOCUMENT = 5 * 2**20
"""The most bytes a document may have to be read or edited here, and the most that writing leaves (projects 6)."""

PAGE_BYTES = 24_000
"""About how much text one answer holds, as JSON, in bytes."""

COMPANIONS = frozenset({".bib", ".csl", ".csv", ".json", ".md", ".svg", ".toml", ".txt", ".xml", ".yaml", ".yml"})
"""Extensions of documents that belong to a project beside those of its formats."""

_LINE_END = re.compile(r"\r\n|[\n\v\f\r\x85\u2028\u2029]")
"""What ends a line: as Unicode and Typst have it, so that line numbers agree with diagnostics."""

ABSENT = "absent"


class Files(Protocol):
    """What is needed of the file service (`context.files`)."""

    def read_bytes(self, path: str) -> bytes:
        """The bytes of a file. Raises `ServiceError`, `CapabilityError`."""

    def write_bytes(self, path: str, data: bytes, *, expect: str | None = None) -> str:
        """Write a file, atomically, if its revision is the expected one; gives the new revision."""


@attrs.frozen(kw_only=True)
class Excerpt:
    """Some lines of a document. `first` and `last` count from 1; `last` is `first - 1` where there are none.

    `text` is as it stands there, with `\\n` for `\\r\\n` and without the end of its last line. `next_line` is
    where to go on, None at the end.
    """

    path: str
    revision: str
    first: int
    last: int
    total: int
    text: str
    next_line: int | None


@attrs.frozen(kw_only=True)
class Written:
    """What writing left: the document's new revision, its length in lines, and on which line the change begins."""

    path: str
    revision: str
    lines: int
    line: int


def revision_of(data: bytes) -> str:
    """The revision of a content: the same as the file service gives."""
    return hashlib.sha256(data).hexdigest()[:16]


def is_document(path: str, formats: Sequence[str]) -> bool:
    """Whether a path may be made or edited as a document: one of a format, or one of its companions."""
    return path != SETTINGS_FILE and extension(path) in COMPANIONS.union(formats)


def text_of(data: bytes) -> str:
    """The text of a document. Raises `YazError` (`document-too-large`, `document-not-text`)."""
    if len(data) > LARGEST_DOCUMENT:
        raise _too_large()
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        problem = f"the document is not UTF-8 text (line {line})"
        raise YazError("document-not-text", problem, "save it as UTF-8") from None


def read(files: Files, path: str, first: int = 1, most: int = 2_000) -> Excerpt:
    """At most `most` lines of a document from line `first`, and no more than about `PAGE_BYTES`.

    A line is never cut: one that alone is larger is given whole. Raises `YazError`, or what the file service raises.
    """
    data = _bytes(files, path)
    text = text_of(data)
    spans = _lines_in(text)
    last, size = first - 1, 0
    for begin, end in spans[first - 1 : first - 1 + most]:
        size += len(json.dumps(text[begin:end], ensure_ascii=False)[1:-1].encode()) + 2
        if size > PAGE_BYTES and last >= first:
            break
        last += 1
    return Excerpt(
        path=path,
        revision=revision_of(data),
        first=first,
        last=last,
        total=len(spans),
        text=text[spans[first - 1][0] : spans[last - 1][1]].replace("\r\n", "\n") if first <= last else "",
        next_line=last + 1 if first <= last < len(spans) else None,
    )


def create(files: Files, path: str, text: str, formats: Sequence[str]) -> Written:
    """Make a document that is not there yet.

    Raises `YazError`: `document-exists`, `document-kind`, `document-path`, `document-too-large`.
    """
    _may_change(path, formats)
    data = _fitting(text)
    try:
        revision = files.write_bytes(path, data, expect=ABSENT)
    except ServiceError as error:
        if error.code == "files-changed":
            raise YazError(
                "document-exists", "there is a document of that path", "use edit_document, or another path"
            ) from None
        raise
    return Written(path=path, revision=revision, lines=len(_lines_in(text)), line=1)


def edit(files: Files, path: str, old: str, new: str, revision: str, formats: Sequence[str]) -> Written:
    """Put `new` in the place of `old`, which must be there exactly once, in the revision that was read.

    `\\n` in both stands for the document's own line end. All or nothing. Raises `YazError`: `document-changed`,
    `edit-empty`, `edit-same`, `edit-not-found`, `edit-ambiguous`, `document-kind`, `document-too-large` (also where
    the document would become so: nobody could read it then, nor take the edit back).
    """
    _may_change(path, formats)
    if not old:
        raise YazError("edit-empty", "old is empty", "give the text to replace, copied from read_document")
    data = _bytes(files, path)
    if revision_of(data) != revision:
        raise _changed()
    text = text_of(data)
    old, new = _in_line_ends_of(text, old, new)
    if old == new:
        raise YazError("edit-same", "old and new are the same text", "give the new text in new")
    at = _only_place(text, old)
    changed = text[:at] + new + text[at + len(old) :]
    data = _fitting(changed)
    try:
        written = files.write_bytes(path, data, expect=revision)
    except ServiceError as error:
        if error.code == "files-changed":
            raise _changed() from None
        raise
    return Written(path=path, revision=written, lines=len(_lines_in(changed)), line=_line_at(text, at))


def _bytes(files: Files, path: str) -> bytes:
    try:
        return files.read_bytes(document_path(path))
    except ServiceError as error:
        if error.code == "file-not-found":
            raise YazError(
                "document-not-found",
                "there is no document of that path in the project",
                "open_project lists the documents, read_outline those with headings",
            ) from None
        if error.code == "file-too-large":
            raise _too_large() from None
        raise


def _fitting(text: str) -> bytes:
    """What is to be written for a text, where it may be read again afterwards."""
    data = text.encode()
    if len(data) > LARGEST_DOCUMENT:
        raise YazError(
            "document-too-large",
            f"the document would be larger than {LARGEST_DOCUMENT // 2**20} MiB; nothing was written",
            "put part of its text into a document of its own with create_document",
        )
    return data


def _too_large() -> YazError:
    return YazError("document-too-large", f"the document is larger than {LARGEST_DOCUMENT // 2**20} MiB", "split it")


def _may_change(path: str, formats: Sequence[str]) -> None:
    document_path(path)
    if not is_document(path, formats):
        raise YazError(
            "document-kind",
            "only documents are made and edited here, and this is none",
            f"use one of {', '.join(sorted(COMPANIONS.union(formats)))}; {SETTINGS_FILE} belongs to the user",
        )


def _changed() -> YazError:
    return YazError(
        "document-changed",
        "the document is not in the revision you read; nothing was written",
        "read it again with read_document, and edit that revision",
    )


def _in_line_ends_of(text: str, old: str, new: str) -> tuple[str, str]:
    """Both texts with the document's line ends, where it has Windows ones and the texts do not.

    A document may have both: a passage that stands there with plain ones is replaced by one with plain ones.
    """
    if "\r\n" not in text or (old in text and re.search(r"(?<!\r)\n", old)):
        return old, new
    return re.sub(r"\r?\n", "\r\n", old), re.sub(r"\r?\n", "\r\n", new)


def _only_place(text: str, old: str) -> int:
    at = text.find(old)
    if at < 0:
        raise YazError(
            "edit-not-found",
            "old is not in the document, character for character; nothing was written",
            "copy it from read_document, with its spaces and line ends",
        )
    second = text.find(old, at + 1)
    if second >= 0:
        first_line, second_line = _line_at(text, at), _line_at(text, second)
        raise YazError(
            "edit-ambiguous",
            f"old is there more than once, on line {first_line} and on line {second_line}; nothing was written",
            "give more of the text around it, so that it is there once",
        )
    return at


def _lines_in(text: str) -> list[tuple[int, int]]:
    """Where each line begins and ends, without what ends it; after a line end at the very end there is no line."""
    spans, begin = [], 0
    for end in _LINE_END.finditer(text):
        spans.append((begin, end.start()))
        begin = end.end()
    return spans if begin == len(text) else [*spans, (begin, len(text))]


def _line_at(text: str, offset: int) -> int:
    return len(_LINE_END.findall(text, 0, offset)) + 1
