"""`yaz tools`, `call`, `run`, `log`: one surface, whether yaz runs or not, and output that no plugin gets into."""

from __future__ import annotations

import os
import pty
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.cli.commands import (
    DEMO,
    ENDLESS,
    Done,
    Served,
    Shell,
    install,
    install_zotero,
    make_library,
    until,
    wait_for_end,
)
from tests.writing.worlds import write

NOISE = "noise: "


def silent(done: Done) -> bool:
    """Whether standard error holds nothing but what the plugin printed."""
    return all(line.startswith(NOISE) for line in done.err.splitlines())


# -- tools ------------------------------------------------------------------------------------------------------------


def test_tools_are_the_very_objects_that_an_agent_lists_running_or_not(demo: Shell, thesis: Path) -> None:
    alone = demo.run("tools", "--json")
    assert (alone.status, silent(alone)) == (0, True)
    served = demo.serve(str(thesis))
    listed = served.ask("tools/list")["result"]["tools"]
    assert {tool["name"] for tool in listed} >= {"compile", "demo__echo", "demo__note"}
    assert alone.json == {"live": False, "tools": listed}
    assert demo.here("tools", "--json").json == {"live": True, "tools": listed}


def test_tools_as_text_are_a_line_each(standing: tuple[Shell, Served]) -> None:
    lines = standing[0].here("tools").out.splitlines()
    assert lines[0].split() == ["NAME", "POSTURE", "DESCRIPTION"]
    assert "demo__echo        read     A text" in lines
    assert "demo__note        write    A text" in lines
    assert len(lines) == 15


# -- call -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("live", [False, True], ids=["alone", "live"])
def test_a_result_is_printed_as_an_agent_gets_it_whatever_the_plugin_prints(
    demo: Shell, standing: tuple[Shell, Served], live: bool
) -> None:
    done = (standing[0] if live else demo).run("call", "demo__echo", '{"text": "hi\\u202e"}')
    assert (done.status, silent(done)) == (0, True)
    assert done.json == {
        "content": [{"type": "text", "text": '{"text": "hi\u202e"}'}], "isError": False,
        "structuredContent": {"text": "hi\u202e"},
    }  # fmt: skip
    assert done.out.isascii()


@pytest.mark.parametrize(
    ("name", "arguments", "result"),
    [
        (
            "demo__refuse", "{}",
            {"content": [{"type": "text", "text": "the cupboard is bare"}], "isError": True},
        ),
        (
            "demo__echo", '{"text": 7}',
            {
                "content": [{
                    "type": "text",
                    "text": "The arguments of demo__echo are not as declared: /text must be a string, not a number. "
                    "Nothing was done.",
                }],
                "isError": True,
            },
        ),
        ("nothing", "{}", {"error": {"code": -32602, "message": "Unknown tool: nothing"}}),
        ("help", "[]", {"error": {"code": -32602, "message": "arguments must be an object"}}),
    ],
)  # fmt: skip
def test_an_error_is_printed_and_is_status_1(
    standing: tuple[Shell, Served], name: str, arguments: str, result: Any
) -> None:
    done = standing[0].here("call", name, arguments)
    assert (done.status, done.json, done.err) == (1, result, "")


def test_errors_are_the_same_without_a_running_yaz(demo: Shell) -> None:
    for name, key in (("demo__refuse", "isError"), ("nothing", "error")):
        done = demo.run("call", name)
        assert (done.status, silent(done)) == (1, True)
        assert done.json[key]


@pytest.mark.parametrize("text", ["", "{", "{]", "nonsense", "[" * 100_000])
def test_what_is_no_json_is_wrong_use(yaz: Shell, text: str) -> None:
    done = yaz.here("call", "help", text)
    assert (done.status, done.out) == (2, "")
    assert "Error: Invalid value for JSON: no JSON: " in done.err


