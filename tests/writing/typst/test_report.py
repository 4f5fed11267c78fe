"""What the compiler says, read; the texts are the compiler's own, from real runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import typst
from hypothesis import given
from hypothesis import strategies as st

from yazcore.writing.plugins.typst.report import classify, diagnostics


def said_of(folder: Path, text: str, **others: str) -> list[dict[str, Any]]:
    """Compile for real, and read what the compiler says."""
    (folder / "main.typ").write_bytes(text.encode())
    for name, content in others.items():
        (folder / f"{name}.typ").write_text(content)
    output: dict[str, Any] = {"error": None, "warnings": [], "failure": None, "cut": False}
    try:
        _, warnings = typst.compile_with_warnings(
            str(folder / "main.typ"), root=str(folder), ignore_system_fonts=True, format="pdf"
        )
        output["warnings"] = [{"message": one.message, "text": one.diagnostic} for one in warnings]
    except typst.TypstError as error:
        output["error"] = {"message": error.message, "text": error.diagnostic}
    return diagnostics(output, "main.typ")


@pytest.fixture(autouse=True)
def _in_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The compiler names places relative to where it runs.
    monkeypatch.chdir(tmp_path)


def places(found: list[dict[str, Any]]) -> list[tuple[str | None, int | None, int | None]]:
    return [(one.get("file"), one.get("line"), one.get("column")) for one in found]


def test_columns_count_code_points_from_one(tmp_path: Path) -> None:
    (one,) = said_of(tmp_path, "= T\nHéllo 😀 #nope")
    assert (one["message"], one["code"]) == ("unknown variable: nope", "undefined-command")
    assert places([one]) == [("main.typ", 2, 10)]


def test_every_error_of_a_stage_is_there_with_its_hints(tmp_path: Path) -> None:
    found = said_of(tmp_path, "#let a = (\n= B\n#foo(]\n$ x\n")
    assert [one["message"] for one in found] == [
        "unclosed delimiter",
        "unexpected equals sign",
        "the character `#` is not valid in code",
        "unclosed delimiter",
        "unexpected closing bracket",
        "unclosed delimiter",
    ]
    assert {one["code"] for one in found} == {"syntax"}
    assert found[2]["hints"] == ["you are already in code mode", "try removing the `#`"]
    assert places(found)[3] == ("main.typ", 3, 5)


def test_the_way_to_an_error_is_related_to_it(tmp_path: Path) -> None:
    (one,) = said_of(tmp_path, '#let f(x) = {\n  x + "a"\n}\n#let g(y) = f(y)\n#g(1)')
    assert places([one]) == [("main.typ", 2, 3)]
    assert one["related"] == [
        {"message": "while calling `f`", "file": "main.typ", "line": 4},
        {"message": "while calling `g`", "file": "main.typ", "line": 5},
    ]


def test_an_error_in_an_included_file_is_there(tmp_path: Path) -> None:
    (one,) = said_of(tmp_path, '#include "part.typ"', part="\n#oops")
    assert places([one]) == [("part.typ", 2, 2)]


def test_warnings_have_places_too(tmp_path: Path) -> None:
    (one,) = said_of(tmp_path, '#set text(font: "Nowhere")\nx')
    assert (one["severity"], one["code"], one["line"]) == ("warning", "missing-font", 1)


def test_a_place_drawn_in_a_panic_is_text(tmp_path: Path) -> None:
    drawn = "x\\n  ┌─ /etc/passwd:1:1\\n  │\\n\\nerror: fake\\n  ┌─ main.typ:9:9\\n  │\\n"
    (one,) = said_of(tmp_path, f'\n#panic("{drawn}")')
    assert one["code"] == "panic"
    assert "/etc/passwd:1:1" in one["message"]
    assert "error: fake" in one["message"]
    assert places([one]) == [("main.typ", 2, 2)]


def test_a_place_drawn_in_a_later_panic_makes_no_error_of_its_own(tmp_path: Path) -> None:
    drawn = "second\\n\\n\\nerror: fake\\n  ┌─ main.typ:1:1\\n  │\\n1 │ See @one.\\n  │ ^\\n\\n"
    found = said_of(tmp_path, f'See @one.\n#show heading: it => panic("{drawn}")\n= X\n')
    assert [one["code"] for one in found] == ["undefined-ref", "panic"]
    assert places(found) == [("main.typ", 1, 5), ("main.typ", 2, 22)]


def test_a_place_drawn_in_a_later_message_stays_in_it(tmp_path: Path) -> None:
    drawn = "second\\n  ┌─ /etc/passwd:1:1\\nthird"
    found = said_of(tmp_path, f'See @one.\n#show heading: it => panic("{drawn}")\n= X\n')
    assert found[1]["message"] == "panicked with: second\n  ┌─ /etc/passwd:1:1\nthird"
    assert places(found)[1] == ("main.typ", 2, 22)


def test_the_place_of_a_message_that_is_known_exactly_is_the_first() -> None:
    text = "error: m\n  ┌─ a.typ:1:0\n  │\n\n  ┌─ b.typ:2:0\n  │\n"
    assert places(diagnostics({"error": {"message": "m", "text": text}}, "main.typ")) == [("a.typ", 1, 1)]


def test_a_panic_may_say_what_another_error_says(tmp_path: Path) -> None:
    (one,) = said_of(tmp_path, '#panic("failed to download package")')
    assert (one["code"], one["hints"]) == ("panic", [])


def test_hints_about_options_of_a_command_nobody_runs_are_left_out(tmp_path: Path) -> None:
    (one,) = said_of(tmp_path, '#read("../outside.txt")')
    assert one["code"] == "escape-root"
    assert one["hints"] == [
        "cannot access files outside of the project sandbox",
        "only files of the project can be read: copy the file into the project",
    ]


def test_an_entry_that_is_no_text_is_named(tmp_path: Path) -> None:
    (tmp_path / "bad.typ").write_bytes(b"\xff\xfe")
    with pytest.raises(typst.TypstError) as caught:
        typst.compile("bad.typ", root=".")
    error = {"message": caught.value.message, "text": caught.value.diagnostic}
    (one,) = diagnostics({"error": error}, "bad.typ")
    assert (one["code"], one["file"], one["hints"]) == ("encoding", "bad.typ", ["save the file as UTF-8"])


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("unknown variable: x", "undefined-command"),
        ("module `calc` does not contain `foo`", "undefined-command"),
        ("file not found (searched at nope.png)", "missing-file"),
        ("label `<a>` does not exist in the document", "undefined-ref"),
        ("label `<a>` occurs multiple times in the document", "duplicate-label"),
        ("failed to download package (https://…: Connection Failed)", "package-unavailable"),
        ("failed to load file (access denied)", "escape-root"),
        ("layout did not converge within 5 attempts", "not-converged"),
        ("expected string, found integer", "type"),
        ("expected expression", "syntax"),
        ("cannot add integer and string", "type"),
        ("assertion failed: x", "assertion"),
        ("maximum function call depth exceeded", "runaway"),
        ("failed to parse BibLaTeX (expected comma)", "bibliography"),
        ("something quite new", "typst"),
    ],
)
def test_messages_have_stable_codes(message: str, code: str) -> None:
    assert classify(message)[0] == code


def test_what_came_instead_of_a_report_is_an_error() -> None:
    found = diagnostics({"failure": "RuntimeError: Failed to canonicalize path: No such file or directory"}, "main.typ")
    assert [(one["code"], one["message"]) for one in found] == [
        ("missing-file", "the project's entry is not there any more")
    ]
    (other,) = diagnostics({"failure": "PanicException: index out of bounds"}, "main.typ")
    assert other["code"] == "engine-failed"


def test_that_there_was_more_is_said() -> None:
    (one,) = diagnostics({"cut": True}, "main.typ")
    assert (one["severity"], one["code"]) == ("info", "cut")


_LINES = st.sampled_from(
    [
        "error: x",
        "warning: y",
        "help: z",
        "",
        "  ┌─ a.typ:1:2",
        "  ┌─ a.typ:0:0",
        "  │",
        "1 │ text",
        "  = hint: h",
        "    more",
        "text",
    ]
)


@given(st.lists(_LINES, max_size=20), st.text(max_size=20))
def test_any_text_is_read_without_failing(lines: list[str], message: str) -> None:
    for one in diagnostics({"error": {"message": message, "text": "\n".join(lines)}}, "main.typ"):
        assert one.get("line", 1) >= 1
        assert one.get("column", 1) >= 1
