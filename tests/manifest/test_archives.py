from __future__ import annotations

import contextlib
import gzip
import io
import os
import stat
import struct
import tarfile
import warnings
import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.manifest.archived import member, sdist, tar, wheel
from yazcore.manifest import archives
from yazcore.manifest.archives import MOST_RATIO, SMALL_BYTES, bomb_fault, opened, opened_zip
from yazcore.violations import YazError

DO_NOT = "a plugin needs nothing of this kind: do not install it"


def refused(path: Path) -> YazError:
    """What opening a file raises."""
    with pytest.raises(YazError) as caught, opened(path):
        pass
    return caught.value


def said(path: Path) -> tuple[str, str, str]:
    error = refused(path)
    return error.code, str(error), error.fix


def zipped(folder: Path, *members: tuple[str | zipfile.ZipInfo, bytes], **more: int) -> Path:
    """A zip file of exactly these members."""
    path = folder / "x-1-py3-none-any.whl"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of a name that stands there twice
        with zipfile.ZipFile(path, "w", more.get("compression", zipfile.ZIP_DEFLATED)) as archive:
            for name, data in members:
                archive.writestr(name, data)
    return path


def patched(path: Path, signature: bytes, offset: int, form: str, value: int) -> Path:
    """A zip file in which a field of its last central record, or of its end, is another."""
    data = bytearray(path.read_bytes())
    struct.pack_into(form, data, data.rfind(signature) + offset, value)
    path.write_bytes(data)
    return path


CENTRAL = b"PK\x01\x02"
END = b"PK\x05\x06"

# -- what is good -----------------------------------------------------------------------------------------------------


def test_a_wheel_lists_its_files_and_gives_the_beginning_of_those_that_are_asked_for(tmp_path: Path) -> None:
    path = zipped(tmp_path, ("b/c.txt", b"0123456789"), ("b/", b""), ("a.txt", b"abc"))
    with opened(path) as archive:
        assert archive.files == ("a.txt", "b/c.txt")
        assert archive.heads(["b/c.txt", "a.txt", "missing", "b"], 4) == {"a.txt": b"abc", "b/c.txt": b"0123"}
        assert archive.heads([], 4) == {}


@pytest.mark.parametrize("form", [tarfile.PAX_FORMAT, tarfile.GNU_FORMAT, tarfile.USTAR_FORMAT])
def test_an_sdist_lists_its_files_and_gives_the_beginning_of_those_that_are_asked_for(
    tmp_path: Path, form: int
) -> None:
    long = "x-1/" + "d" * 90 + "/" + "n" * 60 + ".txt"
    with tarfile.open(tmp_path / "x-1.tar.gz", "w:gz", format=form) as made:
        for info, data in [
            member("x-1", type=tarfile.DIRTYPE),
            member(long, b"long"),
            member("x-1/b.txt", b"0123456789" * 200),
            member("x-1/a.txt", b"abc"),
        ]:
            made.addfile(info, io.BytesIO(data))
    with opened(tmp_path / "x-1.tar.gz") as archive:
        assert archive.files == ("x-1/a.txt", "x-1/b.txt", long)
        assert archive.heads(["x-1/b.txt", "x-1/a.txt", long, "missing"], 4) == {
            "x-1/a.txt": b"abc", "x-1/b.txt": b"0123", long: b"long",
        }  # fmt: skip
        assert archive.heads(["x-1/b.txt"], 5000) == {"x-1/b.txt": b"0123456789" * 200}


def test_names_beyond_ascii_and_times_with_fractions_come_in_extended_headers(tmp_path: Path) -> None:
    path = tar(tmp_path / "x-1.tar.gz", [member("x-1/Größe.txt", b"1", mtime=1.25), member("x-1/b.txt", b"2")])
    with opened(path) as archive:
        assert archive.files == ("x-1/Größe.txt", "x-1/b.txt")
        assert archive.heads(["x-1/b.txt"], 9) == {"x-1/b.txt": b"2"}


def test_the_header_that_git_writes_for_all_files_is_read_over(tmp_path: Path) -> None:
    path = tmp_path / "x-1.tar.gz"
    with tarfile.open(path, "w:gz", format=tarfile.PAX_FORMAT, pax_headers={"comment": "0123abc"}) as made:
        made.addfile(*member("x-1/a.txt", b""))
    with opened(path) as archive:
        assert archive.files == ("x-1/a.txt",)