def test_a_project_may_be_named_beside_a_running_yaz(standing: tuple[Shell, Served], tmp_path: Path) -> None:
    other = write(tmp_path / "other", {"main.typ": "= Other\n"})
    done = standing[0].run("call", "list_projects", "--project", str(other))
    assert [one["name"] for one in done.json["structuredContent"]["projects"]] == ["other"]


def test_ctrl_c_on_a_call_ends_it_in_the_running_yaz(served: Served, demo: Shell) -> None:
    data = demo.home.plugin_data("demo")
    call = demo.start("call", "demo__wait")
    until((data / "waiting").exists)
    call.signal(signal.SIGINT)
    assert call.end() == Done(130, "", "\nyaz: stopped\n")
    until((data / "cancelled").exists)


def test_stopping_yaz_ends_a_call_and_whoever_waits_is_told(served: Served, demo: Shell) -> None:
    call = demo.start("call", "demo__wait")
    until((demo.home.plugin_data("demo") / "waiting").exists)
    assert demo.here("stop").status == 0
    done = call.end()
    assert (done.status, done.out) == (1, "")
    lost = f"yaz: [connection-lost] yaz (process {served.process.pid}) ended before it had answered. "
    assert done.err in {
        "yaz: [stopped] it was ended before it was done: yaz stops\n", f"{lost}yaz status says whether it runs\n"
    }  # fmt: skip


def test_a_terminal_shows_what_goes_on_on_standard_error(served: Served, demo: Shell) -> None:
    screen, terminal = pty.openpty()
    call = demo.start("call", "demo__wait", stderr=terminal)
    os.close(terminal)
    shown = b""
    while b"demo__wait: one of three 1 of 3 (" not in shown:
        shown += os.read(screen, 1000)
    call.signal(signal.SIGINT)
    while b"yaz: stopped" not in shown:
        shown += os.read(screen, 1000)
    os.close(screen)
    assert call.end().out == ""
    assert shown.replace(b"^C", b"").endswith(b"\r\x1b[2K\r\nyaz: stopped\r\n")


LINGERING = {
    **DEMO,
    "provides": {"commands": [{"id": "linger", "nameKey": "text"}]},
    "code": """
import time

from yazcore import Command, hookimpl

class Plugin:
    def __init__(self, context):
        self.folder = context.data_folder

    @hookimpl
    def addCommand(self):
        return [Command("linger", self.linger)]

    def linger(self, context, arguments):
        context.progress(object(), None, "odd")
        context.progress(2, 3, "two of three")
        (self.folder / "waiting").write_text("yes")
        while not context.call.cancelled.is_set():
            time.sleep(0.02)
        (self.folder / "cancelled").write_text("yes")
        return "never read"
""",
}
"""A plugin with a command that goes on until nobody waits for it."""


@pytest.fixture
def lingering(yaz: Shell) -> Shell:
    install(yaz.site, **LINGERING)
    assert yaz.here("grant", "demo", "--trusted", "--yes").status == 0
    return yaz


@pytest.mark.parametrize("is_served", [True, False], ids=["served", "alone"])
def test_ctrl_c_on_a_command_ends_it_where_it_runs(lingering: Shell, is_served: bool) -> None:
    if is_served:
        lingering.serve()
    data = lingering.home.plugin_data("demo")
    command = lingering.start("run", "demo", "linger")
    until((data / "waiting").exists)
    command.signal(signal.SIGINT)
    assert command.end() == Done(130, "", "\nyaz: stopped\n")
    until((data / "cancelled").exists)


@pytest.mark.parametrize("is_served", [True, False], ids=["served", "alone"])
def test_a_terminal_shows_how_far_a_command_is(lingering: Shell, is_served: bool) -> None:
    if is_served:
        lingering.serve()
    screen, terminal = pty.openpty()
    command = lingering.start("run", "demo", "linger", stderr=terminal)
    os.close(terminal)
    shown = b""
    while b"demo linger: two of three 2 of 3 (" not in shown:
        shown += os.read(screen, 1000)
    command.signal(signal.SIGINT)
    while b"yaz: stopped" not in shown:
        shown += os.read(screen, 1000)
    os.close(screen)
    assert command.end().out == ""


