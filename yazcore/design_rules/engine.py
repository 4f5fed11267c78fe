"""Running the rules over a surface: findings, in document order, as many as a person can read."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator
from itertools import islice

import attrs

from yazcore.design_rules.rule import Finding, Found, Rule
from yazcore.design_rules.view import View
from yazcore.design_rules.waivers import CHANGES, TITLES, Waivers
from yazcore.manifest.distribution_rules import WAIVERS_FILE
from yazcore.manifest.places import Offsets, line_and_column, pointer
from yazcore.manifest.words import did_you_mean, escaped, quoted
from yazcore.violations import YazError

MOST_OF_ONE_RULE = 100
"""The most findings of one rule; the last of more says how many there are."""

LONGEST_MESSAGE = 600
"""The longest message, in characters."""

MOST_POSITIONED = 4 * 1024 * 1024
"""The longest text in which places are looked for, in characters."""


@attrs.frozen(kw_only=True)
class Outcome:
    """What the rules found, in document order: `findings`, and what a waiver answers, with the reason that it gives."""

    findings: tuple[Finding, ...] = ()
    waived: tuple[tuple[Finding, str], ...] = ()


@attrs.frozen
class Hit:
    """What a rule found, before it is a finding or a question."""

    rule: Rule
    found: Found


@attrs.frozen(kw_only=True)
class Selection:
    """The rules that run, and which of the two about waivers do."""

    rules: tuple[Rule, ...]
    own: frozenset[str] = frozenset(TITLES)


def chosen(rules: Iterable[Rule], select: Collection[str] = (), ignore: Collection[str] = ()) -> Selection:
    """The rules that run: those selected, all where none is, but for those ignored.

    A rule is named by its id, or by the seed's number for all of its checks: `G40` is `G40` and `G40b`.
    Raises `YazError` `rule-unknown`.
    """
    rules = tuple(rules)
    known = {one.id for one in rules} | {f"G{one.number}" for one in rules} | set(TITLES)
    for name in (*select, *ignore):
        if name not in known:
            raise YazError("rule-unknown", f"there is no design rule {quoted(name)}", did_you_mean(name, sorted(known)))

    def runs(*names: str) -> bool:
        return (not select or any(name in select for name in names)) and not any(name in ignore for name in names)

    return Selection(
        rules=tuple(one for one in rules if runs(one.id, f"G{one.number}")), own=frozenset(filter(runs, TITLES))
    )


def hits(rules: Iterable[Rule], view: View) -> Iterator[Hit]:
    """Everything the rules find, rule by rule. Never raises for anything a surface holds."""
    for one in rules:
        found = list(islice(one.check(view), MOST_OF_ONE_RULE + 1))
        yield from (Hit(one, each) for each in found[:MOST_OF_ONE_RULE])
        if len(found) > MOST_OF_ONE_RULE:
            message = f"this is so in more than {MOST_OF_ONE_RULE} places, and no more of them are named"
            yield Hit(one, Found("surface", (), message))


def judge(view: View, selection: Selection, *, waivers: Waivers | None = None, text: str | None = None) -> Outcome:
    """Run the rules over a surface; `text` is the document's, in which line and column count.

    Questions are left out: they are the reviewer's (`review`).
    """
    running = [one for one in selection.rules if one.severity != "question"]
    found = sorted(hits(running, view), key=lambda hit: (hit.found.subject, hit.rule.number, hit.rule.id))
    waivers = waivers if waivers is not None else Waivers()
    answered = [(hit, waivers.answering(hit.rule.id, hit.found.subject)) for hit in found]
    place = _Places(text if found else None)
    ran = {one.id for one in running if view.has(one.needs)}
    own = [
        _own_finding(rule_id, message)
        for rule_id, message in waivers.findings({one for _, one in answered if one}, ran)
        if rule_id in selection.own
    ]
    return Outcome(
        findings=(*place.findings([hit for hit, waiver in answered if waiver is None]), *own),
        waived=tuple(
            (one, waiver.reason) for hit, waiver in answered if waiver is not None for one in place.findings([hit])
        ),
    )


class _Places:
    """Where findings stand in a text, and so in which order."""

    def __init__(self, text: str | None) -> None:
        self._text = text if text is not None and len(text) <= MOST_POSITIONED else None
        self._offsets = Offsets(self._text) if self._text is not None else None

    def findings(self, found: Iterable[Hit]) -> Iterator[Finding]:
        """The findings, in the order of their places; those without one come last, those at one place as given."""
        placed = [(self._offset(hit), hit) for hit in found]
        for offset, hit in sorted(placed, key=lambda pair: math.inf if pair[0] is None else pair[0]):
            yield self._finding(hit, offset)

    def _offset(self, hit: Hit) -> int | None:
        return self._offsets.of(hit.found.path) if self._offsets is not None and hit.found.path else None

    def _finding(self, hit: Hit, offset: int | None) -> Finding:
        line, column = (None, None)
        if self._text is not None and offset is not None:
            line, column = line_and_column(self._text, offset)
        return Finding(
            rule=hit.rule.id,
            severity="error" if hit.rule.severity == "error" else "suspicion",
            subject=escaped(hit.found.subject[:_LONGEST_SUBJECT]),
            pointer=pointer(hit.found.path),
            message=escaped(hit.found.message[:LONGEST_MESSAGE]),
            change=hit.found.change or hit.rule.change,
            line=line,
            column=column,
        )


_LONGEST_SUBJECT = 300


def _own_finding(rule_id: str, message: str) -> Finding:
    return Finding(
        rule=rule_id, severity="error", subject=WAIVERS_FILE, pointer="", message=message, change=CHANGES[rule_id]
    )
