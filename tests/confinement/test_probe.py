"""What the kernel is said to hold, where it holds everything and where it lacks each part."""

from __future__ import annotations

import errno
import subprocess
import sys
from pathlib import Path

import pytest

ASK = "from yazcore.confinement import probe; print(probe.why_not())"
LACKING = Path(__file__).with_name("lacking.py")
LANDLOCK = "landlock_create_ruleset,landlock_add_rule,landlock_restrict_self"


def asked(code: str, *lacking: str) -> str:
    """What a fresh interpreter prints for some code, with or without something lacking."""
    head = "import sys; sys.path.insert(0, sys.argv[-1]); "
    command = [str(LACKING), *lacking, code] if lacking else ["-c", head + code, str(LACKING.parents[2])]
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_here_the_kernel_holds_a_worker() -> None:
    # A machine that cannot isolate must fail the tests of isolation, not skip them.
    assert asked(ASK) == "None"


@pytest.mark.parametrize(
    ("error", "calls", "sentence"),
    [
        (errno.ENOSYS, LANDLOCK, "this kernel has no Landlock (Linux 5.13 or newer is needed)"),
        (
            errno.EOPNOTSUPP, LANDLOCK,
            "Landlock is built into this kernel and switched off at boot (add landlock to its lsm=)",
        ),
        (errno.EPERM, LANDLOCK, "the container forbids Landlock (its seccomp profile blocks the call)"),
        (errno.EINVAL, LANDLOCK, "Landlock answers EINVAL"),
        (errno.ENOSYS, "seccomp", "this kernel has no seccomp filters"),
        (errno.EPERM, "seccomp", "the container forbids seccomp (its own profile blocks the call)"),
        (errno.EINVAL, "seccomp", "seccomp answers EINVAL"),
        (
            errno.E2BIG, "landlock_restrict_self",
            "the kernel refuses to confine a process: landlock_restrict_self: Argument list too long",
        ),
        (errno.EPERM, "capset", "the kernel refuses to confine a process: capset: Operation not permitted"),
    ],
)  # fmt: skip
def test_each_way_of_lacking_it_has_a_sentence_of_its_own(error: int, calls: str, sentence: str) -> None:
    assert asked(ASK, str(int(error)), calls) == sentence


def test_a_machine_without_a_table_is_named() -> None:
    code = f"import platform; platform.machine = lambda: 'riscv64'; {ASK}"
    assert asked(code) == "no system call table for riscv64"


def test_another_system_is_named() -> None:
    assert asked(f"sys.platform = 'darwin'; {ASK}") == "isolated plugins need Linux, and this is darwin"


def test_a_kernel_that_says_yes_and_holds_nothing_is_found_out() -> None:
    code = "; ".join(
        [
            "from yazcore.confinement import probe, process, landlock, seccomp",
            "landlock.restrict_files = lambda **more: 7",
            "seccomp.load = lambda program: 1",
            "print(probe.why_not())",
        ]
    )
    assert asked(code) == (
        "the kernel took the rules and does not hold them: a confined process could read a file, list a folder, "
        "write a file, open a socket, start a process"
    )

