"""The world around an attacked host: secrets, targets, servers that remember who came, a process to be attacked.

All of it lies in one folder and on the loopback interface, and is gone with it.
"""

from __future__ import annotations

import base64
import contextlib
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs

from tests.capabilities.servers import Answer, Asked, Server

SECRET = "s3cret-of-the-outside"
"""What no plugin may say."""


@attrs.define
class World:
    """What there is to be attacked. `told` is what a plugin is told of it; `heard` who has come."""

    folder: Path
    told: dict[str, Any]
    heard: list[str]
    _before: dict[str, Any] = attrs.field(factory=dict)

    def look(self) -> None:
        """Remember how everything is."""
        self.heard.clear()
        self._before = self._state()

    def differs(self) -> list[str]:
        """What is not as it was."""
        now = self._state()
        return sorted(key for key in now.keys() | self._before.keys() if now.get(key) != self._before.get(key))

    def mend(self) -> None:
        """Make everything as it was in the beginning."""
        _furnish(self.folder)

    def _state(self) -> dict[str, Any]:
        state: dict[str, Any] = {f"heard {one}": True for one in self.heard}
        for base in ("outside", "project", "site", "home/data/good"):
            for path in sorted((self.folder / base).rglob("*")):
                if not path.name.startswith("flips"):
                    state[str(path.relative_to(self.folder))] = _about(path)
        for name in ("grants.json", "run.json"):
            state[name] = _about(self.folder / "home" / name)
        with contextlib.suppress(OSError, ProcessLookupError):
            victim = self.told["victim"]
            state["victim"] = (os.getpriority(os.PRIO_PROCESS, victim), os.sched_getaffinity(victim), _limit(victim))
        return state


def _about(path: Path) -> Any:
    try:
        status = path.lstat()
        content = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
        attributes = sorted(os.listxattr(path, follow_symlinks=False))
    except OSError:
        return None
    return status.st_mode, status.st_mtime_ns if not path.is_dir() else 0, content, attributes


def _limit(pid: int) -> Any:
    import resource

    return resource.prlimit(pid, resource.RLIMIT_NOFILE)


@contextlib.contextmanager
def world(folder: Path) -> Iterator[World]:
    """A world in that folder, for as long as the block lasts."""
    heard: list[str] = []
    _furnish(folder)
    with contextlib.ExitStack() as stack:
        tcp = stack.enter_context(_listening(socket.AF_INET, ("127.0.0.1", 0), "tcp", heard))
        unix = stack.enter_context(_listening(socket.AF_UNIX, str(folder / "outside.sock"), "unix", heard))
        name = f"yaz-attacked-{os.getpid()}"
        stack.enter_context(_listening(socket.AF_UNIX, f"\0{name}", "abstract", heard))
        udp = stack.enter_context(_receiving(socket.AF_INET, ("127.0.0.1", 0), "udp", heard))
        stack.enter_context(_receiving(socket.AF_UNIX, str(folder / "outside.dgram"), "unix-datagram", heard))
        http = stack.enter_context(_http(heard))
        other = stack.enter_context(_http(heard))
        victim = stack.enter_context(_victim(folder))
        outside = folder / "outside"
        yield World(
            folder=folder,
            heard=heard,
            told={
                "root": str(folder), "outside": str(outside), "secret": str(outside / "secret"),
                "target": str(outside / "target"), "database": str(outside / "database"),
                "project": str(folder / "project"), "home": str(folder / "home"), "site": str(folder / "site"),
                "beat": str(folder / "home" / "data" / "evil" / "beat"),
                "data-beat": str(folder / "home" / "data" / "evil" / "beat"),
                "tcp": tcp, "unix": unix, "abstract": name, "udp": udp, "unix-datagram": str(folder / "outside.dgram"),
                "http": http.port, "other-http": other.port, "victim": victim, "python": sys.executable,
            },
        )  # fmt: skip


