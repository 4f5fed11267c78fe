"""The audit guard of the `trusted` runtime: it notices a plugin that goes past the services, and refuses (design 5).

It is against accidents, and for the record. It is **no boundary**: code in this process can do whatever the process can
(capabilities A5: 23 of 33 deliberate ways round such a hook work). What it sees are the audit events that Python raises
before it acts (PEP 578), in whatever runs in the plugin's frame: its hooks, handlers, tasks, and threads made through
the context. Bare threads, finalizers, callbacks and handlers of signals that a plugin leaves behind it does not see.

One hook a process, for ever: Python has no way to take one out. Where no plugin's frame is set it costs a look-up.
"""

from __future__ import annotations

import errno
import os
import sys
import threading
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import attrs

from yazcore.capabilities.broker import Broker
from yazcore.capabilities.context import Frame, current
from yazcore.capabilities.errors import CapabilityError
from yazcore.kinds.files import too_wide

Judge = Callable[[tuple[Any, ...]], "tuple[Want, ...]"]

_lock = threading.Lock()
_installed = False

_READABLE = (
    "/dev/null", "/dev/random", "/dev/urandom", "/dev/zero", "/etc/localtime", "/etc/mime.types", "/etc/ssl",
    "/usr/lib/ssl", "/usr/share/ca-certificates", "/usr/share/zoneinfo",
)  # fmt: skip
_WRITABLE = ("/dev/null",)
# Libraries for numbers set these when they are imported, for their own compiled code, and fail where they cannot.
_VARIABLES_OF_LIBRARIES = frozenset({
    "GOTOBLAS_MAIN_FREE", "KMP_DUPLICATE_LIB_OK", "KMP_INIT_AT_FORK", "OPENBLAS_MAIN_FREE",
})  # fmt: skip
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND

_FILES = "a plugin's own code reaches its data folder and nothing else: use context.files"
_NET = "a plugin's own code makes no connections: use context.network"
_PROCESS = "a plugin's own code starts and signals no processes: use context.processes"
_WHOLE = "it would change the whole process, and so every other plugin"


@attrs.frozen
class Want:
    """One thing that code is about to do.

    `path` is where it would read or, with `write`, write; None: it is refused whatever its target.
    """

    kinds: tuple[str, ...]
    target: str
    detail: str
    path: str | None = None
    write: bool = False


class Watch:
    """What one plugin's own code may do in this process: read what Python itself lies in, write its data folder."""

    def __init__(self, broker: Broker, readable: Iterable[Path], data_folder: Path) -> None:
        self._broker = broker
        self._write = _real((*_WRITABLE, str(data_folder)))
        self._read = (*self._write, *_real((*_READABLE, *map(str, readable), *python_folders())))

    def look(self, wants: tuple[Want, ...], frame: Frame) -> None:
        """Raise `CapabilityError`, recorded, for the first thing that is not the plugin's to do itself."""
        for want in wants:
            if want.path is None or not _is_below(want.path, self._write if want.write else self._read):
                self._refuse(want, frame)

    def _refuse(self, want: Want, frame: Frame) -> None:
        kind, reason = self._broker.standing(want.kinds)
        try:
            if _is_noise(want):  # Python goes on without it, and nobody has asked for it
                raise CapabilityError(frame.plugin, kind, reason, want.target, want.detail)
            self._broker.refuse(frame, kind, want.target, reason, want.detail, "own-code")
        except CapabilityError as error:
            error.errno = errno.EACCES  # libraries look at it
            raise


def install() -> None:
    """Put the one hook in, if it is not there."""
    global _installed
    with _lock:
        if not _installed:
            sys.addaudithook(_hook())
            _installed = True


def is_installed() -> bool:
    """Whether the hook is in this process."""
    return _installed


