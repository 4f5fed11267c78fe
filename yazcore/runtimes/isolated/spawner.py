"""The host's hold on its zygote: starts it, asks it for workers, hears how they end.

One thread starts the zygote and then listens to it until the end. The zygote asks to die with the thread that started
it, so that thread must live as long as it does; the workers die with the zygote.
"""

from __future__ import annotations

import array
import contextlib
import json
import os
import queue
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import attrs

from yazcore.runtimes.isolated.reach import Reach
from yazcore.runtimes.isolated.zygote import ENDED, MESSAGE, READY, STARTED

BOOT_SECONDS = 30.0
"""How long the zygote may take to load what workers need, in seconds."""

SPAWN_SECONDS = 10.0
"""How long a fork may take, in seconds."""

PRELOAD = (
    "anyio", "anyio.to_thread", "anyio._backends._asyncio", "asyncio", "attrs", "contextvars", "dataclasses",
    "datetime", "decimal", "email.message", "hashlib", "json", "logging", "msgspec", "pluggy", "random", "tempfile",
    "typing", "unicodedata", "urllib.parse", "uuid", "zoneinfo",
)  # fmt: skip
"""What most plugins import: loaded once, shared by every worker. Not SQLite: it keeps where temporary files go."""

_ZYGOTE = Path(__file__).with_name("zygote.py")
_MOST_MESSAGE = 8192
_MOST_STDERR = 16_384
_ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "USER": "yaz",
    "LOGNAME": "yaz",
    # One arena, and large blocks given back late: many threads would else fill the address space with empty arenas.
    "MALLOC_ARENA_MAX": "1",
    "MALLOC_MMAP_THRESHOLD_": "33554432",
    "MALLOC_TRIM_THRESHOLD_": "67108864",
    "OPENBLAS_NUM_THREADS": "1",
}


class NoZygote(Exception):
    """There is no zygote; the text says why, as a sentence without its end. `lasting`: trying again will not help."""

    def __init__(self, reason: str, lasting: bool = False) -> None:
        super().__init__(reason)
        self.lasting = lasting


@attrs.frozen(eq=False)
class Process:
    """A worker's process: its number, for people, and a handle that never means another one."""

    number: int
    handle: int
    ended: threading.Event
    status: list[int]

    def kill(self) -> None:
        """End it at once."""
        with contextlib.suppress(OSError):
            signal.pidfd_send_signal(self.handle, signal.SIGKILL)

    def close(self) -> None:
        """Let go of the handle."""
        with contextlib.suppress(OSError):
            os.close(self.handle)

    def how(self, patience: float) -> str:
        """How it ended, as words; it is waited for at most `patience` seconds."""
        if not self.ended.wait(patience) or not self.status:
            return "nobody saw how"
        code = os.waitstatus_to_exitcode(self.status[0])
        if code >= 0:
            return f"exit status {code}"
        with contextlib.suppress(ValueError):
            return f"signal {signal.Signals(-code).name}"
        return f"signal {-code}"


class Zygote:
    """One zygote, from its start to `close`. Raises `NoZygote` where it cannot be started or confines nothing."""

    def __init__(self, reach: Reach) -> None:
        self._reach = reach
        self._asking = threading.Lock()
        self._started: queue.SimpleQueue[Process | None] = queue.SimpleQueue()
        self._booted: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._children: dict[int, Process] = {}
        self._control, self._theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._process: subprocess.Popen[bytes] | None = None
        self._lost = ""
        self.alive = True
        self._thread = threading.Thread(target=self._keep, name="yaz-zygote", daemon=True)
        self._thread.start()
        try:
            reason = self._booted.get(timeout=BOOT_SECONDS)
        except queue.Empty:
            reason = f"the process that workers come from was not ready in {BOOT_SECONDS:g} seconds"
        if reason:
            self.close()
            raise NoZygote(reason, lasting=True)

    def spawn(self, connection: socket.socket) -> Process:
        """A new worker on the other end of a socket pair. Raises `NoZygote`."""
        with self._asking:
            if not self.alive:
                raise NoZygote(self._lost)
            descriptor = array.array("i", [connection.fileno()]).tobytes()
            try:
                self._control.sendmsg([b"fork"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, descriptor)])
                started = self._started.get(timeout=SPAWN_SECONDS)
            except (OSError, queue.Empty):
                started = None
            if started is None:
                raise NoZygote(self._lost or "the process that workers come from does not answer")
            return started

    def close(self) -> None:
        """End it, and with it every worker that is left; waits until it is gone."""
        self._end()
        if threading.current_thread() is not self._thread:
            self._thread.join(SPAWN_SECONDS)

    def _end(self) -> None:
        self.alive = False
        self._lost = self._lost or "the process that workers come from was closed"
        with contextlib.suppress(OSError):
            self._control.shutdown(socket.SHUT_RDWR)

    # --- its thread -----------------------------------------------------------------------------------------------

    def _keep(self) -> None:
        try:
            self._process = self._start()
            self._listen()
        except OSError as error:
            self._lost = f"the process that workers come from cannot be started: {error.strerror}"
        finally:
            self.alive = False
            self._lost = self._lost or "the process that workers come from is gone"
            if self._process is not None:
                self._finish(self._process)
            self._booted.put(self._lost)
            self._started.put(None)
            for child in tuple(self._children.values()):
                child.ended.set()
            self._control.close()

    def _start(self) -> subprocess.Popen[bytes]:
        environment = dict(_ENVIRONMENT)
        if zone := os.environ.get("TZ"):
            environment["TZ"] = zone
        with self._theirs:
            process = subprocess.Popen(  # noqa: S603 - our own file, in our own interpreter
                [sys.executable, "-I", "-S", "-B", str(_ZYGOTE), str(self._theirs.fileno()), str(os.getpid())],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                pass_fds=(self._theirs.fileno(),),
                env=environment,
                cwd="/",
                start_new_session=True,
            )
        about = {"path": self._reach.path, "packages": self._reach.packages, "preload": PRELOAD}
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError), process.stdin:
            process.stdin.write(json.dumps(about).encode())
        return process

    def _listen(self) -> None:
        while True:
            message, ancillary, _, _ = self._control.recvmsg(_MOST_MESSAGE, socket.CMSG_SPACE(4))
            if not message:
                return
            what, number, status = MESSAGE.unpack_from(message)
            if what == READY:
                self._booted.put(message[MESSAGE.size :].decode("utf-8", "replace"))
            elif what == STARTED:
                descriptors = array.array("i")
                descriptors.frombytes(ancillary[0][2][:4])
                child = self._children[number] = Process(number, descriptors[0], threading.Event(), [])
                self._started.put(child)
            elif what == ENDED and number in self._children:
                child = self._children.pop(number)
                child.status.append(status)
                child.ended.set()

    def _finish(self, process: subprocess.Popen[bytes]) -> None:
        """Wait for its end, and keep what it said at last where it never came up."""
        try:
            process.wait(SPAWN_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        assert process.stderr is not None
        with process.stderr as stream:
            os.set_blocking(stream.fileno(), False)
            said = (stream.read(_MOST_STDERR) or b"").decode("utf-8", "replace").strip()
        if said and not self._children:
            self._lost = f"the process that workers come from ended: {said.splitlines()[-1]}"
