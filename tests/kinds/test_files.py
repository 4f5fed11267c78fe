from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yazcore.kinds import Capability, FileRequest, FsProject, FsRead, FsWrite
from yazcore.kinds.files import is_protected, is_secret, split_absolute, split_path, too_wide, too_wide_anywhere


def project(path: str, *, write: bool = False) -> FileRequest:
    return FileRequest(area="project", path=path, write=write)


# --- paths as text


@pytest.mark.parametrize(
    ("path", "parts"),
    [
        ("", ()),
        (".", ()),
        ("a", ("a",)),
        ("a/b.tex", ("a", "b.tex")),
        ("a/", ("a",)),
        ("./a/./b", ("a", "b")),
        ("a b/ü", ("a b", "ü")),
        ("..a/...", ("..a", "...")),
        ("~", ("~",)),
    ],
)
def test_a_relative_path_has_these_components(path: str, parts: tuple[str, ...]) -> None:
    assert split_path(path) == parts


@pytest.mark.parametrize(
    "path",
    [
        "/", "/a", "..", "../a", "a/..", "a/../b", "a//b", "//a", "a//", "a\0b", "a\\b", "\ud800", "/../a",
        "a/b/../../..", "a/" * 200, "a" * 5000,
    ],
)  # fmt: skip
def test_what_is_no_relative_path_has_none(path: str) -> None:
    assert split_path(path) is None


@given(st.text(alphabet="a./\\~\0", max_size=12))
def test_joining_the_components_to_a_root_stays_below_it(path: str) -> None:
    parts = split_path(path)
    if parts is not None:
        joined = os.path.normpath("/root/folder/" + "/".join(parts))
        assert joined == "/root/folder" or joined.startswith("/root/folder/")


def test_an_absolute_path_may_begin_at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    assert split_absolute("~/Zotero") == ("home", "ada", "Zotero")
    assert split_absolute("/opt/data/") == ("opt", "data")
    assert split_absolute("Zotero") is None
    assert split_absolute("~/../bob") is None
    assert split_absolute("~bob/x") is None


# --- protected names


@pytest.mark.parametrize(
    "name",
    [
        ".git", ".GIT", ".Git.", ".git ", ".g\u200cit", ".hg", ".svn", ".venv", ".env", ".env.local", ".ENVRC", ".yaz",
        ".vscode", ".idea", ".github", ".latexmkrc", "latexmkrc", "LaTeXmkrc", "Makefile", "makefile", "pyproject.toml",
        "setup.cfg", "conftest.py", "evil.pth", "EVIL.PTH",
    ],
)  # fmt: skip
def test_names_that_other_programs_act_on_are_protected_however_they_are_written(name: str) -> None:
    assert is_protected(name)


@pytest.mark.parametrize("name", ["main.tex", "git", ".gitignore", "Makefile.am", "refs.bib", "env", "pth", ".latex"])
def test_other_names_are_not_protected(name: str) -> None:
    assert not is_protected(name)


def test_only_names_that_hold_secrets_are_kept_from_reading() -> None:
    names = [".git", ".HG", ".svn", ".env", ".env.local", ".vscode", "Makefile", "main.tex"]
    assert [name for name in names if is_secret(name)] == [".git", ".HG", ".svn", ".env", ".env.local"]


@pytest.mark.parametrize("path", [".git/hooks/pre-commit", "sub/.GIT/config", "a/Makefile", "x.pth", ".yaz"])
def test_writing_a_protected_name_is_covered_at_no_depth(path: str) -> None:
    assert not FsProject(access="write").covers(project(path, write=True))


@pytest.mark.parametrize("path", [".git/config", "sub/.env", ".hg"])
def test_reading_a_secret_name_is_covered_at_no_depth(path: str) -> None:
    assert not FsProject(access="write").covers(project(path))


def test_reading_a_protected_name_that_holds_no_secret_is_covered() -> None:
    assert FsProject().covers(project("sub/Makefile"))


# --- fs-project


def test_reading_allows_no_write() -> None:
    assert FsProject().covers(project("a.tex"))
    assert not FsProject().covers(project("a.tex", write=True))


def test_writing_allows_reading() -> None:
    assert FsProject(access="write").covers(project("a.tex", write=True))
    assert FsProject(access="write").covers(project("a.tex"))


@pytest.mark.parametrize("path", ["../a", "/etc/passwd", "a/../../b", "a\0", "a//b"])
def test_what_is_no_path_in_the_project_is_not_covered(path: str) -> None:
    assert not FsProject(access="write").covers(project(path))


def test_with_paths_only_what_lies_below_one_is_covered() -> None:
    capability = FsProject(access="write", paths=("refs.bib", "build/"))
    assert capability.covers(project("refs.bib", write=True))
    assert capability.covers(project("build/out/a.pdf", write=True))
    assert not capability.covers(project("build-secrets/a"))
    assert not capability.covers(project("refs.bib.bak"))
    assert not capability.covers(project(""))


