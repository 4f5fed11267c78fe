"""`yaz serve`, `status`, `stop`: real processes, real signals, a real agent's requests."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.commands import (
    DEMO,
    ENDLESS,
    Done,
    Process,
    Served,
    Shell,
    install,
    install_zotero,
    until,
    wait_for_end,
)
from tests.writing.worlds import write
from yazcore.capabilities.grants import RuntimeName

ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def test_json_is_one_line_and_the_only_one(yaz: Shell, thesis: Path) -> None:
    served = yaz.serve(str(thesis))
    assert served.url.startswith("http://127.0.0.1:")
    assert served.url.endswith("/mcp")
    assert len(served.token) >= 43
    assert [one["name"] for one in served.projects] == ["thesis"]
    assert served.call("list_projects")["structuredContent"]["projects"][0]["projectId"] == served.project_id
    served.process.signal(signal.SIGINT)
    done = served.process.end()
    assert (done.status, done.err) == (0, "")
    assert list(json.loads(done.out)) == ["url", "token", "projects"]
    assert done.out.count("\n") == 1


def test_the_text_says_where_with_which_token_and_how_clients_connect(yaz: Shell, thesis: Path) -> None:
    process = yaz.start("serve", str(thesis))
    lines = process.lines_to("Ctrl-C")
    url, token = (line.partition(": ")[2].strip() for line in lines[:2])
    assert (lines[0], lines[1]) == (f"MCP server: {url}", f"token:      {token}")
    assert lines[2].startswith("project:    thesis (prj_")
    assert lines[3:] == [
        "",
        "To connect a client: yaz connect CLIENT --write; CLIENT is one of",
        "  claude-code, claude-desktop, vscode, cursor, codex, inspector",
        "",
        "Ctrl-C stops it; then the token is dead.",
    ]
    process.signal(signal.SIGINT)
    assert process.end().out.endswith("is dead.\nstopped\n")


def test_it_serves_on_the_port_that_is_asked_for(yaz: Shell, thesis: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    served = yaz.serve(str(thesis), "--port", str(port))
    assert served.url == f"http://127.0.0.1:{port}/mcp"
    assert served.call("list_projects")["structuredContent"]["projects"][0]["projectId"] == served.project_id


def test_no_look_for_garbage_goes_through_what_stays_while_it_serves(yaz: Shell, thesis: Path) -> None:
    code = DEMO["code"].replace('"text": arguments["text"]', '"text": __import__("gc").get_freeze_count()')
    install(yaz.site, **{**DEMO, "code": code})
    assert yaz.here("grant", "demo", "--trusted", "--yes").status == 0
    assert yaz.serve(str(thesis)).call("demo__echo", text="")["structuredContent"]["text"] > 100_000


def test_a_plugin_that_does_not_run_is_listed_with_the_command_that_lets_it_run(yaz: Shell, thesis: Path) -> None:
    install(yaz.site, **DEMO)
    install_zotero(yaz.site)
    install(yaz.site, "other", provides={}, permissions=None)
    assert yaz.here("disable", "other").status == 0
    process = yaz.start("serve", str(thesis))
    lines = [line for line in process.lines_to("Ctrl-C") if line.startswith("not active")]
    grant = "yaz grant zotero --place zotero-data=FOLDER"
    assert lines == [
        "not active: demo is held: it has not been granted; yaz grant demo lets it run",
        "not active: other is disabled: it is switched off; yaz enable other lets it run",
        f"not active: zotero is held: it has not been granted; {grant} lets it run",
    ]


def test_a_folder_without_a_document_and_no_folder_at_all_are_said(yaz: Shell, tmp_path: Path) -> None:
    (tmp_path / "theses").mkdir()
    lines = yaz.start("serve", str(tmp_path / "theses")).lines_to("Ctrl-C")
    assert "folder:     theses (no document to begin with; agents may open projects below it)" in lines
    assert yaz.here("stop").status == 0
    lines = yaz.start("serve").lines_to("Ctrl-C")
    assert "project:    none; name folders: yaz serve FOLDER, or roots in settings.toml" in lines


def test_the_token_is_in_no_log_and_in_no_process_list(demo: Shell, thesis: Path) -> None:
    served = demo.serve(str(thesis))
    served.call("demo__crash")
    served.call("compile", projectId=served.project_id)
    served.ask("tools/nothing")
    assert demo.run("call", "demo__refuse").status == 1
    assert not any(served.token.encode() in text for text in _process_list())
    served.process.signal(signal.SIGTERM)
    done = served.process.end()
    assert served.token not in done.err
    kept = [path for path in demo.home.folder.rglob("*") if path.is_file()]
    assert any(path.name == "calls.jsonl" for path in kept)
    assert [path for path in kept if served.token.encode() in path.read_bytes()] == []


def _process_list() -> list[bytes]:
    """What anybody on this machine may read of every process."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            found.append(path.read_bytes())
    return found


