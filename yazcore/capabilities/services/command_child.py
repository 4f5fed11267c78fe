"""The child that becomes a command: reads a job, gives up what the command must not have, and runs it in its place.

Run by file, `python -I -S -B command_child.py`: no site-packages hook, environment variable or file of anybody's takes
part in its start. Standard input is a file: the job's length in eight digits, the job (JSON), then what the command is
to read. Where it cannot do what the job says it writes the job's `sign` and a sentence to standard error, and ends.

Job: `paths` (for imports), `parent` (the host's process), `program`, `argv`, `folder`, `environment`, `sandbox`,
`read`, `write`, `execute` (paths), `memory`, `fileSize` (bytes), `openFiles`, `processor` (seconds),
`threads` (how many more than there are), `sign`.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
from typing import Any, NoReturn

LENGTH_DIGITS = 8
_UNKNOWN = 100_000


def main() -> NoReturn:
    """Do the job on standard input."""
    job = json.loads(_exactly(int(_exactly(LENGTH_DIGITS))))
    try:
        sys.path.extend(job["paths"])
        _end_with(job["parent"])
        _confine(job)
        os.chdir(job["folder"])
        os.execve(job["program"], job["argv"], job["environment"])  # noqa: S606 - that no shell takes part is meant
    except BaseException as error:  # noqa: BLE001 - whatever it is, the host must hear of it
        words = error.strerror if isinstance(error, OSError) else None
        os.write(2, f"{job['sign']} {words or error}".encode("utf-8", "replace"))
        os._exit(1)


def _exactly(count: int) -> bytes:
    data = b""
    while len(data) < count:
        more = os.read(0, count - len(data))
        if not more:
            raise EOFError("the job is cut off")
        data += more
    return data


def _end_with(parent: int) -> None:
    """Die when the host does: nobody would stop a command that nobody waits for."""
    from yazcore.confinement.system import DEATH_SIGNAL, prctl

    if sys.platform == "linux":
        prctl(DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != parent:
        raise RuntimeError("the host has gone")


def _threads() -> int:
    """The threads of the whole machine: this user has no more. A user's limit counts all that the user runs."""
    try:
        with open("/proc/loadavg", "rb") as file:
            return int(file.read().split()[3].partition(b"/")[2])
    except (OSError, ValueError, IndexError):
        return _UNKNOWN


def _confine(job: dict[str, Any]) -> None:
    from yazcore.confinement.process import drop_capabilities, limit

    for what, most in (
        (resource.RLIMIT_NPROC, _threads() + job["threads"]),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_AS, job["memory"]),
        (resource.RLIMIT_FSIZE, job["fileSize"]),
        (resource.RLIMIT_NOFILE, job["openFiles"]),
        (resource.RLIMIT_CPU, job["processor"]),
    ):
        limit(what, most)
    if not job["sandbox"]:
        return
    from yazcore.confinement import seccomp
    from yazcore.confinement.landlock import restrict_files, why_not

    drop_capabilities()
    version = restrict_files(read=job["read"], write=job["write"], execute=job["execute"])
    if version == 0:
        raise RuntimeError(why_not() or "there is no Landlock")
    seccomp.load(seccomp.command_program(version))


if __name__ == "__main__":
    main()
