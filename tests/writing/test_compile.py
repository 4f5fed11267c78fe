"""Compiling projects: what the result says, whoever fails."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

import attrs
import pytest

from tests.writing.ports import Port
from tests.writing.worlds import write
from yazcore import Home, YazError
from yazcore.writing.projects.compile import Compilation, Compiler
from yazcore.writing.projects.engines import EngineJob, EngineRun, Limits, TypstEngine
from yazcore.writing.projects.formats import Formats
from yazcore.writing.projects.project import Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    root = write(tmp_path / "thesis", {"main.typ": "= One\n"})
    return Project(id="prj_abcdefgh2345", name="thesis", root=root, entry="main.typ", format="typst")


class Setting:
    """A compiler, its engine and its home; `functions` take the place of the format's own."""

    def __init__(
        self, home: Home, tmp_path: Path, *, limits: Limits | None = None, seconds: float = 60.0, **functions: Any
    ) -> None:
        engines = {"typst": TypstEngine(tmp_path / "packages", limits)}
        self.home = home
        self.compiler = Compiler(Formats(Port(**functions)), engines, home, seconds)


@pytest.fixture
def setting(home: Home, tmp_path: Path) -> Setting:
    return Setting(home, tmp_path)


def codes(compilation: Compilation) -> list[str]:
    return [one.code for one in compilation.diagnostics]


def test_a_good_project_gives_a_pdf_and_no_errors(setting: Setting, project: Project) -> None:
    compilation = setting.compiler.compile(project)
    assert (compilation.status, compilation.succeeded, compilation.has_errors) == ("ok", True, False)
    assert compilation.artefact is not None
    assert compilation.size == compilation.artefact.stat().st_size
    assert compilation.artefact.is_relative_to(setting.home.folder)


def test_nothing_is_written_into_the_project(setting: Setting, project: Project) -> None:
    setting.compiler.compile(project)
    assert [path.name for path in project.root.iterdir()] == ["main.typ"]


def test_an_error_has_its_place_and_there_is_no_pdf(setting: Setting, project: Project) -> None:
    write(project.root, {"main.typ": "= One\n#nope"})
    compilation = setting.compiler.compile(project)
    assert (compilation.status, compilation.succeeded, compilation.has_errors) == ("failed", False, True)
    (one,) = compilation.diagnostics
    assert (one.file, one.line, one.column, one.source) == ("main.typ", 2, 2, "typst")


def test_a_pdf_and_errors_can_both_be(home: Home, tmp_path: Path, project: Project) -> None:
    report = {"diagnostics": [{"severity": "error", "code": "x", "message": "not so good"}]}
    compilation = Setting(home, tmp_path, collect=lambda outcome: report).compiler.compile(project)
    assert (compilation.status, compilation.succeeded, compilation.has_errors) == ("ok_with_errors", True, True)


def test_neither_a_pdf_nor_an_error_is_an_error_of_its_own(home: Home, tmp_path: Path, project: Project) -> None:
    write(project.root, {"main.typ": "#nope"})
    compilation = Setting(home, tmp_path, collect=lambda outcome: {"diagnostics": []}).compiler.compile(project)
    assert (compilation.status, codes(compilation)) == ("failed", ["compile-failed"])


def test_a_document_that_loops_for_ever_is_ended(home: Home, tmp_path: Path, project: Project) -> None:
    write(project.root, {"main.typ": "#for a in range(100000) { for b in range(100000) { let x = a * b } }"})
    compilation = Setting(home, tmp_path, seconds=1).compiler.compile(project)
    assert (compilation.status, codes(compilation)) == ("timeout", ["timeout"])
    assert compilation.diagnostics[0].message == "the compilation took longer than 1 s and was ended"


def test_a_document_that_takes_all_memory_is_ended(home: Home, tmp_path: Path, project: Project) -> None:
    greedy = '#let a = "x" * 1000000\n#let l = ()\n#for i in range(100000) { l.push(a + str(i)) }'
    write(project.root, {"main.typ": greedy})
    compilation = Setting(home, tmp_path, limits=Limits(memory=400 * 2**20)).compiler.compile(project)
    assert (compilation.status, codes(compilation)) == ("crashed", ["memory"])


