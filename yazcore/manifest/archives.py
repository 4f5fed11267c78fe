"""Wheels and sdists, read where they lie: the names of their files, and the beginning of those that are asked for.

Nothing is unpacked and nothing in them is run. Whoever made an archive may want to harm whoever opens it, so every
claim it makes is bounded before anything follows it, and what no build tool writes is refused (design 4). An archive
inside an archive is a file like any other.
"""

from __future__ import annotations

import contextlib
import os
import stat
import unicodedata
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Protocol

import attrs

from yazcore.manifest.words import escaped, is_printable
from yazcore.violations import YazError

if TYPE_CHECKING:
    import zipfile
    from tarfile import TarInfo

MOST_ARCHIVE_BYTES = 100 * 2**20
"""The largest archive, in bytes: the largest file that the Python Package Index takes without being asked."""

MOST_UNPACKED_BYTES = 256 * 2**20
"""The most bytes that an archive may unpack to: an sdist is read through to its end, at about 200 MiB a second."""

MOST_FILES = 10_000
"""The most files and folders of an archive: each costs half a kilobyte of memory before it has been looked at."""

MOST_RATIO = 200
"""The most times that unpacking may multiply an archive's size: source text does so 10 times, zeros 1,000 times."""

SMALL_BYTES = 2**20
"""What unpacks to less is no bomb, whatever its ratio."""

LONGEST_PATH = 1024
"""The longest name of a file, in characters."""

_MOST_DIRECTORY_BYTES = 4 * 2**20  # a zip file's list of its files, which `zipfile` reads at once; as many files fit
_MOST_HEADER_BYTES = 4 * 1024  # the extended header of one file in a tar file, which holds little more than its name
_LONGEST_SHOWN = 200
_CHUNK = 64 * 1024
_BLOCK = 512


class Archive(Protocol):
    """An archive that is open. `files` are the names of its files, with slashes, sorted."""

    files: tuple[str, ...]

    def heads(self, names: Collection[str], most: int) -> dict[str, bytes]:
        """The first bytes of files, at most so many of each; names that the archive does not hold are left out.

        Raises `YazError` `archive-broken`, `archive-bomb`.
        """


@contextlib.contextmanager
def opened(path: Path) -> Iterator[Archive]:
    """Open a wheel (`.whl`) or an sdist (`.tar.gz`).

    Raises `YazError`: `target-kind`, `archive-broken`, `archive-too-large`, `archive-too-many-files`, `archive-bomb`,
    `archive-member-path`, `archive-member-twice`, `archive-member-link`, `archive-member-special`,
    `archive-encrypted`, `archive-compression`.
    """
    if path.name.endswith(".whl"):
        with opened_zip(path) as archive:
            yield archive
    elif path.name.endswith(".tar.gz"):
        with _file(path) as (file, size):
            yield _Tar(path.name, size, file)
    else:
        raise YazError(
            "target-kind", f"{_called(path.name)} is neither a wheel nor an sdist",
            "give a file that ends in .whl or in .tar.gz, or a folder",
        )  # fmt: skip


@contextlib.contextmanager
def opened_zip(path: Path) -> Iterator[Archive]:
    """Open a zip file of any name; raises as `opened` does."""
    with _file(path) as (file, size), contextlib.ExitStack() as stack:
        with _library(path.name):
            import zipfile

            zip_file = stack.enter_context(zipfile.ZipFile(_Bounded(file)))
        yield _Zip(path.name, size, zip_file)


_NOT_A_PLUGIN = "a plugin needs nothing of this kind: do not install it"


