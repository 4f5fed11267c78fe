"""`yaz demo` as a test: every step, what it says, and that a step that does not hold is no success."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.commands import Shell, install_zotero, shell
from yazcore.writing import demo as story
from yazcore.writing import sample

STEPS = [
    ("sample thesis", r"\d+ Typst files, a bibliography, one mistake"),
    ("sample library", r"a real zotero\.sqlite with 200 items and more"),
    ("grant", r"Zotero, isolated, in a YAZ_HOME of the demo's own; your own grants are untouched"),
    ("held by", r"Landlock \d, seccomp \(\d+ instructions\), resource limits"),
    ("plugins active", r"typst, yaz, zotero"),
    ("MCP server on", r"http://127\.0\.0\.1:\d+/mcp, a token on every request"),
    ("tools/list", r"11 tools, 2 from Zotero"),
    ("read_outline", r"\d+ headings: Introduction, .+, …"),
    ("compile", r"no PDF\. chapters/results\.typ:\d+:\d+: unknown variable: avrage"),
    ("read_document", r"line \d+: .*#avrage.*"),
    ("edit_document", r"#avrage becomes #average"),
    ("search-library", r"'muller cost risk' finds “.+” \(Müller, .+, \d{4}\)"),
    ("cite-item", r"@\w+ at line \d+, one entry in references\.bib"),
    ("compile", r"a PDF of \d+ KiB, read as yaz://project/prj_[a-z2-7]{12}/pdf"),
    ("yaz://permissions", r"owner: \d+ permissions"),
    ("MCP server off", r"the token is dead, the port is closed"),
]


@pytest.fixture
def yaz(tmp_path: Path) -> Iterator[Shell]:
    """A shell with the Zotero plugin, which the user has not granted."""
    with shell(tmp_path / "shell") as made:
        install_zotero(made.site)
        yield made


def test_every_step_holds_and_says_what_came_of_it(yaz: Shell, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    done = yaz.run("demo", "--keep", str(kept))
    assert (done.status, done.err) == (0, "")
    *lines, last = done.out.splitlines()
    said = [(line[:3].strip(), line[4:22].strip(), line[22:]) for line in lines]
    assert [number for number, _, _ in said] == [str(number) for number in range(1, len(STEPS) + 1)]
    assert [step for _, step, _ in said] == [step for step, _ in STEPS]
    for (_, _, result), (step, pattern) in zip(said, STEPS, strict=True):
        assert re.fullmatch(pattern, result), f"{step}: {result}"
    assert last == f"Everything held. The thesis: {kept / 'thesis.pdf'}"
    assert (kept / "thesis.pdf").read_bytes().startswith(b"%PDF")
    assert sample.MISTAKE not in (kept / "thesis" / "chapters" / "results.typ").read_text("utf-8")
    assert not (kept / "home" / "run.json").exists()
    assert not yaz.home.folder.exists(), "the demo has a YAZ_HOME of its own"


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the sample thesis, which the demo plays with."""
    folder = tmp_path / "copy"
    shutil.copytree(sample.FOLDER, folder)
    monkeypatch.setattr(sample, "FOLDER", folder)
    return folder


def test_a_step_that_does_not_hold_ends_the_demo_with_a_sentence(yaz: Shell, copy: Path) -> None:
    results = copy / "chapters" / "results.typ"
    results.write_text(results.read_text("utf-8").replace(sample.MISTAKE, sample.MENDED), "utf-8")
    done = yaz.here("demo")
    assert done.status == 1
    assert done.err.startswith("yaz: [demo-failed] compile: the mistake was not found. ")
    assert done.err.count("\n") == 1
    assert "Everything held" not in done.out
    assert [line[4:22].strip() for line in done.out.splitlines()][-1] == "read_outline"


def test_an_answer_that_is_an_error_ends_the_demo(yaz: Shell, copy: Path) -> None:
    introduction = copy / "chapters" / "introduction.typ"
    introduction.write_text(introduction.read_text("utf-8").replace(story._ANCHOR, "something else"), "utf-8")
    done = yaz.here("demo")
    assert done.status == 1
    assert done.err.startswith("yaz: [demo-failed] zotero__cite-item: the answer is an error: ")


def test_without_the_zotero_plugin_the_demo_says_what_it_needs(yaz: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "yaz_plugin_zotero.sample", None)
    done = yaz.here("demo")
    assert (done.status, done.out) == (1, "")
    assert done.err == (
        "yaz: [demo-needs-zotero] the demo cites with the Zotero plugin, which is not installed. "
        "pip install yaz-plugin-zotero\n"
    )


def test_a_folder_that_is_not_empty_is_left_alone(yaz: Shell, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.typ").write_text("= Mine")
    done = yaz.here("demo", "--keep", str(tmp_path / "mine"))
    assert (done.status, done.out) == (2, "")
    assert done.err.endswith("mine is not empty\n")
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["thesis.typ"]
