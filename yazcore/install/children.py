"""Running an installer as a child process: what it says, line by line, and nothing of it left when we stop."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import attrs

Report = Callable[[str], None]
"""Takes a word about what goes on, for a person who waits."""

_MOST_LINES = 2_000
_ENDING_SECONDS = 5.0


@attrs.frozen
class Ran:
    """How a child ended, and the last lines of what it said on both outputs."""

    status: int
    lines: tuple[str, ...]


def run(arguments: Sequence[str], *, environment: Mapping[str, str], folder: Path, told: Report) -> Ran:
    """Run a command in a folder to its end; `told` gets each line.

    It has a process group of its own, which ends with us: on Ctrl-C, or whatever else is raised meanwhile. What it
    keeps for the time being lies in the folder, too.
    """
    environment = {**environment, "TMPDIR": str(folder)}
    lines: deque[str] = deque(maxlen=_MOST_LINES)
    with subprocess.Popen(  # noqa: S603 - an installer that the user has, and arguments of our own
        arguments, env=environment, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, encoding="utf-8", errors="replace", start_new_session=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        try:
            for line in process.stdout:
                lines.append(line.rstrip())
                told(line.strip())
            process.wait()
        except BaseException:
            _end(process)
            raise
    return Ran(process.returncode, tuple(lines))


def _end(process: subprocess.Popen[str]) -> None:
    """End the child and what it has started: asked first, so that it leaves nothing half done."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(_ENDING_SECONDS)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
