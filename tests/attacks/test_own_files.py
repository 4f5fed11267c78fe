"""The application's own folder, with its secrets and grants, inside a project: no agent reaches it by any way."""

from __future__ import annotations

import errno
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import attrs
import pytest

from tests.capabilities.conftest import Setup, entered
from tests.writing.worlds import call as called
from tests.writing.worlds import write
from yazcore import OWNER, CapabilityError, Home, Principal, YazError
from yazcore.kinds import FsProject
from yazcore.writing.application import open_writing

Enter = Callable[[Any], AbstractContextManager[Any]]


@attrs.frozen
class Project:
    root: Path
    id: str = "prj_aaaaaaaaaaaa"
    name: str = "thesis"


def refusal(home: Home, root: Path) -> YazError:
    """Why the folder cannot be opened; nothing of it is open before either."""
    application = open_writing(home, [root], discover=False)
    try:
        assert application.projects() == []
        with pytest.raises(YazError) as refused:
            application.project(root)
        return refused.value
    finally:
        application.close()


@pytest.mark.parametrize("below", ["yaz", ".local/share/yaz", "main/.yaz"])
def test_a_project_that_holds_the_applications_own_files_is_not_opened(tmp_path: Path, below: str) -> None:
    root = write(tmp_path / "thesis", {"main.typ": "= One\n"})
    refused = refusal(Home(root / below), root)
    assert refused.code == "project-own-files"
    assert str(tmp_path) not in str(refused)


def test_a_project_inside_the_applications_own_files_is_not_opened(tmp_path: Path) -> None:
    home = Home(tmp_path / "yaz")
    root = write(home.plugin_data("demo") / "project", {"main.typ": "= One\n"})
    assert refusal(home, root).code == "project-own-files"


def test_an_own_folder_that_a_link_leads_into_a_project_is_found(tmp_path: Path) -> None:
    root = write(tmp_path / "thesis", {"main.typ": "= One\n", "own/x": ""})
    (tmp_path / "link").symlink_to(root / "own")
    assert refusal(Home(tmp_path / "link" / "yaz"), root).code == "project-own-files"


def test_a_root_may_hold_them_as_long_as_the_project_lies_beside(tmp_path: Path) -> None:
    write(tmp_path / "user" / "thesis", {"main.typ": "= One\n"})
    application = open_writing(Home(tmp_path / "user" / ".local" / "yaz"), [tmp_path / "user"], discover=False)
    try:
        assert application.workspace.open("user", "thesis").name == "thesis"
    finally:
        application.close()


@pytest.mark.parametrize("path", ["main.typ", "own/grants.json", "own/new.json", "."])
def test_the_file_service_gives_nothing_of_such_a_project(tmp_path: Path, path: str) -> None:
    """Whatever host resolved it: a grant that its plugins could write would be no grant."""
    root = write(tmp_path / "thesis", {"main.typ": "= One\n", "own/grants.json": "{}"})
    setup = Setup(Home(root / "own"), root)
    setup.hold(FsProject(access="write"))
    files = setup.files(closed=(root / "own",))
    acts: list[Callable[[], Any]] = [
        lambda: files.read_bytes(path),
        lambda: files.write_bytes(path, b"x"),
        lambda: files.list(path),
        lambda: files.stat(path),
        lambda: files.revision(path),
        lambda: files.copy([path]),
    ]
    with entered(setup.frame(project=Project(root))):
        for act in acts:
            with pytest.raises(CapabilityError) as refused:
                act()
            assert refused.value.reason == "out-of-scope"
            assert "the application's own files" in refused.value.detail
    assert (root / "own" / "grants.json").read_text() == "{}"


def test_a_project_on_a_drive_that_has_gone_is_as_if_it_were_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its id gives the hidden answer, to whoever asks, and the other projects are listed all the same."""
    roots = [write(tmp_path / name, {"main.typ": "= One\n"}) for name in ("here", "gone")]
    application = open_writing(Home(tmp_path / "home"), roots, discover=False)
    try:
        ids = {one["name"]: one["projectId"] for one in application.projects()}
        is_dir = Path.is_dir

        def stale(self: Path) -> bool:
            if self == roots[1]:
                raise OSError(errno.ESTALE, "Stale file handle")
            return is_dir(self)

        monkeypatch.setattr(Path, "is_dir", stale)
        assert [one["name"] for one in application.projects()] == ["here"]
        for principal in (OWNER, Principal(name="ada")):
            gone = called(application, "read_outline", principal, projectId=ids["gone"])
            none = called(application, "read_outline", principal, projectId="prj_222222222222")
            assert gone == none
    finally:
        monkeypatch.undo()
        application.close()
