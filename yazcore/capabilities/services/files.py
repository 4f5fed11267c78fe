"""`files`: what a plugin reads and writes, each path decided by the broker and opened below its root (design 5).

The root is the project of the call; with `place` the folder that the user bound to that place; for an absolute path,
or one that begins with `~/`, the folder that the capability names. Links below a root are followed as long as they
stay below it and end where the plugin may go; whatever leaves is refused and recorded. No text that leaves this
service holds an absolute path.
"""

from __future__ import annotations

import builtins
import errno
import json
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn, cast

import attrs

from yazcore.capabilities.broker import Broker
from yazcore.capabilities.context import Frame, frame_of
from yazcore.capabilities.errors import Cancelled, CapabilityError, Reason, ServiceError
from yazcore.capabilities.program_folders import runs_programs
from yazcore.capabilities.services.atomic import Locks, alone_in, replace
from yazcore.capabilities.services.beneath import Leaves, Parts, closing, make_folders, open_root, opener, real_parts
from yazcore.capabilities.services.content import (
    READ_LIMIT,
    changed,
    failure,
    kind_of,
    read_all,
    revision_of,
    revision_of_file,
    status_of,
    too_large,
)
from yazcore.capabilities.services.data_folder import QUOTA
from yazcore.capabilities.services.snapshots import Snapshots
from yazcore.kinds import Capability, FileRequest, FsWrite
from yazcore.kinds.causes import Cause
from yazcore.kinds.files import PROJECT_AREA, is_absolute, is_protected, split_absolute, split_path, too_wide
from yazcore.kinds.programs import RUN_FROM

LIST_LIMIT = 10_000
"""The most entries of one listing."""

COPY_LIMIT = 64
"""The most names of one copy: all of them are open at once."""

ABSENT = "absent"
"""The `expect` of a file that must not exist yet."""

_READING = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY  # a FIFO or a terminal must not hold the host up
_FOLDER = os.O_RDONLY | os.O_DIRECTORY
_LOCKS = Locks()


@attrs.frozen(kw_only=True)
class _Reached:
    """A path that the plugin may use, its root open: `parts` hold no link, `given` are those that were asked for."""

    frame: Frame
    request: FileRequest
    capability: Capability
    root: int
    parts: Parts
    given: Parts
    shown: str


