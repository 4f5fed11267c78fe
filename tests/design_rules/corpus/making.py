"""How the corpus is written: a server, its tools, and the rules that each of them breaks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs


@attrs.frozen
class Labelled:
    """One tool, and the ids of the rules that it breaks."""

    entry: Mapping[str, Any]
    rules: frozenset[str]


@attrs.frozen
class Server:
    """One server's tools. `rules` are broken by the surface as a whole."""

    name: str
    tools: tuple[Labelled, ...]
    rules: frozenset[str] = frozenset()

    @property
    def document(self) -> dict[str, Any]:
        """Its list of tools."""
        return {"tools": [one.entry for one in self.tools]}


def server(name: str, *tools: Labelled, rules: str = "") -> Server:
    """A server."""
    return Server(name, tools, frozenset(rules.split()))


def t(name: str, text: str, properties: Mapping[str, Any] | None = None, *, req: str = "", breaks: str = "",
      open_: bool = False, out: Mapping[str, Any] | None = None, hint: bool | None = None, kills: bool | None = None,
      **more: Any) -> Labelled:  # fmt: skip
    """A tool: `req` are its required arguments, `breaks` the rules it breaks, `open_` whether its schema is silent on
    other properties, `out` its output properties, `hint` and `kills` its readOnlyHint and destructiveHint."""
    schema: dict[str, Any] = {"type": "object", "properties": dict(properties or {})}
    if req:
        schema["required"] = req.split()
    if not open_:
        schema["additionalProperties"] = False
    entry: dict[str, Any] = {"name": name, "description": text, "inputSchema": schema, **more}
    if out is not None:
        entry["outputSchema"] = {"type": "object", "properties": dict(out)}
    hints = {"readOnlyHint": hint, "destructiveHint": kills}
    if any(one is not None for one in hints.values()):
        entry["annotations"] = {key: one for key, one in hints.items() if one is not None}
    return Labelled(entry, frozenset(breaks.split()))


def s(said: str = "", **more: Any) -> dict[str, Any]:
    """A text."""
    return {"type": "string", **({"description": said} if said else {}), **more}


def n(said: str = "", **more: Any) -> dict[str, Any]:
    """A number."""
    return {"type": "integer", **({"description": said} if said else {}), **more}


def b(said: str = "", **more: Any) -> dict[str, Any]:
    """True or false."""
    return {"type": "boolean", **({"description": said} if said else {}), **more}


def many(items: Mapping[str, Any] | None = None, said: str = "", **more: Any) -> dict[str, Any]:
    """A list."""
    return {
        "type": "array",
        "items": dict(items or {"type": "string"}),
        **({"description": said} if said else {}),
        **more,
    }


def one_of(*values: str, said: str = "") -> dict[str, Any]:
    """One of these texts."""
    return {"type": "string", "enum": list(values), **({"description": said} if said else {})}


def thing(said: str = "", **properties: Any) -> dict[str, Any]:
    """An object with these properties and no others."""
    known = {"properties": properties, "additionalProperties": False} if properties else {"additionalProperties": True}
    return {"type": "object", **known, **({"description": said} if said else {})}
