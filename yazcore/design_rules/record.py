"""The reviewer's record: nine decisions and four questions, answered in words, beside the manifest (G95, G96).

    # review.toml
    [decisions]
    task-cut = "One tool finds, one cites: between them a person picks the work."

    [questions]
    who-starts = "The agent, at a writer's request; nothing runs by itself."

It carries judgements, never facts about the plugin: those stand in the manifest, and a record that repeats them would
only go stale.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from yazcore.design_rules.waivers import LONGEST_REASON, toml_of
from yazcore.manifest.words import did_you_mean, is_harmless, quoted

MOST_BYTES = 64 * 1024
"""The largest such file, in bytes."""

FEWEST_WORDS = 3
"""The fewest words of an answer."""

DECISIONS: Mapping[str, str] = {
    "task-cut": "Is each tool cut by one task of its users, and not by what a backend has to offer?",
    "stable-uris": "Does each URI name a thing of the domain, wherever it is kept today?",
    "texts-and-schemas": "Would two people choose the same tool by its text, and does its schema say the same?",
    "templates": "Does each template vary only in what its readers know how to fill in?",
    "tool-or-resource": "Is what the model starts a tool, and what the host picks as context a resource?",
    "visible-tools": "Is each tool needed, and are they few enough to be told apart?",
    "answer-size": "Does each answer fit what its reader can use, with a way to the rest?",
    "backend-hidden": "Are ids, accounts and errors of what lies behind it translated, and never passed on?",
    "no-pass-through": "Is there no parameter through which a caller reaches what no tool was made for?",
}
"""The nine decisions (G95), by their key in the file."""

QUESTIONS: Mapping[str, str] = {
    "who-starts": "Who starts it: the model, the host, a person?",
    "greatest-effect": "What is the greatest effect of one call, and the greatest amount of data?",
    "stable-meaning": "Which meaning stays, whatever changes behind it?",
    "free-to-change": "Which details of the backend may change without breaking anybody?",
}
"""The four questions (G96), by their key in the file."""

SECTIONS: Mapping[str, Mapping[str, str]] = {"decisions": DECISIONS, "questions": QUESTIONS}


@attrs.frozen(kw_only=True)
class Record:
    """What a reviewer wrote: answers by key, and what is wrong with the file. `is_there`: whether there is a file."""

    answers: Mapping[str, str] = attrs.field(factory=dict)
    faults: tuple[str, ...] = ()
    is_there: bool = True

    def open(self, section: str) -> tuple[str, ...]:
        """The keys of a section that have no answer."""
        return tuple(key for key in SECTIONS[section] if key not in self.answers)


MISSING = Record(is_there=False)
"""There is no file."""


def read_record(data: bytes) -> Record:
    """The record in a file's bytes. Never raises: what is wrong is a fault, and answers nothing."""
    document = toml_of(data, MOST_BYTES)
    return Record(faults=(document,)) if isinstance(document, str) else record_of(document)


def record_of(document: Mapping[str, Any]) -> Record:
    """The record in a document."""
    answers: dict[str, str] = {}
    faults: list[str] = []
    for section, entries in document.items():
        known = SECTIONS.get(section)
        if known is None or not isinstance(entries, Mapping):
            faults.append(f"{quoted(section)} is none of its parts; {did_you_mean(section, SECTIONS)}")
            continue
        for key, answer in entries.items():
            if key not in known:
                faults.append(f"{section} has no {quoted(key)}; {did_you_mean(key, known)}")
            elif (fault := _fault_of(answer)) is not None:
                faults.append(f"{key}: {fault}")
            else:
                answers[key] = answer
    return Record(answers=answers, faults=tuple(faults))


def _fault_of(answer: Any) -> str | None:
    if not isinstance(answer, str):
        return "an answer is a text"
    if answer and not len(answer.split()) >= FEWEST_WORDS:
        return f"an answer has at least {FEWEST_WORDS} words"
    if not answer.strip():
        return "it is not answered"
    if len(answer) > LONGEST_REASON or not is_harmless(answer):
        return f"an answer has at most {LONGEST_REASON} characters, all of them visible"
    return None
