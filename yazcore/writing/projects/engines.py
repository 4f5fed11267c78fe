"""Engines: the programs that turn sources into a PDF. The host runs them, never a plugin (design 8).

An engine runs in a child with limits, in its own process group, killed at the deadline; where the kernel has Landlock
it reads the parts of the project it is given and writes its build folder, nothing else. A format's `plan` only names
an engine that the host registered.
"""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Protocol

import attrs

from yazcore import Cancellation, ChildEnded, run_child

Ending = Literal["answered", "deadline", "cancelled", "output", "memory", "crashed"]

COMPILE_SECONDS = 60.0
"""How long one compilation may take, in seconds of the clock on the wall."""

NOWHERE = "http://127.0.0.1:9"
"""A proxy that answers nothing, on a port nobody listens on: what asks for the network fails at once."""

_MOST_ANSWER = 4 * 2**20
_OUT_OF_MEMORY = (b"memory allocation of", b"Cannot allocate memory", b"MemoryError")
_CHILD = Path(__file__).with_name("typst_child.py")


@attrs.frozen(kw_only=True)
class Limits:
    """What one run of an engine may take: `memory` (address space) and `file_size` in bytes."""

    memory: int = 4 * 2**30
    file_size: int = 64 * 2**20


@attrs.frozen(kw_only=True, eq=False)
class EngineJob:
    """One run: the project's folder, the entry below it (POSIX), what may be read, where the output goes.

    `readable` are the absolute paths the engine may read, chosen by the host; `fonts` are folders of the project.
    """

    root: Path
    entry: str
    fonts: tuple[str, ...]
    readable: tuple[Path, ...]
    build: Path
    seconds: float = COMPILE_SECONDS
    cancelled: Cancellation | None = None


@attrs.frozen(kw_only=True)
class EngineRun:
    """What one run came to.

    `ending` is `answered` (it said what happened, good or bad), `deadline`, `cancelled`, `output` (it said more than
    can be kept), `memory` or `crashed`; `code` the exit status, negative for a signal. `answer` is there exactly if it
    answered, without paths of this machine. `sandbox` is `landlock` or `none`, or `unknown` where it died before it
    said. `artefact` is where the PDF would be.
    """

    ending: Ending
    code: int
    seconds: float
    sandbox: str
    answer: Mapping[str, Any] | None
    artefact: Path


class Engine(Protocol):
    """What the host registers under an engine's id."""

    @property
    def extensions(self) -> frozenset[str]:
        """The extensions of the entries it understands, with their dots; another entry is refused, never guessed."""

    def unavailable(self) -> str | None:
        """Why it cannot run here, as a sentence with what to do; None where it can."""

    def run(self, job: EngineJob) -> EngineRun:
        """Run it. Blocks; raises `OSError` where the child cannot be started."""


class TypstEngine:
    """The embedded Typst compiler (the `typst` wheel), in a fresh child for each run.

    A child each time: the compiler keeps a cache for the life of its process, gigabytes after some edits of a long
    document (messense/typst-py#104); it has no way to stop; and an allocation that fails ends its process.
    `packages` is a folder of vendored packages (`preview/NAME/VERSION`); nothing is downloaded.
    """

    extensions = frozenset({".typ"})

    def __init__(self, packages: Path, limits: Limits | None = None, *, confine: bool = True) -> None:
        self._packages = packages
        self._limits = limits or Limits()
        self._confine = confine

    def unavailable(self) -> str | None:
        """Why Typst cannot run here."""
        if importlib.util.find_spec("typst") is None:
            return "Typst is not installed here: pip install 'yazcore[writing]'"
        return None

    def run(self, job: EngineJob) -> EngineRun:
        """Compile `job.entry` to a PDF in `job.build`."""
        artefact = job.build / "document.pdf"
        request = job.build / "job.json"
        request.write_text(json.dumps(self._request(job, artefact)), "ascii")
        ended = run_child(
            [sys.executable, "-I", "-S", "-B", str(_CHILD)],
            cwd=job.root,
            env=_environment(job.build),
            stdin=request,
            seconds=job.seconds,
            most_stdout=_MOST_ANSWER,
            cancelled=job.cancelled,
        )
        about, answer = _said(ended.stdout)
        ending = _ending(ended, answer)
        hide = _Hide(root=job.root, packages=self._packages, build=job.build)
        return EngineRun(
            ending=ending,
            code=ended.code,
            seconds=ended.seconds,
            sandbox=str(about.get("sandbox", "unknown")) if about else "unknown",
            answer=hide.everywhere(answer) if ending == "answered" else None,
            artefact=artefact,
        )

    def _request(self, job: EngineJob, artefact: Path) -> dict[str, Any]:
        return {
            "entry": job.entry,
            "output": str(artefact),
            "fonts": list(job.fonts),
            "packages": str(self._packages),
            "read": [*_without_links(job), os.path.realpath(self._packages), "/etc/localtime", "/usr/share/zoneinfo"],
            "write": [os.path.realpath(job.build)],
            "paths": _import_paths(),
            "memory": self._limits.memory,
            "fileSize": self._limits.file_size,
            # The compiler uses every core, so its processor time runs faster than the clock.
            "processor": int(job.seconds * (os.cpu_count() or 1)) + 5,
            "confine": self._confine,
            "parent": os.getpid(),
        }


def _without_links(job: EngineJob) -> list[str]:
    """What may be read, for the kernel: no link leads to the project, and one that appears in it leads nowhere."""
    root = os.path.realpath(job.root)
    return [os.path.join(root, path.relative_to(job.root)) for path in job.readable]


def _import_paths() -> list[str]:
    spec = importlib.util.find_spec("typst")
    folders = [Path(__file__).parents[3]]
    if spec is not None and spec.origin is not None:
        folders.append(Path(spec.origin).parents[1])
    return list(dict.fromkeys(map(str, folders)))


def _environment(build: Path) -> dict[str, str]:
    return {
        "PATH": "/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "HOME": str(build),
        "TMPDIR": str(build),
        "RUST_BACKTRACE": "0",
        **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"), NOWHERE),
    }


def _ending(ended: ChildEnded, answer: Mapping[str, Any] | None) -> Ending:
    if ended.ending == "processes":  # the compiler starts none
        return "crashed"
    if ended.ending != "exit":
        return ended.ending
    if ended.code == -signal.SIGXCPU:
        return "deadline"
    # An allocation that fails ends the process in whatever way the library at hand has chosen.
    failure = str((answer or {}).get("failure") or "").encode()
    if any(sign in said for said in (ended.stderr, failure) for sign in _OUT_OF_MEMORY):
        return "memory"
    return "answered" if answer is not None and ended.code == 0 else "crashed"


def _said(data: bytes) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    """The two lines of the child: about itself, and its answer; None for one that is not there or no object."""
    lines = data.split(b"\n", 1)
    said = [_object(line) for line in (*lines, b"")[:2]]
    return said[0], said[1]


def _object(line: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


@attrs.frozen(kw_only=True)
class _Hide:
    """Takes the paths of this machine out of what an engine says: the project's become relative."""

    root: Path
    packages: Path
    build: Path

    def text(self, text: str) -> str:
        for folder, name in ((self.build, "<build>"), (self.packages, "<packages>"), (self.root, "")):
            text = text.replace(f"{folder}/", f"{name}/" if name else "").replace(str(folder), name or ".")
        return text

    def everywhere(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.everywhere(item) for item in value]
        if isinstance(value, dict):
            return {key: self.everywhere(item) for key, item in value.items()}
        return value