def test_an_archive_in_an_archive_is_a_file_like_any_other(tmp_path: Path) -> None:
    inner = zipped(tmp_path, ("../evil", b"")).read_bytes()
    with opened(zipped(tmp_path, ("a/inner.whl", inner), ("a/inner.tar.gz", gzip.compress(b"x")))) as archive:
        assert archive.files == ("a/inner.tar.gz", "a/inner.whl")
        assert archive.heads(["a/inner.whl"], 10**6) == {"a/inner.whl": inner}


# -- what is no archive -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["x.zip", "x.egg", "x.tar", "x.tar.bz2", "x.tgz", "x.py", "whl"])
def test_only_wheels_and_sdists_are_opened(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"")
    assert said(tmp_path / name) == (
        "target-kind", f'"{name}" is neither a wheel nor an sdist',
        "give a file that ends in .whl or in .tar.gz, or a folder",
    )  # fmt: skip


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x.whl")
    assert said(tmp_path / "x.whl") == (
        "target-kind", '"x.whl" is no regular file', "give a wheel, an sdist or a folder",
    )  # fmt: skip


@pytest.mark.parametrize("name", ["x.whl", "x.tar.gz"])
@pytest.mark.parametrize("data", [b"", b"PK\x03\x04", b"\x1f\x8b\x08\x00", b"\x00" * 5000, b"no archive" * 100])
def test_what_is_no_archive_is_broken(tmp_path: Path, name: str, data: bytes) -> None:
    (tmp_path / name).write_bytes(data)
    error = refused(tmp_path / name)
    assert (error.code, error.fix) == ("archive-broken", "get it again, or tell its author")
    assert str(error).startswith(f'"{name}" cannot be read: ')


def test_a_wheel_that_ends_too_early_is_broken(tmp_path: Path) -> None:
    path = wheel(tmp_path)
    path.write_bytes(path.read_bytes()[:-10])
    assert refused(path).code == "archive-broken"


@pytest.mark.parametrize("kept", [50, 400, -9])
def test_an_sdist_that_ends_too_early_is_broken(tmp_path: Path, kept: int) -> None:
    path = sdist(tmp_path)
    path.write_bytes(path.read_bytes()[:kept])
    assert refused(path).code == "archive-broken"


def test_a_tar_file_without_its_end_is_broken(tmp_path: Path) -> None:
    path = sdist(tmp_path)
    path.write_bytes(gzip.compress(gzip.decompress(path.read_bytes())[:1024]))
    assert str(refused(path)).endswith("it ends too early")


def test_a_file_whose_contents_are_damaged_is_broken_when_it_is_read(tmp_path: Path) -> None:
    path = zipped(tmp_path, ("a.txt", b"abc" * 1000), compression=zipfile.ZIP_STORED)
    path.write_bytes(path.read_bytes().replace(b"abcabc", b"abcxbc", 1))
    with opened(path) as archive, pytest.raises(YazError) as caught:
        archive.heads(["a.txt"], 10**6)
    assert caught.value.code == "archive-broken"


def test_what_is_larger_than_a_package_is_not_opened(tmp_path: Path) -> None:
    with open(tmp_path / "x.whl", "wb") as file:
        file.truncate(archives.MOST_ARCHIVE_BYTES + 1)
    assert said(tmp_path / "x.whl") == ("archive-too-large", '"x.whl" is larger than 100 MiB', DO_NOT)


# -- bombs ------------------------------------------------------------------------------------------------------------


def test_what_multiplies_is_a_bomb(tmp_path: Path) -> None:
    zeros = b"\0" * (4 * 2**20)
    for path in (zipped(tmp_path, ("a", zeros)), tar(tmp_path / "x-1-py3.tar.gz", [member("a", zeros)])):
        assert said(path) == ("archive-bomb", f'"{path.name}" unpacks to more than 200 times its size', DO_NOT)


def test_a_bomb_that_hides_behind_the_end_of_a_tar_file_is_one(tmp_path: Path) -> None:
    path = tar(tmp_path / "x-1.tar.gz", [member("a", b"")])
    path.write_bytes(gzip.compress(gzip.decompress(path.read_bytes()) + b"\0" * (8 * 2**20)))
    assert refused(path).code == "archive-bomb"


def test_what_is_small_is_no_bomb_and_what_is_large_is_one_at_any_ratio() -> None:
    assert bomb_fault(SMALL_BYTES, 1) == ""
    assert bomb_fault(SMALL_BYTES + 1, 1) == "unpacks to more than 200 times its size"
    assert bomb_fault(MOST_RATIO * 10**6, 10**6) == ""
    assert bomb_fault(archives.MOST_UNPACKED_BYTES + 1, archives.MOST_ARCHIVE_BYTES) == "unpacks to more than 256 MiB"


