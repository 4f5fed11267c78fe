"""What people read of a comparison: a sentence for each change, in their language."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.manifest.archived import ENGLISH, ftl, wheel
from tests.manifest.samples import CONTRACT, GOOD, good, manifest_of
from yazcore.manifest.changes import explained, page
from yazcore.manifest.comparison import compare
from yazcore.manifest.preview import LOCALES, Preview
from yazcore.manifest.targets import Target, compare_targets, open_target
from yazcore.manifest.words import is_printable

TEXTS = {"en-US": {"tool-search": "Searches"}, "de": {"tool-search": "Sucht"}}


def shown(folder: Path, change: Callable[[dict[str, Any]], object], locale: str = "en-US", **more: Any) -> Preview:
    """The page of the good manifest against what a change makes of it, both in wheels."""
    document = {**good(), "version": "0.2.0"}
    change(document)
    old = opened(wheel(folder))
    new = opened(wheel(folder, version="0.2.0", manifest=document, **more))
    return page(old, new, compare_targets(old, new), CONTRACT, locale)


def opened(path: Path) -> Target:
    return open_target(path, CONTRACT, path=[])


def lines(found: Preview) -> list[str]:
    """Everything on the page below the title, line by line."""
    out = [f"  {fact}" for fact in found.facts]
    for section in found.sections:
        out.append(section.heading)
        for entry in section.entries:
            out += [f"{'!' if entry.mark else '-'} {entry.text}", *(f"    {fact}" for fact in entry.facts)]
            out += [f"    | {said}" for said in entry.said]
    return [*out, found.verdict]


def told(change: Callable[[dict[str, Any]], object], locale: str = "en-US") -> list[str]:
    """The lines for a change of a manifest whose texts stay."""
    document = good()
    change(document)
    old, new = manifest_of(GOOD), manifest_of(document)
    found = compare(old, new, TEXTS, TEXTS)
    sides = (Target(kind="folder", name="x", reading=_read(one)) for one in (old, new))
    return lines(page(*sides, found, CONTRACT, locale))


def _read(manifest: Any) -> Any:
    from yazcore.manifest.reading import Reading

    return Reading(manifest, (), None)


def tool(**change: Any) -> Callable[[dict[str, Any]], object]:
    return lambda document: document["provides"]["tools"][0].update(change)


def test_nothing_that_changes_is_said_to_be_nothing(tmp_path: Path) -> None:
    found = shown(tmp_path, lambda document: None)
    assert found.title == "Zotero (zotero) 0.1.0 → 0.2.0"
    assert lines(found) == ["Nothing changes. It needs no new yes."]
    assert not found.refused


def test_the_whole_page(tmp_path: Path) -> None:
    def much(document: dict[str, Any]) -> None:
        document["author"] = "Mallory"
        document["capabilities"] = [
            {"kind": "net", "hosts": ["api.zotero.org", "evil.example"], "reasonKey": "why-web"},
            {"kind": "fs-project", "reasonKey": "why-project"},
            {"kind": "process", "commands": ["git"], "optional": True},
        ]
        search, cite = document["provides"]["tools"]
        search.update(posture="write", effect={"destructive": True, "external": True})
        document["provides"]["tools"] = [search, {**cite, "name": "cite-all", "approval": "ask"}]
        document["provides"]["settings"] = []

    more = {"yaz_plugin_zotero/locales/en-US.ftl": ftl({**ENGLISH, "tool-search": "Finds\u202e all."})}
    found = shown(tmp_path, much, requires=("attrs>=25.1", "httpx"), more=more)
    assert lines(found) == [
        "  yaz would refuse it: 1 violation.",  # for the character that turns text around
        "What it asks for",
        "! Asks for more: send data to api.zotero.org, evil.example",
        "    Before: send data to api.zotero.org",
        "    Asks at once, and no longer when it is first needed",
        "- Asks for less: read the files of the project you work in, except protected ones such as .git and .env",
        "    Before: read and write the files of the project you work in, except protected ones such as .git and .env",
        "! Asks for more, when it is first needed: run git, which can run any program inside the same limits",
        "Tools for agents",
        "! zotero__search-library has changed",
        "    A call may now change something; before, it only read.",
        "    A call may now delete or overwrite.",
        "    A call may now reach beyond your machine.",
        "    It is described differently (en-US).",
        "    | en-US - Finds items by words.",
        "    | en-US + Finds\\u202e all.",
        "! zotero__cite-all is new",
        "    changes something; in one project; needs the permission zotero:write; a question before each call",
        "    | de + Zitiert einen Titel.",
        "    | en-US + Cites one item.",
        "- zotero__cite-item is gone",
        "    | de - Zitiert einen Titel.",
        "    | en-US - Cites one item.",
        "Settings",
        "- bibliography is gone",
        "    | en-US - The file that citations go into",
        "Python packages it needs",
        "- httpx is new",
        "    now: httpx",
        "- tomli is gone",
        '    before: tomli>=2; python_version < "3.11"',
        "What it says of itself",
        "- Its author",
        "    before: Anna",
        "    now: Mallory",
        "It asks for more, or agents reach more through it. It needs your yes.",
    ]
    assert found.refused
    assert all(is_printable(line) for line in lines(found))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (tool(scope="project"), "A permission for it now counts in one project; before, for everything."),
        (tool(permission="zotero:write"), "A caller now needs the permission zotero:write, and no longer zotero:read."),
        (tool(approval="ask"), "There is now a question before each call."),
        (tool(deadlineSeconds=60), "A call may now take 60 seconds; before, 30."),
        (tool(maxResult=50_000), "A result may now have 50,000 bytes of text; before, 40,000."),
        (tool(effect={"external": True}), "A call may now reach beyond your machine."),
        (tool(params=[]), "Its notes on arguments differ."),
        (tool(outputSchema={"type": "object", "title": "x"}), "What its result may be differs."),
        (tool(descriptionKey="other"), "descriptionKey is now other; before, tool-search."),
        (
            lambda document: document["provides"]["formats"][0].update(extensions=[".bib", ".bb"]),
            "extensions is now .bib, .bb; before, .bib.",
        ),
        (
            lambda document: document["provides"]["settings"][0].update(default="x.bib"),
            "default is now x.bib; before, references.bib.",
        ),
        (
            lambda document: document["provides"]["resources"][0].update(cache={"scope": "public"}),
            'cache is now {"scope":"public"}; before, {"ttlMs":5000}.',
        ),
    ],
)  # fmt: skip
def test_each_field_has_its_sentence(change: Callable[[dict[str, Any]], object], sentence: str) -> None:
    def complete(document: dict[str, Any]) -> None:
        change(document)
        one = document["provides"]["tools"][0]
        if one["scope"] == "project":
            one["inputSchema"]["properties"]["projectId"] = {"type": "string"}
            one["inputSchema"]["required"].append("projectId")

    assert f"    {sentence}" in told(complete)


def test_arguments_are_told_one_by_one() -> None:
    def other(document: dict[str, Any]) -> None:
        schema = document["provides"]["tools"][0]["inputSchema"]
        schema["properties"] = {"query": {"type": "string", "maxLength": 9}, "tag": {"type": "string"}, "limit": {}}
        schema["required"] = ["limit"]

    assert told(other)[2:-1] == [
        '    It has the new arguments "tag".',
        '    The arguments "query", "limit" may be something else.',
        '    The arguments "limit" must now be given.',
        '    The arguments "query" may now be left out.',
    ]


@pytest.mark.parametrize("odd", [{"properties": 3, "required": 7}, {"required": [[]]}, {"properties": []}])
def test_a_schema_of_any_shape_is_told(odd: dict[str, Any]) -> None:
    """Reading takes any schema that is an object; only checking looks inside."""
    found = told(tool(inputSchema={"type": "object", "additionalProperties": False, **odd}, params=[]))
    assert any("no longer has the arguments" in line for line in found)


def test_an_older_second_version_is_said(tmp_path: Path) -> None:
    old, new = opened(wheel(tmp_path, version="0.10.0")), opened(wheel(tmp_path, version="0.9.0"))
    assert lines(page(old, new, compare_targets(old, new), CONTRACT, "en")) == [
        "  The second version is older than the first.", "Nothing changes. It needs no new yes.",
    ]  # fmt: skip


def test_a_second_version_that_would_be_refused_is_said(tmp_path: Path) -> None:
    found = shown(tmp_path, lambda document: None, more={"zz.pth": ""})
    assert lines(found)[0] == "  yaz would refuse it: 1 violation."


def test_the_page_in_german(tmp_path: Path) -> None:
    found = shown(tmp_path, tool(posture="write"), locale="de-AT")
    assert lines(found) == [
        "Werkzeuge für Agenten",
        "! zotero__search-library hat sich geändert",
        "    Ein Aufruf kann jetzt etwas ändern; vorher las er nur.",
        "Es bittet um mehr, oder Agenten erreichen mehr dadurch. Es braucht Ihr Ja.",
    ]


def test_both_languages_have_every_text_of_the_host() -> None:
    from yazcore.manifest.messages import Messages

    both = [Messages(LOCALES).keys(locale) for locale in ("en-US", "de")]
    assert both[0] == both[1]


def test_what_waits_is_explained_by_digest_and_by_identity() -> None:
    document = good()
    document["capabilities"][1]["hosts"].append("evil.example")
    document["provides"]["tools"][0]["posture"] = "write"
    document["provides"]["tools"][1]["name"] = "other"
    old, new = manifest_of(GOOD), manifest_of(document)
    assert explained(compare(old, new, {}, {}), "zotero", CONTRACT) == {
        new.capabilities[1].identity: "before: send data to api.zotero.org",
        "tools/search-library": "a call may now change something; before, it only read",
    }


@settings(max_examples=50)
@given(st.text(max_size=40), st.text(max_size=40))
def test_whatever_a_plugin_says_stays_on_its_own_lines(before: str, after: str) -> None:
    manifest = manifest_of(GOOD)
    sides = [{"en-US": {"tool-search": one, "why-web": one}} for one in (before, after)]
    found = page(
        *(Target(kind="folder", name="x", reading=_read(manifest)) for _ in sides),
        compare(manifest, manifest, *sides), CONTRACT, "en",
    )  # fmt: skip
    for section in found.sections:
        for entry in section.entries:
            assert all(is_printable(one) for one in (entry.text, *entry.facts, *entry.said))
            assert all(one.startswith(("en-US - ", "en-US + ")) for one in entry.said)
