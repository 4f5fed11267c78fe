"""`yaz server`: naming a server, seeing what it offers, and saying what of it only reads."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.commands import DEMO, Done, Shell, install, until

LIGHT = Path(__file__).parents[1] / "mcp" / "client" / "light.py"


@pytest.fixture
def offers(tmp_path: Path) -> Path:
    """The folder in which the checker finds what more it offers."""
    folder = tmp_path / "offers"
    folder.mkdir()
    return folder


def add(yaz: Shell, offers: Path, *options: str, typed: str = "") -> Done:
    command = (sys.executable, "-I", "-S", str(LIGHT), str(offers))
    return yaz.here("server", "add", "checker", *options, "--", *command, typed=typed)


def offered(offers: Path, **tools: dict[str, Any]) -> None:
    (offers / "tools.json").write_text(json.dumps(tools))


def shown(yaz: Shell) -> dict[str, Any]:
    document: dict[str, Any] = yaz.here("server", "show", "checker", "--json").json
    document["tools"] = {one["name"]: one for one in document["tools"]}
    return document


def test_nothing_is_named_at_first(yaz: Shell) -> None:
    done = yaz.here("server", "list")
    assert (done.status, done.out) == (0, "no MCP server is named; yaz server add NAME -- COMMAND names one\n")
    assert yaz.here("server", "list", "--json").json == {"servers": []}


def test_a_server_is_added_shown_and_seen(yaz: Shell, offers: Path) -> None:
    done = add(yaz, offers, typed="y\n")
    assert done.status == 0, done
    assert "check: NEW\n  description: Counts the references in a text.\n" in done.out
    assert "May plugins that you grant checker call these tools? [y/N]: " in done.out
    assert done.out.endswith("tools once you grant them the server\n")
    (listed,) = yaz.here("server", "list", "--json").json["servers"]
    assert (listed["name"], listed["transport"], listed["reads"]) == ("checker", "stdio", [])
    assert listed["seen"] == ["check", "mend"]
    assert yaz.here("server", "show", "checker").status == 0


def test_who_says_no_has_named_it_and_accepted_nothing(yaz: Shell, offers: Path) -> None:
    for typed in ("n\n", ""):
        done = add(yaz, offers, typed=typed)
        assert (done.status, done.err.splitlines()[-1]) == (
            1, "nothing was accepted; yaz server accept checker asks again"
        )  # fmt: skip
        assert {one["state"] for one in shown(yaz)["tools"].values()} == {"new"}
        assert yaz.here("server", "show", "checker").status == 1
        yaz.here("server", "remove", "checker")


def test_a_change_is_shown_part_by_part_and_waits(yaz: Shell, offers: Path) -> None:
    add(yaz, offers, "--yes")
    assert yaz.here("server", "mark", "checker", "check", "--read").status == 0
    assert shown(yaz)["tools"]["check"]["read"] is True
    offered(offers, check={"description": "Counts.\nAnd sends \x1b[2Jit home.", "inputSchema": {"type": "object"}})
    view = shown(yaz)["tools"]["check"]
    assert (view["state"], view["read"]) == ("changed", False)
    assert [one["part"] for one in view["changes"]] == ["description", "inputSchema", "outputSchema"]
    done = yaz.here("server", "accept", "checker", typed="y\n")
    assert done.out.splitlines()[:4] == [
        "check: CHANGED",
        "  description was: Counts the references in a text.",
        "  description is: Counts.",
        "    And sends \\u001b[2Jit home.",
    ]
    assert done.out.endswith("accepted of checker: check\n")
    assert shown(yaz)["tools"]["check"]["read"] is False
    done = yaz.here("server", "accept", "checker")
    assert (done.status, done.out) == (0, "every tool of checker is seen\n")


def test_single_tools_can_be_accepted(yaz: Shell, offers: Path) -> None:
    add(yaz, offers)
    assert yaz.here("server", "accept", "checker", "check", "mend", "--yes", "--json").json == {
        "name": "checker", "accepted": ["check", "mend"]
    }  # fmt: skip
    done = yaz.here("server", "accept", "checker", "chek", "--yes")
    assert (done.status, done.err) == (
        1, 'yaz: [server-tool-unknown] the MCP server checker has no tool \'chek\'. did you mean "check"?\n'
    )  # fmt: skip


def test_a_tool_that_is_gone_is_said(yaz: Shell, offers: Path) -> None:
    offered(offers, more={"inputSchema": {"type": "object"}})
    add(yaz, offers, "--yes")
    offered(offers)
    assert "seen once, and offered no more: more\n" in yaz.here("server", "show", "checker").out
    assert shown(yaz)["gone"] == ["more"]


def test_only_what_was_seen_is_marked(yaz: Shell, offers: Path) -> None:
    add(yaz, offers)
    done = yaz.here("server", "mark", "checker", "check", "--read")
    assert done.status == 1
    assert done.err == (
        "yaz: [server-tool-unseen] the tool 'check' of the MCP server checker was not seen yet. "
        "yaz server accept checker shows what it offers\n"
    )
    assert yaz.here("server", "mark", "checker", "check").status == 2


def test_a_server_that_cannot_be_asked_is_named_all_the_same(yaz: Shell) -> None:
    done = yaz.here("server", "add", "checker", "--", "no-such-command-anywhere")
    assert done.status == 1
    assert done.out == (
        "checker is added, and could not be asked: [server-gone] the MCP server checker cannot be started: "
        "there is no such command. see that it runs, and that its command or address in settings.toml is right\n"
        "when it runs: yaz server accept checker\n"
    )
    (listed,) = yaz.here("server", "list", "--json").json["servers"]
    assert (listed["settings"], listed["seen"], listed["time"]) == ({"command": "no-such-command-anywhere"}, [], "")


@pytest.mark.parametrize(
    ("arguments", "status", "says"),
    [
        (("a", "--url", "https://x.org/mcp", "--header", "Authorization=Bearer s3cret"), 1, "holds a secret as it is"),
        (("a", "--url", "https://x.org/mcp", "--header", "Authorization"), 2, "write it as NAME=VALUE"),
        (("a", "--url", "https://x.org/mcp", "--", "command"), 1, "exactly one of command and url"),
        (("a",), 1, "exactly one of command and url"),
        (("a", "--url", "http://x.org/mcp"), 1, "plain http to another machine"),
        (("a b", "--", "command"), 1, "the name has other characters"),
    ],
)
def test_what_would_not_be_right_is_not_written(
    yaz: Shell, arguments: tuple[str, ...], status: int, says: str
) -> None:
    done = yaz.here("server", "add", *arguments)
    assert (done.status, says in done.err) == (status, True), done
    assert not yaz.home.path("settings.toml").exists()


def test_an_entry_that_is_not_right_is_listed_with_its_fault(yaz: Shell) -> None:
    yaz.home.write_text("settings.toml", "[servers.a]\ncomand = 'x'\n[servers.b]\ncommand = 'x'\n")
    done = yaz.here("server", "list", "--json")
    assert done.status == 1
    first, second = done.json["servers"]
    assert first["error"]["message"] == 'settings.toml: servers.a: unknown key "comand"'
    assert second["error"] is None
    assert 'servers.a: unknown key "comand"' in yaz.here("server", "list").out


def test_a_server_that_is_removed_is_forgotten(yaz: Shell, offers: Path) -> None:
    add(yaz, offers, "--yes")
    assert yaz.here("server", "remove", "checker").status == 0
    assert list(yaz.home.path("servers").glob("*.json")) == []
    done = yaz.here("server", "remove", "chequer")
    assert (done.status, done.err) == (
        1, "yaz: [server-unknown] settings.toml names no MCP server 'chequer'. none is known\n"
    )  # fmt: skip
    add(yaz, offers)
    done = yaz.here("server", "show", "chequer")
    assert 'did you mean "checker"?' in done.err


ASKING = {
    **DEMO,
    "capabilities": [{"kind": "mcp-client", "servers": ["checker"]}],
    "provides": {"commands": [{"id": "count", "nameKey": "text"}]},
    "code": """