def test_a_caller_that_left_ends_it(setting: Setting, project: Project) -> None:
    left = threading.Event()
    left.set()
    compilation = setting.compiler.compile(project, cancelled=left)
    assert (compilation.status, codes(compilation), compilation.has_errors) == ("cancelled", ["cancelled"], False)


def test_the_newest_pdf_outlives_a_compilation_that_makes_none(setting: Setting, project: Project) -> None:
    first = setting.compiler.compile(project)
    write(project.root, {"main.typ": "#nope"})
    second = setting.compiler.compile(project)
    assert not second.succeeded
    assert setting.compiler.artefact(project.id) == first.artefact
    assert first.artefact is not None
    assert first.size == first.artefact.stat().st_size


def test_the_newest_pdf_outlives_the_process(setting: Setting, home: Home, tmp_path: Path, project: Project) -> None:
    assert setting.compiler.artefact(project.id) is None
    first = setting.compiler.compile(project)
    assert Setting(home, tmp_path).compiler.artefact(project.id) == first.artefact


def test_only_the_newest_pdf_is_kept(setting: Setting, project: Project) -> None:
    for text in ("= One", "= Two", "#nope"):
        write(project.root, {"main.typ": text})
        setting.compiler.compile(project)
    assert list(setting.home.path("builds", project.id).iterdir()) == [setting.compiler.artefact(project.id)]


def test_what_a_dead_process_left_goes_after_a_day(setting: Setting, project: Project) -> None:
    builds = setting.home.path("builds", project.id)
    for name in ("cmp_old", "cmp_new"):
        (builds / name).mkdir(parents=True)
    os.utime(builds / "cmp_old", (0, 0))
    setting.compiler.compile(project)
    assert sorted(path.name for path in builds.iterdir()) == ["cmp_new", "newest.pdf"]


def test_the_last_compilation_is_remembered_and_knows_that_files_changed(setting: Setting, project: Project) -> None:
    assert setting.compiler.last(project.id) is None
    compilation = setting.compiler.compile(project)
    assert setting.compiler.last(project.id) == compilation
    assert not setting.compiler.changed_since(project, compilation)
    write(project.root, {"main.typ": "= Another title\n"})
    assert setting.compiler.changed_since(project, compilation)


def test_an_entry_that_is_gone_is_a_diagnostic(setting: Setting, project: Project) -> None:
    (project.root / "main.typ").unlink()
    compilation = setting.compiler.compile(project)
    assert (compilation.status, codes(compilation)) == ("failed", ["missing-file"])


def test_a_source_that_is_no_text_is_a_diagnostic(setting: Setting, project: Project) -> None:
    write(project.root, {"main.typ": b"\xff\xfe"})
    (one,) = setting.compiler.compile(project).diagnostics
    assert (one.code, one.file) == ("encoding", "main.typ")


def test_what_the_format_may_not_read_the_engine_may_not(setting: Setting, project: Project) -> None:
    write(project.root, {".env": "SECRET=1", "main.typ": '#panic(read(".env"))'})
    compilation = setting.compiler.compile(project)
    if compilation.sandbox != "landlock":
        pytest.skip("this kernel has no Landlock")
    assert codes(compilation) == ["escape-root"]
    assert "SECRET" not in str(compilation.diagnostics)


# --- formats and engines that fail ---


def test_a_format_that_cannot_read_the_outcome_loses_no_pdf(home: Home, tmp_path: Path, project: Project) -> None:
    def collect(outcome: Any) -> Any:
        raise RuntimeError("parser")

    compilation = Setting(home, tmp_path, collect=collect).compiler.compile(project)
    assert (compilation.status, codes(compilation)) == ("ok", ["log-parse"])
    assert compilation.diagnostics[0].message == (
        "the format 'typst' of the plugin typst 0.1.0 failed in collect: it raised RuntimeError"
    )


