"""What a newer manifest asks for, adds, removes and changes against an older one of the same plugin."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.hosts.console import CONTRACT as CONSOLE
from tests.manifest.samples import GOOD, good, manifest_of
from tests.plugins_in_test import manifest as sample
from yazcore.manifest.comparison import Change, Comparison, compare
from yazcore.manifest.digests import digests

TEXTS = {"en-US": {"tool-search": "Searches", "why-web": "Looks up"}, "de": {"tool-search": "Sucht"}}

NET = {"kind": "net", "hosts": ["api.example.org"]}
NOTES = {"kind": "fs-read", "path": "/srv/notes"}


def told(change: Change) -> tuple[Any, ...]:
    return change.what, change.name, change.change, change.old, change.new


def after(change: Callable[[dict[str, Any]], object], **more: Any) -> Comparison:
    """How the good manifest compares with what a change makes of it."""
    document = good()
    change(document)
    return compare(manifest_of(GOOD), manifest_of(document), TEXTS, more.pop("texts", TEXTS), **more)


def asking(old: list[dict[str, Any]], new: list[dict[str, Any]]) -> Comparison:
    """How two manifests compare that ask for this, and are the same for the rest."""
    return compare(manifest_of({**GOOD, "capabilities": old}), manifest_of({**GOOD, "capabilities": new}), {}, {})


def search(change: Callable[[dict[str, Any]], object], **more: Any) -> Comparison:
    """The same for the tool that searches."""
    return after(lambda document: change(document["provides"]["tools"][0]), **more)


# --- the whole


def test_a_manifest_is_the_same_as_itself() -> None:
    found = after(lambda document: None)
    assert found == Comparison()
    assert (found.verdict, found.needs_consent) == ("same", False)
    assert found.as_json() == {"verdict": "same", "changes": []}


def test_another_version_alone_is_the_same() -> None:
    assert after(lambda document: document.update(version="0.2.0")).verdict == "same"


def test_a_default_written_out_and_another_order_of_keys_are_the_same() -> None:
    def written(document: dict[str, Any]) -> None:
        document["provides"]["tools"][0].update(approval="none", deadlineSeconds=30)
        document["capabilities"][1].update(ports=[443], hosts=["API.zotero.org."])
        document["capabilities"].reverse()
        document["permissions"].reverse()

    assert after(written) == Comparison()


def test_a_change_has_the_five_keys_that_others_rely_on() -> None:
    found = after(lambda document: document["provides"]["commands"].append({"id": "tidy", "nameKey": "command-tidy"}))
    assert found.as_json() == {
        "verdict": "changed",
        "changes": [
            {"what": "commands", "name": "tidy", "change": "added", "old": None,
             "new": {"id": "tidy", "nameKey": "command-tidy"}},
        ],
    }  # fmt: skip


def test_the_worst_verdict_wins() -> None:
    def mixed(document: dict[str, Any]) -> None:
        document["author"] = "Bea"
        del document["provides"]["prompts"]

    assert after(mixed).verdict == "changed"

    def worse(document: dict[str, Any]) -> None:
        mixed(document)
        document["capabilities"].append(NOTES)

    assert after(worse).verdict == "wider"


def test_everything_is_compared_in_both_directions() -> None:
    """An empty manifest against one that uses everything there is: every thing is added, or removed."""
    empty = manifest_of(
        {key: value for key, value in GOOD.items() if key not in ("capabilities", "permissions", "provides")}
    )
    whole = manifest_of(GOOD)
    names = [
        ("capabilities", "fs-project"), ("capabilities", "net"),
        ("permissions", "zotero:read"), ("permissions", "zotero:write"),
        ("commands", "cite"), ("formats", "bib"), ("tools", "search-library"), ("tools", "cite-item"),
        ("resources", "yaz://zotero/library/{library}/item/{key}"), ("resources", "yaz://zotero/libraries"),
        ("prompts", "review"), ("settings", "bibliography"),
    ]  # fmt: skip
    more, less = compare(empty, whole, {}, TEXTS), compare(whole, empty, TEXTS, {})
    assert [(one.what, one.name) for one in more.changes] == names
    assert [(one.what, one.name) for one in less.changes] == names
    assert {one.change for one in more.changes} == {"added"}
    assert {one.change for one in less.changes} == {"removed"}
    assert (more.verdict, more.needs_consent) == ("wider", True)
    assert (less.verdict, less.needs_consent) == ("narrower", False)


# --- capabilities


@pytest.mark.parametrize(
    ("old", "new", "change", "verdict"),
    [
        ([], [NET], "added", "wider"),
        ([NET], [], "removed", "narrower"),
        ([NET], [{**NET, "hosts": ["api.example.org", "other.example.org"]}], "changed", "wider"),
        ([{**NET, "hosts": ["api.example.org", "other.example.org"]}], [NET], "changed", "narrower"),
        ([NET], [{**NET, "hosts": ["other.example.org"]}], "changed", "wider"),
        ([NET], [{**NET, "ports": [443, 8443]}], "changed", "wider"),
        ([NET], [{**NET, "private": True}], "changed", "wider"),
        ([NET], [{**NET, "readMethods": ["GET", "HEAD", "POST"]}], "changed", "wider"),
        ([NOTES], [{**NOTES, "path": "/srv/notes/mine"}], "changed", "narrower"),
        ([NOTES], [{**NOTES, "path": "/srv/all"}], "changed", "wider"),
        ([NOTES], [{"kind": "fs-read", "place": "notes"}], "changed", "wider"),
        ([{"kind": "fs-project"}], [{"kind": "fs-project", "access": "write"}], "changed", "wider"),
        ([{"kind": "fs-project", "access": "write"}], [{"kind": "fs-project", "paths": ["a"]}], "changed", "narrower"),
        ([{**NET, "optional": True}], [NET], "changed", "wider"),
        ([NET], [{**NET, "optional": True}], "changed", "narrower"),
        ([], [{**NET, "optional": True}], "added", "wider"),
        (
            [{"kind": "fs-read", "place": "notes", "suggest": ["~/Notes"]}],
            [{"kind": "fs-read", "place": "notes", "suggest": ["~/Other"]}],
            "changed", "changed",
        ),
    ],
)  # fmt: skip
def test_a_capability_is_judged_by_what_its_kind_says(
    old: list[dict[str, Any]], new: list[dict[str, Any]], change: str, verdict: str
) -> None:
    found = asking(old, new)
    assert [one.change for one in found.changes] == [change]
    assert found.verdict == verdict


def test_of_a_changed_capability_only_what_differs_is_told() -> None:
    (change,) = asking([NET], [{**NET, "hosts": ["b.example.org", "api.example.org"]}]).changes
    assert told(change) == (
        "capabilities", "net", "changed",
        {"hosts": ["api.example.org"]}, {"hosts": ["api.example.org", "b.example.org"]},
    )  # fmt: skip


def test_an_added_capability_is_told_in_full() -> None:
    (change,) = asking([], [{**NET, "optional": True}]).changes
    assert change.new == {
        "kind": "net", "hosts": ["api.example.org"], "ports": [443], "private": False, "readMethods": ["GET", "HEAD"],
        "optional": True,
    }  # fmt: skip


def test_the_order_of_two_capabilities_of_a_kind_does_not_count() -> None:
    other = {"kind": "fs-read", "path": "/srv/papers"}
    assert asking([NOTES, other], [other, NOTES]).verdict == "same"


def test_a_capability_pairs_with_the_one_it_is_nearest_to() -> None:
    papers, paper = ({"kind": "fs-read", "path": path} for path in ("/srv/papers", "/srv/papers/one"))
    found = asking([NOTES, papers], [paper])
    assert [(one.change, one.verdict) for one in found.changes] == [("changed", "narrower"), ("removed", "narrower")]
    assert found.changes[1].old == {"kind": "fs-read", "path": "/srv/notes"}


def test_a_capability_that_grew_pairs_with_the_one_it_holds() -> None:
    notes, papers = ({"kind": "fs-read", "path": f"/srv/{name}/mine"} for name in ("notes", "papers"))
    found = asking([notes, papers], [{"kind": "fs-read", "path": "/srv/papers"}])
    assert [(one.change, one.old) for one in found.changes] == [
        ("changed", {"path": "/srv/papers/mine"}), ("removed", {"kind": "fs-read", "path": "/srv/notes/mine"}),
    ]  # fmt: skip


def test_a_capability_that_is_split_in_two_asks_for_no_more() -> None:
    whole = {**NET, "hosts": ["a.example.org", "b.example.org"]}
    parts = [{**NET, "hosts": ["a.example.org"]}, {**NET, "hosts": ["b.example.org"]}]
    assert asking([whole], parts).verdict == "narrower"
    assert asking([{**whole, "optional": True}], parts).verdict == "wider"


def test_another_kind_is_another_capability() -> None:
    found = asking([NOTES], [{"kind": "fs-write", "path": "/srv/notes"}])
    assert [(one.change, one.name) for one in found.changes] == [("added", "fs-write"), ("removed", "fs-read")]
    assert found.verdict == "wider"


def test_a_reason_that_reads_differently_is_a_change() -> None:
    found = after(lambda document: None, texts={**TEXTS, "en-US": {**TEXTS["en-US"], "why-web": "Trust me"}})
    (change,) = found.changes
    assert told(change) == (
        "capabilities", "net", "changed",
        {"texts": {"en-US": {"reason": "Looks up"}}}, {"texts": {"en-US": {"reason": "Trust me"}}},
    )  # fmt: skip
    assert (found.verdict, found.needs_consent) == ("changed", False)


def test_a_narrower_capability_with_another_reason_is_a_change() -> None:
    def narrower(document: dict[str, Any]) -> None:
        document["capabilities"][0] = {"kind": "fs-project", "access": "read", "reasonKey": "why-project"}

    texts = {"en-US": {**TEXTS["en-US"], "why-project": "Trust me"}}
    found = compare(manifest_of(GOOD), after_change(narrower), TEXTS, {**TEXTS, **texts})
    assert found.verdict == "changed"


def after_change(change: Callable[[dict[str, Any]], object]) -> Any:
    document = good()
    change(document)
    return manifest_of(document)


# --- tools


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"posture": "write"}, "posture"), ({"approval": "none"}, "approval"),
        ({"effect": {"external": True}}, "effect"), ({"scope": "global"}, "scope"),
    ],
)  # fmt: skip
def test_a_tool_that_lets_more_happen_is_wider(change: dict[str, Any], key: str) -> None:
    def before(document: dict[str, Any]) -> None:
        tool = document["provides"]["tools"][1]
        tool.update(posture="read", approval="ask", effect={"idempotent": True})

    old = after_change(before)
    new = after_change(lambda document: (before(document), document["provides"]["tools"][1].update(change)))
    found, back = compare(old, new, TEXTS, TEXTS), compare(new, old, TEXTS, TEXTS)
    assert [(one.what, one.name, one.verdict) for one in found.changes] == [("tools", "cite-item", "wider")]
    assert list(found.changes[0].new or found.changes[0].old) == [key]
    assert back.verdict == "changed", "what is taken back is a change all the same, for its digest is another"
    assert back.needs_consent


@pytest.mark.parametrize(
    "change",
    [
        {"permission": "zotero:write"}, {"approval": "ask"}, {"effect": {"idempotent": True}}, {"deadlineSeconds": 31},
        {"maxResult": 1}, {"params": []}, {"descriptionKey": "tool-cite"},
        {"outputSchema": {"type": "object", "title": "x"}},
        {"inputSchema": {"type": "object", "additionalProperties": False, "properties": {"query": {"type": "string"}}}},
    ],
)  # fmt: skip
def test_every_other_part_of_a_tool_is_a_change_that_needs_a_yes(change: dict[str, Any]) -> None:
    found = search(lambda tool: tool.update(change), texts={})
    assert {key for one in found.changes for side in (one.old, one.new) for key in side} - {"texts"} == set(change)
    assert (found.verdict, found.needs_consent, found.unseen) == ("changed", True, ("tools/search-library",))


def test_a_text_is_compared_in_each_locale() -> None:
    found = after(
        lambda document: None, texts={**TEXTS, "de": {"tool-search": "Sucht alles"}, "fr": {"tool-search": "Cherche"}}
    )
    (change,) = found.changes
    assert told(change) == (
        "tools", "search-library", "changed",
        {"texts": {"de": {"description": "Sucht"}}},
        {"texts": {"de": {"description": "Sucht alles"}, "fr": {"description": "Cherche"}}},
    )  # fmt: skip
    assert found.needs_consent


def test_a_schema_is_compared_as_json_and_as_a_digest_pins_it() -> None:
    def as_float(tool: dict[str, Any]) -> None:
        tool["inputSchema"]["properties"]["limit"]["maximum"] = 50.0

    assert search(as_float).unseen == ("tools/search-library",)
    assert [one.change for one in search(as_float).changes] == ["changed"]


def test_a_new_tool_resource_or_prompt_is_wider_and_one_that_is_gone_narrower() -> None:
    for key in ("tools", "resources", "prompts"):
        gone = after(lambda document, key=key: document["provides"].pop(key))  # type: ignore[misc]
        assert (gone.verdict, gone.needs_consent) == ("narrower", False)
        assert {one.what for one in gone.changes} == {key}


@pytest.mark.parametrize(
    ("path", "entry"),
    [
        (("permissions",), {"action": "zotero:look", "descriptionKey": "k"}),
        (("provides", "settings"), {"key": "style", "type": "string", "descriptionKey": "k"}),
        (("provides", "commands"), {"id": "tidy", "nameKey": "k"}),
        (("provides", "formats"), {"id": "org", "nameKey": "k", "extensions": [".org"]}),
    ],
)
def test_what_no_agent_calls_is_new_without_a_question(path: tuple[str, ...], entry: dict[str, Any]) -> None:
    def more(document: Any) -> None:
        for part in path:
            document = document[part]
        document.append(entry)

    found = after(more)
    assert [(one.what, one.change) for one in found.changes] == [(path[-1], "added")]
    assert (found.verdict, found.needs_consent) == ("changed", False)


def test_a_cache_that_comes_to_be_shared_is_wider() -> None:
    def shared(document: dict[str, Any]) -> None:
        document["provides"]["resources"][0]["cache"]["scope"] = "public"

    assert after(shared).verdict == "wider"


# --- what callers, people and the host are told


@pytest.mark.parametrize(
    ("path", "change", "what", "name"),
    [
        (("provides", "commands", 0), {"nameKey": "other"}, "commands", "cite"),
        (("provides", "formats", 0), {"extensions": [".bib", ".bibtex"]}, "formats", "bib"),
        (("provides", "settings", 0), {"default": "x.bib"}, "settings", "bibliography"),
        (("permissions", 0), {"descriptionKey": "other"}, "permissions", "zotero:read"),
    ],
)
def test_what_people_alone_meet_is_a_change_without_a_question(
    path: tuple[Any, ...], change: dict[str, Any], what: str, name: str
) -> None:
    def deep(document: Any) -> None:
        for part in path:
            document = document[part]
        document.update(change)

    found = after(deep)
    assert [(one.what, one.name, one.new) for one in found.changes] == [(what, name, change)]
    assert (found.verdict, found.needs_consent) == ("changed", False)


@pytest.mark.parametrize(
    ("change", "kind", "old", "new"),
    [
        ({"author": "Mallory"}, "changed", "Anna", "Mallory"),
        (
            {"repository": "https://example.org/mallory/x"},
            "changed",
            GOOD["repository"],
            "https://example.org/mallory/x",
        ),
        ({"updates": None}, "removed", {"source": "pypi"}, None),
        ({"license": None}, "removed", "MIT", None),
        ({"description": "Other."}, "changed", GOOD["description"], "Other."),
        ({"minAppVersion": "0.2.0"}, "changed", "0.1.0", "0.2.0"),
    ],
)
def test_what_a_manifest_says_of_itself_is_compared(change: dict[str, Any], kind: str, old: Any, new: Any) -> None:
    ((key, _),) = change.items()
    document = {name: value for name, value in {**GOOD, **change}.items() if value is not None}
    (found,) = compare(manifest_of(GOOD), manifest_of(document), {}, {}).changes
    assert told(found) == ("plugin", key, kind, old, new)
    assert found.verdict == "changed"


def test_python_requirements_are_compared_by_distribution() -> None:
    found = after(
        lambda document: None,
        old_requires=["HTTPX>=1", "attrs", "old_one"],
        new_requires=["attrs", "httpx >=2", 'httpx>=3; python_version > "3.11"', "idna"],
    )
    assert [told(one) for one in found.changes] == [
        ("requires", "httpx", "changed", ["HTTPX>=1"], ["httpx >=2", 'httpx>=3; python_version > "3.11"']),
        ("requires", "idna", "added", None, ["idna"]),
        ("requires", "old-one", "removed", ["old_one"], None),
    ]
    assert (found.verdict, found.needs_consent) == ("changed", False)


def test_a_host_applications_own_kind_is_compared_like_the_shipped_ones() -> None:
    def with_panel(width: int) -> Any:
        panel = {"id": "queue", "nameKey": "panel", "width": width}
        document = sample("queues", provides={"panels": [panel]}, module="console_plugin_queues.plugin:Plugin")
        return manifest_of({**document, "contract": CONSOLE.number, "minAppVersion": CONSOLE.version}, CONSOLE)

    (change,) = compare(with_panel(1), with_panel(2), {}, {}).changes
    assert told(change) == ("panels", "queue", "changed", {"width": 1}, {"width": 2})
    assert change.verdict == "changed"


# --- laws


LEAVES = st.sampled_from([
    lambda document: document["provides"]["tools"].pop(),
    lambda document: document["provides"]["tools"][0].update(posture="write"),
    lambda document: document["provides"]["tools"][0]["inputSchema"].update(title="x"),
    lambda document: document["provides"]["resources"][1].update(mimeType="text/plain"),
    lambda document: document["provides"].pop("prompts", None),
    lambda document: document["provides"]["commands"][0].update(nameKey="x"),
    lambda document: document["capabilities"].append(copy.deepcopy(NOTES)),
    lambda document: document["capabilities"].pop(),
    lambda document: document["capabilities"].reverse(),
    lambda document: document.update(author="Bea"),
    lambda document: document.update(version="0.3.0"),
])  # fmt: skip


@given(st.lists(LEAVES, max_size=4, unique=True), st.lists(LEAVES, max_size=4, unique=True))
def test_what_a_digest_pins_changes_exactly_where_a_change_is_told(one: list[Any], other: list[Any]) -> None:
    documents = []
    for changes in (one, other):
        document = good()
        for change in changes:
            change(document)
        documents.append(manifest_of(document))
    old, new = documents
    found = compare(old, new, TEXTS, TEXTS)
    before, after = digests(old, TEXTS), digests(new, TEXTS)
    told = {f"{change.what}/{change.name}" for change in found.changes}
    assert {name for name in {*before, *after} if before.get(name) != after.get(name)} == told & {*before, *after}
    assert set(found.unseen) <= told
    assert (found.verdict == "same") == (not found.changes)
    back = compare(new, old, TEXTS, TEXTS)
    assert [(c.what, c.name) for c in found.changes if c.change == "changed" and c.what != "capabilities"] == [
        (c.what, c.name) for c in back.changes if c.change == "changed" and c.what != "capabilities"
    ]
    assert compare(new, new, TEXTS, TEXTS) == Comparison()
