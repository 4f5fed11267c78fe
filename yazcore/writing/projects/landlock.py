"""Landlock for one process: from here on it opens only the named folders and files, whatever it is told (Linux).

Used in the child that compiles. Typst keeps to its root by comparing names, so a symbolic link inside a project leads
out of it (typst/typst#5454); the kernel compares what a name leads to. Needs no privilege; Linux 5.13 or newer.

No library: the one package that wraps these three system calls is a compiled extension, and `ctypes` is enough.
"""

from __future__ import annotations

import ctypes
import os
import stat
from collections.abc import Iterable
from pathlib import Path

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_PR_SET_NO_NEW_PRIVS = 38
_VERSION_QUERY = 1
_RULE_PATH_BENEATH = 1

_WRITE_FILE, _READ_FILE, _READ_DIR, _REMOVE_DIR, _REMOVE_FILE = 1 << 1, 1 << 2, 1 << 3, 1 << 4, 1 << 5
_MAKE_DIR, _MAKE_FILE, _TRUNCATE = 1 << 7, 1 << 8, 1 << 14
_READ = _READ_FILE | _READ_DIR
_WRITE = _READ | _WRITE_FILE | _REMOVE_DIR | _REMOVE_FILE | _MAKE_DIR | _MAKE_FILE | _TRUNCATE
_OF_A_FILE = _READ_FILE | _WRITE_FILE | _TRUNCATE
# How many file rights each version of the interface knows; later versions know at least as many as the last.
_RIGHTS_OF_VERSION = {1: 13, 2: 14, 3: 15, 4: 15}
_RIGHTS = 16
_TCP = 0b11
_SCOPES = 0b11


class _Ruleset(ctypes.Structure):
    _fields_ = (("fs", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("access", ctypes.c_uint64), ("descriptor", ctypes.c_int32))


def version() -> int:
    """The version of the kernel's Landlock interface; 0 where there is none."""
    try:
        return max(0, int(_libc().syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _VERSION_QUERY)))
    except (OSError, AttributeError):
        return 0


def confine(*, read: Iterable[str | Path], write: Iterable[str | Path]) -> bool:
    """Confine this process for good: below `read` it may read, below `write` also make, change and remove files.

    TCP, and signals and abstract sockets to other processes, are refused too where the kernel knows how. A path that is
    not there or is a symbolic link is passed over. Only threads started afterwards are confined, so call it before
    any. True: confined; False: this kernel has no Landlock. Raises `OSError` where the kernel refuses the request.
    """
    known = version()
    if known == 0:
        return False
    libc = _libc()
    rights = (1 << _RIGHTS_OF_VERSION.get(known, _RIGHTS)) - 1
    attributes = _Ruleset(rights, _TCP if known >= 4 else 0, _SCOPES if known >= 6 else 0)
    size = 8 if known < 4 else 16 if known < 6 else 24
    ruleset = libc.syscall(_CREATE_RULESET, ctypes.byref(attributes), ctypes.c_size_t(size), 0)
    if ruleset < 0:
        raise _failure("landlock_create_ruleset")
    try:
        for paths, access in ((read, _READ), (write, _WRITE)):
            for path in paths:
                _allow(libc, ruleset, path, access & rights)
        if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.syscall(_RESTRICT_SELF, ruleset, 0):
            raise _failure("landlock_restrict_self")
    finally:
        os.close(ruleset)
    return True


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _failure(what: str) -> OSError:
    number = ctypes.get_errno()
    return OSError(number, f"{what}: {os.strerror(number)}")


def _allow(libc: ctypes.CDLL, ruleset: int, path: str | Path, access: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return
    try:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISLNK(mode):
            return
        if not stat.S_ISDIR(mode):
            access &= _OF_A_FILE
        rule = _PathBeneath(access, descriptor)
        if libc.syscall(_ADD_RULE, ruleset, _RULE_PATH_BENEATH, ctypes.byref(rule), 0):
            raise _failure("landlock_add_rule")
    finally:
        os.close(descriptor)
