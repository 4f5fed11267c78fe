"""The zygote: a process that has loaded everything a worker needs, and becomes one by forking. Run as a file.

    python -I -S -B zygote.py DESCRIPTOR PARENT < {"path": [...], "packages": {...}}

No site-packages hook, environment variable or file of a project takes part in its start. It has one thread for ever, so
its children may be confined, and a child that asks to die with its parent dies with this process and not with some
thread of the host.

On its socket (SOCK_SEQPACKET) it first says `ready`, or why nothing can be confined here, as its first child found out;
then it gives each descriptor that it is sent to a worker, and answers with the worker's number and a handle of the
process; and it says of each worker how it ended. One worker is kept waiting for its descriptor, so that whoever asks
for one does not wait for the fork.
"""

from __future__ import annotations

import array
import contextlib
import gc
import json
import os
import select
import signal
import socket
import struct
import sys
from collections.abc import Callable
from typing import NoReturn

READY, STARTED, ENDED = range(3)

MESSAGE = struct.Struct("<iqi")
"""What it says: which of the three, the worker's process, its status as `waitpid` gives it."""

_LIMIT = 4096


def main() -> None:
    """Fork a worker for each descriptor until the host is gone."""
    control = socket.socket(fileno=int(sys.argv[1]))
    parent = int(sys.argv[2])
    about = json.load(sys.stdin)
    standard = len(sys.path)  # the standard library; with -I nothing else is there
    sys.path.extend(about["path"])
    _find_by(about["packages"])
    from yazcore.confinement import probe, process, system

    system.prctl(system.DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
    for name in about["preload"]:
        __import__(name)
    from yazcore.runtimes.isolated import worker

    reason = probe.why_not() or _no_handles()
    if not reason:
        process.drop_capabilities()  # each worker has less to drop
    waking, woken = socket.socketpair()
    for end in (waking, woken):
        end.setblocking(False)
    signal.set_wakeup_fd(woken.fileno())
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    gc.collect()
    gc.freeze()
    control.send(MESSAGE.pack(READY, 0, 0) + (reason or "").encode()[:_LIMIT])
    me = os.getpid()
    poll = select.poll()
    poll.register(control, select.POLLIN)
    poll.register(waking, select.POLLIN)

    def become(orders: socket.socket) -> None:
        worker.get_ready()
        connection, place = _received(orders), orders.detach()
        os.dup2(connection, place)
        os.close(connection)
        worker.main(socket.socket(fileno=place), standard)

    spare = None
    while True:
        if spare is None and not reason:
            # No more processes just now: whoever needs the next worker will hear of it, those that run need not.
            with contextlib.suppress(OSError):
                spare = _Spare(become, me)
        ready = {descriptor for descriptor, _ in poll.poll()}
        if waking.fileno() in ready:
            waking.recv(_LIMIT)
            _bury(control)
        if control.fileno() in ready:
            descriptor = _received(control)
            while spare is None or not spare.give(descriptor):
                spare = _Spare(become, me)
            os.close(descriptor)
            handle = os.pidfd_open(spare.number)
            _send(control, MESSAGE.pack(STARTED, spare.number, 0), handle)
            os.close(handle)
            spare = None


class _Spare:
    """A worker that waits for the descriptor it will serve."""

    def __init__(self, become: Callable[[socket.socket], None], parent: int) -> None:
        self._orders, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.number = os.fork()
        if self.number == 0:
            _become(become, theirs.detach(), parent)
        theirs.close()

    def give(self, descriptor: int) -> bool:
        """Let it serve; False where it has ended."""
        with self._orders:
            try:
                _send(self._orders, b"serve", descriptor)
            except OSError:
                return False
            return True


def _send(to: socket.socket, message: bytes, descriptor: int) -> None:
    to.sendmsg([message], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [descriptor]).tobytes())])


def _find_by(places: dict[str, str]) -> None:
    """Make packages importable that lie in no folder of the path. yazcore may be one of them."""
    import importlib.util

    where = os.path.join(os.path.dirname(os.path.abspath(__file__)), "package_map.py")
    spec = importlib.util.spec_from_file_location("package_map", where)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.meta_path.insert(0, module.PackageMap(places))


def _no_handles() -> str | None:
    """Why a process could not be ended without the danger of meaning another one; None where it can."""
    try:
        os.close(os.pidfd_open(os.getpid()))
    except OSError as error:
        return f"the kernel gives no handles of processes (pidfd_open: {error.strerror})"
    return None


def _received(control: socket.socket) -> int:
    """The descriptor that is sent; ends this process where whoever should send it is gone, and so all its children."""
    message, ancillary, _, _ = control.recvmsg(16, socket.CMSG_SPACE(4))
    if not message or not ancillary:
        os._exit(0)
    descriptors = array.array("i")
    descriptors.frombytes(ancillary[0][2][:4])
    return descriptors[0]


def _bury(control: socket.socket) -> None:
    while True:
        try:
            child, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if child == 0:
            return
        control.send(MESSAGE.pack(ENDED, child, status))


def _become(run: Callable[[socket.socket], None], descriptor: int, parent: int) -> NoReturn:
    """Turn this child into a worker that is told on the descriptor what to serve."""
    try:
        from yazcore.confinement import system

        system.prctl(system.DEATH_SIGNAL, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setsid()
        kept = os.dup2(descriptor, 3) if descriptor != 3 else 3
        system.close_from(4)
        nothing = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(nothing, number)
        os.close(nothing)
        run(socket.socket(fileno=kept))
    finally:
        os._exit(1)


if __name__ == "__main__":
    main()
