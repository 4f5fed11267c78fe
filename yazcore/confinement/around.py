"""Paths for the kernel that open trees of the system, and not what lies in one of them and is nobody's business.

A rule of Landlock's opens a folder with all below it, and no rule takes anything back. So a tree that holds a closed
folder is opened entry by entry, as deep as that folder lies; the folders on the way can be passed and not listed.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

Parts = tuple[str, ...]


def around(trees: Iterable[str], closed: Sequence[Parts]) -> list[str]:
    """The paths that open `trees` without the `closed` folders, which are given by the parts of their real paths."""
    return [path for tree in trees for path in _open(tree, closed)]


def _open(tree: str, closed: Sequence[Parts]) -> Iterator[str]:
    real = os.path.realpath(tree)
    parts = Path(real).parts
    if any(parts[: len(one)] == one for one in closed):
        return
    if not any(one[: len(parts)] == parts for one in closed):
        yield tree
        return
    try:
        with os.scandir(real) as found:
            entries = [entry.path for entry in found if not entry.is_symlink()]  # the kernel judges where a link leads
    except OSError:
        return  # it is not there, or may not be entered
    for path in sorted(entries):
        yield from _open(path, closed)
