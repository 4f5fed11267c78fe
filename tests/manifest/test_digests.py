from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
import pytest

from tests.manifest.samples import GOOD, good, manifest_of
from yazcore.manifest.digests import digests, plain

TEXTS = {"en-US": {"tool-search": "Searches", "resource-item": "Item"}, "de": {"tool-search": "Sucht"}}


def of(document: dict[str, Any], texts: dict[str, dict[str, str]] | None = None) -> dict[str, str]:
    return digests(manifest_of(document), TEXTS if texts is None else texts)


def changed(change: Callable[[dict[str, Any]], object]) -> set[str]:
    """What has another digest after a change."""
    document = good()
    change(document)
    before, after = of(GOOD), of(document)
    return {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}


def test_each_tool_resource_and_prompt_has_one_and_nothing_else() -> None:
    found = of(GOOD)
    assert list(found) == [
        "tools/search-library",
        "tools/cite-item",
        "resources/yaz://zotero/library/{library}/item/{key}",
        "resources/yaz://zotero/libraries",
        "prompts/review",
    ]
    assert all(len(one) == 64 and int(one, 16) >= 0 for one in found.values())
    assert len(set(found.values())) == len(found)


@pytest.mark.parametrize(
    "change",
    [
        {"permission": "zotero:write"}, {"posture": "write"}, {"approval": "ask"}, {"effect": {"external": True}},
        {"deadlineSeconds": 31}, {"maxResult": 1}, {"params": []}, {"descriptionKey": "tool-cite"},
        {"outputSchema": {"type": "object", "title": "x"}}, {"params": [{"name": "query", "note": "other words"}]},
    ],
)  # fmt: skip
def test_every_part_of_a_tool_is_in_its_digest(change: dict[str, Any]) -> None:
    assert changed(lambda document: document["provides"]["tools"][0].update(change)) == {"tools/search-library"}


def test_a_schema_is_in_its_digest_to_the_innermost() -> None:
    def deeper(document: dict[str, Any]) -> None:
        document["provides"]["tools"][0]["inputSchema"]["properties"]["limit"]["maximum"] = 51

    assert changed(deeper) == {"tools/search-library"}


def test_a_changed_text_in_any_language_changes_the_digest_of_what_names_it() -> None:
    for locale in ("en-US", "de", "fr"):
        texts = {**TEXTS, locale: {**TEXTS.get(locale, {}), "tool-search": "other"}}
        before, after = of(GOOD), of(GOOD, texts)
        assert {name for name in before if before[name] != after[name]} == {"tools/search-library"}


def test_a_language_that_says_nothing_of_it_changes_nothing() -> None:
    assert of(GOOD) == of(GOOD, {**TEXTS, "fr": {"why-web": "x"}})


def test_what_nobody_calls_is_in_no_digest() -> None:
    assert changed(lambda document: document.update(name="Other", version="9.0")) == set()
    assert changed(lambda document: document["provides"]["commands"][0].update(nameKey="k")) == set()


def test_a_default_is_the_same_written_out() -> None:
    def written_out(document: dict[str, Any]) -> None:
        document["provides"]["tools"][0].update(approval="none", deadlineSeconds=30, maxResult=40_000)
        document["provides"]["resources"][0]["cache"] = {"scope": "private", "ttlMs": 5000}

    assert changed(written_out) == set()


def test_a_field_that_a_later_version_of_yaz_adds_changes_no_digest() -> None:
    @attrs.frozen
    class Before:
        name: str
        limit: int = 3

    @attrs.frozen
    class After:
        name: str
        limit: int = 3
        colour: str = "red"
        parts: tuple[str, ...] = ()

    assert plain(Before("x")) == plain(After("x")) == {"name": "x"}
    assert plain(After("x", limit=4, parts=("a",))) == {"name": "x", "limit": 4, "parts": ["a"]}


def test_the_order_of_keys_does_not_count() -> None:
    def reordered(document: dict[str, Any]) -> None:
        tool = document["provides"]["tools"][0]
        tool["inputSchema"] = dict(reversed(tool["inputSchema"].items()))
        document["provides"]["tools"][0] = dict(reversed(tool.items()))

    assert changed(reordered) == set()


def test_a_digest_is_the_same_in_every_run() -> None:
    assert of(GOOD)["prompts/review"] == of(good())["prompts/review"]
