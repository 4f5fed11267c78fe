"""Diagnostics: what a compilation found wrong, with a place and an identity (projects 6)."""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import attrs

from yazcore.writing.projects.formats import RawDiagnostic

Severity = Literal["error", "warning", "info", "hint"]

LONGEST_MESSAGE = 2_000
"""The most characters of one message; what is longer says by how much."""

_LONGEST_HINT = 500
_MOST_HINTS = 10
_MOST_RELATED = 10
_ORDER = {"error": 0, "warning": 1, "info": 2, "hint": 3}
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_ABSOLUTE = re.compile(r"^(?:/|~|[A-Za-z]:[\\/])")


@attrs.frozen(kw_only=True)
class Related:
    """A place that belongs to a diagnostic, such as the call that led to it."""

    message: str
    file: str | None = None
    line: int | None = None


@attrs.frozen(kw_only=True)
class Diagnostic:
    """One thing that is wrong.

    `file` is a document of the project, or `@preview/...` for a file of a package, or None. `line` and `column` count
    from 1, the column in Unicode code points. `source` is the engine, or `host` for what the host itself saw. Equal
    ones are folded: `count` says how many. `id` stays the same when lines are added above, so that "fixed", "new" and
    "still there" can be told between two compilations.
    """

    severity: Severity
    code: str
    message: str
    source: str
    file: str | None = None
    line: int | None = None
    column: int | None = None
    hints: tuple[str, ...] = ()
    related: tuple[Related, ...] = ()
    count: int = 1
    id: str = ""

    def as_json(self) -> dict[str, Any]:
        """The diagnostic as plain data. The place is always there, null where it is not known."""
        return {
            "id": self.id,
            "severity": self.severity,
            "code": self.code,
            "message": self.message,
            "file": self.file,
            "line": self.line,
            "column": self.column,
            "hints": list(self.hints),
            "related": [attrs.asdict(one) for one in self.related],
            "source": self.source,
            "count": self.count,
        }


def of_host(code: str, message: str, *hints: str, severity: Severity = "error") -> Diagnostic:
    """A diagnostic of the host itself, about no place in a document."""
    return Diagnostic(severity=severity, code=code, message=message, source="host", hints=hints)


def of_format(raw: RawDiagnostic, source: str) -> Diagnostic:
    """A format's diagnostic, within bounds and without what only a terminal understands."""
    file = _file(raw.file)
    return Diagnostic(
        severity=raw.severity,
        code=raw.code,
        message=_text(raw.message, LONGEST_MESSAGE),
        source=source,
        file=file,
        line=raw.line if file else None,
        column=raw.column if file and raw.line else None,
        hints=tuple(_text(hint, _LONGEST_HINT) for hint in raw.hints[:_MOST_HINTS]),
        related=tuple(
            Related(message=_text(one.message, _LONGEST_HINT), file=_file(one.file), line=one.line)
            for one in raw.related[:_MOST_RELATED]
        ),
    )


def settled(found: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Equal ones folded, errors first and otherwise in their order, each with its identity. Pure."""
    counts: dict[Diagnostic, int] = {}
    for one in found:
        counts[one] = counts.get(one, 0) + 1
    ordered = sorted(counts, key=lambda one: _ORDER[one.severity])
    seen: dict[tuple[str | None, ...], int] = {}
    named = []
    for one in ordered:
        key = (one.source, one.code, " ".join(one.message.split()), one.file)
        seen[key] = seen.get(key, 0) + 1
        named.append(attrs.evolve(one, count=counts[one], id=_identity(key, seen[key])))
    return tuple(named)


def counts(diagnostics: Sequence[Diagnostic]) -> dict[str, int]:
    """How many of each severity, folded ones counted as one."""
    return {
        severity: number
        for severity in _ORDER
        if (number := sum(one.severity == severity for one in diagnostics)) or severity in ("error", "warning")
    }


def _identity(key: tuple[str | None, ...], number: int) -> str:
    return "d-" + hashlib.sha256(repr((key, number)).encode()).hexdigest()[:10]


def _text(text: str, most: int) -> str:
    text = _CONTROL.sub("�", text.replace("\r\n", "\n")).strip()
    if len(text) <= most:
        return text
    return f"{text[:most]}… ({len(text) - most} more characters)"


def _file(name: str | None) -> str | None:
    """A document's name in its one spelling; None for what lies outside the project: a path of this machine."""
    if not name or _ABSOLUTE.match(name) or not name.isprintable():
        return None
    name = posixpath.normpath(name)
    return None if name == "." or name.split("/", 1)[0] == ".." else name
