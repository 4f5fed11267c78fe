"""Copies of several files as of one moment, in a plugin's data folder (design 5).

Nothing is created, locked or changed at the source. The files are those of one moment if presence, identity, size and
time of every one agree before and after copying; else it is done again.
"""

from __future__ import annotations

import errno
import os
import secrets
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path

import attrs

from yazcore.capabilities.errors import ServiceError
from yazcore.capabilities.services.atomic import Locks, write_all
from yazcore.capabilities.services.beneath import Parts, closing, open_by_walk, open_root
from yazcore.capabilities.services.data_folder import QUOTA, exceeded, made, used
from yazcore.trees import remove_tree

FOLDER = "copies"
"""Where copies lie in the data folder: `copies/<set of names>/<moment>/<name>`."""

TRIES = 5
"""How often a snapshot is begun before the files count as changing all the time."""

KEPT = 2
"""How many snapshots of one set of names are kept: the newest and the one before, which may still be read."""

CHUNK = 8 * 2**20
_NOT_BY_KERNEL = {errno.EXDEV, errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP, errno.EPERM, errno.EBADF}

_LOCKS = Locks()

Handles = Mapping[Parts, int | None]
OpenSources = Callable[[ExitStack], Handles]
CopyBytes = Callable[[int, int, int, Callable[[], None]], None]


def copy_bytes(source: int, target: int, size: int, check: Callable[[], None]) -> None:
    """Copy the first `size` bytes between open files, in chunks, inside the kernel where it can; `check` may raise."""
    by_kernel = hasattr(os, "copy_file_range")
    done = 0
    while done < size:
        check()
        wanted = min(CHUNK, size - done)
        copied = 0
        if by_kernel:
            try:
                copied = os.copy_file_range(source, target, wanted, done, done)
            except OSError as error:
                if error.errno not in _NOT_BY_KERNEL:
                    raise
            by_kernel = copied > 0
        if not by_kernel:
            os.lseek(target, done, os.SEEK_SET)
            data = os.pread(source, wanted, done)
            write_all(target, data)
            copied = len(data)
        if not copied:
            return  # the file is shorter than it was; comparing before and after will show it
        done += copied


@attrs.frozen(kw_only=True)
class Snapshots:
    """The snapshots in one data folder, which must hold no more than `quota` bytes."""

    folder: Path
    quota: int = QUOTA
    copy: CopyBytes = copy_bytes

    def take(self, key: str, open_sources: OpenSources, check: Callable[[], None]) -> dict[Parts, str]:
        """Copy what `open_sources` opens, and give for each name that is there its path inside the data folder.

        `open_sources` gives a handle for each name, None for an absent one, and closes them with its stack; it is
        called before and after copying. `key` names the set of names; `check` is called between chunks and may raise.
        A snapshot stays until the second later one of the same key is begun.

        Raises `ServiceError` with `files-changed` where the files do not hold still in `TRIES` tries, and with
        `quota-exceeded`, and with `data-folder-broken` where the plugin has put a link in the way or what it holds
        cannot be counted; `OSError` where copying fails.
        """
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with (
            closing(open_root(self.folder)) as root,
            _LOCKS.holding((_identity(root), key)),
            closing(made(root, (FOLDER, key))) as shelf,
        ):
            for _ in range(TRIES):
                _prune(shelf, KEPT - 1)
                moment = f"{time.time_ns():020d}-{secrets.token_hex(4)}"
                try:
                    present = self._try(root, shelf, moment, open_sources, check)
                except BaseException:
                    _remove(shelf, moment)
                    raise
                if present is not None:
                    return {parts: "/".join((FOLDER, key, moment, *parts)) for parts in present}
                _remove(shelf, moment)
        raise ServiceError("files-changed", "the files change all the time, so no copy of one moment could be made")

    def _try(
        self, root: int, shelf: int, moment: str, open_sources: OpenSources, check: Callable[[], None]
    ) -> list[Parts] | None:
        with ExitStack() as stack:
            handles = open_sources(stack)
            before = {parts: _stamp(handle) for parts, handle in handles.items()}
            present = {parts: handle for parts, handle in handles.items() if handle is not None}
            sizes = {parts: os.fstat(handle).st_size for parts, handle in present.items()}
            wanted = sum(sizes.values())
            if used(root, check) + wanted > self.quota:
                raise exceeded(self.quota)
            for parts, handle in present.items():
                with closing(made(shelf, (moment, *parts[:-1]))) as folder:
                    # O_EXCL: neither a file nor a link can be there
                    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
                    with closing(open_by_walk(folder, parts[-1:], flags, 0o600)) as target:
                        self.copy(handle, target, sizes[parts], check)
        with ExitStack() as stack:
            after = {parts: _stamp(handle) for parts, handle in open_sources(stack).items()}
        return list(present) if after == before else None


def _stamp(handle: int | None) -> tuple[int, ...] | None:
    if handle is None:
        return None
    status = os.fstat(handle)
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def _identity(handle: int) -> tuple[int, int]:
    status = os.fstat(handle)
    return status.st_dev, status.st_ino


def _prune(shelf: int, kept: int) -> None:
    for moment in sorted(os.listdir(shelf), reverse=True)[kept:]:
        _remove(shelf, moment)


def _remove(shelf: int, moment: str) -> None:
    remove_tree(moment, dir_fd=shelf)
