"""`yaz serve`, `status`, `stop`."""

from __future__ import annotations

import gc
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import click

from yazcore.cli.output import format_options, harmless, plugins_aside, print_json, safe_mode_option, say
from yazcore.clients import CLIENTS
from yazcore.control import not_running, only_one, running, wait_until_over
from yazcore.home import Home
from yazcore.permissions import OWNER
from yazcore.permissions.curation import Curation, profile
from yazcore.violations import YazError

if TYPE_CHECKING:
    import anyio
    from anyio.abc import TaskGroup

    from yazcore.control.desk import Desk
    from yazcore.control.door import Command
    from yazcore.gate import Approval
    from yazcore.mcp.listener import Address
    from yazcore.writing.application import WritingApp

_STOP_SECONDS = 60.0


@click.command()
@click.argument("projects", nargs=-1, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, help="A port of your own choice; 0 lets the system choose."
)
@click.option("--locale", default="en-US", help="The language of what agents read.")
@click.option("--profile", "profile_name", metavar="NAME", help="Only the tools of this profile in settings.toml.")
@click.option("--read-only", is_flag=True, help="Only tools that read.")
@safe_mode_option
@format_options
def serve(
    projects: tuple[Path, ...],
    port: int,
    locale: str,
    profile_name: str | None,
    read_only: bool,
    safe_mode: bool,
    as_json: bool,
) -> None:
    """Hold PROJECTS open and switch the MCP server on, until Ctrl-C.

    Without PROJECTS, the folders under `roots` in settings.toml are held open. A second Ctrl-C ends it at once.
    """
    home = Home()
    curation = Curation() if profile_name is None else profile(home.settings(), profile_name)
    curation = attrs.evolve(curation, read_only=curation.read_only or read_only)
    with only_one(home):
        import anyio

        plugins_aside()
        _need_the_sdk()
        anyio.run(_serve, home, projects, port, locale, curation, safe_mode, as_json)


def _need_the_sdk() -> None:
    """Import what serving needs, while a broken library can still be said in a sentence."""
    try:
        import mcp.server  # noqa: F401
        import uvicorn  # noqa: F401
    except Exception as error:  # noqa: BLE001 - whatever stands on the path under that name
        raise YazError(
            "sdk-broken", f"the MCP server cannot start: {type(error).__name__}: {error}",
            "yaz doctor says what is broken",
        ) from None  # fmt: skip


async def _serve(
    home: Home,
    projects: tuple[Path, ...],
    port: int,
    locale: str,
    curation: Curation,
    safe_mode: bool,
    as_json: bool,
) -> None:
    import anyio

    from yazcore.control.desk import Desk
    from yazcore.writing.application import open_writing

    # From the first moment, so that a signal while plugins start is not lost.
    with anyio.open_signal_receiver(*_endings()) as signals:
        async with anyio.create_task_group() as watching:
            ending = anyio.Event()
            watching.start_soon(_watch, signals, ending)
            desk = Desk(_say_waiting)
            application = await anyio.to_thread.run_sync(
                lambda: open_writing(home, projects, locale=locale, approve=desk, discover=not safe_mode)
            )
            try:
                if not ending.is_set():
                    await _hold(application, home, port, curation, desk, as_json, ending)
            finally:
                with anyio.CancelScope(shield=True):
                    await anyio.to_thread.run_sync(application.close)
            watching.cancel_scope.cancel()
    if not as_json:
        say("stopped")


def _endings() -> list[signal.Signals]:
    # Whoever started it with nohup wants it to outlive the terminal.
    hang_up = [signal.SIGHUP] if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN else []
    return [signal.SIGINT, signal.SIGTERM, *hang_up]


async def _watch(signals: Any, ending: anyio.Event) -> None:
    async for number in signals:
        if ending.is_set():
            os._exit(128 + number)  # asked twice: nobody wants to wait for plugins any longer
        ending.set()


