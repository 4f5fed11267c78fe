"""A plugin's own folder, as far as the host writes in it: no link of the plugin's leads it out, and it has a quota.

The plugin itself writes there as it likes. So the quota is looked at whenever the host is about to add something, and
when a plugin is activated; between the two a plugin can exceed it (docs/security.md).
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

import attrs

from yazcore import trees
from yazcore.capabilities.errors import ServiceError
from yazcore.capabilities.services.atomic import write_all
from yazcore.capabilities.services.beneath import Leaves, Parts, closing, make_folders, open_root
from yazcore.kinds.files import split_path
from yazcore.trees import Moved, TooMany, walk

QUOTA = 4 * 2**30
"""The most bytes a data folder may hold for the host to add more."""

_TRIES = 3


def _unasked() -> None:
    """Nobody waits for it, so nobody stops it."""


@attrs.frozen(kw_only=True)
class DataFolder:
    """The data folder of one plugin, which must hold no more than `quota` bytes."""

    folder: Path
    quota: int = QUOTA

    def used(self, check: Callable[[], None] = _unasked) -> int:
        """The bytes of all files in it; see `used`. Raises `OSError`."""
        if not self.folder.is_dir():
            return 0
        with closing(open_root(self.folder)) as root:
            return used(root, check)

    def room(self, check: Callable[[], None] = _unasked) -> int:
        """How many bytes may still be added; `check` and what is raised as in `used`."""
        return max(0, self.quota - self.used(check))

    def receive(self, name: str, pieces: Iterable[bytes], check: Callable[[], None]) -> int:
        """Write a file of that relative path, whole or not at all, in place of an earlier one; how many bytes it has.

        `check` is called between pieces and may raise. Raises `ServiceError`: `quota-exceeded`, `data-folder-broken`
        where the plugin has put a link in the way and as `used` does, `file-name-invalid`; `OSError` where writing
        fails.
        """
        parts = split_path(name) if isinstance(name, str) else None
        if not parts:
            raise ServiceError(
                "file-name-invalid", "a name in the data folder is a relative path, with / between its parts"
            )
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with closing(open_root(self.folder)) as root, closing(made(root, parts[:-1])) as folder:
            most = max(0, self.quota - used(root, check))
            temporary = f".yaz-{secrets.token_hex(8)}.tmp"
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            try:
                with closing(os.open(temporary, flags, 0o600, dir_fd=folder)) as handle:
                    size = self._fill(handle, pieces, most, check)
                _refuse_folder(folder, parts[-1])
                os.rename(temporary, parts[-1], src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                with suppress(FileNotFoundError):
                    os.unlink(temporary, dir_fd=folder)
                raise
        return size

    def _fill(self, handle: int, pieces: Iterable[bytes], most: int, check: Callable[[], None]) -> int:
        size = 0
        for piece in pieces:
            check()
            size += len(piece)
            if size > most:
                raise exceeded(self.quota)
            write_all(handle, piece)
        return size


def exceeded(quota: int) -> ServiceError:
    """That the data folder would hold too much."""
    return ServiceError(
        "quota-exceeded",
        f"with this the data folder would hold more than the {quota} bytes it may: delete what is not needed there",
    )


def made(root: int, parts: Parts) -> int:
    """A folder below an open data folder, made where it is not there. Raises `ServiceError` `data-folder-broken`."""
    try:
        return make_folders(root, parts, 0o700)
    except Leaves:
        where = parts[0] if parts else "."
        raise ServiceError(
            "data-folder-broken", f"there is a link in the data folder where the host writes: remove {where} there"
        ) from None


def used(root: int, check: Callable[[], None] = _unasked) -> int:
    """The bytes of all files below an open folder, no link followed; `check` is called now and then and may raise.

    Raises `ServiceError` `data-folder-broken` where they cannot be counted: there are too many, or folders are moved
    while they are looked at; and `OSError`.
    """
    for _ in range(_TRIES):
        try:
            return _counted(root, check)
        except Moved:
            continue
        except TooMany:
            raise ServiceError(
                "data-folder-broken",
                f"there are more than {trees.MOST_ENTRIES} files and folders in the data folder: "
                "delete what is not needed there",
            ) from None
    raise ServiceError(
        "data-folder-broken", "folders in the data folder are moved all the time, so what it holds cannot be counted"
    )


def _counted(root: int, check: Callable[[], None]) -> int:
    total = 0

    def count(folder: int, name: str) -> None:
        nonlocal total
        with suppress(FileNotFoundError):
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
            total += status.st_size if stat.S_ISREG(status.st_mode) else 0

    walk(root, count, check=check, most=trees.MOST_ENTRIES)
    return total


def _refuse_folder(folder: int, name: str) -> None:
    with suppress(FileNotFoundError):
        if stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            raise ServiceError("file-is-folder", f"{name} is a folder in the data folder")
