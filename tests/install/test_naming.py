"""What may be named: a wheel's file, or a plugin; and what is refused, word for word."""

from __future__ import annotations

from pathlib import Path

import pytest

from yazcore.install.naming import Named, WheelFile, named
from yazcore.violations import YazError
from yazcore.writing.contract import YAZ


def test_a_wheel_is_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.whl").touch()
    monkeypatch.chdir(tmp_path)
    assert named("a.whl", YAZ) == WheelFile(tmp_path / "a.whl")


@pytest.mark.parametrize(
    ("text", "requirement"),
    [
        ("zotero", "yaz-plugin-zotero"),
        ("yaz-plugin-zotero", "yaz-plugin-zotero"),
        ("YAZ_Plugin.Zotero", "yaz-plugin-zotero"),
        ("zotero==0.2", "yaz-plugin-zotero==0.2"),
        ("zotero[web] >=1,<2", "yaz-plugin-zotero[web]<2,>=1"),
    ],
)
def test_a_name_is_a_plugins_distribution(text: str, requirement: str) -> None:
    found = named(text, YAZ)
    assert isinstance(found, Named)
    assert (found.distribution, str(found.requirement)) == ("yaz-plugin-zotero", requirement)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("zotero @ https://example.org/a.whl", "target-unknown"),
        ("zotero @ file:a", "install-target"),
        ("zotero; python_version > '3'", "install-target"),
        ("--target=x", "install-target"),
        ("-r", "install-target"),
        ("zo tero", "install-target"),
        ("zotero\n--pre", "install-target"),
        ("\0", "install-target"),
        ("", "target-unknown"),
        ("./zotero", "target-unknown"),
        ("gone.whl", "target-unknown"),
        ("gone-1.tar.gz", "target-unknown"),
        ("https://example.org/a.whl", "target-unknown"),
    ],
)
def test_what_is_neither_is_refused(text: str, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(YazError) as refused:
        named(text, YAZ)
    assert refused.value.code == code


def test_what_would_have_to_be_built_is_refused_with_the_way_to_a_wheel(tmp_path: Path) -> None:
    (tmp_path / "a-1.tar.gz").touch()
    for target, what in (
        (tmp_path, "is a folder, and installing it would run its build"),
        (tmp_path / "a-1.tar.gz", "is no wheel, and only wheels can be installed without running anything"),
    ):
        with pytest.raises(YazError) as refused:
            named(str(target), YAZ)
        assert (refused.value.code, refused.value.message) == ("install-not-a-wheel", f"{str(target)!r} {what}")
        assert "python -m build --wheel" in refused.value.fix
