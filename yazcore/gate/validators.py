"""The schemas of active tools, each made ready once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from yazcore.catalogue import Catalogue
from yazcore.manifest.schemas import Validator, validator


class Validators:
    """Validators by what was declared: a schema is compiled once, however many plugins come and go meanwhile.

    At most two of each tool that is active are kept: what belongs to a tool that is gone, or is declared anew, goes
    with the change of the catalogue. A declared schema never changes, so that it is known by being the same object:
    equal is not enough, as Python takes 1 for true.
    """

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._kept: dict[int, tuple[Mapping[str, Any], Validator]] = {}
        """By the identity of a schema, which nothing else can have as long as it is kept here."""
        catalogue.on_change(self._forget)

    def of(self, schema: Mapping[str, Any]) -> Validator:
        """The validator for a declared schema. Raises `YazError` for one that is not usable."""
        found = self._kept.get(id(schema))
        if found is None:
            found = self._kept[id(schema)] = schema, validator(schema)
        return found[1]

    def _forget(self) -> None:
        """Keep what is declared now. A call that compiles meanwhile may have to do so again; it is never wrong."""
        declared = (tool.declaration for tool in self._catalogue.now.tools.values())
        active = {id(schema) for one in declared for schema in (one.input_schema, one.output_schema)}
        self._kept = {key: kept for key, kept in tuple(self._kept.items()) if key in active}
