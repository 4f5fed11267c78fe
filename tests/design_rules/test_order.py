"""The order of findings: that of the document, the same each time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.design_rules.page import MIRROR, ROOT
from yazcore.design_rules.documents import read
from yazcore.design_rules.engine import chosen, judge
from yazcore.design_rules.examples import tool, view_of
from yazcore.design_rules.rules import RULES
from yazcore.design_rules.view import View

BEFORE = {"tools": [tool("end_ticket", "Ends a ticket; it is gone for good, so ask before.")]}
DOCUMENT: dict[str, Any] = {
    "tools": [
        tool("b_thing", "", {"x": {"type": "string", "pattern": "^a$"}, "a": {}}),
        tool("a_thing", "", {"z": {}}, outputSchema={"type": "integer"}),
    ]
}


def places(text: str | None, **more: Any) -> list[tuple[str, int | None, str]]:
    view = View(read(DOCUMENT), before=read(BEFORE))
    found = judge(view, chosen(RULES), text=text).findings
    return [(one.subject, one.line, one.rule) for one in found]


def test_findings_stand_in_the_order_of_their_places_and_those_without_one_last() -> None:
    found = places(json.dumps(DOCUMENT, indent=1))
    lines = [line for _, line, _ in found]
    placed = [line for line in lines if line is not None]
    assert placed == sorted(placed)
    assert lines == [*placed, *([None] * (len(lines) - len(placed)))]
    assert found[-1] == ("tools/end_ticket", None, "G26")
    assert [subject for subject, _, _ in found].index("tools/b_thing") == 0


def test_at_one_place_the_lower_rule_comes_first_and_without_a_text_the_subject_decides() -> None:
    found = places(None)
    key = {rule.id: (rule.number, rule.id) for rule in RULES}
    assert found == sorted(found, key=lambda one: (one[0], key[one[2]]))
    assert {subject for subject, _, _ in found} == {"tools/a_thing", "tools/b_thing", "tools/end_ticket"}


def test_the_order_does_not_follow_from_the_order_of_the_rules() -> None:
    view = view_of(DOCUMENT)
    text = json.dumps(DOCUMENT, indent=1)
    turned = chosen(tuple(reversed(RULES)))
    assert judge(view, turned, text=text) == judge(view, chosen(RULES), text=text)


@pytest.mark.parametrize("form", ["text", "json", "sarif"])
def test_two_runs_print_the_same_bytes(tmp_path: Path, form: str) -> None:
    code = "from yazcore.cli import main; main()"
    arguments = ["check", str(MIRROR), "--static", "--since", str(MIRROR / "before.json"), "--format", form]
    told = []
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "YAZ_HOME": str(tmp_path)}
        run = subprocess.run(
            [sys.executable, "-c", code, *arguments], cwd=ROOT, env=environment, capture_output=True, check=False
        )
        assert run.returncode == 1, run.stderr
        told.append(run.stdout)
    assert told[0] == told[1] != b""
