from __future__ import annotations

import os
from pathlib import Path

import pytest

from yazcore.capabilities import commands
from yazcore.capabilities.commands import Program, at, chosen, look_up, runs_anything
from yazcore.violations import YazError


def program(path: Path, text: str = "#!/bin/sh\n", mode: int = 0o755) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)
    return path


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The system's own folders."""
    folders = [tmp_path / "local", tmp_path / "usr"]
    monkeypatch.setattr(commands, "SYSTEM_FOLDERS", tuple(map(str, folders)))
    return tmp_path


def test_the_first_folder_of_the_system_counts(system: Path) -> None:
    program(system / "usr" / "tex", "b")
    assert look_up("tex") == Program(path=str(system / "usr" / "tex"), digest=at(str(system / "usr" / "tex")).digest)  # type: ignore[union-attr]
    program(system / "local" / "tex", "a")
    found = look_up("tex")
    assert found is not None
    assert found.path == str(system / "local" / "tex")


def test_neither_the_working_folder_nor_the_path_counts(system: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(system / "here" / "tex")
    monkeypatch.chdir(system / "here")
    monkeypatch.setenv("PATH", str(system / "here"))
    assert look_up("tex") is None


def test_a_link_is_followed_to_the_file(system: Path) -> None:
    program(system / "elsewhere" / "tex.pl")
    (system / "usr").mkdir()
    (system / "usr" / "tex").symlink_to(system / "elsewhere" / "tex.pl")
    found = look_up("tex")
    assert found is not None
    assert found.path == str(system / "elsewhere" / "tex.pl")


@pytest.mark.parametrize("mode", [0o644, 0o757, 0o777])
def test_what_cannot_be_run_or_everybody_can_change_is_no_program(system: Path, mode: int) -> None:
    program(system / "usr" / "tex", mode=mode)
    assert look_up("tex") is None


def test_a_program_in_a_folder_that_everybody_can_change_is_none(system: Path) -> None:
    program(system / "usr" / "tex")
    (system / "usr").chmod(0o777)
    assert look_up("tex") is None
    assert at(str(system / "usr" / "tex")) == "everybody on this machine could replace it"


def test_a_folder_is_no_program(system: Path) -> None:
    (system / "usr" / "tex").mkdir(parents=True)
    assert look_up("tex") is None


def test_a_program_keeps_its_text(system: Path) -> None:
    program(system / "usr" / "with space")
    found = look_up("with space")
    assert found is not None
    assert Program.of(str(found)) == found
    assert found.why_not() == ""


@pytest.mark.parametrize("text", ["", "/usr/bin/tex", "x" * 32 + " /usr/bin/tex", "0" * 32 + " tex", "0" * 31 + " /a"])
def test_what_is_no_program_in_a_grant_is_none(text: str) -> None:
    assert Program.of(text) is None


def test_a_program_with_other_content_is_another(system: Path) -> None:
    path = program(system / "usr" / "tex", "one")
    found = look_up("tex")
    assert found is not None
    path.write_text("two")
    assert found.why_not() == "the program has changed since it was granted"
    path.unlink()
    assert found.why_not() == "there is no program"


def test_a_program_that_was_only_touched_is_the_same(system: Path) -> None:
    path = program(system / "usr" / "tex", "one")
    found = look_up("tex")
    assert found is not None
    os.utime(path, ns=(1, 1))
    assert found.why_not() == ""


def test_the_user_can_name_another_file(tmp_path: Path) -> None:
    path = program(tmp_path / "bin" / "pandoc")
    assert chosen("pandoc", str(path)).path == str(path)
    with pytest.raises(YazError) as refused:
        chosen("pandoc", str(tmp_path / "none"))
    assert refused.value.code == "command-unfit"
    assert refused.value.message == f"'{tmp_path / 'none'}' cannot be pandoc: there is no program"


# --- what does whatever it is told


@pytest.mark.parametrize(
    "name",
    [
        "sh", "ksh", "csh", "ash", "python", "python3", "python3.11", "python3.13t", "pypy3", "pypy3.10", "nodejs",
        "node-18", "perl5.36.0", "lua5.4", "php8.2", "tclsh8.6", "Rscript", "R", "deno", "bun", "uv", "npx", "npm",
        "pip", "pip3.11",
        "timeout", "nice", "nohup", "setsid", "unshare", "tar", "vi", "vim.basic", "ed", "gdb", "env", "git", "m4",
        "ld-linux-x86-64.so.2",
    ],
)  # fmt: skip
def test_a_command_that_does_what_it_is_told_is_known(name: str) -> None:
    assert runs_anything(name, f"/usr/bin/{name}")
    assert runs_anything("renderer", f"/usr/bin/{name}")
    assert runs_anything(name, "/opt/renderer")


@pytest.mark.parametrize(
    "name",
    ["latexmk", "typst", "pdftotext", "pandoc", "biber", "convert", "7z", "", "pythonic", "shfmt", "e2fsck"],
)
def test_another_command_is_not_taken_for_one(name: str) -> None:
    assert not runs_anything(name, f"/usr/bin/{name}")
