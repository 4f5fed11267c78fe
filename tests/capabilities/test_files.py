from __future__ import annotations

import os
import socket
import stat
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.capabilities.conftest import Project, Setup
from yazcore.capabilities.context import Awaitable, Context
from yazcore.capabilities.errors import CapabilityError, NoContext, ServiceError
from yazcore.capabilities.services import FileService, beneath, content, files
from yazcore.kinds import FsProject, FsRead, FsWrite

READ = FsProject()
WRITE = FsProject(access="write")


@pytest.fixture(params=["openat2", "walk"], autouse=True)
def _way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything here holds for both ways of opening files."""
    if request.param == "walk":
        monkeypatch.setattr(beneath, "has_openat2", lambda: False)
    elif not beneath.has_openat2():
        pytest.skip("this kernel has no openat2 for us")


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """What lies beside the project, and links in the project that lead there."""
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "secret").write_text("secret")
    (tmp_path / "thesis-secrets").mkdir()
    (tmp_path / "thesis-secrets/secret").write_text("secret")
    return folder


def refused(setup: Setup, act: Callable[[FileService], object], *, posture: str = "write") -> CapabilityError:
    """What `act` is refused with; exactly one denial must have been recorded for it."""
    before = len(setup.recorded())
    service = setup.files()
    with setup.call("write" if posture == "write" else "read"), pytest.raises(CapabilityError) as caught:
        act(service)
    error = caught.value
    assert setup.recorded()[before:] == [(error.kind, error.target, error.reason)]
    assert_no_path(setup, str(error))
    return error


def failed(setup: Setup, act: Callable[[FileService], object]) -> ServiceError:
    with setup.call(), pytest.raises(ServiceError) as caught:
        act(setup.files())
    assert_no_path(setup, str(caught.value))
    return caught.value


def assert_no_path(setup: Setup, text: str) -> None:
    assert str(setup.project.root.parent) not in text


# --- reading


def test_a_file_of_the_project_is_read(setup: Setup, root: Path) -> None:
    setup.hold(READ)
    (root / "sub").mkdir()
    (root / "sub/main.tex").write_bytes("Grüße\r\n".encode())
    with setup.call("read"):
        assert setup.files().read_text("sub/main.tex") == "Grüße\r\n"
        assert setup.files().read_bytes("./sub/main.tex") == "Grüße\r\n".encode()
    assert setup.recorded() == []


def test_text_may_be_in_another_encoding(setup: Setup, root: Path) -> None:
    setup.hold(READ)
    (root / "a.tex").write_bytes("ü".encode("latin-1"))
    with setup.call():
        assert setup.files().read_text("a.tex", encoding="latin-1") == "ü"
    assert failed(setup, lambda files: files.read_text("a.tex")).code == "file-not-text"
    assert failed(setup, lambda files: files.read_text("a.tex", encoding="klingon")).code == "encoding-unknown"


def test_a_file_that_is_not_there_is_not_found(setup: Setup, root: Path) -> None:
    setup.hold(READ)
    (root / "a.tex").write_text("a")
    for path in ("b.tex", "sub/b.tex", "a.tex/b"):
        error = failed(setup, lambda files, path=path: files.read_text(path))
        assert (error.code, error.message) == ("file-not-found", f"there is no file {path}")


def test_a_folder_is_no_file(setup: Setup, root: Path) -> None:
    setup.hold(WRITE)
    (root / "sub").mkdir()
    for act in (
        lambda files: files.read_text("sub"),
        lambda files: files.read_text(""),
        lambda files: files.revision("sub"),
        lambda files: files.write_text("sub", "x"),
        lambda files: files.write_text("", "x"),
        lambda files: files.copy(["sub"]),
    ):
        assert failed(setup, act).code == "file-is-folder"


def test_a_file_over_the_limit_is_too_large(setup: Setup, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(content, "READ_LIMIT", 10)
    monkeypatch.setattr(files, "READ_LIMIT", 10)
    setup.hold(WRITE)
    (root / "a").write_text("a" * 11)
    (root / "b").write_text("b" * 10)
    error = failed(setup, lambda files: files.read_text("a"))
    assert (error.code, error.message) == ("file-too-large", "a is larger than 10 bytes")
    assert failed(setup, lambda files: files.write_text("c", "c" * 11)).code == "file-too-large"
    assert not (root / "c").exists()
    with setup.call():
        assert setup.files().read_text("b") == "b" * 10


def test_the_limit_is_64_mebibytes() -> None:
    assert content.READ_LIMIT == files.READ_LIMIT == 64 * 1024 * 1024


def test_a_revision_follows_the_content(setup: Setup, root: Path) -> None:
    setup.hold(READ)
    with setup.call():
        service = setup.files()
        assert service.revision("a") is None
        assert service.revision("sub/a") is None
        (root / "a").write_text("hello")
        assert service.revision("a") == "2cf24dba5fb0a30e"
        (root / "a").write_text("hello!")
        assert service.revision("a") != "2cf24dba5fb0a30e"


def test_the_status_of_a_file_and_a_folder(setup: Setup, root: Path) -> None:
    setup.hold(READ)
    (root / "a").write_text("hello")
    with setup.call():
        service = setup.files()
        assert service.stat("a") == {"kind": "file", "size": 5, "mtime_ns": (root / "a").stat().st_mtime_ns}
        for path in ("", "."):
            found = service.stat(path)
            assert found is not None
            assert found["kind"] == "folder"
        assert service.stat("b") is None
        assert service.stat("a/b") is None


# --- containment


ESCAPES = [
    "../outside/secret", "sub/../../outside/secret", "a/../../escaped", "../escaped", "sub/../../../../etc/passwd",
    "../thesis-secrets/secret", "..", "a//b", "a\0b", "\ud800", "a\\b",
]  # fmt: skip


@pytest.mark.parametrize("path", ESCAPES)
@pytest.mark.parametrize("method", ["read_text", "revision", "stat", "list", "write", "copy"])
def test_a_path_that_is_not_strictly_inside_is_out_of_scope(
    setup: Setup, outside: Path, path: str, method: str
) -> None:
    setup.hold(WRITE)

    def act(files: FileService) -> object:
        if method == "write":
            return files.write_text(path, "x")
        return files.copy([path]) if method == "copy" else getattr(files, method)(path)

    error = refused(setup, act)
    assert (error.kind, error.target, error.reason) == ("fs-project", path, "out-of-scope")
    beside = {entry.name for entry in outside.parent.iterdir()}
    assert beside == {"outside", "thesis", "thesis-secrets", "yaz-home"}


def test_an_absolute_path_is_not_the_project_even_inside_it(setup: Setup, root: Path) -> None:
    (root / "a").write_text("a")
    setup.hold(WRITE)
    assert refused(setup, lambda files: files.read_text(f"{root}/a")).reason == "not-declared"
    setup.hold(WRITE, FsRead(path="/opt/data"))
    assert refused(setup, lambda files: files.read_text("/etc/passwd")).reason == "out-of-scope"


LINKS = {
    "folder": "../outside", "file": "../outside/secret", "new": "../outside/new", "nothing": "missing",
    "absolute": "/etc/passwd", "loop": "loop", "round": "sub/round", "sub/round": "../round",
    "deep": "sub/../../outside",
}  # fmt: skip
THROUGH = {
    "folder/secret": "a link leads out of the folder",
    "folder": "a link leads out of the folder",
    "file": "a link leads out of the folder",
    "new": "a link leads out of the folder",
    "folder/newer": "a link leads out of the folder",
    "deep/secret": "a link leads out of the folder",
    "nothing": "a link leads to nothing",
    "nothing/x": "a link leads to nothing",
    "absolute": "a link leads to an absolute path",
    "loop": "links lead in circles",
    "round/x": "links lead in circles",
}


@pytest.fixture
def linked(root: Path, outside: Path) -> None:
    (root / "sub").mkdir()
    for name, target in LINKS.items():
        (root / name).symlink_to(target)


@pytest.mark.usefixtures("linked")
@pytest.mark.parametrize("path", THROUGH)
@pytest.mark.parametrize("method", ["read_bytes", "revision", "stat", "list", "write", "copy"])
def test_a_link_that_leaves_or_leads_nowhere_is_out_of_scope(
    setup: Setup, outside: Path, path: str, method: str
) -> None:
    setup.hold(WRITE)

    def act(files: FileService) -> object:
        if method == "write":
            return files.write_bytes(path, b"x")
        return files.copy([path]) if method == "copy" else getattr(files, method)(path)

    error = refused(setup, act)
    assert (error.target, error.reason, error.detail) == (path, "out-of-scope", THROUGH[path])
    assert [entry.name for entry in outside.iterdir()] == ["secret"]
    assert (outside / "secret").read_text() == "secret"


def test_a_link_that_stays_inside_is_followed(setup: Setup, root: Path) -> None:
    setup.hold(WRITE)
    (root / "shared").mkdir()
    (root / "shared/refs.bib").write_text("@book{a}")
    (root / "refs.bib").symlink_to("shared/refs.bib")
    (root / "s").symlink_to("shared")
    with setup.call():
        service = setup.files()
        assert service.read_text("refs.bib") == service.read_text("s/refs.bib") == "@book{a}"
        service.write_text("refs.bib", "@book{b}")
        service.write_text("s/new", "new")
    assert (root / "refs.bib").is_symlink()
    assert (root / "shared/refs.bib").read_text() == "@book{b}"
    assert (root / "shared/new").read_text() == "new"


def test_a_link_does_not_lead_to_what_is_protected(setup: Setup, root: Path) -> None:
    setup.hold(WRITE)
    (root / ".git/hooks").mkdir(parents=True)
    (root / ".env").write_text("KEY=1")
    (root / "notes").symlink_to(".env")
    (root / "hooks").symlink_to(".git/hooks")
    (root / "build").symlink_to("Makefile.d")
    (root / "Makefile.d").mkdir()
    assert refused(setup, lambda files: files.read_text("notes")).target == "notes"
    assert refused(setup, lambda files: files.write_text("hooks/pre-commit", "#!/bin/sh")).reason == "out-of-scope"
    assert list((root / ".git/hooks").iterdir()) == []
    with setup.call():
        setup.files().write_text("build/x", "x")


def test_a_link_does_not_lead_out_of_the_granted_paths(setup: Setup, root: Path) -> None:
    setup.hold(FsProject(access="write", paths=("build",)))
    (root / "build").mkdir()
    (root / "main.tex").write_text("main")
    (root / "build/main").symlink_to("../main.tex")
    assert refused(setup, lambda files: files.read_text("build/main")).reason == "out-of-scope"
    assert refused(setup, lambda files: files.write_text("build/main", "x")).reason == "out-of-scope"
    assert (root / "main.tex").read_text() == "main"


@pytest.mark.parametrize(
    "path",
    [".git/hooks/pre-commit", ".GIT/config", "sub/.vscode/tasks.json", "Makefile", "a.pth", ".latexmkrc", ".env"],
)
def test_a_protected_name_is_never_written_whether_or_not_it_exists(setup: Setup, root: Path, path: str) -> None:
    setup.hold(WRITE)
    assert refused(setup, lambda files: files.write_text(path, "x")).reason == "out-of-scope"
    assert list(root.iterdir()) == []


def test_a_root_given_through_a_link_is_the_project(setup: Setup, root: Path) -> None:
    (root / "a").write_text("a")
    link = root.parent / "link"
    link.symlink_to(root)
    setup.project = Project(link)
    setup.hold(WRITE)
    with setup.call():
        assert setup.files().read_text("a") == "a"


def test_a_root_that_is_gone_is_out_of_scope(setup: Setup, root: Path) -> None:
    setup.hold(WRITE)
    root.rmdir()
    for act in (lambda files: files.stat("a"), lambda files: files.write_text("a", "x"), lambda files: files.list()):
        error = refused(setup, act)
        assert error.reason == "out-of-scope"
        assert error.detail == "the project's folder cannot be opened: No such file or directory"
    assert not root.exists()


def test_what_is_no_regular_file_is_out_of_scope(setup: Setup, root: Path) -> None:
    setup.hold(WRITE)
    os.mkfifo(root / "fifo")
    place = os.open(root, os.O_RDONLY)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"/proc/self/fd/{place}/socket")
        for name in ("fifo", "socket"):
            for act in (
                lambda files, name=name: files.read_bytes(name),
                lambda files, name=name: files.revision(name),
                lambda files, name=name: files.write_text(name, "x"),
                lambda files, name=name: files.copy([name]),
            ):
                error = refused(setup, act)
                assert (error.reason, error.detail) == ("out-of-scope", "it is no regular file")
            assert refused(setup, lambda files, name=name: files.stat(name)).reason == "out-of-scope"
    os.close(place)


def test_without_a_project_nothing_is_covered(setup: Setup) -> None:
    setup.hold(WRITE)
    with setup.call(project=False), pytest.raises(CapabilityError) as caught:
        setup.files().read_text("a")
    assert (caught.value.reason, caught.value.detail) == ("out-of-scope", "this call is about no project")
    assert setup.recorded() == [("fs-project", "a", "out-of-scope")]


def test_another_project_is_another_root_at_once(setup: Setup, root: Path, tmp_path: Path) -> None:
    setup.hold(READ)
    other = tmp_path / "other"
    other.mkdir()
    (root / "a").write_text("one")
    (other / "b").write_text("two")
    service = setup.files()
    with setup.call():
        assert service.read_text("a") == "one"
    setup.project = Project(other, id="prj_bbbbbbbbbbbb")
    with setup.call():
        assert service.stat("a") is None
        assert service.read_text("b") == "two"


def test_without_a_context_there_is_no_service(setup: Setup) -> None:
    setup.hold(WRITE)
    service = setup.files()
    for act in (
        lambda: service.read_text("a"),
        lambda: service.write_text("a", "x"),
        lambda: service.stat("a"),
        lambda: service.list(),
        lambda: service.copy([]),
        lambda: service.revision("a"),
    ):
        with pytest.raises(NoContext):
            act()


def test_a_thread_of_the_plugins_own_has_no_context(setup: Setup, root: Path) -> None:
    setup.hold(READ)
    (root / "a").write_text("a")
    service = setup.files()
    caught: list[BaseException] = []

    def work() -> None:
        try:
            service.read_text("a")
        except NoContext as error:
            caught.append(error)

    with setup.call():
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert len(caught) == 1


def test_the_three_reasons_are_all_reachable(setup: Setup) -> None:
    assert refused(setup, lambda files: files.read_text("a")).reason == "not-declared"
    setup.declared = (READ,)
    assert refused(setup, lambda files: files.read_text("a")).reason == "not-granted"
    setup.hold(READ)
    assert refused(setup, lambda files: files.write_text("a", "x")).reason == "out-of-scope"


def test_a_call_that_reads_writes_nothing(setup: Setup, root: Path) -> None:
    setup.hold(WRITE)
    error = refused(setup, lambda files: files.write_text("a", "x"), posture="read")
    assert (error.reason, error.detail) == ("out-of-scope", "it runs with posture read, which changes nothing")
    assert list(root.iterdir()) == []


INSIDE = st.lists(
    st.sampled_from(["a", "sub", "..", ".", "", "folder", "file", "absolute", "deep", "secret", "round", "\0", "~"]),
    max_size=5,
).map("/".join)


@pytest.mark.usefixtures("linked")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(path=INSIDE)
def test_no_generated_path_reads_or_writes_outside(setup: Setup, outside: Path, root: Path, path: str) -> None:
    (root / "sub/a").write_text("inside")
    setup.hold(WRITE)
    service = setup.files()
    with setup.call():
        for act in (lambda: service.read_text(path), lambda: service.write_text(path, "inside")):
            try:
                result = act()
            except (CapabilityError, ServiceError):
                continue
            assert result in ("inside", content.revision_of(b"inside"))
    assert [(entry.name, entry.read_text()) for entry in outside.iterdir()] == [("secret", "secret")]


# --- writing


def test_a_file_is_written_with_the_folders_it_needs(setup: Setup, root: Path) -> None:
    setup.hold(WRITE)
    with setup.call():
        revision = setup.files().write_text("new/deep/a.tex", "Grüße")
        assert setup.files().revision("new/deep/a.tex") == revision == content.revision_of("Grüße".encode())
    assert (root / "new/deep/a.tex").read_bytes() == "Grüße".encode()
    assert [path.name for path in (root / "new/deep").iterdir()] == ["a.tex"]


def test_the_mode_of_a_file_stays(setup: Setup, root: Path) -> None:
    setup.hold(WRITE)
    (root / "run").write_text("old")
    (root / "run").chmod(0o750)
    with setup.call():
        setup.files().write_text("run", "new")
    assert stat.S_IMODE((root / "run").stat().st_mode) == 0o750


def test_a_read_only_file_stays_as_it_is(setup: Setup, root: Path) -> None:
    setup.hold(WRITE)
    (root / "a").write_text("old")
    (root / "a").chmod(0o444)
    assert failed(setup, lambda files: files.write_text("a", "new")).code == "file-read-only"
    assert (root / "a").read_text() == "old"


def test_an_expected_revision_is_replaced(setup: Setup, root: Path) -> None:
    setup.hold(WRITE)
    with setup.call():
        service = setup.files()
        first = service.write_text("a", "one", expect="absent")
        second = service.write_text("a", "two", expect=first)
        assert second == service.revision("a")
    assert (root / "a").read_text() == "two"


def test_another_revision_than_expected_is_left_alone(setup: Setup, root: Path) -> None:
    setup.hold(WRITE)
    (root / "a").write_text("theirs")
    for path, expect in (("a", "absent"), ("a", "0" * 16), ("b", "0" * 16), ("new/b", "0" * 16)):
        error = failed(setup, lambda files, path=path, expect=expect: files.write_text(path, "mine", expect=expect))
        assert error.code == "files-changed"
        assert error.message == f"{path} is not as expected: read it again and decide anew"
    assert [(path.name, path.read_text()) for path in root.iterdir()] == [("a", "theirs")]


def test_of_writers_that_expect_the_same_revision_one_wins(setup: Setup, root: Path) -> None:
    setup.hold(WRITE)
    (root / "a").write_text("0")
    start = threading.Barrier(4)
    won: list[str] = []
    lost: list[str] = []

    def work(name: str) -> None:
        service = setup.files()  # two services of one file share its lock
        with setup.call():
            expect = service.revision("a")
            start.wait()
            try:
                service.write_text("a", name, expect=expect)
            except ServiceError as error:
                lost.append(error.code)
            else:
                won.append(name)

    threads = [threading.Thread(target=work, args=(name,)) for name in "1234"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert won == [(root / "a").read_text()]
    assert lost == ["files-changed"] * 3


def test_half_a_character_is_no_text(setup: Setup, root: Path) -> None:
    setup.hold(WRITE)
    assert failed(setup, lambda files: files.write_text("a", "\ud800")).code == "file-not-text"
    assert list(root.iterdir()) == []


def test_a_file_in_the_way_of_a_folder_is_said(setup: Setup, root: Path) -> None:
    setup.hold(WRITE)
    (root / "a").write_text("a")
    error = failed(setup, lambda files: files.write_text("a/b", "x"))
    assert (error.code, error.message) == ("not-a-folder", "a/b is no folder, or something on the way to it is none")


def test_a_name_that_is_too_long_is_said(setup: Setup) -> None:
    setup.hold(WRITE)
    assert failed(setup, lambda files: files.write_text("a" * 300, "x")).code == "file-name-too-long"


# --- listing


def test_a_listing_is_sorted_and_leaves_out_what_may_not_be_used(setup: Setup, root: Path, outside: Path) -> None:
    setup.hold(WRITE)
    for folder in ("sub/deep", ".git/hooks", ".vscode"):
        (root / folder).mkdir(parents=True)
    for name in ("main.tex", "sub/b.tex", "sub/deep/c.tex", "sub/a.tex", ".env", "sub/.env", "Makefile", "sub/x.pth"):
        (root / name).write_text("12345")
    os.mkfifo(root / "fifo")
    for name, target in {
        "in": "sub", "in-file": "sub/a.tex", "out": "../outside", "gone": "missing", "env": ".env", "self": ".",
        "make": "Makefile",
    }.items():  # fmt: skip
        (root / name).symlink_to(target)
    (root / os.fsdecode(b"\xff")).write_text("no name that could be given back")
    with setup.call("read"):
        assert setup.files().list() == [
            {"path": "in", "kind": "folder", "size": 0},
            {"path": "in-file", "kind": "file", "size": 5},
            {"path": "main.tex", "kind": "file", "size": 5},
            {"path": "self", "kind": "folder", "size": 0},
            {"path": "sub", "kind": "folder", "size": 0},
        ]
        assert [entry["path"] for entry in setup.files().list(recursive=True)] == [
            "in", "in-file", "main.tex", "self", "sub", "sub/a.tex", "sub/b.tex", "sub/deep", "sub/deep/c.tex",
        ]  # fmt: skip
        assert [entry["path"] for entry in setup.files().list("sub/")] == ["sub/a.tex", "sub/b.tex", "sub/deep"]
        assert [entry["path"] for entry in setup.files().list("in")] == ["in/a.tex", "in/b.tex", "in/deep"]
    assert setup.recorded() == []


def test_every_path_of_a_listing_can_be_read(setup: Setup, root: Path) -> None:
    setup.hold(READ)
    (root / "a/b").mkdir(parents=True)
    (root / "a/b/c").write_text("c")
    (root / "d").symlink_to("a")
    with setup.call("read"):
        service = setup.files()
        paths = [one["path"] for one in (*service.list(recursive=True), *service.list("d/b")) if one["kind"] == "file"]
        assert paths == ["a/b/c", "d/b/c"]
        assert [service.read_text(path) for path in paths] == ["c", "c"]


def test_a_listing_over_the_limit_is_refused_not_cut(
    setup: Setup, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "LIST_LIMIT", 3)
    setup.hold(READ)
    for name in "abc":
        (root / name).write_text("x")
    with setup.call():
        assert len(setup.files().list()) == 3
    (root / "d").write_text("x")
    error = failed(setup, lambda files: files.list())
    assert error.code == "folder-too-large"
    assert error.message == ". holds more than 3 entries: list one of the folders in it"


def test_a_file_is_no_listing(setup: Setup, root: Path) -> None:
    setup.hold(READ)
    (root / "a").write_text("a")
    assert failed(setup, lambda files: files.list("a")).code == "not-a-folder"
    assert failed(setup, lambda files: files.list("b")).code == "file-not-found"


def test_with_granted_paths_only_those_folders_are_listed(setup: Setup, root: Path) -> None:
    setup.hold(FsProject(paths=("build",)))
    (root / "build").mkdir()
    (root / "build/a").write_text("a")
    with setup.call():
        assert [entry["path"] for entry in setup.files().list("build")] == ["build/a"]
    assert refused(setup, lambda files: files.list()).reason == "out-of-scope"


# --- places and paths outside the project


@pytest.fixture
def library(tmp_path: Path) -> Path:
    folder = tmp_path / "Zotero"
    folder.mkdir()
    (folder / "zotero.sqlite").write_text("db")
    (folder / ".env").write_text("a place is the user's own choice")
    return folder


def test_a_place_is_read_and_not_written(setup: Setup, library: Path) -> None:
    setup.hold(FsRead(place="zotero-data"), places={"zotero-data": library})
    with setup.call(project=False):
        service = setup.files()
        assert service.read_text("zotero.sqlite", place="zotero-data") == "db"
        assert [entry["path"] for entry in service.list(place="zotero-data")] == [".env", "zotero.sqlite"]
    error = refused(setup, lambda files: files.write_text("a", "x", place="zotero-data"))
    assert (error.kind, error.target, error.reason) == ("fs-read", "zotero-data:a", "out-of-scope")
    assert refused(setup, lambda files: files.read_text("../x", place="zotero-data")).reason == "out-of-scope"
    assert refused(setup, lambda files: files.read_text("/etc/passwd", place="zotero-data")).reason == "out-of-scope"


def test_a_place_for_writing_is_written(setup: Setup, library: Path) -> None:
    setup.hold(FsWrite(place="notes"), places={"notes": library})
    with setup.call():
        setup.files().write_text("a", "x", place="notes")
    assert (library / "a").read_text() == "x"


def test_a_place_that_no_folder_is_bound_to_says_what_the_user_can_do(setup: Setup) -> None:
    setup.hold(FsRead(place="zotero-data"))
    error = refused(setup, lambda files: files.read_text("a", place="zotero-data"))
    assert error.reason == "not-granted"
    assert error.detail == (
        "no folder is bound to zotero-data; the user can do it with: yaz grant zotero fs-read --place zotero-data=DIR"
    )


def test_a_place_that_the_manifest_does_not_name_is_out_of_scope(setup: Setup, library: Path) -> None:
    setup.hold(FsRead(place="zotero-data"), places={"zotero-data": library, "other": library})
    assert refused(setup, lambda files: files.read_text("zotero.sqlite", place="other")).reason == "out-of-scope"


def test_a_place_that_is_gone_is_out_of_scope(setup: Setup, library: Path, tmp_path: Path) -> None:
    setup.hold(FsRead(place="zotero-data"), places={"zotero-data": tmp_path / "gone"})
    error = refused(setup, lambda files: files.stat("a", place="zotero-data"))
    assert error.detail == "the folder of zotero-data cannot be opened: No such file or directory"


def test_a_place_bound_to_too_much_is_out_of_scope(setup: Setup, tmp_path: Path) -> None:
    (tmp_path / "everything").symlink_to("/")
    setup.hold(FsRead(place="data"), places={"data": tmp_path / "everything"})
    error = refused(setup, lambda files: files.read_text("etc/hostname", place="data"))
    assert error.reason == "out-of-scope"
    assert error.detail == "the folder of data can be granted to no plugin: it holds your whole home folder"


@pytest.mark.parametrize("by", ["place", "path"])
def test_where_python_imports_from_nothing_is_written(
    setup: Setup, library: Path, by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A `.pth` there would be run by the host at its next start, past every boundary."""
    monkeypatch.syspath_prepend(library)
    writing, place = (FsWrite(place="data"), "data") if by == "place" else (FsWrite(path=str(library)), None)
    setup.hold(writing, places={"data": library})
    file = "evil.pth" if place else f"{library}/evil.pth"
    error = refused(setup, lambda files: files.write_text(file, "import os", place=place))
    assert error.reason == "out-of-scope"
    what = "the folder of data" if place else "the folder"
    assert error.detail == f"{what} can be written by no plugin: programs are run from it"
    assert not (library / "evil.pth").exists()
    setup.hold(FsRead(place="data"), FsRead(path=str(library)), places={"data": library})
    with setup.call():
        assert setup.files().read_text("zotero.sqlite" if place else f"{library}/zotero.sqlite", place=place) == "db"