def test_files_that_share_their_bytes_are_a_bomb(tmp_path: Path) -> None:
    path = zipped(tmp_path, ("a", os.urandom(5000)), compression=zipfile.ZIP_STORED)
    data = path.read_bytes()
    start, end = data.find(CENTRAL), data.rfind(END)
    record = data[start:end]
    twins = b"".join(record[:-1] + bytes([letter]) for letter in b"abcd")
    tail = struct.pack("<4s4H2LH", END, 0, 0, 4, 4, len(twins), start, 0)
    path.write_bytes(data[:start] + twins + tail)
    assert said(path) == ("archive-bomb", f'"{path.name}" holds files that overlap', DO_NOT)


def test_a_claim_about_a_size_bounds_what_is_read(tmp_path: Path) -> None:
    path = patched(zipped(tmp_path, ("a", b"\0" * 100_000)), CENTRAL, 24, "<L", 10)
    with opened(path) as archive, pytest.raises(YazError) as caught:
        archive.heads(["a"], 10**9)
    assert str(caught.value) == f'"{path.name}" cannot be read: Bad CRC-32 for file \'a\''


def test_many_files_are_too_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MOST_FILES", 20)
    path = zipped(tmp_path, *((f"d/{number}", b"") for number in range(20)))  # the folder counts
    assert said(path) == ("archive-too-many-files", f'"{path.name}" holds more than 20 files', DO_NOT)
    assert refused(tar(tmp_path / "x-1.tar.gz", [member(f"{n}") for n in range(21)])).code == "archive-too-many-files"
    with opened(zipped(tmp_path, *((f"d/{number}", b"") for number in range(19)))) as archive:
        assert len(archive.files) == 19


def test_a_list_of_files_that_is_itself_too_large_is_not_read(tmp_path: Path) -> None:
    path = zipped(tmp_path, *((f"{number}/{'n' * 60_000}", b"") for number in range(80)))
    assert said(path) == ("archive-too-many-files", f'"{path.name}" lists more files than can be read', DO_NOT)


# -- members ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("/etc/passwd", "it begins with a slash, or has an empty part"),
        ("a//b", "it begins with a slash, or has an empty part"),
        ("a/./b", "it begins with a slash, or has an empty part"),
        ("./a", "it begins with a slash, or has an empty part"),
        ("../a", "it leads out of the archive"),
        ("a/../../b", "it leads out of the archive"),
        ("a/..", "it leads out of the archive"),
        ("a\\b", "on some systems this is another path"),
        ("C:/a", "on some systems this is another path"),
        ("a\x1b[2J", "a name holds visible characters only"),
        ("a\u202etxt.exe", "a name holds visible characters only"),
    ],
)
def test_a_name_stays_in_its_archive_and_on_its_line(tmp_path: Path, name: str, why: str) -> None:
    shown = name.encode("unicode_escape").decode() if not name.isprintable() else name
    for path in (zipped(tmp_path, (name, b"")), tar(tmp_path / "x-1.tar.gz", [member(name)])):
        message = f'"{path.name}" holds a file called "{shown}": {why}'
        assert said(path) == ("archive-member-path", message, DO_NOT)


def test_a_name_has_an_end(tmp_path: Path) -> None:
    path = zipped(tmp_path, ("n" * (archives.LONGEST_PATH + 1), b""))
    assert str(refused(path)).endswith("…\": the longest name has 1024 characters")
    with opened(zipped(tmp_path, ("n" * archives.LONGEST_PATH, b""))) as archive:
        assert len(archive.files) == 1


def test_a_name_that_is_cut_at_a_nul_is_two_names(tmp_path: Path) -> None:
    path = zipped(tmp_path, ("manifest.json_", b""))
    path.write_bytes(path.read_bytes().replace(b"manifest.json_", b"manifest.jso\0n"))
    assert refused(path).code == "archive-member-path"


def test_bytes_that_are_no_text_are_no_name(tmp_path: Path) -> None:
    path = tmp_path / "x-1.tar.gz"
    with tarfile.open(path, "w:gz", format=tarfile.GNU_FORMAT) as made:
        made.addfile(*member("a\udcff"))
    assert refused(path).code == "archive-member-path"


