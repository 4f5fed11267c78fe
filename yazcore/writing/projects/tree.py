"""What a project's folder holds: walked by the host, bounded, without following a symbolic link.

Used where no plugin acts: to find the entry of a folder that is being opened, and to say which parts of it an engine
may read. What is in a document is only ever read through the file service.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import attrs

MOST_ENTRIES = 20_000
"""The most files and folders that are looked at."""

_DEEPEST = 32
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


@attrs.frozen
class Entry:
    """One file or folder: its root-relative POSIX path and what says whether it changed."""

    path: str
    folder: bool
    size: int
    mtime_ns: int


@attrs.frozen
class Tree:
    """What was found, in order of path.

    `partly` are the folders (`""` is the root) that hold something, at whatever depth, which was refused or not looked
    at; `complete` is false where the bound ended the walk.
    """

    entries: tuple[Entry, ...]
    partly: frozenset[str]
    complete: bool

    def files(self, extensions: frozenset[str]) -> list[str]:
        """The files with one of the extensions (lower case, with dot), those nearer to the root first."""
        found = [entry.path for entry in self.entries if not entry.folder and extension(entry.path) in extensions]
        return sorted(found, key=lambda path: (path.count("/"), path))

    def fingerprint(self) -> str:
        """A value that changes when a file is added, removed or written."""
        digest = hashlib.sha256()
        for entry in self.entries:
            if not entry.folder:
                digest.update(f"{entry.path}\0{entry.size}\0{entry.mtime_ns}\0".encode())
        return digest.hexdigest()[:16]


def extension(path: str) -> str:
    """The extension of a document's name in lower case, with its dot; empty where there is none."""
    return os.path.splitext(path.rsplit("/", 1)[-1])[1].lower()


def walk(root: Path, allowed: Callable[[str], bool], most: int = MOST_ENTRIES) -> Tree:
    """All files and folders below `root` that `allowed` says yes to, by path; what it refuses is not entered.

    Symbolic links, and whatever is neither file nor folder, are left out. Never raises for what cannot be read.
    """
    found: list[Entry] = []
    partly: set[str] = set()
    for entry in _below(root, "", allowed, partly):
        if len(found) >= most:
            # What the walk had not reached yet lies in the folders around it, and in the root.
            partly.update(_upward(_parent(entry.path)))
            return Tree(tuple(found), frozenset(partly), complete=False)
        found.append(entry)
    return Tree(tuple(found), frozenset(partly), complete=True)


def _below(folder: Path, prefix: str, allowed: Callable[[str], bool], partly: set[str]) -> Iterator[Entry]:
    here = prefix.rstrip("/")
    try:
        with os.scandir(folder) as scan:
            children = sorted(scan, key=lambda child: child.name)
    except OSError:
        partly.update(_upward(here))
        return
    for child in children:
        path = f"{prefix}{child.name}"
        try:
            # Nothing follows a link, so a link is neither a folder nor a file here.
            about = child.stat(follow_symlinks=False)
            is_folder = child.is_dir(follow_symlinks=False)
            if not _is_text(child.name) or prefix.count("/") >= _DEEPEST or not allowed(path):
                partly.update(_upward(here))
            elif is_folder:
                yield Entry(path, True, 0, 0)
                yield from _below(Path(child.path), f"{path}/", allowed, partly)
            elif child.is_file(follow_symlinks=False):
                yield Entry(path, False, about.st_size, about.st_mtime_ns)
        except OSError:
            partly.update(_upward(here))


def readable(root: Path, tree: Tree) -> tuple[Path, ...]:
    """The fewest paths that let a program read what `tree` holds and nothing that was refused.

    For rules that allow and never forbid (Landlock): a folder with something refused in it is opened child by child.
    """
    if "" not in tree.partly:
        return (root,)
    return tuple(
        root / entry.path
        for entry in tree.entries
        if entry.path not in tree.partly and _parent(entry.path) in tree.partly
    )


def _is_text(name: str) -> bool:
    """Whether a name is UTF-8 without control characters: another cannot be said to an agent, nor to a plugin.

    A name of several lines would also be drawn as several by a compiler, and forge what it says.
    """
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return _CONTROL.search(name) is None


def _parent(path: str) -> str:
    return path.rpartition("/")[0]


def _upward(folder: str) -> Iterator[str]:
    while folder:
        yield folder
        folder = _parent(folder)
    yield ""