@contextlib.contextmanager
def _file(path: Path) -> Iterator[tuple[IO[bytes], int]]:
    # a pipe or a device would block for ever, or never end
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with open(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            fix = "give a wheel, an sdist or a folder"
            raise YazError("target-kind", f"{_called(path.name)} is no regular file", fix)
        if status.st_size > MOST_ARCHIVE_BYTES:
            message = f"{_called(path.name)} is larger than {MOST_ARCHIVE_BYTES // 2**20} MiB"
            raise YazError("archive-too-large", message, _NOT_A_PLUGIN)
        yield file, status.st_size


def _called(name: str) -> str:
    return f'"{escaped(name if len(name) <= _LONGEST_SHOWN else f"{name[: _LONGEST_SHOWN - 1]}…")}"'


@contextlib.contextmanager
def _library(name: str) -> Iterator[None]:
    """Whatever the standard library raises for such a file is one fault."""
    try:
        yield
    except YazError:
        raise
    except _TooMuch:
        message = f"{_called(name)} lists more files than can be read"
        raise YazError("archive-too-many-files", message, _NOT_A_PLUGIN) from None
    except Exception as error:  # noqa: BLE001 - a stranger's file, in code that does not foresee everything
        raise _broken(name, str(error) or type(error).__name__) from None


def _broken(name: str, why: str) -> YazError:
    return YazError("archive-broken", f"{_called(name)} cannot be read: {why}", "get it again, or tell its author")


def _bomb(name: str, why: str) -> YazError:
    return YazError("archive-bomb", f"{_called(name)} {why}", _NOT_A_PLUGIN)


@attrs.define
class _Members:
    """The files of one archive, each judged as it comes."""

    archive: str
    size: int
    files: list[str] = attrs.field(factory=list)
    unpacked: int = 0
    _folded: dict[str, bool] = attrs.field(factory=dict)  # whether it is a folder, by the name as file systems see it

    def add(self, name: str, size: int, *, is_folder: bool) -> None:
        """Take one member. Raises `YazError`."""
        name = name.removesuffix("/") if is_folder else name
        if (why := _path_fault(name)) is not None:
            message = f"{_called(self.archive)} holds a file called {_called(name)}: {why}"
            raise YazError("archive-member-path", message, _NOT_A_PLUGIN)
        self._occupy(name, is_folder=is_folder)
        if len(self._folded) > MOST_FILES:
            message = f"{_called(self.archive)} holds more than {MOST_FILES} files"
            raise YazError("archive-too-many-files", message, _NOT_A_PLUGIN)
        self.unpacked += size
        if why := bomb_fault(self.unpacked, self.size):
            raise _bomb(self.archive, why)
        if not is_folder:
            self.files.append(name)

    def _occupy(self, name: str, *, is_folder: bool) -> None:
        folded = unicodedata.normalize("NFC", name).casefold()
        parents = [folded[:at] for at, letter in enumerate(folded) if letter == "/"]
        taken = self._folded.get(folded)
        if (taken is not None and not (taken and is_folder)) or any(self._folded.get(one) is False for one in parents):
            message = f"{_called(self.archive)} holds {_called(name)} twice, or as a file and a folder"
            raise YazError("archive-member-twice", message, "which of the two would be installed, nobody can say")
        self._folded[folded] = is_folder
        for parent in parents:
            self._folded[parent] = True


def bomb_fault(unpacked: int, size: int) -> str:
    """Why an archive of that size that unpacks to so many bytes is not read; empty where it may be."""
    if unpacked > MOST_UNPACKED_BYTES:
        return f"unpacks to more than {MOST_UNPACKED_BYTES // 2**20} MiB"
    if unpacked > SMALL_BYTES and unpacked > MOST_RATIO * size:
        return f"unpacks to more than {MOST_RATIO} times its size"
    return ""


def _path_fault(name: str) -> str | None:
    """Why a member may not have that name; None where it may."""
    if len(name) > LONGEST_PATH:
        return f"the longest name has {LONGEST_PATH} characters"
    if not is_printable(name):
        return "a name holds visible characters only"
    if "\\" in name or ":" in name:
        return "on some systems this is another path"
    parts = name.split("/")
    if ".." in parts:
        return "it leads out of the archive"
    if not all(parts) or "." in parts:
        return "it begins with a slash, or has an empty part" if name else "a name is not empty"
    return None


# -- zip --------------------------------------------------------------------------------------------------------------


class _TooMuch(Exception):
    pass


class _Bounded:
    """A file that gives at most so much at once: `zipfile` reads a list of files as large as the archive says."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.seek = file.seek
        self.tell = file.tell
        self.seekable = file.seekable

    def read(self, size: int = -1) -> bytes:
        more_than_enough = _MOST_DIRECTORY_BYTES + 1
        data = self._file.read(min(size, more_than_enough) if size >= 0 else more_than_enough)
        if len(data) > _MOST_DIRECTORY_BYTES:
            raise _TooMuch
        return data


class _Zip:
    def __init__(self, name: str, size: int, file: zipfile.ZipFile) -> None:
        self._name = name
        self._file = file
        self._by_name: dict[str, zipfile.ZipInfo] = {}
        members = _Members(name, size)
        packed = 0
        for info in file.infolist():
            self._judge(info)
            members.add(info.filename, info.file_size, is_folder=info.is_dir())
            self._by_name[info.filename] = info
            packed += info.compress_size
        if packed > size:
            raise _bomb(name, "holds files that overlap")
        self.files = tuple(sorted(members.files))

    def _judge(self, info: zipfile.ZipInfo) -> None:
        import zipfile

        where = f"{_called(self._name)} holds {_called(info.orig_filename)}"
        if info.orig_filename != info.filename:
            raise YazError("archive-member-path", f"{where}: a name holds visible characters only", _NOT_A_PLUGIN)
        kind = stat.S_IFMT(info.external_attr >> 16)
        if kind == stat.S_IFLNK:
            raise YazError("archive-member-link", f"{where}, which is a link", _NOT_A_PLUGIN)
        if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
            raise YazError("archive-member-special", f"{where}, which is no file", _NOT_A_PLUGIN)
        if info.flag_bits & 0x2041:  # encrypted, strongly encrypted, names hidden
            raise YazError("archive-encrypted", f"{where}, which is encrypted", _NOT_A_PLUGIN)
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            # how much others unpack to at once cannot be bounded
            raise YazError("archive-compression", f"{where}, which is packed in an unusual way", _NOT_A_PLUGIN)

    def heads(self, names: Collection[str], most: int) -> dict[str, bytes]:
        found = {}
        for name in sorted(self._by_name.keys() & set(names)):
            with _library(self._name), self._file.open(self._by_name[name]) as member:
                found[name] = member.read(most)
        return found


# -- tar --------------------------------------------------------------------------------------------------------------


class _Tar:
    """A gzipped tar file, read from its beginning each time: it can be read in no other way.

    Only the headers of single files are left to `tarfile`: its own walk follows claims that nobody has bounded.
    """

    def __init__(self, name: str, size: int, file: IO[bytes]) -> None:
        self._name = name
        self._size = size
        self._file = file
        members = _Members(name, size)
        with _library(name):
            for info, _ in self._members():
                members.add(info.name, info.size, is_folder=info.isdir())
        self.files = tuple(sorted(members.files))

    def heads(self, names: Collection[str], most: int) -> dict[str, bytes]:
        wanted = set(names) & set(self.files)
        found: dict[str, bytes] = {}
        if wanted:
            with _library(self._name):
                for info, stream in self._members():
                    if info.name in wanted and info.isreg():
                        found[info.name] = stream.read(min(most, info.size))
                        if len(found) == len(wanted):
                            break
        return found

    def _members(self) -> Iterator[tuple[TarInfo, _Stream]]:
        """Each file and folder, with the stream at its first byte."""
        import tarfile

        self._file.seek(0)
        stream = _Stream(self._name, self._size, self._file)
        more: dict[str, str] = {}
        while any(block := stream.read(_BLOCK)):
            info = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
            end = stream.given + -(-info.size // _BLOCK) * _BLOCK
            if info.size < 0:
                raise _broken(self._name, "a file of less than no bytes")
            if info.type in (tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME):
                more |= self._extended(info, stream)
            else:
                info.name = more.pop("path", info.name)
                if "size" in more:
                    raise _broken(self._name, "a file of more than 8 GiB")
                self._judge(info, more)
                yield info, stream
                more = {}
            stream.skip(end - stream.given)
        stream.finish()

    def _extended(self, info: TarInfo, stream: _Stream) -> dict[str, str]:
        """What an extended header says of the file after it."""
        import tarfile

        if info.size > _MOST_HEADER_BYTES:
            raise _broken(self._name, "a header is too large")
        data = stream.read(info.size)
        if info.type == tarfile.GNUTYPE_LONGNAME:
            return {"path": data.partition(b"\0")[0].decode("utf-8")}
        said = dict(_records(data))
        if info.type == tarfile.XGLTYPE:  # of all files: git writes its commit there
            if said.keys() & {"path", "linkpath", "size"}:
                raise _broken(self._name, "one header names all files")
            return {}
        return said

    def _judge(self, info: TarInfo, more: dict[str, str]) -> None:
        where = f"{_called(self._name)} holds {_called(info.name)}"
        if info.issym() or info.islnk():
            raise YazError("archive-member-link", f"{where}, which is a link", _NOT_A_PLUGIN)
        if info.type not in _TAR_FILES or any(key.startswith("GNU.sparse") for key in more):
            raise YazError("archive-member-special", f"{where}, which is no file", _NOT_A_PLUGIN)
        if info.isdir() and info.size:
            raise _broken(self._name, "a folder that has a size")


_TAR_FILES = (b"0", b"\0", b"5")


def _records(data: bytes) -> Iterator[tuple[str, str]]:
    """The records of an extended header (POSIX pax): length, key and value each."""
    while data:
        length, _, _ = data.partition(b" ")
        if not length.isdigit() or not len(length) + 2 < int(length[:6]) <= len(data):
            raise ValueError("a header is malformed")
        record = data[len(length) + 1 : int(length)]
        key, equals, value = record.removesuffix(b"\n").partition(b"=")
        if not equals or not record.endswith(b"\n"):
            raise ValueError("a header is malformed")
        yield key.decode("utf-8"), value.decode("utf-8")
        data = data[int(length) :]


class _Stream:
    """The unpacked bytes of a gzip file, in order; `given` counts them. Raises where they are too many, or too few."""

    def __init__(self, name: str, size: int, file: IO[bytes]) -> None:
        import gzip

        self._name = name
        self._size = size
        self._unpacked: Any = gzip.GzipFile(fileobj=file)
        self.given = 0

    def read(self, size: int) -> bytes:
        data: bytes = self._unpacked.read(size)
        self.given += len(data)
        if why := bomb_fault(self.given, self._size):
            raise _bomb(self._name, why)
        if len(data) < size:
            raise EOFError("it ends too early")
        return data

    def skip(self, size: int) -> None:
        while size > 0:
            size -= len(self.read(min(size, _CHUNK)))

    def finish(self) -> None:
        """Read to the end, so that the checksum there is compared."""
        while data := self._unpacked.read(_CHUNK):
            self.given += len(data)
            if why := bomb_fault(self.given, self._size):
                raise _bomb(self._name, why)
