"""Texts that cost a careless pattern the square of their length, in every place that a rule reads.

`python -m tests.design_rules.long_texts` judges them all, and names each before it does.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from yazcore.design_rules.documents import read
from yazcore.design_rules.engine import hits
from yazcore.design_rules.examples import resource, tool
from yazcore.design_rules.record import record_of
from yazcore.design_rules.rules import RULES
from yazcore.design_rules.view import View

LENGTH = 60_000
"""Of each text, in characters: within what a manifest may hold."""

PIECES = (
    "\n", " ", "\t\n", "\n- a", "code ", "any code ", "args:\n", "returns:\n\n", "\n# error ", ".  \n", "one of a, ",
    "a, ", "a or ", "'a' ", "(1-", "max 1", "1,", "a-", "a_a-", "aA", "{a", "must be ", "optional ", "true / ",
    "actions: ", "export1", "\u4e2d", "confirmation ", "localhost:", "a@",
)  # fmt: skip
"""What is said again and again."""

_TOOLS = ("run_code", "list_exports")
_ARGUMENTS = ("action", "code", "query", "command", "url", "path", "filter", "filename", "ticket_id", "method")


def document(text: str) -> dict[str, Any]:
    """A surface that says it everywhere."""
    properties = {name: {"type": "string", "description": text} for name in _ARGUMENTS}
    properties |= {
        "count": {"type": "integer", "description": text},
        "names": {"type": "array", "items": {"type": "string", "pattern": text}, "description": text},
        "kind": {"enum": ["a", text], "description": text},
        "either": {"anyOf": [{"type": "string", "description": text}, {"type": "null", "description": text}]},
        text: {"type": "string", "format": text, "default": text},
    }
    entries = [
        tool(
            name, text, properties, [*properties], texts={"de": text}, title=text,
            params=[{"name": text, "note": text}], outputSchema={"type": "object", "properties": properties},
        )
        for name in _TOOLS
    ]  # fmt: skip
    addresses = [
        resource(f"{before}{text}", text, name=text, variables=[{"name": text, "note": text}])
        for before in ("", "{a", "runbook://")
    ]
    prompts = [{"name": text, "description": text, "arguments": [{"name": text, "description": text}]}]
    return {"tools": entries, "resources": addresses, "prompts": prompts}


def main() -> Iterator[str]:
    """Judge each text by each rule; gives what comes next before it does."""
    for piece in PIECES:
        surface = read(document(piece * (LENGTH // len(piece)) + "x"))
        view = View(surface, before=surface, record=record_of({}))
        for rule in RULES:
            yield f"{rule.id} on {piece!r} again and again"
            for _ in hits([rule], view):
                pass


if __name__ == "__main__":
    for line in main():
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()
