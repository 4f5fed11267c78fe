from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.manifest.installed import distribution
from yazcore.manifest.distributions import scan
from yazcore.manifest.origins import Origin, origin_of


def recorded(site: Path, installer: str | None = "pip\n", direct: Any = None, source: str | None = None) -> Origin:
    """What is said of a distribution with these files of its installer."""
    info = distribution(site)
    if installer is not None:
        (info / "INSTALLER").write_text(installer)
    if direct is not None:
        (info / "direct_url.json").write_text(direct if isinstance(direct, str) else json.dumps(direct))
    (found,) = scan([str(site)])
    return origin_of(found, source)


@pytest.mark.parametrize(
    ("direct", "expected"),
    [
        ({"url": "file:///a/x.whl", "archive_info": {"hash": "sha256=1"}}, ("archive", "file:///a/x.whl")),
        ({"url": "file:///a/work", "dir_info": {}}, ("folder", "file:///a/work")),
        ({"url": "https://a.org/x.git", "vcs_info": {"vcs": "git", "commit_id": "1"}}, ("vcs", "https://a.org/x.git")),
    ],
)
def test_what_pip_recorded_is_said(tmp_path: Path, direct: Any, expected: tuple[str, str]) -> None:
    found = recorded(tmp_path, direct=direct)
    assert (found.source, found.url, found.installer, found.editable) == (*expected, "pip", False)


@pytest.mark.parametrize("installer", ["pip\n", "uv\n", "Poetry 2.1.0\n", "pdm"])
def test_no_record_of_an_installer_that_records_means_an_index(tmp_path: Path, installer: str) -> None:
    assert recorded(tmp_path, installer) == Origin(source="index", installer=installer.split()[0].lower())


@pytest.mark.parametrize("installer", [None, "", "conda\n", "somebody"])
def test_no_record_of_anybody_else_means_nothing(tmp_path: Path, installer: str | None) -> None:
    assert recorded(tmp_path, installer).source is None


@pytest.mark.parametrize(
    "direct",
    [
        "{", "[]", "null", '"text"', "{}", '{"url": 1, "dir_info": {}}', '{"url": "file:///a"}', "[" * 100_000,
        '{"url": "file:///a", "dir_info": true}', '{"url": "http://[", "dir_info": {}}',
    ],
)  # fmt: skip
def test_a_record_that_says_nothing_means_nothing(tmp_path: Path, direct: str) -> None:
    assert recorded(tmp_path, direct=direct) == Origin(installer="pip")


def test_names_and_passwords_stay_out(tmp_path: Path) -> None:
    direct = {"url": "https://anna:secret@a.org:8080/x.whl", "archive_info": {}}
    assert recorded(tmp_path, direct=direct).url == "https://a.org:8080/x.whl"


def test_an_editable_installation_comes_from_its_project(tmp_path: Path) -> None:
    expected = Origin(source="folder", url="file:///work", installer="pip", editable=True)
    assert recorded(tmp_path, direct="{", source="/work") == expected
