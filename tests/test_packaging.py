"""What is installed, and with what: two distributions, pinned requirements, nothing of anybody's registry."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import yazcore

CHECKOUT = Path(yazcore.__file__).parent.parent
PROJECTS = (CHECKOUT, CHECKOUT / "yaz_plugin_zotero")
LISTS = sorted((CHECKOUT / "requirements").glob("*.txt"))


def project(folder: Path) -> dict[str, Any]:
    return tomllib.loads((folder / "pyproject.toml").read_text())


def lines(path: Path) -> list[str]:
    return [line for line in path.read_text().splitlines() if line.strip() and not line.startswith("#")]


@pytest.mark.parametrize(("folder", "name"), [(PROJECTS[0], "yazcore"), (PROJECTS[1], "yaz-plugin-zotero")])
def test_a_distribution_is_built_by_hatchling_for_python_3_11_and_is_free(folder: Path, name: str) -> None:
    described = project(folder)
    assert described["build-system"]["build-backend"] == "hatchling.build"
    assert described["project"]["name"] == name
    assert described["project"]["requires-python"] == ">=3.11"
    assert described["project"]["license"] == "MIT"
    assert (CHECKOUT / "LICENSE").read_text().startswith("MIT License")
    (package,) = described["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    assert (folder / package / "py.typed").exists()


def test_types_and_warnings_are_checked_strictly() -> None:
    tools = project(CHECKOUT)["tool"]
    assert tools["mypy"]["strict"] is True
    assert tools["pytest"]["ini_options"]["filterwarnings"] == ["error"]


@pytest.mark.parametrize("path", LISTS, ids=lambda path: path.name)
def test_every_requirement_is_pinned_and_none_says_from_where(path: Path) -> None:
    for line in lines(path):
        if re.fullmatch(r"-r [a-z]+\.txt", line):
            assert (path.parent / line.removeprefix("-r ")).exists()
            continue
        requirement = Requirement(line)
        (version,) = requirement.specifier
        assert version.operator == "=="
        assert requirement.url is None
    assert not re.search(r"https?://|--|@", path.read_text())


@pytest.mark.parametrize("folder", PROJECTS, ids=lambda folder: folder.name)
def test_what_is_pinned_is_what_the_distributions_ask_for(folder: Path) -> None:
    pinned = {
        canonicalize_name(one.name): next(iter(one.specifier)).version
        for one in map(Requirement, lines(CHECKOUT / "requirements" / "run.txt"))
    }
    described = project(folder)["project"]
    asked = list(described["dependencies"])
    for extra in described.get("optional-dependencies", {}).values():
        asked += extra
    for one in map(Requirement, asked):
        if one.name == "yazcore":
            assert one.specifier.contains(yazcore.__version__)
        else:
            assert one.specifier.contains(pinned[canonicalize_name(one.name)]), one
