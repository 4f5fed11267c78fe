"""Reading Typst source for its outline: headings and includes, without running anything and without ever failing.

A scanner, not a parser: it follows what Typst's own lexer does about comments, raw text, strings, math and code, so
that what only looks like a heading in them is none, and it goes on where a document is broken, because an outline is
asked for most while one is being written. Typst's own `query` needs a document that compiles, and knows no lines.
"""

from __future__ import annotations

import bisect
import re

import attrs

from yazcore.writing.plugins.typst.lexemes import (
    LINE_END,
    NEWLINE,
    STRING,
    address_end,
    comment_end,
    escape_end,
    heading_call,
    line_end,
    raw_end,
    string_end,
    unescaped,
)
from yazcore.writing.plugins.typst.titles import plain

_DEEPEST = 512


@attrs.frozen
class Heading:
    """A heading of one file; `level` counts from 1 and knows the file's own offsets; `line` counts from 1."""

    title: str
    level: int
    line: int
    label: str | None = None


@attrs.frozen
class Include:
    """An `include` of a name that is written out; `offset` is what the levels below it grow by."""

    name: str
    line: int
    offset: int


@attrs.define
class _Frame:
    """One level of what the scanner is in.

    `mode` is `markup`, `heading`, `code` or `math`. `closer` is what ends it: `]`, `}`, `)`, `$`, or for code in markup
    `line` (a statement), `chain` (a name with its calls) or `flow` (a condition or loop with its blocks). `offset` is
    what headings inside are deeper by; `nest` counts open brackets that are plain text; `start` is where it began.
    `silent`: it is the body of a function, whose headings are no part of the document until somebody calls it.
    `closes` says which frame each closing bracket would end, by its place in the stack.
    """

    mode: str
    closer: str
    offset: int = 0
    nest: int = 0
    start: int = 0
    level: int = 0
    line: int = 0
    silent: bool = False
    closes: dict[str, int] = attrs.field(factory=dict)


_IN_MARKUP = re.compile(rf"[{NEWLINE}]|//|/\*|`+|\\|\$|#|\[|\]|<([\w.:-]+)>|https?://")
_IN_CODE = re.compile(rf"[{NEWLINE}]|//|/\*|`+|\"|\$|[\[\](){{}};]|[^\W\d][\w-]*")
_IN_MATH = re.compile(rf"[{NEWLINE}]|//|/\*|\\|\"|\$|#")
_MARKER = re.compile(r"(=+)(?=\s|\Z|//|/\*|\])")
_LIST_MARKER = re.compile(rf"(?:(?:[-+]|\d+\.|/[ \t]+[^:{NEWLINE}]*:)[ \t]+)+")
_NAME = re.compile(r"[^\W\d][\w-]*")
_TICKS = re.compile(r"`+")
_SPACE = re.compile(r"[ \t]*")
_ELSE = re.compile(r"[ \t]*else\b")
_SET = re.compile(r"\bset\s+\Z")
_FUNCTION = re.compile(r"let[ \t]+[^\W\d][\w-]*\(")
_LABEL_AFTER = re.compile(r"\s*<([\w.:-]+)>")
# A blank line and a line that begins a heading: in code or math that is open, only a sign that it was never closed.
_RESUME = re.compile(rf"[ \t]*(?:\r\n|[{NEWLINE}])=+[ \t]+\S")

_STATEMENTS = frozenset({"let", "set", "show", "import", "include", "return"})
_FLOWS = frozenset({"if", "for", "while"})
_TEXT = ("markup", "heading")


