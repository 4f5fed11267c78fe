from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from yazcore import read
from yazcore.manifest.checking import check
from yazcore.manifest.messages import Messages
from yazcore.writing.contract import YAZ

import yaz_plugin_zotero

PACKAGE = Path(yaz_plugin_zotero.__file__).parent
PROJECT = tomllib.loads((PACKAGE.parent / "pyproject.toml").read_text())["project"]


def test_the_manifest_breaks_no_rule() -> None:
    reading = read((PACKAGE / "manifest.json").read_bytes(), YAZ)
    assert reading.violations == ()
    assert reading.manifest is not None
    assert check(reading.manifest, PACKAGE, YAZ) == ()


def test_the_distribution_and_the_manifest_agree() -> None:
    manifest = json.loads((PACKAGE / "manifest.json").read_text())
    assert PROJECT["name"] == f"yaz-plugin-{manifest['id']}"
    assert PROJECT["version"] == manifest["version"] == yaz_plugin_zotero.__version__
    assert PROJECT["entry-points"]["yaz.manifest"] == {manifest["id"]: "yaz_plugin_zotero:manifest.json"}


def test_it_asks_for_no_more_than_it_uses() -> None:
    manifest = json.loads((PACKAGE / "manifest.json").read_text())
    assert [(one["kind"], one.get("access"), one.get("place")) for one in manifest["capabilities"]] == [
        ("fs-project", "write", None), ("fs-read", None, "zotero-data"),
    ]  # fmt: skip


@pytest.mark.parametrize("locale", ["en-US", "de"])
def test_every_text_is_there_in_every_language(locale: str) -> None:
    manifest = read((PACKAGE / "manifest.json").read_bytes(), YAZ).manifest
    assert manifest is not None
    messages = Messages(PACKAGE / "locales", locale)
    wanted = {key for key, _ in manifest.message_keys()} | {"status-source", "status-library"}
    assert wanted <= messages.keys(locale)


def test_the_tools_tell_each_other_apart() -> None:
    messages = Messages(PACKAGE / "locales")
    assert "cite-item" in messages.text("tool-search-library")
    assert "search-library" in messages.text("tool-cite-item")