def test_without_paths_the_project_itself_is_covered() -> None:
    assert FsProject().covers(project(""))


def test_the_project_is_no_place_and_no_path() -> None:
    assert not FsProject().covers(FileRequest(area="zotero-data", path="a"))
    assert not FsProject().covers(FileRequest(area="/opt/data", path="a"))
    assert not FsRead(place="project").covers(project("a"))


@given(st.lists(st.sampled_from(["a", "b", "..", ".", "", "A"]), max_size=4).map("/".join))
def test_paths_cover_only_what_begins_with_their_components(path: str) -> None:
    if FsProject(paths=("a/b",)).covers(project(path)):
        assert (split_path(path) or ())[:2] == ("a", "b")


def test_paths_below_another_are_not_named_twice() -> None:
    assert FsProject(paths=("b/", "a/x", "./a", "b/c")).targets() == {"access": "read", "paths": ["a", "b"]}


# --- fs-read and fs-write


def test_a_place_is_covered_by_its_name() -> None:
    assert FsRead(place="zotero-data").covers(FileRequest(area="zotero-data", path="zotero.sqlite"))
    assert not FsRead(place="zotero-data").covers(FileRequest(area="zotero", path="zotero.sqlite"))


def test_a_folder_is_covered_by_components() -> None:
    capability = FsRead(path="/opt/data")
    assert capability.covers(FileRequest(area="/opt/data"))
    assert capability.covers(FileRequest(area="/opt/data/a/b"))
    assert capability.covers(FileRequest(area="/opt/data/a", path="b"))
    assert not capability.covers(FileRequest(area="/opt/data-secrets/a"))
    assert not capability.covers(FileRequest(area="/opt"))
    assert not capability.covers(FileRequest(area="/opt/data/../x"))


def test_a_folder_at_home_is_the_same_written_in_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    assert FsRead(path="~/Zotero").covers(FileRequest(area="/home/ada/Zotero/a"))
    assert FsRead(path="/home/ada/Zotero").covers(FileRequest(area="~/Zotero/a"))


def test_only_fs_write_covers_writing() -> None:
    request = FileRequest(area="notes", path="a", write=True)
    assert not FsRead(place="notes").covers(request)
    assert FsWrite(place="notes").covers(request)
    assert FsWrite(place="notes").covers(FileRequest(area="notes", path="a"))


def test_a_request_names_its_target_as_a_person_would() -> None:
    assert project("a.tex").target == "a.tex"
    assert project("").target == "."
    assert FileRequest(area="zotero-data", path="a").target == "zotero-data:a"
    assert FileRequest(area="~/Zotero", path="a").target == "~/Zotero/a"


def test_a_request_says_what_is_wrong_with_its_path() -> None:
    assert project("a").fault() == ""
    assert project("../a").fault() == (
        "a path is relative, with / between its parts, without .., empty parts, backslashes and NUL"
    )
    assert FileRequest(area="/a/../b").fault() == "an absolute path is without .., empty parts, backslashes and NUL"


# --- what may not be granted


