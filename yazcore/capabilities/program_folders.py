"""Which folders of this machine programs are run from: no plugin is granted writing there.

Whoever may write where Python imports from writes what runs in the host, and every boundary ends there.
"""

from __future__ import annotations

import functools
import os
import site
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

from yazcore.kinds.files import too_wide
from yazcore.kinds.programs import HOME_PROGRAMS, Parts, overlap


def runs_programs(folder: str) -> bool:
    """Whether a folder is one that programs are run from, holds one, or lies in one. `folder` is without links.

    Those are: where this Python and this package lie and what it imports from; the folders of `PATH`; what
    `HOME_PROGRAMS` names in the user's home folder. The system's own are judged by `too_wide`, for reading too.
    """
    parts = Path(folder).parts
    path = tuple(filter(None, map(_absolute, sys.path)))
    found = _found(path, os.environ.get("PATH", ""), os.path.expanduser("~"))
    return any(overlap(parts, one) for one in found)


@functools.lru_cache(maxsize=8)
def _found(path: tuple[str, ...], commands: str, home: str) -> tuple[Parts, ...]:
    """The folders, their links followed; sys.path changes as trusted plugins come and go."""
    named = [*_python(), *path, *filter(os.path.isabs, commands.split(os.pathsep))]
    named += [os.path.join(home, *one) for one in HOME_PROGRAMS]
    real = dict.fromkeys(map(os.path.realpath, named))
    # what is too wide to be granted is refused by that, and is no reason to refuse all that lies in it
    return tuple(Path(one).parts for one in real if not too_wide(one))


def _python() -> Iterator[str]:
    yield str(Path(__file__).parents[1])
    yield from sysconfig.get_paths().values()
    yield site.getusersitepackages()
    for prefix in (sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix):
        yield prefix
        yield from (os.path.join(prefix, name) for name in ("bin", "lib", "lib64"))


def _absolute(entry: str) -> str:
    try:
        return os.path.abspath(entry)
    except FileNotFoundError:  # a relative entry, and the working folder has gone
        return ""