@pytest.fixture
def granted(yaz: Shell, runtime: RuntimeName) -> Shell:
    """A shell with the plugin `demo`, granted to run in each runtime in turn."""
    install(yaz.site, **DEMO)
    done = yaz.here("grant", "demo", "--yes", *(["--trusted"] if runtime == "trusted" else []))
    if "[isolated-unavailable]" in done.err:
        pytest.skip(done.err)
    assert done.status == 0, done.err
    return yaz


def ended_by(end: Callable[[Process], None], shell: Shell, served: Served, workers: int) -> None:
    """What is so when a serving yaz is told to end while it compiles, with its plugin's processes beside it."""
    until(lambda: len(served.process.descendants()) == workers)
    before = served.process.descendants()
    served.calling("compile", projectId=served.project_id)
    processes = before | until(lambda: served.process.descendants() - before)
    end(served.process)
    done = served.process.end()
    assert done.status == 0
    assert [line for line in done.err.splitlines() if not line.startswith("noise: ")] == []
    assert not shell.home.path("run.json").exists()
    assert served.refuses
    assert (shell.home.plugin_data("demo") / "unloaded").exists()
    for process in processes:
        wait_for_end(process)


WORKERS = {"trusted": 0, "isolated": 3}
"""How many processes a plugin brings: isolated its own, the one that it comes from, and one that waits for the next."""


@pytest.mark.parametrize("number", ENDINGS, ids=lambda number: number.name)
def test_a_signal_ends_all_of_it_a_compilation_too(
    granted: Shell, tmp_path: Path, runtime: RuntimeName, number: signal.Signals
) -> None:
    served = granted.serve(str(write(tmp_path / "endless", {"main.typ": ENDLESS})))
    ended_by(lambda process: process.signal(number), granted, served, WORKERS[runtime])


def test_ctrl_c_that_reaches_its_children_too_ends_it_no_less_cleanly(
    granted: Shell, tmp_path: Path, runtime: RuntimeName
) -> None:
    # A terminal sends it to every process of the group in the foreground.
    endless = write(tmp_path / "endless", {"main.typ": ENDLESS})
    served = granted.serve(str(endless), process_group=0)
    ended_by(lambda process: os.killpg(process.pid, signal.SIGINT), granted, served, WORKERS[runtime])


def test_nohup_lets_it_outlive_the_terminal(yaz: Shell, thesis: Path) -> None:
    process = yaz.start("serve", str(thesis), nohup=True)
    process.lines_to("Ctrl-C")
    process.signal(signal.SIGHUP)
    assert yaz.here("status").status == 0
    process.signal(signal.SIGTERM)
    assert process.end().status == 0


def test_a_second_signal_ends_it_at_once(yaz: Shell, thesis: Path) -> None:
    code = DEMO["code"].replace('"yes")\n', '"yes")\n        time.sleep(600)\n', 1)
    install(yaz.site, **{**DEMO, "code": code})
    assert yaz.here("grant", "demo", "--trusted", "--yes").status == 0
    served = yaz.serve(str(thesis))
    served.process.signal(signal.SIGINT)
    until((yaz.home.plugin_data("demo") / "unloaded").exists)
    served.process.signal(signal.SIGINT)
    assert served.process.end().status == 130
    assert not yaz.home.path("run.json").exists()


def test_stop_ends_it_and_waits_for_that(served: Served, demo: Shell) -> None:
    assert demo.here("stop") == _said("stopped\n")
    assert served.refuses
    assert (demo.home.plugin_data("demo") / "unloaded").exists()
    done = served.process.end()
    assert done.status == 0
    assert not demo.home.path("run.json").exists()


def test_status_says_where_it_runs(standing: tuple[Shell, Served]) -> None:
    demo, served = standing
    pid = served.process.pid
    text = f"running at {served.url} (process {pid}): 3 plugins, 14 tools\n"
    assert demo.here("status") == _said(text)
    assert demo.here("status", "--json").json == {
        "running": True, "url": served.url, "pid": pid, "plugins": 3, "tools": 14
    }  # fmt: skip


def test_where_nothing_runs_status_and_stop_say_so(yaz: Shell) -> None:
    assert yaz.here("status") == _said("not running; start it with: yaz serve\n", 1)
    assert yaz.here("status", "--json").json == {"running": False}
    done = yaz.here("stop")
    assert (done.status, done.err) == (1, "yaz: [not-running] no running yaz was found. start one with: yaz serve\n")


def _said(out: str, status: int = 0) -> Done:
    return Done(status, out, "")


