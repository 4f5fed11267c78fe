"""The identity of a project: an id that outlives renames and moves, kept by yaz and never written into the folder.

A folder is known again by the numbers its file system gives it (device, inode, time of birth), or by the `id` in its
`yaz.toml`, which goes wherever the folder goes (design 8).
"""

from __future__ import annotations

import ctypes
import os
import secrets
import sys
from pathlib import Path
from typing import Any

import attrs

from yazcore import PROJECT, Home, YazError

FILE = "projects.json"
"""Where the identities are kept, below the home folder."""

_ALPHABET = "abcdefghijklmnopqrstuvwxyz234567"
_LENGTH = 12


def new_id() -> str:
    """A new project id: `prj_` and twelve random characters of a-z2-7 (60 bits)."""
    return "prj_" + "".join(secrets.choice(_ALPHABET) for _ in range(_LENGTH))


@attrs.frozen(kw_only=True)
class Mark:
    """What one folder is known by. `born` is its time of birth in nanoseconds, None where the file system has none."""

    device: int
    inode: int
    born: int | None
    path: str

    @classmethod
    def of(cls, root: Path) -> Mark:
        """The mark of a folder as it is now. Raises `OSError`."""
        about = root.stat()
        return cls(device=about.st_dev, inode=about.st_ino, born=birth_time(root), path=str(root))

    def is_same(self, other: Mark) -> bool:
        """Whether both are marks of one folder.

        An inode's number is given again after its folder is gone; the time of birth tells the two apart. A device may
        be numbered anew when the machine starts; then the path has to agree.
        """
        if self.inode != other.inode or (self.device != other.device and self.path != other.path):
            return False
        if self.born is None or other.born is None:
            return self.device == other.device
        return self.born == other.born


class Identities:
    """The known projects of one home folder. Safe for several processes: each change is made under a lock."""

    def __init__(self, home: Home) -> None:
        self._home = home

    def of(self, root: Path, declared: str | None = None) -> str:
        """The id of the project in `root`: the `declared` one of its `yaz.toml`, the known one, else a new one.

        Raises `YazError` (`home-file-broken`) where the record is damaged, `OSError` where the folder is gone.
        """
        mark = Mark.of(root)
        with self._home.locked(FILE):
            known = self._read()
            project_id = declared or next((one for one, old in known.items() if old.is_same(mark)), None) or new_id()
            if known.get(project_id) != mark:
                # A folder has one id: a declared one takes the place of the id it had before.
                others = {one: old for one, old in known.items() if not old.is_same(mark)}
                changed = {**others, project_id: mark}
                self._home.write_json(FILE, {one: attrs.asdict(old) for one, old in changed.items()})
        return project_id

    def _read(self) -> dict[str, Mark]:
        data = self._home.read_json(FILE)
        if data is None:
            return {}
        try:
            return {_known_id(one): _mark(value) for one, value in data.items()}
        except (AttributeError, KeyError, TypeError, ValueError):
            raise YazError(
                "home-file-broken",
                f"{FILE} is not what yaz wrote",
                "mend it, or take it away: every project then gets a new id",
            ) from None


def _known_id(text: Any) -> str:
    if PROJECT.parse(text) != text:
        raise ValueError(text)
    return str(text)


def _mark(value: Any) -> Mark:
    mark = Mark(device=value["device"], inode=value["inode"], born=value["born"], path=value["path"])
    numbers = (mark.device, mark.inode, *(() if mark.born is None else (mark.born,)))
    if any(type(number) is not int for number in numbers) or type(mark.path) is not str:
        raise TypeError(value)
    return mark


class _Statx(ctypes.Structure):
    # The head of Linux's struct statx up to the time of birth; the rest is room for what the kernel writes.
    _fields_ = (
        ("mask", ctypes.c_uint32),
        ("_before", ctypes.c_uint8 * 76),
        ("born_seconds", ctypes.c_int64),
        ("born_nanoseconds", ctypes.c_uint32),
        ("_after", ctypes.c_uint8 * 164),
    )


_AT_FDCWD = -100
_STATX_BTIME = 0x800


def birth_time(path: Path) -> int | None:
    """When a file or folder was made, in nanoseconds since 1970; None where nobody knows."""
    about = path.stat()
    if (born := getattr(about, "st_birthtime", None)) is not None:
        return int(born * 1_000_000_000)
    if sys.platform != "linux":
        return None
    try:
        statx = ctypes.CDLL(None, use_errno=True).statx
    except AttributeError:
        return None
    result = _Statx()
    if statx(_AT_FDCWD, os.fsencode(path), 0, _STATX_BTIME, ctypes.byref(result)) or not result.mask & _STATX_BTIME:
        return None
    return int(result.born_seconds) * 1_000_000_000 + int(result.born_nanoseconds)
