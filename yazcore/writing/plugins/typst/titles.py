"""The plain text of a heading's source."""

from __future__ import annotations

import re

_DEEPEST = 8
_LONGEST = 2_000
_SILENT = frozenset({"footnote", "label", "metadata", "index", "hide", "place"})
_SPACES = frozenset({"h", "v", "linebreak"})

_TOKEN = re.compile(
    r"""
      (?P<comment>//[^\n]*|/\*.*?\*/)
    | (?P<link>https?://[^\s\])]*)
    | (?P<raw>`{3,}.*?`{3,}|`[^`]*`|``)
    | (?P<unicode>\\u\{(?P<point>[0-9A-Fa-f]{1,6})\})
    | (?P<escape>\\.?)
    | (?P<math>\$(?:\\.|[^$\\])*\$)
    | (?P<code>\#(?=[^\W\d]|[(\[]))
    | (?P<signs>---?|-\?|\.\.\.)
    | (?P<space>~|\s+)
    | (?P<marker>[*_])
    | (?P<text>[^\\/`$\#~\s*_h.-]+|.)
    """,
    re.VERBOSE | re.DOTALL,
)
_CHAIN = re.compile(r"[^\W\d][\w-]*(?:\.[^\W\d][\w-]*)*")
_BRACKETS = re.compile(r'[\[\](){}]|"(?:[^"\\]|\\.)*"|`+[^`]*`+|\\.|//[^\n]*|/\*.*?\*/', re.DOTALL)
_PAIRS = {"[": "]", "(": ")", "{": "}"}
_SIGNS = {"--": "–", "---": "—", "-?": "", "...": "…"}


def plain(source: str) -> str:
    """The text a reader sees, as far as source says it: markup is taken away, math and unknown code stay as written."""
    return " ".join(_plain(source[:_LONGEST], 0).split())


def _plain(source: str, depth: int) -> str:
    parts: list[str] = []
    at = 0
    while (found := _TOKEN.match(source, at)) is not None:
        kind, token = found.lastgroup, found[0]
        at = found.end()
        if kind == "point" or kind == "unicode":
            parts.append(_character(found["point"]))
        elif kind == "raw":
            parts.append(token.strip("`").strip())
        elif kind == "escape":
            parts.append(token[1:] or " ")
        elif kind == "signs":
            parts.append(_SIGNS[token])
        elif kind == "space":
            parts.append(" ")
        elif kind == "marker":
            if _in_word(source, found.start(), found.end()):
                parts.append(token)
        elif kind == "code":
            text, at = _code(source, at, depth)
            parts.append(text)
        elif kind != "comment":
            parts.append(token)
    return "".join(parts)


def _character(point: str) -> str:
    number = int(point, 16)
    return chr(number) if number < 0x110000 and not 0xD800 <= number < 0xE000 else ""


def _in_word(source: str, start: int, end: int) -> bool:
    return source[start - 1 : start].isalnum() and source[end : end + 1].isalnum() if start else False


def _code(source: str, at: int, depth: int) -> tuple[str, int]:
    """The text of the code after a `#`: what stands in its content brackets, else the code itself."""
    begin = at - 1
    chain = _CHAIN.match(source, at)
    name = chain[0] if chain else ""
    at = chain.end() if chain else at
    contents: list[str] = []
    while source[at : at + 1] in ("(", "["):
        end = matching(source, at, _LONGEST)
        if end is None:
            break
        if source[at] == "[":
            inner = source[at + 1 : end]
            contents.append(_plain(inner, depth + 1) if depth < _DEEPEST else inner)
        at = end + 1
    if name in _SILENT:
        return "", at
    if name in _SPACES:
        return " ", at
    return ("".join(contents) if contents else source[begin:at]), at


def matching(text: str, at: int, most: int) -> int | None:
    """Where the bracket that opens at `at` is closed, within `most` characters; strings and comments do not count."""
    wanted: list[str] = []
    for found in _BRACKETS.finditer(text, at, min(len(text), at + most)):
        token = found[0]
        if token in _PAIRS:
            wanted.append(_PAIRS[token])
        elif wanted and token == wanted[-1]:
            wanted.pop()
            if not wanted:
                return found.start()
    return None