def test_a_second_serve_is_refused_and_the_first_goes_on(standing: tuple[Shell, Served], thesis: Path) -> None:
    demo, served = standing
    done = demo.run("serve", str(thesis))
    pid = served.process.pid
    sentence = f"yaz: [already-running] a yaz is running already (process {pid}). stop it with: yaz stop\n"
    assert (done.status, done.out, done.err) == (1, "", sentence)
    assert served.call("list_projects")["isError"] is False


def test_of_two_that_start_together_one_serves(yaz: Shell, thesis: Path) -> None:
    both = [yaz.start("serve", "--json", str(thesis)) for _ in range(2)]
    loser = until(lambda: next((one for one in both if one.over), None))
    (winner,) = [one for one in both if one is not loser]
    done = loser.end()
    assert (done.status, done.out) == (1, "")
    assert done.err.startswith("yaz: [already-running] ")
    assert json.loads(winner.line())["url"]
    winner.signal(signal.SIGINT)
    assert winner.end().status == 0


def test_while_another_starts_serve_is_refused(yaz: Shell, thesis: Path) -> None:
    with yaz.home.locked("run.json"):
        done = yaz.run("serve", str(thesis))
    assert done.status == 1
    assert done.err == (
        "yaz: [already-running] another yaz is starting or stopping in this YAZ_HOME. "
        "yaz status says what runs; try again in a moment\n"
    )


def test_what_a_killed_yaz_left_behind_is_ignored(yaz: Shell, thesis: Path) -> None:
    killed = yaz.serve(str(thesis))
    killed.process.kill()
    assert yaz.home.path("run.json").exists()
    assert yaz.here("status").status == 1
    served = yaz.serve(str(thesis))
    assert served.call("list_projects")["isError"] is False


ODD = '{"pid": -1, "url": "", "token": "", "control": {"port": 99999, "secret": 7}}'


def test_a_run_file_that_says_nothing_is_told_where_a_yaz_runs(served: Served, demo: Shell) -> None:
    demo.home.path("run.json").write_text("{")
    for command in ("status", "stop", "plugins"):
        done = demo.here(command)
        assert (done.status, done.out) == (1, "")
        assert done.err == (
            "yaz: [run-file-broken] a yaz runs, but run.json in YAZ_HOME does not say where. "
            "end it with Ctrl-C where it was started; the next one writes the file anew\n"
        )


@pytest.mark.parametrize("text", ["", "{", "[]", "7", '{"pid": "x"}', ODD])
def test_a_run_file_that_says_nothing_is_ignored_where_none_runs(yaz: Shell, text: str) -> None:
    yaz.home.write_text("run.json", text)
    assert yaz.here("status").out == "not running; start it with: yaz serve\n"


def test_a_yaz_that_does_not_answer_is_told(
    standing: tuple[Shell, Served], monkeypatch: pytest.MonkeyPatch
) -> None:
    demo, served = standing
    monkeypatch.setattr("yazcore.control._PING_SECONDS", 0.2)
    served.process.signal(signal.SIGSTOP)
    done = demo.here("status")
    served.process.signal(signal.SIGCONT)
    assert done.status == 1
    assert done.err == (
        f"yaz: [not-answering] yaz (process {served.process.pid}) does not answer. "
        "let it go on if it is suspended (fg), or end that process\n"
    )


def test_a_port_that_is_taken_is_a_sentence(yaz: Shell, thesis: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = yaz.run("serve", str(thesis), "--port", str(port))
    assert (done.status, done.out) == (1, "")
    assert done.err.startswith(f"yaz: [port-unavailable] port {port} of 127.0.0.1 cannot be used: ")
    assert done.err.count("\n") == 1


def test_a_broken_project_and_broken_settings_are_sentences(yaz: Shell, tmp_path: Path) -> None:
    broken = write(tmp_path / "broken", {"main.typ": "= One\n", "yaz.toml": "entry = ["})
    done = yaz.run("serve", str(broken))
    assert (done.status, done.err.count("\n")) == (1, 1)
    assert done.err.startswith("yaz: [project-settings-broken] ")
    yaz.home.write_text("settings.toml", "roots = [\n")
    done = yaz.run("serve")
    assert (done.status, done.err.count("\n")) == (1, 1)
    assert done.err.startswith("yaz: [settings-broken] settings.toml is not valid TOML: ")


def test_whoever_reads_only_the_first_line_ends_nothing(yaz: Shell, thesis: Path) -> None:
    reader, writer = os.pipe()
    process = yaz.start("serve", "--json", str(thesis), stdout=writer)
    os.close(writer)
    with open(reader) as out:
        json.loads(out.readline())
    assert yaz.here("status").status == 0
    process.signal(signal.SIGINT)
    done = process.end()
    assert (done.status, done.err) == (0, "")
