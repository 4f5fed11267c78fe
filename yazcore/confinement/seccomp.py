"""seccomp: the system calls a worker may make, as a filter that the kernel runs before each of them.

Landlock keeps files; this keeps the rest: other processes, the network, time, devices, and what Landlock does not see
(modes, owners and times of files, UDP, TCP Fast Open, named sockets, signals on old kernels). A call that is refused
gives EPERM, one that is newer than the table ENOSYS, as it would on an older kernel.
"""

from __future__ import annotations

import ctypes
import errno
import platform
import struct
from collections.abc import Callable, Iterable

from yazcore.confinement.syscalls import LAST_KNOWN, MACHINES, Machine
from yazcore.confinement.system import NO_NEW_PRIVILEGES, attempt, call, name_of, prctl

ALLOW = 0x7FFF0000
_KILL = 0x80000000
_ERROR = 0x00050000

_SET_FILTER, _ACTION_AVAILABLE, _ALL_THREADS = 1, 2, 1
_NUMBER, _MACHINE = 0, 4  # offsets in what the filter sees
_X32 = 0x40000000

_NEVER = (
    # other processes: their memory, descriptors and priority, and signals that name no process
    "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "process_mrelease", "kcmp", "pidfd_open",
    "pidfd_getfd", "pidfd_send_signal", "tkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "setpriority",
    "sched_setscheduler", "sched_setparam", "sched_setattr", "ioprio_set", "migrate_pages", "move_pages", "mbind",
    "set_mempolicy",
    # new processes and programs
    "fork", "vfork", "execve", "execveat",
    # the network, and every socket that has a name
    "socket", "connect", "bind", "listen", "accept", "accept4", "sendmmsg",
    # modes, owners, times and attributes of files, also through a handle that may only read
    "chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat", "utime", "utimes",
    "futimesat", "utimensat", "setxattr", "lsetxattr", "fsetxattr", "setxattrat", "removexattr", "lremovexattr",
    "fremovexattr", "removexattrat", "file_setattr", "mknod", "mknodat",
    # file systems and their names
    "mount", "umount2", "move_mount", "mount_setattr", "open_tree", "open_tree_attr", "fsopen", "fsconfig",
    "fsmount", "fspick", "statmount", "listmount", "pivot_root", "chroot", "unshare", "setns", "name_to_handle_at",
    "open_by_handle_at", "quotactl", "quotactl_fd", "inotify_init", "inotify_init1", "fanotify_init",
    # memory that no limit counts, or that others share
    "memfd_create", "memfd_secret", "shmget", "shmat", "shmctl", "shmdt", "semget", "semop", "semtimedop", "semctl",
    "msgget", "msgsnd", "msgrcv", "msgctl", "mq_open", "mq_unlink", "keyctl", "add_key", "request_key",
    # the kernel itself
    "seccomp", "perf_event_open", "bpf", "userfaultfd", "personality", "modify_ldt", "iopl", "ioperm", "syslog",
    "acct", "init_module", "finit_module", "delete_module", "kexec_load", "kexec_file_load", "reboot", "swapon",
    "swapoff", "vhangup", "settimeofday", "clock_settime", "adjtimex", "clock_adjtime", "sethostname",
    "setdomainname", "sysfs", "ustat", "uselib", "nfsservctl", "lookup_dcookie",
    # everybody's disks: whoever writes waits while they are emptied; `fsync` of a file of one's own stays
    "sync", "syncfs",
)  # fmt: skip
_COMMANDS_MAY = frozenset({"fork", "vfork", "execve", "execveat", "tkill"})
# The C library does without these where they are missing.
_ABSENT = ("clone3", "io_uring_setup", "io_uring_enter", "io_uring_register")

_CLONE_THREAD = 0x10000
# CLONE_NEWNS NEWCGROUP NEWUTS NEWIPC NEWUSER NEWPID NEWNET: in a namespace of its own a process is root
_NEW_NAMESPACES = 0x7E020000
_AF_UNIX, _SOCK_STREAM, _SOCK_TYPE = 1, 1, 0xF
# Who is sent a signal when a file is ready, and leases and notices on files that others want to open; pipe buffers.
_FCNTL_NEVER = (8, 10, 15, 1024, 1026, 1031)
# TCGETS TIOCGWINSZ FIONREAD FIONBIO FIONCLEX FIOCLEX
_IOCTL_ONLY = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)
# GET_DUMPABLE SET_NAME GET_NAME GET_SECCOMP CAPBSET_READ GET_NO_NEW_PRIVS SET_VMA
_PRCTL_ONLY = (3, 15, 16, 21, 23, 39, 0x53564D41)


