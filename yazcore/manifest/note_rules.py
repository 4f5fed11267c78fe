"""The rules for what is said of parameters, variables and arguments: names, notes, values (design 4; S-38, G57)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from yazcore.contract import Contract
from yazcore.declarations import ToolDeclaration
from yazcore.manifest.model import Manifest
from yazcore.manifest.places import Fault, Path
from yazcore.manifest.words import did_you_mean, is_harmless, is_printable, quoted

ARGUMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
"""The form of the name of a prompt's argument."""

LONGEST_NOTE = 1000
"""The longest note, in characters."""

LONGEST_VALUE = 200
"""The longest value or shape that is named for a parameter or a variable, in characters."""


def properties_of(tool: ToolDeclaration) -> dict[str, Any]:
    """The properties of a tool's arguments; none where its schema has none that are well formed."""
    properties = tool.input_schema.get("properties")
    return properties if isinstance(properties, dict) else {}


def tool_params(manifest: Manifest, contract: Contract) -> Iterator[Fault]:
    """A note on a parameter is about a property of the input schema, once each, and allows some value."""
    for index, tool in enumerate(manifest.provides.tools):
        path = ("provides", "tools", index, "params")
        known = properties_of(tool)
        for number, param in enumerate(tool.params):
            if param.name not in known:
                yield Fault(
                    "tool-param-unknown", f"{quoted(param.name)} is not a property of the input schema",
                    did_you_mean(param.name, known, "its properties are"), (*path, number, "name"),
                )  # fmt: skip
            if param.values == ():
                yield Fault(
                    "tool-param-values", f"no value is allowed for {quoted(param.name)}",
                    "name the values, or leave the list out", (*path, number, "values"),
                )  # fmt: skip
        yield from repeated_names(tool.params, "params", path)


def prompt_arguments(manifest: Manifest, contract: Contract) -> Iterator[Fault]:
    """The arguments of a prompt have different names."""
    for index, prompt in enumerate(manifest.provides.prompts):
        path = ("provides", "prompts", index, "arguments")
        yield from repeated_names(prompt.arguments, "arguments", path)
        for number, argument in enumerate(prompt.arguments):
            if not ARGUMENT.fullmatch(argument.name):
                yield Fault(
                    "prompt-argument-invalid", f"{quoted(argument.name)} is not a name of an argument",
                    "use letters, digits, - and _, at most 64 characters", (*path, number, "name"),
                )  # fmt: skip


def repeated_names(entries: Iterable[Any], key: str, path: Path) -> Iterator[Fault]:
    """A fault for each entry with the name of an earlier one."""
    seen: dict[str, int] = {}
    for index, entry in enumerate(entries):
        if (first := seen.setdefault(entry.name, index)) != index:
            yield duplicate(key, entry.name, (first,), (*path, index, "name"))


def notes(manifest: Manifest, contract: Contract) -> Iterator[Fault]:
    """Notes say something, and hold no character that nobody can see."""
    for path, noted in _noted(manifest):
        note = noted.note
        if note is not None and (not note.strip() or len(note) > LONGEST_NOTE or not is_harmless(note)):
            yield Fault(
                "note-invalid", "the note is empty, too long or holds control characters",
                f"write a sentence of at most {LONGEST_NOTE} visible characters", (*path, "note"),
            )  # fmt: skip


def values(manifest: Manifest, contract: Contract) -> Iterator[Fault]:
    """Values and shapes, which agents read as they stand, fit on a line and hold no character that nobody can see."""
    for path, noted in _noted(manifest):
        allowed = getattr(noted, "values", None) or ()
        named: list[tuple[Path, str]] = [((*path, "values", number), value) for number, value in enumerate(allowed)]
        if (shape := getattr(noted, "shape", None)) is not None:
            named.append(((*path, "shape"), shape))
        for place, text in named:
            if len(text) > LONGEST_VALUE or not is_printable(text):
                yield Fault(
                    "value-invalid", f"{quoted(text)} is too long or holds control characters",
                    f"use at most {LONGEST_VALUE} visible characters", place,
                )  # fmt: skip


def _noted(manifest: Manifest) -> Iterator[tuple[Path, Any]]:
    """(path, entry) of each parameter, variable and argument that a note is about."""
    for key, part in (("tools", "params"), ("resources", "variables"), ("prompts", "arguments")):
        for index, entry in enumerate(manifest.provides.of(key)):
            for number, noted in enumerate(getattr(entry, part)):
                yield ("provides", key, index, part, number), noted


def duplicate(key: str, name: str, first: Path, place: Path) -> Fault:
    """An entry with the name of an earlier one."""
    return Fault(
        "name-duplicate",
        f"entry {int(first[-1]) + 1} of {quoted(key)} has the name {quoted(name)} already; case, - and _ do not count",
        "rename or remove one of them",
        place,
    )


RULES = (tool_params, prompt_arguments, notes, values)
"""The rules of this page, in the order they stand here."""
