"""What a reviewer is shown."""

from __future__ import annotations

from yazcore.design_rules.engine import chosen
from yazcore.design_rules.examples import plugin, tool, view_of
from yazcore.design_rules.record import DECISIONS, QUESTIONS, SECTIONS
from yazcore.design_rules.review import _KNOWS, _NUMBERS, review
from yazcore.design_rules.rule import Document
from yazcore.design_rules.rules import RULES

WRITES = {"posture": "write", "scope": "global", "permission": "desk:write"}


def items(document: Document) -> dict[str, object]:
    return {one.key: one for one in review(view_of(document), chosen(RULES))}


def test_every_decision_and_question_is_there_with_what_is_known() -> None:
    assert list(items(plugin())) == [*DECISIONS, *QUESTIONS]
    assert set(_KNOWS) == set(_NUMBERS) == {key for section in SECTIONS.values() for key in section}


def test_an_answer_is_shown_and_what_has_none_is_open() -> None:
    record = {"decisions": {"task-cut": "Each tool is one task."}}
    found = {one.key: one.answer for one in review(view_of(plugin(record=record)), chosen(RULES))}
    assert found["task-cut"] == "Each tool is one task."
    assert found["stable-uris"] is None


def test_the_program_says_what_it_knows_and_what_rules_found() -> None:
    document = plugin(tool("list_tickets", "Lists the tickets.", {"limit": {"type": "integer"}}, **WRITES))
    (size, effect, cut) = (
        next(one for one in review(view_of(document), chosen(RULES)) if one.key == key)
        for key in ("visible-tools", "greatest-effect", "task-cut")
    )
    assert size.knows[0].startswith("1 tools cost about ")
    assert effect.knows == ("list_tickets: nothing said of its effect; nobody is asked",)
    assert cut.knows == ('it may change something with "list_tickets"',)


def test_questions_of_rules_are_shown_though_they_are_no_findings() -> None:
    document = plugin(tool("ticket_thing", "Closes a ticket.", **WRITES))
    (cut,) = (one for one in review(view_of(document), chosen(RULES)) if one.key == "task-cut")
    assert any("[G17]" in line for line in cut.found)


def test_long_lists_are_shortened() -> None:
    document = plugin(*(tool(f"thing_{number}", "Closes a ticket.", **WRITES) for number in range(30)))
    (cut,) = (one for one in review(view_of(document), chosen(RULES)) if one.key == "task-cut")
    assert cut.found[-1] == "and 18 more"
