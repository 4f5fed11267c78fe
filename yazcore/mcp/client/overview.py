"""One server as its user sees it: how it is reached, what it offers now, and what of that is new (design 9)."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import attrs

from yazcore.home import Home
from yazcore.manifest.words import did_you_mean
from yazcore.mcp.client import server_surface
from yazcore.mcp.client.definitions import Definition, changes, definitions
from yazcore.mcp.client.seen import Seen, SeenStore, State
from yazcore.mcp.client.settings import ServerSettings, read_server, server_names
from yazcore.violations import YazError

SECONDS = 60.0
"""How long a server may take to say what it offers."""


@attrs.frozen(kw_only=True)
class ToolView:
    """One tool of a server now. `changes`: each part that differs from what was seen, as it was and as it is."""

    definition: Definition
    state: State
    read: bool
    changes: tuple[tuple[str, Any, Any], ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The tool as `yaz server show --json` prints it."""
        one = self.definition
        return {
            **one.data, "state": self.state, "read": self.read, "fault": one.fault or None,
            "outputFault": one.schema_fault or None,
            "changes": [{"part": part, "old": old, "new": new} for part, old, new in self.changes],
        }  # fmt: skip


@attrs.frozen(kw_only=True)
class ServerView:
    """One server now. `gone`: tools that were seen and that it offers no more; `info`: what it calls itself."""

    settings: ServerSettings
    info: dict[str, str] | None
    protocol: str
    tools: tuple[ToolView, ...]
    gone: tuple[str, ...]

    @property
    def unseen(self) -> tuple[ToolView, ...]:
        """The tools that the user has not seen as they are now."""
        return tuple(one for one in self.tools if one.state != "seen")

    def as_json(self) -> dict[str, Any]:
        """The server as `yaz server show --json` prints it."""
        return {
            "name": self.settings.name, "transport": self.settings.transport, "settings": self.settings.as_table(),
            "server": self.info, "protocol": self.protocol, "tools": [one.as_json() for one in self.tools],
            "gone": list(self.gone),
        }  # fmt: skip


def named(home: Home, name: str) -> ServerSettings:
    """The settings of a server. Raises `YazError` `server-unknown`, and as `read_server` does."""
    settings = read_server(home, name)
    if settings is None:
        raise YazError(
            "server-unknown", f"settings.toml names no MCP server {name!r}",
            did_you_mean(name, server_names(home), "there are"),
        )  # fmt: skip
    return settings


def look(home: Home, name: str, seconds: float = SECONDS) -> ServerView:
    """Connect to a server, see what it offers, and leave it. Raises `YazError` as `server_surface` does."""
    settings = named(home, name)
    surface = server_surface(home, name, seconds)
    found = definitions(surface["tools"])
    seen = SeenStore(home).of(settings)
    return ServerView(
        settings=settings,
        info=surface["server"],
        protocol=surface["protocol"],
        tools=tuple(_view(found[tool], seen) for tool in sorted(found)),
        gone=tuple(sorted(set(seen.tools) - set(found))),
    )


def accept(home: Home, view: ServerView, tools: Collection[str] = ()) -> tuple[str, ...]:
    """Keep the tools of a look as seen, all of them or those named, and give the names of those that were not.

    What was looked at is kept, whatever the server offers by now. Raises `YazError` `server-tool-unknown`.
    """
    known = {one.definition.name: one for one in view.tools}
    for tool in tools:
        if tool not in known:
            raise YazError(
                "server-tool-unknown", f"the MCP server {view.settings.name} has no tool {tool!r}",
                did_you_mean(tool, known),
            )  # fmt: skip
    chosen = [one for one in view.unseen if not tools or one.definition.name in tools]
    if chosen:
        SeenStore(home).accept(view.settings, [one.definition for one in chosen])
    return tuple(one.definition.name for one in chosen)


def _view(definition: Definition, seen: Seen) -> ToolView:
    state = seen.state(definition)
    old = seen.tools[definition.name].definition if state == "changed" else {}
    differing = tuple(changes(old, definition.data)) if state == "changed" else ()
    return ToolView(
        definition=definition, state=state, read=state == "seen" and seen.reads(definition.name), changes=differing
    )
