"""The network, named sockets, other processes and signals."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import platform
import signal
import socket
import subprocess
from typing import Any

World = dict[str, Any]

X86 = platform.machine() == "x86_64"


def libc() -> Any:
    return ctypes.CDLL(None, use_errno=True)


def call(number: int, *arguments: Any) -> int:
    """One system call by its number, past everything of Python's."""
    function = libc().syscall
    function.restype = ctypes.c_long
    answer = int(function(ctypes.c_long(number), *arguments))
    if answer < 0:
        raise OSError(ctypes.get_errno(), "system call")
    return answer


# --- network ----------------------------------------------------------------------------------------------------------


def tcp_to_loopback(context: Any, world: World) -> str:
    with socket.create_connection(("127.0.0.1", world["tcp"]), 2) as one:
        one.sendall(b"evil")
    return "done"


def tcp_by_system_call(context: Any, world: World) -> str:
    """No event tells a hook of what does not pass through Python's own functions."""
    import struct

    handle = call(41 if X86 else 198, 2, 1, 0)
    try:
        address = struct.pack("=HHI8x", 2, socket.htons(world["tcp"]), socket.htonl(0x7F000001))
        call(42 if X86 else 203, handle, address, 16)
        os.write(handle, b"evil")
    finally:
        os.close(handle)
    return "done"


def udp_to_loopback(context: Any, world: World) -> str:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.sendto(b"evil", ("127.0.0.1", world["udp"]))
    return "done"


def tcp_fast_open(context: Any, world: World) -> str:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as one:
        one.sendto(b"evil", socket.MSG_FASTOPEN, ("127.0.0.1", world["tcp"]))
    return "done"


def listen_on_a_port(context: Any, world: World) -> str:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        one.listen()
    return "done"


def look_a_name_up(context: Any, world: World) -> str:
    socket.getaddrinfo("localhost", 80)
    return "done"


def raw_socket(context: Any, world: World) -> str:
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP):
        return "done"


def netlink(context: Any, world: World) -> str:
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0):
        return "done"


def vsock(context: Any, world: World) -> str:
    with socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM):
        return "done"


# --- named sockets ----------------------------------------------------------------------------------------------------


def named_socket(context: Any, world: World) -> str:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as one:
        one.connect(world["unix"])
        one.sendall(b"evil")
    return "done"


def abstract_socket(context: Any, world: World) -> str:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as one:
        one.connect(b"\0" + world["abstract"].encode())
        one.sendall(b"evil")
    return "done"


def datagram_pair_to_a_named_socket(context: Any, world: World) -> str:
    left, right = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with left, right:
        left.sendto(b"evil", world["unix-datagram"])
    return "done"


# --- processes --------------------------------------------------------------------------------------------------------


def run_a_program(context: Any, world: World) -> str:
    subprocess.run(["/bin/sh", "-c", f"echo changed > {world['target']}"], check=True)
    return "done"


def run_by_system(context: Any, world: World) -> str:
    os.system(f"echo changed > {world['target']}")
    return "done"


def run_by_posix_spawn(context: Any, world: World) -> str:
    pid = os.posix_spawn("/bin/sh", ["sh", "-c", f"echo changed > {world['target']}"], {})
    os.waitpid(pid, 0)
    return "done"


def run_below_python(context: Any, world: World) -> str:
    """`_posixsubprocess.fork_exec` raises no event (python/cpython#115322)."""
    from multiprocessing.util import spawnv_passfds

    pid = spawnv_passfds(b"/bin/sh", [b"sh", b"-c", f"echo changed > {world['target']}".encode()], [])
    os.waitpid(pid, 0)
    return "done"


def become_a_program(context: Any, world: World) -> str:
    os.execv("/bin/sh", ["sh", "-c", f"echo changed > {world['target']}"])
    return "done"


def fork(context: Any, world: World) -> str:
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return "done"


def fork_by_system_call(context: Any, world: World) -> str:
    pid = call(57) if X86 else call(220, signal.SIGCHLD, 0, 0, 0, 0)
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return "done"


