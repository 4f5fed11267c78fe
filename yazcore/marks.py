"""What the operator says of a tool, beyond what its plugin declares: that a person approves each call, that it writes.

    [plugins.zotero.tools.cite-item]     # in settings.toml
    approval = "ask"
    posture = "write"

A mark makes a tool stricter, and never anything else: the plugin's own word is the least that counts (design 4, 5).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from yazcore.violations import YazError

TOOLS = "tools"
"""The table of marks in a plugin's table of settings."""

VALUES: Mapping[str, str] = {"approval": "ask", "posture": "write"}
"""What can be marked, and the one thing that a mark can say of it."""


@attrs.frozen(kw_only=True)
class Mark:
    """`ask`: a person approves each call; `write`: the tool is taken for one that changes things."""

    ask: bool = False
    write: bool = False


UNMARKED = Mark()
"""No mark: the plugin's own word counts."""

Marks = Mapping[tuple[str, str], Mark]
"""Marks by plugin id and the tool's own name; marks of what is not there match nothing."""


def read_marks(settings: Mapping[str, Any]) -> dict[tuple[str, str], Mark]:
    """The marks in the user's settings. Raises `YazError` `mark-broken`: what somebody marked is never passed over.

    A plugin's own setting may be called `tools` too: it is no table.
    """
    plugins = settings.get("plugins", {})
    found = {}
    for plugin_id, table in plugins.items() if isinstance(plugins, dict) else ():
        tools = table.get(TOOLS) if isinstance(table, dict) else None
        for name, marks in tools.items() if isinstance(tools, dict) else ():
            found[plugin_id, name] = _mark(f"plugins.{plugin_id}.{TOOLS}.{name}", marks)
    return found


def _mark(where: str, marks: Any) -> Mark:
    if not isinstance(marks, dict):
        raise _broken(where, "is no table", f'write approval = "ask" below [{where}]')
    for key, value in marks.items():
        if key not in VALUES:
            raise _broken(f"{where}.{key}", "is no mark", f"there are {' and '.join(VALUES)}")
        if value != VALUES[key]:
            raise _broken(
                f"{where}.{key}", f'can only say "{VALUES[key]}"', "take the line out to leave it to the plugin"
            )
    return Mark(ask="approval" in marks, write="posture" in marks)


def _broken(where: str, wrong: str, fix: str) -> YazError:
    return YazError("mark-broken", f"settings.toml: {where} {wrong}", fix)