async def _hold(
    application: WritingApp,
    home: Home,
    port: int,
    curation: Curation,
    desk: Desk,
    as_json: bool,
    ending: anyio.Event,
) -> None:
    """Serve until a signal, or until `yaz stop`."""
    import anyio

    from yazcore.serving import Serving

    commands = {"run": _run_command(application), **desk.commands()}
    serving = Serving(application.host, port=port, commands=commands, alone=True, curation=curation)

    async def end_when_told(tasks: TaskGroup) -> None:
        await ending.wait()
        await serving.stop()
        tasks.cancel_scope.cancel()

    async with anyio.create_task_group() as tasks:
        address = await tasks.start(serving.run)
        tasks.start_soon(end_when_told, tasks)
        # Modules and plugins stay for as long as it serves: no look for garbage goes through them again (mcp D13). What
        # leaves later of these alone may stay in memory.
        gc.freeze()
        _say_ready(address, application, home, curation, as_json)
        await serving.stopped()
        tasks.cancel_scope.cancel()


def _say_waiting(word: str, question: Approval) -> None:
    click.echo(harmless(f"{question.principal} wants to call {question.tool}: yaz approve {word}"), err=True)


def _run_command(application: WritingApp) -> Command:
    """The command `run` of the user's door: in the project that is open, where it is only one."""
    from yazcore.cli.calls import only_project
    from yazcore.serving import run_command

    return lambda arguments: run_command(application.host, arguments, only_project(application))


def _say_ready(
    address: Address, application: WritingApp, home: Home, curation: Curation, as_json: bool
) -> None:
    url, token, projects = address.url, address.token, application.projects()
    if as_json:
        print_json({"url": url, "token": token, "projects": projects}, indent=None)
        return
    say(f"MCP server: {url}")
    say(f"token:      {token}")
    for project in projects:
        say(f"project:    {harmless(project['name'])} ({project['projectId']})")
    for line in _closed_roots(application):
        say(line)
    if curation != Curation():
        say(f"tools:      {_curated(application, curation)}")
    statuses = [status.as_json() for status in application.host.plugins()]
    from yazcore.cli.plugins import waiting, ways_in

    for plugin_id, state, way in ways_in(statuses, home):
        say(f"not active: {plugin_id} is {state}; {way}")
    for line in waiting(statuses, home):
        say(f"update:     {line}")
    say("\nTo connect a client: yaz connect CLIENT --write; CLIENT is one of")
    say(f"  {', '.join(CLIENTS)}")
    say("\nCtrl-C stops it; then the token is dead.")


def _closed_roots(application: WritingApp) -> list[str]:
    """What a person should know who sees fewer projects than folders."""
    open_roots = {project.root for project in application.workspace.projects()}
    lines = [
        f"folder:     {harmless(root.name)} (no document to begin with; agents may open projects below it)"
        for root in application.workspace.roots
        if root.path not in open_roots
    ]
    if not application.workspace.roots:
        lines.append("project:    none; name folders: yaz serve FOLDER, or roots in settings.toml")
    return lines


def _curated(application: WritingApp, curation: Curation) -> str:
    """Which tools are there, and which names of the profile are of none."""
    offered = [tool.exposed for tool in application.host.gate.tools(curation.of(OWNER))]
    unknown = sorted((curation.tools or frozenset()) - application.host.catalogue.now.tools.keys())
    none = f"; there is no {', '.join(map(harmless, unknown))}" if unknown else ""
    return f"{', '.join(offered)} (of {len(application.host.catalogue.now.tools)}{none})"


@click.command()
@format_options
def status(as_json: bool) -> None:
    """Say whether yaz runs, and where."""
    live = running(Home())
    if live is None:
        if as_json:
            print_json({"running": False})
        else:
            say("not running; start it with: yaz serve")
        raise click.exceptions.Exit(1)
    numbers = live.ask("status")
    if as_json:
        print_json({"running": True, "url": live.url, "pid": live.pid, **numbers})
    else:
        say(f"running at {live.url} (process {live.pid}): {numbers['plugins']} plugins, {numbers['tools']} tools")


@click.command()
def stop() -> None:
    """Stop the running yaz, and wait until it has stopped."""
    home = Home()
    live = running(home)
    if live is None:
        raise not_running()
    live.ask("stop")
    if not wait_until_over(home, _STOP_SECONDS):
        raise YazError(
            "still-stopping", f"yaz (process {live.pid}) is told to stop, and has not stopped yet",
            "a plugin may take its time; yaz status says whether it runs",
        )  # fmt: skip
    say("stopped")