def fork_as_a_clone(context: Any, world: World) -> str:
    pid = call(56 if X86 else 220, ctypes.c_ulong(signal.SIGCHLD), None, None, None, None)
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return "done"


def a_namespace_of_its_own(context: Any, world: World) -> str:
    call(272 if X86 else 97, 0x00020000)  # mounts of its own
    return "done"


def another_root(context: Any, world: World) -> str:
    os.chroot(str(context.data_folder))
    return "done"


def io_uring(context: Any, world: World) -> str:
    parameters = ctypes.create_string_buffer(120)
    os.close(call(425, 4, parameters))
    return "done"


# --- signals and the like ---------------------------------------------------------------------------------------------


def signal_another_process(context: Any, world: World) -> str:
    os.kill(world["victim"], signal.SIGUSR1)
    return "done"


def signal_its_group(context: Any, world: World) -> str:
    os.killpg(world["victim"], signal.SIGUSR1)
    return "done"


def signal_by_descriptor(context: Any, world: World) -> str:
    """Python raises no event for it."""
    handle = os.pidfd_open(world["victim"])
    try:
        signal.pidfd_send_signal(handle, signal.SIGUSR1)
    finally:
        os.close(handle)
    return "done"


def trace_another_process(context: Any, world: World) -> str:
    call(101 if X86 else 117, ctypes.c_long(0x4206), ctypes.c_long(world["victim"]), None, None)  # PTRACE_SEIZE
    return "done"


def read_anothers_memory(context: Any, world: World) -> str:
    call(310 if X86 else 270, ctypes.c_long(world["victim"]), None, 0, None, 0, 0)
    return "done"


def slow_another_down(context: Any, world: World) -> str:
    os.setpriority(os.PRIO_PROCESS, world["victim"], 19)
    return "done"


def move_another_to_one_core(context: Any, world: World) -> str:
    os.sched_setaffinity(world["victim"], {0})
    return "done"


def limit_another(context: Any, world: World) -> str:
    import resource

    resource.prlimit(world["victim"], resource.RLIMIT_NOFILE, (64, 64))
    return "done"


def outlive_the_host(context: Any, world: World) -> str:
    """Ask not to be ended with the thread that started it."""
    if libc().prctl(1, 0, 0, 0, 0) < 0:
        raise OSError(ctypes.get_errno(), "prctl")
    return "done"


def type_into_the_terminal(context: Any, world: World) -> str:
    import fcntl
    import termios

    with contextlib.suppress(IndexError):
        fcntl.ioctl(0, termios.TIOCSTI, b"\n")
    return "done"


def keys_of_the_kernel(context: Any, world: World) -> str:
    call(250 if X86 else 219, 0, ctypes.c_long(-3), 1)  # KEYCTL_GET_KEYRING_ID, the session's
    return "done"


def shared_memory_that_stays(context: Any, world: World) -> str:
    identifier = call(29 if X86 else 194, 0, 4096, 0o1600)
    call(31 if X86 else 195, identifier, 0, None)  # away with it again
    return "done"


def empty_everybodys_disks(context: Any, world: World) -> str:
    """Whoever writes on that disk waits until all of it is written. Here the disk that the data folder is on."""
    handle = os.open(context.data_folder, os.O_RDONLY)
    try:
        call(306 if X86 else 267, handle)  # syncfs
    finally:
        os.close(handle)
    return "done"


def system_calls_of_32_bits(context: Any, world: World) -> str:
    """The same kernel under other numbers, which a filter for one machine does not know."""
    import mmap

    if not X86:
        raise OSError(errno.ENOSYS, "this machine has none")
    code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(bytes.fromhex("b814000000cd80c3"))  # mov eax, 20 (getpid); int 0x80; ret
    if ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))() != os.getpid():
        raise OSError(errno.ENOSYS, "this kernel has none")
    return "done"


def change_the_limits_of_its_process(context: Any, world: World) -> str:
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard * 2 if hard < 2**20 else hard))
    return "done"


