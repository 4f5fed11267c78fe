"""pip, or uv where the environment has no pip: what is asked of them, and which one is there.

Neither runs anything of what it installs: only wheels are taken, and `--target` unpacks them. What the user has told
them of indexes, folders of wheels, proxies and certificates counts; where they install is ours to say.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Protocol

import attrs

from yazcore.install.children import Ran, Report
from yazcore.install.environment import Environment
from yazcore.violations import YazError

OLDEST_PIP = (22, 2)
"""The first pip that reports what it would install (`--dry-run --report`)."""

_DISPLACING = (
    "TARGET", "PREFIX", "ROOT", "USER", "REQUIREMENT", "EDITABLE", "REPORT", "DRY_RUN", "IGNORE_INSTALLED", "UPGRADE",
    "FORCE_REINSTALL", "PYTHON", "NO_DEPS", "REQUIRE_VIRTUALENV", "QUIET", "VERBOSE", "LOG", "REQUIRE_HASHES",
    "NO_BINARY", "PLATFORM", "PYTHON_VERSION", "IMPLEMENTATION", "ABI", "DEST", "SRC", "CONFIG_SETTINGS",
)  # fmt: skip
_UV_DISPLACING = ("TARGET", "PREFIX", "PYTHON", "SYSTEM_PYTHON", "PROJECT", "WORKING_DIRECTORY", "WORKING_DIR")
_LEFT_OUT = frozenset(
    {"PYTHONHOME", *(f"PIP_{one}" for one in _DISPLACING), *(f"UV_{one}" for one in _UV_DISPLACING)}
)
"""Variables that would say what is installed, and where: that is ours to say."""


@attrs.frozen
class Needed:
    """One distribution that has to be unpacked, as an installer names it: `line` is a line of a requirements file."""

    name: str
    version: str
    line: str


class Installer(Protocol):
    """What fetches, resolves and unpacks. Every method raises `YazError`, with the installer's own words."""

    @property
    def label(self) -> str:
        """Its name and version, for people."""

    @property
    def command(self) -> tuple[str, ...]:
        """How it is called."""

    def fetch(self, requirement: str, into: Path, told: Report) -> Path:
        """Bring one distribution, without what it requires; gives its wheel, or the folder it was unpacked into."""

    def resolve(self, lines: Sequence[str], pins: Mapping[str, str], scratch: Path, told: Report) -> list[Needed]:
        """What the host lacks for these requirements, with the pinned versions as they are."""

    def line(self, name: str, version: str, sha256: str | None) -> str:
        """The line for a distribution that is taken by its name."""

    def unpack(self, lines: Sequence[str], site: Path, scratch: Path, told: Report) -> None:
        """Unpack exactly these into a folder."""


def find_installer(host: Environment, path: Sequence[str]) -> Installer:
    """pip if this environment has it, else uv. Raises `YazError` `installer-missing`, `installer-too-old`."""
    from yazcore.install.pip import Pip
    from yazcore.install.uv import Uv

    pip = host.version("pip")
    if pip is not None and PathFinder.find_spec("pip", [*path]) is not None:
        if release(pip) < OLDEST_PIP:
            oldest = ".".join(map(str, OLDEST_PIP))
            raise YazError(
                "installer-too-old", f"pip {pip} cannot say what it would install; {oldest} is the first that can",
                f"{sys.executable} -m pip install --upgrade pip",
            )  # fmt: skip
        return Pip(version=pip, path=tuple(path))
    if host.version("uv") is not None and PathFinder.find_spec("uv", [*path]) is not None:
        return Uv(version=host.version("uv") or "", command=(sys.executable, "-P", "-m", "uv"), path=tuple(path))
    if (found := shutil.which("uv")) is not None:
        return Uv(version="", command=(found,), path=tuple(path))
    raise YazError(
        "installer-missing", "this environment has neither pip nor uv",
        f"install one: {sys.executable} -m ensurepip, or uv",
    )  # fmt: skip


def release(version: str) -> tuple[int, ...]:
    """The numbers that a version begins with."""
    return tuple(int(part) for part in re.findall(r"\d+", version.partition("+")[0])[:3])


def surroundings(path: Sequence[str]) -> dict[str, str]:
    """The environment of an installer: the user's, less what would displace; it sees what the host sees."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in _LEFT_OUT
    }
    return kept | {
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_NO_INPUT": "1",
        "PIP_NO_COLOR": "1",
        "NO_COLOR": "1",
        "PYTHONPATH": os.pathsep.join(entry for entry in path if entry),
        "PYTHONSAFEPATH": "1",
        "PYTHONIOENCODING": "utf-8",
    }


_FAULT = re.compile(r"(?:ERROR:|error:|cause:|hint:|×|├─▶|╰─▶)\s*(.+)")
_MOST_SHOWN = 20
_CONSTRAINED = "The user requested (constraint)"


def failure(who: str, doing: str, ran: Ran) -> YazError:
    """What an installer's failure means, in its own words: no code of ours knows better what it could not find."""
    said = list(_faults(ran.lines)) or [line.strip() for line in ran.lines if line.strip()][-_MOST_SHOWN:]
    words = " ".join(dict.fromkeys(said[:_MOST_SHOWN])).rstrip(".")
    if any(_CONSTRAINED in line for line in ran.lines):
        return clash(words)
    return YazError(
        "installer-failed", f"{who} could not {doing}: {words or f'it ended with status {ran.status}'}",
        "mend what it says, and try again; nothing was installed",
    )  # fmt: skip


def _faults(lines: Sequence[str]) -> Iterator[str]:
    """The lines that say what is wrong, with those that are indented below them."""
    goes_on = False
    for line in filter(str.strip, lines):
        found = _FAULT.match(line.strip())
        goes_on = found is not None or (goes_on and line.startswith(" "))
        if goes_on:
            yield found[1] if found is not None else line.strip()


def clash(why: str) -> YazError:
    """The fault that a plugin cannot live beside what its worker is made of."""
    return YazError(
        "install-clash", f"it does not fit what yaz itself runs with: {why}",
        "its author has to allow these versions; nothing was installed",
    )  # fmt: skip