def _hook() -> Callable[[str, tuple[Any, ...]], None]:
    """The hook; everything it needs is bound to it, because it goes on while the interpreter ends."""
    judge_of, frame_now, enter, leave = dict(_JUDGES).get, current.get, current.set, current.reset

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        frame = frame_now()  # first: nearly always there is none, and that is all it costs
        if frame is None or frame.watch is None:
            return
        judge = judge_of(event)
        if judge is None:
            return
        token = enter(None)  # what is done to find out is the host's own doing
        try:
            frame.watch.look(judge(arguments), frame)
        finally:
            leave(token)

    return hook


def python_folders() -> tuple[str, ...]:
    """Where Python, what is installed, and this package lie, as far as no folder holds more than that."""
    candidates = [sys.prefix, sys.base_prefix, sys.exec_prefix, str(Path(__file__).parents[1])]
    candidates += [entry for entry in sys.path if entry and os.path.isabs(entry)]
    below_usr = {"/usr", "/usr/local"}  # as prefixes of Python they are; `too_wide` speaks of what users grant
    return tuple(dict.fromkeys(one for one in candidates if one in below_usr or not too_wide(one)))


# --- what an event is about: pure but for looking up where a path leads -----------------------------------------------


def _opened(arguments: tuple[Any, ...]) -> tuple[Want, ...]:
    path, _, flags = (*arguments, None, None)[:3]
    return _file(path, isinstance(flags, int) and bool(flags & _WRITING))


def _listed(arguments: tuple[Any, ...]) -> tuple[Want, ...]:
    path = arguments[0] if arguments and arguments[0] is not None else "."
    if isinstance(path, str) and path in ("", ".", os.getcwd()) and "" in sys.path:
        return ()  # Python looks for a module there
    return _file(path, write=False)


def _written(at: int = 0, folder: int | None = None) -> Judge:
    """An event about one path, its index, and the index of the open folder that it is relative to."""

    def judge(arguments: tuple[Any, ...]) -> tuple[Want, ...]:
        return _file(_get(arguments, at), write=True, folder=_get(arguments, folder))

    return judge


def _moved(arguments: tuple[Any, ...]) -> tuple[Want, ...]:
    source, target, source_folder, target_folder = (*arguments, None, None, None, None)[:4]
    return (*_file(source, True, source_folder), *_file(target, True, target_folder))


def _linked(arguments: tuple[Any, ...]) -> tuple[Want, ...]:
    return _file(_get(arguments, 1), write=True, folder=_get(arguments, 2))


def _read_at(arguments: tuple[Any, ...]) -> tuple[Want, ...]:
    return _file(_get(arguments, 0), write=False)


def _database(arguments: tuple[Any, ...]) -> tuple[Want, ...]:
    name = _text(_get(arguments, 0))
    if name in ("", ":memory:") or name.startswith("file::memory:"):
        return ()
    if name.startswith("file:"):
        from urllib.parse import unquote, urlsplit

        name = unquote(urlsplit(name).path)
    return _file(name, write=True)


def _connected(arguments: tuple[Any, ...]) -> tuple[Want, ...]:
    address = _get(arguments, 1)
    if isinstance(address, tuple) and len(address) >= 2:
        host = _text(address[0])
        return (Want(("net",), f"[{host}]:{address[1]}" if ":" in host else f"{host}:{address[1]}", _NET),)
    return (Want(("net",), _text(address) or "a socket", _NET),)


def _named_host(arguments: tuple[Any, ...]) -> tuple[Want, ...]:
    return (Want(("net",), _text(_get(arguments, 0)) or "a host", _NET),)


def _started(arguments: tuple[Any, ...]) -> tuple[Want, ...]:
    program = _get(arguments, 0)
    if isinstance(program, (list, tuple)) and program:
        program = program[0]
    return (Want(("process",), _text(program) or "a program", _PROCESS),)


def _forked(arguments: tuple[Any, ...]) -> tuple[Want, ...]:
    return (Want(("process",), "a copy of this process", _PROCESS),)