def _furnish(folder: Path) -> None:
    outside, project = folder / "outside", folder / "project"
    for name in ("outside", "project", "site", "home/data/evil", "home/data/good"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for stray in (*outside.iterdir(), *(folder / "site").iterdir()):
        if stray.is_dir():
            stray.rmdir()
        elif stray.name not in ("secret", "target", "database"):
            stray.unlink()
    _write(outside / "secret", f"{SECRET}\n")
    _write(outside / "target", "untouched")
    os.chmod(outside / "target", 0o644)
    with contextlib.suppress(OSError):
        os.removexattr(outside / "target", "user.evil")
    if not (outside / "database").exists():
        connection = sqlite3.connect(outside / "database")
        connection.execute("create table secrets (a)")
        connection.execute("insert into secrets values (?)", (SECRET,))
        connection.commit()
        connection.close()
    _write(folder / "home" / "run.json", SECRET)
    _write(folder / "home" / "data" / "good" / "secret", SECRET)
    for name, text in {
        "notes.md": "a note", ".env": SECRET, "sub/plain": "plain", ".git/config": SECRET, ".git/hooks/sample": "",
        "flips": "its own",
    }.items():  # fmt: skip
        path = project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_symlink():
            path.unlink()
        _write(path, text)
    for stray_name in (
        ".git/hooks/pre-commit", ".GIT/hooks/pre-commit", "sub/conftest.py", "sub/.env", "new.txt", "forged.txt",
    ):  # fmt: skip
        (project / stray_name).unlink(missing_ok=True)
    (project / "large.bin").write_bytes(b"x" * 1_000_000)
    for name, leads in {"link-out": "secret", "link-target": "target", "folder-out": ""}.items():
        link = project / name
        if not link.is_symlink():
            link.unlink(missing_ok=True)
            link.symlink_to(outside / leads)
    if not (project / "pipe").exists():
        os.mkfifo(project / "pipe")
    for name, leads in {"planted": "secret", "planted-target": "target"}.items():
        link = folder / "home" / "data" / "evil" / name
        link.unlink(missing_ok=True)
        link.symlink_to(outside / leads)


def _write(path: Path, text: str) -> None:
    if not path.is_file() or path.read_text(errors="replace") != text:
        path.write_text(text)


@contextlib.contextmanager
def _listening(family: int, address: Any, name: str, heard: list[str]) -> Iterator[Any]:
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.bind(address)
    listening.listen()

    def serve() -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = listening.accept()
                heard.append(name)
                client.close()

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield listening.getsockname()[1] if family == socket.AF_INET else address
    finally:
        with contextlib.suppress(OSError):
            listening.shutdown(socket.SHUT_RDWR)
        listening.close()


@contextlib.contextmanager
def _receiving(family: int, address: Any, name: str, heard: list[str]) -> Iterator[Any]:
    receiving = socket.socket(family, socket.SOCK_DGRAM)
    receiving.bind(address)

    def serve() -> None:
        with contextlib.suppress(OSError):
            while receiving.recv(100):
                heard.append(name)

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield receiving.getsockname()[1] if family == socket.AF_INET else address
    finally:
        with contextlib.suppress(OSError):
            receiving.shutdown(socket.SHUT_RDWR)
        receiving.close()


@contextlib.contextmanager
def _http(heard: list[str]) -> Iterator[Server]:
    """A web server: it remembers methods other than GET, and who came to a host that is not granted."""

    def answer(asked: Asked) -> Answer:
        host = asked.headers.get("host", "").partition(":")[0]
        if asked.method != "GET" or "x-http-method-override" in asked.headers or host != "localhost":
            heard.append(f"{asked.method} of {host}")
        if asked.target == "/redirect":
            port = asked.headers["host"].rpartition(":")[2]
            return Answer(302, {"Location": f"http://127.0.0.1:{port}/echo"})
        body = str(asked.headers).encode()
        return Answer(body=base64.b64encode(body) if asked.target == "/echo64" else body)

    server = Server(answer)
    try:
        yield server
    finally:
        server.close()


@contextlib.contextmanager
def _victim(folder: Path) -> Iterator[int]:
    """A process of the user's that does nothing; signals it gets make a file."""
    mark = folder / "outside" / "signalled"
    code = (
        "import pathlib, signal, sys\n"
        f"signal.signal(signal.SIGUSR1, lambda *a: pathlib.Path({str(mark)!r}).write_text('x'))\n"
        "print('ready', flush=True)\nwhile True: signal.pause()\n"
    )
    victim = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, start_new_session=True)
    try:
        assert victim.stdout is not None
        victim.stdout.readline()
        yield victim.pid
    finally:
        victim.send_signal(signal.SIGKILL)
        victim.wait()
        if victim.stdout is not None:
            victim.stdout.close()
