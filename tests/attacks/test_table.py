"""The table of attacks: none works beyond the documented list, and none fails for another reason than it should."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.attacks.beyond import evil
from tests.attacks.beyond.attack import OPEN, Runtime
from tests.attacks.beyond.catalogue import ATTACKS, INSTALLS, PRECEDES, RESIDUE, STARTS
from tests.attacks.beyond.starting import PLUGINS
from tests.attacks.beyond.table import installed, tried

EVIL = Path(next(iter(evil.__path__)))
PAGE = (Path(__file__).parents[2] / "docs" / "security.md").read_text("utf-8")


@pytest.mark.parametrize("runtime", ["trusted", "isolated"])
def test_every_attack_ends_as_it_should(runtime: Runtime) -> None:
    lines = list(tried(runtime))
    assert [str(line) for line in lines if not line.as_expected] == []
    assert len(lines) == len(ATTACKS) + len(STARTS)


def test_what_a_wheel_does_before_any_consent_is_what_is_documented() -> None:
    assert [str(line) for line in installed() if not line.as_expected] == []


def test_what_works_in_a_worker_is_exactly_what_is_documented() -> None:
    assert {one.name for one in (*ATTACKS, *STARTS) if one.isolated == OPEN} == set(RESIDUE)
    assert {one.name for one in INSTALLS if one.isolated == OPEN} == set(PRECEDES)


@pytest.mark.parametrize("name", [*RESIDUE, *(name.partition(":")[0] for name in PRECEDES)])
def test_the_page_on_security_names_what_works(name: str) -> None:
    assert f"`{name}`" in PAGE


def test_every_attack_that_is_written_is_tried() -> None:
    written = [
        node.name
        for path in EVIL.glob("*.py")
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and [one.arg for one in node.args.args] == ["context", "world"]
    ]
    assert sorted(set(written) - {"hold_a_writing_call"}) == sorted(one.name for one in ATTACKS)
    assert sorted(PLUGINS) == sorted(one.name for one in STARTS)


def test_the_page_gives_the_numbers_of_the_table() -> None:
    count = len(ATTACKS) + len(STARTS)
    trusted = sum(OPEN in one.trusted.split(" | ") for one in (*ATTACKS, *STARTS))
    said = f"{count} attacks inside a plugin: {trusted} work in trusted mode, {len(RESIDUE)} in a worker"
    assert said in PAGE
