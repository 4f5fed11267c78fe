"""Findings as SARIF 2.1.0, for editors and code scanning: one run, with each rule and code that was broken."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any, Protocol
from urllib.parse import quote

from yazcore import __version__
from yazcore.design_rules.rule import Finding, Rule
from yazcore.design_rules.waivers import CHANGES, TITLES
from yazcore.violations import Difference, Violation

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
"""The schema that a log names."""

_LEVELS = {"error": "error", "suspicion": "warning", "warning": "warning"}


class Checked(Protocol):
    """What is shown: a report of `yazcore.check`."""

    @property
    def violations(self) -> Sequence[Violation]:
        """What a manifest breaks."""

    @property
    def differences(self) -> Sequence[Difference]:
        """Where code and manifest differ."""

    @property
    def findings(self) -> Sequence[Finding]:
        """What the design rules find."""

    @property
    def waived(self) -> Sequence[tuple[Finding, str]]:
        """What a waiver answers, with its reason."""


def log(report: Checked, rules: Iterable[Rule], file: str) -> dict[str, Any]:
    """The log of one report; `file` is the manifest's or the list's, relative, with slashes.

    Violations and differences of a manifest are in it, too, each under its code.
    """
    results = [
        *(_violation(one, file) for one in report.violations),
        *(_difference(one, file) for one in report.differences),
        *(_finding(one, file) for one in report.findings),
        *({**_finding(one, file), "suppressions": [_suppression(why)]} for one, why in report.waived),
    ]
    broken = sorted({str(one["ruleId"]) for one in results}, key=_natural)
    index = {name: number for number, name in enumerate(broken)}
    known = {one.id: one for one in rules}
    driver = {"name": "yaz", "version": __version__, "rules": [_described(name, known.get(name)) for name in broken]}
    for one in results:
        one["ruleIndex"] = index[one["ruleId"]]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _natural(name: str) -> tuple[bool, int, str]:
    digits = "".join(filter(str.isdigit, name))
    return not name[:1].isupper(), int(digits or 0), name


def _described(name: str, rule: Rule | None) -> dict[str, Any]:
    if rule is not None:
        return {
            "id": name,
            "shortDescription": {"text": rule.title},
            "fullDescription": {"text": rule.reason or rule.title},
            "help": {"text": rule.change},
            "defaultConfiguration": {"level": _LEVELS[rule.severity]},
        }
    if name in TITLES:
        return {"id": name, "shortDescription": {"text": TITLES[name]}, "help": {"text": CHANGES[name]}}
    return {"id": name}


def _result(rule_id: str, level: str, text: str, key: str, location: dict[str, Any]) -> dict[str, Any]:
    stable = hashlib.sha256(f"{rule_id}\n{key}".encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return {
        "ruleId": rule_id,
        "level": level,
        "message": {"text": text},
        "locations": [location],
        "partialFingerprints": {"yaz/1": stable},
    }


def _location(file: str, line: int | None, column: int | None, logical: str = "") -> dict[str, Any]:
    place: dict[str, Any] = {}
    if file:
        place["physicalLocation"] = {"artifactLocation": {"uri": quote(file)}}
        if line is not None:
            place["physicalLocation"]["region"] = {"startLine": line, "startColumn": column}
    if logical:
        place["logicalLocations"] = [{"fullyQualifiedName": logical}]
    return place


def _text(message: str, change: str) -> str:
    return f"{message}. {change[:1].upper()}{change[1:]}." if change else f"{message}."


def _finding(one: Finding, file: str) -> dict[str, Any]:
    # what is said of a reviewer's file stands in it, beside the manifest
    where = file if one.line is not None or "." not in one.subject or "/" in one.subject else _beside(file, one.subject)
    location = _location(where, one.line, one.column, one.subject)
    text = _text(one.message, one.change)
    return _result(one.rule, _LEVELS[one.severity], text, f"{one.subject}\n{one.message}", location)


def _beside(file: str, name: str) -> str:
    return f"{file.rpartition('/')[0]}/{name}".lstrip("/")


def _violation(one: Violation, file: str) -> dict[str, Any]:
    location = _location(file, one.line, one.column, one.pointer)
    return _result(one.code, _LEVELS[one.severity], _text(one.message, one.fix), one.message, location)


def _difference(one: Difference, file: str) -> dict[str, Any]:
    name = f"{one.kind}/{one.name}"
    location = _location(file, None, None, name)
    return _result(f"difference-{one.change}", "error", _text(one.message, one.fix), name, location)


def _suppression(reason: str) -> dict[str, Any]:
    return {"kind": "external", "justification": reason}
