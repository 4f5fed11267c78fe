"""The folders that `yaz install` puts plugins into: one for each version, with its own dependencies (design 5).

    YAZ_HOME/plugins/zotero/2/site/            packages and their metadata: what only this plugin has on its path
    YAZ_HOME/plugins/zotero/2/install.json     where it came from, and what it was resolved against

The names of the folders are the whole record: a version is there from the moment its folder has that name until it has
it no longer, and the highest number is the newest. Names that begin with a dot are work under way, which nothing reads.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs

from yazcore.home import Home
from yazcore.manifest.names import is_id

FOLDER = "plugins"
"""The folder in YAZ_HOME that holds them all."""

SITE = "site"
RECORD = "install.json"


@attrs.frozen(kw_only=True)
class PluginFolder:
    """One version of one plugin; `root` is its folder, `number` says how new it is."""

    plugin: str
    number: int
    root: Path

    @property
    def site(self) -> Path:
        """The folder that the plugin's own worker has on its path, before everything that the host has installed.

        In the `trusted` runtime it joins the end of the host's path. `.pth` files in it are never read.
        """
        return self.root / SITE

    def record(self) -> Mapping[str, Any]:
        """What `install.json` says; empty where it cannot be read. Nothing but reports depends on it."""
        try:
            document = json.loads((self.root / RECORD).read_text("utf-8"))
        except (OSError, ValueError, RecursionError):
            return {}
        return document if isinstance(document, dict) else {}


def plugin_folders(home: Home) -> dict[str, tuple[PluginFolder, ...]]:
    """By plugin id, the versions that are there, newest first. Never raises for what lies in the folder."""
    top = home.path(FOLDER)
    return {plugin: found for plugin in _names(top) if is_id(plugin) and (found := _versions(top / plugin))}


def _versions(folder: Path) -> tuple[PluginFolder, ...]:
    numbers = sorted((int(name) for name in _names(folder) if _is_number(name)), reverse=True)
    return tuple(PluginFolder(plugin=folder.name, number=one, root=folder / str(one)) for one in numbers)


def _is_number(name: str) -> bool:
    return name.isascii() and name.isdigit() and not name.startswith("0") and len(name) < 10


def _names(folder: Path) -> list[str]:
    """The names of the folders in it, in order; links are none of them."""
    try:
        with os.scandir(folder) as entries:
            return sorted(one.name for one in entries if one.is_dir(follow_symlinks=False))
    except OSError:
        return []
