"""`yaz set`: what is set counts in the running yaz at once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import attrs
import pytest

from tests.cli.commands import DEMO, Served, Shell, install, shell
from tests.writing.worlds import write

CODE = """
from yazcore import Tool, hookimpl


class Plugin:
    def __init__(self, context):
        self.context = context

    @hookimpl
    def provide_tools(self):
        return [Tool("echo", lambda context, arguments: {"greeting": self.context.settings["greeting"]})]
"""


@pytest.fixture
def ready(tmp_path: Path) -> Iterator[tuple[Shell, Served]]:
    with shell(tmp_path / "shell") as yaz:
        echo = DEMO["provides"]["tools"][0] | {"inputSchema": {"type": "object", "additionalProperties": False}}
        settings = [{"key": "greeting", "type": "string", "default": "hi", "descriptionKey": "text"}]
        install(yaz.site, provides={"tools": [echo], "settings": settings}, code=CODE)
        assert yaz.here("grant", "demo", "--trusted", "--yes").status == 0
        yield yaz, yaz.serve(str(write(tmp_path / "thesis", {"main.typ": "= One\n"})))


def test_a_setting_counts_in_the_running_yaz_at_once(ready: tuple[Shell, Served]) -> None:
    yaz, served = ready
    assert served.call("demo__echo")["structuredContent"] == {"greeting": "hi"}
    done = yaz.here("set", "demo.greeting", "good day")
    assert (done.status, done.out) == (0, "demo.greeting is good day; the running yaz has taken it\n")
    assert served.call("demo__echo")["structuredContent"] == {"greeting": "good day"}
    assert yaz.here("set", "demo.greeting", "--unset", "--json").json == {
        "live": True, "key": "demo.greeting", "changed": True
    }  # fmt: skip
    assert served.call("demo__echo")["structuredContent"] == {"greeting": "hi"}


def test_a_mark_counts_in_the_running_yaz_at_once(ready: tuple[Shell, Served]) -> None:
    yaz, served = ready
    reader = attrs.evolve(
        served, token=yaz.here("token", "create", "reader", "--read-only", "--grant", "demo:*").out.strip()
    )

    def hint() -> bool:
        listed = {tool["name"]: tool for tool in served.ask("tools/list")["result"]["tools"]}
        shown: bool = listed["demo__echo"]["annotations"]["readOnlyHint"]
        return shown

    assert hint()
    assert not reader.call("demo__echo")["isError"]
    assert yaz.here("set", "demo.tools.echo.posture", "write").status == 0
    assert not hint()
    assert reader.ask("tools/call", name="demo__echo", arguments={})["error"]["message"] == "Unknown tool: demo__echo"
    index = served.call("help")["structuredContent"]["tools"]
    assert "demo__echo" in [tool["tool"] for tool in index["write"]]
    assert yaz.here("set", "demo.tools.echo.approval", "ask").status == 0
    assert served.call("help", topic="demo__echo")["structuredContent"]["tool"]["approval"] == "ask"


def test_a_mark_that_cannot_be_understood_leaves_those_before_in_force(ready: tuple[Shell, Served]) -> None:
    yaz, served = ready
    assert yaz.here("set", "demo.tools.echo.approval", "ask").status == 0
    yaz.home.write_text("settings.toml", '[plugins.demo.tools.echo]\napproval = "sometimes"\n')
    done = yaz.here("enable", "demo")
    assert done.status == 1
    assert done.err.startswith("yaz: [mark-broken] settings.toml: plugins.demo.tools.echo.approval can only say ")
    assert served.call("help", topic="demo__echo")["structuredContent"]["tool"]["approval"] == "ask"


def test_what_can_be_set_is_listed(yaz: Shell) -> None:
    install(yaz.site, provides={"settings": [
        {"key": "greeting", "type": "string", "default": "hi", "descriptionKey": "text"}
    ]}, code="class Plugin:\n    def __init__(self, context): pass\n")  # fmt: skip
    yaz.here("set", "demo.greeting", "you")
    assert yaz.here("set", "demo.greeting").out.splitlines() == [
        "KEY            SET  DEFAULT  WHAT IT IS", "demo.greeting  you  hi       A text"
    ]  # fmt: skip
    listed = yaz.here("set", "--json").json["settings"]
    assert listed == [
        {"key": "demo.greeting", "type": "string", "value": "you", "default": "hi", "description": "A text"}
    ]


def test_wrong_use_is_said(yaz: Shell) -> None:
    assert yaz.here("set", "--unset").status == 2
    done = yaz.here("set", "nothing.at-all", "x")
    assert (done.status, done.out) == (1, "")
    assert done.err.startswith("yaz: [setting-unknown] no plugin 'nothing' is installed. ")
