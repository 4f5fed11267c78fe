"""`processes`: commands that the host runs for a plugin, each in a sandbox of its own (design 5; capabilities B5).

The name is one of the manifest, the program is the file that it meant when the user consented, the arguments are a
list. The child has an environment made from nothing, the plugin's own reach in files and no network; it is ended with
everything it started at its deadline. A command can start other programs, and is held to the same; so the names say
what the host starts, and the kernel what it can do.
"""

from __future__ import annotations

import json
import math
import os
import secrets
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

import attr

from yazcore.capabilities.broker import Broker
from yazcore.capabilities.commands import ABSENT, CHANGED, OPEN_TO_ALL, Program, look_up
from yazcore.capabilities.context import Frame, frame_of
from yazcore.capabilities.errors import Cancelled, ServiceError
from yazcore.capabilities.services import command_child
from yazcore.capabilities.services.data_folder import DataFolder, exceeded
from yazcore.capabilities.services.reach import reach
from yazcore.children import run_child
from yazcore.confinement.around import around
from yazcore.kinds import Capability, ProcessRequest
from yazcore.kinds.causes import Cause
from yazcore.kinds.files import PROJECT_AREA
from yazcore.process_groups import Bounds
from yazcore.trees import remove_tree

SECONDS = 60.0
"""How long a command may run where the call has no deadline of its own, in seconds; never longer than the call."""

LONGEST_SECONDS = 600.0
OUTPUT_LIMIT = 1_000_000
"""The most bytes of standard output; of standard error the first 65,536 are kept."""

INPUT_LIMIT = 1_500_000
MOST_ARGUMENTS = 1000
MOST_ARGUMENT_BYTES = 100_000
MEMORY = 4 * 2**30
FILE_SIZE = 2 * 2**30
OPEN_FILES = 1024
PROCESSES = 256
"""The most processes that a command has at a time, with all it started: looked at now and then."""

MORE_THREADS = 1000
"""How many threads more than the machine has the user may then have; the kernel does not hold root to it."""

TOTAL_MEMORY = MEMORY
"""The most memory that all of them have together, in bytes: looked at now and then. `MEMORY` is for each."""


_SYSTEM = (
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/alternatives", "/etc/fonts", "/etc/ld.so.cache",
    "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime", "/etc/mime.types", "/etc/ssl/certs", "/etc/texmf",
    "/var/lib/texmf", "/var/cache/fontconfig",
)  # fmt: skip
_RUNNABLE = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64")
_PACKAGES = "/opt"
"""Where each package has a folder of its own; only that of the program that is run is opened."""

_DEVICES = ("/dev/urandom", "/dev/random", "/dev/zero")
_CAUSES: dict[str, Cause] = {ABSENT: "program-missing", OPEN_TO_ALL: "program-unfit", CHANGED: "program-changed"}