class UnknownMachine(Exception):
    """There is no table of system calls for this machine."""

    def __init__(self, machine: str) -> None:
        super().__init__(f"no system call table for {machine}")


def machine() -> Machine:
    """The machine this process runs on. Raises `UnknownMachine`."""
    name = platform.machine()
    if name not in MACHINES:
        raise UnknownMachine(name)
    return MACHINES[name]


def why_not() -> str | None:
    """Why system calls cannot be filtered here, as a sentence without its end; None where they can."""
    try:
        number = machine().numbers["seccomp"]
    except UnknownMachine as unknown:
        return str(unknown)
    action = ctypes.c_uint32(_ERROR)
    answer = attempt(number, ctypes.c_uint(_ACTION_AVAILABLE), ctypes.c_uint(0), ctypes.byref(action))
    if answer == 0:
        return None
    return {
        -errno.ENOSYS: "this kernel has no seccomp filters",
        -errno.EPERM: "the container forbids seccomp (its own profile blocks the call)",
    }.get(answer, f"seccomp answers {name_of(-answer)}")


def worker_program(pid: int, landlock: int, here: Machine | None = None) -> bytes:
    """The filter for a worker: threads yes, other processes no, no sockets but pairs of its own.

    `pid` is the worker's own process, the only one it may signal. `landlock` is the version that confines its files:
    before the third, shortening a file by its path is refused here.
    """
    program = _Program(here if here is not None else machine())
    _refuse(program, _NEVER, landlock)
    program.only_if("clone", lambda: program.has_bits(0, _CLONE_THREAD))
    for name in ("kill", "tgkill"):
        program.only_if(name, lambda: program.equals(0, pid))
    _bound(program)
    return program.assembled()


def command_program(landlock: int, here: Machine | None = None) -> bytes:
    """The filter for a command and all it starts: programs and processes yes, the network and namespaces no.

    Nobody leaves the process group, so that ending the group ends all of them. `landlock` is the version that confines
    its files: before the sixth it does not keep signals inside, and then there are none.
    """
    program = _Program(here if here is not None else machine())
    _refuse(program, tuple(name for name in _NEVER if name not in _COMMANDS_MAY), landlock)
    for name in ("setsid", "setpgid", *(("kill", "tgkill", "tkill") if landlock < 6 else ())):
        program.refuse(name)
    program.only_if("clone", lambda: program.lacks_bits(0, _NEW_NAMESPACES))
    _bound(program)
    return program.assembled()


def _refuse(program: _Program, names: tuple[str, ...], landlock: int) -> None:
    for name in _ABSENT:
        program.refuse(name, errno.ENOSYS)
    for name in names:
        program.refuse(name)
    if landlock < 3:
        program.refuse("truncate")


def _bound(program: _Program) -> None:
    """What is allowed with some arguments only."""
    # asyncio wakes itself by such a pair; a pair of datagram sockets could send to any named socket
    program.only_if(
        "socketpair",
        lambda: program.equals(0, _AF_UNIX),
        lambda: program.equals(1, _SOCK_STREAM, mask=_SOCK_TYPE),
    )
    program.only_if("sendto", lambda: program.is_null(4))
    for name in ("prlimit64", "sched_setaffinity"):
        program.only_if(name, lambda: program.equals(0, 0))
    program.only_if("prctl", lambda: program.is_one_of(0, _PRCTL_ONLY))
    program.only_if("ioctl", lambda: program.is_one_of(1, _IOCTL_ONLY))
    program.only_if("fcntl", lambda: program.is_none_of(1, _FCNTL_NEVER))


def blocking_program(calls: Iterable[str], error: int, here: Machine | None = None) -> bytes:
    """A filter that lets these calls fail with one error and allows everything else, as a container's profile does."""
    program = _Program(here if here is not None else machine(), bounded=False)
    for name in calls:
        program.refuse(name, error)
    return program.assembled()


class _FilterProgram(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p))


