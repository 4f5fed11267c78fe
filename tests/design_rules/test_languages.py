"""Which texts are taken for English, and what is said of those that are not."""

from __future__ import annotations

from typing import Any

import pytest

from tests.design_rules.corpus import HELD, TUNED
from yazcore.design_rules.engine import chosen, judge
from yazcore.design_rules.examples import tool, view_of
from yazcore.design_rules.languages import is_english, which_are_english
from yazcore.design_rules.rules import RULES

GERMAN = "Löscht ein Ticket endgültig mit allen Anhängen; nur nach Freigabe durch eine Person."
CHINESE = "永久删除一张工单及其全部附件，删除之后无法恢复，因此只有在有权限的人明确批准之后才可以执行这个操作。"


def found(document: dict[str, Any]) -> list[tuple[str, str]]:
    return [(one.rule, one.message) for one in judge(view_of(document), chosen(RULES)).findings]


@pytest.mark.parametrize("text", [GERMAN, CHINESE])
def test_wording_is_not_judged_in_another_language_and_that_is_said_once(text: str) -> None:
    names = ("delete_ticket", "delete_ticket_for_good")
    whose = '"tools/delete_ticket", "tools/delete_ticket_for_good"'
    assert found({"tools": [tool(name, text) for name in names]}) == [
        ("G25d", f"the wording of 2 texts is not judged, for they are not English: {whose}")
    ]


def test_beside_texts_of_another_language_english_ones_are_judged() -> None:
    document = {"tools": [tool("delete_ticket", GERMAN), tool("send_mail", "Sends the mail to the customer.")]}
    assert {rule for rule, _ in found(document)} >= {"G25d", "G37"}


@pytest.mark.parametrize(
    "text",
    [
        GERMAN, CHINESE, "Elimina un ticket para siempre; no se puede deshacer.", "Удаляет заявку.",
        "Supprime le ticket pour toujours; une personne approuve avant.",
        "Usuwa zgłoszenie na zawsze, nie do cofnięcia.",
        "Tiketti poistuu lopullisesti liitteineen; ihminen hyväksyy sen ensin, koska paluuta ei ole eikä kopioita jää",
    ],
)  # fmt: skip
def test_texts_of_other_languages_are_told(text: str) -> None:
    assert is_english(text) is False


def test_no_english_text_of_the_corpus_is_taken_for_another_language() -> None:
    texts = [one.entry["description"] for server in (*TUNED, *HELD) for one in server.tools]
    assert [text for text in texts if is_english(text) is False] == []


def test_a_text_too_short_to_tell_is_in_the_language_of_the_others() -> None:
    assert is_english("Löscht Tickets") is None
    assert which_are_english(["Löscht Tickets", GERMAN]) == [False, False]
    assert which_are_english(["Closes tickets", "Reads the log of a day."]) == [True, True]
    assert which_are_english(["Closes tickets"]) == [True]
    assert which_are_english([]) == []
