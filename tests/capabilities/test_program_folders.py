"""The folders that programs are run from, on this very machine."""

from __future__ import annotations

import os
import site
import sys
import sysconfig
from pathlib import Path

import pytest

import yazcore
from yazcore.capabilities.program_folders import runs_programs


def test_where_python_and_this_package_lie_is_known() -> None:
    folders = [*sysconfig.get_paths().values(), os.path.dirname(yazcore.__file__), site.getusersitepackages()]
    folders += [os.path.dirname(sys.executable), os.path.join(sys.base_prefix, "lib")]
    folders += [entry for entry in sys.path if os.path.isdir(entry) and os.path.isabs(entry)]
    for folder in map(os.path.realpath, folders):
        is_systems = folder.startswith("/usr/")  # `too_wide` knows these
        assert runs_programs(folder) or is_systems, folder
        assert runs_programs(f"{folder}/below") or is_systems, folder


def test_what_python_imports_from_counts_as_long_as_it_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "site"
    (folder / "package").mkdir(parents=True)
    (tmp_path / "link").symlink_to(folder)
    assert not runs_programs(str(folder))
    with monkeypatch.context() as patch:
        patch.syspath_prepend(tmp_path / "link")
        assert runs_programs(str(folder))
        assert runs_programs(str(folder / "package"))
        assert runs_programs(str(tmp_path))
        assert not runs_programs(f"{folder}-too")
    assert not runs_programs(str(folder))


def test_the_folders_of_the_path_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", os.pathsep.join([str(tmp_path / "tools"), "", "relative", os.environ["PATH"]]))
    assert runs_programs(str(tmp_path / "tools"))
    assert not runs_programs(str(tmp_path / "other"))


def test_what_a_session_starts_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for below in (".config/autostart", ".local/lib/python3.11/site-packages", "bin"):
        assert runs_programs(str(tmp_path / below))
    assert not runs_programs(str(tmp_path / "Notes"))


def test_a_folder_that_is_too_wide_itself_does_not_take_all_below_it_along(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(Path.home())
    assert not runs_programs(str(Path.home() / "Notes"))


def test_a_working_folder_that_has_gone_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    assert runs_programs(str(gone))
    gone.rmdir()
    assert not runs_programs(str(tmp_path / "other"))
