"""`yaz secret`: secrets that yaz keeps and spends; no command ever prints one (design 5, 9)."""

from __future__ import annotations

import sys

import click

from yazcore.cli.output import columns, format_options, harmless, print_json, say
from yazcore.home import Home
from yazcore.violations import YazError


@click.group()
def secret() -> None:
    """Keep secrets that yaz sends for you: for plugins (ID/NAME) and for MCP servers.

    They lie in the system's keyring, or in environment variables that you name. Settings refer to them as keyring:NAME
    and env:VARIABLE. No plugin and no agent ever sees one, and no command prints one.
    """


@secret.command("set")
@click.argument("name")
@click.option("--env", "variable", metavar="VARIABLE", help="Read it from this environment variable, whenever needed.")
@click.option("--host", "hosts", multiple=True, metavar="HOST", help="Send it to this host only; may be repeated.")
@click.option("--any-host", is_flag=True, help="Take back what --host said before.")
@format_options
def set_(name: str, variable: str | None, hosts: tuple[str, ...], any_host: bool, as_json: bool) -> None:
    """Keep a secret under NAME; a plugin's credential is ID/NAME, as in zotero/api-key.

    It is asked for without being shown, or read from standard input: yaz secret set NAME < file.
    """
    from yazcore.capabilities.secrets import Secrets

    if hosts and any_host:
        raise click.UsageError("--host and --any-host contradict each other")
    store = Secrets(Home())
    bound = () if any_host else hosts or None
    record = store.point(name, variable, bound) if variable is not None else store.keep(name, _given(name), bound)
    if as_json:
        print_json(record.as_json())
        return
    only = f", for {', '.join(record.hosts)} only" if record.hosts else ""
    say(harmless(f"{name} is kept in {_where(record.variable)}{only}"))


@secret.command("list")
@format_options
def list_(as_json: bool) -> None:
    """List the names of all secrets, and where each is kept."""
    from yazcore.capabilities.secrets import Secrets

    kept = Secrets(Home()).all()
    if as_json:
        print_json({"secrets": [one.as_json() for one in kept]})
        return
    if not kept:
        say("no secret is kept; yaz secret set NAME keeps one")
        return
    columns(
        [(one.name, _where(one.variable), ", ".join(one.hosts) or "any it may reach", one.time) for one in kept],
        ("NAME", "KEPT IN", "FOR HOSTS", "SET"),
    )


@secret.command("forget")
@click.argument("name")
@format_options
def forget(name: str, as_json: bool) -> None:
    """Forget a secret."""
    from yazcore.capabilities.secrets import Secrets

    if not Secrets(Home()).forget(name):
        raise YazError("secret-unknown", f"no secret is kept under {name!r}", "yaz secret list shows which there are")
    if as_json:
        print_json({"name": name, "forgotten": True})
        return
    say(harmless(f"{name} is forgotten"))


def _given(name: str) -> str:
    """What the user types unseen, or what comes from standard input, without the line break at its end."""
    if sys.stdin is not None and sys.stdin.isatty():
        typed: str = click.prompt(f"The secret for {harmless(name)} (not shown)", hide_input=True, err=True)
        return typed
    text = sys.stdin.read() if sys.stdin is not None else ""
    return text.removesuffix("\n").removesuffix("\r")


def _where(variable: str | None) -> str:
    return "the keyring" if variable is None else f"the environment variable {variable}"
