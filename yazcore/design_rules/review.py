"""What a reviewer has to answer about a surface, with what the program knows of it (G95, G96).

The program never answers: it counts, names, and shows what rules found that are right too seldom to be findings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from yazcore.design_rules.engine import Selection, hits
from yazcore.design_rules.record import DECISIONS, QUESTIONS
from yazcore.design_rules.rules.whole import tokens_of
from yazcore.design_rules.table import PLACES
from yazcore.design_rules.view import View
from yazcore.manifest.words import escaped, listed

MOST_SHOWN = 12
"""The most things that are shown for one question."""

_NUMBERS: Mapping[str, tuple[int, ...]] = {
    "task-cut": (2, 7, 8, 12, 15, 16, 17, 19, 21, 23),
    "stable-uris": (53, 54, 60, 61, 62, 63, 64, 65),
    "texts-and-schemas": (25, 27, 28, 33, 35, 36, 37, 38, 40, 45),
    "templates": (55, 57, 72),
    "tool-or-resource": (9, 10, 11, 13, 14),
    "visible-tools": (1, 24, 97),
    "answer-size": (77, 78, 79, 80, 81, 82, 84),
    "backend-hidden": (88, 89, 91, 92),
    "no-pass-through": (3, 20, 90, 98),
    "who-starts": (9,),
    "greatest-effect": (6, 37),
    "stable-meaning": (26, 62),
    "free-to-change": (54, 61),
}
"""Which of the seed's rules a decision is about."""


@attrs.frozen(kw_only=True)
class Item:
    """One decision or question.

    * `asks`: its words. `answer`: the reviewer's, None where it is open.
    * `knows`: what the program knows; `found`: what rules found; `also`: what else to ask.
    """

    key: str
    asks: str
    answer: str | None
    knows: tuple[str, ...]
    found: tuple[str, ...]
    also: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """The item as plain data."""
        return attrs.asdict(self)


def review(view: View, selection: Selection) -> tuple[Item, ...]:
    """Every decision and question, in their order."""
    found: dict[int, list[str]] = {}
    for hit in hits(selection.rules, view):
        if hit.rule.number not in (95, 96):
            line = f"{hit.found.subject} [{hit.rule.id}] {hit.found.message}"
            found.setdefault(hit.rule.number, []).append(escaped(line))
    answers = view.record.answers if view.record is not None else {}
    return tuple(
        Item(
            key=key,
            asks=asks,
            answer=answers.get(key),
            knows=tuple(map(escaped, _KNOWS[key](view))),
            found=_shortened([line for number in _NUMBERS[key] for line in found.get(number, ())]),
            also=tuple(PLACES[number - 1].question for number in _NUMBERS[key] if PLACES[number - 1].question),
        )
        for key, asks in {**DECISIONS, **QUESTIONS}.items()
    )


def _shortened(lines: Sequence[str]) -> tuple[str, ...]:
    if len(lines) <= MOST_SHOWN:
        return tuple(lines)
    return (*lines[:MOST_SHOWN], f"and {len(lines) - MOST_SHOWN} more")


# -- what the program knows -------------------------------------------------------------------------------------------


def _tools(view: View) -> Iterator[str]:
    reads = [one.name for one in view.surface.tools if one.reads]
    others = [one.name for one in view.surface.tools if not one.reads]
    if reads:
        yield f"it only reads with {listed(reads, MOST_SHOWN)}"
    if others:
        yield f"it may change something with {listed(others, MOST_SHOWN)}"


def _addresses(view: View) -> Iterator[str]:
    if view.surface.resources:
        yield f"its addresses are {listed((one.name for one in view.surface.resources), MOST_SHOWN)}"
    else:
        yield "it has no resources"


def _templates(view: View) -> Iterator[str]:
    for one in view.surface.resources:
        if one.is_template:
            notes = "; ".join(f"{note.name}: {note.text or listed(note.values, 5)}" for note in one.variables)
            yield f"{one.name}: {notes or 'nothing is noted of its variables'}"


def _cost(view: View) -> Iterator[str]:
    costs = sorted(((tokens_of(one), one.name) for one in view.surface.tools), reverse=True)
    total = sum(cost for cost, _ in costs)
    dearest = ", ".join(f"{name} {cost}" for cost, name in costs[:3])
    yield f"{len(costs)} tools cost about {total} tokens in every conversation" + (f" ({dearest})" if costs else "")


def _effects(view: View) -> Iterator[str]:
    for one in view.surface.tools:
        if one.reads:
            continue
        words = [name for name, is_so in one.effect.items() if is_so]
        approval = "a person is asked" if one.approval == "ask" else "nobody is asked"
        yield f"{one.name}: {', '.join(words) or 'nothing said of its effect'}; {approval}"


def _asked(view: View) -> Iterator[str]:
    kinds = [f"{one.kind}{' (can change)' if one.changes else ''}" for one in view.surface.asks]
    if view.surface.kind == "plugin":
        yield f"it asks for {', '.join(kinds)}" if kinds else "it asks for no capability"


def _nothing(view: View) -> Iterator[str]:
    return iter(())


_KNOWS: Mapping[str, Callable[[View], Iterator[str]]] = {
    "task-cut": _tools,
    "stable-uris": _addresses,
    "texts-and-schemas": _nothing,
    "templates": _templates,
    "tool-or-resource": _addresses,
    "visible-tools": _cost,
    "answer-size": _nothing,
    "backend-hidden": _asked,
    "no-pass-through": _asked,
    "who-starts": _tools,
    "greatest-effect": _effects,
    "stable-meaning": _addresses,
    "free-to-change": _asked,
}
