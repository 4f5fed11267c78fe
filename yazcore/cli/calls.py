"""`yaz tools`, `call`, `run`, `log`: the surface as an agent sees it, and one call through the same gate."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from yazcore.cli.output import columns, format_options, harmless, print_json
from yazcore.control import Running, running
from yazcore.home import Home
from yazcore.violations import YazError

if TYPE_CHECKING:
    from yazcore.writing.application import WritingApp

_project = click.option(
    "--project", "project", type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Act alone, on this project, and not through a running yaz.",
)  # fmt: skip


def _alone(home: Home, project: Path | None) -> WritingApp:
    from yazcore.writing.application import open_writing

    return open_writing(home, () if project is None else (project,))


def _live(home: Home, project: Path | None) -> Running | None:
    return None if project is not None else running(home)


@click.command()
@_project
@format_options
def tools(project: Path | None, as_json: bool) -> None:
    """List the tools as an agent sees them."""
    home = Home()
    if (live := _live(home, project)) is not None:
        document = live.ask("tools")
    else:
        from yazcore.serving import tools_json

        application = _alone(home, project)
        try:
            document = tools_json(application.host, live=False)
        finally:
            application.close()
    if as_json:
        print_json(document)
        return
    columns(
        [(one["name"], _posture(one), " ".join(one.get("description", "").split())) for one in document["tools"]],
        ("NAME", "POSTURE", "DESCRIPTION"),
    )


def _posture(tool: dict[str, Any]) -> str:
    return "read" if tool.get("annotations", {}).get("readOnlyHint") else "write"


@click.command()
@click.argument("name")
@click.argument("arguments", metavar="JSON", default="{}")
@_project
def call(name: str, arguments: str, project: Path | None) -> None:
    """Call the tool NAME with JSON arguments, as the owner, and print the result object.

    Exit status 1 where the result is an error.
    """
    try:
        given = json.loads(arguments)
    except (ValueError, RecursionError) as error:
        raise click.BadParameter(f"no JSON: {error}", param_hint="JSON") from None
    home = Home()
    if (live := _live(home, project)) is not None:
        result = live.ask("call", name=name, arguments=given)
    else:
        application = _alone(home, project)
        try:
            result = asyncio.run(_call(application, name, given))
        finally:
            application.close()
    print_json(result)
    if "error" in result or result.get("isError"):
        raise click.exceptions.Exit(1)


async def _call(application: WritingApp, name: str, arguments: Any) -> dict[str, Any]:
    from yazcore.gate import ProtocolFault
    from yazcore.mcp.results import tool_result
    from yazcore.permissions import OWNER

    try:
        return tool_result(await application.host.gate.call_tool(OWNER, name, arguments))
    except ProtocolFault as fault:
        return {"error": {"code": fault.code, "message": fault.message}}


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("plugin_id", metavar="ID")
@click.argument("command")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@_project
def run(plugin_id: str, command: str, arguments: tuple[str, ...], project: Path | None) -> None:
    """Run the COMMAND that plugin ID contributes, and print what it says."""
    home = Home()
    if (live := _live(home, project)) is not None:
        text = live.ask("run", plugin=plugin_id, name=command, arguments=list(arguments))
    else:
        application = _alone(home, project)
        try:
            text = application.host.run_command(
                plugin_id, command, list(arguments), next(iter(application.workspace.projects()), None)
            )
        finally:
            application.close()
    if text is not None:
        click.echo("\n".join(harmless(line) for line in str(text).split("\n")))


@click.command()
@click.argument("reference", required=False)
@format_options
def log(reference: str | None, as_json: bool) -> None:
    """Show the newest calls; or, with the REFERENCE of a masked failure, what really happened."""
    from yazcore.audit import Audit

    audit = Audit(Home())
    if reference is not None:
        crash = audit.crash_of(reference)
        if crash is None:
            raise YazError(
                "unknown-reference", f"no failure has the reference {reference!r}", "yaz log shows the newest calls"
            )
        if as_json:
            print_json(crash)
        else:
            click.echo("{time} {plugin} {version}, {where}: {type}: {message}".format(**crash))
            click.echo(crash["trace"])
        return
    records = audit.calls()
    if as_json:
        print_json({"calls": records})
        return
    columns(
        [
            (
                one["time"],
                one["principal"],
                one["what"],
                one["name"],
                one["outcome"],
                f"{one['seconds']:.3f} s",
                one["reference"] or "",
            )
            for one in records
        ],
        ("TIME", "WHO", "WHAT", "NAME", "OUTCOME", "TOOK", "REFERENCE"),
    )
