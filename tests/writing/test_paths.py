"""Names of documents."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yazcore import YazError
from yazcore.writing.projects.paths import document_path


@pytest.mark.parametrize("name", ["main.typ", "chapters/einführung 1.typ", "a/b/c.bib", "...typ", "-x.typ", "a~b.typ"])
def test_a_relative_path_names_a_document(name: str) -> None:
    assert document_path(name) == name


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("", "is empty"),
        ("/etc/passwd", "is absolute"),
        ("~/x.typ", "is absolute"),
        ("../x.typ", "has a part that is empty, . or .."),
        ("a/../../x.typ", "has a part that is empty, . or .."),
        ("a//b.typ", "has a part that is empty, . or .."),
        ("./a.typ", "has a part that is empty, . or .."),
        ("a/", "has a part that is empty, . or .."),
        ("a\\b.typ", "holds a backslash; the parts are joined by /"),
        ("a\0.typ", "holds a control character"),
        ("a\n.typ", "holds a control character"),
        ("x" * 513, "is longer than 512 characters"),
        ("ü" * 128, "has a part longer than 255 bytes"),
        ("\ud800.typ", "holds half of a surrogate pair"),
    ],
)
def test_what_is_no_document_path_is_refused_with_the_reason(name: str, problem: str) -> None:
    with pytest.raises(YazError) as caught:
        document_path(name)
    assert caught.value.code == "document-path"
    assert caught.value.message == f"the path of the document {problem}"


@given(st.text(max_size=40))
def test_an_accepted_path_never_leaves_the_project(name: str) -> None:
    try:
        parts = document_path(name).split("/")
    except YazError:
        return
    assert parts
    assert not {"", ".", ".."} & set(parts)
