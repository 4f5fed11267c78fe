"""The rules for a distribution: what it publishes and which files it brings (design 5, trials 10).

Asked of what is installed, by discovery, and of what is not yet, by `targets`: the same codes, in words that fit.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Container, Iterator, Mapping, Sequence

import attrs

from yazcore.contract import Contract
from yazcore.manifest.distributions import Broken, entry_points, normalized
from yazcore.manifest.names import LONGEST_ID, is_id
from yazcore.manifest.words import listed, quoted
from yazcore.violations import Violation

FILE_NAME = "manifest.json"
"""What a manifest's file is called."""

REVIEW_FILE, WAIVERS_FILE = "review.toml", "waivers.toml"
"""What a reviewer's files are called, which lie beside the manifest."""

SCRIPT_GROUPS = frozenset({"console_scripts", "gui_scripts"})
"""The entry-point groups that only make commands: nothing is loaded because of them."""

HOST_PACKAGES = frozenset({"yazcore"})
"""Packages that belong to the host even where it runs from a checkout, without a distribution."""

_MOST_NAMED = 5
_VALUE = re.compile(r"(?P<package>[A-Za-z_][A-Za-z0-9_]*):manifest\.json")
_STARTUP = re.compile(r"([^/]+\.data/(purelib|platlib)/)?[^/]+\.pth")


@attrs.frozen(kw_only=True)
class Brought:
    """What one distribution brings.

    * `name`: its name, normalized. `info`: its metadata folder, or the empty text where there is none yet.
    * `groups`: its entry points, by group and name.
    * `files`: every file, with slashes, relative to where it is installed; None where nothing lists them.
    * `installed`: whether they are there already. What is there has to be undone, the rest is for its author to mend.
    """

    name: str
    groups: Mapping[str, Mapping[str, str]]
    info: str = ""
    files: Sequence[str] | None = None
    installed: bool = True

    @property
    def scripts(self) -> frozenset[str]:
        """The names of its commands."""
        return frozenset(name for group in SCRIPT_GROUPS for name in self.groups.get(group, ()))


def entry_of(groups: Mapping[str, Mapping[str, str]], contract: Contract) -> tuple[str, str] | None:
    """The plugin's id and package as the one entry point has them; None where it is not what it has to be."""
    entries = groups.get(contract.group, {})
    if len(entries) != 1:
        return None
    ((plugin_id, value),) = entries.items()
    form = _VALUE.fullmatch(value)
    return (plugin_id, form["package"]) if form is not None and is_id(plugin_id) else None


def entry_faults(brought: Brought, contract: Contract) -> Iterator[Violation]:
    """One manifest, published under the id that the distribution is named for (design 4)."""
    entries = brought.groups.get(contract.group, {})
    if len(entries) != 1:
        yield Violation(
            "entry-point-count", f"it publishes {len(entries)} manifests in the group {contract.group}",
            "one distribution holds one plugin: its author has to publish exactly one",
        )  # fmt: skip
        return
    ((plugin_id, value),) = entries.items()
    if not is_id(plugin_id):
        yield Violation(
            "entry-point-id", f"the entry point is called {quoted(plugin_id)}, which is not a plugin id",
            f"its author has to use a-z, 0-9 and single hyphens, at most {LONGEST_ID} characters",
        )  # fmt: skip
    elif brought.name != normalized(contract.prefix + plugin_id):
        yield Violation(
            "distribution-name", f"{brought.name} publishes the plugin {quoted(plugin_id)}",
            f"a plugin with that id comes from {normalized(contract.prefix + plugin_id)} only",
        )  # fmt: skip
    if _VALUE.fullmatch(value) is None:
        yield Violation(
            "entry-point-value", f"the entry point's value is {quoted(value)}",
            f"its author has to write PACKAGE:{FILE_NAME}, with a top-level package",
        )  # fmt: skip


def group_faults(brought: Brought, contract: Contract) -> Iterator[Violation]:
    """No entry points of other groups: whoever owns a group loads them in this process, granted or not."""
    own = SCRIPT_GROUPS | {contract.group}
    others = sorted(group for group, entries in brought.groups.items() if entries and group not in own)
    if others:
        yield Violation(
            "distribution-foreign-group", f"it also publishes entry points in {listed(others)}, which others load",
            f"its author has to publish in {contract.group} alone",
        )  # fmt: skip


