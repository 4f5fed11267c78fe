"""What the kernel really enforces here, asked by doing it: a child gives everything up and then tries to get out.

A kernel can say that it has Landlock and not hold the rules (a file system that it does not know, a patched kernel, an
emulation), so saying is not enough.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sys
from collections.abc import Callable

from yazcore.confinement import landlock, seccomp
from yazcore.confinement.process import CannotConfine, Policy, confine

_MOST = 65_536


def why_not(policy: Policy | None = None) -> str | None:
    """Why a worker cannot be confined here, as a sentence without its end; None where it can.

    Forks this process, which must have no other thread. `policy` opens nothing unless a test wants to see a lie.
    """
    if not sys.platform.startswith("linux"):
        return f"isolated plugins need Linux, and this is {sys.platform}"
    if reason := landlock.why_not() or seccomp.why_not():
        return reason
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        answer = ["the child that asks died"]
        with contextlib.suppress(BaseException):
            os.close(reading)
            answer = _answers(policy or Policy())
        with contextlib.suppress(BaseException):
            os.write(writing, json.dumps(answer).encode())
        os._exit(0)
    os.close(writing)
    try:
        said = os.read(reading, _MOST)
    finally:
        os.close(reading)
        os.waitpid(child, 0)
    return _verdict(json.loads(said) if said else ["the child that asks died"])


def _verdict(answers: list[str]) -> str | None:
    if not answers:
        return None
    if answers[0] in _ATTEMPTS:
        return f"the kernel took the rules and does not hold them: a confined process could {', '.join(answers)}"
    return answers[0]


def _answers(policy: Policy) -> list[str]:
    """What a confined process could do all the same, or one sentence about why it could not be confined."""
    try:
        confine(policy)
    except CannotConfine as reason:
        return [str(reason)]
    except OSError as error:
        return [f"the kernel refuses to confine a process: {error.args[1]}"]
    return [name for name, attempt in _ATTEMPTS.items() if _works(attempt)]


def _works(attempt: Callable[[], object]) -> bool:
    try:
        attempt()
    except OSError:
        return False
    return True


def _fork() -> None:
    if os.fork() == 0:
        os._exit(0)


_ATTEMPTS: dict[str, Callable[[], object]] = {
    "read a file": lambda: os.open("/etc/passwd", os.O_RDONLY),
    "list a folder": lambda: os.listdir("/"),
    "write a file": lambda: os.open("/dev/null", os.O_WRONLY),
    "open a socket": lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM),
    "start a process": _fork,
}
