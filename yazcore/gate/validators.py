"""The schemas of active tools, each made ready once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from yazcore.catalogue import ActiveTool, Catalogue, Snapshot
from yazcore.manifest.schemas import Validator, validator


class Validators:
    """Validators by what was declared: a schema is compiled once, however many plugins come and go meanwhile.

    At most two of each tool that is active are kept; what belongs to a tool that is gone, or is declared anew, goes at
    the next look-up. A declared schema never changes, so that it is known by being the same object: equal is not
    enough, as Python takes 1 for true.
    """

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._kept: dict[tuple[str, str], tuple[Mapping[str, Any], Validator]] = {}
        self._generation = 0

    def of(self, tool: ActiveTool, which: Literal["input", "output"], schema: Mapping[str, Any]) -> Validator:
        """The validator for a schema of the tool. Raises `YazError` for one that is not usable."""
        now = self._catalogue.now
        if now.generation != self._generation:
            self._forget(now)
        key = tool.exposed, which
        found = self._kept.get(key)
        if found is None or found[0] is not schema:
            found = self._kept[key] = schema, validator(schema)
        return found[1]

    def _forget(self, now: Snapshot) -> None:
        self._generation = now.generation
        self._kept = {
            (name, which): kept
            for (name, which), kept in tuple(self._kept.items())
            if (tool := now.tools.get(name)) is not None and kept[0] is _declared(tool, which)
        }


def _declared(tool: ActiveTool, which: str) -> Mapping[str, Any] | None:
    return tool.declaration.input_schema if which == "input" else tool.declaration.output_schema
