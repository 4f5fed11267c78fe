"""What is installed, and with what: two distributions, pinned requirements, nothing of anybody's registry."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from importlib.metadata import requires
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


def pins(path: Path) -> dict[str, str]:
    """The version of each distribution that a list pins for the Python that runs, and those of the lists it names."""
    found: dict[str, str] = {}
    for line in lines(path):
        if line.startswith("-r "):
            found |= pins(path.parent / line.removeprefix("-r "))
        elif (one := Requirement(line)).marker is None or one.marker.evaluate():
            found[canonicalize_name(one.name)] = next(iter(one.specifier)).version
    return found


def needed(names: Iterable[str]) -> Iterator[tuple[str, Requirement]]:
    """What installed distributions need in the Python that runs, and what that needs: who asks, and for what."""
    pending = [(name, "") for name in names]
    seen = set(pending)
    while pending:
        name, extra = pending.pop()
        for one in map(Requirement, requires(name) or ()):
            if one.marker is None or one.marker.evaluate({"extra": extra}):
                yield name, one
                asked = {(canonicalize_name(one.name), extra) for extra in ("", *one.extras)} - seen
                pending += asked
                seen |= asked


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


@pytest.mark.parametrize("folder", PROJECTS, ids=lambda folder: folder.name)
def test_types_are_checked_strictly(folder: Path) -> None:
    checked = project(folder)["tool"]["mypy"]
    assert checked["strict"] is True
    assert checked["packages"] == project(folder)["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    assert [one["module"] for one in checked["overrides"] if set(one) != {"module", "ignore_missing_imports"}] == []


def test_warnings_are_errors() -> None:
    assert project(CHECKOUT)["tool"]["pytest"]["ini_options"]["filterwarnings"] == ["error"]


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


@pytest.mark.parametrize("name", ["run.txt", "dev.txt"])
def test_what_is_pinned_needs_nothing_that_is_not(name: str) -> None:
    pinned = pins(CHECKOUT / "requirements" / name)
    missing = [f"{who} needs {one}" for who, one in needed(pinned) if canonicalize_name(one.name) not in pinned]
    assert missing == []
    others = [
        f"{who} needs {one}, pinned is {pinned[canonicalize_name(one.name)]}"
        for who, one in needed(pinned)
        if not one.specifier.contains(pinned[canonicalize_name(one.name)], prereleases=True)
    ]
    assert others == []


@pytest.mark.parametrize("folder", PROJECTS, ids=lambda folder: folder.name)
def test_what_is_pinned_is_what_the_distributions_ask_for(folder: Path) -> None:
    pinned = {
        canonicalize_name(one.name): next(iter(one.specifier)).version
        for one in map(Requirement, lines(CHECKOUT / "requirements" / "run.txt"))
    }
    described = project(folder)["project"]
    asked = [*project(folder)["build-system"]["requires"], *described["dependencies"]]
    for extra in described.get("optional-dependencies", {}).values():
        asked += extra
    for one in map(Requirement, asked):
        if one.name == "yazcore":
            assert one.specifier.contains(yazcore.__version__)
        else:
            assert one.specifier.contains(pinned[canonicalize_name(one.name)]), one
