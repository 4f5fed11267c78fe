"""`yaz serve`, `status`, `stop`."""

from __future__ import annotations

import json
import shlex
import signal
from pathlib import Path

import click

from yazcore.cli.output import format_options, harmless, print_json
from yazcore.control import not_running, running
from yazcore.home import Home


@click.command()
@click.argument("projects", nargs=-1, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, help="A port of your own choice; 0 lets the system choose."
)
@click.option("--locale", default="en-US", help="The language of what agents read.")
@format_options
def serve(projects: tuple[Path, ...], port: int, locale: str, as_json: bool) -> None:
    """Hold PROJECTS open and switch the MCP server on, until Ctrl-C."""
    import anyio

    anyio.run(_serve, projects, port, locale, as_json)


async def _serve(projects: tuple[Path, ...], port: int, locale: str, as_json: bool) -> None:
    import anyio

    from yazcore.serving import Serving
    from yazcore.writing.application import open_writing

    application = open_writing(Home(), projects, locale=locale)
    serving = Serving(application.host, port=port)
    try:
        with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
            async with anyio.create_task_group() as tasks:
                address = await tasks.start(serving.run)
                _say_ready(address.url, address.token, application.projects(), application, as_json)

                async def until_signalled() -> None:
                    async for _ in signals:
                        await serving.stop()
                        return

                tasks.start_soon(until_signalled)
                await serving.stopped()
                tasks.cancel_scope.cancel()
    finally:
        application.close()
    if not as_json:
        click.echo("stopped")


def _say_ready(url: str, token: str, projects: list[dict[str, str]], application: object, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps({"url": url, "token": token, "projects": projects}))
        return
    click.echo(f"MCP server: {url}")
    click.echo(f"token:      {token}")
    for project in projects:
        click.echo(f"project:    {harmless(project['name'])} ({project['projectId']})")
    for line in inactive(application):
        click.echo(line)
    header = f"Authorization: Bearer {token}"
    click.echo("\nTo connect a client:")
    click.echo(f"  Claude Code   claude mcp add --transport http yaz {url} --header {shlex.quote(header)}")
    entry = {"type": "http", "url": url, "headers": {"Authorization": f"Bearer {token}"}}
    click.echo(f"  VS Code       code --add-mcp {shlex.quote(json.dumps({'name': 'yaz', **entry}))}")
    settings = {"mcpServers": {"yaz": {"url": url, "headers": entry["headers"]}}}
    click.echo(f"  Cursor, others  in mcp.json: {json.dumps(settings)}")
    click.echo("\nCtrl-C stops it; then the token is dead.")


def inactive(application: object) -> list[str]:
    """One line for each plugin that is not active, with the reason."""
    lines = []
    for status in application.host.plugins():  # type: ignore[attr-defined]
        if status.state != "active":
            why = (
                "; ".join(status.reasons)
                or f"{len(status.violations)} violations, {len(status.differences)} differences"
            )
            hint = (
                f"; yaz grant {status.id} --trusted lets it run"
                if status.state == "held"
                else f"; yaz show {status.id}"
            )
            lines.append(f"not active: {status.id} is {status.state}: {harmless(why)}{hint}")
    return lines


@click.command()
@format_options
def status(as_json: bool) -> None:
    """Say whether yaz runs, and where."""
    live = running(Home())
    if live is None:
        if as_json:
            print_json({"running": False})
        else:
            click.echo("not running; start it with: yaz serve")
        raise click.exceptions.Exit(1)
    numbers = live.ask("status")
    if as_json:
        print_json({"running": True, "url": live.url, "pid": live.pid, **numbers})
    else:
        click.echo(
            f"running at {live.url} (process {live.pid}): {numbers['plugins']} plugins, {numbers['tools']} tools"
        )


@click.command()
def stop() -> None:
    """Stop the running yaz."""
    home = Home()
    live = running(home)
    if live is None:
        raise not_running()
    live.ask("stop")
    click.echo("stopping")
