"""pip: downloads, resolves against the host's environment, unpacks; each wheel held to the hash that was seen first."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from yazcore.install.children import Report, run
from yazcore.install.installers import Needed, failure, surroundings
from yazcore.manifest.distributions import normalized
from yazcore.violations import YazError

_WHEELS_ONLY = ("--only-binary", ":all:")
_NOT_ELSEWHERE = ("--no-user", "--prefix=", f"--root={os.sep}")
"""Takes back what a configuration file may say of where to install; an empty root would be the working folder."""

_STEPS = ("Collecting ", "Downloading ", "Processing ", "Installing ", "Obtaining ")


@attrs.frozen(kw_only=True)
class Pip:
    """The pip of this environment, on the host's path."""

    version: str
    path: tuple[str, ...]

    @property
    def label(self) -> str:
        """Its name and version."""
        return f"pip {self.version}"

    @property
    def command(self) -> tuple[str, ...]:
        """How it is called."""
        return (sys.executable, "-P", "-m", "pip")

    def fetch(self, requirement: str, into: Path, told: Report) -> Path:
        """Download one wheel."""
        into.mkdir()
        arguments = ("download", "--no-deps", *_WHEELS_ONLY, "--dest", str(into), requirement)
        self._run(arguments, into.parent, f"find {requirement} as a wheel", told)
        (wheel,) = into.glob("*.whl")
        return wheel

    def resolve(self, lines: Sequence[str], pins: Mapping[str, str], scratch: Path, told: Report) -> list[Needed]:
        """Ask what would be installed beside what there is (`--dry-run --report`)."""
        wanted, held, report = scratch / "wanted.txt", scratch / "held.txt", scratch / "report.json"
        wanted.write_text("\n".join(lines) + "\n", "utf-8")
        held.write_text("".join(f"{name}=={version}\n" for name, version in pins.items()), "utf-8")
        arguments = (
            "install", "--dry-run", "--report", str(report), *_NOT_ELSEWHERE, "--target=", *_WHEELS_ONLY,
            "-c", str(held), "-r", str(wanted),
        )  # fmt: skip
        self._run(arguments, scratch, "find all that it requires", told)
        return [_needed(entry) for entry in json.loads(report.read_text("utf-8"))["install"]]

    def line(self, name: str, version: str, sha256: str | None) -> str:
        """The very file: pip refuses another of that version."""
        return f"{name}=={version}" + (f" --hash=sha256:{sha256}" if sha256 is not None else "")

    def unpack(self, lines: Sequence[str], site: Path, scratch: Path, told: Report) -> None:
        """Unpack these into a folder (`--target`), checked against their hashes."""
        wanted = scratch / "unpack.txt"
        wanted.write_text("\n".join(lines) + "\n", "utf-8")
        arguments = (
            "install", "--no-deps", "--require-hashes", *_NOT_ELSEWHERE, f"--target={site}", *_WHEELS_ONLY,
            "-r", str(wanted),
        )  # fmt: skip
        self._run(arguments, scratch, "unpack it", told)

    def _run(self, arguments: Sequence[str], folder: Path, doing: str, told: Report) -> None:
        def step(line: str) -> None:
            if line.startswith(_STEPS):
                told(line)

        ran = run([*self.command, *arguments], environment=surroundings(self.path), folder=folder, told=step)
        if ran.status != 0:
            raise failure(self.label, doing, ran)


def _needed(entry: Mapping[str, Any]) -> Needed:
    """One entry of a report (version 0 and 1)."""
    name, version = entry["metadata"]["name"], entry["metadata"]["version"]
    download = entry["download_info"]
    archive = download.get("archive_info", {})
    kind, _, value = archive.get("hash", "").partition("=")
    hashes = {kind: value, **archive.get("hashes", {})}
    if "sha256" not in hashes:
        raise YazError(
            "installer-failed", f"pip found {name} {version} where nothing says what is in it",
            "let it come from an index or a folder of wheels; nothing was installed",
        )  # fmt: skip
    where = f"{name} @ {download['url']}" if entry["is_direct"] else f"{name}=={version}"
    return Needed(normalized(name), version, f"{where} --hash=sha256:{hashes['sha256']}")
