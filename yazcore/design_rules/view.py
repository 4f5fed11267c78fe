"""A surface with what many rules ask of it, worked out once: names split, texts prepared, schemas walked."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

import attrs

from yazcore.design_rules.languages import which_are_english
from yazcore.design_rules.schemas import SchemaView
from yazcore.design_rules.surface import Entry, Surface, Tool
from yazcore.design_rules.words import CHANGING, READING, VERBS, sentences, stem, stems, tokens, words
from yazcore.manifest.places import Path

if TYPE_CHECKING:
    from yazcore.design_rules.record import Record
    from yazcore.design_rules.rule import Need

SHARE_OF_BOILERPLATE = 0.25
"""A sentence that stands in so many of a server's descriptions says nothing about one tool."""

SHARE_OF_PREFIX = 0.6
"""A word that so many of a server's names begin with is its prefix."""

_FEWEST = 3

_PARAMETERS = re.compile(
    r"^[ \t]*(?:args|arguments|param(?:eter)?s|inputs?)[ \t]*:[ \t]*$"
    r".*?(?=^[ \t]*(?:returns?|examples?|notes?|raises)\b|\Z)",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)
_RETURNS = re.compile(r"^[ \t]*returns?[ \t]*:(.*?)(?=^[ \t]*(?:examples?|notes?|raises)\b|\Z)", re.I | re.M | re.S)
_ERROR_RESPONSES = re.compile(r"(?:^|\n)#* ?error (?:responses|codes)\b.*\Z", re.IGNORECASE | re.DOTALL)
_ONLY_OF_SUCCESS = re.compile(r"\b(?:success|succeed|error|fail|ok|result|response|confirmation|json|string|text)\w*")


@attrs.frozen
class ToolView:
    """One tool among the others of its surface."""

    tool: Tool
    _prefix: str
    _boilerplate: Collection[str]

    @cached_property
    def input(self) -> SchemaView:
        """Its arguments' schema, walked."""
        return SchemaView(self.tool.input_schema)

    @cached_property
    def output(self) -> SchemaView | None:
        """Its result's schema, walked; None where it has none."""
        return None if self.tool.output_schema is None else SchemaView(self.tool.output_schema)

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        """The words of its name, without the server's prefix."""
        found = tokens(self.tool.name)
        return found[1:] if len(found) > 1 and found[0] in (self._prefix, "api") else found

    @cached_property
    def verb(self) -> str | None:
        """The verb of its name: its first word, else its last; None where neither is one that is known."""
        if not self.tokens:
            return None
        return next((one for one in (self.tokens[0], self.tokens[-1]) if one in VERBS), None)

    @cached_property
    def objects(self) -> tuple[str, ...]:
        """The words of its name that are not the verb."""
        if self.verb is None:
            return self.tokens
        return self.tokens[1:] if self.tokens[0] == self.verb else self.tokens[:-1]

    @property
    def reads(self) -> bool | None:
        """Whether it only reads, as it says itself, else as its verb sounds; None where neither tells."""
        if self.tool.reads is not None:
            return self.tool.reads
        if self.verb in READING:
            return True
        return False if self.verb in CHANGING else None

    @cached_property
    def sentences(self) -> tuple[str, ...]:
        """What its description says about itself: without blocks of parameters and what the whole server repeats."""
        return tuple(one for one in sentences(prepared(self.tool.description)) if one not in self._boilerplate)

    @cached_property
    def text(self) -> str:
        """Its sentences as one text."""
        return " ".join(self.sentences)

    @cached_property
    def stems(self) -> frozenset[str]:
        """The stems of what its text says."""
        return frozenset(stems(self.text))

    @cached_property
    def parameter_stems(self) -> frozenset[str]:
        """The stems of the names of its arguments."""
        return frozenset(stem(word) for one in self.input.arguments for word in tokens(one.name))


def prepared(description: str) -> str:
    """A description without what says nothing about the tool: blocks of parameters, results that are only success."""
    text = _PARAMETERS.sub("\n", description[:20_000])
    text = _ERROR_RESPONSES.sub("\n", text)
    return _RETURNS.sub(lambda found: "\n" if _says_only_success(found[1]) else found[0], text)


def _says_only_success(returned: str) -> bool:
    said = words(returned)
    return len(said) <= 12 and _ONLY_OF_SUCCESS.search(returned.lower()) is not None


@attrs.frozen
class View:
    """A surface and what it is held against: the one before (the last release), the reviewer's record."""

    surface: Surface
    before: Surface | None = None
    record: Record | None = None

    def has(self, need: Need | None) -> bool:
        """Whether there is what a rule needs to find anything."""
        if need is None:
            return True
        return self.surface.was_asked if need == "completes" else getattr(self, need) is not None

    @cached_property
    def tools(self) -> tuple[ToolView, ...]:
        """The tools, in the surface's order."""
        common = _boilerplate([tool.description for tool in self.surface.tools])
        return tuple(ToolView(tool, self.prefix, common) for tool in self.surface.tools)

    @cached_property
    def in_english(self) -> tuple[ToolView, ...]:
        """The tools whose texts are in English: those whose wording can be judged."""
        return tuple(one for one in self.tools if self.is_in_english(one.tool))

    def is_in_english(self, entry: Entry) -> bool:
        """Whether the text of an entry of the surface is in English."""
        return entry.path not in self.foreign

    @cached_property
    def foreign(self) -> Mapping[Path, Entry]:
        """The entries whose texts are in another language, by place."""
        entries = [entry for entry in self.surface.entries if entry.description.strip()]
        english = which_are_english(entry.description for entry in entries)
        return {entry.path: entry for entry, is_so in zip(entries, english, strict=True) if not is_so}

    @cached_property
    def prefix(self) -> str:
        """The word that most names begin with, if it is no verb: the server's own."""
        names = [tokens(tool.name) for tool in self.surface.tools]
        first = Counter(found[0] for found in names if len(found) > 1)
        for word, count in first.most_common(1):
            if count >= _FEWEST and count >= SHARE_OF_PREFIX * len(names) and word not in VERBS:
                return word
        return ""

    @cached_property
    def by_name(self) -> dict[str, ToolView]:
        """The tools by name; of two with one name the last."""
        return {one.tool.name: one for one in self.tools}

    @cached_property
    def common_stems(self) -> frozenset[str]:
        """What so many descriptions say that it tells no tool from another."""
        counts = Counter(word for one in self.tools for word in one.stems)
        fewest = max(_FEWEST, 0.5 * len(self.tools))
        return frozenset(word for word, count in counts.items() if count >= fewest)


def _boilerplate(descriptions: Collection[str]) -> frozenset[str]:
    counts = Counter(one for text in descriptions for one in set(sentences(prepared(text))))
    fewest = max(_FEWEST, SHARE_OF_BOILERPLATE * len(descriptions))
    return frozenset(one for one, count in counts.items() if count >= fewest)
