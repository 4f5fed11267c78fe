"""Profiles, read-only and allow-lists: list, help, instructions, `yaz://tools` and calls leave out alike."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest

from tests.cli.commands import DEMO, Served, Shell, install, shell
from tests.writing.worlds import write

SETTINGS = """
[profiles.citing]
tools = ["demo__echo", "demo__note", "read_outline", "gone__tool"]

[profiles.reading]
tools = ["demo__echo", "demo__note", "read_outline"]
read-only = true

[profiles.broken]
tool = ["demo__echo"]
"""
CITING = {"demo__echo", "demo__note", "help", "read_outline"}
WRITES = {"compile", "create_document", "demo__note", "edit_document"}


def ready(folder: Path) -> Shell:
    folder.mkdir()
    made = Shell(folder)
    install(made.site, **DEMO)
    assert made.here("grant", "demo", "--trusted", "--yes").status == 0
    made.home.write_text("settings.toml", SETTINGS)
    write(folder / "thesis", {"main.typ": "= One\n"})
    return made


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Shell, Served]]:
    made = ready(tmp_path_factory.mktemp("whole") / "shell")
    yield made, made.serve(str(made.folder / "thesis"))
    made.close()


def known_to(served: Served, everything: set[str]) -> dict[str, set[str]]:
    """Which tools whoever comes with this token is told of, and can call, by each of the ways there are."""
    index = served.call("help")["structuredContent"]["tools"]
    document = served.ask("resources/read", uri="yaz://tools")["result"]["contents"][0]["text"]
    told = served.ask("server/discover")["result"]["instructions"]
    # none of them runs: whatever is known is told that its arguments are wrong
    called = {name: served.ask("tools/call", name=name, arguments={"none": 1}) for name in everything}
    return {
        "list": {tool["name"] for tool in served.ask("tools/list")["result"]["tools"]},
        "help": {tool["tool"] for posture in ("read", "write") for tool in index[posture]},
        "topic": {name for name in everything if "tool" in served.call("help", topic=name)["structuredContent"]},
        "yaz://tools": {tool["name"] for tool in json.loads(document)["tools"]},
        "instructions": set(told.replace(".", ",").replace(":", ",").replace(" ", "").split(",")) & everything,
        "calls": {
            name for name in everything if called[name].get("error", {}).get("message") != f"Unknown tool: {name}"
        },
    }  # fmt: skip


def everything(served: Served) -> set[str]:
    return {tool["name"] for tool in served.ask("tools/list")["result"]["tools"]}


@pytest.mark.parametrize(
    ("options", "left"),
    [
        ([], lambda name: True),
        (["--read-only"], lambda name: name not in WRITES),
        (["--tool", "demo__echo", "--tool", "compile", "--tool", "gone__tool"],
         lambda name: name in {"demo__echo", "compile", "help"}),
        (["--tool", "demo__echo", "--tool", "compile", "--read-only"], lambda name: name in {"demo__echo", "help"}),
    ],
    ids=["all", "read-only", "allow-list", "both"],
)  # fmt: skip
def test_a_token_knows_the_same_tools_by_every_way(
    whole: tuple[Shell, Served], options: list[str], left: Any, request: pytest.FixtureRequest
) -> None:
    yaz, served = whole
    text = yaz.here("token", "create", request.node.callspec.id, "--grant", "demo:*", *options).out.strip()
    there = everything(served)
    known = known_to(attrs.evolve(served, token=text), there)
    assert known == {way: {name for name in there if left(name)} for way in known}


@pytest.mark.parametrize(
    ("options", "left_out"),
    [
        (["--profile", "citing"], lambda name: name not in CITING),
        (["--profile", "reading"], lambda name: name not in CITING - WRITES),
        (["--read-only"], lambda name: name in WRITES),
    ],
    ids=["profile", "reading", "read-only"],
)
def test_what_is_served_counts_for_everybody_and_for_the_users_own_commands(
    tmp_path: Path, whole: tuple[Shell, Served], options: list[str], left_out: Any
) -> None:
    yaz = ready(tmp_path / "shell")
    try:
        served = yaz.serve(str(yaz.folder / "thesis"), *options)
        there = everything(whole[1])
        expected = {name for name in there if not left_out(name)}
        wide = yaz.here("token", "create", "wide", "--grant", "demo:*", "--tool", "demo__note", "--tool", "compile")
        for token, left in ((served.token, expected), (wide.out.strip(), {"help", "demo__note"} & expected)):
            known = known_to(attrs.evolve(served, token=token), there)
            assert known == dict.fromkeys(known, left)
        assert {tool["name"] for tool in yaz.here("tools", "--json").json["tools"]} == expected
        assert yaz.here("call", "compile").json == {"error": {"code": -32602, "message": "Unknown tool: compile"}}
        assert yaz.here("status", "--json").json["tools"] == len(expected)
    finally:
        yaz.close()


def test_a_person_is_told_which_tools_there_are_and_which_names_are_of_none(tmp_path: Path) -> None:
    with shell(tmp_path / "shell") as yaz:
        yaz.home.write_text("settings.toml", SETTINGS)
        thesis = write(tmp_path / "thesis", {"main.typ": "= One\n"})
        lines = yaz.start("serve", str(thesis), "--profile", "citing", "--read-only").lines_to("Ctrl-C")
        (line,) = (line for line in lines if line.startswith("tools:"))
        assert line == "tools:      help, read_outline (of 9; there is no demo__echo, demo__note, gone__tool)"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("citin", "yaz: [profile-unknown] settings.toml has no profile 'citin'. did you mean 'citing'?\n"),
        (
            "broken",
            (
                "yaz: [profile-broken] settings.toml: profiles.broken.tool is nothing that a profile has. "
                "it has tools and read-only\n"
            ),
        ),
    ],
)
def test_without_the_profile_nothing_is_served(yaz: Shell, name: str, said: str) -> None:
    yaz.home.write_text("settings.toml", SETTINGS)
    done = yaz.here("serve", "--profile", name)
    assert (done.status, done.out, done.err) == (1, "", said)
    assert not yaz.home.path("run.json").exists()
