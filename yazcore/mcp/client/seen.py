"""What the user has seen of each server: its tools as they were then, and which of them only read (design 5, mcp D16).

`servers/NAME.json` in YAZ_HOME, written by the user's commands only. A tool is called only as the user has seen it: one
that is new, or whose definition has changed since, is held. What was seen at another address, or of another command,
counts for nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping
from datetime import UTC, datetime
from typing import Any, Literal

import attrs

from yazcore.home import Home
from yazcore.mcp.client.definitions import Definition
from yazcore.mcp.client.settings import ServerSettings
from yazcore.violations import YazError

FOLDER = "servers"

State = Literal["seen", "new", "changed"]

WHY = {"new": "is new", "changed": "has changed since it was seen"}
"""Why a tool is held, by its state, after "it"."""


@attrs.frozen(kw_only=True)
class SeenTool:
    """One tool as the user saw it; `read`: whether the user says that it only reads."""

    digest: str
    definition: Mapping[str, Any]
    read: bool = False


@attrs.frozen(kw_only=True)
class Seen:
    """What was seen of one server, when its settings had this digest. `time` is the last look (ISO 8601, UTC)."""

    server: str
    settings: str
    tools: Mapping[str, SeenTool] = attrs.field(factory=dict)
    time: str = ""

    def state(self, definition: Definition) -> State:
        """How a tool as it is now stands to what was seen."""
        tool = self.tools.get(definition.name)
        if tool is None:
            return "new"
        return "seen" if tool.digest == definition.digest else "changed"

    def reads(self, tool: str) -> bool:
        """Whether the user says that the tool only reads."""
        return tool in self.tools and self.tools[tool].read


class SeenStore:
    """What was seen of the servers of one `YAZ_HOME`. Safe from any thread; writing is locked against other processes.

    Every method raises `YazError` `server-seen-broken` where a file cannot be understood: nothing of it counts then.
    """

    def __init__(self, home: Home) -> None:
        self._home = home
        self._lock = threading.Lock()
        self._known: dict[str, tuple[tuple[int, int, int], Seen | None]] = {}

    def of(self, settings: ServerSettings) -> Seen:
        """What was seen of this server with these settings; empty where that is nothing."""
        seen = self._read(settings.name)
        if seen is None or seen.settings != settings.digest:
            return Seen(server=settings.name, settings=settings.digest)
        return seen

    def accept(self, settings: ServerSettings, definitions: Collection[Definition]) -> None:
        """Keep these tools as seen. One whose definition has changed is no longer marked as one that only reads."""

        def add(seen: Seen) -> Seen:
            tools = dict(seen.tools)
            for one in definitions:
                read = seen.state(one) == "seen" and seen.reads(one.name)
                tools[one.name] = SeenTool(digest=one.digest, definition=one.data, read=read)
            return attrs.evolve(seen, tools=tools)

        self._change(settings, add)

    def mark(self, settings: ServerSettings, tools: Collection[str], read: bool) -> None:
        """Say of tools that they only read, or that they do not. Raises `YazError` `server-tool-unseen`."""

        def change(seen: Seen) -> Seen:
            for tool in tools:
                if tool not in seen.tools:
                    raise YazError(
                        "server-tool-unseen", f"the tool {tool!r} of the MCP server {settings.name} was not seen yet",
                        f"yaz server accept {settings.name} shows what it offers",
                    )  # fmt: skip
            marked = {tool: attrs.evolve(seen.tools[tool], read=read) for tool in tools}
            return attrs.evolve(seen, tools={**seen.tools, **marked})

        self._change(settings, change)

    def forget(self, name: str) -> None:
        """Forget all that was seen of a server."""
        with self._home.locked(FOLDER):
            self._home.path(*_file(name)).unlink(missing_ok=True)

    def _change(self, settings: ServerSettings, change: Callable[[Seen], Seen]) -> None:
        with self._home.locked(FOLDER):
            now = datetime.now(UTC).isoformat(timespec="seconds")
            seen = attrs.evolve(change(self.of(settings)), time=now)
            self._home.write_json("/".join(_file(settings.name)), attrs.asdict(seen))

    def _read(self, name: str) -> Seen | None:
        path = self._home.path(*_file(name))
        with self._lock:
            try:
                status = path.stat()
            except FileNotFoundError:
                return None
            stamp = (status.st_mtime_ns, status.st_size, status.st_ino)
            known = self._known.get(name)
            if known is None or known[0] != stamp:
                known = stamp, _parsed(name, self._home.read_json("/".join(_file(name))))
                self._known[name] = known
            return known[1]


def _file(name: str) -> tuple[str, str]:
    return FOLDER, f"{name}.json"


def _parsed(name: str, document: Any) -> Seen | None:
    if document is None:
        return None
    try:
        tools = {tool: SeenTool(**fields) for tool, fields in document.pop("tools").items()}
        seen = Seen(tools=tools, **document)
    except (AttributeError, KeyError, TypeError):
        raise _broken(name) from None
    good = isinstance(seen.settings, str) and all(
        isinstance(one.digest, str) and isinstance(one.definition, dict) and isinstance(one.read, bool)
        for one in tools.values()
    )
    if not good:
        raise _broken(name)
    return seen if seen.server == name else None


def _broken(name: str) -> YazError:
    return YazError(
        "server-seen-broken", f"{FOLDER}/{name}.json in YAZ_HOME cannot be understood",
        f"remove it, and look again: yaz server accept {name}",
    )  # fmt: skip