def _signalled(arguments: tuple[Any, ...]) -> tuple[Want, ...]:
    return (Want(("process",), f"a signal to {_text(_get(arguments, 0))}", _PROCESS),)


def _whole(what: str) -> Judge:
    return lambda arguments: (Want(("process",), what, _WHOLE),)


def _variable(arguments: tuple[Any, ...]) -> tuple[Want, ...]:
    if _text(_get(arguments, 0)) in _VARIABLES_OF_LIBRARIES:
        return ()
    return (Want(("process",), "the environment", _WHOLE),)


def _library(arguments: tuple[Any, ...]) -> tuple[Want, ...]:
    name = _text(_get(arguments, 0))
    return _file(name, write=False) if os.sep in name else ()


_JUDGES: Mapping[str, Judge] = {
    "open": _opened,
    "os.listdir": _listed,
    "os.scandir": _listed,
    "os.mkdir": _written(folder=2),
    "os.rmdir": _written(folder=1),
    "os.remove": _written(folder=1),
    "os.rename": _moved,
    "os.link": _moved,
    "os.symlink": _linked,
    "os.truncate": _written(),
    "os.utime": _written(folder=3),
    "os.chmod": _written(folder=2),
    "os.chown": _written(folder=3),
    "os.chflags": _written(),
    "os.lchflags": _written(),
    "os.setxattr": _written(),
    "os.removexattr": _written(),
    "os.getxattr": _read_at,
    "os.listxattr": _read_at,
    "sqlite3.connect": _database,
    "ctypes.dlopen": _library,
    "socket.connect": _connected,
    "socket.bind": _connected,
    "socket.sendto": _connected,
    "socket.sendmsg": _connected,
    "socket.getaddrinfo": _named_host,
    "socket.gethostbyname": _named_host,
    "socket.gethostbyaddr": _named_host,
    "socket.getnameinfo": _named_host,
    "subprocess.Popen": _started,
    "os.system": _started,
    "os.exec": _started,
    "os.posix_spawn": _started,
    "os.startfile": _started,
    "os.spawn": lambda arguments: _started(arguments[1:]),
    "pty.spawn": _started,
    "os.fork": _forked,
    "os.forkpty": _forked,
    "os.kill": _signalled,
    "os.killpg": _signalled,
    "signal.pthread_kill": _signalled,
    "os.chdir": _whole("the working folder"),
    "os.fchdir": _whole("the working folder"),
    "os.putenv": _variable,
    "os.unsetenv": _variable,
    "resource.setrlimit": _whole("a limit"),
    "resource.prlimit": _whole("a limit"),
}


def _file(path: Any, write: bool, folder: Any = None) -> tuple[Want, ...]:
    if isinstance(path, int):
        return ()  # it is open already
    text = _text(path)
    if isinstance(folder, int) and folder >= 0 and not os.path.isabs(text):
        below = _folder_of(folder)
        if below is None:
            return ()  # nobody can say where that is
        text = os.path.join(below, text)
    kinds = ("fs-write", "fs-project", "fs-read") if write else ("fs-read", "fs-project", "fs-write")
    return (Want(kinds, text, _FILES, os.path.realpath(text), write),)


def _folder_of(descriptor: int) -> str | None:
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}")
    except OSError:
        return None


def _get(arguments: tuple[Any, ...], at: int | None) -> Any:
    return arguments[at] if at is not None and at < len(arguments) else None


def _text(value: Any) -> str:
    try:
        return os.fsdecode(value)
    except TypeError:
        return "" if value is None else str(value)


def _is_noise(want: Want) -> bool:
    """Whether it is Python itself that wants it, to keep what it compiled."""
    return want.write and f"{os.sep}__pycache__" in want.target


def _is_below(path: str, folders: tuple[str, ...]) -> bool:
    return any(path == folder or path.startswith(f"{folder.rstrip(os.sep)}{os.sep}") for folder in folders)


def _real(paths: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(os.path.realpath(path) for path in paths))
