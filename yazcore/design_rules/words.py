"""Words of names and descriptions: how they are split, which verbs read and which change something, what is generic.

English, in lower case. The lists are judgements, not grammar; what they make of real tools is measured
(`python -m tests.design_rules.precision`).
"""

from __future__ import annotations

import re
from functools import lru_cache

LONGEST_TEXT = 6_000
"""As much of a text is judged, in characters."""

LONGEST_NAME = 200
"""As much of a name is judged, in characters."""

def word_set(text: str) -> frozenset[str]:
    """The words of a text as a set: how lists of words are written here."""
    return frozenset(text.split())


def alternatives(text: str) -> str:
    """A pattern for any of the phrases of a text, which `|` separates; a `*` stands for the rest of a word."""
    phrases = (" ".join(one.split()) for one in text.split("|"))
    return "(?:" + "|".join(re.escape(one).replace(r"\*", r"\w*").replace(r"\ ", r"\s+") for one in phrases) + ")"


def phrases(text: str) -> re.Pattern[str]:
    """What finds any of the phrases of a text (`alternatives`), as whole words, in any case."""
    return re.compile(rf"\b{alternatives(text)}\b", re.IGNORECASE)


READING = word_set(
    """
    analyze analyse browse calculate check compare compute count describe diff discover download estimate evaluate
    examine explain explore fetch filter find get grep head help inspect list look lookup measure monitor peek poll
    predict preview profile query read recall resolve retrieve scan search show stat status summarize summarise tail
    test trace validate verify view watch
    """
)
"""Verbs that leave everything as it is."""

CHANGING = word_set(
    """
    abort accept acknowledge activate add allow append apply approve archive assign attach ban block book bulk
    cancel change charge cite clean clear clone close comment commit configure convert copy create deactivate
    decline delete deploy destroy detach disable dismiss drain drop edit enable enqueue erase exec execute export
    extend fill fork generate grant hide import insert install invite invoke kick kill label launch link load lock
    log make mark merge migrate modify move mute notify open order overwrite patch pause pay pin post provision
    publish purge push put react reassign reboot rebuild record refund register reject release remove rename reopen
    replace reply report request reset resize restart restore resume retry revert revoke rollback rotate run save
    scale schedule send set share snooze split star start stop store submit subscribe suspend sync tag terminate
    toggle transfer transition trigger truncate unarchive unassign unblock uninstall unlink unlock unpin unstar
    unsubscribe update upgrade upload upsert wipe write
    """
)
"""Verbs that change something."""

STRONG = word_set(
    """
    ban charge delete deploy destroy drop erase exec kill merge pay publish purge push reboot refund remove reset
    restart revoke send terminate transfer truncate uninstall upload wipe
    """
)
"""Verbs whose effect is lost, leaves the system, or meets other people (G37)."""

GENERIC = word_set(
    """
    action call do exec execute handle invoke manage op operate perform process request run
    """
)
"""Verbs that name no task (G2)."""

GENERIC_OBJECTS = word_set(
    """
    action anything api backend call cmd code command commands data endpoint function js javascript method op
    operation powershell program python query raw request rpc script shell sql statement task terminal tool
    """
)
"""Objects that name no task either: what `run` and `execute` take in a mirror of a backend."""

TRYING = frozenset({"draft", "prepare", "compose", "plan", "simulate"})
"""Verbs of which only the text tells whether anything happens (G37)."""

VERBS = READING | CHANGING | GENERIC | TRYING

STOP_WORDS = word_set(
    """
    a an and any are as at be been by can do does each every for from given has have if in into is it its may new of
    on one only or other out over s some specific specified such t than that the their them then these this those to
    tool use used user uses using via was when where which will with within you your
    """
)
"""Words that say nothing by themselves."""

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_SEPARATOR = re.compile(r"[^A-Za-z0-9]+")
_WORD = re.compile(r"[a-z0-9]+(?:'[a-z]+)?")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"'(`*\d])|\n\s*\n|\n(?=\s*[-*•] )")


@lru_cache(maxsize=20_000)
def tokens(name: str) -> tuple[str, ...]:
    """The words of a name, in lower case: `getUser_byId` is get, user, by, id."""
    parts = _SEPARATOR.split(_CAMEL.sub(" ", name[:LONGEST_NAME]))
    return tuple(part.lower() for part in parts if part)


@lru_cache(maxsize=20_000)
def folded(name: str) -> str:
    """A name as a client that cleans names may see it: without case and without `-`, `_` and `.` (mcp 38)."""
    return re.sub(r"[-_.]", "", name).lower()


def words(text: str) -> list[str]:
    """The words of a text, in lower case; a name in it counts as its words."""
    return _WORD.findall(_CAMEL.sub(" ", text[:LONGEST_TEXT]).replace("_", " ").lower())


def sentences(text: str) -> list[str]:
    """The sentences of a text, bullets and paragraphs apart, without the white space around them."""
    return [one for part in _SENTENCE.split(text[:LONGEST_TEXT]) if (one := " ".join(part.split()))]


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """A word without the endings that English puts on it: `searches`, `searching` and `searched` are `search`."""
    word = word.removesuffix("'s")
    for ending in ("ations", "ation", "ings", "ing", "ied", "ies", "ed", "es", "s", "er", "or"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "sl":
        word = word[:-1]
    if len(word) > 3 and word[-1] in "ey":
        word = word[:-1]
    return word[:-1] if len(word) > 4 and word.endswith("i") else word


def stems(text: str) -> set[str]:
    """The stems of a text's words that say something."""
    return {stem(word) for word in words(text) if word not in STOP_WORDS}


def singular(word: str) -> str:
    """A noun in the singular, as far as its ending shows."""
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    if word.endswith(("ches", "shes", "sses", "xes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


def is_plural(word: str) -> bool:
    """Whether a noun looks like one of many."""
    return len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is", "ics", "ous"))
