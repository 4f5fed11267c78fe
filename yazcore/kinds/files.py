"""`fs-project`, `fs-read`, `fs-write`: files, by path components (Y-15; capabilities E).

A path in a request is relative to its area: the project of the call, a place that the user bound to a folder, or an
absolute folder. Everything is decided here by components, as text; what a link leads to, the service decides.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Literal

import attrs

from yazcore.kinds.base import Capability, Request, TargetFault, has_wildcard, some_of, text_faults, whole_text
from yazcore.kinds.causes import Cause
from yazcore.kinds.programs import RUN_FROM, runs_home_programs

PROJECT_AREA = "project"
"""The area of a request for the project of the call; no place may have this name."""

PROTECTED_NAMES = frozenset({
    ".git", ".hg", ".svn", ".venv", ".yaz", ".vscode", ".idea", ".github", ".latexmkrc", "latexmkrc", "makefile",
    "pyproject.toml", "setup.cfg", "conftest.py",
})  # fmt: skip
"""Names that other programs act on: `fs-project` covers writing none of them, existing or not; see `is_protected`."""

SECRET_NAMES = frozenset({".git", ".hg", ".svn"})
"""Names whose files hold credentials often enough that `fs-project` does not cover reading them; see `is_secret`."""

_PLACE = re.compile(r"[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*")
# what no path holds; what is a path, `split_path` and `split_absolute` say
_PLAIN = re.compile(r"[^*?\\\x00]*[^\s*?\\\x00][^*?\\\x00]*")
_PLAIN_FOLDER = re.compile(r"[/~][^*?\\\x00]*")
# beside formatting characters, what a file system may leave out when it compares names (ext4 with casefold does)
_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2065\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8"
    "\U000e0000-\U000e0fff]"
)
_LONGEST_PLACE = 64
_LONGEST_PATH = 4000
_MOST_PARTS = 100

_SYSTEM_TREES = (
    "/bin", "/boot", "/cores", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/private/etc", "/proc", "/run/user",
    "/sbin", "/sys", "/System", "/usr/bin", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libexec", "/usr/libx32",
    "/usr/local/bin", "/usr/local/lib", "/usr/local/sbin", "/usr/sbin",
)  # fmt: skip
_SYSTEM_FOLDERS = frozenset({
    "/", "/Applications", "/Library", "/Users", "/Volumes", "/home", "/media", "/mnt", "/opt", "/private",
    "/private/tmp", "/private/var", "/root", "/run", "/run/media", "/srv", "/tmp", "/usr", "/usr/local", "/var",  # noqa: S108
    "/var/tmp",  # noqa: S108
})  # fmt: skip
_HOME_TREES = (".gnupg", ".ssh")


def split_path(path: str) -> tuple[str, ...] | None:
    """The components of a relative path, or None where it is none.

    `.` components and one slash at the end do not count. An absolute path, `..`, an empty component, NUL, a backslash,
    text that no file name can hold (a lone surrogate) and anything endless make it no relative path. The empty path is
    the area itself.
    """
    if path in ("", "."):
        return ()
    if len(path) > _LONGEST_PATH or "\0" in path or "\\" in path or not _is_encodable(path):
        return None
    parts = path.removesuffix("/").split("/")
    if len(parts) > _MOST_PARTS or any(part in ("", "..") for part in parts):
        return None
    return tuple(part for part in parts if part != ".")


def split_absolute(path: str) -> tuple[str, ...] | None:
    """The components of an absolute path or one below `~/`, or None where it is neither. Pure but for `$HOME`."""
    if path == "~" or path.startswith("~/"):
        below = split_path(path.removeprefix("~").removeprefix("/"))
        home = split_absolute(os.path.expanduser("~"))
        return None if below is None or home is None else home + below
    return split_path(path[1:]) if path.startswith("/") else None


def is_absolute(path: str) -> bool:
    """Whether a path names its place on the machine itself: it begins with `/` or `~/`."""
    return path.startswith(("/", "~/")) or path == "~"


def folded(name: str) -> str:
    """A name as the most forgiving file system compares it: case, composition, invisible characters, trailing dots."""
    visible = "".join(sign for sign in name if unicodedata.category(sign) != "Cf" and not _UNSEEN.match(sign))
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", visible).casefold()).rstrip(". ")


def is_protected(name: str) -> bool:
    """Whether `fs-project` never covers writing a file or folder of that name: `PROTECTED_NAMES`, `.env*`, `*.pth`."""
    plain = folded(name)
    return plain in PROTECTED_NAMES or plain.startswith(".env") or plain.endswith(".pth")


def is_secret(name: str) -> bool:
    """Whether `fs-project` never covers reading a file or folder of that name: `SECRET_NAMES` and `.env*`."""
    plain = folded(name)
    return plain in SECRET_NAMES or plain.startswith(".env")


def too_wide(path: str) -> str:
    """Why a folder may be granted to nobody here, or the empty text where it may: `/`, a home folder, the system's own.

    `path` is absolute or begins with `~/`. To be asked of what a user binds a place to, and of what is about to be
    opened; what a manifest declares is judged by `too_wide_anywhere`, which does not depend on who reads it.
    """
    parts = split_absolute(path)
    if parts is None:
        return "it is not an absolute path"
    home = split_absolute(os.path.expanduser("~")) or ()
    if home[: len(parts)] == parts:
        return _WHOLE_HOME
    if any(parts[: len(home) + 1] == (*home, name) for name in _HOME_TREES):
        return _KEYS
    return too_wide_anywhere(path)


def too_wide_anywhere(path: str) -> str:
    """Why a folder may be granted on no machine, or the empty text where it may on some. Pure.

    `~` is whoever's home folder it is, and so is what lies where home folders usually do.
    """
    below = split_path(path.removeprefix("~").removeprefix("/"))
    if below is None or not is_absolute(path):
        return "it is not an absolute path"
    inside = _inside_a_home(path, below)
    if inside is not None:
        if not inside:
            return _WHOLE_HOME
        return _KEYS if inside[0] in _HOME_TREES else ""
    text = "/" + "/".join(below)
    if text in _SYSTEM_FOLDERS or any(text == tree or text.startswith(f"{tree}/") for tree in _SYSTEM_TREES):
        return "it belongs to the system"
    return ""


def _inside_a_home(path: str, parts: tuple[str, ...]) -> tuple[str, ...] | None:
    """The parts below a home folder, where a path that has these parts lies in one or is one; else None."""
    if path.startswith("~"):
        return parts
    for top in _HOMES:
        if parts[: len(top)] == top and len(parts) > len(top):
            return parts[len(top) + 1 :]
    return parts[1:] if parts[:1] == ("root",) else None


_HOMES = (("home",), ("Users",))
_WHOLE_HOME = "it holds your whole home folder"
_KEYS = "it holds your keys"


@attrs.frozen(kw_only=True)
class FileRequest(Request):
    """Reading or writing one path.

    `area` is `project`, the name of a place, or an absolute folder; `path` is relative to it, empty for itself.
    """

    area: str
    path: str = ""
    write: bool = False
    kinds: tuple[str, ...] = attrs.field()
    target: str = attrs.field()

    @kinds.default
    def _kinds(self) -> tuple[str, ...]:
        if self.area == PROJECT_AREA:
            return ("fs-project",)
        return ("fs-write", "fs-read") if self.write else ("fs-read", "fs-write")

    @target.default
    def _target(self) -> str:
        if self.area == PROJECT_AREA:
            return self.path or "."
        if is_absolute(self.area):
            return f"{self.area.rstrip('/')}/{self.path}" if self.path else self.area
        return f"{self.area}:{self.path}"

    def fault(self) -> str:
        """Why the path is none."""
        if split_path(self.path) is None:
            return "a path is relative, with / between its parts, without .., empty parts, backslashes and NUL"
        if is_absolute(self.area) and split_absolute(self.area) is None:
            return "an absolute path is without .., empty parts, backslashes and NUL"
        return ""

    def cause(self) -> Cause:
        """Whether a project has a name in it that no plugin is given, too."""
        closed = is_protected if self.write else is_secret
        if self.area == PROJECT_AREA and any(map(closed, split_path(self.path) or ())):
            return "protected"
        return super().cause()


@attrs.frozen(kw_only=True)
class FsProject(Capability):
    """Files of the project of the call: all but the protected ones, or only those below `paths`."""

    kind: ClassVar[str] = "fs-project"
    service: ClassVar[str] = "files"
    schema_keywords: ClassVar[Mapping[str, Mapping[str, Any]]] = {"paths": some_of(whole_text(_PLAIN, _LONGEST_PATH))}

    access: Literal["read", "write"] = "read"
    paths: tuple[str, ...] | None = None

    def targets(self) -> dict[str, Any]:
        """The access, and the paths without those that lie below another."""
        if self.paths is None:
            return {"access": self.access}
        split = {path: split_path(path) for path in self.paths}
        named = {parts for parts in split.values() if parts is not None}
        kept = {
            path if parts is None else "/".join(parts)
            for path, parts in split.items()
            if parts is None or not any(parts[:length] in named for length in range(len(parts)))
        }
        return {"access": self.access, "paths": sorted(kept)}

    def faults(self) -> Iterator[TargetFault]:
        """Wildcards, empty lists, paths that leave the project or name what is never covered."""
        if self.paths is None:
            return
        yield from text_faults(self.paths, "paths", "path")
        for index, path in enumerate(self.paths):
            if not path.strip() or has_wildcard(path):
                continue
            parts = split_path(path)
            if parts is None or not path.isprintable():
                yield TargetFault(
                    "capability-path", f"{path!r} is not a path inside a project",
                    "give a relative path with / between its parts, without .. and empty parts", ("paths", index),
                )  # fmt: skip
            elif not parts:
                yield TargetFault(
                    "capability-path", f"{path!r} is the whole project", "leave paths out to ask for all of it",
                    ("paths", index),
                )  # fmt: skip
            elif any(self._never_covers(part) for part in parts):
                verb = "written" if self.access == "write" else "read"
                yield TargetFault(
                    "capability-path-protected", f"{path!r} is never {verb} for a plugin", "leave it out",
                    ("paths", index),
                )  # fmt: skip

    def _never_covers(self, name: str) -> bool:
        return is_protected(name) if self.access == "write" else is_secret(name)

    def covers(self, request: Request) -> bool:
        """Whether the path lies in the project, below one of `paths` if there are any, with no part protected."""
        if not isinstance(request, FileRequest) or request.area != PROJECT_AREA:
            return False
        parts = split_path(request.path)
        if parts is None or (request.write and self.access != "write"):
            return False
        if any(is_protected(part) if request.write else is_secret(part) for part in parts):
            return False
        return self.paths is None or any(_is_below(parts, split_path(path)) for path in self.paths)

    def reads(self, request: Request) -> bool:
        """Whether the request does not write."""
        return isinstance(request, FileRequest) and not request.write

    def within(self, other: Capability) -> bool:
        """Whether `other` writes if this does, and has all its paths."""
        if not isinstance(other, FsProject) or (self.access == "write" and other.access != "write"):
            return False
        if other.paths is None:
            return True
        return self.paths is not None and all(
            any(_is_below(split_path(path), split_path(wide)) for wide in other.paths) for path in self.paths
        )

    def sentence(self) -> str:
        """What people read."""
        verb = "read and write" if self.access == "write" else "read"
        if self.paths is not None:
            return f"{verb} {', '.join(self.targets()['paths'])} in the project you work in"
        return f"{verb} the files of the project you work in, except protected ones such as .git and .env"


@attrs.frozen(kw_only=True)
class _FolderCapability(Capability):
    """What `fs-read` and `fs-write` share: one folder, by `path` or by a `place` that the user binds."""

    service: ClassVar[str] = "files"
    schema_keywords: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "": {"oneOf": [{"required": ["path"]}, {"required": ["place"]}], "dependentRequired": {"suggest": ["place"]}},
        "path": whole_text(_PLAIN_FOLDER),
        "place": {**whole_text(_PLACE, _LONGEST_PLACE), "not": {"const": PROJECT_AREA}},
        "suggest": some_of(whole_text(_PLAIN_FOLDER)),
    }

    path: str | None = None
    place: str | None = None
    suggest: tuple[str, ...] | None = None

    def targets(self) -> dict[str, Any]:
        """The path, or the place: what is suggested for a place is an offer, not a target."""
        if self.place is not None:
            return {"place": self.place}
        return {"path": _canonical_absolute(self.path or "")}

    def faults(self) -> Iterator[TargetFault]:
        """Both or neither of path and place, malformed ones, folders that nobody may be granted."""
        if (self.path is None) == (self.place is None):
            yield TargetFault(
                "capability-target", "exactly one of path and place says which folder it is",
                "give a place if the folder differs between machines, else a path",
            )  # fmt: skip
        if self.path is not None:
            yield from _path_faults(self.path, ("path",))
        if self.place is not None:
            yield from _place_faults(self.place)
        if self.suggest is not None:
            if self.place is None:
                yield TargetFault(
                    "capability-target", "suggest is for a place, and there is none", "leave it out", ("suggest",)
                )
            yield from text_faults(self.suggest, "suggest", "folder")
            for index, path in enumerate(self.suggest):
                if path.strip() and not has_wildcard(path):
                    yield from _path_faults(path, ("suggest", index))

    def _reaches(self, request: Request) -> bool:
        if not isinstance(request, FileRequest) or request.area == PROJECT_AREA:
            return False
        below = split_path(request.path)
        if below is None:
            return False
        if is_absolute(request.area):
            area = split_absolute(request.area)
            return area is not None and self.path is not None and _is_below(area + below, split_absolute(self.path))
        return self.place is not None and request.area == self.place

    def reads(self, request: Request) -> bool:
        """Whether the request does not write."""
        return isinstance(request, FileRequest) and not request.write

    def within(self, other: Capability) -> bool:
        """Whether `other` is the same place, or a folder of the same kind that holds this one."""
        if not isinstance(other, type(self)):
            return False
        if self.path is None or other.path is None:
            return self.identity == other.identity
        return _is_below(split_absolute(self.path), split_absolute(other.path))

    def _where(self) -> str:
        if self.place is None:
            return str(self.targets()["path"])
        offer = f" (suggested: {', '.join(self.suggest)})" if self.suggest else ""
        return f"the folder you choose as {self.place}{offer}"


@attrs.frozen(kw_only=True)
class FsRead(_FolderCapability):
    """Read below one folder outside the project."""

    kind: ClassVar[str] = "fs-read"

    def covers(self, request: Request) -> bool:
        """Whether the path lies below the folder and nothing is written: a read grant does not allow a write."""
        return self._reaches(request) and self.reads(request)

    def sentence(self) -> str:
        """What people read."""
        return f"read files below {self._where()}"


@attrs.frozen(kw_only=True)
class FsWrite(_FolderCapability):
    """Write, and so read, below one folder outside the project."""

    kind: ClassVar[str] = "fs-write"
    sensitive: ClassVar[bool] = True

    def faults(self) -> Iterator[TargetFault]:
        """Beside what is wrong for reading, too: folders from which programs are run."""
        yield from super().faults()
        named: list[tuple[str, tuple[str | int, ...]]] = [] if self.path is None else [(self.path, ("path",))]
        named += [(path, ("suggest", index)) for index, path in enumerate(self.suggest or ())]
        for path, where in named:
            below = split_path(path.removeprefix("~").removeprefix("/"))
            if below is None or not is_absolute(path) or too_wide_anywhere(path):
                continue
            inside = _inside_a_home(path, below)
            if inside is not None and runs_home_programs(inside):
                yield TargetFault(
                    "capability-path-too-wide", f"{path!r} can be written by no plugin: {RUN_FROM}",
                    "name the folder that is needed", where,
                )  # fmt: skip

    def covers(self, request: Request) -> bool:
        """Whether the path lies below the folder."""
        return self._reaches(request)

    def sentence(self) -> str:
        """What people read."""
        return f"read and write files below {self._where()}"


def _path_faults(path: str, where: tuple[str | int, ...]) -> Iterator[TargetFault]:
    if not path.strip():
        yield TargetFault("capability-empty", f"{where[0]} is empty", "name a folder", where)
    elif has_wildcard(path):
        yield TargetFault(
            "capability-wildcard", f"{path!r} is a wildcard, and a capability reaches only what it names",
            "name the folder in full", where,
        )  # fmt: skip
    elif not is_absolute(path) or _is_no_path(path) or not path.isprintable():
        yield TargetFault(
            "capability-path", f"{path!r} is not the path of a folder",
            "give an absolute path or one below ~/, without .. and empty parts", where,
        )  # fmt: skip
    elif reason := too_wide_anywhere(path):
        yield TargetFault(
            "capability-path-too-wide", f"{path!r} can be granted to no plugin: {reason}",
            "name the folder that is needed", where,
        )  # fmt: skip


def _is_no_path(path: str) -> bool:
    """Whether an absolute path, or one below `~/`, is none on any machine."""
    return split_path(path.removeprefix("~").removeprefix("/")) is None


def _place_faults(place: str) -> Iterator[TargetFault]:
    if not place.strip():
        yield TargetFault("capability-empty", "place is empty", "give the place a name", ("place",))
    elif has_wildcard(place):
        yield TargetFault(
            "capability-wildcard", f"{place!r} is a wildcard, and a capability reaches only what it names",
            "name one place", ("place",),
        )  # fmt: skip
    elif len(place) > _LONGEST_PLACE or not _PLACE.fullmatch(place) or place == PROJECT_AREA:
        yield TargetFault(
            "capability-place", f"{place!r} is not a name for a place",
            "use small letters, digits, - and _, as in zotero-data; project is taken", ("place",),
        )  # fmt: skip


def _canonical_absolute(path: str) -> str:
    """The path without `.` and a slash at the end; `~` stays, so that a grant means the same for every user."""
    start = "~/" if path.startswith("~") else "/"
    parts = split_path(path.removeprefix("~").removeprefix("/"))
    return path if parts is None else start + "/".join(parts)


def _is_below(parts: tuple[str, ...] | None, folder: tuple[str, ...] | None) -> bool:
    """Whether the parts are the folder's or lie below it. What is no path lies nowhere."""
    return parts is not None and folder is not None and parts[: len(folder)] == folder


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
