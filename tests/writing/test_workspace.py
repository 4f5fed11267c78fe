"""Opening projects: below the roots, and nowhere else."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.writing.ports import Port
from tests.writing.worlds import write
from yazcore import Home, YazError
from yazcore.writing.projects.formats import Formats
from yazcore.writing.projects.identity import Identities
from yazcore.writing.projects.workspace import Workspace


def workspace(home: Home, *roots: Path) -> Workspace:
    return Workspace(roots, Identities(home), Formats(Port()))


@pytest.fixture
def base(tmp_path: Path) -> Path:
    return write(tmp_path / "theses", {"mine/main.typ": "= Mine", "yours/thesis.typ": "= Yours", "notes/todo.txt": ""})


def failure(home: Home, root: Path, path: str, name: str | None = None) -> YazError:
    with pytest.raises(YazError) as caught:
        workspace(home, root).open(name or root.name, path)
    return caught.value


def test_a_folder_below_a_root_is_opened(home: Home, base: Path) -> None:
    project = workspace(home, base).open("theses", "mine")
    assert (project.name, project.entry, project.format, project.root) == ("mine", "main.typ", "typst", base / "mine")


def test_the_root_itself_is_opened_by_the_empty_path(home: Home, base: Path) -> None:
    assert workspace(home, base / "mine").open("mine").entry == "main.typ"


def test_an_open_project_is_found_by_its_id_and_listed(home: Home, base: Path) -> None:
    opened = workspace(home, base)
    yours, mine = opened.open("theses", "yours"), opened.open("theses", "mine")
    assert opened.get(mine.id) == mine
    assert opened.get("prj_aaaaaaaaaaaa") is None
    assert opened.projects() == (mine, yours)


def test_opening_twice_gives_the_same_project(home: Home, base: Path) -> None:
    opened = workspace(home, base)
    assert opened.open("theses", "mine") == opened.open("theses", "mine")
    assert len(opened.projects()) == 1


def test_nothing_is_written_into_the_folder(home: Home, base: Path) -> None:
    workspace(home, base).open("theses", "mine")
    assert [path.name for path in (base / "mine").iterdir()] == ["main.typ"]


@pytest.mark.parametrize("path", ["gone", "mine/main.typ", "mine/gone/deeper"])
def test_what_is_no_folder_is_not_found(home: Home, base: Path, path: str) -> None:
    assert failure(home, base, path).code == "project-not-found"


@pytest.mark.parametrize("path", ["../outside", "/etc", "mine/../../outside", "~", "mine//x", "a\\b", "a\0"])
def test_a_path_that_could_leave_is_refused(home: Home, base: Path, tmp_path: Path, path: str) -> None:
    write(tmp_path / "outside", {"main.typ": ""})
    assert failure(home, base, path).code == "document-path"


def test_a_link_that_leaves_is_as_one_that_leads_nowhere(home: Home, base: Path, tmp_path: Path) -> None:
    write(tmp_path / "outside", {"main.typ": "= Secret"})
    (base / "out").symlink_to(tmp_path / "outside")
    (base / "dangling").symlink_to(tmp_path / "nowhere")
    (base / "circle").symlink_to(base / "circle")
    found = [failure(home, base, path) for path in ("out", "dangling", "circle", "gone")]
    assert {(one.code, one.message, one.fix) for one in found} == {(found[3].code, found[3].message, found[3].fix)}


def test_a_link_that_stays_below_the_root_is_followed(home: Home, base: Path) -> None:
    (base / "current").symlink_to(base / "mine")
    assert workspace(home, base).open("theses", "current").root == base / "mine"


def test_a_folder_beside_the_root_with_the_same_beginning_is_outside(home: Home, base: Path, tmp_path: Path) -> None:
    write(tmp_path / "theses-old", {"main.typ": ""})
    (base / "old").symlink_to(tmp_path / "theses-old")
    assert failure(home, base, "old").code == "project-not-found"


def test_an_unknown_root_is_told_the_known_ones(home: Home, base: Path) -> None:
    error = failure(home, base, "mine", "books")
    assert (error.code, error.fix) == ("root-unknown", "the roots are: theses")


def test_no_message_says_where_a_root_is(home: Home, base: Path) -> None:
    for path in ("gone", "notes", "../x"):
        error = failure(home, base, path)
        assert str(base.parent) not in f"{error.message} {error.fix}"


def test_roots_of_one_name_are_told_apart(home: Home, tmp_path: Path) -> None:
    first, second = write(tmp_path / "a" / "thesis", {}), write(tmp_path / "b" / "thesis", {})
    assert [root.name for root in workspace(home, first, second).roots] == ["thesis", "thesis-2"]


def test_a_root_named_twice_is_one_root(home: Home, base: Path) -> None:
    assert len(workspace(home, base, base / ".." / "theses").roots) == 1


def test_a_root_that_is_missing_is_an_error(home: Home, tmp_path: Path) -> None:
    with pytest.raises(YazError) as caught:
        workspace(home, tmp_path / "gone")
    assert caught.value.code == "root-missing"


# --- the entry, and yaz.toml ---


def opened_entry(home: Home, tmp_path: Path, files: Mapping[str, str]) -> str:
    return workspace(home, write(tmp_path / "thesis", dict(files))).open("thesis").entry


def test_the_settings_name_the_entry(home: Home, tmp_path: Path) -> None:
    files = {"yaz.toml": 'entry = "src/book.typ"', "src/book.typ": "", "main.typ": ""}
    assert opened_entry(home, tmp_path, files) == "src/book.typ"


def test_the_settings_name_the_project(home: Home, tmp_path: Path) -> None:
    root = write(tmp_path / "thesis", {"yaz.toml": 'name = "My book"\nid = "prj_abcdefgh2345"', "main.typ": ""})
    project = workspace(home, root).open("thesis")
    assert (project.name, project.id) == ("My book", "prj_abcdefgh2345")


@pytest.mark.parametrize(
    ("files", "code"),
    [
        ({"notes.txt": ""}, "project-no-entry"),
        ({}, "project-no-entry"),
        ({"yaz.toml": 'entry = "gone.typ"'}, "project-entry-missing"),
        ({"yaz.toml": 'entry = "refs.bib"', "refs.bib": ""}, "project-no-entry"),
        ({"yaz.toml": "entry = ", "main.typ": ""}, "project-settings-broken"),
    ],
)
def test_a_folder_that_is_no_project_says_why(home: Home, tmp_path: Path, files: dict[str, str], code: str) -> None:
    with pytest.raises(YazError) as caught:
        opened_entry(home, tmp_path, files)
    assert caught.value.code == code


def test_an_entry_that_is_a_link_out_is_missing(home: Home, tmp_path: Path) -> None:
    write(tmp_path / "outside", {"a.typ": ""})
    root = write(tmp_path / "thesis", {"yaz.toml": 'entry = "a.typ"'})
    (root / "a.typ").symlink_to(tmp_path / "outside" / "a.typ")
    with pytest.raises(YazError) as caught:
        workspace(home, root).open("thesis")
    assert caught.value.code == "project-entry-missing"


def test_a_copy_with_the_same_id_is_not_opened_beside_it(home: Home, tmp_path: Path) -> None:
    base = write(tmp_path / "base", {"a/yaz.toml": 'id = "prj_abcdefgh2345"', "a/main.typ": ""})
    shutil.copytree(base / "a", base / "b")
    opened = workspace(home, base)
    opened.open("base", "a")
    with pytest.raises(YazError) as caught:
        opened.open("base", "b")
    assert caught.value.code == "project-id-taken"


def test_a_project_whose_folder_has_gone_is_no_project_any_more(home: Home, base: Path) -> None:
    opened = workspace(home, base)
    project = opened.open("theses", "mine")
    (base / "mine").rename(base / "moved")
    assert opened.get(project.id) is None
    assert opened.projects() == ()
    assert opened.open("theses", "moved").id == project.id
