"""The name of a document inside its project: a root-relative POSIX path, in one spelling (design 8)."""

from __future__ import annotations

import re

from yazcore import YazError

LONGEST_PATH = 512
"""The longest document path, in characters."""

_LONGEST_PART_BYTES = 255
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def document_path(text: str) -> str:
    """`text`, if it names a document inside a project: relative, `/` between its parts, none of them `.` or `..`.

    Pure: whether anything is there, and where a link on the way leads, is for the file service. Raises `YazError`
    (`document-path`), which repeats no part of the text.
    """
    if problem := _problem(text):
        raise YazError(
            "document-path",
            f"the path of the document {problem}",
            "give it relative to the project's folder, as in chapters/introduction.typ",
        )
    return text


def _problem(text: str) -> str:
    if not text:
        return "is empty"
    if len(text) > LONGEST_PATH:
        return f"is longer than {LONGEST_PATH} characters"
    if _CONTROL.search(text):
        return "holds a control character"
    if text.startswith(("/", "~")):
        return "is absolute"
    if "\\" in text:
        return "holds a backslash; the parts are joined by /"
    parts = text.split("/")
    if any(part in ("", ".", "..") for part in parts):
        return "has a part that is empty, . or .."
    try:
        too_long = any(len(part.encode()) > _LONGEST_PART_BYTES for part in parts)
    except UnicodeEncodeError:
        return "holds half of a surrogate pair"
    return f"has a part longer than {_LONGEST_PART_BYTES} bytes" if too_long else ""
