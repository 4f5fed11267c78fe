"""Landlock: from here on this process opens only the named folders and files, whatever it is told (Linux 5.13).

The kernel compares what a name leads to, so a link leads nowhere new. It needs no privilege, and what a process has
given up its children lack too.
"""

from __future__ import annotations

import ctypes
import errno
import os
import stat
import struct
import sys
from collections.abc import Iterable

from yazcore.confinement.system import NO_NEW_PRIVILEGES, attempt, call, name_of, prctl

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_OPENAT2, _FROM_HERE, _NO_SYMLINKS = 437, -100, 0x04
_VERSION_QUERY = 1
_RULE_PATH_BENEATH = 1

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR, _REMOVE_DIR, _REMOVE_FILE = (1 << bit for bit in range(6))
_MAKE_DIR, _MAKE_FILE, _MOVE, _TRUNCATE = 1 << 7, 1 << 8, 1 << 13, 1 << 14
_READ = _READ_FILE | _READ_DIR
# No devices, sockets, FIFOs and symbolic links: they are made by nobody.
_WRITE = _READ | _WRITE_FILE | _REMOVE_DIR | _REMOVE_FILE | _MAKE_DIR | _MAKE_FILE | _MOVE | _TRUNCATE
_RUN = _READ | _EXECUTE
_OF_A_FILE = _EXECUTE | _READ_FILE | _WRITE_FILE | _TRUNCATE
# How many rights over files each version of the interface knows; later ones know at least as many as the last.
_RIGHTS_OF_VERSION = {1: 13, 2: 14, 3: 15, 4: 15}
_RIGHTS = 16
_TCP = 0b11
_SCOPES = 0b11


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("access", ctypes.c_uint64), ("descriptor", ctypes.c_int32))


def landlock_version() -> int:
    """The version of the kernel's Landlock interface; 0 where there is none."""
    return max(0, _asked())


def why_not() -> str | None:
    """Why this kernel confines no files, as a sentence without its end; None where it does."""
    if not sys.platform.startswith("linux"):
        return f"Landlock is a part of Linux, and this is {sys.platform}"
    answer = _asked()
    if answer > 0:
        return None
    return {
        -errno.ENOSYS: "this kernel has no Landlock (Linux 5.13 or newer is needed)",
        -errno.EOPNOTSUPP: "Landlock is built into this kernel and switched off at boot (add landlock to its lsm=)",
        -errno.EPERM: "the container forbids Landlock (its seccomp profile blocks the call)",
    }.get(answer, f"Landlock answers {name_of(-answer)}")


def restrict_files(
    *,
    read: Iterable[str | os.PathLike[str]] = (),
    write: Iterable[str | os.PathLike[str]] = (),
    execute: Iterable[str | os.PathLike[str]] = (),
    most: int | None = None,
) -> int:
    """Confine this process for good: what is in `read` it may read, in `write` also make, change, move and remove, and
    what is in `execute` it may read and run. Each is a folder, with all below it, or a file.

    TCP, and signals and abstract sockets to other processes, are refused too where the kernel knows how. A path that is
    not there, or that a symbolic link is on the way of, is passed over: a folder that turned into a link since somebody
    looked opens nothing. So give paths without links (`os.path.realpath`). Only threads started afterwards are
    confined, so call it before any. `most`: use no later version of the interface, to see what an older kernel holds.

    Gives the version that was used; 0: this kernel has no Landlock, and nothing is confined. Raises `OSError` where the
    kernel refuses the request.
    """
    version = min(landlock_version(), most if most is not None else sys.maxsize)
    if version == 0:
        return 0
    rights = (1 << _RIGHTS_OF_VERSION.get(version, _RIGHTS)) - 1
    attributes = _Ruleset(rights, _TCP if version >= 4 else 0, _SCOPES if version >= 6 else 0)
    size = 8 if version < 4 else 16 if version < 6 else 24
    ruleset = call(
        "landlock_create_ruleset", _CREATE_RULESET, ctypes.byref(attributes), ctypes.c_size_t(size), ctypes.c_uint32(0)
    )
    try:
        for paths, access in ((read, _READ), (write, _WRITE), (execute, _RUN)):
            for path in paths:
                _allow(ruleset, path, access & rights)
        prctl(NO_NEW_PRIVILEGES, 1)
        call("landlock_restrict_self", _RESTRICT_SELF, ctypes.c_int(ruleset), ctypes.c_uint32(0))
    finally:
        os.close(ruleset)
    return version


def _asked() -> int:
    if not sys.platform.startswith("linux"):
        return -errno.ENOSYS
    try:
        return attempt(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION_QUERY))
    except (OSError, AttributeError, TypeError):  # no such C library, no such function in it
        return -errno.ENOSYS


def _allow(ruleset: int, path: str | os.PathLike[str], access: int) -> None:
    try:
        descriptor = _opened(os.fsencode(path))
    except OSError:
        return
    try:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISLNK(mode):
            return
        if not stat.S_ISDIR(mode):
            access &= _OF_A_FILE
        rule = _PathBeneath(access, descriptor)
        call(
            "landlock_add_rule", _ADD_RULE, ctypes.c_int(ruleset), ctypes.c_int(_RULE_PATH_BENEATH),
            ctypes.byref(rule), ctypes.c_uint32(0),
        )  # fmt: skip
    finally:
        os.close(descriptor)


def _opened(path: bytes) -> int:
    """Open a path on whose way there is no symbolic link; what is last may be one. Raises `OSError`."""
    if b"\0" in path:
        raise ValueError("embedded null byte")
    flags = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC
    how = struct.pack("=QQQ", flags, 0, _NO_SYMLINKS)
    answer = attempt(_OPENAT2, ctypes.c_int(_FROM_HERE), path, how, ctypes.c_size_t(len(how)))
    if answer in (-errno.ENOSYS, -errno.EPERM):  # a container's profile that is older than the call
        return _walked(path, flags)
    if answer < 0:
        raise OSError(-answer, os.strerror(-answer), path)
    return answer


def _walked(path: bytes, flags: int) -> int:
    """The same from component to component: nothing is found below a link that was opened as a link."""
    descriptor = os.open(b"/" if path.startswith(b"/") else b".", flags)
    for part in filter(None, path.split(b"/")):
        above = descriptor
        try:
            descriptor = os.open(part, flags, dir_fd=above)
        finally:
            os.close(above)
    return descriptor
