"""The pages that are made of the rules: `python -m tests.design_rules.page` writes them, a test holds them to it.

`docs/design-rules.md` below its mark, and the table in the README of the legacy mirror.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from yazcore.check import check_target
from yazcore.design_rules.rule import Document, Rule
from yazcore.design_rules.rules import RULES
from yazcore.design_rules.table import PLACES
from yazcore.design_rules.waivers import TITLES
from yazcore.judging import surface_before
from yazcore.writing.contract import YAZ

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "design-rules.md"
MIRROR = ROOT / "docs" / "examples" / "legacy-mirror"
MARK = "<!-- made by python -m tests.design_rules.page: change the rules, not what stands below -->\n"

_SEVERITIES = {
    "error": "error: decided from what is declared",
    "suspicion": "suspicion: a waiver answers it",
    "question": "a reviewer's question",
}


def written(head: str) -> str:
    """The page with this head."""
    return head.partition(MARK)[0] + MARK + "\n" + "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield "## The ninety-eight"
    yield ""
    yield "Checks are below; duties name the test that proves that the running system keeps the rule."
    yield ""
    yield "| rule | | checks | duties | question for the reviewer |"
    yield "|---|---|---|---|---|"
    for place in PLACES:
        checks = ", ".join(f"[{one}](#{one.lower()})" for one in place.checks)
        duties = "<br>".join(f"`{one.partition('::')[2]}`" for one in place.duties)
        yield f"| {place.id} | {place.title} | {checks} | {duties} | {place.question} |"
    yield ""
    yield "## Questions, and why they are none for a program"
    yield ""
    yield "| rule | | why |"
    yield "|---|---|---|"
    for rule in RULES:
        if rule.severity == "question":
            yield f"| [{rule.id}](#{rule.id.lower()}) | {rule.title} | {rule.unsure} |"
    yield ""
    yield "## The checks"
    for rule in RULES:
        yield ""
        yield from _rule(rule)


def _rule(rule: Rule) -> Iterator[str]:
    yield f"### {rule.id}"
    yield ""
    yield f"**{rule.title}.** ({_SEVERITIES[rule.severity]})"
    yield ""
    yield rule.reason
    yield ""
    if rule.argument:
        yield f"Why it is an error: {rule.argument}."
        yield ""
    if rule.unmeasured:
        yield f"Not measured: {rule.unmeasured}."
        yield ""
    if rule.unsure:
        yield f"Why no program decides it: {rule.unsure}."
        yield ""
    yield f"What to change: {rule.change}."
    yield ""
    yield "Good:"
    yield ""
    yield from _example(rule.good)
    yield ""
    yield f"Bad, at {', '.join(f'`{one}`' if one else 'the whole' for one in rule.at)}:"
    yield ""
    yield from _example(rule.bad)


_MOST_LINES = 4


def _example(document: Document) -> Iterator[str]:
    """The document as JSON, an entry of a list a line; of many entries the first ones."""
    yield "```json"
    yield "{"
    parts = list(document.items())
    for key, value in parts:
        comma = "," if key != parts[-1][0] else ""
        if isinstance(value, list):
            yield f'  "{key}": ['
            shown = [f"    {json.dumps(one, ensure_ascii=False)}" for one in value[:_MOST_LINES]]
            yield ",\n".join([*shown, *(["    …"] if len(value) > _MOST_LINES else [])])
            yield f"  ]{comma}"
        else:
            yield f'  "{key}": {json.dumps(value, ensure_ascii=False)}{comma}'
    yield "}"
    yield "```"


def mirror_findings() -> dict[str, list[str]]:
    """Where the legacy mirror breaks each rule: pointers, or the file or the whole that is meant."""
    before = surface_before(str(MIRROR / "before.json"), YAZ)
    found: dict[str, list[str]] = {}
    for one in check_target(MIRROR, YAZ, before=before).findings:
        found.setdefault(one.rule, []).append(one.pointer or one.subject)
    return found


def mirror_table() -> str:
    """The table of the mirror's README."""
    titles = {rule.id: rule.title for rule in RULES} | TITLES
    found = mirror_findings()
    places = {name: "<br>".join(f"`{one}`" for one in pointers) for name, pointers in found.items()}
    rows = [f"| {name} | {titles[name]} | {places[name]} |" for name in titles if name in places]
    return "\n".join(["| rule | | broken at |", "|---|---|---|", *rows]) + "\n"


def main() -> None:
    """Write both."""
    PAGE.write_text(written(PAGE.read_text("utf-8")), "utf-8")
    readme = MIRROR / "README.md"
    readme.write_text(readme.read_text("utf-8").partition(MARK)[0] + MARK + "\n" + mirror_table(), "utf-8")


if __name__ == "__main__":
    main()
