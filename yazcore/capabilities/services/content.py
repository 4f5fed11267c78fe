"""What a file is and what is in it, and what went wrong, in words that hold no path of the machine."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Iterator

from yazcore.capabilities.errors import ServiceError
from yazcore.capabilities.services.beneath import Parts, closing, opener

READ_LIMIT = 64 * 2**20
"""The most bytes of one file that are read or written at once."""


def status_of(root: int, parts: Parts) -> os.stat_result:
    """The status of what `parts` name below an open root, a link not followed. Raises `OSError` and `Leaves`."""
    if not parts:
        return os.fstat(root)
    with closing(opener()(root, parts[:-1], os.O_RDONLY | os.O_DIRECTORY, 0)) as folder:
        return os.stat(parts[-1], dir_fd=folder, follow_symlinks=False)


def kind_of(mode: int) -> str | None:
    """`file`, `folder`, or None for what is neither."""
    if stat.S_ISREG(mode):
        return "file"
    return "folder" if stat.S_ISDIR(mode) else None


def read_all(handle: int, shown: str) -> bytes:
    """The content of an open file. Raises `ServiceError` over `READ_LIMIT`, also where it grows while it is read."""
    if os.fstat(handle).st_size > READ_LIMIT:
        raise too_large(shown)
    data = b"".join(_chunks(handle, READ_LIMIT + 1))
    if len(data) > READ_LIMIT:
        raise too_large(shown)
    return data


def _chunks(handle: int, most: int) -> Iterator[bytes]:
    while most > 0 and (data := os.read(handle, min(most, 2**20))):
        yield data
        most -= len(data)


def revision_of_file(handle: int, shown: str) -> str:
    """The revision of an open file's content, read to its end: the first 16 hex digits of its SHA-256.

    Raises `ServiceError` over `READ_LIMIT`: a sparse file of a terabyte takes no room, and hours to read.
    """
    digest, left = hashlib.sha256(), READ_LIMIT + 1
    if os.fstat(handle).st_size >= left:
        raise too_large(shown)
    for data in _chunks(handle, left):
        digest.update(data)
        left -= len(data)
    if left <= 0:
        raise too_large(shown)
    return digest.hexdigest()[:16]


def revision_of(data: bytes) -> str:
    """The revision of content."""
    return hashlib.sha256(data).hexdigest()[:16]


def changed(shown: str) -> ServiceError:
    """That a file is not in the revision that was expected."""
    return ServiceError("files-changed", f"{shown} is not as expected: read it again and decide anew")


def too_large(shown: str) -> ServiceError:
    """That a file is over `READ_LIMIT`."""
    return ServiceError("file-too-large", f"{shown} is larger than {READ_LIMIT} bytes")


_FAILURES = {
    errno.ENOENT: ("file-not-found", "there is no {shown}"),
    errno.ENOTDIR: ("not-a-folder", "{shown} is no folder, or something on the way to it is none"),
    errno.EISDIR: ("file-is-folder", "{shown} is a folder"),
    errno.EACCES: ("file-not-permitted", "the system does not let this user do this with {shown}"),
    errno.EPERM: ("file-not-permitted", "the system does not let this user do this with {shown}"),
    errno.EROFS: ("file-not-permitted", "{shown} lies on a read-only file system"),
    errno.ENAMETOOLONG: ("file-name-too-long", "a name in {shown} is too long"),
    errno.ENOSPC: ("disk-full", "there is no space left for {shown}"),
    errno.EDQUOT: ("disk-full", "there is no space left for {shown}"),
}


def failure(error: OSError, shown: str) -> ServiceError:
    """What the system said, for a plugin: `shown` names the file as the plugin does."""
    code, text = _FAILURES.get(error.errno or 0, ("file-failed", "{shown}: {why}"))
    return ServiceError(code, text.format(shown=shown, why=error.strerror or "the system gave no reason"))
