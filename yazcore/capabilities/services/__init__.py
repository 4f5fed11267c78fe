"""The services: the only way for a plugin to act outside its own process (design 5)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from yazcore.capabilities.broker import Broker
from yazcore.capabilities.brokered import Brokered
from yazcore.capabilities.secrets import Secrets
from yazcore.capabilities.services.credentials import CredentialService, Purse
from yazcore.capabilities.services.data_folder import QUOTA, DataFolder
from yazcore.capabilities.services.files import FileService
from yazcore.capabilities.services.mcp_servers import McpServers, RemoteServers
from yazcore.capabilities.services.network import NetworkService
from yazcore.capabilities.services.processes import ProcessService
from yazcore.capabilities.services.unavailable import Unavailable, mcp_request

__all__ = [
    "CredentialService", "FileService", "McpServers", "NetworkService", "ProcessService", "RemoteServers",
    "Unavailable", "services",
]  # fmt: skip


def services(
    *,
    broker: Broker,
    plugin: str,
    data_folder: Path,
    secrets: Secrets,
    places: Callable[[str], Path | None] | None = None,
    closed: Sequence[Path] = (),
    quota: int = QUOTA,
    needs_sandbox: bool = True,
    servers: RemoteServers | None = None,
    more: Mapping[str, Callable[[Brokered], Any]] = MappingProxyType({}),
) -> dict[str, Any]:
    """Every service for one plugin, by the name under which its `Context` has it.

    * `secrets`: where the plugin's credentials are kept.
    * `places`: the folder for a place name; None for what the user has bound in the plugin's grant.
    * `closed`: folders of the application itself (`YAZ_HOME`), which no granted folder may hold or lie in.
    * `quota`: the most bytes the data folder may hold.
    * `more`: the host's own services (`Contract.services`).
    * `needs_sandbox`: whether a command that the kernel cannot hold is refused; a trusted plugin has no less itself.
    * `servers`: the MCP servers that the user has named; None where none is reached, as when a plugin is only checked.
    """
    data = DataFolder(folder=data_folder, quota=quota)
    brokered = Brokered(broker, plugin)
    own = {name: make(brokered) for name, make in more.items()}
    return {
        **own,
        "files": FileService(broker, plugin, data_folder, places, closed=closed, quota=quota),
        "network": NetworkService(broker, plugin, data, Purse(broker, plugin, secrets)),
        "processes": ProcessService(broker, plugin, data, closed=closed, needs_sandbox=needs_sandbox),
        "mcp_servers": (
            Unavailable(broker, plugin, "mcp_servers", mcp_request)
            if servers is None
            else McpServers(broker, plugin, servers)
        ),
        "credentials": CredentialService(broker, plugin, secrets),
    }
