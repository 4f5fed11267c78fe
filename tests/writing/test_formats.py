"""Which format has a document, and formats that do not do what formats do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.writing.ports import TYPST, Port
from yazcore.writing.projects.formats import Claim, Folder, FormatFault, Formats

OTHER = Claim(plugin="other", version="2.0", id="other", extensions=(".typ", ".qmd"))
FOLDER = Folder(id="prj_abcdefgh2345", name="thesis", root=Path("/nowhere"))


def test_the_first_claim_of_an_extension_wins() -> None:
    formats = Formats(Port(claims=(TYPST, OTHER)))
    assert (formats.of("a.typ"), formats.of("a.qmd")) == (TYPST, OTHER)
    assert (formats.owned(TYPST), formats.owned(OTHER)) == (frozenset({".typ"}), frozenset({".qmd"}))


def test_an_extension_is_compared_in_lower_case() -> None:
    assert Formats(Port()).of("Main.TYP") == TYPST


def test_a_document_of_no_format_has_none() -> None:
    assert Formats(Port()).of("refs.bib") is None


def test_only_its_own_and_granted_documents_are_shown_to_a_format() -> None:
    shown: list[list[str]] = []

    def find_entry(names: list[str]) -> str | None:
        shown.append(names)
        return None

    Formats(Port(find_entry=find_entry)).find_entry(FOLDER, ["a.typ", "b.bib", ".env/c.typ"])
    assert shown == [["a.typ"]]


def test_the_next_format_is_asked_where_the_first_finds_nothing() -> None:
    formats = Formats(Port(claims=(TYPST, OTHER), find_entry=lambda names: names[0] if names == ["b.qmd"] else None))
    assert formats.find_entry(FOLDER, ["b.qmd"]) == ("b.qmd", OTHER)


def boom(argument: Any) -> Any:
    raise ValueError("/home/anna/secret")


def hang(argument: Any) -> Any:
    raise TimeoutError


@pytest.mark.parametrize(
    ("function", "answer", "problem"),
    [
        ("outline", boom, "it raised ValueError"),
        ("outline", hang, "it took longer than 20 seconds"),
        ("outline", lambda source: None, "its answer has the wrong shape: Expected `array`, got `null`"),
        (
            "outline",
            lambda source: [{"title": "A"}],
            "its answer has the wrong shape: Object missing required field `level` - at `$[0]`",
        ),
        (
            "outline",
            lambda source: [{"title": "A", "level": 0, "kind": "h", "file": "a.typ", "line": 1}],
            "its answer has the wrong shape: Expected `int` >= 1 - at `$[0].level`",
        ),
        (
            "outline",
            lambda source: [{"title": "A", "level": 1, "kind": "h", "file": "/etc/passwd", "line": 1}],
            "it names a file that is no document: the path of the document is absolute",
        ),
        ("collect", lambda outcome: [], "its answer has the wrong shape: Expected `object`, got `array`"),
        (
            "collect",
            lambda outcome: {"diagnostics": [{"severity": "fatal", "code": "x", "message": "m"}]},
            "its answer has the wrong shape: Invalid enum value 'fatal' - at `$.diagnostics[0].severity`",
        ),
        (
            "plan",
            lambda job: {"engine": "typst", "arguments": {"entry": 3}},
            "its answer has the wrong shape: Expected `str`, got `int` - at `$.arguments[...]`",
        ),
    ],
)
def test_a_format_that_fails_is_named_with_its_plugin_and_version(function: str, answer: Any, problem: str) -> None:
    formats = Formats(Port(**{function: answer}))
    with pytest.raises(FormatFault) as caught:
        getattr(formats, function)(TYPST, FOLDER, {})
    assert caught.value.message == f"the format 'typst' of the plugin typst 0.1.0 failed in {function}: {problem}"
    assert caught.value.code == "format-failed"


def test_an_entry_that_is_not_there_is_a_fault() -> None:
    formats = Formats(Port(find_entry=lambda names: "../../etc/passwd"))
    with pytest.raises(FormatFault, match="it names a document that is not there"):
        formats.find_entry(FOLDER, ["a.typ"])
