"""A plugin in a test, as good as installed and granted: by its id, or by a folder that pip has never seen.

A project gets the metadata that `pip install -e` would leave, in a folder of its own at the head of the path. So it is
found, read, held and granted exactly like a plugin that a user has installed.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import attrs

from yazcore.capabilities.grants import Grant, Grants, RuntimeName
from yazcore.check import as_installed, importable, read_package, source_of
from yazcore.contract import Contract
from yazcore.granting import commit, plan
from yazcore.home import Home
from yazcore.installed import survey
from yazcore.manifest.discovery import builtin
from yazcore.manifest.distributions import normalized
from yazcore.violations import Violation, YazError


@attrs.frozen(kw_only=True)
class InstalledForTest:
    """What a host needs to know of the plugin: its id, and the folder where it is handed over.

    `violations` are those for which it was not even found.
    """

    id: str
    builtin: Sequence[Path] = ()
    violations: tuple[Violation, ...] = ()


@contextlib.contextmanager
def installed(
    target: str | os.PathLike[str],
    contract: Contract,
    home: Home,
    *,
    places: Mapping[str, str | os.PathLike[str]],
    optional: bool,
    shipped: bool,
    runtime: RuntimeName,
) -> Iterator[InstalledForTest]:
    """Have one plugin installed while the block runs, and granted in `home`. Raises `YazError`."""
    folders = {name: os.fspath(folder) for name, folder in places.items()}
    if shipped:
        handed_over = builtin(source_of(Path(target)).package)
        now = datetime.now(UTC).isoformat(timespec="seconds")
        Grants(home).put(Grant(plugin=handed_over.id, places=folders, runtime=runtime, time=now))
        yield InstalledForTest(id=handed_over.id, builtin=(handed_over.folder,))
    elif os.fspath(target) and Path(target).is_dir():
        source = source_of(Path(target))
        if source.project is None:
            raise YazError(
                "plugin-without-project", f"{source.package.name} has no pyproject.toml beside it",
                "give a plugin's project, as yaz new makes it",
            )  # fmt: skip
        with importable(source.package) as place:
            violations, found = as_installed(place, source, contract)
            if found is not None:
                yield _granted(found.id, contract, home, folders, optional, runtime)
            else:
                violations += read_package(source.package, contract).violations
                yield InstalledForTest(id=builtin(source.package).id, violations=violations)
    else:
        yield _granted(os.fspath(target), contract, home, folders, optional, runtime)


def _granted(
    plugin_id: str, contract: Contract, home: Home, places: Mapping[str, str], optional: bool, runtime: RuntimeName
) -> InstalledForTest:
    """Grant an installed plugin. One that is refused needs no grant: it is for the host to say why."""
    found, skipped = survey(contract, Grants(home))
    for one in found:
        if one.id == plugin_id:
            if one.manifest is not None:
                grants = Grants(home)
                planned = plan(
                    one, grants.get(plugin_id), trusted=runtime == "trusted", places=places, optional=optional,
                    isolation=lambda: None,  # where that cannot be, the host says so
                )  # fmt: skip
                commit(grants, planned)
            return InstalledForTest(id=plugin_id)
    distribution = normalized(contract.prefix + plugin_id)
    violations = tuple(Violation(one.code, one.message, one.fix) for one in skipped if one.distribution == distribution)
    if not violations:
        raise YazError(
            "plugin-not-found", f"no plugin {plugin_id!r} is installed, and there is no such folder",
            "install it in its project: pip install -e .",
        )  # fmt: skip
    return InstalledForTest(id=plugin_id, violations=violations)
