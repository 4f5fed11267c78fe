"""`help`, `yaz://tools`, `yaz://permissions` and the instructions: one catalogue, told in four ways."""

from __future__ import annotations

from typing import Any

import attrs

from yazcore.catalogue import ActiveTool
from yazcore.declarations import Param, ToolDeclaration
from yazcore.mcp.help import NEXT, help_for, instructions, permissions_document, tools_document
from yazcore.permissions import OWNER, PROJECT, PermissionGrant, Principal


def active(name: str, plugin: str = "demo", **declared: Any) -> ActiveTool:
    declaration = ToolDeclaration(**{
        "name": name, "description_key": "text", "posture": "read", "scope": "global", "permission": f"{plugin}:read",
        "input_schema": {"type": "object"}, **declared,
    })  # fmt: skip
    exposed = name if plugin == "yaz" else f"{plugin}__{name}"
    return ActiveTool(
        plugin=plugin, exposed=exposed, declaration=declaration, description=f"What {name} does.", own=plugin == "yaz"
    )


TOOLS = (
    active("find", params=(
        Param(name="query", note="words"), Param(name="sort", values=("year", "title")),
        Param(name="n", shape="1 to 9"),
    )),
    active("cite", posture="write", scope="project", permission="demo:write", deadline_seconds=90, approval="ask"),
    active("help", "yaz"),
)  # fmt: skip
ACTIONS = ("demo:read", "demo:write", "yaz:read")


def test_without_a_topic_there_is_an_index_of_reads_and_writes() -> None:
    index = help_for(TOOLS, None)
    assert index == help_for(TOOLS, "  ")
    assert [tool["tool"] for tool in index["tools"]["read"]] == ["demo__find", "help"]
    assert index["tools"]["write"] == [
        {"tool": "demo__cite", "summary": "What cite does.", "permission": "demo:write", "scope": "project"}
    ]
    assert index["next"] == NEXT


def test_an_index_over_its_budget_says_less_of_each_tool_and_names_them_all() -> None:
    everything = {"tool", "summary", "permission", "scope"}
    for said, budget in ((everything, 399), (everything - {"summary"}, 398), ({"tool"}, 308), ({"tool"}, 0)):
        tools = help_for(TOOLS, None, budget)["tools"]
        assert [entry["tool"] for entry in (*tools["read"], *tools["write"])] == ["demo__find", "help", "demo__cite"]
        assert all(entry.keys() == said for entry in (*tools["read"], *tools["write"])), budget


def test_a_topic_is_one_tool_in_full() -> None:
    assert help_for(TOOLS, " DEMO__Cite ") == {
        "tool": {
            "name": "demo__cite", "plugin": "demo", "posture": "write", "summary": "What cite does.",
            "access": {"permission": "demo:write", "scope": "project"}, "approval": "ask", "deadlineSeconds": 90,
            "params": [],
        }
    }  # fmt: skip


def test_a_parameter_says_what_the_manifest_says_of_it_and_no_more() -> None:
    assert help_for(TOOLS, "demo__find")["tool"]["params"] == [
        {"name": "query", "note": "words"}, {"name": "sort", "values": ["year", "title"]},
        {"name": "n", "shape": "1 to 9"},
    ]  # fmt: skip


def test_an_unknown_topic_is_told_the_names_there_are() -> None:
    assert help_for(TOOLS, "find") == {"unknown": "find", "tools": ["demo__cite", "demo__find", "help"], "next": NEXT}


def test_all_tools_are_told_in_the_same_words_as_one() -> None:
    assert tools_document(TOOLS) == {"tools": [help_for(TOOLS, tool.exposed)["tool"] for tool in TOOLS]}


def test_the_owner_holds_everything_that_is_declared() -> None:
    assert permissions_document(OWNER, ACTIONS, ACTIONS, ()) == {
        "principal": "owner", "owner": True,
        "permissions": [{"permission": action, "scope": "global", "scopeId": None} for action in ACTIONS],
        "tools": None, "readOnly": False,
    }  # fmt: skip


def test_a_principal_holds_what_its_grants_name_among_what_is_declared() -> None:
    anna = Principal(
        name="anna", tools=frozenset({"demo__find", "demo__cite"}), read_only=True,
        grants=(
            PermissionGrant("demo:*", "project", "prj_aaaaaaaaaaaa"), PermissionGrant("yaz:read"),
            PermissionGrant("gone:read"), PermissionGrant("*"),
        ),
    )  # fmt: skip
    assert permissions_document(anna, ACTIONS, {"yaz:read"}, anna.grants) == {
        "principal": "anna", "owner": False,
        "permissions": [
            {"permission": "yaz:read", "scope": "global", "scopeId": None},
            {"permission": "demo:read", "scope": "project", "scopeId": "prj_aaaaaaaaaaaa"},
            {"permission": "demo:write", "scope": "project", "scopeId": "prj_aaaaaaaaaaaa"},
        ],
        "tools": ["demo__cite", "demo__find"], "readOnly": True,
    }  # fmt: skip


def test_scopes_in_which_nothing_can_be_listed_are_named() -> None:
    kinds = [PROJECT, attrs.evolve(PROJECT, source="")]
    document = permissions_document(Principal(name="anna"), ACTIONS, (), (), kinds)
    note = "What you may do in one project is decided on each call"
    assert document["notListed"] == [
        {"scope": "project", "note": f"{note}; list_projects shows the ids there are for you."},
        {"scope": "project", "note": f"{note}."},
    ]


def test_the_instructions_name_each_tool_and_how_many_may_be_called() -> None:
    assert instructions("yaz", TOOLS, {"demo:read"}, "yaz://permissions") == (
        "This is yaz. Tools that read: demo__find, help. Tools that change things: demo__cite. "
        "Names with '__' come from plugins. You may call 1 of 3 everywhere; "
        "yaz://permissions says what you may do. help explains each tool."
    )


def test_the_instructions_of_nothing_say_none() -> None:
    said = instructions("yaz", (), ACTIONS, None)
    assert said.startswith("This is yaz. Tools that read: none. Tools that change things: none. ")
    assert said.endswith("You may call 0 of 0 everywhere.")
