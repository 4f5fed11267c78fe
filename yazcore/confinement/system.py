"""System calls that Python has no function for."""

from __future__ import annotations

import ctypes
import errno
import functools
import os

NO_NEW_PRIVILEGES = 38
"""The option of `prctl` after which no program this process starts gains rights. It does not wear off."""

DEATH_SIGNAL = 1
"""The option of `prctl` that sets the signal a process gets when the thread that started it ends."""

_CLOSE_RANGE = 436


def call(name: str, number: int, *arguments: object) -> int:
    """Make one system call and give its result. Raises `OSError`, whose text begins with `name`.

    Integers are passed as they are (wrap them in `ctypes` where their size matters), bytes as pointers to them.
    """
    result: int = libc().syscall(ctypes.c_long(number), *arguments)
    if result < 0:
        raise failure(name)
    return result


def attempt(number: int, *arguments: object) -> int:
    """The same, giving the negative error number instead of raising."""
    result: int = libc().syscall(ctypes.c_long(number), *arguments)
    return -ctypes.get_errno() if result < 0 else result


def prctl(option: int, *arguments: int) -> None:
    """Set one of this process's own options. Raises `OSError`."""
    values = [*arguments, 0, 0, 0, 0][:4]
    if libc().prctl(option, *(ctypes.c_ulong(value) for value in values)) < 0:
        raise failure(f"prctl({option})")


def close_from(first: int) -> None:
    """Close every descriptor from this one on."""
    if attempt(_CLOSE_RANGE, ctypes.c_uint(first), ctypes.c_uint(0x7FFFFFFF), ctypes.c_uint(0)) < 0:
        os.closerange(first, os.sysconf("SC_OPEN_MAX"))  # Linux before 5.9


def failure(name: str) -> OSError:
    """What the last call into the C library failed with."""
    number = ctypes.get_errno()
    return OSError(number, f"{name}: {os.strerror(number)}")


def name_of(number: int) -> str:
    """The name of an error number: `EPERM`."""
    return errno.errorcode.get(number, str(number))


@functools.cache
def libc() -> ctypes.CDLL:
    """The C library, loaded so that its error numbers are kept."""
    library = ctypes.CDLL(None, use_errno=True)
    library.syscall.restype = ctypes.c_long
    return library
