"""Waivers: findings that a person has looked at and answered, in a file beside the manifest.

    # waivers.toml
    [[waiver]]
    rule = "G20"
    subject = "tools/run-query"
    reason = "The database is a read-only copy of ten tables, and its users are analysts who write SQL."

A waiver names one rule and one thing, and says why: a reason of a word answers nothing.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from yazcore.design_rules.rule import Rule, Severity
from yazcore.manifest.words import is_printable, nearest, quoted, shortened

MOST_BYTES = 64 * 1024
"""The largest such file, in bytes."""

UNUSED, FAULTY = "W1", "W2"
"""The ids of what is found about the file itself."""

TITLES = {UNUSED: "A waiver answers a finding", FAULTY: "A waiver names a rule and a thing, and says why"}
CHANGES = {UNUSED: "take the waiver away", FAULTY: "write it as [[waiver]] with rule, subject and reason"}

FEWEST_WORDS = 3
"""The fewest words of a reason."""

LONGEST_REASON = 1_000
"""The longest reason, in characters."""


@attrs.frozen(kw_only=True)
class Waiver:
    """One waiver; `subject` is as findings name it, `tools/run-query`."""

    rule: str
    subject: str
    reason: str


@attrs.frozen(kw_only=True)
class Waivers:
    """The waivers of one plugin, and what is wrong with the file."""

    entries: tuple[Waiver, ...] = ()
    faults: tuple[str, ...] = ()

    def answering(self, rule: str, subject: str) -> Waiver | None:
        """The waiver that answers a finding of a rule about a subject."""
        return next((one for one in self.entries if (one.rule, one.subject) == (rule, subject)), None)

    def findings(self, used: Collection[Waiver], ran: Collection[str]) -> Iterator[tuple[str, str]]:
        """(id, message) of what is wrong with the file: faults, and the waivers of rules that ran and found nothing."""
        yield from ((FAULTY, fault) for fault in self.faults)
        for one in self.entries:
            if one not in used and one.rule in ran:
                yield UNUSED, f"no finding of {one.rule} about {quoted(one.subject)} needs its waiver"


def read_waivers(data: bytes, rules: Iterable[Rule]) -> Waivers:
    """The waivers in a file's bytes, of findings of these rules. Never raises: what is wrong is a fault, and waives
    nothing."""
    known = {one.id: one.severity for one in rules}
    document = toml_of(data, MOST_BYTES)
    if isinstance(document, str):
        return Waivers(faults=(document,))
    entries = document.get("waiver", [])
    faults = [f"unknown key {quoted(key)}: a waiver begins with [[waiver]]" for key in document if key != "waiver"]
    if not isinstance(entries, list):
        return Waivers(faults=(*faults, "waiver is no list: begin each one with [[waiver]]"))
    good: list[Waiver] = []
    for number, entry in enumerate(entries, 1):
        fault = _fault_of(entry, known)
        if fault is None and any((one.rule, one.subject) == (entry["rule"], entry["subject"]) for one in good):
            fault = "it answers what an earlier one answers"
        if fault is None:
            good.append(Waiver(**entry))
        else:
            faults.append(f"waiver {number}: {fault}")
    return Waivers(entries=tuple(good), faults=tuple(faults))


def toml_of(data: bytes, most: int) -> dict[str, Any] | str:
    """A TOML document, or a sentence about why there is none."""
    if len(data) > most:
        return f"it is larger than {most} bytes"
    try:
        return tomllib.loads(data.decode("utf-8"))
    except UnicodeDecodeError:
        return "it is not UTF-8"
    except RecursionError:
        return "it nests too deeply"
    except ValueError as error:
        return f"it is not TOML: {shortened(str(error))}"


def _nearest(word: str, known: Sequence[str]) -> str:
    near = nearest(word, known)
    return "yaz check prints the id in brackets" if near is None else f"did you mean {quoted(near)}?"


def _unsafe(text: str) -> bool:
    return not is_printable(" ".join(text.split()))


def _fault_of(entry: Any, known: Mapping[str, Severity]) -> str | None:
    if not isinstance(entry, dict):
        return "it is no table"
    for key in ("rule", "subject", "reason"):
        if not isinstance(entry.get(key), str):
            return f"{quoted(key)} is missing, or is no text"
    if unknown := [key for key in entry if key not in ("rule", "subject", "reason")]:
        return f"unknown key {quoted(unknown[0])}"
    severity = known.get(entry["rule"])
    if severity is None:
        waivable = sorted(one for one, how in known.items() if how != "question")
        return f"{quoted(entry['rule'])} is no rule that finds anything; {_nearest(entry['rule'], waivable)}"
    if severity == "question":
        return f"{quoted(entry['rule'])} is a question for the reviewer, which has no findings to waive"
    if "/" not in entry["subject"] and entry["subject"] != "surface":
        return f"{quoted(entry['subject'])} names nothing: write it as the finding does, as in tools/NAME"
    reason = entry["reason"]
    if len(reason.split()) < FEWEST_WORDS or len(reason) > LONGEST_REASON or _unsafe(reason):
        return f"its reason must say why, in {FEWEST_WORDS} words to {LONGEST_REASON} visible characters"
    return None
