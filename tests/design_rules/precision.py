"""How right the rules are, on labelled tools: `python -m tests.design_rules.precision [--half tuned|held] [--misses]`.

Precision is how many of a rule's findings a careful reader agrees with; recall is how many of the reader's it finds.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable

import attrs

from tests.design_rules.corpus import HELD, TUNED
from tests.design_rules.corpus.making import Server
from yazcore.design_rules.documents import read
from yazcore.design_rules.engine import hits
from yazcore.design_rules.rule import Rule
from yazcore.design_rules.rules import RULES
from yazcore.design_rules.view import View

LEAST = 0.8
"""The least precision of a rule whose findings are findings."""

SAME_LABEL = {"G27c": "G27", "G36b": "G36"}
"""Questions that ask more widely for what another rule finds."""

UNLABELLED = frozenset({"G17", "G16", "G80", "G28c", "G35"})
"""Questions that were not labelled: nearly every tool would need a judgement of its users."""


@attrs.frozen(kw_only=True)
class Count:
    """One rule's findings: right, wrong, and missed, each by server and tool."""

    rule: Rule
    right: tuple[str, ...]
    wrong: tuple[str, ...]
    missed: tuple[str, ...]

    @property
    def precision(self) -> float | None:
        """None where the rule never fired."""
        fired = len(self.right) + len(self.wrong)
        return len(self.right) / fired if fired else None

    @property
    def recall(self) -> float | None:
        """None where there was nothing to find."""
        there = len(self.right) + len(self.missed)
        return len(self.right) / there if there else None


def counts(servers: Iterable[Server]) -> list[Count]:
    """What each rule finds on some servers."""
    expected: set[tuple[str, str]] = set()
    found: set[tuple[str, str]] = set()
    for server in servers:
        expected |= {(rule, f"{server.name}:{one.entry['name']}") for one in server.tools for rule in one.rules}
        expected |= {(rule, f"{server.name}:surface") for rule in server.rules}
        for hit in hits(RULES, View(read(server.document))):
            found.add((hit.rule.id, f"{server.name}:{hit.found.subject.removeprefix('tools/')}"))
    expected |= {(wide, name) for wide, label in SAME_LABEL.items() for rule, name in expected if rule == label}
    return [
        Count(
            rule=rule,
            right=_of(rule, found & expected),
            wrong=_of(rule, found - expected),
            missed=_of(rule, expected - found),
        )
        for rule in RULES
        if rule.id not in UNLABELLED
    ]


def _of(rule: Rule, pairs: set[tuple[str, str]]) -> tuple[str, ...]:
    return tuple(sorted(name for rule_id, name in pairs if rule_id == rule.id))


def main() -> None:
    """Print a line a rule."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.design_rules.precision", description="How right the rules are."
    )
    parser.add_argument("--half", choices=["tuned", "held"], help="only one half of the corpus")
    parser.add_argument("--misses", action="store_true", help="name what is wrong and what is missed")
    options = parser.parse_args()
    servers = {"tuned": TUNED, "held": HELD, None: TUNED + HELD}[options.half]
    tools = sum(len(server.tools) for server in servers)
    print(f"{tools} tools of {len(servers)} servers, labelled by hand\n")
    print(f"{'rule':<6}{'severity':<11}{'right':>6}{'wrong':>6}{'missed':>7}  precision  recall")
    for one in counts(servers):
        if one.right or one.wrong or one.missed:
            numbers = f"{len(one.right):>6}{len(one.wrong):>6}{len(one.missed):>7}"
            print(
                f"{one.rule.id:<6}{one.rule.severity:<11}{numbers}  {_shown(one.precision)}      {_shown(one.recall)}"
            )
            if options.misses:
                for what, names in (("wrong", one.wrong), ("missed", one.missed)):
                    if names:
                        print(f"      {what}: {', '.join(names)}")
    fired = {one.rule.id for one in counts(servers) if one.right or one.wrong}
    for rule in RULES:
        if rule.id not in fired and rule.severity != "question":
            print(f"{rule.id:<6}{rule.severity:<11} never found here: {rule.argument or rule.unmeasured}")


def _shown(share: float | None) -> str:
    return "   -" if share is None else f"{share:4.2f}"


if __name__ == "__main__":
    main()
