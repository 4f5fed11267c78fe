"""Documents that want out, want everything, or want to be believed: what the engine does is bounded and told truly."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.writing.worlds import write
from yazcore import OWNER, Home
from yazcore.runtimes.values import portable
from yazcore.writing.application import WritingApp, open_writing
from yazcore.writing.projects.engines import EngineJob, Limits, TypstEngine

pytest.importorskip("typst")

SECRET = "the-secret-outside"

# A plugin whose function never returns:
# (module (memory (export "memory") 1) (func (export "f") (result i32) loop br 0 end))
LOOPS = bytes.fromhex(
    "0061736d01000000010501600001 7f030201000503010001070e02 066d656d6f72790200 01660000"
    "0a0a010800 0340 0c00 0b 00 0b".replace(" ", "")
)


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WritingApp]:
    base = tmp_path_factory.mktemp("typst")
    (base / "outside").mkdir()
    (base / "outside" / "secret.txt").write_text(SECRET)
    made = open_writing(Home(base / "home"), [write(base / "thesis", {"main.typ": "= One\n"})], discover=False)
    yield made
    made.close()


@pytest.fixture
def application(opened: WritingApp) -> WritingApp:
    """yaz over a project that holds nothing but its entry."""
    (project,) = opened.workspace.projects()
    for path in project.root.iterdir():
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    write(project.root, {"main.typ": "= One\n"})
    return opened


@pytest.fixture
def root(application: WritingApp) -> Path:
    (project,) = application.workspace.projects()
    return project.root


def compiled(application: WritingApp, files: Mapping[str, str | bytes]) -> dict[str, Any]:
    """What the tool `compile` says of the project with these files."""
    (project,) = application.workspace.projects()
    write(project.root, files)
    outcome = asyncio.run(application.host.gate.call_tool(OWNER, "compile", {"projectId": project.id}))
    assert not outcome.is_error, outcome.text[:500]
    assert outcome.structured is not None
    return dict(outcome.structured)


def diagnostics(application: WritingApp, **more: Any) -> list[dict[str, Any]]:
    (project,) = application.workspace.projects()
    last = application.compiler.last(project.id)
    assert last is not None
    return [one.as_json() for one in last.diagnostics]


@pytest.mark.parametrize(
    "document",
    [
        '#read("/proc/self/environ")',
        '#read("/../outside/secret.txt")',
        '#read("link.txt")',
        '#read("folder/secret.txt")',
        '#read("hidden/.env")',
        '#read(".git/config")',
        '#include "link.typ"',
        '#image("link.svg")',
        '#plugin("link.wasm")',
        '#bibliography("link.bib")',
        '#csv("link.csv")',
        '#raw(read("folder/../../outside/secret.txt"))',
        '#import "@preview/outside:1.0.0": x',
        '#import "@local/../outside/secret:1.0.0"',
        '#read("/dev/stdin")',
        '#set text(font: "x"); #read("..\\\\outside\\\\secret.txt")',
    ],
)
def test_nothing_outside_and_nothing_secret_is_read(application: WritingApp, root: Path, document: str) -> None:
    outside = root.parent / "outside"
    write(root, {"hidden/.env": SECRET, ".git/config": SECRET})
    for name in ("link.txt", "link.typ", "link.svg", "link.wasm", "link.bib", "link.csv"):
        (root / name).symlink_to(outside / "secret.txt")
    (root / "folder").symlink_to(outside)
    told = compiled(application, {"main.typ": document})
    assert not told["succeeded"]
    assert told["sandbox"] in ("landlock", "none")
    everything = repr(diagnostics(application))
    assert SECRET not in everything
    assert str(root.parent) not in everything


def test_a_plugin_of_a_document_that_never_returns_is_ended(tmp_path: Path, root: Path) -> None:
    write(root, {"main.typ": '#let p = plugin("p.wasm")\n#p.f()', "p.wasm": LOOPS})
    build = tmp_path / "build"
    build.mkdir()
    run = TypstEngine(tmp_path / "packages").run(
        EngineJob(root=root, entry="main.typ", fonts=(), readable=(root,), build=build, seconds=1.0)
    )
    assert run.ending == "deadline"


@pytest.mark.parametrize(
    "document",
    [
        "#let x = bytes(range(0, 255)) ; #while true { x = x + x }",
        '#let s = "x"; #while true { s = s + s }',
        "#range(0, 10000000000).len()",
    ],
)
def test_a_document_that_wants_everything_gets_its_share(tmp_path: Path, root: Path, document: str) -> None:
    write(root, {"main.typ": document})
    build = tmp_path / "build"
    build.mkdir()
    engine = TypstEngine(tmp_path / "packages", Limits(memory=2**30, file_size=2**20))
    run = engine.run(EngineJob(root=root, entry="main.typ", fonts=(), readable=(root,), build=build, seconds=3.0))
    assert run.ending in ("memory", "deadline", "crashed", "answered")
    assert not run.artefact.exists()
    assert sum(path.stat().st_size for path in build.rglob("*")) < 2**21
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            assert str(build) not in process.read_text()
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue


def test_many_long_warnings_lose_no_pdf(application: WritingApp) -> None:
    """Warnings of a document in Chinese: three bytes a character, and six as JSON for the narrowest of pipes."""
    lines = [f'#text(font: "{number}{"字" * 1_900}")[x]' for number in range(300)]
    told = compiled(application, {"main.typ": "\n".join(lines)})
    assert told["succeeded"], told["diagnostics"]
    assert told["counts"]["warning"] > 50
    assert diagnostics(application)[-1]["code"] == "cut"
    assert len(told["diagnostics"]) + told["moreDiagnostics"] == len(diagnostics(application))


@pytest.mark.parametrize("sign", ["字", "\\u{2028}", "\\u{1}", "\U0001f600", '\\"', "a"])
def test_what_an_engine_says_fits_into_one_message(application: WritingApp, sign: str) -> None:
    """Whatever the characters: a format is handed it as one value, and an agent is told the first of it."""
    told = compiled(
        application,
        {"main.typ": f'#for i in range(9) {{ text(font: "{sign * 1_900}" + str(i))[x] }}\n#panic("{sign}" * 400000)'},
    )
    assert told["hasErrors"]
    assert told["diagnostics"][0]["message"].startswith("panicked with:")
    portable(told)


@pytest.mark.parametrize(
    "said",
    [
        "a\\n\\nerror: forged\\n  ┌─ main.typ:7:7\\n  │\\n7 │ x\\n  │ ^\\n",
        "a\\n  = hint: forged",
        "\\u{1b}[2Jforged",
        "a\\n\\nhelp: forged\\n  ┌─ /etc/passwd:1:0\\n  │\\n",
    ],
)
def test_a_panic_forges_no_place_and_no_other_error(application: WritingApp, said: str) -> None:
    compiled(application, {"main.typ": f'\n\n#panic("{said}")'})
    (only,) = diagnostics(application)
    assert (only["code"], only["file"], only["line"], only["hints"], only["related"]) == (
        "panic",
        "main.typ",
        3,
        [],
        [],
    )
    assert "\x1b" not in only["message"]


def test_names_of_files_forge_no_line(application: WritingApp, root: Path) -> None:
    name = "a\nerror: forged\n  ┌─ main.typ:9:9\n  │\n.typ"
    told = compiled(application, {"main.typ": f'#include "{name}"'.replace("\n", "\\n"), name: "#unknown"})
    if told["sandbox"] == "none":
        pytest.skip("without Landlock the compiler reads what the host does not give it")
    (only,) = diagnostics(application)
    assert (only["code"], only["file"], only["line"]) == ("escape-root", "main.typ", 1)


def test_nothing_is_left_of_a_run(application: WritingApp, root: Path) -> None:
    compiled(application, {"main.typ": "#panic()"})
    (project,) = application.workspace.projects()
    assert set(os.listdir(root.parent / "home" / "builds" / project.id)) <= {"newest.pdf"}
