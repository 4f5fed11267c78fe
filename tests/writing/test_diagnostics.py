"""Diagnostics as data."""

from __future__ import annotations

from typing import Any

import pytest

from yazcore.writing.projects.diagnostics import Diagnostic, counts, of_format, of_host, settled
from yazcore.writing.projects.formats import RawDiagnostic, RawRelated


def raw(message: str = "wrong", **more: Any) -> RawDiagnostic:
    return RawDiagnostic(severity="error", code="x", message=message, **more)


def said(**more: Any) -> Diagnostic:
    return of_format(raw(**more), "typst")


def test_errors_come_first_and_otherwise_the_order_stays() -> None:
    found = settled(
        [
            of_host("a", "w", severity="warning"),
            of_host("b", "e1"),
            of_host("c", "i", severity="info"),
            of_host("d", "e2"),
        ]
    )
    assert [one.code for one in found] == ["b", "d", "a", "c"]


def test_equal_ones_are_folded_and_counted() -> None:
    (one,) = settled([said(file="a.typ", line=1), said(file="a.typ", line=1)])
    assert one.count == 2


def test_an_identity_does_not_change_when_lines_are_added_above() -> None:
    (before,) = settled([said(file="a.typ", line=1)])
    (after,) = settled([said(file="a.typ", line=7)])
    assert before.id == after.id


def test_equal_messages_in_different_places_have_different_identities() -> None:
    one, two = settled([said(file="a.typ", line=1), said(file="a.typ", line=2)])
    assert one.id != two.id


def test_identities_differ_between_files() -> None:
    one, two = settled([said(file="a.typ"), said(file="b.typ")])
    assert one.id != two.id


@pytest.mark.parametrize(
    ("given", "file"),
    [
        ("a.typ", "a.typ"),
        ("./chapters/../a.typ", "a.typ"),
        ("@preview/foo:0.1.0/lib.typ", "@preview/foo:0.1.0/lib.typ"),
        ("/etc/passwd", None),
        ("../outside.typ", None),
        ("C:\\x", None),
        ("a\nb.typ", None),
        ("", None),
    ],
)
def test_a_place_is_a_document_or_nowhere(given: str, file: str | None) -> None:
    one = said(file=given, line=3, column=4)
    assert (one.file, one.line, one.column) == ((file, 3, 4) if file else (None, None, None))


def test_a_long_message_says_how_much_was_left_out() -> None:
    message = said(message="x" * 2_500).message
    assert message == "x" * 2_000 + "… (500 more characters)"


def test_what_only_a_terminal_understands_is_made_visible() -> None:
    assert said(message="a\x1b[31mb\u202ec\r\nd").message == "a�[31mb�c\nd"


def test_hints_and_related_places_are_bounded() -> None:
    one = said(hints=["h" * 600] * 20, related=[RawRelated("r", file="/etc/x", line=1)] * 20)
    assert (len(one.hints), len(one.related)) == (10, 10)
    assert one.related[0].file is None
    assert len(one.hints[0]) < 560


def test_the_place_is_always_in_the_data_and_null_where_nobody_knows() -> None:
    data = of_host("timeout", "too long").as_json()
    assert (data["file"], data["line"], data["column"]) == (None, None, None)


def test_counts_name_errors_and_warnings_even_where_there_are_none() -> None:
    assert counts([]) == {"error": 0, "warning": 0}
    assert counts([of_host("a", "b", severity="info")]) == {"error": 0, "warning": 0, "info": 1}