class ProcessService:
    """Commands for one plugin. Every method raises `CapabilityError` where the broker forbids it.

    `closed` are folders of the host itself, which no command may reach, wherever they lie. `needs_sandbox`: without the
    kernel's help nothing is run; a plugin that runs in the host's own process has no less than a command without a
    sandbox would.

    Other failures are `ServiceError`: `process-arguments`, `process-folder`, `process-timeout`, `process-output`,
    `process-limit`, `process-failed`, `quota-exceeded`, `data-folder-broken`, `folder-too-large`.
    """

    def __init__(
        self,
        broker: Broker,
        plugin: str,
        data_folder: DataFolder,
        *,
        closed: Sequence[Path] = (),
        needs_sandbox: bool = True,
    ) -> None:
        self._broker = broker
        self._plugin = plugin
        self._data = data_folder
        self._closed = tuple(Path(os.path.realpath(folder)).parts for folder in closed)
        self._needs_sandbox = needs_sandbox

    def known(self, command: str) -> bool:
        """Whether the program of that command is there to be run."""
        frame = frame_of(self._plugin, "processes")
        self._broker.require(_request(command), frame)
        program = self._program(command)
        return program is not None and not program.why_not()

    def run(
        self,
        command: str,
        arguments: Sequence[str] = (),
        *,
        stdin: bytes | str = b"",
        folder: str | None = None,
        seconds: float | None = None,
    ) -> dict[str, Any]:
        """Run a command; `{"code", "stdout", "stderr", "seconds", "sandbox"}`.

        `code` is its exit status, negative for the signal that ended it; both streams are bytes. `folder` is where it
        runs: None the data folder, `project` the project of this call, else the name of a place. It reads what the
        plugin may read, and writes into the data folder and below granted `fs-write` folders. `sandbox` is `landlock`,
        or `none` where the kernel held nothing.
        """
        frame = frame_of(self._plugin, "processes")
        request = _request(command)
        capability = self._broker.require(request, frame)
        argv = _checked(command, arguments)
        given = _bytes(stdin)
        program = self._program(command)
        if program is None:
            missing: Cause = "program-absent" if self._broker.command(command) is None else "program-missing"
            self._refuse(frame, capability, command, "no such program was there when it was granted", missing)
        if why := program.why_not():
            self._refuse(frame, capability, command, why, _CAUSES[why])
        sandbox = self._sandbox(frame, capability, command)
        where = self._folder(folder, frame)
        self._data.folder.mkdir(mode=0o700, parents=True, exist_ok=True)

        def check() -> None:
            if frame.call.cancelled.is_set():
                raise Cancelled("the call was cancelled")

        if self._data.room(check) == 0:
            raise exceeded(self._data.quota)
        left = min(_seconds(frame, seconds), LONGEST_SECONDS)
        scratch = self._data.folder / f".command-{secrets.token_hex(8)}"
        scratch.mkdir(mode=0o700)
        try:
            return self._run(frame, program, argv, given, where, left, scratch, sandbox)
        finally:
            remove_tree(scratch)

    def _run(
        self, frame: Frame, program: Program, argv: list[str], given: bytes, where: str, seconds: float,
        scratch: Path, sandbox: bool,
    ) -> dict[str, Any]:  # fmt: skip
        files = reach(self._broker, frame, self._unfit)
        package = _package_of(program.path)
        sign = f"yaz {secrets.token_hex(16)}"
        job = {
            "paths": _import_paths(),
            "parent": os.getpid(),
            "program": program.path,
            "argv": argv,
            "folder": where,
            "environment": _environment(scratch),
            "sandbox": sandbox,
            "read": [*around([*_SYSTEM, *package], self._closed), *_DEVICES, *files.read],
            "write": [os.path.realpath(self._data.folder), "/dev/null", *files.write],
            "execute": [*around([*_RUNNABLE, *package], self._closed), program.path],
            "memory": MEMORY,
            "fileSize": FILE_SIZE,
            "openFiles": OPEN_FILES,
            "threads": MORE_THREADS,
            "processor": int(seconds * (os.cpu_count() or 1)) + 5,
            "sign": sign,
        }
        text = json.dumps(job).encode()
        try:
            ended = run_child(
                [sys.executable, "-I", "-S", "-B", command_child.__file__],
                cwd=self._data.folder,
                env={},
                stdin=b"%0*d%b%b" % (command_child.LENGTH_DIGITS, len(text), text, given),
                seconds=seconds,
                most_stdout=OUTPUT_LIMIT,
                cancelled=frame.call.cancelled,
                bounds=Bounds(processes=PROCESSES, memory=TOTAL_MEMORY),
            )
        except OSError as error:
            raise ServiceError("process-failed", f"{argv[0]} could not be started: {error.strerror}") from None
        if ended.ending == "cancelled":
            raise Cancelled("the call was cancelled")
        if ended.ending == "deadline":
            raise ServiceError("process-timeout", f"{argv[0]} took longer than {seconds:g} seconds and was ended")
        if ended.ending in ("processes", "memory"):
            much = f"{PROCESSES} processes" if ended.ending == "processes" else f"{TOTAL_MEMORY} bytes of memory"
            raise ServiceError("process-limit", f"{argv[0]} had more than {much} at a time and was ended")
        if ended.ending == "output":
            raise ServiceError("process-output", f"{argv[0]} said more than {OUTPUT_LIMIT} bytes and was ended")
        if ended.stderr.startswith(sign.encode()):
            why = ended.stderr[len(sign) :].decode("utf-8", "replace").strip()
            raise ServiceError("process-failed", f"{argv[0]} could not be started: {why}")
        return {
            "code": ended.code, "stdout": ended.stdout, "stderr": ended.stderr, "seconds": round(ended.seconds, 3),
            "sandbox": "landlock" if sandbox else "none",
        }  # fmt: skip

    def _program(self, command: str) -> Program | None:
        """What the name meant at consent; for a plugin that ships with the host, what it means now."""
        kept = self._broker.command(command)
        return look_up(command) if kept is None else Program.of(kept)

    def _sandbox(self, frame: Frame, capability: Capability, command: str) -> bool:
        """Whether the kernel can hold a command. Refuses where it cannot and must."""
        from yazcore.confinement import landlock, seccomp

        why = landlock.why_not() or seccomp.why_not()
        if why is not None and self._needs_sandbox:
            self._broker.refuse(
                frame, capability.kind, command, "service-unavailable", f"no command can be held here: {why}"
            )
        return why is None

    def _folder(self, folder: str | None, frame: Frame) -> str:
        if folder is None:
            return str(self._data.folder)
        if folder == PROJECT_AREA:
            found = None if frame.call.project is None else frame.call.project.root
        else:
            found = self._broker.place(folder) if isinstance(folder, str) else None
        if found is None or self._unfit(found):
            raise ServiceError("process-folder", "there is no such folder to run a command in: project, or a place")
        return os.path.realpath(found)

    def _unfit(self, folder: Path) -> bool:
        parts = Path(os.path.realpath(folder)).parts
        return any(parts[: len(one)] == one or one[: len(parts)] == parts for one in self._closed)

    def _refuse(self, frame: Frame, capability: Capability, command: str, why: str, cause: Cause) -> NoReturn:
        self._broker.refuse(frame, capability.kind, command, "not-granted", why, cause)