def test_a_format_that_cannot_plan_is_a_diagnostic(home: Home, tmp_path: Path, project: Project) -> None:
    compilation = Setting(home, tmp_path, plan=lambda job: "typst").compiler.compile(project)
    assert (compilation.status, codes(compilation)) == ("unavailable", ["format-failed"])


ANOTHER = (
    "the format 'typst' of the plugin typst 0.1.0 failed in plan: it wants something else compiled than the project's "
    "entry"
)


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        ({"engine": "sh", "arguments": {"entry": "main.typ"}}, "there is no engine 'sh' here"),
        ({"engine": "typst", "arguments": {"entry": "../other.typ"}}, ANOTHER),
        ({"engine": "typst", "arguments": {"entry": "main.typ", "--shell": "1"}}, ANOTHER),
    ],
)
def test_a_plan_runs_nothing_but_a_registered_engine_on_the_entry(
    home: Home, tmp_path: Path, project: Project, plan: Any, message: str
) -> None:
    compilation = Setting(home, tmp_path, plan=lambda job: plan).compiler.compile(project)
    assert (compilation.status, compilation.diagnostics[0].message) == ("unavailable", message)


class Engine:
    """An engine of a test."""

    extensions = frozenset({".typ"})

    def __init__(self, reason: str | None = None) -> None:
        self.reason = reason
        self.started = threading.Event()
        self.may_end = threading.Event()

    def unavailable(self) -> str | None:
        return self.reason

    def run(self, job: EngineJob) -> EngineRun:
        self.started.set()
        self.may_end.wait(20)
        raise FileNotFoundError(2, "No such file or directory")


def with_engine(home: Home, engine: Engine) -> Compiler:
    return Compiler(Formats(Port()), {"typst": engine}, home)


def test_an_engine_that_is_not_installed_says_what_to_do(home: Home, project: Project) -> None:
    engine = Engine("Typst is not installed here: pip install 'yazcore[writing]'")
    compilation = with_engine(home, engine).compile(project)
    assert (compilation.status, codes(compilation)) == ("unavailable", ["engine-missing"])
    assert "pip install" in compilation.diagnostics[0].message


def test_an_engine_that_cannot_be_started_is_a_diagnostic(home: Home, project: Project) -> None:
    engine = Engine()
    engine.may_end.set()
    compilation = with_engine(home, engine).compile(project)
    assert compilation.diagnostics[0].message == "the engine 'typst' could not be started: No such file or directory"


def test_an_engine_of_another_language_is_refused(home: Home, project: Project) -> None:
    engine = Engine()
    engine.extensions = frozenset({".tex"})
    compilation = with_engine(home, engine).compile(project)
    assert compilation.diagnostics[0].message == "the engine 'typst' does not compile main.typ"


def test_only_so_many_run_over_all_projects(home: Home, project: Project) -> None:
    engine = Engine()
    compiler = with_engine(home, engine)
    others = [attrs.evolve(project, id=f"prj_aaaaaaaaaaa{letter}") for letter in "ab"]
    running = [threading.Thread(target=compiler.compile, args=(other,)) for other in others]
    for thread in running:
        thread.start()
        assert engine.started.wait(20)
        engine.started.clear()
    try:
        with pytest.raises(YazError) as caught:
            compiler.compile(project)
    finally:
        engine.may_end.set()
        for thread in running:
            thread.join()
    assert caught.value.code == "compile-busy"


def test_one_compilation_of_a_project_runs_at_a_time(home: Home, project: Project) -> None:
    engine = Engine()
    compiler = with_engine(home, engine)
    first = threading.Thread(target=compiler.compile, args=(project,))
    first.start()
    assert engine.started.wait(20)
    try:
        with pytest.raises(YazError) as caught:
            compiler.compile(project)
    finally:
        engine.may_end.set()
        first.join()
    assert caught.value.code == "compile-running"
    assert compiler.compile(project).status == "unavailable"
