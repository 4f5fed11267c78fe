"""The filters as data: run by an interpreter of the kernel's little language, for every machine they are written for.

The kernel runs them in `test_process.py`, for the machine of the tests alone. Here each is judged, call by call.
"""

from __future__ import annotations

import errno
import re
import struct
from pathlib import Path

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from yazcore.confinement import seccomp
from yazcore.confinement.seccomp import ALLOW
from yazcore.confinement.syscalls import LAST_KNOWN, MACHINES, Machine

PID = 4321
KILLED = 0x80000000


def refused(error: int) -> int:
    """What a filter answers for a call that fails with this error."""
    return 0x00050000 | error


EPERM, ENOSYS = refused(errno.EPERM), refused(errno.ENOSYS)


def judged(program: bytes, audit: int, number: int, *arguments: int) -> int:
    """What the filter answers: the kernel's rules for classic BPF, as far as filters of system calls may use it."""
    given_arguments = (*arguments, 0, 0, 0, 0, 0, 0)[:6]
    seen = struct.pack("=IIQ6Q", number, audit, 0, *(one & 0xFFFFFFFFFFFFFFFF for one in given_arguments))
    code = [struct.unpack_from("=HBBI", program, at) for at in range(0, len(program), 8)]
    at = loaded = 0
    while True:
        operation, if_true, if_false, value = code[at]
        at += 1
        match operation:
            case 0x20:  # load a word
                assert value % 4 == 0
                (loaded,) = struct.unpack_from("=I", seen, value)
            case 0x54:
                loaded &= value
            case 0x15:
                at += if_true if loaded == value else if_false
            case 0x25:
                at += if_true if loaded > value else if_false
            case 0x35:
                at += if_true if loaded >= value else if_false
            case 0x45:
                at += if_true if loaded & value else if_false
            case 0x06:
                return int(value)
            case _:
                raise AssertionError(f"operation {operation:#x}")


@attrs.frozen
class Filter:
    """A program for one machine."""

    machine: Machine
    program: bytes

    def answers(self, name: str, *arguments: int) -> int:
        return judged(self.program, self.machine.audit, self.machine.numbers[name], *arguments)


@pytest.fixture(params=MACHINES)
def machine(request: pytest.FixtureRequest) -> Machine:
    return MACHINES[request.param]


@pytest.fixture
def worker(machine: Machine) -> Filter:
    return Filter(machine, seccomp.worker_program(PID, 7, machine))


@pytest.fixture
def command(machine: Machine) -> Filter:
    return Filter(machine, seccomp.command_program(7, machine))


NEVER = set(seccomp._NEVER)
ABSENT = set(seccomp._ABSENT)
BOUNDED = {
    "clone", "kill", "tgkill", "socketpair", "sendto", "prlimit64", "sched_setaffinity", "prctl", "ioctl", "fcntl",
}  # fmt: skip
COMMANDS = {"setsid", "setpgid"}
WITHOUT = {
    "x86_64": frozenset(),
    "aarch64": frozenset({
        "fork", "vfork", "chmod", "chown", "lchown", "utime", "utimes", "futimesat", "mknod", "inotify_init",
        "modify_ldt", "iopl", "ioperm", "sysfs", "ustat", "uselib",
    }),
}  # fmt: skip
"""What a machine does not have: its programs use the form that takes a folder, or there is no such thing."""


def test_every_name_has_a_number_on_every_machine_that_has_the_call(machine: Machine) -> None:
    named = NEVER | ABSENT | BOUNDED | COMMANDS | {"truncate", "seccomp"}
    assert named - machine.numbers.keys() == WITHOUT[machine.name]


def test_no_two_calls_have_one_number(machine: Machine) -> None:
    assert len(set(machine.numbers.values())) == len(machine.numbers)
    assert max(machine.numbers.values()) <= LAST_KNOWN


def test_a_worker_gets_the_error_for_whatever_it_may_never_do(worker: Filter) -> None:
    found = {name: worker.answers(name) for name in worker.machine.numbers if name in NEVER | ABSENT}
    assert found == {name: ENOSYS if name in ABSENT else EPERM for name in found}


def test_a_command_may_start_programs_and_nothing_more_of_that(command: Filter) -> None:
    may = {"fork", "vfork", "execve", "execveat", "tkill"}
    found = {name: command.answers(name) for name in command.machine.numbers if name in NEVER | ABSENT | COMMANDS}
    assert found == {name: ALLOW if name in may else ENOSYS if name in ABSENT else EPERM for name in found}


def test_what_nobody_named_passes(worker: Filter, command: Filter) -> None:
    named = {worker.machine.numbers[name] for name in worker.machine.numbers}
    for number in set(range(LAST_KNOWN + 1)) - named:
        for one in (worker, command):
            assert judged(one.program, one.machine.audit, number) == ALLOW


