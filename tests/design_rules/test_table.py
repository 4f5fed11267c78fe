"""Every rule of the seed has a place, and every place exists."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

from yazcore.design_rules.rules import RULES
from yazcore.design_rules.table import PLACES, Place

ROOT = Path(__file__).parents[2]

WITH_RUN_TIME = {
    5, 13, 14, 15, 18, 24, 31, 32, 34, 41, 42, 43, 44, 45, 46, 47, 48, 50, 52, 54, 57, 58, 59, 63, 65, 66, 67, 68, 69,
    70, 71, 72, 73, 74, 75, 76, 78, 79, 80, 81, 83, 84, 85, 86, 87, 88, 89, 93, 94, 98,
}  # fmt: skip
"""The rules that a running system has to keep, in part or as a whole."""


def test_there_are_ninety_eight_in_order() -> None:
    assert [place.number for place in PLACES] == list(range(1, 99))


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.id)
def test_a_rule_has_a_place(place: Place) -> None:
    assert place.checks or place.duties or place.question


def test_rules_of_run_time_have_a_duty() -> None:
    assert {place.number for place in PLACES if place.duties} == WITH_RUN_TIME


def test_checks_that_are_named_exist_and_every_check_is_named() -> None:
    named = {check for place in PLACES for check in place.checks}
    assert named == {rule.id for rule in RULES}


@cache
def names_in(file: str) -> frozenset[str]:
    tree = ast.parse((ROOT / file).read_bytes())
    return frozenset(
        node.name for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    )


@pytest.mark.parametrize("duty", sorted({duty for place in PLACES for duty in place.duties}))
def test_a_duty_s_test_exists(duty: str) -> None:
    file, _, name = duty.partition("::")
    assert name.startswith("test_")
    assert name in names_in(file)
