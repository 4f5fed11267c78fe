"""Reading, making and editing documents, through the tools and the real file service."""

from __future__ import annotations

import asyncio
import hashlib
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest

from tests.writing.worlds import done, refused, write
from yazcore import OWNER, Outcome, YazError
from yazcore.capabilities.services.files import FileService
from yazcore.writing.application import WritingApp
from yazcore.writing.projects import documents
from yazcore.writing.projects.documents import LARGEST_DOCUMENT

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


TOO_LARGE = "the document is larger than 5 MiB. split it."


def test_a_document_of_the_largest_size_is_read(app: WritingApp, root: Path) -> None:
    write(root, {"large.txt": b"x" * (LARGEST_DOCUMENT - 5) + b"\nend\n"})
    assert done(app, "read_document", **the(app), path="large.txt", fromLine=2)["text"] == "end"


@pytest.mark.parametrize("size", [LARGEST_DOCUMENT + 1, 2**40], ids=["one-byte", "sparse"])
def test_a_larger_document_is_neither_read_nor_edited(app: WritingApp, root: Path, size: int) -> None:
    with (root / "large.txt").open("wb") as large:
        large.truncate(size)
    path = {**the(app), "path": "large.txt"}
    assert refused(app, "read_document", **path) == TOO_LARGE
    whole = hashlib.sha256(bytes(size)).hexdigest()[:16] if size < 2**30 else "0" * 16
    assert refused(app, "edit_document", **path, old="a", new="b", revision=whole) == TOO_LARGE
    assert (root / "large.txt").stat().st_size == size


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


@attrs.frozen
class Folder:
    """Files of one folder, without a plugin and without a call."""

    root: Path

    def read_bytes(self, path: str) -> bytes:
        return (self.root / path).read_bytes()

    def write_bytes(self, path: str, data: bytes, *, expect: str | None = None) -> str:
        (self.root / path).write_bytes(data)
        return documents.revision_of(data)


WOULD_BE_TOO_LARGE = (
    "the document would be larger than 5 MiB; nothing was written. put part of its text into a document of its own "
    "with create_document."
)


def test_no_document_is_made_that_nobody_could_read(tmp_path: Path) -> None:
    # The schema of create_document allows less, so this is asked for without the tool.
    documents.create(Folder(tmp_path), "fits.txt", "ü" * (LARGEST_DOCUMENT // 2), ())
    with pytest.raises(YazError) as caught:
        documents.create(Folder(tmp_path), "large.txt", "ü" * (LARGEST_DOCUMENT // 2) + "x", ())
    assert caught.value.code == "document-too-large"
    assert f"{caught.value.message}. {caught.value.fix}." == WOULD_BE_TOO_LARGE
    assert [path.name for path in tmp_path.iterdir()] == ["fits.txt"]


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


def test_a_document_does_not_grow_beyond_what_can_be_read(app: WritingApp, root: Path) -> None:
    before = "end\n" + "x" * (LARGEST_DOCUMENT - 6)
    write(root, {"main.typ": before})
    large = {**edited(app, "end", "END..", revision=revision(before)), "path": "main.typ"}
    assert refused(app, "edit_document", **{**large, "new": "END..."}) == WOULD_BE_TOO_LARGE
    assert (root / "main.typ").read_text() == before
    written = done(app, "edit_document", **large)
    assert (root / "main.typ").stat().st_size == LARGEST_DOCUMENT
    read = done(app, "read_document", **the(app), path="main.typ", lines=1)
    assert (read["revision"], read["text"]) == (written["revision"], "END..")


# --- editing, while others write ---


def between_reading_and_writing(monkeypatch: pytest.MonkeyPatch, happens: Callable[[], object]) -> None:
    """Let something happen each time a document has been read."""
    read_bytes = FileService.read_bytes

    def read(service: FileService, path: str, *, place: str | None = None) -> bytes:
        data = read_bytes(service, path, place=place)
        happens()
        return data

    monkeypatch.setattr(FileService, "read_bytes", read)


CHANGED = (
    "the document is not in the revision you read; nothing was written. read it again with read_document, and edit "
    "that revision."
)


@pytest.mark.parametrize("theirs", ["= One\n\nA cat sat down.\nA dog sat.\n", None], ids=["written", "removed"])
def test_what_another_writes_meanwhile_is_kept(
    app: WritingApp, root: Path, monkeypatch: pytest.MonkeyPatch, theirs: str | None
) -> None:
    main = root / "main.typ"
    another = main.unlink if theirs is None else lambda: main.write_text(theirs)
    arguments = edited(app, "A cat", "A lion")
    between_reading_and_writing(monkeypatch, another)
    assert refused(app, "edit_document", **arguments) == CHANGED
    assert (main.read_text() if main.exists() else None) == theirs


def test_of_many_edits_of_one_revision_one_wins(app: WritingApp, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    animals = ["lion", "bear", "wolf", "hare", "crow", "toad", "mole", "deer"]
    edits = [edited(app, "A cat", f"A {animal}") for animal in animals]
    between_reading_and_writing(monkeypatch, threading.Barrier(len(edits), timeout=60).wait)  # all have read it by then

    async def all_at_once() -> list[Outcome]:
        gate = app.host.gate
        return await asyncio.gather(*(gate.call_tool(OWNER, "edit_document", edit) for edit in edits))

    outcomes = dict(zip(animals, asyncio.run(all_at_once()), strict=True))
    (winner,) = [animal for animal, outcome in outcomes.items() if not outcome.is_error]
    assert {outcome.text for outcome in outcomes.values() if outcome.is_error} == {CHANGED}
    assert (root / "main.typ").read_text() == TEXT.replace("A cat", f"A {winner}")
