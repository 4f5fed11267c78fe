"""Where things end in Typst source: lines, comments, raw text, strings, escapes, addresses, arguments. All pure.

Each function takes the text and where the thing begins, and gives the place after it. What is never closed ends where
it does least harm to an outline of a document that is being written.
"""

from __future__ import annotations

import re

import attrs

from yazcore.writing.plugins.typst.titles import matching, plain

NEWLINE = "\n\v\f\r\x85\u2028\u2029"
"""The characters that end a line, as Typst has it; `\\r\\n` counts as one."""

LINE_END = re.compile(rf"\r\n|[{NEWLINE}]")

STRING = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
"""A string; group 1 is what stands between the quotes, escapes as written."""

_ESCAPE = re.compile(r"\\(?:u\{[0-9A-Za-z]{0,16}\}|.)?", re.DOTALL)
_COMMENT_EDGE = re.compile(r"/\*|\*/")
_ADDRESS = re.compile(r"[0-9A-Za-z!#$%&*+,\-./:;=?@_~'()\[\]]*")
_LONGEST_ARGUMENTS = 4_000
_OFFSET = re.compile(r"\boffset\s*:\s*(\d{1,2})\b")
_LEVEL = re.compile(r"\blevel\s*:\s*(\d{1,2})\b")
_DEPTH = re.compile(r"\bdepth\s*:\s*(\d{1,2})\b")
_POSITIONAL = re.compile(r"(?:\A|,)\s*(?:\"((?:[^\"\\]|\\.)*)\"|\[)", re.DOTALL)
_SPECIAL = {"n": "\n", "t": "\t", "r": "\r"}


def line_end(text: str, at: int) -> int:
    """Where the line that `at` lies in ends, before what ends it."""
    found = LINE_END.search(text, at)
    return found.start() if found else len(text)


def comment_end(text: str, at: int) -> int:
    """The end of a comment: of the line, or of `/* /* */ */`, which nests; all that is left where it is not closed."""
    if text.startswith("//", at):
        return line_end(text, at)
    depth, at = 1, at + 2
    while depth:
        edge = _COMMENT_EDGE.search(text, at)
        if edge is None:
            return len(text)
        depth += 1 if edge[0] == "/*" else -1
        at = edge.end()
    return at


def raw_end(text: str, at: int, ticks: int) -> int:
    """The end of raw text between that many backticks; two alone are empty raw text.

    Typst takes all that is left for raw text where it is not closed. For one tick that would hide the whole outline.
    """
    begin = at + ticks
    if ticks == 2:
        return begin
    close = text.find("`" * ticks, begin)
    if close >= 0:
        return close + ticks
    return begin if ticks == 1 else len(text)


def string_end(text: str, at: int) -> int:
    """The end of a string, which may hold line ends; of its line where it is not closed."""
    found = STRING.match(text, at)
    return found.end() if found else line_end(text, at)


def escape_end(text: str, at: int) -> int:
    """The end of a backslash and what it escapes; at the end of a line it hides nothing."""
    found = _ESCAPE.match(text, at)
    end = found.end() if found else at + 1
    return at + 1 if end == at + 2 and text[at + 1] in NEWLINE else max(end, at + 1)


def address_end(text: str, at: int) -> int:
    """The end of an address whose `https://` ends at `at`: before a bracket that it did not open."""
    found = _ADDRESS.match(text, at)
    address = found[0] if found else ""
    opened = 0
    for index, character in enumerate(address):
        if character in "([":
            opened += 1
        elif character in ")]":
            opened -= 1
            if opened < 0:
                return at + index
    return at + len(address)


@attrs.frozen(kw_only=True)
class HeadingCall:
    """What follows the name `heading` in code: an `offset` for a `set` rule, or a `title` with `level` or `depth`."""

    offset: int | None = None
    title: str | None = None
    level: int | None = None
    depth: int = 1


def heading_call(text: str, at: int) -> HeadingCall:
    """The arguments at `at`, as far as they are written out: `(level: 2)[Title]`, `("Title")`, `(offset: 1)`."""
    arguments = ""
    if text[at : at + 1] == "(":
        end = matching(text, at, _LONGEST_ARGUMENTS)
        if end is None:
            return HeadingCall()
        arguments, at = text[at + 1 : end], end + 1
    offset, level, depth = _OFFSET.search(arguments), _LEVEL.search(arguments), _DEPTH.search(arguments)
    return HeadingCall(
        offset=int(offset[1]) if offset else None,
        title=_content(text, at) if text[at : at + 1] == "[" else _positional(arguments),
        level=int(level[1]) if level else None,
        depth=int(depth[1]) if depth else 1,
    )


def unescaped(text: str) -> str:
    """What a string literal stands for."""
    return re.sub(r"\\(.)", lambda found: _SPECIAL.get(found[1], found[1]), text)


def _content(text: str, at: int) -> str | None:
    end = matching(text, at, _LONGEST_ARGUMENTS)
    return None if end is None else plain(text[at + 1 : end])


def _positional(arguments: str) -> str | None:
    body = _POSITIONAL.search(arguments)
    if body is None:
        return None
    return unescaped(body[1]) if body[1] is not None else _content(arguments, body.end() - 1)