def load(program: bytes) -> int:
    """Put every thread of this process under the filter, for good; the number of its instructions. Raises `OSError`."""
    buffer = ctypes.create_string_buffer(program, len(program))
    count = len(program) // _SIZE
    prepared = _FilterProgram(count, ctypes.cast(buffer, ctypes.c_void_p))
    prctl(NO_NEW_PRIVILEGES, 1)
    call(
        "seccomp", machine().numbers["seccomp"], ctypes.c_uint(_SET_FILTER), ctypes.c_uint(_ALL_THREADS),
        ctypes.byref(prepared),
    )  # fmt: skip
    return count


# --- the assembler: classic BPF, two kinds of jump --------------------------------------------------------------------

_LOAD, _AND, _RETURN = 0x20, 0x54, 0x06
_IF_EQUAL, _IF_AT_LEAST, _IF_ABOVE, _IF_BITS = 0x15, 0x35, 0x25, 0x45
_SIZE = 8


def _instruction(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value & 0xFFFFFFFF)


class _Program:
    """A filter in the making. Between two calls that it names, the number of the call is loaded."""

    def __init__(self, here: Machine, bounded: bool = True) -> None:
        self._numbers = here.numbers
        refused = _instruction(_RETURN, _ERROR | errno.EPERM)
        self._code = [
            _instruction(_LOAD, _MACHINE),
            _instruction(_IF_EQUAL, here.audit, 1, 0),
            _instruction(_RETURN, _KILL),
            _instruction(_LOAD, _NUMBER),
        ]
        if here.name == "x86_64":  # the second set of numbers that this machine has
            self._code += [_instruction(_IF_AT_LEAST, _X32, 0, 1), refused]
        if bounded:
            self._code += [_instruction(_IF_ABOVE, LAST_KNOWN, 0, 1), _instruction(_RETURN, _ERROR | errno.ENOSYS)]

    def refuse(self, name: str, error: int = errno.EPERM) -> None:
        """Let a call fail; nothing where this machine does not have it."""
        if name in self._numbers:
            self._code += [
                _instruction(_IF_EQUAL, self._numbers[name], 0, 1),
                _instruction(_RETURN, _ERROR | error),
            ]

    def only_if(self, name: str, *tests: Callable[[], list[bytes]]) -> None:
        """Allow a call where every test of its arguments holds: each falls through to the next, or refuses."""
        body = [one for test in tests for one in test()] + [_instruction(_RETURN, ALLOW)]
        self._code += [_instruction(_IF_EQUAL, self._numbers[name], 0, len(body)), *body]

    def equals(self, argument: int, value: int, mask: int | None = None) -> list[bytes]:
        masked = [] if mask is None else [_instruction(_AND, mask)]
        return [self._low(argument), *masked, _instruction(_IF_EQUAL, value, 1, 0), self._refused()]

    def has_bits(self, argument: int, bits: int) -> list[bytes]:
        return [self._low(argument), _instruction(_IF_BITS, bits, 1, 0), self._refused()]

    def lacks_bits(self, argument: int, bits: int) -> list[bytes]:
        return [self._low(argument), _instruction(_IF_BITS, bits, 0, 1), self._refused()]

    def is_null(self, argument: int) -> list[bytes]:
        high = _instruction(_LOAD, _offset(argument) + 4)
        zero = _instruction(_IF_EQUAL, 0, 1, 0)
        return [self._low(argument), zero, self._refused(), high, zero, self._refused()]

    def is_one_of(self, argument: int, values: tuple[int, ...]) -> list[bytes]:
        jumps = [_instruction(_IF_EQUAL, value, len(values) - index) for index, value in enumerate(values)]
        return [self._low(argument), *jumps, self._refused()]

    def is_none_of(self, argument: int, values: tuple[int, ...]) -> list[bytes]:
        refusals = [one for value in values for one in (_instruction(_IF_EQUAL, value, 0, 1), self._refused())]
        return [self._low(argument), *refusals]

    def assembled(self) -> bytes:
        return b"".join([*self._code, _instruction(_RETURN, ALLOW)])

    def _low(self, argument: int) -> bytes:
        return _instruction(_LOAD, _offset(argument))

    def _refused(self) -> bytes:
        return _instruction(_RETURN, _ERROR | errno.EPERM)


def _offset(argument: int) -> int:
    return 16 + 8 * argument  # the low half comes first: both machines are little-endian