def test_stopping_yaz_ends_a_command_and_whoever_waits_is_told(lingering: Shell) -> None:
    served = lingering.serve()
    command = lingering.start("run", "demo", "linger")
    data = lingering.home.plugin_data("demo")
    until((data / "waiting").exists)
    assert lingering.here("stop").status == 0
    done = command.end()
    assert (done.status, done.out) == (1, "")
    lost = f"yaz: [connection-lost] yaz (process {served.process.pid}) ended"
    assert done.err.startswith(("yaz: [stopped] it was ended before it was done: yaz stops", lost))
    until((data / "cancelled").exists)


# -- run --------------------------------------------------------------------------------------------------------------


def test_a_command_prints_what_it_says_in_the_only_project(demo: Shell, thesis: Path) -> None:
    alone = demo.run("run", "demo", "greet", "--project", str(thesis), "you", "--two")
    assert (alone.status, alone.out, silent(alone)) == (0, "Hello you --two, in thesis\n", True)
    assert demo.run("run", "demo", "greet").out == "Hello , in no project\n"
    demo.serve(str(thesis))
    assert demo.here("run", "demo", "greet", "you") == Done(0, "Hello you, in thesis\n", "")


def test_a_command_that_is_not_there_is_a_sentence(standing: tuple[Shell, Served]) -> None:
    for plugin, command in (("demo", "nothing"), ("nothing", "greet")):
        done = standing[0].here("run", plugin, command)
        assert (done.status, done.out) == (1, "")
        assert done.err.startswith("yaz: [not-active] ")
        assert done.err.count("\n") == 1


def test_zotero_says_its_status(yaz: Shell, tmp_path: Path) -> None:
    install_zotero(yaz.site)
    make_library(yaz, tmp_path / "Zotero")
    place = f"zotero-data={tmp_path / 'Zotero'}"
    assert yaz.here("grant", "zotero", "--trusted", "--yes", "--place", place).status == 0
    done = yaz.run("run", "zotero", "status")
    assert (done.status, done.err) == (0, "")
    assert "My Library (user): " in done.out


# -- log --------------------------------------------------------------------------------------------------------------


def test_the_log_lists_calls_and_a_reference_tells_what_really_happened(demo: Shell) -> None:
    assert demo.here("log") == Done(0, "nothing was called yet\n", "")
    masked = demo.run("call", "demo__crash")
    text = masked.json["content"][0]["text"]
    assert text.startswith("demo__crash failed inside demo. The user can see why with: yaz log ")
    reference = text.rpartition(" ")[2]
    header, line = demo.here("log").out.splitlines()
    assert header.split() == ["TIME", "WHO", "WHAT", "NAME", "OUTCOME", "TOOK", "REFERENCE"]
    assert line.split()[1:5] == ["owner", "tool", "demo__crash", "crashed"]
    assert line.endswith(f" s  {reference}")
    (record,) = demo.here("log", "--json").json["calls"]
    assert (record["name"], record["reference"]) == ("demo__crash", reference)
    told = demo.here("log", reference).out.splitlines()
    assert told[0].endswith(r" demo 1.0, tools crash: RuntimeError: no luck\u001b[2J\u202e")
    assert any("plugin.py" in one for one in told)
    assert demo.here("log", reference, "--json").json["message"] == "no luck\x1b[2J\u202e"


def test_an_unknown_reference_is_a_sentence(yaz: Shell) -> None:
    done = yaz.here("log", "x\x1b")
    assert (done.status, done.out) == (1, "")
    sentence = "no failure has the reference 'x\\x1b'. yaz log shows the newest calls"
    assert done.err == f"yaz: [unknown-reference] {sentence}\n"


# -- a project from the shell -----------------------------------------------------------------------------------------