class FileService:
    """Files for one plugin. Every method raises `CapabilityError` where the broker or the path forbids it.

    `places` gives the folder of a place name; `closed` are folders of the host itself (`YAZ_HOME`), which no project,
    no place and no path may hold or lie in; `quota` bounds the data folder, in bytes, when a copy is made.

    Other failures are `ServiceError`: `file-not-found`, `file-is-folder`, `not-a-folder`, `file-too-large`,
    `file-not-text`, `file-read-only`, `file-not-permitted`, `file-name-too-long`, `folder-too-large`, `disk-full`,
    `files-changed`, `quota-exceeded`, `data-folder-broken`, `too-many-names`,
    `encoding-unknown`, `file-failed`.
    """

    def __init__(
        self,
        broker: Broker,
        plugin: str,
        data_folder: Path,
        places: Callable[[str], Path | None] | None = None,
        *,
        closed: Sequence[Path] = (),
        quota: int = QUOTA,
    ) -> None:
        self._broker = broker
        self._plugin = plugin
        self._places = places if places is not None else broker.place
        self._closed = tuple(Path(os.path.realpath(folder)).parts for folder in closed)
        self._snapshots = Snapshots(folder=data_folder, quota=quota)

    # --- reading --------------------------------------------------------------------------------------------------

    def read_text(self, path: str, *, place: str | None = None, encoding: str = "utf-8") -> str:
        """The file's text, line ends as they are. `file-not-text` where it is not in that encoding."""
        data = self.read_bytes(path, place=place)
        try:
            return data.decode(encoding)
        except LookupError:
            raise ServiceError("encoding-unknown", f"there is no text encoding {encoding!r}") from None
        except ValueError:
            raise ServiceError("file-not-text", f"{_shown(path, place)} is no {encoding} text") from None

    def read_bytes(self, path: str, *, place: str | None = None) -> bytes:
        """The file's content; `file-too-large` over `READ_LIMIT`."""
        with self._reach(path, place) as reached, self._open_file(reached) as handle:
            return read_all(handle, reached.shown)

    def revision(self, path: str, *, place: str | None = None) -> str | None:
        """A text that changes whenever the content does (16 hex digits of its SHA-256), or None where no file is.

        `file-too-large` over `READ_LIMIT`.
        """
        with self._reach(path, place) as reached:
            try:
                handle = opener()(reached.root, reached.parts, _READING, 0)
            except (FileNotFoundError, NotADirectoryError):
                return None
            with closing(handle):
                self._judge(reached, os.fstat(handle).st_mode)
                return revision_of_file(handle, reached.shown)

    def stat(self, path: str, *, place: str | None = None) -> dict[str, Any] | None:
        """`{"kind": "file" | "folder", "size", "mtime_ns"}`, or None where nothing is. `size` is in bytes."""
        with self._reach(path, place) as reached:
            try:
                status = status_of(reached.root, reached.parts)
            except (FileNotFoundError, NotADirectoryError):
                return None
            kind = kind_of(status.st_mode)
            if kind is None:
                self._refuse(reached, "it is no regular file and no folder", "not-a-file")
            return {"kind": kind, "size": status.st_size, "mtime_ns": status.st_mtime_ns}

    def list(self, path: str = "", *, place: str | None = None, recursive: bool = False) -> list[dict[str, Any]]:
        """What is in a folder, or with `recursive` below it: `{"path", "kind", "size"}` each, sorted by path.

        Protected names, links that leave, and whatever is neither file nor folder are left out; folders that are links
        are named, not entered. `folder-too-large` over `LIST_LIMIT` entries, rather than a part of them.
        """
        with self._reach(path, place) as reached:
            entries: builtins.list[dict[str, Any]] = []
            prefix = path.rstrip("/") if place is None and is_absolute(path) else "/".join(reached.given)
            pending: builtins.list[Parts] = [()]
            while pending:
                below = pending.pop()
                for name, kind, size in self._scan(reached, below):
                    where = "/".join((*below, name))
                    entries.append({"path": f"{prefix}/{where}" if prefix else where, "kind": kind, "size": size})
                    if len(entries) > LIST_LIMIT:
                        raise ServiceError(
                            "folder-too-large",
                            f"{reached.shown} holds more than {LIST_LIMIT} entries: list one of the folders in it",
                        )
                    if recursive and kind == "folder":
                        pending.append((*below, name))
            return sorted(entries, key=lambda entry: cast(str, entry["path"]))

    def _scan(self, reached: _Reached, below: Parts) -> Iterator[tuple[str, str, int]]:
        parts = (*reached.parts, *below)
        try:
            handle = opener()(reached.root, parts, _FOLDER, 0)
        except (OSError, Leaves):
            if not below:
                raise
            return  # it is a link, went away, or may not be entered
        with closing(handle), os.scandir(handle) as found:
            for entry in found:
                here = self._entry(reached, (*parts, entry.name), entry.is_symlink())
                if here is not None:
                    yield entry.name, *here

    def _entry(self, reached: _Reached, parts: Parts, is_link: bool) -> tuple[str, int] | None:
        """Kind and size of one entry of a listing, or None where it is to be left out."""
        try:
            real = real_parts(reached.root, parts) if is_link else parts
            names = (parts[-1], *real) if is_link else parts[-1:]
            if reached.request.area == PROJECT_AREA and any(map(is_protected, names)):
                return None
            if not reached.capability.covers(_moved(reached.request, real)):
                return None
            status = status_of(reached.root, real)
        except (OSError, Leaves):
            return None
        kind = kind_of(status.st_mode)
        return None if kind is None else (kind, status.st_size if kind == "file" else 0)

    # --- writing --------------------------------------------------------------------------------------------------

    def write_text(self, path: str, text: str, *, place: str | None = None, expect: str | None = None) -> str:
        """Write the text as UTF-8; see `write_bytes`. `file-not-text` where it holds lone surrogates."""
        try:
            data = text.encode()
        except UnicodeEncodeError:
            raise ServiceError("file-not-text", f"the text for {_shown(path, place)} holds half a character") from None
        return self.write_bytes(path, data, place=place, expect=expect)

    def write_bytes(self, path: str, data: bytes, *, place: str | None = None, expect: str | None = None) -> str:
        """Replace the file by one with the content `data`, or make it with the folders it needs; its new revision.

        `expect` is the revision the file must have, `"absent"` where it must not exist, None where it does not matter;
        `files-changed` where that is not so. Readers see the old file or the new one; the file's mode stays.
        """
        if len(data) > READ_LIMIT:
            raise too_large(_shown(path, place))
        with self._reach(path, place, write=True) as reached:
            if not reached.parts:
                raise ServiceError("file-is-folder", f"{reached.shown} is a folder")
            *folders, name = reached.parts
            with self._parent(reached, tuple(folders), make=expect in (None, ABSENT)) as folder:
                status = os.fstat(folder)
                with _LOCKS.holding((status.st_dev, status.st_ino, name)), alone_in(folder):
                    mode = self._check_target(reached, folder, name, expect)
                    replace(folder, name, data, mode)
        return revision_of(data)

    @contextmanager
    def _parent(self, reached: _Reached, folders: Parts, make: bool) -> Iterator[int]:
        try:
            folder = make_folders(reached.root, folders) if make else opener()(reached.root, folders, _FOLDER, 0)
        except FileNotFoundError:
            raise changed(reached.shown) from None
        with closing(folder):
            yield folder

    def _check_target(self, reached: _Reached, folder: int, name: str, expect: str | None) -> int | None:
        """The mode of the file that will be replaced, None where there is none; refuses what must not be replaced."""
        try:
            handle = opener()(folder, (name,), _READING, 0)
        except FileNotFoundError:
            if expect not in (None, ABSENT):
                raise changed(reached.shown) from None
            return None
        with closing(handle):
            mode = os.fstat(handle).st_mode
            self._judge(reached, mode)
            if expect is not None and expect != revision_of_file(handle, reached.shown):
                raise changed(reached.shown)
            if not mode & 0o222:
                raise ServiceError("file-read-only", f"{reached.shown} is marked as read-only")
            return mode

    # --- copying --------------------------------------------------------------------------------------------------

    def copy(self, names: Sequence[str], *, place: str | None = None) -> dict[str, str]:
        """Copy files, as of one moment, into the data folder; for each name its path inside that folder.

        Absent names are left out. Nothing is created or locked at the source. `files-changed` where the files do not
        hold still; `quota-exceeded` where the data folder would hold too much. A copy stays until the second
        later one of the same names is begun.
        """
        if isinstance(names, str):
            raise TypeError("names is a list of paths, not one")
        frame = frame_of(self._plugin, "files")
        if not names:
            return {}
        if len(names) > COPY_LIMIT:
            raise ServiceError("too-many-names", f"{len(names)} names are more than {COPY_LIMIT}: copy fewer at a time")
        where: dict[str, Parts] = {}

        def open_all(stack: ExitStack) -> dict[Parts, int | None]:
            opened: dict[Parts, int | None] = {}
            for name in names:
                reached = stack.enter_context(self._reach(name, place))
                where[name] = reached.given
                try:
                    opened[reached.given] = stack.enter_context(self._open_file(reached))
                except ServiceError as error:
                    if error.code != "file-not-found":
                        raise
                    opened[reached.given] = None
            return opened

        def check() -> None:
            if frame.call.cancelled.is_set():
                raise Cancelled(f"{frame.where} was cancelled")

        project = frame.call.project.id if place is None and frame.call.project is not None else None
        key = revision_of(json.dumps([project, place, sorted(names)]).encode())
        try:
            copies = self._snapshots.take(key, open_all, check)
        except CapabilityError:
            raise
        except OSError as error:
            raise failure(error, "the copy") from None
        return {name: copies[parts] for name, parts in where.items() if parts in copies}

    # --- from a path to an open root ------------------------------------------------------------------------------

    @contextmanager
    def _reach(self, path: str, place: str | None, write: bool = False) -> Iterator[_Reached]:
        """Decide, open the root, follow the links on the way, and decide again where they lead elsewhere."""
        frame = frame_of(self._plugin, "files")
        request = _request(path, place, write)
        capability = self._broker.require(request, frame)
        if is_absolute(request.area):
            request = _below_capability(request, capability)
        given = split_path(request.path) or ()
        shown = request.target if not is_absolute(request.area) else request.path or "the folder"
        with closing(self._open_root(frame, request, capability)) as root:
            reached = _Reached(
                frame=frame, request=request, capability=capability, root=root, parts=given, given=given, shown=shown
            )
            try:
                with suppress(NotADirectoryError):  # what is done with the path will say what this means for it
                    reached = attrs.evolve(reached, parts=real_parts(root, given))
                if reached.parts != given:
                    self._broker.require(_moved(request, reached.parts), frame)
                yield reached
            except Leaves as leaves:
                self._refuse(reached, str(leaves), "link")
            except CapabilityError:
                raise
            except OSError as error:
                if error.errno == errno.ENXIO:  # a socket, or a FIFO
                    self._refuse(reached, "it is no regular file", "not-a-file")
                raise failure(error, shown) from None

    def _open_root(self, frame: Frame, request: FileRequest, capability: Capability) -> int:
        def refuse(cause: Cause, detail: str, reason: Reason = "out-of-scope") -> NoReturn:
            self._broker.refuse(frame, capability.kind, request.target, reason, detail, cause)

        if request.area == PROJECT_AREA:
            if frame.call.project is None:
                refuse("no-project", "this call is about no project")
            folder, what = frame.call.project.root, "the project's folder"
        elif is_absolute(request.area):
            folder, what = Path("/", *(split_absolute(request.area) or ())), "the folder"
        else:
            bound = self._places(request.area)
            if bound is None:
                command = f"yaz grant {self._plugin} {capability.kind} --place {request.area}=DIR"
                detail = f"no folder is bound to {request.area}; the user can do it with: {command}"
                refuse("place-unbound", detail, "not-granted")
            folder, what = bound, f"the folder of {request.area}"
        if why := self._unfit(folder, request.area):
            refuse("folder-closed", f"{what} can be granted to no plugin: {why}")
        if isinstance(capability, FsWrite) and runs_programs(os.path.realpath(folder)):
            refuse("folder-closed", f"{what} can be written by no plugin: {RUN_FROM}")
        opened = _root_or_reason(folder)
        if isinstance(opened, str):
            refuse("folder-gone", f"{what} cannot be opened: {opened}")
        return opened

    def _unfit(self, folder: Path, area: str) -> str:
        real = os.path.realpath(folder)
        parts = Path(real).parts
        if any(parts[: len(one)] == one or one[: len(parts)] == parts for one in self._closed):
            return "it holds the application's own files"
        return too_wide(real) if area != PROJECT_AREA else ""

    @contextmanager
    def _open_file(self, reached: _Reached) -> Iterator[int]:
        try:
            handle = opener()(reached.root, reached.parts, _READING, 0)
        except (FileNotFoundError, NotADirectoryError):
            raise ServiceError("file-not-found", f"there is no file {reached.shown}") from None
        with closing(handle):
            self._judge(reached, os.fstat(handle).st_mode)
            yield handle

    def _judge(self, reached: _Reached, mode: int) -> None:
        """Refuse everything but regular files."""
        if stat.S_ISDIR(mode):
            raise ServiceError("file-is-folder", f"{reached.shown} is a folder")
        if not stat.S_ISREG(mode):
            self._refuse(reached, "it is no regular file", "not-a-file")

    def _refuse(self, reached: _Reached, detail: str, cause: Cause) -> NoReturn:
        self._broker.refuse(
            reached.frame, reached.capability.kind, reached.request.target, "out-of-scope", detail, cause
        )


def _request(path: str, place: str | None, write: bool) -> FileRequest:
    if not isinstance(path, str):
        raise TypeError("a path is a str")
    if place is None and is_absolute(path):
        return FileRequest(area=path, write=write)
    return FileRequest(area=PROJECT_AREA if place is None else place, path=path, write=write)


def _root_or_reason(folder: Path) -> int | str:
    try:
        return open_root(folder)
    except OSError as error:
        return error.strerror or "the system gave no reason"


def _below_capability(request: FileRequest, capability: Capability) -> FileRequest:
    """The same request, its area being the folder that the capability names."""
    folder: str = capability.targets()["path"]
    depth = len(split_absolute(folder) or ())
    parts = (*(split_absolute(request.area) or ()), *(split_path(request.path) or ()))
    return attrs.evolve(request, area=folder, path="/".join(parts[depth:]))


def _moved(request: FileRequest, parts: Parts) -> FileRequest:
    """The same request for another path in its area; it is recorded under the path that was asked for."""
    return attrs.evolve(request, path="/".join(parts))


def _shown(path: str, place: str | None) -> str:
    if place is not None:
        return f"{place}:{path}"
    return path.rstrip("/").rpartition("/")[2] if is_absolute(path) else path