def scripts_in(text: str) -> Iterator[str]:
    """The names of the commands in an `entry_points.txt`; none where it is broken."""
    try:
        groups = entry_points(text)
    except Broken:
        return
    for group in sorted(SCRIPT_GROUPS):
        yield from groups.get(group, ())


def script_faults(
    brought: Brought, contract: Contract, owners: Mapping[str, frozenset[str]]
) -> Iterator[Violation]:
    """No command of another distribution's name, nor of the host's: installing it replaces that command.

    `owners` are the distributions that bring each command.
    """
    for script in sorted(brought.scripts):
        others = owners.get(script, frozenset()) - {brought.name}
        if not others and script != contract.host:
            continue
        owner = min(others, default=contract.host)
        if brought.installed:
            message = f"its command {quoted(script)} has replaced the one of {owner}"
            fix = f"uninstall {brought.name}, and install {owner} again"
        else:
            message = f"its command {quoted(script)} would replace the one of {owner}"
            fix = "its author has to give the command another name"
        yield Violation("distribution-script-taken", message, fix)


def package_faults(brought: Brought, package: str, others: Container[str]) -> Iterator[Violation]:
    """The package is no other distribution's: installing it overwrites files without a word (trials 10).

    `others` are the normalized names of what is installed; a distribution mostly has the name of its package.
    """
    name = normalized(package)
    if package in sys.stdlib_module_names or package in HOST_PACKAGES or (name != brought.name and name in others):
        yield package_taken(brought, package, "Python" if package in sys.stdlib_module_names else name)


def package_taken(brought: Brought, package: str, owner: str) -> Violation:
    """The fault that a package belongs to another, who is called `owner`."""
    fix = "its author has to give the package a name of its own"
    if brought.installed:
        fix = f"uninstall {brought.name}, and install again whatever else brings that package"
    return Violation("distribution-package-taken", f"its package {quoted(package)} is the one of {owner}", fix)


def file_faults(brought: Brought, package: str) -> Iterator[Violation]:
    """Files in its package and its metadata folder only, and none that Python runs when it starts."""
    verb = "it installed" if brought.installed else "it would install"
    if brought.files is None:
        yield Violation(
            "distribution-record-missing", f"{brought.name} has no RECORD of the files it installed",
            "install it with pip, which writes one",
        )  # fmt: skip
        return
    startup = [file for file in brought.files if file.endswith(".pth") and _STARTUP.fullmatch(file)]
    if startup:
        yield Violation(
            "distribution-startup-file",
            f"{verb} {listed(startup, _MOST_NAMED)}, which Python runs whenever it starts",
            f"uninstall {brought.name}" if brought.installed else "its author has to leave that file out",
        )
    inside = tuple(f"{folder}/" for folder in (package, brought.info) if folder)
    stray = [
        file
        for file in brought.files
        if file not in startup
        and not _lies_in(file, inside)
        and not _is_script(file, brought.scripts, installed=brought.installed)
    ]
    if stray:
        yield Violation(
            "distribution-stray-file",
            f"{verb} {listed(stray, _MOST_NAMED)}, outside its package {quoted(package)}",
            f"uninstall {brought.name}, and install again whatever else owned that file"
            if brought.installed
            else "its author has to keep every file inside the package",
        )
    if f"{package}/{FILE_NAME}" not in brought.files:
        yield Violation(
            "manifest-not-owned", f"{brought.name} did not install {package}/{FILE_NAME}",
            "its author has to ship the file in the wheel",
        )  # fmt: skip


def _lies_in(file: str, folders: tuple[str, ...]) -> bool:
    return file.startswith(folders) and ".." not in file.split("/")


def _is_script(file: str, scripts: Container[str], *, installed: bool) -> bool:
    """Whether a file outside is the command that an entry point asked for, `../../../bin/NAME`.

    uv writes `bin/NAME` for a folder of its own, in which no shell looks for commands.
    """
    *folders, name = file.split("/")
    return (
        (folders[:1] == [".."] or (installed and len(folders) == 1))
        and folders[-1] in ("bin", "Scripts")
        and (name in scripts or name.removesuffix(".exe") in scripts)
    )
