"""The pages against the code: what they promise exists, and what exists is on the page (datasette's habit)."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import yazcore
from yazcore import hookspecs
from yazcore.cli import _COMMANDS
from yazcore.kinds import CAPABILITY_KINDS
from yazcore.manifest.reading import read
from yazcore.runtimes.facade import hook_arguments
from yazcore.writing.contract import YAZ

ROOT = Path(__file__).parents[1]
PLUGINS = (ROOT / "docs" / "plugins.md").read_text("utf-8")
HOSTS = (ROOT / "docs" / "hosts.md").read_text("utf-8")
README = (ROOT / "README.md").read_text("utf-8")


@pytest.mark.parametrize("hook", sorted(hook_arguments((hookspecs,))))
def test_every_hook_is_on_the_plugin_page(hook: str) -> None:
    assert f"`{hook}`" in PLUGINS


@pytest.mark.parametrize("kind", [kind.kind for kind in CAPABILITY_KINDS])
def test_every_capability_kind_is_on_the_plugin_page(kind: str) -> None:
    assert f"`{kind}`" in PLUGINS


def test_every_hookspec_is_documented() -> None:
    assert all(getattr(hookspecs, hook).__doc__ for hook in hook_arguments((hookspecs,)))


def test_the_example_manifest_reads_without_a_violation() -> None:
    example = re.search(r"```json\n(.*?)```", PLUGINS, re.DOTALL)
    assert example is not None
    assert read(example[1].encode(), YAZ).violations == ()
    assert json.loads(example[1])["id"] == "notes"


@pytest.mark.parametrize("page", [PLUGINS, HOSTS])
def test_names_that_pages_import_from_yazcore_exist(page: str) -> None:
    named = [
        name.strip()
        for line in re.findall(r"from yazcore import (.+)", page)
        for name in line.split(",")
        if name.strip()
    ]
    assert [name for name in named if not hasattr(yazcore, name)] == []


def test_commands_that_the_readme_shows_exist() -> None:
    shown = set(re.findall(r"^ +(?:\.venv/bin/)?yaz ([a-z]+)", README, re.MULTILINE))
    assert shown
    assert shown - set(_COMMANDS) == set()


def test_links_between_pages_lead_somewhere() -> None:
    for page in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")):
        for target in re.findall(r"\]\((?!https?://|#)([^)#]+)", page.read_text("utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