from yazcore import Command, hookimpl

class Plugin:
    def __init__(self, context):
        pass

    @hookimpl
    def addCommand(self):
        return [Command("count", self.count)]

    def count(self, context, arguments):
        answer = context.mcp_servers["checker"].call("check", {"text": arguments[0]})
        return str(answer["structuredContent"]["found"])
""",
}


def test_a_running_yaz_calls_it_and_leaves_it_when_it_is_removed(yaz: Shell, offers: Path) -> None:
    install(yaz.site, **ASKING)
    assert yaz.here("grant", "demo", "--trusted", "--yes").status == 0
    served = yaz.serve()
    assert "server-unknown" not in yaz.here("run", "demo", "count", "a@b").out
    add(yaz, offers, "--yes")
    done = yaz.here("run", "demo", "count", "a@b@c")
    assert (done.status, done.out) == (0, "2\n"), done
    children = [pid for pid in served.process.children() if "light.py" in Path(f"/proc/{pid}/cmdline").read_text()]
    assert len(children) == 1
    yaz.here("server", "remove", "checker")
    until(lambda: not os.path.exists(f"/proc/{children[0]}"))
    done = yaz.here("run", "demo", "count", "a@b@c")
    assert (done.status, done.err) == (
        1, "yaz: [command-failed] settings.toml names no MCP server 'checker'\n"
    )  # fmt: skip
