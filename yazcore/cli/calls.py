"""`yaz tools`, `call`, `run`, `log`: the surface as an agent sees it, and one call through the same gate."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from yazcore.cli.output import (
    Waiting,
    columns,
    first_sentence,
    format_options,
    harmless,
    harmless_lines,
    plugins_aside,
    print_json,
    safe_mode_option,
    say,
)
from yazcore.control import Running, running
from yazcore.home import Home
from yazcore.violations import YazError

if TYPE_CHECKING:
    from yazcore.writing.application import WritingApp
    from yazcore.writing.projects.project import Project

_project = click.option(
    "--project", "project", type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Act alone, on this project, and not through a running yaz.",
)  # fmt: skip


@contextlib.contextmanager
def _alone(home: Home, project: Path | None, safe_mode: bool = False) -> Iterator[WritingApp]:
    from yazcore.writing.application import open_writing

    plugins_aside()
    application = open_writing(home, () if project is None else (project,), discover=not safe_mode)
    try:
        yield application
    finally:
        application.close()


def _live(home: Home, project: Path | None, safe_mode: bool = False) -> Running | None:
    return None if project is not None or safe_mode else running(home)


@click.command()
@_project
@safe_mode_option
@format_options
def tools(project: Path | None, safe_mode: bool, as_json: bool) -> None:
    """List the tools as an agent sees them."""
    home = Home()
    if (live := _live(home, project, safe_mode)) is not None:
        document = live.ask("tools")
    else:
        from yazcore.serving import tools_json

        with _alone(home, project, safe_mode) as application:
            document = tools_json(application.host, live=False)
    if as_json:
        print_json(document)
        return
    columns(
        [(one["name"], _posture(one), first_sentence(one.get("description", ""))) for one in document["tools"]],
        ("NAME", "POSTURE", "DESCRIPTION"),
    )


def _posture(tool: dict[str, Any]) -> str:
    return "read" if tool.get("annotations", {}).get("readOnlyHint") else "write"


@click.command()
@click.argument("name")
@click.argument("arguments", metavar="[JSON]", default="{}")
@click.option("--approve", is_flag=True, help="Allow it, where the tool waits for a person: you are that person.")
@_project
@safe_mode_option
def call(name: str, arguments: str, approve: bool, project: Path | None, safe_mode: bool) -> None:
    """Call the tool NAME with JSON arguments, as the owner, and print the result object.

    Exit status 1 where the result is an error.
    """
    try:
        given = json.loads(arguments)
    except (ValueError, RecursionError) as error:
        raise click.BadParameter(f"no JSON: {error}", param_hint="JSON") from None
    home = Home()
    with Waiting(name) as waiting:
        if (live := _live(home, project, safe_mode)) is not None:
            result = live.ask("call", report=waiting.report, name=name, arguments=given, approved=approve)
        else:
            import asyncio

            from yazcore.serving import call_json

            with _alone(home, project, safe_mode) as application:
                result = asyncio.run(call_json(application.host, name, given, waiting.report, approved=approve))
    print_json(result)
    if "error" in result or result.get("isError"):
        raise click.exceptions.Exit(1)


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("plugin_id", metavar="ID")
@click.argument("command")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@_project
def run(plugin_id: str, command: str, arguments: tuple[str, ...], project: Path | None) -> None:
    """Run the COMMAND that plugin ID contributes, and print what it says."""
    home = Home()
    words = list(arguments)
    with Waiting(f"{plugin_id} {command}") as waiting:
        if (live := _live(home, project)) is not None:
            text = live.ask("run", report=waiting.report, plugin=plugin_id, name=command, arguments=words)
        else:
            with _alone(home, project) as application:
                text = application.host.run_command(
                    plugin_id, command, words, only_project(application), waiting.report
                )
    if text is not None:
        for line in harmless_lines(text):
            say(line)


def only_project(application: WritingApp) -> Project | None:
    """The project that a command works in: the one that is open, where it is only one."""
    projects = application.workspace.projects()
    return projects[0] if len(projects) == 1 else None


@click.command()
@click.argument("reference", required=False)
@format_options
def log(reference: str | None, as_json: bool) -> None:
    """Show the newest calls; or, with the REFERENCE of a masked failure, what really happened."""
    from yazcore.audit import Audit

    audit = Audit(Home())
    if reference is not None:
        _explain(audit.crash_of(reference), reference, as_json)
        return
    records = audit.calls()
    if as_json:
        print_json({"calls": records})
    elif not records:
        say("nothing was called yet")
    else:
        columns(map(_call_row, records), ("TIME", "WHO", "WHAT", "NAME", "OUTCOME", "TOOK", "REFERENCE"))


def _call_row(one: dict[str, Any]) -> tuple[str, ...]:
    took = f"{one['seconds']:.3f} s"
    return (one["time"], one["principal"], one["what"], one["name"], _how(one), took, one["reference"] or "")


def _how(one: dict[str, Any]) -> str:
    """How a call ended, and who allowed it, where somebody was asked."""
    return f"{one['outcome']} ({one['approval']})" if one.get("approval") else str(one["outcome"])


def _explain(crash: dict[str, Any] | None, reference: str, as_json: bool) -> None:
    if crash is None:
        raise YazError(
            "unknown-reference", f"no failure has the reference {reference!r}", "yaz log shows the newest calls"
        )
    if as_json:
        print_json(crash)
        return
    say(harmless("{time} {plugin} {version}, {where}: {type}: {message}".format(**crash)))
    for line in harmless_lines(crash["trace"]):
        say(line)
