"""What a worker may read, and where it finds what it imports: computed in the host, from what the host itself uses.

The interpreter with its site-packages, the system's libraries, certificates and time zones; the plugin's package and
its own dependencies. Nothing of the user's, and nothing that merely lies beside a package.
"""

from __future__ import annotations

import importlib.util
import os
import site
import sys
import sysconfig
from collections.abc import Iterable
from pathlib import Path

import attrs

from yazcore.runtimes.base import PluginSource

_NEEDED = (
    "yazcore", "anyio", "attr", "attrs", "exceptiongroup", "idna", "msgspec", "pluggy", "sniffio", "typing_extensions",
)  # fmt: skip
"""What a worker's own code imports, and what that imports."""

_SITE = ("site-packages", "dist-packages")

_SYSTEM = (
    "/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/usr/share/zoneinfo", "/usr/share/locale",
    "/usr/share/ca-certificates", "/etc/localtime", "/etc/ld.so.cache", "/etc/mime.types", "/etc/ssl/certs",
    "/dev/urandom",
)  # fmt: skip


@attrs.frozen(kw_only=True)
class Reach:
    """What every worker has: `path` are folders to import from, `packages` single packages by name, `read` all that may
    be read. Every path is without links.
    """

    path: list[str]
    packages: dict[str, str]
    read: list[str]


def common() -> Reach:
    """What every worker needs of the host's own interpreter."""
    path = _site_folders()
    packages = {name: place for name in _NEEDED if (place := _place_of(name)) and not _is_in(place, path)}
    paths = sysconfig.get_paths()
    read = [paths[key] for key in ("stdlib", "platstdlib", "purelib", "platlib") if key in paths]
    # In a virtual environment the interpreter's own libraries lie with the one it was made from.
    read += [os.path.join(prefix, "lib") for prefix in (sys.base_prefix, sys.base_exec_prefix)]
    if library := sysconfig.get_config_var("LIBDIR"):
        read.append(library)
    return Reach(path=path, packages=packages, read=_real([*read, *path, *packages.values(), *_SYSTEM]))


def of_plugin(source: PluginSource) -> Reach:
    """What one plugin's worker has beside that: its package, its own folders, and the classes its host registers."""
    path = _real(map(str, source.folders))
    packages = {source.manifest.module.partition(":")[0].partition(".")[0]: os.path.realpath(source.folder)}
    site_folders = _site_folders()
    for module in _of_contract(source):
        name = module.partition(".")[0]
        place = _place_of(name)
        if name not in sys.stdlib_module_names and name not in packages and place and not _is_in(place, site_folders):
            packages[name] = place
    packages.pop("yazcore", None)
    return Reach(path=path, packages=packages, read=_real([*path, *packages.values()]))


def _of_contract(source: PluginSource) -> Iterable[str]:
    """The modules that a plugin of this host may have to import: those of what its hooks return."""
    return (kind.registration.__module__ for kind in source.contract.contribution_kinds)


def _site_folders() -> list[str]:
    """The folders of installed packages on the host's path, in its order; the user's own where the host has it."""
    found = [entry for entry in sys.path if os.path.basename(entry) in _SITE]
    if site.ENABLE_USER_SITE:
        found.append(site.getusersitepackages())
    return _real(found)


def _place_of(name: str) -> str | None:
    """The folder of a package, or the file of a module, that the host would import; None where it has none."""
    loaded = sys.modules.get(name)
    try:
        spec = loaded.__spec__ if loaded is not None else importlib.util.find_spec(name)
    except (ImportError, ValueError, AttributeError):
        return None
    if spec is None or not spec.has_location or spec.origin is None:
        return None
    origin = os.path.realpath(spec.origin)
    return os.path.dirname(origin) if spec.submodule_search_locations is not None else origin


def _is_in(place: str, folders: Iterable[str]) -> bool:
    return os.path.dirname(place) in folders


def _real(paths: Iterable[str]) -> list[str]:
    """The paths that exist, without links, each once, in their order."""
    return list(dict.fromkeys(os.path.realpath(path) for path in paths if path and Path(path).exists()))
