"""What a server says of its tools, as plain data: what defines a tool, its digest, what has changed (mcp D16, 61).

A server may change its tools at any time, and with them what a model is told to do. So a definition is pinned as the
user has seen it: all that a model or a plugin would read of it counts, and nothing else.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from yazcore.manifest.schemas import schema_faults

MOST_BYTES = 64 * 1024
"""The largest definition of one tool, in bytes of JSON."""

_NAME = re.compile(r"[A-Za-z0-9_./-]{1,128}")
_PARTS = ("name", "title", "description", "inputSchema", "outputSchema", "annotations")
_OLDER_DIALECT = re.compile(r"https?://json-schema\.org/draft(?:-0[4-7]|/2019-09)/schema#?")


@attrs.frozen(kw_only=True)
class Definition:
    """One tool as its server defines it.

    `fault` says why it cannot be used; `schema_fault` why its results cannot be checked, so that their structured part
    is left out.
    """

    name: str
    data: Mapping[str, Any]
    digest: str
    fault: str = ""
    schema_fault: str = ""

    @property
    def output_schema(self) -> Mapping[str, Any] | None:
        """The schema that a structured result has to fit; None where there is none that could be used."""
        schema = self.data.get("outputSchema")
        return None if schema is None or self.schema_fault else current_dialect(schema)


def definitions(tools: Iterable[Mapping[str, Any]]) -> dict[str, Definition]:
    """The tools of a server by name. One that is listed twice cannot be used: nobody knows which would be called."""
    found: dict[str, Definition] = {}
    for tool in tools:
        one = definition(tool)
        if one.name in found:
            one = attrs.evolve(one, fault="it is listed twice")
        found[one.name] = one
    return found


def definition(tool: Mapping[str, Any]) -> Definition:
    """One tool, as `tools/list` gives it."""
    data = {part: tool[part] for part in _PARTS if tool.get(part) is not None}
    text = json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    name = data["name"]
    fault = ""
    if not _NAME.fullmatch(name):
        fault = "its name is none that could be granted"
    elif len(text) > MOST_BYTES:
        fault = f"its definition is larger than {MOST_BYTES} bytes"
    schema = data.get("outputSchema")
    schema_fault = ""
    if schema is not None and (faults := schema_faults(current_dialect(schema))):
        schema_fault = f"{faults[0].message} ({faults[0].code})"
    digest = hashlib.sha256(text.encode()).hexdigest()
    return Definition(name=name, data=data, digest=digest, fault=fault, schema_fault=schema_fault)


def current_dialect(schema: Any) -> Any:
    """A schema without the name of an older dialect: what servers write under those names reads the same in ours.

    Where it does not (a list under `items`), it is no schema of ours, and `schema_faults` says so.
    """
    if isinstance(schema, Mapping) and _OLDER_DIALECT.fullmatch(str(schema.get("$schema", ""))):
        return {key: value for key, value in schema.items() if key != "$schema"}
    return schema


def changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[tuple[str, Any, Any]]:
    """What differs between two definitions of one tool: the part, as it was, as it is (None: not there)."""
    return [(part, old.get(part), new.get(part)) for part in _PARTS if old.get(part) != new.get(part)]
