"""Everything a worker gives up, in the order in which it must be given up (capabilities B).

Privileges first, then limits, then files, then system calls: each step still needs what the next one takes.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import resource
from collections.abc import Sequence

import attrs

from yazcore.confinement import landlock, seccomp
from yazcore.confinement.system import NO_NEW_PRIVILEGES, failure, libc, prctl

MEMORY = 512 * 2**20
"""The most address space of a worker, in bytes. 256 MiB would not hold a large library's code."""

OPEN_FILES = 256
"""The most files a worker has open."""

FILE_SIZE = 2 * 2**30
"""The largest file a worker may write, in bytes: a copy of a large Zotero database must fit."""

_CAPABILITIES_VERSION = 0x20080522
_DROP_BOUNDING, _AMBIENT, _AMBIENT_CLEAR = 24, 47, 4
_MOST_CAPABILITIES = 64


@attrs.frozen(kw_only=True)
class Policy:
    """What is left to a worker: folders and files to read, and to write; sizes in bytes.

    `landlock`: use no later version of that interface, to see what an older kernel holds.
    """

    read: Sequence[str] = ()
    write: Sequence[str] = ()
    memory: int = MEMORY
    open_files: int = OPEN_FILES
    file_size: int = FILE_SIZE
    landlock: int | None = None


@attrs.frozen(kw_only=True)
class Confined:
    """What the kernel took: the version of Landlock, the number of the filter's instructions."""

    landlock: int
    seccomp: int


class CannotConfine(Exception):
    """The kernel does not hold a worker; the text says why, as a sentence without its end."""


def prepare() -> None:
    """Make what `confine` will load, ahead of time: the filter names this process, and takes a while to make."""
    _filter(os.getpid(), landlock.landlock_version())


_filter = functools.lru_cache(maxsize=1)(seccomp.worker_program)


def confine(policy: Policy) -> Confined:
    """Confine this process for good. It must have no other thread.

    Raises `CannotConfine` where the kernel has no Landlock, and `OSError` where it refuses a step: then the process is
    of no use, for it may be confined in part.
    """
    prctl(NO_NEW_PRIVILEGES, 1)
    for what, most in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_AS, policy.memory),
        (resource.RLIMIT_NOFILE, policy.open_files),
        (resource.RLIMIT_FSIZE, policy.file_size),
    ):
        limit(what, most)
    drop_capabilities()
    version = landlock.restrict_files(read=policy.read, write=policy.write, most=policy.landlock)
    if version == 0:
        raise CannotConfine(landlock.why_not() or "Landlock is not to be used")
    count = seccomp.load(_filter(os.getpid(), version))
    return Confined(landlock=version, seccomp=count)


def limit(what: int, most: int) -> None:
    """Set one of this process's limits, hard and soft; a lower one that is there stays."""
    hard = resource.getrlimit(what)[1]
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(what, (most, most))


def drop_capabilities() -> None:
    """Give up every privilege of root, for this process and whatever it starts. Raises `OSError`."""
    for capability in range(_MOST_CAPABILITIES):
        try:
            prctl(_DROP_BOUNDING, capability)
        except OSError:  # there are no more, or it had none of them
            break
    with contextlib.suppress(OSError):  # Linux before 4.3 has none of these
        prctl(_AMBIENT, _AMBIENT_CLEAR)
    header = _Header(_CAPABILITIES_VERSION, 0)
    if libc().capset(ctypes.byref(header), ctypes.byref((ctypes.c_uint32 * 6)())) < 0:
        raise failure("capset")


class _Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))
