from __future__ import annotations

import contextlib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.manifest.installed import distribution, editable
from yazcore.manifest.distributions import MOST_BYTES, Broken, Distribution, entry_points, normalized, scan


def only(site: Path) -> Distribution:
    (found,) = scan([str(site)])
    return found


def test_names_are_compared_as_pep_503_has_it() -> None:
    assert {normalized(name) for name in ("Yaz_Plugin.A", "yaz-plugin-a", "yaz--plugin__a")} == {"yaz-plugin-a"}


def test_entry_points_are_groups_of_names_and_values() -> None:
    text = "# by hand\n\n[ yaz.manifest ]\nzotero = a:manifest.json\n\n[console_scripts]\n; no\nx=y:z [extra]\n"
    assert entry_points(text) == {
        "yaz.manifest": {"zotero": "a:manifest.json"},
        "console_scripts": {"x": "y:z [extra]"},
    }


@pytest.mark.parametrize(
    ("text", "line"),
    [("[a]\nno equals\n", 2), ("x = y\n[a]\n", 1), ("[a]\n= y\n", 2), ("[a]\nx =\n", 2)],
)
def test_a_line_that_is_no_entry_point_is_named(text: str, line: int) -> None:
    with pytest.raises(Broken, match=rf"^entry_points\.txt, line {line}, is no entry point$"):
        entry_points(text)


def test_a_name_that_stands_twice_is_no_accident() -> None:
    with pytest.raises(Broken, match="a second time"):
        entry_points("[a]\nx = y\n[b]\n[a]\nx = z\n")


@given(st.text(alphabet="[]=#; ab\n\r\t\x00") | st.text())
def test_no_text_raises_anything_else(text: str) -> None:
    with contextlib.suppress(Broken):
        assert all(values for values in entry_points(text).values()) or "[" in text


def test_a_scan_goes_by_the_path_and_then_by_names(tmp_path: Path) -> None:
    for place, name in (("b", "one"), ("a", "two"), ("a", "one")):
        distribution(tmp_path / place, name)
    (tmp_path / "a" / "file-1.0.dist-info").write_text("a file, and no folder")
    (tmp_path / "a" / "sub.egg-info").mkdir()
    path = [str(tmp_path / name) for name in ("b", "missing", "a", "b")] + [__file__]
    assert [(found.name, found.place) for found in scan(path)] == [
        ("yaz-plugin-one", str(tmp_path / "b")),
        ("sub", str(tmp_path / "a")),
        ("yaz-plugin-one", str(tmp_path / "a")),
        ("yaz-plugin-two", str(tmp_path / "a")),
    ]


@pytest.mark.parametrize("name", ["\x1b[2J-1.0.dist-info", "ä-1.0.dist-info", "-1.0.dist-info", ".dist-info"])
def test_a_folder_whose_name_is_no_name_is_none(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    assert list(scan([str(tmp_path)])) == []


def test_an_empty_entry_of_the_path_is_the_folder_python_runs_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    distribution(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert [found.name for found in scan([""])] == ["yaz-plugin-zotero"]


def test_headers_end_where_the_description_begins(tmp_path: Path) -> None:
    distribution(tmp_path, metadata="name: A_b\nSummary: x: y\nVERSION: 1.0 \n\nVersion: 2.0\n")
    assert only(tmp_path).headers() == ("A_b", "1.0")


@pytest.mark.parametrize("metadata", [None, "Name: a\n\nVersion: 1\n", "\n", "Version: 1\n", "Name:\nVersion: 1\n"])
def test_headers_that_are_not_there(tmp_path: Path, metadata: str | None) -> None:
    distribution(tmp_path, metadata=metadata)
    assert only(tmp_path).headers() is None


def test_a_record_lists_files_quoted_ones_too(tmp_path: Path) -> None:
    folder = distribution(tmp_path)
    (folder / "RECORD").write_text('a/b.py,sha256=x,1\n"a/c,d.py",,\n"a/""e"".py",,\na\\f.py,,\n\n')
    assert only(tmp_path).files() == ["a/b.py", "a/c,d.py", 'a/"e".py', "a/f.py"]
    (folder / "RECORD").write_text("a/b.py,sha256=x,1\na\\f.py,,\n")
    assert only(tmp_path).files() == ["a/b.py", "a/f.py"]
    (folder / "RECORD").unlink()
    assert only(tmp_path).files() is None


@pytest.mark.parametrize("data", [b"\xff", b"x" * (MOST_BYTES + 1)])
def test_a_file_that_is_no_text_or_endless_is_broken(tmp_path: Path, data: bytes) -> None:
    folder = distribution(tmp_path)
    (folder / "entry_points.txt").write_bytes(data)
    with pytest.raises(Broken):
        only(tmp_path).read("entry_points.txt")
    (folder / "entry_points.txt").write_bytes(b"x" * MOST_BYTES)
    assert only(tmp_path).read("entry_points.txt") == "x" * MOST_BYTES


def test_an_editable_installation_names_its_project(tmp_path: Path) -> None:
    source = tmp_path / "my project"
    source.mkdir()
    (source / "pyproject.toml").write_text("")
    folder = distribution(tmp_path / "site")
    assert only(tmp_path / "site").editable_source() is None
    editable(folder, source)
    assert only(tmp_path / "site").editable_source() == source


@pytest.mark.parametrize(
    "value",
    [
        "{", "[]", "null", json.dumps({"url": "https://a.org", "dir_info": {"editable": True}}),
        json.dumps({"url": "file:///"}), json.dumps({"url": 1, "dir_info": {"editable": True}}),
        json.dumps({"url": "file:///%00", "dir_info": {"editable": True}}), "[" * 100_000,
        json.dumps({"url": "file:///", "dir_info": {"editable": "yes"}}),
        json.dumps({"url": "file:///", "dir_info": {"editable": True}}),
    ],
)  # fmt: skip
def test_what_names_no_project_is_not_editable(tmp_path: Path, value: str) -> None:
    folder = distribution(tmp_path)
    (folder / "direct_url.json").write_text(value)
    assert only(tmp_path).editable_source() is None


def test_a_wheel_cannot_call_itself_editable(tmp_path: Path) -> None:
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "pyproject.toml").write_text("")
    editable(distribution(tmp_path), hidden)
    assert only(tmp_path).editable_source() is None


def test_an_egg_info_counts_in_a_project_only(tmp_path: Path) -> None:
    (tmp_path / "src" / "a.egg-info").mkdir(parents=True)
    assert only(tmp_path / "src").editable_source() is None
    (tmp_path / "setup.py").write_text("")
    assert only(tmp_path / "src").editable_source() == tmp_path / "src"
