"""What a command may read and write on behalf of a plugin: what the plugin may itself, as paths for the kernel.

A kernel's rule opens a folder with all below it, so a folder that holds something protected is opened entry by entry.
That is judged when the command begins: what is put into an open folder later can be read (docs/security.md).
The project is opened for reading only: what a command should change there, the plugin changes through `files`, which
knows the protected names.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import attrs

from yazcore.capabilities.broker import Broker
from yazcore.capabilities.context import Frame
from yazcore.capabilities.errors import ServiceError
from yazcore.capabilities.program_folders import runs_programs
from yazcore.kinds import Capability, FileRequest, FsProject, FsRead, FsWrite
from yazcore.kinds.files import PROJECT_AREA, split_absolute, too_wide

MOST_ENTRIES = 20_000
"""The most entries of a project that are looked at."""


@attrs.frozen(kw_only=True)
class Reach:
    """Folders and files, by absolute path."""

    read: tuple[str, ...] = ()
    write: tuple[str, ...] = ()


def reach(broker: Broker, frame: Frame, unfit: Callable[[Path], bool]) -> Reach:
    """What the plugin may read and write at this moment. `unfit` says of a folder that nobody may be granted it.

    Raises `ServiceError` `folder-too-large` for a project of too many entries.
    """
    read: list[str] = []
    write: list[str] = []
    for capability in broker.held():
        if isinstance(capability, FsProject):
            if frame.call.project is not None and not unfit(frame.call.project.root):
                read += _open_parts(frame.call.project.root, capability)
        elif isinstance(capability, (FsRead, FsWrite)):
            folder = folder_of(broker, capability)
            if folder is None or unfit(folder) or too_wide(real := os.path.realpath(folder)):
                continue
            if isinstance(capability, FsRead):
                read.append(real)
            elif not runs_programs(real):
                write.append(real)
    return Reach(read=tuple(dict.fromkeys(read)), write=tuple(dict.fromkeys(write)))


def folder_of(broker: Broker, capability: FsRead | FsWrite) -> Path | None:
    """The folder that a capability names, or that the user has bound to its place."""
    if capability.place is not None:
        return broker.place(capability.place)
    return Path("/", *(split_absolute(capability.path or "") or ()))


def _open_parts(root: Path, capability: Capability) -> list[str]:
    """The paths that open a project without what the capability does not cover at any depth."""
    seen = 0

    def opened(folder: str, below: str) -> tuple[bool, list[str]]:
        """Whether a folder can be opened as a whole, and else its parts that can."""
        nonlocal seen
        whole, parts = True, []
        for entry in _entries(folder):
            seen += 1
            if seen > MOST_ENTRIES:
                raise ServiceError("folder-too-large", f"the project holds more than {MOST_ENTRIES} entries")
            path = f"{below}{entry.name}"
            if not _may_lead_on(capability, path):
                whole = False
                continue
            if entry.is_symlink():
                continue  # the kernel judges what it leads to
            if entry.is_dir(follow_symlinks=False):
                is_whole, inner = opened(entry.path, f"{path}/")
            else:
                is_whole, inner = True, []
            if is_whole and capability.covers(FileRequest(area=PROJECT_AREA, path=path)):
                parts.append(entry.path)
            else:
                whole = False
                parts += inner
        return whole, parts

    whole, parts = opened(os.path.realpath(root), "")
    everything = whole and capability.covers(FileRequest(area=PROJECT_AREA))
    return [os.path.realpath(root)] if everything else parts


def _may_lead_on(capability: Capability, path: str) -> bool:
    """Whether a path is covered, or something below it may be."""
    paths: Sequence[str] | None = getattr(capability, "paths", None)
    if capability.covers(FileRequest(area=PROJECT_AREA, path=path)):
        return True
    return paths is not None and any(one.startswith(f"{path}/") for one in capability.targets()["paths"])


def _entries(folder: str) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            yield from found
    except OSError:
        return  # it went away, or may not be entered
