"""After the question: a plugin into a folder of its own, out of it, and back to the version before.

A folder gets its name when everything in it is right, and by one rename: whoever looks sees all of a version or none of
it. Work under way has a name that nothing reads. One process at a time does any of this (`LOCK`).
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from yazcore.capabilities.grants import Grants
from yazcore.capabilities.kept import forget
from yazcore.contract import Contract
from yazcore.home import Home
from yazcore.install.children import Report
from yazcore.install.environment import environment, lacks, shadowed
from yazcore.install.going_back import put_back
from yazcore.install.preparing import Prepared, found_in, version_in
from yazcore.installed import Installed, survey
from yazcore.manifest.discovery import discover
from yazcore.manifest.targets import open_target
from yazcore.manifest.words import listed
from yazcore.plugin_folders import FOLDER, RECORD, SITE, PluginFolder, plugin_folders
from yazcore.trees import remove_tree
from yazcore.violations import YazError, errors

LOCK = "plugins"
"""The lock in YAZ_HOME that installing, uninstalling and going back hold."""

_NEW, _GONE = ".new-", ".gone-"


def place(
    prepared: Prepared, contract: Contract, home: Home, told: Report = lambda word: None
) -> PluginFolder:
    """Install what was prepared; gives its folder. Whatever goes wrong, and on Ctrl-C, nothing of it is left.

    The version that runs now is kept beside it; older ones go. Raises `YazError`: `home-busy`, `install-overtaken`,
    `install-shadows`, `install-incomplete`, `install-differs`, what the installer says, `home-not-writable`.
    """
    with home.locked(LOCK), _writable():
        sweep(home)
        versions = plugin_folders(home).get(prepared.plugin, ())
        newest = versions[0] if versions else None
        if newest != prepared.before:
            raise YazError(
                "install-overtaken", f"another version of {prepared.plugin} was installed meanwhile",
                f"{contract.host} plugins shows it; try again",
            )  # fmt: skip
        runs = running_folder(contract, home, prepared.plugin)
        top = home.path(FOLDER)
        top.mkdir(mode=0o700, parents=True, exist_ok=True)
        staging = Path(tempfile.mkdtemp(prefix=_NEW, dir=top))
        try:
            site = staging / SITE
            told(f"unpacking {prepared.distribution}")
            lines = [prepared.line, *(one.line for one in prepared.brings)]
            prepared.installer.unpack(lines, site, prepared.scratch, told)
            _check(prepared, contract, site)
            _write_record(prepared, staging)
            number = 1 if newest is None else newest.number + 1
            folder = PluginFolder(
                plugin=prepared.plugin, number=number, root=top / prepared.plugin / str(number)
            )
            folder.root.parent.mkdir(mode=0o700, exist_ok=True)
            os.rename(staging, folder.root)
        except BaseException:
            remove_tree(staging)
            with contextlib.suppress(OSError):
                os.rmdir(top / prepared.plugin)
            raise
        for old in versions:
            if old != runs:
                with contextlib.suppress(OSError):  # the new one is there, and the next time it goes
                    _remove(home, old.root)
    return folder


def uninstall(contract: Contract, home: Home, plugin: str, gone: Callable[[], None] = lambda: None) -> None:
    """Take a plugin and its grant out; what it kept in its data folder stays.

    `gone` is called when nobody finds it any more, and before its files go. Raises `YazError` `not-in-a-folder`,
    `home-busy`, `home-not-writable`, and where the grants cannot be read.
    """
    with home.locked(LOCK), _writable():
        folder = home.path(FOLDER, plugin)
        if not plugin_folders(home).get(plugin):
            raise _not_in_a_folder(contract, home, plugin)
        Grants(home).revoke(plugin)
        forget(home, plugin)
        _hide(home, folder)
        gone()
        sweep(home)


def rollback(contract: Contract, home: Home, plugin: str) -> Installed:
    """Go back to the version that was kept, with what was granted to it; gives how it stands. The newer one goes.

    Raises `YazError` `not-in-a-folder`, `rollback-nothing`, `rollback-refused`, `home-busy`, `home-not-writable`.
    """
    with home.locked(LOCK), _writable():
        versions = plugin_folders(home).get(plugin, ())
        if not versions:
            raise _not_in_a_folder(contract, home, plugin)
        if len(versions) == 1:
            version = version_in(versions[0], contract) or "its one version"
            raise YazError(
                "rollback-nothing", f"nothing is kept of {plugin} but {version}",
                f"{contract.host} uninstall {plugin} makes room for any version",
            )  # fmt: skip
        kept = _standing(contract, home, plugin, versions[1:])
        if kept is None or kept.manifest is None:
            raise YazError(
                "rollback-refused", f"the version of {plugin} that is kept cannot be read any more",
                f"{contract.host} uninstall {plugin}, and install the version that you want",
            )  # fmt: skip
        put_back(Grants(home), kept)
        _remove(home, versions[0].root)
        after = _standing(contract, home, plugin, versions[1:])
        return kept if after is None else after


def running_folder(contract: Contract, home: Home, plugin: str) -> PluginFolder | None:
    """The folder of the version that counts now."""
    versions = plugin_folders(home).get(plugin, ())
    now = _standing(contract, home, plugin, versions)
    return None if now is None else next((one for one in versions if one.site in now.folders), None)


def _standing(contract: Contract, home: Home, plugin: str, versions: Sequence[PluginFolder]) -> Installed | None:
    found, _ = survey(
        contract, Grants(home), discover_installed=False, path=[], plugin_folders={plugin: versions} if versions else {}
    )
    return found[0] if found else None


def _not_in_a_folder(contract: Contract, home: Home, plugin: str) -> YazError:
    found, _ = discover(contract)
    beside = next((one for one in found if one.id == plugin), None)
    if beside is not None:
        fix = f"pip uninstall {beside.distribution}"
    else:
        fix = f"in folders of their own are: {listed(plugin_folders(home)) or 'none'}"
    return YazError("not-in-a-folder", f"{contract.host} install has not installed {plugin}", fix)


# -- what has to be true of what was unpacked -------------------------------------------------------------------------


def _check(prepared: Prepared, contract: Contract, site: Path) -> None:
    """It is what was looked at, it is complete, and nothing in it takes the place of what a worker is made of."""
    found = found_in(site, prepared.plugin, contract)
    looked_at = None if found is None else open_target(prepared.distribution, contract, path=[str(site)])
    if (
        looked_at is None
        or looked_at.version != prepared.version
        or looked_at.reading.document != prepared.target.reading.document
        or looked_at.texts != prepared.target.texts
        or errors(looked_at.violations)
    ):
        raise YazError(
            "install-differs", f"what was unpacked is not the {prepared.plugin} {prepared.version} that was shown",
            "try again, and tell whoever runs the index if it happens again; nothing was installed",
        )  # fmt: skip
    if shadows := shadowed([f"{one.name}/" if one.is_dir() else one.name for one in site.iterdir()], prepared.host):
        raise YazError(
            "install-shadows", f"it would stand in the place of {listed(shadows)}, which yaz itself runs with",
            "do not install it: nothing honest brings that; nothing was installed",
        )  # fmt: skip
    missing = lacks(prepared.distribution, environment([str(site)]), prepared.host)
    if missing:
        said = [f"{one.needed_by} requires {one.requirement}" for one in missing]
        raise YazError(
            "install-incomplete", f"not all came that is needed: {listed(said)}",
            "try again; nothing was installed",
        )  # fmt: skip


def _write_record(prepared: Prepared, staging: Path) -> None:
    record = {
        "plugin": prepared.plugin,
        "version": prepared.version,
        "distribution": prepared.distribution,
        "sha256": prepared.sha256,
        "brings": {one.name: one.version for one in prepared.brings},
        "python": ".".join(map(str, sys.version_info[:2])),
        "installer": prepared.installer.label,
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    (staging / RECORD).write_text(json.dumps(record, indent=2) + "\n", "utf-8")


# -- folders come and go ----------------------------------------------------------------------------------------------


def sweep(home: Home) -> None:
    """Remove what was left where a process was killed. Under the lock only: nobody else works there then."""
    for name in _names(home.path(FOLDER)):
        if name.startswith((_NEW, _GONE)):
            remove_tree(home.path(FOLDER, name))


def leftovers(home: Home) -> list[str]:
    """The names of what `sweep` would remove."""
    return [name for name in _names(home.path(FOLDER)) if name.startswith((_NEW, _GONE))]


def _names(folder: Path) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _hide(home: Home, folder: Path) -> Path:
    """Take a folder out of everybody's sight, by one rename."""
    hidden = Path(tempfile.mkdtemp(prefix=_GONE, dir=home.path(FOLDER)))
    return folder.rename(hidden / folder.name)


def _remove(home: Home, folder: Path) -> None:
    remove_tree(_hide(home, folder).parent)


@contextlib.contextmanager
def _writable() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise YazError(
            "home-not-writable", f"plugins cannot be written in YAZ_HOME: {error.strerror}",
            "make the folder writable, or set YAZ_HOME to one that is",
        ) from error  # fmt: skip
