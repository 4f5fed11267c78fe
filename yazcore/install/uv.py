"""uv, for environments without pip. It downloads no wheels by name, so what is looked at has been unpacked aside."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import attrs

from yazcore.install.children import Report, run
from yazcore.install.installers import Needed, failure, surroundings
from yazcore.manifest.distributions import normalized

_WHEELS_ONLY = ("--only-binary", ":all:")
_STEPS = ("Resolved ", "Prepared ", "Downloading ", "Installed ")
_ADDED = re.compile(r"\+ (?P<name>[A-Za-z0-9._-]+)(==(?P<version>\S+))?( .*)?")


@attrs.frozen(kw_only=True)
class Uv:
    """uv, told to work on this environment; `path` is the host's."""

    version: str
    command: tuple[str, ...]
    path: tuple[str, ...]

    @property
    def label(self) -> str:
        """Its name and version."""
        return f"uv {self.version}".strip()

    def fetch(self, requirement: str, into: Path, told: Report) -> Path:
        """Unpack one wheel, without what it requires, into a folder of its own."""
        self._unpack([requirement], into, into.parent, f"find {requirement} as a wheel", told)
        return into

    def resolve(self, lines: Sequence[str], pins: Mapping[str, str], scratch: Path, told: Report) -> list[Needed]:
        """Ask what would be installed beside what there is: a `+` line each, of which uv has no stable other form."""
        wanted, held = scratch / "wanted.txt", scratch / "held.txt"
        wanted.write_text("\n".join(lines) + "\n", "utf-8")
        held.write_text("".join(f"{name}=={version}\n" for name, version in pins.items()), "utf-8")
        arguments = (
            "--dry-run", "--break-system-packages", *_WHEELS_ONLY, "-c", str(held), "-r", str(wanted)
        )  # fmt: skip
        needed = []
        for line in self._run(arguments, scratch, "find all that it requires", told):
            found = _ADDED.fullmatch(line.strip())
            if found is not None and found["version"] is not None:
                name, version = normalized(found["name"]), found["version"]
                needed.append(Needed(name, version, self.line(name, version, None)))
        return needed

    def line(self, name: str, version: str, sha256: str | None) -> str:
        """The version: uv keeps what it has once taken from an index, and checks it against the index's own hash."""
        return f"{name}=={version}"

    def unpack(self, lines: Sequence[str], site: Path, scratch: Path, told: Report) -> None:
        """Unpack these into a folder (`--target`)."""
        self._unpack(lines, site, scratch, "unpack it", told)

    def _unpack(self, lines: Sequence[str], site: Path, scratch: Path, doing: str, told: Report) -> None:
        wanted = scratch / "unpack.txt"
        wanted.write_text("\n".join(lines) + "\n", "utf-8")
        # copies, not links into uv's cache: what a plugin does to its files stays its own
        arguments = (
            "--no-deps", *_WHEELS_ONLY, "--compile-bytecode", "--link-mode", "copy", "--target", str(site),
            "-r", str(wanted),
        )  # fmt: skip
        self._run(arguments, scratch, doing, told)

    def _run(self, arguments: Sequence[str], folder: Path, doing: str, told: Report) -> tuple[str, ...]:
        def step(line: str) -> None:
            if line.startswith(_STEPS):
                told(line)

        whole = [*self.command, "pip", "install", "--python", sys.executable, "--no-progress", *arguments]
        ran = run(whole, environment=surroundings(self.path), folder=folder, told=step)
        if ran.status != 0:
            raise failure(self.label, doing, ran)
        return ran.lines