@pytest.mark.parametrize(
    ("first", "second"),
    [("a/b", "a/b"), ("a/b", "A/B"), ("a/é", "a/e\u0301"), ("a/ß", "a/SS"), ("a", "a/b"), ("a/b", "a"), ("a", "a/")],
)
def test_two_members_never_want_the_same_place(tmp_path: Path, first: str, second: str) -> None:
    kind = {"type": tarfile.DIRTYPE} if second.endswith("/") else {}
    for path in (
        zipped(tmp_path, (first, b"1"), (second, b"" if kind else b"2")),
        tar(tmp_path / "x-1.tar.gz", [member(first, b"1"), member(second, **kind)]),
    ):
        message = f'"{path.name}" holds "{second.removesuffix("/")}" twice, or as a file and a folder'
        assert said(path) == ("archive-member-twice", message, "which of the two would be installed, nobody can say")


def test_a_folder_may_be_listed_again(tmp_path: Path) -> None:
    with opened(zipped(tmp_path, ("a/", b""), ("a/", b""), ("a/b", b""))) as archive:
        assert archive.files == ("a/b",)


def info(name: str, mode: int) -> zipfile.ZipInfo:
    made = zipfile.ZipInfo(name)
    made.create_system = 3
    made.external_attr = mode << 16
    return made


def test_a_link_in_a_wheel_is_refused(tmp_path: Path) -> None:
    path = zipped(tmp_path, (info("a/link", stat.S_IFLNK | 0o777), b"/etc/passwd"))
    assert said(path) == ("archive-member-link", f'"{path.name}" holds "a/link", which is a link', DO_NOT)


@pytest.mark.parametrize("kind", [stat.S_IFCHR, stat.S_IFBLK, stat.S_IFIFO, stat.S_IFSOCK])
def test_a_device_in_a_wheel_is_refused(tmp_path: Path, kind: int) -> None:
    path = zipped(tmp_path, (info("a/dev", kind | 0o600), b""))
    assert said(path) == ("archive-member-special", f'"{path.name}" holds "a/dev", which is no file', DO_NOT)


def test_the_rights_of_a_file_do_not_count(tmp_path: Path) -> None:
    with opened(zipped(tmp_path, (info("a", stat.S_IFREG | 0o6777), b""), (info("b", 0o755), b""))) as archive:
        assert archive.files == ("a", "b")


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE])
def test_a_link_in_an_sdist_is_refused(tmp_path: Path, kind: bytes) -> None:
    path = tar(tmp_path / "x-1.tar.gz", [member("x-1/link", type=kind, linkname="../../etc")])
    assert said(path) == ("archive-member-link", '"x-1.tar.gz" holds "x-1/link", which is a link', DO_NOT)


@pytest.mark.parametrize("kind", [tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE, tarfile.CONTTYPE, b"Z"])
def test_a_device_in_an_sdist_is_refused(tmp_path: Path, kind: bytes) -> None:
    path = tar(tmp_path / "x-1.tar.gz", [member("x-1/dev", type=kind)])
    assert said(path) == ("archive-member-special", '"x-1.tar.gz" holds "x-1/dev", which is no file', DO_NOT)


def test_a_file_with_holes_is_refused(tmp_path: Path) -> None:
    headers = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.name": "x", "GNU.sparse.realsize": "9"}
    path = tar(tmp_path / "x-1.tar.gz", [member("x-1/sparse", b"1\n0\n", pax_headers=headers)])
    assert refused(path).code == "archive-member-special"


@pytest.mark.parametrize("flag", [0x1, 0x41, 0x2000])
def test_what_is_encrypted_is_refused(tmp_path: Path, flag: int) -> None:
    path = patched(zipped(tmp_path, ("a", b"secret")), CENTRAL, 8, "<H", flag)
    assert said(path) == ("archive-encrypted", f'"{path.name}" holds "a", which is encrypted', DO_NOT)


