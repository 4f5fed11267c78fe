"""Run code where the kernel seems to lack something: `python lacking.py ERRNO CALL,CALL CODE`.

A seccomp filter stands in for an old kernel, one that was booted without Landlock, or a container's profile, so no
container is needed. It is loaded by `prctl`, so that the call `seccomp` can be made to fail as well.
"""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from yazcore.confinement import seccomp
from yazcore.confinement.system import NO_NEW_PRIVILEGES, libc, prctl

_SET_SECCOMP, _FILTER = 22, 2


def lack(error: int, calls: list[str]) -> None:
    """Let these calls fail in this process, and in whatever it starts."""
    program = seccomp.blocking_program(calls, error)
    buffer = ctypes.create_string_buffer(program, len(program))
    prepared = seccomp._FilterProgram(len(program) // 8, ctypes.cast(buffer, ctypes.c_void_p))
    prctl(NO_NEW_PRIVILEGES, 1)
    assert libc().prctl(_SET_SECCOMP, _FILTER, ctypes.byref(prepared), 0, 0) == 0


if __name__ == "__main__":
    lack(int(sys.argv[1]), sys.argv[2].split(","))
    exec(sys.argv[3])
