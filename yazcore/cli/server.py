"""`yaz server`: the MCP servers that plugins may call for the user; which tools of theirs were seen (design 9)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from yazcore.cli.output import (
    Waiting,
    columns,
    first_sentence,
    format_options,
    harmless,
    harmless_lines,
    paragraph,
    print_json,
    say,
)
from yazcore.control import running
from yazcore.home import Home
from yazcore.violations import YazError, sentence

if TYPE_CHECKING:
    from yazcore.mcp.client.overview import ServerView, ToolView

_LONGEST = 2000
_SAID = {"seen": "seen", "new": "NEW", "changed": "CHANGED"}

_yes = click.option("--yes", is_flag=True, help="Do not ask.")


@click.group()
def server() -> None:
    """Name MCP servers that plugins may call for you, and see what they offer.

    A plugin reaches only servers that its manifest names and that you have granted, and of those only the tools that
    you have seen: one that is new or has changed waits until you accept it.
    """


def _pairs(ctx: click.Context, parameter: click.Parameter, given: tuple[str, ...]) -> dict[str, str]:
    pairs = {}
    for text in given:
        name, found, value = text.partition("=")
        if not found or not name:
            raise click.BadParameter("write it as NAME=VALUE", ctx=ctx, param=parameter)
        pairs[name] = value
    return pairs


@server.command("add", context_settings={"ignore_unknown_options": False})
@click.argument("name")
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="[-- COMMAND [ARGUMENTS]...]")
@click.option("--url", metavar="URL", help="Reach it over HTTP, at this address.")
@click.option("--header", "headers", multiple=True, callback=_pairs, metavar="NAME=VALUE", help="Send this header.")
@click.option("--env", multiple=True, callback=_pairs, metavar="NAME=VALUE", help="Give the process this variable.")
@click.option("--cwd", metavar="FOLDER", help="The folder the process starts in; else your home folder.")
@click.option("--insecure", is_flag=True, help="Mean it: plain http to another machine.")
@_yes
@format_options
def add(
    name: str, command: tuple[str, ...], url: str | None, headers: dict[str, str], env: dict[str, str],
    cwd: str | None, insecure: bool, yes: bool, as_json: bool,
) -> None:  # fmt: skip
    """Name a server, connect to it, and see its tools.

    It is a process that yaz starts (yaz server add checker -- checker --stdio) or an address (--url). A process runs
    with all of your own rights. Secrets are never written into settings: a header or variable that holds one is given
    by reference, as in --header "Authorization=Bearer keyring:NAME" or --env API_KEY=env:VARIABLE.
    """
    from yazcore.mcp.client.settings import ServerSettings, write_server

    home = Home()
    settings = ServerSettings(
        name=name, command=command[0] if command else None, args=tuple(command[1:]), env=env, cwd=cwd, url=url,
        headers=headers, insecure=insecure,
    )  # fmt: skip
    write_server(home, settings)
    try:
        view = _looked(home, name)
    except YazError as error:
        if as_json:
            print_json({"name": name, "added": True, "error": error.as_json(), "accepted": []})
        else:
            say(harmless(f"{name} is added, and could not be asked: {sentence(error)}"))
            say(harmless(f"when it runs: yaz server accept {name}"))
        raise click.exceptions.Exit(1) from None
    accepted = _accepted(home, view, (), yes, as_json)
    if as_json:
        print_json({"name": name, "added": True, "error": None, "accepted": list(accepted)})
    elif accepted:
        say(harmless(f"{name} is added; plugins may call {len(accepted)} of its tools once you grant them the server"))


@server.command("list")
@format_options
def list_(as_json: bool) -> None:
    """List the servers that settings.toml names; connects to none."""
    from yazcore.mcp.client.seen import SeenStore
    from yazcore.mcp.client.settings import read_server, server_names

    home = Home()
    store, faulty = SeenStore(home), False
    rows: list[dict[str, Any]] = []
    for name in server_names(home):
        try:
            settings = read_server(home, name)
            assert settings is not None
            seen = store.of(settings)
        except YazError as error:
            faulty = True
            rows.append({"name": name, "error": error.as_json()})
            continue
        reads = sorted(tool for tool in seen.tools if seen.reads(tool))
        rows.append({
            "name": name, "error": None, "transport": settings.transport, "settings": settings.as_table(),
            "seen": sorted(seen.tools), "reads": reads, "time": seen.time,
        })  # fmt: skip
    if as_json:
        print_json({"servers": rows})
    elif not rows:
        say("no MCP server is named; yaz server add NAME -- COMMAND names one")
    else:
        columns(map(_row, rows), ("NAME", "REACHED BY", "TOOLS SEEN", "THAT READ", "LAST LOOK"))
    if faulty:
        raise click.exceptions.Exit(1)


def _row(one: dict[str, Any]) -> tuple[str, ...]:
    if one["error"] is not None:
        return (one["name"], one["error"]["message"], "", "", "")
    how = one["settings"]
    reached = how["url"] if "url" in how else " ".join((how["command"], *how.get("args", ())))
    return (one["name"], reached, str(len(one["seen"])), str(len(one["reads"])), one["time"] or "never")


@server.command("show")
@click.argument("name")
@format_options
def show(name: str, as_json: bool) -> None:
    """Connect to a server and show what it offers now; exit status 1 where a tool waits for you."""
    view = _looked(Home(), name)
    if as_json:
        print_json(view.as_json())
    else:
        _show(view)
    if view.unseen:
        raise click.exceptions.Exit(1)


@server.command("accept")
@click.argument("name")
@click.argument("tools", nargs=-1, metavar="[TOOL]...")
@_yes
@format_options
def accept_(name: str, tools: tuple[str, ...], yes: bool, as_json: bool) -> None:
    """See which tools of a server are new or have changed, and let plugins call them as they are; all, or those named.

    A tool that has changed is no longer marked as one that only reads.
    """
    home = Home()
    accepted = _accepted(home, _looked(home, name), tools, yes, as_json)
    if as_json:
        print_json({"name": name, "accepted": list(accepted)})
    elif accepted:
        say(harmless(f"accepted of {name}: {', '.join(accepted)}"))


@server.command("mark")
@click.argument("name")
@click.argument("tools", nargs=-1, required=True, metavar="TOOL...")
@click.option("--read/--write", "read", required=True, help="It only reads, or it may change something.")
@format_options
def mark(name: str, tools: tuple[str, ...], read: bool, as_json: bool) -> None:
    """Say of a server's tools that they only read, so that calls that only read may use them.

    Only you can say so: what the server says of its own tools counts for nothing here.
    """
    from yazcore.mcp.client.overview import named
    from yazcore.mcp.client.seen import SeenStore

    home = Home()
    SeenStore(home).mark(named(home, name), tools, read)
    if as_json:
        print_json({"name": name, "tools": list(tools), "read": read})
    else:
        say(harmless(f"{', '.join(tools)} of {name}: {'only read' if read else 'may change something'}"))


@server.command("remove")
@click.argument("name")
@format_options
def remove(name: str, as_json: bool) -> None:
    """Take a server out of settings.toml, and forget what was seen of it; a running yaz leaves it at once."""
    from yazcore.mcp.client.overview import named
    from yazcore.mcp.client.seen import SeenStore
    from yazcore.mcp.client.settings import remove_server

    home = Home()
    if not remove_server(home, name):
        named(home, name)
    SeenStore(home).forget(name)
    if (live := running(home)) is not None:
        live.ask("refresh")
    if as_json:
        print_json({"name": name, "removed": True})
    else:
        say(harmless(f"{name} is removed; secrets that it used stay: yaz secret list"))


# -- what people see --------------------------------------------------------------------------------------------------


def _looked(home: Home, name: str) -> ServerView:
    from yazcore.mcp.client.overview import look

    with Waiting(f"asking {name}"):
        return look(home, name)


def _accepted(home: Home, view: ServerView, tools: tuple[str, ...], yes: bool, as_json: bool) -> tuple[str, ...]:
    """Show what is new, ask, and keep it as seen; the names of the tools that now are."""
    from yazcore.mcp.client.overview import accept

    name = view.settings.name
    waiting = [one for one in view.unseen if not tools or one.definition.name in tools]
    if not waiting:
        accept(home, view, tools)  # a name that is none is said
        if not as_json:
            say(harmless(f"every tool of {name} is seen" if view.tools else f"{name} offers no tools"))
        return ()
    if not yes:
        for one in waiting:
            _show_tool(one, err=as_json)
        if not _agreed(f"May plugins that you grant {harmless(name)} call these tools?", as_json):
            click.echo(f"nothing was accepted; yaz server accept {harmless(name)} asks again", err=True)
            raise click.exceptions.Exit(1)
    return accept(home, view, tools)


def _agreed(question: str, as_json: bool) -> bool:
    try:
        return click.confirm(question, err=as_json)
    except click.Abort:
        click.echo(err=True)
        return False


def _show(view: ServerView) -> None:
    settings = view.settings
    paragraph("name", settings.name)
    for key, value in settings.as_table().items():
        paragraph(key, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
    if settings.transport == "stdio":
        paragraph("rights", "its process runs with all of your own rights, outside every sandbox of yaz")
    if view.info is not None:
        paragraph("calls itself", f"{view.info['name']} {view.info['version']}")
    paragraph("protocol", view.protocol)
    say()
    columns(
        [
            (
                one.definition.name, one.definition.fault or _SAID[one.state], "read" if one.read else "write",
                first_sentence(str(one.definition.data.get("description", ""))),
            )
            for one in view.tools
        ],
        ("TOOL", "STATE", "POSTURE", "DESCRIPTION"),
    )  # fmt: skip
    for one in view.tools:
        if one.definition.schema_fault:
            say(harmless(f"{one.definition.name}: structured results are left out: {one.definition.schema_fault}"))
    if view.gone:
        say(harmless(f"seen once, and offered no more: {', '.join(view.gone)}"))
    if view.unseen:
        say(harmless(f"what is new or changed waits for you: yaz server accept {settings.name}"))


def _show_tool(one: ToolView, err: bool) -> None:
    """All that a model would read of a tool, or what has changed of it."""
    data = one.definition.data
    fault = f", cannot be used: {one.definition.fault}" if one.definition.fault else ""
    click.echo(harmless(f"{data['name']}: {_SAID[one.state]}{fault}"), err=err)
    if one.state == "changed":
        parts = [(f"{part} {when}", now) for part, old, new in one.changes for when, now in (("was", old), ("is", new))]
    else:
        parts = [(part, value) for part, value in data.items() if part != "name"]
    for part, value in parts:
        first, *more = harmless_lines(_text(value)) or [""]
        for line in (f"  {part}: {first}", *(f"    {line}" for line in more)):
            click.echo(line, err=err)


def _text(value: Any) -> str:
    if value is None:
        return "nothing"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    more = len(text) - _LONGEST
    return text if more <= 0 else f"{text[:_LONGEST]}… and {more} characters more, which yaz server show --json has"

