"""Looking for a plugin in an index, which may be anybody's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.manifest.archived import manifest_of, wheel
from tests.manifest.samples import CONTRACT, good
from yazcore.registry.building import build
from yazcore.registry.searching import MOST_BYTES, load, search
from yazcore.violations import YazError


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("wheels")
    wheel(folder)
    wheel(folder, version="0.2.0", manifest={**good(), "version": "0.2.0", "author": "Zoë Müller", "capabilities": []})
    notes = {**manifest_of("notes"), "name": "Café Notes", "description": "Notes on papers that Zotero has."}
    wheel(folder, plugin_id="notes", manifest=notes)
    return build(CONTRACT, folder).as_json()


def found(index: dict[str, Any], *words: str) -> list[tuple[str, tuple[str, ...]]]:
    return [(one.id, one.where) for one in search(index, words)]


@pytest.mark.parametrize(
    ("words", "ids"),
    [
        (("zotero",), ["zotero", "notes"]),  # whose id it is comes first
        (("NOTES",), ["notes"]),
        (("cafe",), ["notes"]),
        (("Café",), ["notes"]),
        (("muller",), ["zotero"]),
        (("cite-item",), ["notes", "zotero"]),
        (("wörtern",), ["notes", "zotero"]),  # in a German text of a tool
        (("api.zotero.org",), ["notes"]),  # the newest version of the other does not ask for it any more
        (("zotero", "papers"), ["notes"]),
        (("zotero", "nothing"), []),
        (("%",), []),
        ((" ",), []),
        ((), []),
    ],
)  # fmt: skip
def test_a_plugin_is_found_by_every_word(index: dict[str, Any], words: tuple[str, ...], ids: list[str]) -> None:
    assert [one.id for one in search(index, words)] == ids


def test_whose_id_it_is_comes_first_whatever_others_say_of_it(tmp_path: Path) -> None:
    wheel(tmp_path, plugin_id="notes", manifest={**manifest_of("notes"), "description": "Finds.", "name": "Finder"})
    many = {**manifest_of("my-notes"), "name": "My notes", "description": "Notes on notes.", "author": "Notes"}
    wheel(tmp_path, plugin_id="my-notes", manifest=many)
    assert [one.id for one in search(build(CONTRACT, tmp_path).as_json(), ["notes"])] == ["notes", "my-notes"]


def test_a_match_says_where_the_words_stand_and_what_the_newest_version_says(index: dict[str, Any]) -> None:
    (match,) = search(index, ["müller"])
    assert match.as_json() == {
        "id": "zotero", "name": "Zotero", "version": "0.2.0",
        "description": "Searches a Zotero library and cites from it.", "where": ["author"],
    }  # fmt: skip
    assert found(index, "notes", "cites one item.") == [("notes", ("id", "name", "description", "tools"))]


@given(st.lists(st.text(max_size=8), max_size=3))
def test_any_words_are_looked_for(index: dict[str, Any], words: list[str]) -> None:
    assert {one.id for one in search(index, words)} <= {"notes", "zotero"}


def test_an_index_is_read_from_its_file(index: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "index.json"
    path.write_text(json.dumps(index))
    assert load(path) == index


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", '"index.json" is not JSON'),
        ("[" * 100_000, '"index.json" is not JSON'),
        ("[]", '"index.json" is no index of plugins: $: [] is not of type \'object\''),
        ('{"format": 2}', '"index.json" is no index of plugins: $'),
        (None, '"index.json" cannot be read: No such file or directory'),
    ],
)
def test_what_is_no_index_is_said(tmp_path: Path, text: str | None, message: str) -> None:
    path = tmp_path / "index.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(YazError) as raised:
        load(path)
    assert raised.value.code == "registry-index"
    assert raised.value.message.startswith(message)
    assert str(tmp_path) not in raised.value.message


def test_an_endless_index_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "index.json"
    with path.open("wb") as file:
        file.truncate(MOST_BYTES + 1)
    with pytest.raises(YazError, match="is larger than"):
        load(path)


def test_an_index_whose_manifests_are_none_is_searched_all_the_same(index: dict[str, Any]) -> None:
    for manifest in ({}, {"provides": 3}, {"provides": {"tools": {}}}, {"provides": {"tools": [1, {"name": []}]}}):
        document = json.loads(json.dumps(index))
        for plugin in document["plugins"]:
            for version in plugin["versions"]:
                version["manifest"] = manifest
        assert found(document, "cites one item.") == []
        assert [one for one, _ in found(document, "zotero")] == ["zotero", "notes"]
