"""Where the plugins of `yaz install` lie, for commands that take one by name.

What finds them is loaded only then: most such commands are given a file or a folder.
"""

from __future__ import annotations

import os
from pathlib import Path


def own_folders(target: str) -> tuple[Path, ...]:
    """Where they lie, for a target that is a name; nowhere for a file or a folder."""
    return () if os.path.exists(target) else installed_folders()


def installed_folders() -> tuple[Path, ...]:
    """Where they lie: of each the version that counts."""
    from yazcore.capabilities.grants import Grants
    from yazcore.home import Home
    from yazcore.installed import survey
    from yazcore.plugin_folders import plugin_folders
    from yazcore.writing.contract import YAZ

    home = Home()
    found, _ = survey(YAZ, Grants(home), discover_installed=False, path=[], plugin_folders=plugin_folders(home))
    return tuple(folder for one in found for folder in one.folders)
