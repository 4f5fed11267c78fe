"""Walking and removing a folder that somebody else filled, however deep it is.

`os.fwalk` and `shutil.rmtree` recurse, or hold an open folder for each level: with 1,500 nested folders a plugin would
end its host's call, or take the host's descriptors. Here a walk holds three descriptors at most and does not recurse.
The way up is `..`, which is believed only where it is the folder that was come from. No link is followed.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from contextlib import suppress
from itertools import islice
from pathlib import Path

import attrs

MOST_ENTRIES = 200_000
"""The most files and folders that a walk looks at."""

MOST_REMOVED = 1_000_000
"""The most files and folders that are removed at a time; what is beyond stays."""

_FOLDER = os.O_RDONLY | os.O_DIRECTORY
_CHECK_EVERY = 1000
_MAY_NOT_BE_ENTERED = {errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EACCES, errno.EPERM}

See = Callable[[int, str], None]
"""Is shown a folder that is open, and the name of something in it."""


class TooMany(Exception):
    """There are more entries than may be looked at."""


class Moved(OSError):
    """A folder was moved elsewhere while the walk was in it."""


@attrs.frozen
class _Level:
    name: str
    identity: tuple[int, int]
    waiting: list[str]


def walk(
    root: int,
    file: See,
    left: See = lambda folder, name: None,
    *,
    check: Callable[[], None] = lambda: None,
    most: int = MOST_ENTRIES,
) -> None:
    """Show `file` everything below an open folder that is no folder, and `left` each folder after all that is in it.

    A folder that may not be entered is shown to `left` at once. `check` is called now and then, and may raise. Raises
    `TooMany` after `most` entries, `Moved`, and `OSError`.
    """
    seen = 0
    folder = os.open(".", _FOLDER | os.O_CLOEXEC, dir_fd=root)

    def enter(name: str) -> _Level:
        nonlocal seen
        with os.scandir(folder) as entries:
            found = list(islice(entries, most - seen + 1))
        waiting = []
        for entry in found:
            seen += 1
            if seen > most:
                raise TooMany
            if seen % _CHECK_EVERY == 0:
                check()
            if _is_folder(entry):
                waiting.append(entry.name)
            else:
                file(folder, entry.name)
        return _Level(name, _identity(folder), waiting)

    try:
        levels = [enter("")]
        while levels:
            if levels[-1].waiting:
                name = levels[-1].waiting.pop()
                try:
                    below = os.open(name, _FOLDER | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
                except OSError as error:
                    if error.errno not in _MAY_NOT_BE_ENTERED:
                        raise
                    left(folder, name)
                    continue
                os.close(folder)
                folder = below
                levels.append(enter(name))
            else:
                done = levels.pop()
                if levels:
                    above = os.open("..", _FOLDER | os.O_CLOEXEC, dir_fd=folder)
                    os.close(folder)
                    folder = above
                    if _identity(folder) != levels[-1].identity:
                        raise Moved(errno.ESTALE, "a folder was moved elsewhere")
                    left(folder, done.name)
    finally:
        os.close(folder)


def remove_tree(path: str | Path, *, dir_fd: int | None = None) -> None:
    """Remove a folder with all that is in it. What cannot be removed stays, and nothing is raised.

    No more than `MOST_REMOVED` entries are removed at a time: somebody may be adding more.
    """
    with suppress(OSError):
        root = os.open(path, _FOLDER | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=dir_fd)
        try:
            walk(root, _unlink, _remove_folder, most=MOST_REMOVED)
        except (OSError, TooMany):
            return
        finally:
            os.close(root)
        os.rmdir(path, dir_fd=dir_fd)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def _identity(folder: int) -> tuple[int, int]:
    status = os.fstat(folder)
    return status.st_dev, status.st_ino


def _unlink(folder: int, name: str) -> None:
    with suppress(OSError):
        os.unlink(name, dir_fd=folder)


def _remove_folder(folder: int, name: str) -> None:
    with suppress(OSError):
        os.rmdir(name, dir_fd=folder)
