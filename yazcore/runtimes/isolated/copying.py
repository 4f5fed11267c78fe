"""`shutil` in a worker: what copies a file copies what is in it, where nobody may set its mode and its times.

The kernel's filter refuses every change of modes, owners, times and attributes, since Landlock does not look at them
(capabilities B3). `shutil.copy`, `copy2` and `copytree` set them after the content, and would fail with all of it done.
"""

from __future__ import annotations

import errno
import functools
import shutil
from collections.abc import Callable
from typing import Any


def copy_contents_alone() -> None:
    """Let `shutil` of this process go on where the mode, the times and the like of a copy cannot be set."""
    for name in ("copymode", "copystat"):
        setattr(shutil, name, _as_far_as_it_goes(getattr(shutil, name)))


def _as_far_as_it_goes(function: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(function)
    def copied(*arguments: Any, **more: Any) -> None:
        try:
            function(*arguments, **more)
        except PermissionError as error:
            if error.errno != errno.EPERM:  # EACCES is Landlock's: the file itself is closed
                raise

    return copied
