"""The page of codes against the source: every code of the project stands on it, once, with words that are printed."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import get_args

import attrs
import pytest

from tests.manifest.codes_in_source import ANYTHING, Given, given, sources, takers
from yazcore.capabilities.errors import Reason
from yazcore.capabilities.services.content import _FAILURES
from yazcore.contributions import CONTRIBUTION_KINDS
from yazcore.violations import Change
from yazcore.writing.plugins.typst.report import _CODES

PAGE = (Path(__file__).parents[1] / "docs" / "codes.md").read_text("utf-8")

WITH_PERMISSION = [
    kind.key.removesuffix("s")
    for kind in CONTRIBUTION_KINDS
    if "permission" in {field.name for field in attrs.fields(kind.declaration)}
]

DYNAMIC: dict[tuple[str, str], frozenset[str]] = {
    ("yazcore/manifest/contribution_rules.py", "f'{_singular(key)}-permission-undeclared'"): frozenset(
        f"{kind}-permission-undeclared" for kind in WITH_PERMISSION
    ),
    ("yazcore/kinds/mcp_client.py", "f'capability-{what}'"): frozenset({"capability-server", "capability-tool"}),
    ("yazcore/manifest/json_text.py", "*_too_deep()"): frozenset({"json-too-deep"}),
    ("yazcore/capabilities/services/content.py", "code"): frozenset(
        {"file-failed", *(code for code, _ in _FAILURES.values())}
    ),
    ("yazcore/control/__init__.py", "error.get('code', 'refused')"): frozenset({"refused"}),
    ("yazcore/writing/plugins/typst/report.py", "code"): frozenset({"typst", *(code for _, code, _ in _CODES)}),
    ("yazcore/writing/plugins/typst/source.py", "self._code"): frozenset(),  # a mode of its parser
    ("yazcore/mcp/asgi.py", "1008"): frozenset(),  # WebSocket's
}
"""What gives a code that is not written out there: by file and expression, the codes it can give."""

COMPUTED = frozenset({*get_args(Reason), *get_args(Change)}).union(*DYNAMIC.values())
"""Codes whose words are not written beside them, or not everywhere."""

WITH_PLACE = ("TextFault", "_fault")
"""What gives a message that somebody else puts a place in front of."""

PASSED_ON = re.compile(r"code|error|\w+(\.\w+)*\.code")
"""A code that was given elsewhere: the parameter of a function, the attribute of another fault."""


@attrs.frozen
class Row:
    """One code on the page."""

    code: str
    example: str
    meaning: str
    fix: str


@cache
def rows() -> tuple[Row, ...]:
    found = re.findall(r"^\| `([a-z0-9-]+)` \| `(.+?)` \| (.+?) \| (.+?) \|$", PAGE, re.MULTILINE)
    return tuple(Row(*one) for one in found)


@cache
def codes() -> frozenset[str]:
    """Every code of the project."""
    return COMPUTED | {one.code for one in given() if one.code is not None}


def is_dynamic(one: Given) -> bool:
    return one.code is None and (one.where, one.expression) not in DYNAMIC


def test_what_is_not_written_out_is_passed_on_or_named_here() -> None:
    unknown = [one for one in given() if is_dynamic(one) and not PASSED_ON.fullmatch(one.expression)]
    assert [(one.where, one.by, one.expression) for one in unknown] == []


def test_everything_named_here_is_there() -> None:
    there = {(one.where, one.expression) for one in given() if one.code is None}
    assert set(DYNAMIC) - there == set()


def test_every_code_is_on_the_page() -> None:
    assert sorted(codes() - {row.code for row in rows()}) == []


def test_no_other_code_is_on_the_page() -> None:
    assert sorted({row.code for row in rows()} - codes()) == []


def test_every_code_stands_there_once() -> None:
    assert [code for code, count in Counter(row.code for row in rows()).items() if count > 1] == []


def test_every_line_of_a_table_is_read() -> None:
    lines = [line for line in PAGE.splitlines() if line.startswith("| `")]
    assert len(lines) == len(rows())


def test_tables_are_in_the_order_of_the_alphabet() -> None:
    for table in re.split(r"^\|---.*$", PAGE, flags=re.MULTILINE)[1:]:
        listed = re.findall(r"^\| `([a-z0-9-]+)` \|", table.partition("\n\n")[0], re.MULTILINE)
        assert listed == sorted(listed)


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.code)
def test_an_example_is_what_the_source_says(row: Row) -> None:
    """Message and fix are of one place in the source, as far as they are written out there."""
    places = [one for one in given() if one.code == row.code]
    if row.code not in COMPUTED:
        assert any(fits(one, row) for one in places), [(one.message, one.fix) for one in places]


def fits(one: Given, row: Row) -> bool:
    message = f"{ANYTHING}{one.message}" if one.by in WITH_PLACE else one.message
    return re.fullmatch(message, row.example) is not None and re.fullmatch(one.fix, row.fix) is not None


def test_the_collector_knows_what_takes_codes() -> None:
    assert {"Fault", "Violation", "YazError", "ServiceError", "HookFault", "TargetFault", "TextFault", "_Skip"} <= set(
        takers()
    )
    assert ANYTHING not in {one.message for one in given() if one.code == "id-invalid"}
    assert len(sources()) > 100
