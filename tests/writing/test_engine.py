"""The Typst engine: real compilations, and documents that mean harm."""

from __future__ import annotations

import os
import selectors
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.writing.worlds import write
from yazcore.confinement.landlock import landlock_version
from yazcore.writing.projects.compile import is_pdf
from yazcore.writing.projects.engines import EngineJob, EngineRun, Limits, TypstEngine

ENDLESS = "#for a in range(100000) { for b in range(100000) { let x = a * b } }"

needs_landlock = pytest.mark.skipif(landlock_version() == 0, reason="this kernel has no Landlock")


def ran(
    tmp_path: Path, files: dict[str, str | bytes], *, limits: Limits | None = None, confine: bool = True, **more: Any
) -> EngineRun:
    root = write(tmp_path / "project", files)
    build = tmp_path / "build"
    build.mkdir()
    engine = TypstEngine(tmp_path / "packages", limits, confine=confine)
    job = EngineJob(root=root, **{"entry": "main.typ", "fonts": (), "readable": (root,), "build": build, **more})
    return engine.run(job)


def message(run: EngineRun) -> str:
    assert run.answer is not None
    assert run.answer["error"] is not None, run.answer
    return str(run.answer["error"]["message"])


def test_a_document_becomes_a_pdf_in_the_build_folder(tmp_path: Path) -> None:
    run = ran(tmp_path, {"main.typ": '#include "part.typ"', "part.typ": "= Hello"})
    assert (run.ending, run.code) == ("answered", 0)
    assert is_pdf(run.artefact)
    assert run.artefact.parent == tmp_path / "build"
    assert sorted(path.name for path in (tmp_path / "project").iterdir()) == ["main.typ", "part.typ"]


@needs_landlock
def test_it_says_that_the_kernel_kept_it_in(tmp_path: Path) -> None:
    assert ran(tmp_path, {"main.typ": "x"}).sandbox == "landlock"


def test_without_the_kernel_it_says_so(tmp_path: Path) -> None:
    assert ran(tmp_path, {"main.typ": "x"}, confine=False).sandbox == "none"


@needs_landlock
def test_a_link_out_of_the_project_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "link.txt").symlink_to("/etc/passwd")
    run = ran(tmp_path, {"main.typ": '#read("link.txt")'})
    assert message(run) == "failed to load file (access denied)"


@needs_landlock
def test_a_project_that_a_link_leads_to_is_compiled_like_any(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "linked").symlink_to("real")
    run = ran(tmp_path / "linked", {"main.typ": '#include "part.typ"', "part.typ": "= Hello"})
    assert (run.ending, run.sandbox) == ("answered", "landlock")
    assert is_pdf(run.artefact)


@needs_landlock
def test_a_folder_that_is_a_link_out_is_not_followed(tmp_path: Path) -> None:
    write(tmp_path / "outside", {"secret.txt": "secret"})
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "folder").symlink_to(tmp_path / "outside")
    assert message(ran(tmp_path, {"main.typ": '#read("folder/secret.txt")'})) == "failed to load file (access denied)"


