"""What a person may ask to have installed: the file of a wheel, or a plugin's name, with a version if they like."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import attrs
from packaging.requirements import InvalidRequirement, Requirement

from yazcore.contract import Contract
from yazcore.manifest.distributions import normalized
from yazcore.violations import YazError


@attrs.frozen
class WheelFile:
    """A wheel where it lies."""

    path: Path


@attrs.frozen
class Named:
    """A distribution to be looked for where pip looks; `requirement` has the version and extras that were named."""

    distribution: str
    requirement: Requirement


def named(target: str, contract: Contract) -> WheelFile | Named:
    """What the user means. Raises `YazError`: `install-not-a-wheel`, `target-unknown`, `install-target`."""
    mode = _mode(target)
    if stat.S_ISDIR(mode):
        raise YazError(
            "install-not-a-wheel", f"{target!r} is a folder, and installing it would run its build",
            "install its wheel: python -m build --wheel FOLDER makes it; pip install -e FOLDER is for working on it",
        )  # fmt: skip
    if target.endswith(".whl") and mode:
        return WheelFile(Path(target).absolute())
    if mode:
        raise YazError(
            "install-not-a-wheel", f"{target!r} is no wheel, and only wheels can be installed without running anything",
            "give a .whl file; python -m build --wheel makes one from a project or an unpacked sdist",
        )  # fmt: skip
    if not target or "/" in target or os.sep in target or target.endswith((".whl", ".tar.gz", ".zip")):
        fix = "give the file of a wheel, or a plugin's name"
        raise YazError("target-unknown", f"there is no file {target!r}", fix)
    try:
        requirement = Requirement(target)
    except InvalidRequirement:
        requirement = None
    if requirement is None or requirement.url is not None or requirement.marker is not None:
        raise YazError(
            "install-target", f"{target!r} is neither the file of a wheel nor a plugin's name",
            f"write {contract.host} install NAME, NAME==VERSION, or a .whl file",
        )  # fmt: skip
    name = normalized(requirement.name)
    if not name.startswith(normalized(contract.prefix)):
        name = normalized(contract.prefix + name)
    requirement.name = name
    return Named(name, requirement)


def _mode(name: str) -> int:
    try:
        return os.stat(name).st_mode
    except (OSError, ValueError):
        return 0
