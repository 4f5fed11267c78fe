"""`yaz connect CLIENT`: what a client's settings have to say, printed or written."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path
from typing import Any

import click

from yazcore.cli.output import format_options, harmless, print_json, say
from yazcore.clients import CLIENTS, Client, file_of
from yazcore.home import Home

_NAME = "yaz"


@click.command()
@click.argument("client_id", metavar="CLIENT", type=click.Choice(list(CLIENTS)))
@click.option("--write", is_flag=True, help="Put it into the client's settings; the old file is kept beside it.")
@click.option("--project", is_flag=True, help="The settings of the project in this folder, not your own.")
@click.option("--as", "principal", metavar="TOKEN", help="Come as this named token, and not as you (yaz token list).")
@format_options
def connect(client_id: str, write: bool, project: bool, principal: str | None, as_json: bool) -> None:
    """Print how CLIENT is told of yaz, or write it into the client's settings.

    The client starts yaz bridge, which finds the running yaz. No token and no address stands in the settings, so they
    stay right when yaz is started anew.
    """
    from yazcore.clients.merging import merge, rendered

    client = CLIENTS[client_id]
    home = Home()
    if principal is not None:
        from yazcore.permissions.tokens import Tokens

        Tokens(home).get(principal)
    path = _file(client, home, project)
    entry = client.entry(_command(principal), _environment())
    merged = merge(client, path, _NAME, entry) if write else None
    if as_json:
        print_json({
            "client": client.id, "file": str(path), "section": client.section, "name": _NAME, "entry": entry,
            "change": None if merged is None else merged.change,
            "backup": None if merged is None or merged.backup is None else str(merged.backup),
        })  # fmt: skip
        return
    if merged is None:
        say(f"# in {path}")
        say(rendered(client, _NAME, entry).rstrip("\n"))
        click.echo(f"yaz connect {shlex.join(_again(client_id, project, principal))} puts it there", err=True)
        return
    said = {"added": "added to", "replaced": "replaced in", "same": "is already as it should be in"}[merged.change]
    say(harmless(f"{_NAME} {said} {path}"))
    if merged.backup is not None:
        say(harmless(f"the file as it was: {merged.backup}"))
    say(_afterwards(client, path))


def _again(client_id: str, project: bool, principal: str | None) -> list[str]:
    return [
        client_id, "--write", *(["--project"] if project else []), *(["--as", principal] if principal else []),
    ]  # fmt: skip


def _file(client: Client, home: Home, project: bool) -> Path:
    if project:
        if client.project is None:
            raise click.UsageError(f"{client.name} has no settings in a project's folder")
        return Path.cwd() / client.project
    return file_of(client, os.environ) or home.path("clients", f"{client.id}.json")


def _afterwards(client: Client, path: Path) -> str:
    if client.id == "inspector":
        return f"npx @modelcontextprotocol/inspector --config {shlex.quote(str(path))} --server {_NAME}"
    return client.afterwards


def _command(principal: str | None) -> list[str]:
    """How this very yaz is started from anywhere: clients have another PATH."""
    own = Path(sys.argv[0])
    found = own if own.name == "yaz" and own.is_file() else None
    if found is None and (beside := Path(sys.executable).with_name("yaz")).is_file():
        found = beside
    if found is None and (installed := shutil.which("yaz")) is not None:
        found = Path(installed)
    start = [str(found.absolute())] if found is not None else [sys.executable, "-P", "-c", _START]
    return [*start, "bridge", *(["--as", principal] if principal is not None else [])]


_START = "from yazcore.cli import main; main()"


def _environment() -> dict[str, Any]:
    """What a client would not pass on: where yaz keeps its files, if that is said."""
    given = os.environ.get("YAZ_HOME")
    return {"YAZ_HOME": str(Path(given).expanduser().absolute())} if given else {}
