"""Replacing a file in one step, and waiting for whoever else is about to replace the same one."""

from __future__ import annotations

import errno
import os
import secrets
import stat
import threading
import time
from collections.abc import Hashable, Iterator
from contextlib import contextmanager, suppress

from yazcore.capabilities.services.beneath import closing

LOCK_SECONDS = 10.0
"""How long to wait for another process that writes in the same folder, in seconds."""

_PAUSE_SECONDS = 0.002


class Locks:
    """A lock for each key, there only while somebody holds it or waits for it."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._locks: dict[Hashable, tuple[threading.Lock, int]] = {}

    @contextmanager
    def holding(self, key: Hashable) -> Iterator[None]:
        """Hold the key's lock."""
        with self._guard:
            lock, users = self._locks.get(key, (threading.Lock(), 0))
            self._locks[key] = lock, users + 1
        try:
            with lock:
                yield
        finally:
            with self._guard:
                lock, users = self._locks.pop(key)
                if users > 1:
                    self._locks[key] = lock, users - 1

    def __len__(self) -> int:
        return len(self._locks)


@contextmanager
def alone_in(folder: int) -> Iterator[None]:
    """Keep out whoever else, in any process, wants to write in an open folder by way of this function.

    Between looking at a file and replacing it nobody of them comes. Nothing is created for it, and it ends with the
    process; where the file system has no locks there is none. Raises `TimeoutError` after `LOCK_SECONDS`.
    """
    try:
        import fcntl
    except ImportError:  # Windows
        yield
        return
    held = False
    deadline = time.monotonic() + LOCK_SECONDS
    while not held:
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            held = True
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise TimeoutError(errno.ETIMEDOUT, "another process is writing there all the time") from None
            time.sleep(_PAUSE_SECONDS)
        except OSError:
            break
    try:
        yield
    finally:
        if held:
            fcntl.flock(folder, fcntl.LOCK_UN)


def replace(folder: int, name: str, data: bytes, mode: int | None) -> None:
    """Give the file `name` in an open folder the content `data`: readers see the old file or the new one, whole.

    `mode` is kept from the file that is replaced; None for a new file, which gets what the process's umask leaves.
    A link of that name is replaced, never followed. Raises `OSError`, and then leaves nothing behind.
    """
    temporary = f".yaz-{secrets.token_hex(8)}.tmp"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    handle = os.open(temporary, flags, 0o666 if mode is None else stat.S_IMODE(mode) & 0o777, dir_fd=folder)
    try:
        with closing(handle):
            if mode is not None:
                os.fchmod(handle, stat.S_IMODE(mode) & 0o777)
            write_all(handle, data)
            os.fsync(handle)
        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=folder)
        raise
    with suppress(OSError):  # not every file system can, and the file is in its place
        os.fsync(folder)


def write_all(handle: int, data: bytes) -> None:
    """Write all of `data` at the handle's position."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(handle, rest) :]
