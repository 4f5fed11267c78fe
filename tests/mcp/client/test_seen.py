"""What the user has seen of a server, and what counts of it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from yazcore import Home, YazError
from yazcore.mcp.client.definitions import Definition, definition
from yazcore.mcp.client.seen import SeenStore
from yazcore.mcp.client.settings import ServerSettings

SETTINGS = ServerSettings(name="s", command="a")


def tool(name: str = "check", **more: Any) -> Definition:
    return definition({"name": name, "inputSchema": {"type": "object"}, **more})


def test_nothing_is_seen_before_the_user_looks(home: Home) -> None:
    seen = SeenStore(home).of(SETTINGS)
    assert (seen.state(tool()), seen.reads("check")) == ("new", False)


def test_what_was_accepted_is_seen_until_it_changes(home: Home) -> None:
    store = SeenStore(home)
    store.accept(SETTINGS, [tool()])
    seen = SeenStore(home).of(SETTINGS)
    assert seen.state(tool()) == "seen"
    assert seen.state(tool(description="Other.")) == "changed"
    assert seen.state(tool("other")) == "new"
    assert seen.tools["check"].definition == tool().data
    assert home.path("servers", "s.json").stat().st_mode & 0o777 == 0o600


def test_a_mark_stays_until_the_tool_changes(home: Home) -> None:
    store = SeenStore(home)
    store.accept(SETTINGS, [tool(), tool("other")])
    store.mark(SETTINGS, ["check"], True)
    assert (store.of(SETTINGS).reads("check"), store.of(SETTINGS).reads("other")) == (True, False)
    store.accept(SETTINGS, [tool()])
    assert store.of(SETTINGS).reads("check")
    store.accept(SETTINGS, [tool(description="Other.")])
    assert not store.of(SETTINGS).reads("check")
    store.mark(SETTINGS, ["check"], True)
    store.mark(SETTINGS, ["check"], False)
    assert not store.of(SETTINGS).reads("check")


def test_a_tool_nobody_has_seen_is_not_marked(home: Home) -> None:
    store = SeenStore(home)
    store.accept(SETTINGS, [tool()])
    with pytest.raises(YazError, match="'other' of the MCP server s was not seen yet"):
        store.mark(SETTINGS, ["check", "other"], True)
    assert not store.of(SETTINGS).reads("check")


def test_with_other_settings_nothing_of_it_counts(home: Home) -> None:
    store = SeenStore(home)
    store.accept(SETTINGS, [tool()])
    store.mark(SETTINGS, ["check"], True)
    moved = ServerSettings(name="s", command="b")
    assert (store.of(moved).state(tool()), store.of(moved).reads("check")) == ("new", False)
    store.accept(moved, [tool("other")])
    assert sorted(store.of(moved).tools) == ["other"]


def test_what_another_process_wrote_counts_at_once(home: Home) -> None:
    mine, theirs = SeenStore(home), SeenStore(home)
    assert mine.of(SETTINGS).tools == {}
    theirs.accept(SETTINGS, [tool()])
    assert mine.of(SETTINGS).state(tool()) == "seen"
    theirs.forget("s")
    assert mine.of(SETTINGS).state(tool()) == "new"


@pytest.mark.parametrize(
    "document",
    [
        [],
        {},
        {"server": "s", "settings": "x"},
        {"server": "s", "settings": 1, "tools": {}},
        {"server": "s", "settings": "x", "tools": []},
        {"server": "s", "settings": "x", "tools": {"a": {"digest": "d", "definition": {}, "read": "yes"}}},
        {"server": "s", "settings": "x", "tools": {"a": {"digest": "d"}}},
        {"server": "s", "settings": "x", "tools": {}, "more": 1},
    ],
)
def test_a_file_that_says_something_else_counts_for_nothing(home: Home, document: Any) -> None:
    home.write_text("servers/s.json", json.dumps(document))
    with pytest.raises(YazError) as caught:
        SeenStore(home).of(SETTINGS)
    assert caught.value.code == "server-seen-broken"


def test_the_file_of_another_server_counts_for_nothing(home: Home) -> None:
    other = ServerSettings(name="S", command="a")
    SeenStore(home).accept(other, [tool()])
    home.path("servers", "S.json").rename(home.path("servers", "s.json"))
    assert SeenStore(home).of(SETTINGS).state(tool()) == "new"
