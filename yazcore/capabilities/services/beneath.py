"""Opening files below a root that is held open, so that check and use are one step (Y-15; capabilities A4, D 1 to 4).

Two ways, with the same results: `openat2` where the kernel has it, and a walk from component to component elsewhere.
Both follow no link at all. Where a path holds a link, `resolve` follows it here, by hand and below the root, and gives
the path without links: so what a link really names can be judged before it is opened.
"""

from __future__ import annotations

import errno
import functools
import os
import stat
import struct
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

Parts = tuple[str, ...]
Opener = Callable[[int, Parts, int, int], int]

_MOST_LINKS = 40
_DEEPEST = 200
_SYS_OPENAT2 = 437
_RESOLVE_NO_MAGICLINKS, _RESOLVE_NO_SYMLINKS, _RESOLVE_BENEATH = 0x02, 0x04, 0x08
_AT_FDCWD = -100
_TRIES = 64
_FOLDER = os.O_RDONLY | os.O_DIRECTORY
_LOOKING = getattr(os, "O_PATH", os.O_RDONLY)


class Leaves(Exception):
    """A path that does not stay below its root, or a link that leads nowhere; the text says which, naming no path."""


def open_root(folder: Path) -> int:
    """Open a root folder. Links on the way to it are the user's own choice and are followed. Raises `OSError`."""
    return os.open(folder, _FOLDER | os.O_CLOEXEC)


def open_by_walk(root: int, parts: Parts, flags: int, mode: int = 0) -> int:
    """Open what `parts` name below `root` from component to component, following no link.

    Raises `Leaves` at a link, else `OSError`.
    """
    _check(parts)
    if not parts:
        return os.open(".", flags | os.O_CLOEXEC, dir_fd=root)
    folder = os.dup(root)
    try:
        for part in parts[:-1]:
            folder = _step(folder, part)
        return _open_one(folder, parts[-1], flags, mode)
    finally:
        os.close(folder)


def open_by_openat2(root: int, parts: Parts, flags: int, mode: int = 0) -> int:
    """The same as `open_by_walk`, in one system call of the kernel."""
    _check(parts)
    how_flags = flags | os.O_CLOEXEC
    path = "/".join(parts) or "."
    for _ in range(_TRIES):
        handle, error = _openat2(root, path, how_flags, mode if flags & os.O_CREAT else 0)
        if handle >= 0:
            return handle
        if error not in (errno.EAGAIN, errno.EINTR):  # these two ask to try again: a rename came in between
            break
    if error in (errno.ELOOP, errno.EXDEV):
        raise Leaves("a link is in the way")
    raise OSError(error, os.strerror(error), path)


@functools.cache
def has_openat2() -> bool:
    """Whether the kernel has `openat2` and lets this process use it."""
    if not sys.platform.startswith("linux"):
        return False
    handle, _ = _openat2(_AT_FDCWD, ".", _LOOKING | os.O_DIRECTORY | os.O_CLOEXEC, 0)
    if handle >= 0:
        os.close(handle)
    return handle >= 0


def opener() -> Opener:
    """The better of the two ways that work here."""
    return open_by_openat2 if has_openat2() else open_by_walk


