"""The pages against the rules they are made of, and what they promise against the command."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.design_rules.page import MARK, MIRROR, PAGE, ROOT, mirror_findings, mirror_table, written
from tests.testing.projects import project
from yazcore.cli.checking import check
from yazcore.design_rules.rules import RULES
from yazcore.design_rules.waivers import TITLES


def test_the_page_is_made_of_the_rules() -> None:
    text = PAGE.read_text("utf-8")
    assert text == written(text), "run python -m tests.design_rules.page"


def test_every_static_rule_fires_in_the_mirror_where_its_page_says() -> None:
    """G57b alone asks the code of a plugin that runs, which a refused one never does."""
    static = {rule.id for rule in RULES if rule.severity != "question"} - {"G57b"}
    assert set(mirror_findings()) == static | set(TITLES)
    page = (MIRROR / "README.md").read_text("utf-8").partition(MARK)[2]
    assert page.strip() == mirror_table().strip(), "run python -m tests.design_rules.page"


def test_the_hook_is_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (ROOT / ".pre-commit-hooks.yaml").read_text("utf-8")
    entry = re.search(r"^  entry: yaz check (.+)$", text, re.MULTILINE)
    files = re.search(r"^  files: (.+)$", text, re.MULTILINE)
    assert entry is not None
    assert files is not None
    assert re.search(files[1], "src/yaz_plugin_demo/manifest.json")
    assert not re.search(files[1], "src/yaz_plugin_demo/plugin.py")
    project(tmp_path, code="raise ValueError('it was run')")
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(check, entry[1].split())
    assert result.exit_code == 0, result.output


def test_options_that_the_page_shows_exist() -> None:
    known = {option for parameter in check.params for option in parameter.opts}
    head = PAGE.read_text("utf-8").partition(MARK)[0]
    assert set(re.findall(r"yaz check[^\n]*?(--[a-z]+)", head)) <= known | {"--review"}
