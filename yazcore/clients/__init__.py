"""The settings files of MCP clients, and what each wants to read there to start the bridge (design 7, 9).

Every client starts `yaz bridge`: the server's port and token are new at each start, so an address written down today
would be wrong tomorrow, and a token in a file would be one more secret to guard. No entry holds one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import attrs

Environment = Mapping[str, str]


@attrs.frozen(kw_only=True)
class Client:
    """One client's settings.

    * `id`: what `yaz connect` calls it; `name`: what people call it.
    * `format`, `section`: how the file is written, and the table in it that holds servers by name.
    * `typed`: whether an entry says that it is on stdio.
    * `place`: the user's own file, on this machine; None where the client is told of a file.
    * `project`: the file in a project's folder, where the client reads one.
    * `afterwards`: what makes the client see a change.
    """

    id: str
    name: str
    format: Literal["json", "toml"] = "json"
    section: str = "mcpServers"
    typed: bool = True
    place: Callable[[Environment, str], Path] | None = None
    project: str | None = None
    afterwards: str = ""

    def entry(self, command: Sequence[str], environment: Environment) -> dict[str, Any]:
        """What stands in the file: how the bridge is started. `environment`: what it must be told of."""
        program, *arguments = command
        found: dict[str, Any] = {"type": "stdio"} if self.typed else {}
        found |= {"command": program, "args": arguments}
        return found | ({"env": dict(environment)} if environment else {})


def _home(environment: Environment) -> Path:
    return Path(environment.get("HOME") or environment.get("USERPROFILE") or Path.home())


def _applications(environment: Environment, platform: str) -> Path:
    """Where applications keep their settings."""
    if platform == "darwin":
        return _home(environment) / "Library" / "Application Support"
    if platform == "win32":
        return Path(environment.get("APPDATA") or _home(environment) / "AppData" / "Roaming")
    return Path(environment.get("XDG_CONFIG_HOME") or _home(environment) / ".config")


def _claude_code(environment: Environment, platform: str) -> Path:
    return Path(environment.get("CLAUDE_CONFIG_DIR") or _home(environment)) / ".claude.json"


def _claude_desktop(environment: Environment, platform: str) -> Path:
    return _applications(environment, platform) / "Claude" / "claude_desktop_config.json"


def _vscode(environment: Environment, platform: str) -> Path:
    return _applications(environment, platform) / "Code" / "User" / "mcp.json"


def _cursor(environment: Environment, platform: str) -> Path:
    return _home(environment) / ".cursor" / "mcp.json"


def _codex(environment: Environment, platform: str) -> Path:
    return Path(environment.get("CODEX_HOME") or _home(environment) / ".codex") / "config.toml"


CLIENTS: Mapping[str, Client] = {
    client.id: client
    for client in (
        Client(
            id="claude-code", name="Claude Code", place=_claude_code, project=".mcp.json",
            afterwards="Claude Code sees it in its next session (/mcp shows it)",
        ),
        Client(
            id="claude-desktop", name="Claude Desktop", typed=False, place=_claude_desktop,
            afterwards="quit Claude Desktop and start it again",
        ),
        Client(
            id="vscode", name="VS Code", section="servers", place=_vscode, project=".vscode/mcp.json",
            afterwards="VS Code asks whether to trust it, and starts it when it is needed (MCP: List Servers)",
        ),
        Client(
            id="cursor", name="Cursor", place=_cursor, project=".cursor/mcp.json",
            afterwards="Cursor shows it under Settings, MCP",
        ),
        Client(
            id="codex", name="Codex", format="toml", section="mcp_servers", typed=False, place=_codex,
            project=".codex/config.toml", afterwards="Codex sees it in its next session (/mcp shows it)",
        ),
        Client(id="inspector", name="MCP Inspector", typed=False),
    )
}  # fmt: skip
"""The clients that `yaz connect` knows, by id."""


def file_of(client: Client, environment: Environment, platform: str = sys.platform) -> Path | None:
    """The user's own settings file of a client; None where it has none."""
    return None if client.place is None else client.place(environment, platform)
