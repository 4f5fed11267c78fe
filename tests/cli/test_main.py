"""The command as a whole: its help, wrong use, faults that are told, and what its start costs nothing to load."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import click
import pytest

import yazcore.cli
from tests.cli.commands import Done, Shell
from yazcore.violations import YazError

COMMANDS = yazcore.cli._COMMANDS


def test_help_lists_every_command(yaz: Shell) -> None:
    done = yaz.here("--help")
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith("Usage: yaz [OPTIONS] COMMAND [ARGS]...\n")
    listed = [line.split()[0] for line in done.out.partition("Commands:\n")[2].splitlines() if line[2:3].strip()]
    assert listed == list(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself(yaz: Shell, name: str) -> None:
    done = yaz.here(name, "--help")
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith(f"Usage: yaz {name} ")
    assert len(COMMANDS[name][1]) < 80


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("nothing",), "Error: No such command 'nothing'.\n"),
        (("shwo",), "Error: No such command 'shwo'. Did you mean 'show'?\n"),
        (("show",), "Error: Missing argument 'ID'.\n"),
        (("plugins", "--format", "xml"), "Error: Invalid value for '--format': 'xml' is not one of 'text', 'json'.\n"),
        (("plugins", "extra"), "Error: Got unexpected extra argument (extra)\n"),
        (("compile", "/nowhere"), "Error: Invalid value for 'PROJECT': Directory '/nowhere' does not exist.\n"),
        (("serve", "/nowhere"), "Error: Invalid value for '[PROJECTS]...': Directory '/nowhere' does not exist.\n"),
        (("serve", "--port", "70000"), "Error: Invalid value for '--port': 70000 is not in the range 0<=x<=65535.\n"),
    ],
)
def test_wrong_use_is_status_2_with_a_hint(yaz: Shell, arguments: tuple[str, ...], says: str) -> None:
    done = yaz.here(*arguments)
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith("Usage: yaz ")
    assert done.err.endswith(says)


@pytest.fixture
def raising(yaz: Shell, monkeypatch: pytest.MonkeyPatch) -> Callable[[BaseException], Done]:
    """`raising(error)`: what the command says when it meets this."""

    def run(error: BaseException) -> Done:
        def fail() -> None:
            raise error

        monkeypatch.setattr(yazcore.cli.yaz, "get_command", lambda ctx, name: click.Command(name, callback=fail))
        return yaz.here("status")

    return run


@pytest.mark.parametrize(
    ("error", "done"),
    [
        (
            YazError("code", "it is so\nyaz: forged\x1b[2J", "mend it"),
            (1, "yaz: [code] it is so\\u000ayaz: forged\\u001b[2J. mend it\n"),
        ),
        (ExceptionGroup("", [ExceptionGroup("", [YazError("code", "deep", "")])]), (1, "yaz: [code] deep\n")),
        (ExceptionGroup("", [RuntimeError("other"), YazError("code", "deep", "")]), (1, "yaz: [code] deep\n")),
        (BaseExceptionGroup("", [KeyboardInterrupt()]), (130, "yaz: stopped\n")),
        (OSError(errno.ENOSPC, "No space left on device", "/x"), (1, "yaz: [system] No space left on device (/x)\n")),
        (click.exceptions.Exit(7), (7, "")),
        (click.Abort(), (130, "yaz: stopped\n")),
    ],
)  # fmt: skip
def test_a_fault_is_told_in_a_line_and_without_a_traceback(
    raising: Callable[[BaseException], Done], error: BaseException, done: tuple[int, str]
) -> None:
    assert raising(error) == Done(done[0], "", done[1])


def test_what_nobody_foresaw_is_raised(raising: Callable[[BaseException], Done]) -> None:
    with pytest.raises(ZeroDivisionError):
        raising(ZeroDivisionError())


def test_a_home_that_is_no_folder_is_a_sentence(yaz: Shell, tmp_path: Path) -> None:
    yaz.home.folder.write_text("")
    done = yaz.here("enable", "typst")
    assert (done.status, done.out, done.err.count("\n")) == (1, "", 1)
    assert done.err.startswith("yaz: [")


def test_a_reader_that_goes_away_is_no_fault(yaz: Shell) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    process = yaz.start("plugins", stdout=writer)
    os.close(writer)
    assert process.end() == Done(1, "", "")


@pytest.mark.parametrize("arguments", [(), ("--help",), ("--version",), ("log",), ("status",)])
def test_small_commands_load_no_plugin_machinery(yaz: Shell, arguments: tuple[str, ...]) -> None:
    done = yaz.run(*arguments, environment={"PYTHONPROFILEIMPORTTIME": "1"})
    loaded = {line.rpartition("|")[2].strip() for line in done.err.splitlines() if line.startswith("import time:")}
    assert "yazcore.cli" in loaded
    heavy = {"mcp", "pydantic", "jsonschema", "fluent", "rich", "keyring", "asyncio", "yazcore.host"}
    assert heavy & loaded == set()


def test_tools_without_a_running_yaz_load_no_mcp(yaz: Shell) -> None:
    done = yaz.run("tools", environment={"PYTHONPROFILEIMPORTTIME": "1"})
    loaded = {line.rpartition("|")[2].strip() for line in done.err.splitlines() if line.startswith("import time:")}
    assert "yazcore.host" in loaded
    assert {one for one in ("mcp", "mcp_types", "pydantic", "uvicorn") if one in loaded} == set()
