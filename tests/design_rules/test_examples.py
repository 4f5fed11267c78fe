"""Each rule against its own two examples, which are its page in the documentation, too."""

from __future__ import annotations

import pytest

from yazcore.design_rules.engine import hits
from yazcore.design_rules.examples import view_of
from yazcore.design_rules.rule import Document, Rule
from yazcore.design_rules.rules import RULES
from yazcore.manifest.places import pointer


def found(rule: Rule, document: Document) -> list[str]:
    return [pointer(hit.found.path) for hit in hits([rule], view_of(document))]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_the_good_example_keeps_the_rule(rule: Rule) -> None:
    assert found(rule, rule.good) == []


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_the_bad_example_breaks_it_exactly_where_the_page_says(rule: Rule) -> None:
    assert found(rule, rule.bad) == list(rule.at)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_the_good_example_breaks_no_rule_that_is_decidable(rule: Rule) -> None:
    errors = [one for one in RULES if one.severity == "error"]
    assert [(hit.rule.id, hit.found.message) for hit in hits(errors, view_of(rule.good))] == []


def test_ids_are_given_once() -> None:
    ids = [rule.id for rule in RULES]
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_a_rule_says_what_why_and_what_to_do(rule: Rule) -> None:
    assert rule.title[0].isupper()
    assert not rule.title.endswith(".")
    assert rule.reason.endswith(".")
    assert rule.change
    assert not rule.change.endswith(".")
    assert bool(rule.unsure) is (rule.severity == "question")
    assert not (rule.argument or rule.unmeasured or rule.unsure).endswith(".")


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.severity == "error"], ids=lambda rule: rule.id)
def test_an_error_has_an_argument_that_can_be_checked(rule: Rule) -> None:
    assert len(rule.argument.split()) >= 8


def test_nothing_else_claims_to_be_decided() -> None:
    assert [rule.id for rule in RULES if rule.argument and rule.severity != "error"] == []