def _request(command: Any) -> ProcessRequest:
    if not isinstance(command, str):
        raise TypeError("a command is a str")
    return ProcessRequest(command=command)


def _checked(command: str, arguments: Any) -> list[str]:
    if isinstance(arguments, (str, bytes)) or not isinstance(arguments, Sequence):
        raise TypeError("arguments is a list of texts, not one")
    if len(arguments) > MOST_ARGUMENTS:
        raise _wrong(f"there are more than {MOST_ARGUMENTS}")
    for one in arguments:
        if not isinstance(one, str):
            raise TypeError("an argument is a str")
        if "\0" in one or not _is_encodable(one):
            raise _wrong("one holds NUL, or half a character")
    if sum(len(one.encode()) for one in arguments) > MOST_ARGUMENT_BYTES:
        raise _wrong(f"they are longer than {MOST_ARGUMENT_BYTES} bytes")
    return [command, *arguments]


def _wrong(why: str) -> ServiceError:
    return ServiceError("process-arguments", f"these cannot be a command's arguments: {why}")


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _bytes(stdin: Any) -> bytes:
    if isinstance(stdin, str):
        if not _is_encodable(stdin):
            raise _wrong("what it should read holds half a character")
        stdin = stdin.encode()
    if not isinstance(stdin, bytes):
        raise TypeError("stdin is bytes or text")
    if len(stdin) > INPUT_LIMIT:
        raise _wrong(f"what it should read is longer than {INPUT_LIMIT} bytes")
    return stdin


def _seconds(frame: Frame, seconds: float | None) -> float:
    if seconds is not None and (not isinstance(seconds, (int, float)) or not 0 < seconds < math.inf):
        raise TypeError("seconds is a number above 0")
    left = max(0.0, frame.call.deadline - time.monotonic())
    return min(seconds or (SECONDS if math.isinf(left) else left), left)


def _package_of(program: str) -> list[str]:
    """The folder of the package that a program belongs to, where packages have folders of their own."""
    below = Path(program).parts[len(Path(_PACKAGES).parts) :]
    return [f"{_PACKAGES}/{below[0]}"] if Path(program).is_relative_to(_PACKAGES) and len(below) > 1 else []


def _environment(scratch: Path) -> dict[str, str]:
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "HOME": str(scratch),
        "TMPDIR": str(scratch),
    }


def _import_paths() -> list[str]:
    """Where the child finds this package and attrs, and nothing else."""
    return list(dict.fromkeys((str(Path(__file__).parents[3]), str(Path(attr.__file__).parents[1]))))
