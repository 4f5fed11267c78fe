"""Places in a JSON text: paths and pointers, and the line and column of each value.

Positions are worked out only when something is wrong: one walk over text that `json` has already accepted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from itertools import islice

import attrs

from yazcore.manifest.words import escaped
from yazcore.violations import Severity, Violation

Path = tuple[str | int, ...]
"""Where in a document: keys and indexes, from the top."""


MOST_FAULTS = 100
"""The most faults of one document that are looked for: a page of mistakes is mended before the next one is read."""


@attrs.frozen
class Fault:
    """One rule that a document breaks, before its place has a line and a column.

    `at_key` points at the key instead of the value. `offset` is the place in the text, in characters, of a fault that
    has no path because the text could not be read.
    """

    code: str
    message: str
    fix: str
    path: Path = ()
    at_key: bool = False
    severity: Severity = "error"
    offset: int | None = None


def bounded(faults: Iterable[Fault]) -> list[Fault]:
    """The faults, where there are more than `MOST_FAULTS` only so many, with one that says so.

    No more of them are made: faults by the hundred thousand, each with its advice, would take minutes.
    """
    found = list(islice(faults, MOST_FAULTS + 1))
    if len(found) > MOST_FAULTS:
        message = f"more than {MOST_FAULTS} things are wrong, and no more of them are named"
        found[MOST_FAULTS:] = [Fault("manifest-too-many-faults", message, "mend these, and look again")]
    return found


def pointer(path: Path) -> str:
    """The JSON pointer of a path (RFC 6901). What nobody can see in a key is escaped: people read pointers."""
    return "".join("/" + escaped(str(part)).replace("~", "~0").replace("/", "~1") for part in path)


def path_of(pointer: str) -> Path:
    """The path of a pointer into a manifest, in which all keys are known and no key is a number."""
    return tuple(int(part) if part.isdecimal() else part for part in pointer.split("/")[1:])


_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
_LONE = re.compile("[\ud800-\udfff]")


def without_surrogates(text: str) -> str:
    """The text with each half of a surrogate pair replaced, so that whatever reads it can encode it."""
    return _LONE.sub("\ufffd", text)


@attrs.define
class _Level:
    """One object or array that the walk is in."""

    path: Path
    is_object: bool
    expects_key: bool
    key: str = ""
    key_at: int | None = None
    index: int = 0


def positions(text: str) -> Iterator[tuple[Path, int, int | None]]:
    """(path, offset of the value, offset of its key) for every value, in document order.

    `text` must be well-formed JSON. A repeated key comes once for each time it stands there.
    """
    levels: list[_Level] = []
    for found in _TOKEN.finditer(text):
        mark, at = found[0], found.start()
        level = levels[-1] if levels else None
        if mark in "]}":
            levels.pop()
        elif mark == ",":
            assert level is not None, "a comma stands in an object or an array"
            level.expects_key = level.is_object
            level.index += 1
        elif level is not None and level.expects_key:
            level.key, level.key_at, level.expects_key = without_surrogates(json.loads(mark)), at, False
        elif mark != ":":
            path: Path = () if level is None else (*level.path, level.key if level.is_object else level.index)
            yield path, at, level.key_at if level is not None else None
            if mark in "{[":
                levels.append(_Level(path, is_object=mark == "{", expects_key=mark == "{"))


def depth_offset(text: str, deepest: int) -> int:
    """The offset of the first bracket that nests deeper than `deepest`; the text need not be JSON."""
    depth = 0
    for found in _TOKEN.finditer(text):
        depth += (found[0] in ("[", "{")) - (found[0] in ("]", "}"))
        if depth > deepest:
            return found.start()
    return 0


def line_and_column(text: str, offset: int) -> tuple[int, int]:
    """Line and column of an offset, both from 1; a column counts characters."""
    start = text.rfind("\n", 0, offset) + 1
    return text.count("\n", 0, offset) + 1, offset - start + 1


class Offsets:
    """Where everything stands in a text, which must be well-formed JSON."""

    def __init__(self, text: str) -> None:
        self._values: dict[Path, int] = {}
        self._keys: dict[Path, int] = {}
        for path, at, key_at in positions(text):
            self._values[path] = at
            if key_at is not None:
                self._keys[path] = key_at

    def of(self, path: Path, at_key: bool = False) -> int:
        """The offset of a value, or of its key; what is missing has the place of the object it is missing from."""
        if at_key and path in self._keys:
            return self._keys[path]
        while path not in self._values:
            path = path[:-1]
        return self._values[path]


def located(faults: Iterable[Fault], text: str | None) -> tuple[Violation, ...]:
    """The faults as violations, with line and column, in document order.

    With no text, or one that is not JSON, a fault with a path has no position and the order stays.
    """
    faults = list(faults)
    offsets: Offsets | None = None
    if text is not None and any(fault.offset is None for fault in faults):
        offsets = Offsets(text)
    placed = []
    for fault in faults:
        offset = fault.offset
        if offset is None and offsets is not None:
            offset = offsets.of(fault.path, fault.at_key)
        line, column = line_and_column(text, offset) if text is not None and offset is not None else (None, None)
        violation = Violation(fault.code, fault.message, fault.fix, pointer(fault.path), fault.severity, line, column)
        placed.append((offset if offset is not None else 0, violation))
    placed.sort(key=lambda pair: pair[0])
    return tuple(violation for _, violation in placed)
