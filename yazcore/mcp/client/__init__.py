"""Calling out: the MCP servers that the user has named, asked on behalf of a plugin or shown to the user (seed 0022).

`settings` says which there are and how each is reached, `seen` what the user has seen of them: plain data, no SDK.
`servers` is what a host holds; `remote` is one server, `connection` one connection with its owner task, `transports`
the bytes. `definitions` and `listing` are what a server says of itself, `faults` all the ways to get no answer.
"""

from __future__ import annotations

from typing import Any

from yazcore.home import Home

__all__ = ["server_surface"]


def server_surface(home: Home, name: str, seconds: float = 60.0) -> dict[str, Any]:
    """All that a server in the user's settings offers, as plain data: connect, list, leave. Blocks.

    The keys: `server` (`name`, `version`, or None), `protocol`, `instructions` (or None), and lists with the keys of
    the wire: `tools`, `resources`, `templates`, `prompts`. It takes at most `seconds`; a list has at most 100 pages,
    2,000 entries and 8 MiB, and nothing that the server says is followed.

    Raises `YazError`: `server-unknown`, `server-settings`, `server-gone`, `server-slow`, `server-refused`,
    `server-redirects`, `server-invalid`, `server-too-large`, `server-endless`, `server-error`, `server-secret-bound`,
    and what the user's secrets give.
    """
    from yazcore.capabilities.secrets import Secrets
    from yazcore.mcp.client.servers import Servers

    servers = Servers(home, Secrets(home))
    try:
        return servers.surface(name, seconds)
    finally:
        servers.close()
