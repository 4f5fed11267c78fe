"""A plugin's own folders on the path of this process, for the `trusted` runtime (design 5).

They stand at the end: nothing that the host has installed is ever taken from them. They are plain entries of the path:
`.pth` files in them are not read, because only `site` reads those.
"""

from __future__ import annotations

import importlib
import os
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from yazcore.manifest.distributions import Distribution, scan
from yazcore.violations import Violation

_lock = threading.Lock()


class OwnPath:
    """The folders of one plugin, on the path from `enter` to `leave`."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self._folders = [str(folder) for folder in folders]

    def enter(self) -> None:
        """Put them at the end of the path."""
        with _lock:
            sys.path.extend(self._folders)
        if self._folders:
            importlib.invalidate_caches()

    def leave(self) -> None:
        """Take them off again; a second time it does nothing."""
        with _lock:
            folders, self._folders = self._folders, []
            for folder in folders:
                places = [at for at, entry in enumerate(sys.path) if entry == folder]
                if places:
                    del sys.path[places[-1]]


def clashes(folders: Sequence[Path], path: Sequence[str] | None = None) -> tuple[Violation, ...]:
    """What a plugin brings in another version than the host has: in one process only the host's would be found.

    `path` is the host's, `sys.path` where it is None.
    """
    own = [str(folder) for folder in folders]
    if not own:
        return ()
    host = _versions([entry for entry in (sys.path if path is None else path) if entry not in own])
    return tuple(
        Violation(
            "trusted-version-clash",
            f"it brings {name} {version}, and the host has {host[name]}: in one process there can be only one",
            "run it isolated, where it has its own",
        )
        for name, version in sorted(_versions(own).items())
        if name in host and host[name] != version
    )


def _versions(path: Sequence[str]) -> dict[str, str]:
    """The version of each distribution on a path; the first one counts, as Python has it."""
    found: dict[str, Distribution] = {}
    for one in scan(path):
        if one.headers() is not None:
            found.setdefault(one.name, one)
    return {name: headers[1] for name, one in found.items() if (headers := one.headers()) is not None}


def is_of(module: ModuleType, package: Path) -> bool:
    """Whether a module lies in a package's folder: one of that name may have been loaded from elsewhere before."""
    file = getattr(module, "__file__", None)
    return isinstance(file, str) and Path(os.path.realpath(file)).is_relative_to(os.path.realpath(package))
