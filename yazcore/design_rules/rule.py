"""A rule as data with one function, what the function gives, and what comes of it for people and programs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import attrs

from yazcore.design_rules.surface import Entry
from yazcore.manifest.places import Path

if TYPE_CHECKING:
    from yazcore.design_rules.view import View

Severity = Literal["error", "suspicion", "question"]
"""How sure a rule is.

* `error`: what it says can be decided from what is declared.
* `suspicion`: it is right at least four times in five; a waiver answers it.
* `question`: it is right less often, so it is no finding: `yaz check --review` shows it to the reviewer.
"""

Need = Literal["before", "completes", "record"]
"""What some rules hold a surface against: the release before, what its code completes, the reviewer's record."""

Document = Mapping[str, Any]
Check = Callable[["View"], Iterator["Found"]]

ID = re.compile(r"G([1-9][0-9]?)[b-d]?")
"""The form of a rule's id: the seed's number; a letter where one rule of the seed needs more than one check."""


@attrs.frozen
class Found:
    """One place where a rule is broken: whose it is, where, what is wrong; `change` where it is not the rule's own."""

    subject: str
    path: Path
    message: str
    change: str = ""


@attrs.frozen(kw_only=True)
class Rule:
    """One check.

    * `id`: `G50`. `title`: the rule in a sentence. `reason`: why, in our own words. `change`: what to do.
    * `good`, `bad`: two surfaces as documents (`documents.read`), of which the second breaks the rule at the pointers
      in `at`, and the first nowhere. They are its tests, and its part of the documentation.
    * `argument`: of an error, why no finding of it is wrong. `unmeasured`: of a suspicion that never fires on the
      labelled tools, why they say nothing of it. `unsure`: of a question, why a program cannot decide it.
    * `needs`: without what it finds nothing, whatever the surface is.
    """

    id: str
    severity: Severity
    title: str
    reason: str
    change: str
    good: Document = attrs.field(repr=False)
    bad: Document = attrs.field(repr=False)
    at: tuple[str, ...]
    argument: str = ""
    unmeasured: str = ""
    unsure: str = ""
    needs: Need | None = None
    check: Check = attrs.field(repr=False)

    @property
    def number(self) -> int:
        """The seed's rule that it checks."""
        return number_of(self.id)


def number_of(rule_id: str) -> int:
    """The number of the seed's rule in the id of a check: 40 for `G40b`."""
    found = ID.fullmatch(rule_id)
    assert found is not None, rule_id
    return int(found[1])


def rule(
    rule_id: str, severity: Severity, title: str, *, change: str, good: Document, bad: Document, at: Sequence[str],
    argument: str = "", unmeasured: str = "", unsure: str = "", needs: Need | None = None,
) -> Callable[[Check], Rule]:  # fmt: skip
    """Make a rule of a function; the function's docstring is the reason."""

    def made(check: Check) -> Rule:
        return Rule(
            id=rule_id, severity=severity, title=title, reason=" ".join((check.__doc__ or "").split()), change=change,
            good=good, bad=bad, at=tuple(at), argument=argument, unmeasured=unmeasured,
            unsure=unsure, needs=needs, check=check,
        )  # fmt: skip

    return made


def found_in(entry: Entry, path: Path, message: str, change: str = "") -> Found:
    """What is wrong with a tool, a resource or a prompt."""
    return Found(entry.subject, path, message, change)


@attrs.frozen(kw_only=True)
class Finding:
    """One finding (design 9): the rule, how sure it is, whose, where, what is wrong, what to change.

    `pointer` is a JSON pointer into the document the surface was read from; `line` and `column` count from 1, and are
    None where there is no text to point into.
    """

    rule: str
    severity: Literal["error", "suspicion"]
    subject: str
    pointer: str
    message: str
    change: str
    line: int | None = None
    column: int | None = None

    def as_json(self) -> dict[str, Any]:
        """The finding as plain data: the keys that design 9 fixes, and the position."""
        return attrs.asdict(self)


@attrs.frozen(kw_only=True)
class Counts:
    """How many findings of the design rules there are: errors, suspicions, and those that a waiver answers."""

    errors: int = 0
    suspicions: int = 0
    waived: int = 0
