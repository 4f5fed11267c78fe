"""The services: the only way for a plugin to act outside its own process (design 5)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from yazcore.capabilities.broker import Broker
from yazcore.capabilities.services.files import FileService
from yazcore.capabilities.services.snapshots import QUOTA
from yazcore.capabilities.services.unavailable import (
    Unavailable,
    credential_request,
    mcp_request,
    network_request,
    process_request,
)

__all__ = ["FileService", "Unavailable", "services"]


def services(
    *,
    broker: Broker,
    plugin: str,
    data_folder: Path,
    places: Callable[[str], Path | None] | None = None,
    closed: Sequence[Path] = (),
    quota: int = QUOTA,
) -> dict[str, Any]:
    """Every service for one plugin, by the name under which its `Context` has it.

    * `places`: the folder for a place name; None for what the user has bound in the plugin's grant.
    * `closed`: folders of the application itself (`YAZ_HOME`), which no granted folder may hold or lie in.
    * `quota`: the most bytes the data folder may hold.
    """
    return {
        "files": FileService(broker, plugin, data_folder, places, closed=closed, quota=quota),
        "network": Unavailable(broker, plugin, "network", network_request),
        "processes": Unavailable(broker, plugin, "processes", process_request),
        "mcp_servers": Unavailable(broker, plugin, "mcp_servers", mcp_request),
        "credentials": Unavailable(broker, plugin, "credentials", credential_request),
    }