def test_an_outline_is_printed_as_a_tree(yaz: Shell, thesis: Path) -> None:
    assert yaz.here("outline", str(thesis)) == Done(0, "One  (main.typ:1)\n  Two  (main.typ:2)\n", "")
    nodes = yaz.here("outline", str(thesis), "--json").json["nodes"]
    assert [(one["title"], one["level"]) for one in nodes] == [("One", 1), ("Two", 2)]


def test_a_compilation_says_where_its_pdf_is(yaz: Shell, thesis: Path) -> None:
    done = yaz.here("compile", str(thesis))
    made, path = done.out.splitlines()
    assert (done.status, made, done.err) == (0, "a PDF was made; no diagnostics", "")
    assert Path(path).read_bytes().startswith(b"%PDF")


def test_a_mistake_is_printed_with_its_place_and_is_status_1(yaz: Shell, tmp_path: Path) -> None:
    wrong = write(tmp_path / "wrong", {"main.typ": "= One\n#nothing\n"})
    said = "main.typ:2:2: error: unknown variable: nothing\nno PDF was made; 1 diagnostic\n"
    assert yaz.here("compile", str(wrong)) == Done(1, said, "")
    assert yaz.here("diagnostics", str(wrong)) == Done(1, said, "")
    document = yaz.here("diagnostics", str(wrong), "--json")
    assert document.status == 1
    assert set(document.json) == {"succeeded", "hasErrors", "diagnostics"}
    assert (document.json["succeeded"], document.json["hasErrors"]) == (False, True)


def test_a_heading_cannot_forge_a_line(yaz: Shell, tmp_path: Path) -> None:
    tricky = write(tmp_path / "tricky", {"main.typ": "= One\x1b[2J\u202eowT\n"})
    done = yaz.here("outline", str(tricky))
    assert all(line.isprintable() for line in done.out.splitlines())
    assert done.out.count("\n") == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
def test_a_signal_ends_a_compilation_its_child_and_the_plugins(
    demo: Shell, tmp_path: Path, number: signal.Signals
) -> None:
    endless = write(tmp_path / "endless", {"main.typ": ENDLESS})
    process = demo.start("compile", str(endless))
    (child,) = until(process.children)
    process.signal(number)
    done = process.end()
    assert (done.status, done.out) == ({signal.SIGINT: 130, signal.SIGTERM: 143}[number], "")
    said = "".join(line for line in done.err.splitlines(keepends=True) if not line.startswith(NOISE))
    assert said == {signal.SIGINT: "\nyaz: stopped\n", signal.SIGTERM: ""}[number]
    assert (demo.home.plugin_data("demo") / "unloaded").exists()
    wait_for_end(child)


def test_json_is_whole_in_any_encoding(yaz: Shell, tmp_path: Path) -> None:
    odd = write(tmp_path / "odd", {"main.typ": "= “Ä” 😀 字\n"})
    for encoding in ("utf-8", "latin-1"):
        process = yaz.start("outline", str(odd), "--json", environment={"PYTHONIOENCODING": encoding})
        (node,) = process.end().json["nodes"]
        assert node["title"] == "“Ä” 😀 字"
    done = yaz.run("outline", str(odd), environment={"PYTHONIOENCODING": "ascii"})
    assert (done.status, done.err) == (0, "")
    assert done.out == "\\u201c\\xc4\\u201d \\U0001f600 \\u5b57  (main.typ:1)\n"


def test_standard_error_may_be_closed(demo: Shell) -> None:
    done = demo.run("call", "demo__echo", '{"text": "hi"}', stderr=None, preexec_fn=lambda: os.close(2))
    assert (done.status, done.json["structuredContent"]) == (0, {"text": "hi"})


def test_standard_output_may_be_closed(yaz: Shell, thesis: Path) -> None:
    done = yaz.run("compile", str(thesis), stdout=None, preexec_fn=lambda: os.close(1))
    assert (done.status, done.err) == (0, "")
