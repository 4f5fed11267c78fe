"""Everything before the question: what the plugin is, what it needs, and whether it may be installed at all.

Nothing of it is written but a private folder, which is gone again afterwards. Nothing of it runs.
"""

from __future__ import annotations

import contextlib
import hashlib
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import attrs
from packaging.version import InvalidVersion, Version

from yazcore.contract import Contract
from yazcore.home import Home
from yazcore.install.children import Report
from yazcore.install.environment import HOST, Environment, environment, fits, pins, requirements
from yazcore.install.installers import Installer, Needed, clash, find_installer
from yazcore.install.naming import Named, WheelFile, named
from yazcore.manifest.archives import MOST_ARCHIVE_BYTES
from yazcore.manifest.discovery import Found, discover
from yazcore.manifest.distributions import normalized
from yazcore.manifest.targets import Target, open_target
from yazcore.manifest.words import listed
from yazcore.plugin_folders import PluginFolder, plugin_folders
from yazcore.violations import YazError, errors


class RefusedTarget(YazError):
    """The plugin breaks a rule; `target` is what was looked at, with all that is wrong with it."""

    def __init__(self, target: Target) -> None:
        count = len(errors(target.violations))
        super().__init__(
            code="install-refused",
            message=f"it breaks {count} rule{'' if count == 1 else 's'}, so nothing was installed",
            fix="its author has to mend what is listed",
        )
        self.target = target


@attrs.frozen(kw_only=True)
class Prepared:
    """A plugin that can be installed, if the user wants it.

    * `target`: what was looked at; `plugin`, `version`, `distribution`: what it is.
    * `brings`: what comes into its folder beside itself. `line`: itself, for the installer.
    * `before`: the version that is there now, `before_version` what it is; None for the first one.
    * `already`: it is this very one, and there is nothing to do.
    """

    target: Target
    plugin: str
    version: str
    distribution: str
    line: str
    sha256: str | None
    brings: tuple[Needed, ...]
    before: PluginFolder | None
    before_version: str | None
    already: bool
    installer: Installer
    host: Environment
    scratch: Path


@contextlib.contextmanager
def prepared(
    target: str,
    contract: Contract,
    home: Home,
    *,
    shipped: Sequence[Path] = (),
    path: Sequence[str] | None = None,
    told: Report = lambda word: None,
) -> Iterator[Prepared]:
    """Look at a plugin and find out what it needs, for as long as the block runs.

    * `target`: the file of a wheel, or a name as `naming.named` takes it.
    * `path`: the host's; None for `sys.path`.
    * `told`: takes a word about what goes on.

    Raises `YazError`: as `naming.named`, `find_installer`, `open_target` and the installer do; `RefusedTarget`;
    `install-with-pip`, `install-older`, `install-same-version`, `install-host-unknown`, `install-clash`,
    `install-brings-plugin`.
    """
    path = [*(sys.path if path is None else path)]
    wanted = named(target, contract)
    host = environment(path)
    held = pins(host)
    if not held:
        raise YazError(
            "install-host-unknown", f"{HOST} runs from a folder that pip has not seen: nothing can be fitted to it",
            "install it in this environment: pip install -e FOLDER",
        )  # fmt: skip
    installer = find_installer(host, path)
    with tempfile.TemporaryDirectory(prefix="yaz-install-") as folder:
        scratch = Path(folder)
        told(f"looking at {target}")
        looked_at, source = _bring(wanted, contract, installer, path, shipped, scratch, told)
        if errors(looked_at.violations):
            raise RefusedTarget(looked_at)
        plugin, version, distribution = _identity(looked_at)
        _refuse_beside(plugin, contract, path)
        before = next(iter(plugin_folders(home).get(plugin, ())), None)
        before_version = None if before is None else version_in(before, contract)
        already = _already(version, before_version, plugin, contract, before, source.sha256)
        brings: list[Needed] = []
        if not already:
            _refuse_direct(looked_at, source.extras, held)
            told(f"finding what {distribution} requires")
            found = installer.resolve([source.resolving, HOST], held, scratch, told)
            brings = [one for one in found if one.name != distribution]
            _refuse_needed(brings, held, contract)
        yield Prepared(
            target=looked_at, plugin=plugin, version=version, distribution=distribution,
            line=source.unpacking or installer.line(distribution, version, source.sha256), sha256=source.sha256,
            brings=tuple(sorted(brings, key=lambda one: one.name)), before=before, before_version=before_version,
            already=already, installer=installer, host=host, scratch=scratch,
        )  # fmt: skip


@attrs.frozen(kw_only=True)
class _Source:
    """Where the plugin was found: its line while requirements are looked for, and, where it is a file, to unpack."""

    resolving: str
    unpacking: str | None
    sha256: str | None
    extras: frozenset[str]


