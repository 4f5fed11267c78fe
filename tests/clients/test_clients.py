"""Where each client keeps its settings, and what it wants to read there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from yazcore.clients import CLIENTS, file_of

COMMAND = ["/opt/yaz", "bridge"]


@pytest.mark.parametrize(
    ("client", "linux", "darwin", "win32"),
    [
        ("claude-code", "/u/.claude.json", "/u/.claude.json", "/u/.claude.json"),
        (
            "claude-desktop", "/u/.config/Claude/claude_desktop_config.json",
            "/u/Library/Application Support/Claude/claude_desktop_config.json",
            "/u/AppData/Roaming/Claude/claude_desktop_config.json",
        ),
        (
            "vscode", "/u/.config/Code/User/mcp.json", "/u/Library/Application Support/Code/User/mcp.json",
            "/u/AppData/Roaming/Code/User/mcp.json",
        ),
        ("cursor", "/u/.cursor/mcp.json", "/u/.cursor/mcp.json", "/u/.cursor/mcp.json"),
        ("codex", "/u/.codex/config.toml", "/u/.codex/config.toml", "/u/.codex/config.toml"),
    ],
)  # fmt: skip
def test_a_client_keeps_its_settings_where_it_says(client: str, linux: str, darwin: str, win32: str) -> None:
    for platform, expected in (("linux", linux), ("darwin", darwin), ("win32", win32)):
        assert file_of(CLIENTS[client], {"HOME": "/u"}, platform) == Path(expected)


@pytest.mark.parametrize(
    ("client", "variable", "expected"),
    [
        ("vscode", "XDG_CONFIG_HOME", "/x/Code/User/mcp.json"),
        ("claude-desktop", "XDG_CONFIG_HOME", "/x/Claude/claude_desktop_config.json"),
        ("claude-code", "CLAUDE_CONFIG_DIR", "/x/.claude.json"),
        ("codex", "CODEX_HOME", "/x/config.toml"),
    ],
)
def test_a_variable_of_the_clients_own_says_otherwise(client: str, variable: str, expected: str) -> None:
    assert file_of(CLIENTS[client], {"HOME": "/u", variable: "/x"}, "linux") == Path(expected)


STDIO = {"type": "stdio", "command": "/opt/yaz", "args": ["bridge"]}
PLAIN = {"command": "/opt/yaz", "args": ["bridge"]}


@pytest.mark.parametrize(
    ("client", "section", "entry"),
    [
        ("claude-code", "mcpServers", STDIO),
        ("claude-desktop", "mcpServers", PLAIN),
        ("vscode", "servers", STDIO),
        ("cursor", "mcpServers", STDIO),
        ("codex", "mcp_servers", PLAIN),
        ("inspector", "mcpServers", PLAIN),
    ],
)
def test_an_entry_has_the_keys_that_the_client_knows(client: str, section: str, entry: dict[str, Any]) -> None:
    known = CLIENTS[client]
    assert known.section == section
    assert known.entry(COMMAND, {}) == entry
    assert known.entry(COMMAND, {"YAZ_HOME": "/h"}) == {**entry, "env": {"YAZ_HOME": "/h"}}


def test_the_inspector_is_told_of_a_file() -> None:
    assert file_of(CLIENTS["inspector"], {"HOME": "/u"}) is None