def scan(text: str) -> list[Heading | Include]:
    """The headings and includes of one file, in order. Pure; never raises, whatever the text."""
    return _Scanner(text).run()


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.found: list[Heading | Include] = []
        self.frames = [_Frame("markup", "end")]
        self.at_start = True
        self.before = ""
        self._line_ends = [end.end() for end in LINE_END.finditer(text)]

    def run(self) -> list[Heading | Include]:
        if self.text.startswith("#!"):
            self.at = line_end(self.text, 0)
        step = {"markup": self._markup, "heading": self._markup, "code": self._code, "math": self._math}
        while self.at < len(self.text) and len(self.frames) <= _DEEPEST:
            step[self.frames[-1].mode]()
        while self.frames:
            self._close()
        return self.found

    # --- markup ---------------------------------------------------------------------------------------------------

    def _markup(self) -> None:
        if self.at_start and self._begin_of_line():
            return
        found = _IN_MARKUP.search(self.text, self.at)
        if found is None:
            self.at = len(self.text)
            return
        if found.start() > self.at and self.text[self.at : found.start()].strip():
            self.at_start = False
        self.at = found.start()
        sign, frame = found[0], self.frames[-1]
        if sign[0] in NEWLINE:
            if frame.mode == "heading":
                self._close()
                return
            self.at, self.at_start = found.end(), True
            return
        if sign in ("//", "/*"):
            self.at = comment_end(self.text, self.at)
            return
        self.at_start = False
        if sign[0] == "`":
            self.at = raw_end(self.text, self.at, len(sign))
        elif sign == "\\":
            self.at = escape_end(self.text, self.at)
        elif sign == "$":
            self._push("math", "$", found.end())
        elif sign == "#":
            self.at += 1
            self._embedded()
        elif sign == "[":
            frame.nest += 1
            self.at += 1
        elif sign == "]":
            self._bracket(frame)
        elif sign[0] == "<":
            if frame.mode == "heading":
                self._close(label=found[1])
            self.at = found.end()
        else:
            self.at = address_end(self.text, found.end())

    def _begin_of_line(self) -> bool:
        """Begin a heading if one is here: only blanks, comments and marks of lists stand before it in its line."""
        self.at = self._after(_SPACE)
        self.at = self._after(_LIST_MARKER)
        marker = _MARKER.match(self.text, self.at)
        if marker is None or self.frames[-1].mode == "heading":
            return False
        around = self.frames[-1]
        self._push("heading", "line", marker.end())
        self.frames[-1].level = len(marker[1]) + around.offset
        self.frames[-1].line = self._line(marker.start())
        self.at_start = False
        return True

    def _bracket(self, frame: _Frame) -> None:
        if frame.nest:
            frame.nest -= 1
            self.at += 1
        elif frame.mode == "heading":
            self._close()
        elif frame.closer == "]":
            self.at += 1
            self._close()
        else:
            self.at += 1

    # --- code in markup -------------------------------------------------------------------------------------------

    def _embedded(self) -> None:
        """Begin the code after a `#`; what begins no code is text."""
        name = _NAME.match(self.text, self.at)
        if name is None:
            opener = self.text[self.at : self.at + 1]
            if opener and opener in '([{"$`':
                self._push("code", "chain", self.at)
            return
        word = name[0]
        if word in _STATEMENTS:
            silent = _FUNCTION.match(self.text, self.at) is not None
            self._push("code", "line", self.at)
            self.frames[-1].silent |= silent
        elif word in _FLOWS:
            self._push("code", "flow", self.at)
        elif word in ("context", "not"):
            self.at = self._after(_SPACE, name.end())
            self._embedded()
        else:
            self._push("code", "chain", self.at)

    def _code(self) -> None:
        frame = self.frames[-1]
        if frame.closer == "chain":
            self._chain()
            return
        found = _IN_CODE.search(self.text, self.at)
        if found is None:
            self.at = len(self.text)
            return
        directly = found.start() == self.at and self.before in (")", "]", "name")
        self.at = found.start()
        sign = found[0]
        self.before = ""
        if sign[0] in NEWLINE:
            self._line_in_code(frame, found.end())
        elif sign in ("//", "/*"):
            self.at = comment_end(self.text, self.at)
        elif sign[0] == "`":
            self.at = raw_end(self.text, self.at, len(sign))
        elif sign == '"':
            self.at = string_end(self.text, self.at)
        elif sign == "$":
            self._push("math", "$", found.end())
        elif sign in "([{":
            self._open(sign, frame, directly)
        elif sign in ")]}":
            self._close_with(sign)
        elif sign == ";":
            self.at += 1
            if frame.closer in ("line", "flow"):
                self._close()
        else:
            self._word(sign)

    def _line_in_code(self, frame: _Frame, end: int) -> None:
        if frame.closer in ("line", "flow"):
            # The end of the line ends the statement, and is then markup's to see.
            self._close()
        elif _RESUME.match(self.text, end):
            self._resume()
        else:
            self.at = end

    def _chain(self) -> None:
        """Code that is one expression: it goes on only with what stands directly after it."""
        frame = self.frames[-1]
        at_first = frame.start == self.at
        character = self.text[self.at : self.at + 1]
        if character == "." and not at_first and (name := _NAME.match(self.text, self.at + 1)):
            self.at = name.end()
        elif character in ("(", "[") or (at_first and character == "{"):
            self._open(character, frame, True)
        elif at_first and character == '"':
            self.at = string_end(self.text, self.at)
        elif at_first and (ticks := _TICKS.match(self.text, self.at)):
            self.at = raw_end(self.text, self.at, len(ticks[0]))
        elif at_first and character == "$":
            self._push("math", "$", self.at + 1)
        elif at_first and (name := _NAME.match(self.text, self.at)):
            self._word(name[0])
        else:
            if character == ";":
                self.at += 1
            self._close()

    def _word(self, word: str) -> None:
        """Pass a name in code, and note what matters for the outline."""
        start, self.at = self.at, self.at + len(word)
        self.before = "name"
        if word == "include":
            if (name := STRING.match(self.text, self._after(_SPACE))) is not None:
                self._add(Include(unescaped(name[1]), self._line(start), self.frames[-1].offset))
        elif word == "heading" and self.text[start - 1 : start] != ".":
            self._heading_in_code(start)

    def _heading_in_code(self, start: int) -> None:
        """`set heading(offset: 1)` for what follows, or a call: `heading(level: 2)[Title]`."""
        call = heading_call(self.text, self.at)
        if _SET.search(self.text[max(0, start - 16) : start]):
            if call.offset is not None:
                self._deepen(call.offset)
        elif call.title is not None:
            level = call.level if call.level is not None else self.frames[-1].offset + call.depth
            self._add(Heading(call.title, max(1, level), self._line(start)))

    def _deepen(self, offset: int) -> None:
        """Let headings grow by `offset` to the end of the block around the `set` rule."""
        for frame in reversed(self.frames):
            if frame.closer not in ("line", "chain", "flow"):
                frame.offset = offset
                break
            frame.offset = offset

    # --- math -----------------------------------------------------------------------------------------------------

    def _math(self) -> None:
        found = _IN_MATH.search(self.text, self.at)
        if found is None:
            self.at = len(self.text)
            return
        self.at = found.start()
        sign = found[0]
        if sign[0] in NEWLINE:
            if _RESUME.match(self.text, found.end()):
                self._resume()
            else:
                self.at = found.end()
        elif sign in ("//", "/*"):
            self.at = comment_end(self.text, self.at)
        elif sign == "\\":
            self.at = escape_end(self.text, self.at)
        elif sign == '"':
            self.at = string_end(self.text, self.at)
        elif sign == "$":
            self.at += 1
            self._close()
        else:
            self.at += 1
            self._embedded()

    # --- what is the same everywhere ------------------------------------------------------------------------------

    def _open(self, sign: str, around: _Frame, directly: bool) -> None:
        mode = "markup" if sign == "[" else "code"
        if around.closer == "flow" and not directly and sign in "[{":
            around.nest = 1  # its block begins
        self._push(mode, {"(": ")", "[": "]", "{": "}"}[sign], self.at + 1)
        self.at_start = mode == "markup"

    def _push(self, mode: str, closer: str, at: int) -> None:
        around = self.frames[-1]
        # Out of markup only its own bracket leads: a `)` or `}` in it is text.
        closes = {sign: place for sign, place in around.closes.items() if sign == "]" or mode not in _TEXT}
        if closer in ")]}":
            closes[closer] = len(self.frames)
        self.frames.append(_Frame(mode, closer, offset=around.offset, start=at, silent=around.silent, closes=closes))
        self.at = at
        self.before = ""

    def _close_with(self, sign: str) -> None:
        """Close the innermost block that `sign` ends; one that ends none is passed over."""
        place = self.frames[-1].closes.get(sign)
        if place is not None:
            while len(self.frames) > place + 1:
                self._close()
        self.at += 1
        if place is not None and len(self.frames) == place + 1:
            self._close()

    def _close(self, label: str | None = None) -> None:
        frame = self.frames.pop()
        if frame.mode == "heading":
            if label is None and (after := _LABEL_AFTER.match(self.text, self.at)) is not None:
                label = after[1]
            heading = Heading(plain(self.text[frame.start : self.at]), frame.level, frame.line, label)
            if not frame.silent:
                self.found.append(heading)
        if not self.frames:
            return
        around = self.frames[-1]
        self.before = ")" if frame.closer == ")" else "]"
        if around.closer == "flow" and around.nest and frame.closer in ("]", "}"):
            around.nest = 0
            if (further := _ELSE.match(self.text, self.at)) is not None:
                self.at = further.end()
                self.before = ""
            else:
                self._close()

    def _add(self, found: Heading | Include) -> None:
        if not self.frames[-1].silent:
            self.found.append(found)

    def _resume(self) -> None:
        """Go back to markup before a line that can only be a heading: what was open was never closed."""
        while len(self.frames) > 1 and self.frames[-1].mode in ("code", "math"):
            self._close()
        self.at_start = True

    def _after(self, pattern: re.Pattern[str], at: int | None = None) -> int:
        found = pattern.match(self.text, self.at if at is None else at)
        return found.end() if found else self.at

    def _line(self, at: int) -> int:
        return bisect.bisect_right(self._line_ends, at) + 1