def resolve(root: int, parts: Parts) -> Parts:
    """The same path without links. What does not exist yet, at its end, stays as it is.

    Raises `Leaves` where a link is absolute, leads above the root, leads nowhere or in circles; `NotADirectoryError`
    where something on the way is no folder.
    """
    _check(parts)
    pending = [(part, False) for part in reversed(parts)]
    found: list[str] = []
    links = 0
    folders = [os.dup(root)]
    try:
        while pending:
            part, is_from_link = pending.pop()
            if part == "..":  # only a link can hold it
                if not found:
                    raise Leaves("a link leads out of the folder")
                found.pop()
                os.close(folders.pop())
                continue
            try:
                status = os.stat(part, dir_fd=folders[-1], follow_symlinks=False)
            except FileNotFoundError:
                if is_from_link or any(linked for _, linked in pending):
                    raise Leaves("a link leads to nothing") from None
                return (*found, part, *(name for name, _ in reversed(pending)))
            if stat.S_ISLNK(status.st_mode):
                links += 1
                if links > _MOST_LINKS:
                    raise Leaves("links lead in circles")
                pending += [(name, True) for name in reversed(_target_parts(part, folders[-1]))]
            else:
                if pending:
                    if len(folders) > _DEEPEST:
                        raise Leaves("links lead too deep")
                    folders.append(_open_one(folders[-1], part, _FOLDER, 0))
                found.append(part)
    finally:
        for folder in folders:
            os.close(folder)
    return tuple(found)


def real_parts(root: int, parts: Parts) -> Parts:
    """The same as `resolve`, faster where no link is on the way, which is nearly always."""
    if has_openat2():
        try:
            os.close(open_by_openat2(root, parts, _LOOKING))
        except FileNotFoundError:
            return parts  # the kernel met no link before the missing part
        except Leaves:
            return resolve(root, parts)
        return parts
    return resolve(root, parts)


def make_folders(root: int, parts: Parts, mode: int = 0o777) -> int:
    """Open the folder that `parts` name, following no link, and make what is missing on the way. Gives its handle."""
    _check(parts)
    folder = os.dup(root)
    try:
        for part in parts:
            try:
                folder = _step(folder, part)
            except FileNotFoundError:
                with suppress(FileExistsError):  # who was first may have put a link there: the next step refuses it
                    os.mkdir(part, mode, dir_fd=folder)
                folder = _step(folder, part)
    except BaseException:
        os.close(folder)
        raise
    return folder


@contextmanager
def closing(handle: int) -> Iterator[int]:
    """Close the handle in the end."""
    try:
        yield handle
    finally:
        os.close(handle)


def _step(folder: int, name: str) -> int:
    """Go from an open folder to the one below it, and close the first."""
    below = _open_one(folder, name, _FOLDER, 0)
    os.close(folder)
    return below


def _open_one(folder: int, name: str, flags: int, mode: int) -> int:
    try:
        return os.open(name, flags | os.O_NOFOLLOW | os.O_CLOEXEC, mode, dir_fd=folder)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EMLINK) or _is_link(folder, name):
            raise Leaves("a link is in the way") from None
        raise


def _is_link(folder: int, name: str) -> bool:
    try:
        return stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except OSError:
        return False


def _target_parts(name: str, folder: int) -> list[str]:
    target = os.readlink(name, dir_fd=folder)
    if target.startswith("/"):
        raise Leaves("a link leads to an absolute path")
    return [part for part in target.split("/") if part not in ("", ".")]


def _check(parts: Parts) -> None:
    """Only names may pass: callers have split and judged the path, and this is the last door."""
    for part in parts:
        if part in ("", ".", "..") or "/" in part or "\0" in part:
            raise Leaves("a path has a part that is no name")


def _openat2(folder: int, path: str, flags: int, mode: int) -> tuple[int, int]:
    """The handle, or a negative number and the error number."""
    import ctypes

    how = struct.pack("QQQ", flags, mode, _RESOLVE_BENEATH | _RESOLVE_NO_MAGICLINKS | _RESOLVE_NO_SYMLINKS)
    handle = _syscall()(
        ctypes.c_long(_SYS_OPENAT2), ctypes.c_int(folder), ctypes.c_char_p(os.fsencode(path)), ctypes.c_char_p(how),
        ctypes.c_size_t(len(how)),
    )  # fmt: skip
    return handle, ctypes.get_errno()


@functools.cache
def _syscall() -> Callable[..., int]:
    import ctypes

    function = ctypes.CDLL(None, use_errno=True).syscall
    function.restype = ctypes.c_long
    return function
