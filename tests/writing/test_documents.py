"""Reading, making and editing documents, through the tools and the real file service."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.writing.worlds import done, refused, write
from yazcore.writing.application import WritingApp

Open = Callable[..., WritingApp]


@pytest.fixture
def app(open_on: Open) -> WritingApp:
    return open_on({"main.typ": "= One\n\nA cat sat.\nA dog sat.\n", "refs.bib": "@book{a}\n"})


def the(app: WritingApp) -> dict[str, Any]:
    return {"projectId": app.projects()[0]["projectId"]}


def revision(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


# --- reading ---


def test_a_document_is_read_with_its_revision(app: WritingApp) -> None:
    assert done(app, "read_document", **the(app), path="main.typ") == {
        "path": "main.typ",
        "revision": revision("= One\n\nA cat sat.\nA dog sat.\n"),
        "fromLine": 1,
        "toLine": 4,
        "totalLines": 4,
        "text": "= One\n\nA cat sat.\nA dog sat.",
        "nextLine": None,
    }


def test_lines_are_read_by_number(app: WritingApp) -> None:
    part = done(app, "read_document", **the(app), path="main.typ", fromLine=3, lines=1)
    assert (part["fromLine"], part["toLine"], part["text"], part["nextLine"]) == (3, 3, "A cat sat.", 4)


def test_beyond_the_end_there_is_nothing(app: WritingApp) -> None:
    part = done(app, "read_document", **the(app), path="main.typ", fromLine=9)
    assert (part["fromLine"], part["toLine"], part["text"], part["nextLine"]) == (9, 8, "", None)


def test_an_empty_document_has_no_lines(open_on: Open) -> None:
    app = open_on({"main.typ": ""})
    part = done(app, "read_document", **the(app), path="main.typ")
    assert (part["toLine"], part["totalLines"], part["text"]) == (0, 0, "")


def test_lines_are_counted_as_the_compiler_counts_them(open_on: Open) -> None:
    app = open_on({"main.typ": "a\r\nb\u2028c\x0cd\re"})
    part = done(app, "read_document", **the(app), path="main.typ", fromLine=2, lines=2)
    assert (part["text"], part["totalLines"]) == ("b\u2028c", 5)


def test_windows_line_ends_are_read_as_plain_ones(open_on: Open) -> None:
    app = open_on({"main.typ": "a\r\nb\r\n"})
    assert done(app, "read_document", **the(app), path="main.typ")["text"] == "a\nb"


def test_a_long_document_is_read_in_parts_that_fit(open_on: Open) -> None:
    lines = [f"line {number} " + "ü" * 50 for number in range(1, 1_001)]
    app = open_on({"main.typ": "\n".join(lines)})
    found: list[str] = []
    at: int | None = 1
    while at is not None:
        part = done(app, "read_document", **the(app), path="main.typ", fromLine=at, lines=2_000)
        assert len(part["text"].encode()) < 24_001
        found += part["text"].split("\n")
        at = part["nextLine"]
    assert found == lines


def test_a_folder_is_no_document(app: WritingApp, root: Path) -> None:
    (root / "chapters").mkdir()
    assert refused(app, "read_document", **the(app), path="chapters").endswith("(file-is-folder).")


def test_a_document_that_is_not_there_is_told_so(app: WritingApp) -> None:
    assert refused(app, "read_document", **the(app), path="gone.typ") == (
        "there is no document of that path in the project. open_project lists the documents, read_outline those with "
        "headings."
    )


@pytest.mark.parametrize("path", ["../secret.txt", "/etc/passwd", "a/../../secret.txt", "./main.typ"])
def test_a_path_out_of_the_project_is_refused(app: WritingApp, tmp_path: Path, path: str) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    assert "the path of the document" in refused(app, "read_document", **the(app), path=path)


@pytest.mark.parametrize("target", ["/etc/passwd", "../secret.txt", "nowhere"])
def test_a_link_out_of_the_project_is_not_followed(app: WritingApp, root: Path, tmp_path: Path, target: str) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    (root / "link.txt").symlink_to(target)
    text = refused(app, "read_document", **the(app), path="link.txt")
    assert "secret" not in text
    assert str(tmp_path) not in text


def test_a_secret_of_the_project_is_not_read(app: WritingApp, root: Path) -> None:
    write(root, {".env": "SECRET=1"})
    text = refused(app, "read_document", **the(app), path=".env")
    assert text == (
        "yaz may not do this: fs-project, out-of-scope. The user can see what was tried with: yaz denials yaz"
    )


def test_a_document_that_is_no_text_is_said_to_be(app: WritingApp, root: Path) -> None:
    write(root, {"bad.typ": b"a\nb\xff"})
    assert refused(app, "read_document", **the(app), path="bad.typ") == (
        "the document is not UTF-8 text (line 2). save it as UTF-8."
    )


# --- making ---


def test_a_document_is_made_with_its_folders(app: WritingApp, root: Path) -> None:
    made = done(app, "create_document", **the(app), path="chapters/two.typ", text="= Two\nÜ\n")
    assert made == {"path": "chapters/two.typ", "revision": revision("= Two\nÜ\n"), "lines": 2}
    assert (root / "chapters" / "two.typ").read_text() == "= Two\nÜ\n"


def test_a_document_that_is_there_is_not_made_anew(app: WritingApp, root: Path) -> None:
    text = refused(app, "create_document", **the(app), path="refs.bib", text="")
    assert text == "there is a document of that path. use edit_document, or another path."
    assert (root / "refs.bib").read_text() == "@book{a}\n"


@pytest.mark.parametrize("path", ["yaz.toml", "latexmkrc", "run.sh", "Makefile", "a.py", "noextension", ".envrc"])
def test_what_is_no_document_is_not_made(app: WritingApp, root: Path, path: str) -> None:
    refused(app, "create_document", **the(app), path=path, text="x")
    assert not (root / path).exists()


def test_the_settings_belong_to_the_user(app: WritingApp, root: Path) -> None:
    write(root, {"yaz.toml": 'name = "Mine"\n'})
    text = refused(
        app, "edit_document", **the(app), path="yaz.toml", old="Mine", new="Yours", revision=revision('name = "Mine"\n')
    )
    assert "yaz.toml belongs to the user" in text


def test_nothing_is_made_through_a_link_out_of_the_project(app: WritingApp, root: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (root / "out").symlink_to(tmp_path / "outside")
    refused(app, "create_document", **the(app), path="out/new.typ", text="x")
    assert list((tmp_path / "outside").iterdir()) == []


# --- editing ---

TEXT = "= One\n\nA cat sat.\nA dog sat.\n"


def edited(app: WritingApp, old: str, new: str, **more: Any) -> dict[str, Any]:
    return {"path": "main.typ", "old": old, "new": new, "revision": revision(TEXT), **the(app), **more}


def test_one_passage_is_replaced(app: WritingApp, root: Path) -> None:
    changed = TEXT.replace("cat", "lion")
    assert done(app, "edit_document", **edited(app, "A cat", "A lion")) == {
        "path": "main.typ",
        "revision": revision(changed),
        "lines": 4,
        "line": 3,
    }
    assert (root / "main.typ").read_text() == changed


def test_one_edit_after_another_needs_no_reading_between(app: WritingApp, root: Path) -> None:
    first = done(app, "edit_document", **edited(app, "cat", "lion"))
    done(app, "edit_document", **edited(app, "lion", "bear", revision=first["revision"]))
    assert "A bear sat." in (root / "main.typ").read_text()


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (
            "A bird",
            "x",
            (
                "old is not in the document, character for character; nothing was written. copy it from read_document, "
                "with its spaces and line ends."
            ),
        ),
        (
            "sat.",
            "x",
            (
                "old is there more than once, on line 3 and on line 4; nothing was written. give more of the text "
                "around it, so that it is there once."
            ),
        ),
        ("A cat", "A cat", "old and new are the same text. give the new text in new."),
    ],
)
def test_an_edit_that_does_not_fit_writes_nothing(app: WritingApp, root: Path, old: str, new: str, told: str) -> None:
    assert refused(app, "edit_document", **edited(app, old, new)) == told
    assert (root / "main.typ").read_text() == TEXT


def test_overlapping_passages_are_more_than_one(open_on: Open) -> None:
    app = open_on({"main.typ": "aaa"})
    text = refused(app, "edit_document", **edited(app, "aa", "b", revision=revision("aaa")))
    assert "more than once" in text


def test_an_edit_of_an_old_revision_writes_nothing(app: WritingApp, root: Path) -> None:
    write(root, {"main.typ": "Changed by somebody else"})
    assert refused(app, "edit_document", **edited(app, "A cat", "A lion")) == (
        "the document is not in the revision you read; nothing was written. read it again with read_document, and edit "
        "that revision."
    )
    assert (root / "main.typ").read_text() == "Changed by somebody else"


def test_windows_line_ends_stay_what_they_are(open_on: Open, root: Path) -> None:
    app = open_on({"main.typ": "one\r\ntwo\r\nthree\r\n"})
    before = revision("one\r\ntwo\r\nthree\r\n")
    done(app, "edit_document", **edited(app, "one\ntwo", "1\n2\n2b", revision=before))
    assert (root / "main.typ").read_bytes() == b"1\r\n2\r\n2b\r\nthree\r\n"


def test_a_document_that_is_not_there_is_not_edited(app: WritingApp, root: Path) -> None:
    refused(app, "edit_document", **edited(app, "a", "b", path="gone.typ"))
    assert not (root / "gone.typ").exists()
