"""The tool cite-item at work in a project."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from yazcore import CapabilityError, ToolError

from yaz_plugin_zotero.bibliography import read
from yaz_plugin_zotero.sample import SampleLibrary

if TYPE_CHECKING:
    from conftest import Desk

PAPER = '= Costs\n\nProjects cost more than planned. They take longer, too.\n\n#bibliography("references.bib")\n'


@pytest.fixture
def key(finished_library: SampleLibrary) -> Callable[[str], str]:
    return lambda slug: finished_library.keys[slug][1]


def keys_of(desk: Desk, name: str = "references.bib") -> list[str]:
    return [one.key for one in read(desk.text(name)).entries]


def test_citing_writes_the_entry_and_the_citation(desk: Desk, key: Callable[[str], str]) -> None:
    desk.write("paper.typ", PAPER)
    told = desk.cite(key("cost-risk"), document="paper.typ", after="cost more than planned", locator="p. 7")
    assert desk.text("paper.typ") == PAPER.replace("planned.", "planned @mueller2024cost[p. 7].")
    assert keys_of(desk) == ["mueller2024cost"]
    assert {**told, "source": None} == {
        "citationKey": "mueller2024cost",
        "keyFrom": "made",
        "key": key("cost-risk"),
        "library": "user",
        "entry": "added",
        "bibliography": "references.bib",
        "document": "paper.typ",
        "inserted": True,
        "line": 3,
        "citation": {
            "typst": "@mueller2024cost[p. 7]",
            "latex": r"\cite[p. 7]{mueller2024cost}",
            "markdown": "[@mueller2024cost, p. 7]",
        },
        "retraction": None,
        "warnings": [
            "The item has no citation key in Zotero: mueller2024cost was made here and is kept in this project."
        ],
        "source": None,
    }
    assert told["source"]["name"] == "copy of zotero.sqlite"


def test_citing_again_changes_nothing(desk: Desk, key: Callable[[str], str], project: Path) -> None:
    desk.write("paper.typ", PAPER)
    desk.cite(key("cost-risk"), document="paper.typ", after="cost more than planned")
    before = {path.name: path.read_bytes() for path in project.iterdir()}
    told = desk.cite(key("cost-risk"), document="paper.typ", after="cost more than planned")
    assert {path.name: path.read_bytes() for path in project.iterdir()} == before
    assert (told["entry"], told["inserted"], told["keyFrom"], told["line"]) == ("present", False, "bibliography", 3)
    assert told["warnings"] == ["The citation stood there already, so the document was left as it is."]


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("paper.typ", "A claim @barnesandnobleinc2018annual @mueller2024cost."),
        ("paper.tex", r"A claim~\cite{barnesandnobleinc2018annual}~\cite{mueller2024cost}."),
        ("paper.md", "A claim [@barnesandnobleinc2018annual] [@mueller2024cost]."),
    ],
)
def test_works_cited_in_turn_at_one_place_stand_there_once(
    desk: Desk, key: Callable[[str], str], name: str, wanted: str
) -> None:
    desk.write(name, "A claim.")
    told = [desk.cite(key(slug), document=name, after="A claim") for slug in ("cost-risk", "corporate") * 2]
    assert [one["inserted"] for one in told] == [True, True, False, False]
    assert desk.text(name) == wanted
    # An agent that has read the document again names the place with its citations.
    again = desk.cite(key("corporate"), document=name, after=wanted.removesuffix("."))
    assert again["inserted"] is False
    assert desk.text(name) == wanted


def test_without_a_document_only_the_entry_is_written(desk: Desk, key: Callable[[str], str], project: Path) -> None:
    told = desk.cite(key("html-title"), library="user")
    assert [path.name for path in project.iterdir()] == ["references.bib"]
    assert (told["citationKey"], told["keyFrom"], told["inserted"], told["line"]) == (
        "muller2019",
        "zotero",
        False,
        None,
    )
    assert told["warnings"] == []


def test_a_renamed_key_is_cited_as_the_author_named_it(desk: Desk, key: Callable[[str], str]) -> None:
    desk.cite(key("cost-risk"))
    desk.write("references.bib", desk.text("references.bib").replace("mueller2024cost", "projects/costs"))
    desk.write("paper.typ", PAPER)
    told = desk.cite(key("cost-risk"), document="paper.typ", after="cost more than planned")
    assert told["citationKey"] == "projects/costs"
    assert 'planned #cite(label("projects/costs")).' in desk.text("paper.typ")
    assert keys_of(desk) == ["projects/costs"]


def test_another_bibliography_can_be_named(desk: Desk, key: Callable[[str], str], project: Path) -> None:
    desk.cite(key("cost-risk"), bibliography="refs/mine.bib")
    assert keys_of(desk, "refs/mine.bib") == ["mueller2024cost"]
    assert not (project / "references.bib").exists()


@pytest.mark.parametrize("path", ["../../x.bib", "/tmp/x.bib", "a/../../x.bib", ".git/x.bib"])
def test_a_bibliography_outside_the_project_is_refused_and_nothing_written(
    desk: Desk, key: Callable[[str], str], project: Path, path: str
) -> None:
    desk.write("paper.typ", PAPER)
    with pytest.raises(CapabilityError) as refused:
        desk.cite(key("cost-risk"), bibliography=path, document="paper.typ", after="cost more than planned")
    assert refused.value.reason in ("out-of-scope", "not-declared")
    assert desk.text("paper.typ") == PAPER
    assert [found.name for found in project.iterdir()] == ["paper.typ"]


def test_without_the_project_capability_nothing_is_written(
    finished_library: SampleLibrary, make_desk: Callable[..., Desk], key: Callable[[str], str], project: Path
) -> None:
    desk = make_desk(finished_library.path.parent, denied="undeclared fs-project")
    with pytest.raises(CapabilityError) as refused:
        desk.cite(key("cost-risk"))
    assert refused.value.reason == "not-declared"
    assert list(project.iterdir()) == []


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"document": "paper.typ", "after": "not there"}, "The text to cite after does not stand in paper.typ"),
        (
            {"document": "other.typ", "after": "x"},
            "There is no document other.typ in the project, so nothing was written.",
        ),
        ({"document": "paper.docx", "after": "x"}, "paper.docx is no document that a citation can be put into"),
        ({"document": "paper.typ"}, "document and after belong together"),
        ({"after": "x"}, "document and after belong together"),
        ({"bibliography": "folder.bib"}, "The files could not be read or written: folder.bib is a folder."),
    ],
)
def test_what_cannot_be_done_is_said_before_anything_is_written(
    desk: Desk, key: Callable[[str], str], project: Path, wrong: dict[str, Any], message: str
) -> None:
    desk.write("paper.typ", PAPER)
    (project / "folder.bib").mkdir()
    with pytest.raises(ToolError) as refused:
        desk.cite(key("cost-risk"), **wrong)
    assert str(refused.value).startswith(message)
    assert desk.text("paper.typ") == PAPER
    assert not (project / "references.bib").exists()


@pytest.mark.parametrize("slug", ["trashed", "feed"])
def test_trash_and_feeds_cannot_be_cited(desk: Desk, key: Callable[[str], str], slug: str) -> None:
    with pytest.raises(ToolError) as refused:
        desk.cite(key(slug))
    assert str(refused.value) == (
        f"There is no item {key(slug)} in Zotero, or it is in the trash. "
        "search-library finds items and gives their keys."
    )


def test_a_key_of_two_libraries_needs_the_library(desk: Desk, key: Callable[[str], str]) -> None:
    with pytest.raises(ToolError) as refused:
        desk.cite(key("same-key"))
    assert str(refused.value) == (
        f"The key {key('same-key')} stands for an item in each of several libraries. Pass library too. "
        "user: Escherichia coli and H2O at 105 Pa: a Study of mRNA; group-2468: Same item key, other library"
    )
    assert desk.cite(key("same-key"), library="group-2468")["citationKey"] == "samekey2000same"
    with pytest.raises(ToolError, match=r"^There is no item \w+ of the library group-1 in Zotero"):
        desk.cite(key("same-key"), library="group-1")


def test_citing_a_retracted_work_warns(desk: Desk, key: Callable[[str], str]) -> None:
    told = desk.cite(key("retracted"))
    assert told["retraction"] == {"date": "2010-02-06", "reasons": ["Falsification of Data", "Error in Data"]}
    assert told["warnings"][0] == "This work was retracted. Tell the author before the text relies on it."


@pytest.mark.parametrize("slug", ["retraction-hidden", "retraction-shown"])
def test_where_the_user_switched_the_warning_off_none_is_given(
    desk: Desk, key: Callable[[str], str], slug: str
) -> None:
    told = desk.cite(key(slug))
    assert told["retraction"] is None
    assert not any("retracted" in warning for warning in told["warnings"] if "made here" not in warning)


def test_a_key_that_cannot_be_used_is_replaced_and_said(desk: Desk, key: Callable[[str], str]) -> None:
    told = desk.cite(key("unsafe-key"))
    assert told["citationKey"] == "uensafe-key-2020-1"
    assert told["warnings"] == [
        "The item's own citation key 'ünsafe key,2020#1' is taken or cannot be used, so uensafe-key-2020-1 was made."
    ]


def test_two_items_with_one_citation_key_get_two(desk: Desk, key: Callable[[str], str]) -> None:
    assert desk.cite(key("twice-1"))["citationKey"] == "dup2023"
    assert desk.cite(key("twice-2"))["citationKey"] == "dup2023a"
    assert desk.cite(key("twice-1"))["citationKey"] == "dup2023"


@pytest.mark.parametrize(
    ("name", "text", "hint"),
    [
        ("a.typ", "A claim.", '#bibliography("references.bib")'),
        ("a.tex", "A claim.", r"\bibliography{references}"),
        ("a.md", "A claim.", "bibliography: references.bib (in the front matter)"),
        ("b.typ", '#bibliography("x.bib")\nA claim.', None),
        ("b.tex", "\\addbibresource{x.bib}\nA claim.", None),
        ("b.md", "---\nbibliography: x.bib\n---\nA claim.", None),
    ],
)  # fmt: skip
def test_a_document_without_a_bibliography_is_pointed_out(
    desk: Desk, key: Callable[[str], str], name: str, text: str, hint: str | None
) -> None:
    desk.write(name, text)
    warnings = desk.cite(key("group"), document=name, after="A claim")["warnings"]
    wanted = f"{name} names no bibliography: unless another file of the project does, add {hint}"
    assert warnings == ([] if hint is None else [wanted])


def test_typst_documents_get_no_tex_commands(desk: Desk, key: Callable[[str], str]) -> None:
    desk.write("paper.typ", PAPER)
    desk.cite(key("html-title"), library="user", document="paper.typ", after="They take longer")
    assert "{Escherichia coli and {H}₂{O} at 10⁵" in desk.text("references.bib")


def test_latex_documents_get_tex_commands(desk: Desk, key: Callable[[str], str]) -> None:
    desk.write("paper.tex", "A claim.")
    desk.cite(key("html-title"), library="user", document="paper.tex", after="A claim")
    assert r"\textit{Escherichia coli} and {H}$_{\textrm{2}}${O} at 10$^{\textrm{5}}$" in desk.text("references.bib")


FOR_TYPST, FOR_TEX = "H}₂{O", r"{H}$_{\textrm{2}}${O"


@pytest.mark.parametrize(
    ("present", "dialect"),
    [
        (("main.typ",), FOR_TYPST), (("main.tex",), FOR_TEX), (("main.typ", "main.tex"), FOR_TEX),
        (("main.typ", "old.LTX"), FOR_TEX), (("notes.md",), FOR_TEX), ((), FOR_TEX),
    ],
)  # fmt: skip
def test_without_a_document_the_projects_files_say_which_it_is(
    desk: Desk, key: Callable[[str], str], present: tuple[str, ...], dialect: str
) -> None:
    for name in present:
        desk.write(name, "text")
    desk.cite(key("html-title"), library="user")
    assert dialect in desk.text("references.bib")


def test_a_bibliography_that_is_not_utf_8_is_named(desk: Desk, key: Callable[[str], str], project: Path) -> None:
    (project / "references.bib").write_bytes(b"@misc{a,\n title={M\xfcller}}\n")
    with pytest.raises(ToolError) as refused:
        desk.cite(key("cost-risk"))
    assert str(refused.value) == "references.bib is not UTF-8 (line 2). Save it as UTF-8, then cite again."


def test_line_ends_and_a_byte_order_mark_of_a_document_stay(desk: Desk, key: Callable[[str], str]) -> None:
    desk.write("paper.md", "\ufeffA claim.\r\nMore.\r\n")
    desk.cite(key("group"), document="paper.md", after="A claim")
    assert desk.text("paper.md") == "\ufeffA claim [@group2021].\r\nMore.\r\n"


def test_two_items_cited_at_the_same_time_are_both_kept(
    finished_library: SampleLibrary, make_desk: Callable[..., Desk], key: Callable[[str], str]
) -> None:
    """Each from a plugin of its own, as two processes would: no lock is shared, only the file."""
    slugs = ["cost-risk", "corporate", "particles", "chapter", "thesis", "film", "court", "software"]
    desks = [make_desk(finished_library.path.parent) for _ in slugs]
    for desk in desks:
        desk.search("")
    desks[0].write("paper.typ", "\n".join(f"Claim {slug}." for slug in slugs))
    start = threading.Barrier(len(slugs))
    failed: list[BaseException] = []

    def cite(desk: Desk, slug: str) -> None:
        start.wait()
        try:
            for _ in range(3):
                desk.cite(key(slug), document="paper.typ", after=f"Claim {slug}")
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=cite, args=pair) for pair in zip(desks, slugs, strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    keys = keys_of(desks[0])
    assert len(keys) == len(set(keys)) == len(slugs)
    for one in keys:
        assert desks[0].text("paper.typ").count(f"@{one}.") == 1


class Meddling:
    """The file service, with somebody else who changes a file just before each of the first writes to it."""

    def __init__(self, files: Any, change: Callable[[str], None], times: int) -> None:
        self._files, self._change, self._times = files, change, times

    def __getattr__(self, name: str) -> Any:
        return getattr(self._files, name)

    def write_bytes(self, path: str, data: bytes, **more: Any) -> Any:
        if self._times > 0:
            self._times -= 1
            self._change(path)
        return self._files.write_bytes(path, data, **more)


def test_a_file_that_changed_meanwhile_is_read_again(desk: Desk, key: Callable[[str], str], project: Path) -> None:
    def change(path: str) -> None:
        with (project / path).open("a") as file:
            file.write(f"@misc{{theirs{file.tell()}, title={{x}}}}\n")

    desk.context.services["files"] = Meddling(desk.context.files, change, 4)  # type: ignore[index]
    desk.cite(key("cost-risk"))
    assert len(keys_of(desk)) == 5
    assert keys_of(desk)[-1] == "mueller2024cost"


def test_an_entry_written_before_the_document_changed_still_counts_as_added(
    desk: Desk, key: Callable[[str], str], project: Path
) -> None:
    def change(path: str) -> None:
        if path == "paper.typ":
            (project / path).write_text("New beginning.\n" + PAPER)

    desk.write("paper.typ", PAPER)
    desk.context.services["files"] = Meddling(desk.context.files, change, 2)  # type: ignore[index]
    told = desk.cite(key("cost-risk"), document="paper.typ", after="cost more than planned")
    assert (told["entry"], told["keyFrom"], told["line"]) == ("added", "made", 4)
    assert desk.text("paper.typ") == "New beginning.\n" + PAPER.replace("planned.", "planned @mueller2024cost.")
    assert keys_of(desk) == ["mueller2024cost"]


def test_a_document_that_lost_the_place_meanwhile_is_said_to_lack_the_citation(
    desk: Desk, key: Callable[[str], str], project: Path
) -> None:
    def change(path: str) -> None:
        if path == "paper.typ":
            (project / path).write_text("Other text.")

    desk.write("paper.typ", PAPER)
    desk.context.services["files"] = Meddling(desk.context.files, change, 2)  # type: ignore[index]
    with pytest.raises(ToolError) as refused:
        desk.cite(key("cost-risk"), document="paper.typ", after="cost more than planned")
    assert str(refused.value).startswith(
        "The entry mueller2024cost is in references.bib, but the citation is not in paper.typ, which changed "
        "meanwhile or "
        "could not be written: The text to cite after does not stand in paper.typ"
    )
    assert desk.text("paper.typ") == "Other text."
    assert keys_of(desk) == ["mueller2024cost"]


def test_a_document_that_cannot_be_written_is_said_to_lack_the_citation(
    desk: Desk, key: Callable[[str], str], project: Path
) -> None:
    desk.write("paper.typ", PAPER).chmod(0o444)
    with pytest.raises(ToolError) as refused:
        desk.cite(key("cost-risk"), document="paper.typ", after="cost more than planned")
    assert str(refused.value) == (
        "The entry mueller2024cost is in references.bib, but the citation is not in paper.typ, which changed "
        "meanwhile or "
        "could not be written: paper.typ is marked as read-only"
    )


def test_a_file_that_never_holds_still_ends_the_call(desk: Desk, key: Callable[[str], str], project: Path) -> None:
    def change(path: str) -> None:
        with (project / path).open("a") as file:
            file.write("% again\n")

    desk.context.services["files"] = Meddling(desk.context.files, change, 10_000)  # type: ignore[index]
    with pytest.raises(ToolError) as refused:
        desk.cite(key("cost-risk"))
    assert str(refused.value) == "references.bib or the document changed all the time while it was written. Try again."
