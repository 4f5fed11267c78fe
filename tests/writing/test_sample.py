"""The sample thesis."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.writing.worlds import done
from yazcore.writing.application import WritingApp
from yazcore.writing.sample import FOLDER, MENDED, MISTAKE, copy_sample

Open = Callable[..., WritingApp]


@pytest.fixture
def app(open_on: Open, root: Path) -> WritingApp:
    copy_sample(root)
    return open_on({})


def test_a_copy_has_every_file(tmp_path: Path) -> None:
    copied = copy_sample(tmp_path / "thesis")
    names = {str(path.relative_to(FOLDER)) for path in FOLDER.rglob("*") if path.is_file()}
    assert {str(path.relative_to(copied)) for path in copied.rglob("*") if path.is_file()} == names


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "thesis").mkdir()
    with pytest.raises(FileExistsError):
        copy_sample(tmp_path / "thesis")


def test_the_mistake_is_there_once(tmp_path: Path) -> None:
    text = (FOLDER / "chapters" / "results.typ").read_text()
    assert (text.count(MISTAKE), text.count(MENDED)) == (1, 0)


def test_an_agent_finds_the_mistake_mends_it_and_has_a_pdf(app: WritingApp) -> None:
    project = {"projectId": done(app, "list_projects")["projects"][0]["projectId"]}

    broken = done(app, "compile", **project)
    assert (broken["succeeded"], broken["hasErrors"], broken["pdf"]) == (False, True, None)
    (error,) = broken["diagnostics"]
    assert (error["file"], error["line"], error["code"]) == ("chapters/results.typ", 20, "undefined-command")

    lines = done(app, "read_document", **project, path=error["file"], fromLine=error["line"], lines=1)
    assert MISTAKE in lines["text"]
    done(app, "edit_document", **project, path=error["file"], revision=lines["revision"], old=MISTAKE, new=MENDED)

    good = done(app, "compile", **project)
    assert (good["succeeded"], good["hasErrors"], good["diagnostics"]) == (True, False, [])
    assert good["pdf"]["bytes"] > 10_000


def test_its_outline_goes_through_all_chapters(app: WritingApp) -> None:
    project = {"projectId": app.projects()[0]["projectId"]}
    chapters = [one for one in done(app, "read_outline", **project)["nodes"] if one["level"] == 1]
    assert [(one["id"], one["file"]) for one in chapters] == [
        ("<introduction>", "chapters/introduction.typ"),
        ("<method>", "chapters/method.typ"),
        ("<results>", "chapters/results.typ"),
        ("<conclusion>", "chapters/conclusion.typ"),
    ]
