"""Which .bib of a project an entry goes into: the tool at work, in both runtimes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from yazcore.writing.plugins.typst.entry import NAMES

from yaz_plugin_zotero.destination import MAIN_NAMES
from yaz_plugin_zotero.sample import SampleLibrary

if TYPE_CHECKING:
    from conftest import Desk

KEY = "group2021"
"""The key of the item that is cited here; it comes from Zotero, so that no warning but those of the place is given."""

UNUSABLE = (
    "{0} names a bibliography that cannot be used here: only a .bib file of the project, named in plain text, can. "
    "The entry is in references.bib: see that {0} names that file."
)


def test_a_main_document_has_the_names_that_yaz_knows() -> None:
    assert MAIN_NAMES == NAMES


@pytest.fixture
def cite(desk: Desk, finished_library: SampleLibrary) -> Callable[..., dict[str, Any]]:
    return lambda **more: desk.cite(finished_library.keys["group"][1], **more)


def fill(project: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        path = project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def bibliographies(project: Path) -> dict[str, bool]:
    """The .bib files of the project, and whether each has the entry."""
    return {
        path.relative_to(project).as_posix(): f"{{{KEY}," in path.read_text()
        for path in project.rglob("*.bib") if path.is_file()
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("paper.typ", 'A claim.\n#bibliography("refs.bib")'),
        ("paper.typ", 'A claim.\n#bibliography(("gone.bib", "refs.yml", "refs.bib", "other.bib"))'),
        ("paper.typ", 'A claim.\n#bibliography("/refs.bib")'),
        ("paper.tex", "A claim.\n\\bibliography{gone,refs}"),
        ("paper.tex", "\\addbibresource{refs.bib}\nA claim."),
        ("paper.md", "---\nbibliography: refs.bib\n---\nA claim."),
    ],
)
def test_the_entry_goes_where_the_document_looks_for_it(
    project: Path, cite: Callable[..., Any], name: str, text: str
) -> None:
    fill(project, {name: text, "refs.bib": "", "other.bib": ""})
    told = cite(document=name, after="A claim")
    assert (told["bibliography"], told["entry"], told["warnings"]) == ("refs.bib", "added", [])
    assert bibliographies(project) == {"refs.bib": True, "other.bib": False}
    assert cite(document=name, after="A claim")["entry"] == "present"


def test_a_file_that_is_named_and_not_there_is_made(project: Path, cite: Callable[..., Any]) -> None:
    fill(project, {"paper.typ": 'A claim.\n#bibliography(("lib/refs.bib", "b.bib"))'})
    assert cite(document="paper.typ", after="A claim")["warnings"] == []
    assert bibliographies(project) == {"lib/refs.bib": True}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [('#bibliography("../refs.bib")', "refs.bib"), ('#bibliography("own.bib")', "chapters/own.bib")],
)
def test_a_path_counts_from_the_document_that_names_it(
    project: Path, cite: Callable[..., Any], text: str, wanted: str
) -> None:
    fill(project, {"chapters/one.typ": f"A claim.\n{text}", "refs.bib": "", "own.bib": ""})
    assert cite(document="chapters/one.typ", after="A claim")["bibliography"] == wanted


def test_a_latex_chapter_may_count_from_the_project(project: Path, cite: Callable[..., Any]) -> None:
    fill(project, {"chapters/one.tex": "A claim.\n\\bibliography{refs}", "refs.bib": ""})
    told = cite(document="chapters/one.tex", after="A claim")
    assert (told["bibliography"], told["warnings"]) == ("refs.bib", [])
    assert bibliographies(project) == {"refs.bib": True}


@pytest.mark.parametrize(
    "files",
    [
        {"main.typ": '#include "one.typ"\n#bibliography("refs.bib")'},
        {"work.typ": '#bibliography("refs.bib")', "yaz.toml": 'entry = "work.typ"', "main.typ": "Not this one."},
        {"thesis.typ": '#bibliography("refs.bib")', "index.typ": '#bibliography("other.bib")'},
    ],
)
def test_a_chapter_takes_the_bibliography_of_the_main_document(
    project: Path, cite: Callable[..., Any], files: dict[str, str]
) -> None:
    fill(project, {"chapters/one.typ": "A claim.", "refs.bib": "", "other.bib": "", **files})
    told = cite(document="chapters/one.typ", after="A claim")
    assert (told["bibliography"], told["warnings"]) == ("refs.bib", [])
    assert cite()["bibliography"] == "refs.bib"


def test_the_main_document_of_the_same_format_comes_first(project: Path, cite: Callable[..., Any]) -> None:
    fill(project, {"main.typ": '#bibliography("refs.bib")', "main.tex": "\\bibliography{tex}", "one.typ": "A claim."})
    assert cite(document="one.typ", after="A claim")["bibliography"] == "refs.bib"


def test_a_document_of_another_format_than_the_main_one_is_told_what_it_lacks(
    project: Path, cite: Callable[..., Any]
) -> None:
    fill(project, {"main.typ": '#bibliography("refs.bib")', "refs.bib": "", "notes/one.md": "A claim."})
    told = cite(document="notes/one.md", after="A claim")
    assert told["bibliography"] == "refs.bib"
    (warning,) = told["warnings"]
    assert warning == (
        "notes/one.md names no bibliography: unless another file of the project does, add "
        "bibliography: ../refs.bib (in the front matter)"
    )


@pytest.mark.parametrize("files", [{}, {"main.typ": "Text."}, {"yaz.toml": "entry = [", ".cache/x.bib": ""}])
def test_where_nothing_is_named_the_only_bib_is_taken(
    project: Path, cite: Callable[..., Any], files: dict[str, str]
) -> None:
    fill(project, {"lib/refs.bib": "", **files})
    told = cite()
    assert (told["bibliography"], told["warnings"]) == ("lib/refs.bib", [])


@pytest.mark.parametrize(
    ("present", "warned"), [((), False), (("a.bib", "references.bib"), False), (("a.bib", "b.bib"), True)]
)
def test_else_it_is_references_bib(
    project: Path, cite: Callable[..., Any], present: tuple[str, ...], warned: bool
) -> None:
    fill(project, dict.fromkeys(present, ""))
    told = cite()
    assert told["bibliography"] == "references.bib"
    warning = "The project has several .bib files and names none of them, so the entry is in references.bib, a new one."
    assert told["warnings"] == ([warning] if warned else [])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("paper.typ", 'A claim.\n#bibliography("../outside.bib")'),
        ("paper.typ", 'A claim.\n#bibliography("refs.yml")'),
        ("paper.typ", 'A claim.\n#bibliography(".git/refs.bib")'),
        ("paper.typ", 'A claim.\n#bibliography("folder.bib")'),
        ("paper.typ", 'A claim.\n#bibliography("link.bib")'),
        ("paper.typ", "A claim.\n#bibliography(sources)"),
        ("paper.tex", "A claim.\n\\addbibresource{/outside.bib}"),
        ("paper.tex", "A claim.\n\\bibliography{\\jobname}"),
        ("paper.md", "---\nbibliography: https://example.org/refs.bib\n---\nA claim."),
    ],
)
def test_what_cannot_be_used_is_left_alone_and_said(
    project: Path, tmp_path: Path, cite: Callable[..., Any], name: str, text: str
) -> None:
    (tmp_path / "outside.bib").write_text("")
    (project / "link.bib").symlink_to(tmp_path / "outside.bib")
    fill(project, {name: text, "folder.bib/note": ""})
    told = cite(document=name, after="A claim")
    assert (told["bibliography"], told["warnings"]) == ("references.bib", [UNUSABLE.format(name)])
    assert (project / "references.bib").exists()
    assert (tmp_path / "outside.bib").read_text() == ""


def test_a_file_that_is_asked_for_is_taken_and_the_one_that_is_named_is_said(
    project: Path, cite: Callable[..., Any]
) -> None:
    fill(project, {"paper.typ": 'A claim.\n#bibliography("refs.bib")', "refs.bib": ""})
    told = cite(document="paper.typ", after="A claim", bibliography="mine.bib")
    assert told["bibliography"] == "mine.bib"
    (warning,) = told["warnings"]
    assert warning == (
        "paper.typ names refs.bib as its bibliography, but the entry is in mine.bib: cite again with refs.bib as "
        "bibliography, or have paper.typ name mine.bib too."
    )
    assert bibliographies(project) == {"mine.bib": True, "refs.bib": False}
    told = cite(document="paper.typ", after="A claim", bibliography="./refs.bib")
    assert (told["bibliography"], told["warnings"][1:]) == ("./refs.bib", [])


def test_a_chapter_is_warned_for_its_main_document(project: Path, cite: Callable[..., Any]) -> None:
    fill(project, {"main.typ": '#bibliography("refs.bib")', "one.typ": "A claim."})
    (warning,) = cite(document="one.typ", after="A claim", bibliography="mine.bib")["warnings"]
    assert warning.startswith("main.typ names refs.bib as its bibliography, but the entry is in mine.bib: ")


def test_the_users_setting_comes_before_what_is_named(
    project: Path, finished_library: SampleLibrary, make_desk: Callable[..., Desk]
) -> None:
    desk = make_desk(finished_library.path.parent, bibliography="mine.bib")
    fill(project, {"paper.typ": 'A claim.\n#bibliography("refs.bib")', "refs.bib": ""})
    told = desk.cite(finished_library.keys["group"][1], document="paper.typ", after="A claim")
    assert told["bibliography"] == "mine.bib"
    assert told["warnings"][0].startswith("paper.typ names refs.bib as its bibliography, but the entry is in mine.bib")


def test_too_many_files_leave_those_at_the_top(
    project: Path, cite: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("yazcore.capabilities.services.files.LIST_LIMIT", 5)
    fill(project, {"main.typ": '#bibliography("refs.bib")', **{f"data/{number}.csv": "" for number in range(9)}})
    assert cite()["bibliography"] == "refs.bib"
    (project / "main.typ").unlink()
    assert cite()["bibliography"] == "refs.bib"