@pytest.mark.parametrize("home", ["/home/ada", "/root", "/Users/ada"])
def test_no_folder_that_holds_the_home_folder_may_be_granted(home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", home)
    for path in ("~", "~/", home, os.path.dirname(home), "/"):
        assert too_wide(path) == "it holds your whole home folder"


@pytest.mark.parametrize(
    "path",
    [
        "/etc", "/etc/ssl", "/proc", "/proc/self", "/dev/shm", "/usr", "/var", "/tmp", "/mnt", "/run/user/7", "/opt",
        "/usr/bin", "/usr/sbin", "/usr/lib", "/usr/lib/python3.11", "/usr/lib64", "/usr/libexec/x", "/usr/local/bin",
        "/usr/local/lib/python3.13/site-packages", "/usr/local/sbin",
    ],
)  # fmt: skip
def test_no_folder_of_the_system_may_be_granted(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    assert too_wide(path) == "it belongs to the system"


def test_no_folder_of_keys_may_be_granted() -> None:
    assert too_wide("~/.ssh") == "it holds your keys"
    assert too_wide("~/.gnupg/private-keys-v1.d") == "it holds your keys"


@pytest.mark.parametrize("home", ["/home/ada", "/data/ada", "relative", "/"])
@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("/home/bea", "it holds your whole home folder"), ("/Users/bea/", "it holds your whole home folder"),
        ("/root", "it holds your whole home folder"), ("~", "it holds your whole home folder"),
        ("/home/bea/.ssh/keys", "it holds your keys"), ("~/.gnupg", "it holds your keys"),
        ("/home", "it belongs to the system"), ("/etc/x", "it belongs to the system"),
        ("/", "it belongs to the system"),
        ("/home/bea/Zotero", ""), ("/root/x", ""), ("~/Zotero", ""), ("/data/ada", ""), ("/homes/bea", ""),
        ("home/bea", "it is not an absolute path"), ("/a/../b", "it is not an absolute path"),
    ],
)  # fmt: skip
def test_what_may_be_granted_on_no_machine_does_not_depend_on_this_one(
    home: str, path: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", home)
    assert too_wide_anywhere(path) == why


@pytest.mark.parametrize("path", ["~/Zotero", "/opt/data", "/mnt/disk/library", "/srv/x", "/data"])
def test_a_folder_for_one_purpose_may_be_granted(path: str) -> None:
    assert too_wide(path) == ""


@pytest.mark.parametrize(
    "folder",
    [
        "~/.config/autostart", "/home/bea/.config/autostart/x", "~/.config", "~/.local", "~/bin", "/root/bin/x",
        "~/.local/lib/python3.11/site-packages", "~/.config/systemd/user", "/Users/bea/Library/LaunchAgents",
    ],
)  # fmt: skip
def test_no_folder_that_programs_are_run_from_may_be_written(folder: str) -> None:
    for asked, where in ((FsWrite(path=folder), ("path",)), (FsWrite(place="a", suggest=(folder,)), ("suggest", 0))):
        (fault,) = asked.faults()
        assert (fault.code, fault.path) == ("capability-path-too-wide", where)
        assert fault.message == f"{folder!r} can be written by no plugin: programs are run from it"
    assert list(FsRead(path=folder).faults()) == []


@pytest.mark.parametrize("folder", ["~/binder", "~/.config/app", "~/.local/share/app", "/srv/bin", "/home/bea/x/bin"])
def test_a_folder_with_a_name_like_theirs_may_be_written(folder: str) -> None:
    assert list(FsWrite(path=folder).faults()) == []


FAULTS: list[tuple[Capability, str, tuple[str | int, ...]]] = [
    (FsProject(paths=()), "capability-empty", ("paths",)),
    (FsProject(paths=("",)), "capability-empty", ("paths", 0)),
    (FsProject(paths=("a", "*.bib")), "capability-wildcard", ("paths", 1)),
    (FsProject(paths=("/a",)), "capability-path", ("paths", 0)),
    (FsProject(paths=("../a",)), "capability-path", ("paths", 0)),
    (FsProject(paths=("a//b",)), "capability-path", ("paths", 0)),
    (FsProject(paths=("a\0",)), "capability-path", ("paths", 0)),
    (FsProject(paths=("a\x1b[2J",)), "capability-path", ("paths", 0)),
    (FsProject(paths=(".",)), "capability-path", ("paths", 0)),
    (FsProject(access="write", paths=("Makefile",)), "capability-path-protected", ("paths", 0)),
    (FsProject(paths=(".git/config",)), "capability-path-protected", ("paths", 0)),
    (FsRead(), "capability-target", ()),
    (FsRead(path="~/a", place="a"), "capability-target", ()),
    (FsRead(path=""), "capability-empty", ("path",)),
    (FsRead(path="a"), "capability-path", ("path",)),
    (FsRead(path="~bob/a"), "capability-path", ("path",)),
    (FsRead(path="~/*"), "capability-wildcard", ("path",)),
    (FsRead(path="~/../a"), "capability-path", ("path",)),
    (FsRead(path="~"), "capability-path-too-wide", ("path",)),
    (FsWrite(path="/"), "capability-path-too-wide", ("path",)),
    (FsWrite(path="/etc/yaz"), "capability-path-too-wide", ("path",)),
    (FsRead(place=""), "capability-empty", ("place",)),
    (FsRead(place="*"), "capability-wildcard", ("place",)),
    (FsRead(place="project"), "capability-place", ("place",)),
    (FsRead(place="/opt"), "capability-place", ("place",)),
    (FsRead(path="~/a", suggest=("~/b",)), "capability-target", ("suggest",)),
    (FsRead(place="a", suggest=()), "capability-empty", ("suggest",)),
    (FsRead(place="a", suggest=("~/b", "/")), "capability-path-too-wide", ("suggest", 1)),
    (FsRead(place="a", suggest=("~/*",)), "capability-wildcard", ("suggest", 0)),
]


@pytest.mark.parametrize(("capability", "code", "path"), FAULTS)
def test_a_fault_has_its_code_and_its_place(capability: Capability, code: str, path: tuple[str | int, ...]) -> None:
    assert [(fault.code, fault.path) for fault in capability.faults()] == [(code, path)]


def test_a_protected_name_may_be_listed_for_reading() -> None:
    assert list(FsProject(paths=("pyproject.toml",)).faults()) == []


def test_what_is_suggested_for_a_place_is_no_target() -> None:
    assert FsRead(place="a", suggest=("~/b",)).identity == 'fs-read {"place": "a"}'


def test_a_path_written_differently_is_the_same() -> None:
    assert FsRead(path="~/a/./b/").identity == FsRead(path="~/a/b").identity == 'fs-read {"path": "~/a/b"}'
