"""`yaz bridge`: the running yaz, for clients that only speak stdio."""

from __future__ import annotations

import os
from functools import partial

import click

from yazcore.control import not_running, running, still_there
from yazcore.home import Home

TOKEN_VARIABLE = "YAZ_TOKEN"  # noqa: S105 - the name of a variable, not a token
"""The environment variable that names another token than the owner's."""


@click.command()
@click.option("--as", "principal", metavar="TOKEN", help="Come as this named token, and not as the owner.")
def bridge(principal: str | None) -> None:
    """Carry MCP messages between standard input and output and the running yaz. A client starts this; nobody types it.

    It comes as the owner, as the named TOKEN, or with the token in the environment variable YAZ_TOKEN. Without a
    running yaz it ends with status 1; it never starts one.
    """
    home = Home()
    live = running(home)
    if live is None:
        raise not_running()

    import anyio

    from yazcore.mcp.bridge import bridge as carry

    token = os.environ.get(TOKEN_VARIABLE) or live.token
    if principal is not None:
        token = live.ask("lend", name=principal)
    anyio.run(partial(carry, live.url, token, there=partial(still_there, home, live)))