def _bring(
    wanted: WheelFile | Named,
    contract: Contract,
    installer: Installer,
    path: Sequence[str],
    shipped: Sequence[Path],
    scratch: Path,
    told: Report,
) -> tuple[Target, _Source]:
    """Have the wheel here, and look at it. What was looked at is what is installed: it is held to its hash."""
    if isinstance(wanted, WheelFile):
        copy = _copy(wanted.path, scratch)
        looked_at = open_target(copy, contract, shipped=shipped, path=path)
        sha256 = hashlib.sha256(copy.read_bytes()).hexdigest()
        line = f"{looked_at.distribution} @ {{}} --hash=sha256:{sha256}"
        return looked_at, _Source(
            resolving=f"{looked_at.distribution} @ {copy.as_uri()}", unpacking=line.format(wanted.path.as_uri()),
            sha256=sha256, extras=frozenset(),
        )  # fmt: skip
    brought = installer.fetch(str(wanted.requirement), scratch / "fetched", told)
    extras = frozenset(wanted.requirement.extras)
    suffix = f"[{','.join(sorted(extras))}]" if extras else ""
    if brought.is_file():
        looked_at = open_target(brought, contract, shipped=shipped, path=path)
        sha256 = hashlib.sha256(brought.read_bytes()).hexdigest()
        resolving = f"{wanted.distribution}{suffix} @ {brought.as_uri()}"
        return looked_at, _Source(resolving=resolving, unpacking=None, sha256=sha256, extras=extras)
    looked_at = open_target(wanted.distribution, contract, path=[str(brought)])
    resolving = f"{wanted.distribution}{suffix}=={looked_at.version}"
    return looked_at, _Source(resolving=resolving, unpacking=None, sha256=None, extras=extras)


def _copy(wheel: Path, scratch: Path) -> Path:
    """A copy of our own, which nobody changes while the user reads; of what is too large, only so much as shows it."""
    copy = scratch / wheel.name
    with open(wheel, "rb") as source, open(copy, "wb") as sink:
        left = MOST_ARCHIVE_BYTES + 1
        while left and (data := source.read(min(left, 2**20))):
            sink.write(data)
            left -= len(data)
    shutil.copymode(wheel, copy)
    return copy


def _identity(target: Target) -> tuple[str, str, str]:
    """Id, version and distribution of a target without errors."""
    assert target.id is not None, "a manifest without errors has an id"
    assert target.version is not None, "a wheel without errors has a version"
    assert target.distribution is not None, "a wheel without errors has a name"
    return target.id, target.version, target.distribution


def version_in(folder: PluginFolder, contract: Contract) -> str | None:
    """The version that lies in a plugin's folder; None where nothing is found there."""
    found = found_in(folder.site, folder.plugin, contract)
    return None if found is None else found.version


def found_in(site: Path, plugin: str, contract: Contract) -> Found | None:
    """The plugin in a folder, as discovery finds it."""
    found, _ = discover(contract, [str(site)])
    return next((one for one in found if one.id == plugin), None)


# -- what may be installed: decisions on data -------------------------------------------------------------------------


def _refuse_beside(plugin: str, contract: Contract, path: Sequence[str]) -> None:
    found, _ = discover(contract, path)
    for one in found:
        if one.id == plugin:
            raise YazError(
                "install-with-pip", f"{plugin} {one.version} is installed with pip, beside {contract.host} itself",
                f"upgrade it with pip, or first: pip uninstall {one.distribution}",
            )  # fmt: skip


def _already(
    version: str, there: str | None, plugin: str, contract: Contract, before: PluginFolder | None, sha256: str | None
) -> bool:
    """Whether this very version is there. An update is a newer one (Y-59): an older or another one is refused."""
    if there is None or before is None:
        return False
    order = _order(version, there)
    if order < 0:
        raise YazError(
            "install-older", f"{plugin} {there} is installed, and this is {version}",
            f"{contract.host} rollback {plugin} goes back to the version before; "
            f"{contract.host} uninstall {plugin} makes room for any",
        )  # fmt: skip
    if order > 0:
        return False
    recorded = before.record().get("sha256")
    if sha256 is not None and recorded is not None and recorded != sha256:
        raise YazError(
            "install-same-version", f"{plugin} {there} is installed already, with other content",
            f"its author has to give it another version; {contract.host} uninstall {plugin} makes room for this one",
        )  # fmt: skip
    return True


def _order(one: str, other: str) -> int:
    try:
        first, second = Version(one), Version(other)
    except InvalidVersion:
        return 0 if one == other else 1
    return (first > second) - (first < second)


def _refuse_direct(target: Target, extras: frozenset[str], held: dict[str, str]) -> None:
    """What the plugin itself requires has to fit what a worker is made of: said before anybody goes looking."""
    wrong = [
        f"it requires {one.name}{one.specifier}, and {one.name} is {held[normalized(one.name)]}"
        for one in requirements(target.requires, extras)
        if normalized(one.name) in held and not fits(one, held[normalized(one.name)])
    ]
    if wrong:
        raise clash("; ".join(wrong))


def _refuse_needed(brings: Sequence[Needed], held: dict[str, str], contract: Contract) -> None:
    """No second copy of what a worker is made of, and no plugin inside a plugin."""
    seconds = [f"{one.name} {one.version}" for one in brings if one.name in held]
    if seconds:
        raise clash(f"a second {listed(seconds)} would be needed")
    plugins = [one.name for one in brings if one.name.startswith(normalized(contract.prefix))]
    if plugins:
        raise YazError(
            "install-brings-plugin", f"it requires another plugin, {listed(plugins)}",
            "a plugin is installed, seen and granted by itself: its author has to leave that requirement out",
        )  # fmt: skip