def test_a_project_that_python_imports_from_is_written(
    setup: Setup, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which projects are open is the user's choice; start-up files are protected names in it."""
    monkeypatch.syspath_prepend(root)
    setup.hold(FsProject(access="write"))
    with setup.call():
        setup.files().write_text("a.typ", "= A")
    assert refused(setup, lambda files: files.write_text("evil.pth", "import os")).reason == "out-of-scope"


@pytest.mark.parametrize("below", ["", "data", ".."])
def test_no_place_reaches_the_applications_own_files(setup: Setup, below: str) -> None:
    setup.home.write_json("run.json", {"token": "t"})
    setup.home.plugin_data("zotero")
    setup.hold(FsRead(place="data"), places={"data": setup.home.folder / below})
    service = setup.files(closed=[setup.home.folder])
    with setup.call(), pytest.raises(CapabilityError) as caught:
        service.list(place="data")
    assert caught.value.detail == "the folder of data can be granted to no plugin: it holds the application's own files"


def test_a_path_is_read_below_the_granted_folder(setup: Setup, library: Path) -> None:
    setup.hold(FsRead(path=str(library)))
    with setup.call(project=False):
        service = setup.files()
        assert service.read_text(f"{library}/zotero.sqlite") == "db"
        assert service.list(str(library))[1]["path"] == f"{library}/zotero.sqlite"
    assert refused(setup, lambda files: files.read_text(f"{library}-too/a")).reason == "out-of-scope"
    assert refused(setup, lambda files: files.read_text(f"{library}/../outside/a")).reason == "out-of-scope"


def test_a_path_at_home_is_read(setup: Setup) -> None:
    folder = Path.home() / "Notes/sub"
    folder.mkdir(parents=True)
    (folder / "a").write_text("a")
    (folder.parent / "out").symlink_to("../")
    setup.hold(FsWrite(path="~/Notes"))
    with setup.call(project=False):
        service = setup.files()
        assert service.read_text("~/Notes/sub/a") == service.read_text(f"{folder}/a") == "a"
        assert [entry["path"] for entry in service.list("~/Notes", recursive=True)] == ["~/Notes/sub", "~/Notes/sub/a"]
        service.write_text("~/Notes/b", "b")
    error = refused(setup, lambda files: files.read_text("~/Notes/out/a"))
    assert (error.target, error.detail) == ("~/Notes/out/a", "a link leads out of the folder")


def test_an_error_about_an_absolute_path_does_not_repeat_it(setup: Setup, library: Path) -> None:
    setup.hold(FsWrite(path=str(library)))
    (library / "binary").write_bytes(b"\xff")
    assert str(failed(setup, lambda files: files.read_text(f"{library}/a/b"))) == "there is no file a/b"
    assert str(failed(setup, lambda files: files.read_text(f"{library}/binary"))) == "binary is no utf-8 text"
    assert str(failed(setup, lambda files: files.read_text(str(library)))) == "the folder is a folder"
    for act in (
        lambda files: files.write_text(f"{library}/a", "\ud800"),
        lambda files: files.list(f"{library}/a"),
        lambda files: files.write_text(f"{library}/binary/x", "x"),
    ):
        failed(setup, act)


# --- the awaitable face


def test_the_same_names_are_awaitable(setup: Setup, root: Path) -> None:
    import anyio

    setup.hold(WRITE)

    async def work() -> str:
        service = Awaitable(setup.files())
        revision = await service.write_text("a", "x", expect="absent")
        assert await service.revision("a") == revision
        with pytest.raises(CapabilityError):
            await service.read_text("../a")
        text: str = await service.read_text("a")
        return text

    with setup.call():
        assert anyio.run(work) == "x"
    assert setup.recorded() == [("fs-project", "../a", "out-of-scope")]


def test_a_path_must_be_text(setup: Setup, root: Path) -> None:
    setup.hold(READ)
    with setup.call(), pytest.raises(TypeError, match="a path is a str"):
        setup.files().read_text(root / "a")  # type: ignore[arg-type]


def test_the_context_has_the_service_by_its_name() -> None:
    assert isinstance(Context.files, property)