@pytest.mark.parametrize(
    ("name", "arguments", "answer"),
    [
        ("clone", (0x3D0F00,), ALLOW),  # a thread, as the C library starts one
        ("clone", (0x11,), EPERM),
        ("clone", (0x10000000,), EPERM),
        ("kill", (PID, 9), ALLOW),
        ("kill", (PID + 1, 9), EPERM),
        ("kill", (0, 9), EPERM),
        ("kill", (-1, 9), EPERM),
        ("tgkill", (PID, 5, 9), ALLOW),
        ("tgkill", (1, 1, 9), EPERM),
        ("socketpair", (1, 1 | 0o2000000), ALLOW),
        ("socketpair", (1, 2), EPERM),
        ("socketpair", (2, 1), EPERM),
        ("sendto", (3, 1, 1, 0, 0, 0), ALLOW),
        ("sendto", (3, 1, 1, 0, 1, 16), EPERM),
        ("sendto", (3, 1, 1, 0, 1 << 32, 16), EPERM),  # the low half alone is zero
        ("prlimit64", (0, 7), ALLOW),
        ("prlimit64", (1, 7), EPERM),
        ("sched_setaffinity", (0,), ALLOW),
        ("sched_setaffinity", (1,), EPERM),
        ("prctl", (15,), ALLOW),
        ("prctl", (0x53564D41,), ALLOW),
        ("prctl", (1, 0), EPERM),
        ("prctl", (4, 1), EPERM),
        ("prctl", (22,), EPERM),
        ("prctl", (38,), EPERM),
        ("ioctl", (1, 0x5413), ALLOW),
        ("ioctl", (1, 0x5451), ALLOW),
        ("ioctl", (0, 0x5412), EPERM),
        ("ioctl", (0, 0x541C), EPERM),
        ("ioctl", (3, 0x8901), EPERM),
        ("fcntl", (3, 2), ALLOW),
        ("fcntl", (3, 8), EPERM),
        ("fcntl", (3, 1024), EPERM),
        ("fcntl", (3, 1031), EPERM),
    ],
)  # fmt: skip
def test_what_is_allowed_with_some_arguments_only(
    worker: Filter, name: str, arguments: tuple[int, ...], answer: int
) -> None:
    assert worker.answers(name, *arguments) == answer


@pytest.mark.parametrize("flag", [0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000])
def test_a_command_starts_processes_and_no_namespace(command: Filter, flag: int) -> None:
    assert command.answers("clone", 0x11) == ALLOW
    assert command.answers("clone", 0x11 | flag) == EPERM


@pytest.mark.parametrize("landlock", [1, 2, 3, 5, 6])
def test_what_an_older_landlock_does_not_keep_is_refused_here(machine: Machine, landlock: int) -> None:
    worker = Filter(machine, seccomp.worker_program(PID, landlock, machine))
    command = Filter(machine, seccomp.command_program(landlock, machine))
    shortens = EPERM if landlock < 3 else ALLOW
    assert (worker.answers("truncate"), command.answers("truncate")) == (shortens, shortens)
    assert {command.answers(name) for name in ("kill", "tgkill", "tkill")} == {EPERM if landlock < 6 else ALLOW}


@given(
    number=st.integers(0, 2**32 - 1), other=st.integers(0, 2**32 - 1),
    arguments=st.lists(st.integers(0, 2**64 - 1), min_size=6, max_size=6),
)  # fmt: skip
def test_every_call_has_an_answer_and_none_of_another_machine_or_of_later_passes(
    number: int, other: int, arguments: list[int]
) -> None:
    for machine in MACHINES.values():
        for program in (seccomp.worker_program(PID, 7, machine), seccomp.command_program(7, machine)):
            answer = judged(program, machine.audit, number, *arguments)
            assert answer in (ALLOW, EPERM, ENOSYS)
            if number > LAST_KNOWN:
                assert answer != ALLOW
            if other != machine.audit:
                assert judged(program, other, number, *arguments) == KILLED


def test_the_second_set_of_numbers_is_refused_where_there_is_one(worker: Filter) -> None:
    answers = {judged(worker.program, worker.machine.audit, 0x40000000 | number) for number in range(600)}
    assert answers == {EPERM if worker.machine.name == "x86_64" else ENOSYS}


@pytest.mark.parametrize(
    ("name", "header"),
    [("x86_64", "/usr/include/x86_64-linux-gnu/asm/unistd_64.h"), ("aarch64", "/usr/include/asm-generic/unistd.h")],
)
def test_numbers_are_those_of_the_kernels_headers(name: str, header: str) -> None:
    if not Path(header).exists():
        pytest.skip("the kernel's headers are not there")
    numbers = MACHINES[name].numbers
    said = re.findall(r"^#define __NR(?:3264)?_(\w+) (\d+)$", Path(header).read_text(), re.MULTILINE)
    told = {called: int(number) for called, number in said if called in numbers}
    assert len(told) > 100
    assert {called: numbers[called] for called in told} == told
