"""A document keeps its line ends, whatever the passage that is replaced and the text that takes its place."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.writing.worlds import done, refused
from yazcore.writing.application import WritingApp

Open = Callable[..., WritingApp]


@pytest.mark.parametrize(
    ("text", "old", "new", "left"),
    [
        ("one\r\ntwo\r\n", "one", "1\n1b", "1\r\n1b\r\ntwo\r\n"),
        ("one\r\ntwo\r\n", "one", "1\r\n1b", "1\r\n1b\r\ntwo\r\n"),
        ("one\r\ntwo\r\n", "one\ntwo", "1\n2", "1\r\n2\r\n"),
        ("one\r\ntwo\r\n", "one\r\ntwo", "1\n2", "1\r\n2\r\n"),
        ("one\ntwo\n", "one", "1\n1b", "1\n1b\ntwo\n"),
        ("one\ntwo\r\nthree\r\n", "one\ntwo", "1\n2", "1\n2\r\nthree\r\n"),
        ("one\ntwo\r\nthree\r\n", "two\nthree", "2\n3", "one\n2\r\n3\r\n"),
    ],
)
def test_a_new_passage_has_the_line_ends_of_its_document(
    open_on: Open, tmp_path: Path, text: str, old: str, new: str, left: str
) -> None:
    app = open_on({"main.typ": text})
    revision = hashlib.sha256(text.encode()).hexdigest()[:16]
    project = app.projects()[0]["projectId"]
    done(app, "edit_document", projectId=project, path="main.typ", old=old, new=new, revision=revision)
    assert (tmp_path / "thesis" / "main.typ").read_bytes() == left.encode()


def test_a_document_below_a_file_is_not_made_and_says_so(open_on: Open, tmp_path: Path) -> None:
    app = open_on({"main.typ": "= One\n"})
    project = app.projects()[0]["projectId"]
    said = refused(app, "create_document", projectId=project, path="main.typ/part.typ", text="x")
    assert "main.typ" in said
    assert (tmp_path / "thesis" / "main.typ").read_text() == "= One\n"