@needs_landlock
def test_only_what_is_readable_is_read(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {"main.typ": '#read(".env")', ".env": "SECRET=1"}
    run = ran(tmp_path, files, readable=(tmp_path / "project" / "main.typ",))
    assert message(run) == "failed to load file (access denied)"


def test_a_dangling_link_is_a_missing_file(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "gone.txt").symlink_to("nowhere")
    assert message(ran(tmp_path, {"main.typ": '#read("gone.txt")'})) == "file not found (searched at gone.txt)"


@pytest.mark.parametrize("path", ["../../etc/passwd", "../build/job.json"])
def test_a_way_up_ends_at_the_project(tmp_path: Path, path: str) -> None:
    assert "would escape the project root" in message(ran(tmp_path, {"main.typ": f'#read("{path}")'}))


def test_an_absolute_path_begins_at_the_project(tmp_path: Path) -> None:
    assert message(ran(tmp_path, {"main.typ": '#read("/etc/passwd")'})) == "file not found (searched at etc/passwd)"


def test_no_path_of_this_machine_is_in_what_it_says(tmp_path: Path) -> None:
    run = ran(tmp_path, {"main.typ": '#image("nope.png")'})
    assert str(tmp_path) not in str(run.answer)


def test_a_package_is_not_downloaded(tmp_path: Path) -> None:
    run = ran(tmp_path, {"main.typ": '#import "@preview/cetz:0.3.4": *'})
    assert message(run).startswith("failed to download package")


def test_a_package_that_is_there_is_used(tmp_path: Path) -> None:
    about = '[package]\nname = "own"\nversion = "1.0.0"\nentrypoint = "lib.typ"\n'
    write(tmp_path / "packages" / "preview" / "own" / "1.0.0", {"typst.toml": about, "lib.typ": "#let x = [y]"})
    assert is_pdf(ran(tmp_path, {"main.typ": '#import "@preview/own:1.0.0": x\n#x'}).artefact)


def test_a_folder_of_fonts_with_a_bad_one_does_no_harm(tmp_path: Path) -> None:
    # No font lies at hand that is not embedded; a bad one in the folder is passed over.
    run = ran(tmp_path, {"main.typ": "x", "fonts/bad.ttf": b"no font"}, fonts=("fonts",))
    assert is_pdf(run.artefact)


def test_a_document_that_loops_for_ever_is_ended(tmp_path: Path) -> None:
    run = ran(tmp_path, {"main.typ": ENDLESS}, seconds=1.0)
    assert (run.ending, run.answer) == ("deadline", None)


def test_a_document_that_takes_all_memory_is_ended(tmp_path: Path) -> None:
    greedy = '#let a = "x" * 1000000\n#let l = ()\n#for i in range(100000) { l.push(a + str(i)) }\n#l.len()'
    run = ran(tmp_path, {"main.typ": greedy}, limits=Limits(memory=600 * 2**20))
    assert run.ending == "memory"


def test_a_pdf_that_is_too_large_is_an_error(tmp_path: Path) -> None:
    run = ran(tmp_path, {"main.typ": "#for i in range(200) [= #i]"}, limits=Limits(file_size=10_000))
    assert run.ending == "answered"
    assert run.answer is not None
    assert run.answer["succeeded"] is False
    assert not is_pdf(run.artefact)


def test_a_cancelled_run_is_ended(tmp_path: Path) -> None:
    cancelled = threading.Event()
    cancelled.set()
    assert ran(tmp_path, {"main.typ": "x"}, cancelled=cancelled).ending == "cancelled"


def test_a_source_that_is_no_text_is_an_error(tmp_path: Path) -> None:
    assert message(ran(tmp_path, {"main.typ": b"\xff\xfe= Title"})) == "file is not valid UTF-8"


def test_an_entry_that_is_gone_is_said_to_be(tmp_path: Path) -> None:
    run = ran(tmp_path, {"other.typ": ""})
    assert run.answer is not None
    assert "No such file or directory" in run.answer["failure"]


def test_a_message_of_megabytes_is_cut(tmp_path: Path) -> None:
    run = ran(tmp_path, {"main.typ": '#panic("x" * 3000000)'})
    assert run.answer is not None
    assert run.answer["cut"] is True
    assert len(run.answer["error"]["text"]) == 262_144


def test_nothing_of_this_process_reaches_the_child(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "evil", {"json.py": "raise SystemExit('imported from PYTHONPATH')"})
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "evil"))
    monkeypatch.setenv("PYTHONSTARTUP", str(tmp_path / "evil" / "json.py"))
    files: dict[str, str | bytes] = {"main.typ": "x", "json.py": "raise SystemExit('imported from the project')"}
    assert is_pdf(ran(tmp_path, files).artefact)


HOST = """
import os, sys, threading
from pathlib import Path
sys.path[:0] = {path!r}
from yazcore.writing.projects.engines import EngineJob, TypstEngine
root, build = Path({root!r}), Path({build!r})
read, begun = os.read, threading.Event()

def watching(descriptor, most):
    # The compiler has said how it is kept in, and now compiles.
    data = read(descriptor, most)
    if b"sandbox" in data:
        begun.set()
    return data

os.read = watching
job = EngineJob(root=root, entry="main.typ", fonts=(), readable=(root,), build=build)
threading.Thread(target=TypstEngine(build).run, args=(job,), daemon=True).start()
begun.wait()
children = [(task / "children").read_text() for task in Path("/proc/self/task").iterdir()]
print("".join(children).split()[0], flush=True)
sys.stdin.read()
"""


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="only Linux tells of a death by a descriptor")
def test_the_compiler_dies_with_the_host(tmp_path: Path) -> None:
    root = write(tmp_path / "project", {"main.typ": ENDLESS})
    (tmp_path / "build").mkdir()
    code = HOST.format(path=sys.path, root=str(root), build=str(tmp_path / "build"))
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as host:
        assert host.stdout is not None
        compiler = os.pidfd_open(int(host.stdout.readline()))
        host.kill()
    with selectors.DefaultSelector() as selector:
        selector.register(compiler, selectors.EVENT_READ)
        assert selector.select(timeout=20), "the compiler outlived its host"
    os.close(compiler)


@pytest.mark.parametrize(
    ("content", "whole"),
    [(b"", False), (b"%PDF-1.7\n...", False), (b"%PDF-1.7\n%%EOF\n", True), (b"PDF %%EOF", False)],
)
def test_a_pdf_begins_and_ends_as_one(tmp_path: Path, content: bytes, whole: bool) -> None:
    (tmp_path / "a.pdf").write_bytes(content)
    assert is_pdf(tmp_path / "a.pdf") is whole


def test_what_is_not_there_is_no_pdf(tmp_path: Path) -> None:
    assert not is_pdf(tmp_path / "a.pdf")
    os.mkdir(tmp_path / "folder.pdf")
    assert not is_pdf(tmp_path / "folder.pdf")
