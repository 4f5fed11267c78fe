from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.metadata import parse_email

from yazcore.manifest.metadata import MOST_BYTES, Metadata, core_metadata, project_metadata

HEADERS = b"Metadata-Version: 2.4\nName: a\nVersion: 1.0\nRequires-Dist: b>=1\nRequires-Dist: c;\n  extra == 'x'\n"


@pytest.mark.parametrize("ending", [b"", b"\n", b"\nRequires-Dist: not-a-header\nName: other\n"])
def test_headers_end_where_the_description_begins(ending: bytes) -> None:
    expected = Metadata(name="a", version="1.0", requires=("b>=1", "c; extra == 'x'"))
    assert core_metadata(HEADERS + ending) == expected
    assert core_metadata((HEADERS + ending).replace(b"\n", b"\r\n")) == expected


def test_what_is_not_said_is_none() -> None:
    assert core_metadata(b"") == core_metadata(b"Summary: x\nName:\n") == Metadata()


_LINES = st.sampled_from(
    [b"Name: ", b"Version:", b"Requires-Dist: ", b"name:", b"X: ", b" ", b"\t", b"", b"\xff", b"\xc3\xa4", b":", b"b",
     b"=?utf-8?q?a?=", b"a>=1; extra", b"\n", b"\r\n", b"\r", b"\x00", b"From a"]
)  # fmt: skip


@given(st.lists(_LINES, max_size=14).map(b"".join))
def test_headers_are_read_as_packaging_reads_them(data: bytes) -> None:
    headers = re.split(rb"\r?\n\r?\n", data.lstrip(b"\r\n"), maxsplit=1)[0]
    raw, _ = parse_email(headers)
    found = core_metadata(data)
    assert (found.name, found.version) == (raw.get("name") or None, raw.get("version") or None)
    assert found.requires == tuple(" ".join(one.split()) for one in raw.get("requires_dist", ()))


@pytest.mark.parametrize("line", [b"Name: b\n", b"Name: \xff\n"])
def test_a_name_that_is_said_twice_or_cannot_be_read_is_not_said(line: bytes) -> None:
    assert core_metadata(b"Name: a\n" + line + b"Version: 1\n") == Metadata(version="1")


@given(st.binary() | st.text(alphabet="Name: Version\nRequires-Dist\r\t;[]\x00ä").map(str.encode))
def test_no_bytes_raise(data: bytes) -> None:
    for found in (core_metadata(data), project_metadata(data)):
        assert isinstance(found, Metadata)


def test_a_project_says_it_in_the_standard_way() -> None:
    text = """
[project]
name = "A.b"
version = "1"
dependencies = ["x>=1", "y"]
[project.scripts]
run = "a:b"
[project.gui-scripts]
show = "a:c"
[project.entry-points.group]
one = "a:d"
"""
    assert project_metadata(text.encode()) == Metadata(
        name="A.b",
        version="1",
        requires=("x>=1", "y"),
        groups={"console_scripts": {"run": "a:b"}, "gui_scripts": {"show": "a:c"}, "group": {"one": "a:d"}},
    )


@pytest.mark.parametrize(
    "text",
    [
        "", "[tool.poetry]\nname = 'a'\n", "project = 1\n", "[project\n", "\udcff", "x = " + "[" * 10_000,
        "[project]\nname = 'a'\n".ljust(MOST_BYTES + 1),
    ],
)  # fmt: skip
def test_a_project_that_says_nothing_in_the_standard_way(text: str) -> None:
    assert project_metadata(text.encode("utf-8", "surrogateescape")) == Metadata()


def test_what_has_another_type_than_the_standard_is_not_said() -> None:
    text = "[project]\nname = 1\nversion = []\ndependencies = 'x'\nscripts = 1\nentry-points = {a = 1, b = {c = 2}}\n"
    assert project_metadata(text.encode()) == Metadata(groups={"b": {}})
    assert project_metadata(b"[project]\ndependencies = ['x', 1]\ndynamic = 'no'\n") == Metadata(
        requires=("x",), groups={}
    )


def test_entry_points_that_a_build_makes_are_not_said() -> None:
    assert project_metadata(b"[project]\ndynamic = ['entry-points']\nscripts = {a = 'b:c'}\n").groups is None