@pytest.mark.parametrize("compression", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_what_unpacks_without_a_bound_is_refused(tmp_path: Path, compression: int) -> None:
    path = zipped(tmp_path, ("a", b"x" * 100), compression=compression)
    assert said(path) == ("archive-compression", f'"{path.name}" holds "a", which is packed in an unusual way', DO_NOT)


# -- headers of a tar file --------------------------------------------------------------------------------------------


def raw(folder: Path, data: bytes) -> Path:
    path = folder / "x-1.tar.gz"
    path.write_bytes(gzip.compress(data + b"\0" * 1024))
    return path


def header(name: str, kind: bytes, data: bytes = b"", size: int | None = None) -> bytes:
    made = tarfile.TarInfo(name)
    made.type = kind
    made.size = len(data) if size is None else size
    return made.tobuf(tarfile.GNU_FORMAT) + data + b"\0" * (-len(data) % 512)


def test_an_extended_header_is_no_larger_than_a_name_needs(tmp_path: Path) -> None:
    large = b"9" * 5000
    path = raw(tmp_path, header("pax", tarfile.XHDTYPE, large) + header("a", tarfile.REGTYPE))
    assert str(refused(path)).endswith("a header is too large")


@pytest.mark.parametrize(
    "data",
    [
        b"9", b"9 a=b\n", b"x a=b\n", b"6 a=b\nmore", b"6 a=bc", b"5 ab\n", b"1 \n", b"999999999 a=b\n",
        b"6 a=\xff\n",
    ],
)  # fmt: skip
def test_an_extended_header_that_is_malformed_is_broken(tmp_path: Path, data: bytes) -> None:
    path = raw(tmp_path, header("pax", tarfile.XHDTYPE, data) + header("a", tarfile.REGTYPE))
    assert refused(path).code == "archive-broken"


def test_headers_without_a_file_are_counted_too(tmp_path: Path) -> None:
    path = tmp_path / "x-1.tar.gz"
    path.write_bytes(gzip.compress(header("pax", tarfile.XHDTYPE, b"6 a=b\n") * 3000))
    assert said(path) == ("archive-bomb", '"x-1.tar.gz" unpacks to more than 200 times its size', DO_NOT)


@pytest.mark.parametrize("key", ["path", "size", "linkpath"])
def test_one_header_cannot_name_all_files(tmp_path: Path, key: str) -> None:
    record = f" {key}=1\n"
    data = f"{len(record) + 2 if len(record) + 1 > 9 else len(record) + 1}{record}".encode()
    path = raw(tmp_path, header("pax", tarfile.XGLTYPE, data) + header("a", tarfile.REGTYPE))
    assert str(refused(path)).endswith("one header names all files")


def test_a_size_beside_the_header_is_refused(tmp_path: Path) -> None:
    path = raw(tmp_path, header("pax", tarfile.XHDTYPE, b"10 size=1\n") + header("a", tarfile.REGTYPE))
    assert str(refused(path)).endswith("a file of more than 8 GiB")


def test_sizes_that_are_none_are_refused(tmp_path: Path) -> None:
    assert refused(raw(tmp_path, header("a", tarfile.REGTYPE, size=-512))).code == "archive-broken"
    assert refused(raw(tmp_path, header("a", tarfile.DIRTYPE, b"data"))).code == "archive-broken"
    assert refused(raw(tmp_path, header("a", tarfile.REGTYPE, size=10**12))).code == "archive-bomb"


# -- anything ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("samples")
    return {"x.whl": wheel(folder).read_bytes(), "x.tar.gz": sdist(folder).read_bytes()}


def look(path: Path) -> None:
    with contextlib.suppress(YazError), opened(path) as archive:
        archive.heads(archive.files, 1000)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    name=st.sampled_from(["x.whl", "x.tar.gz"]),
    changes=st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)), max_size=20),
    cut=st.integers(0, 200),
)
def test_no_damage_raises_anything_else(
    tmp_path: Path, samples: dict[str, bytes], name: str, changes: list[tuple[int, int]], cut: int
) -> None:
    data = bytearray(samples[name])
    for at, value in changes:
        data[at % len(data)] = value
    (tmp_path / name).write_bytes(data[: len(data) - cut])
    look(tmp_path / name)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes=st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)), max_size=20))
def test_no_damage_inside_a_tar_file_raises_anything_else(
    tmp_path: Path, samples: dict[str, bytes], changes: list[tuple[int, int]]
) -> None:
    data = bytearray(gzip.decompress(samples["x.tar.gz"]))
    for at, value in changes:
        data[at % len(data)] = value
    (tmp_path / "x.tar.gz").write_bytes(gzip.compress(bytes(data), 1))
    look(tmp_path / "x.tar.gz")


def test_a_zip_file_may_have_any_name_where_it_lies_on_the_path(tmp_path: Path) -> None:
    path = wheel(tmp_path).rename(tmp_path / "library.zip")
    with opened_zip(path) as archive:
        assert "yaz_plugin_zotero/manifest.json" in archive.files
