"""`yaz grant`, `revoke`, `enable`, `disable`, `denials`: what the user allows, and what was refused."""

from __future__ import annotations

import click

from yazcore.capabilities.denials import DenialLog
from yazcore.capabilities.grants import Grants
from yazcore.cli.output import columns, format_options, harmless, print_json
from yazcore.cli.plugins import look
from yazcore.control import running
from yazcore.home import Home
from yazcore.installed import Installed
from yazcore.violations import YazError


def _installed(home: Home, plugin_id: str) -> Installed:
    found, _ = look(home)
    for one in found:
        if one.id == plugin_id:
            return one
    known = ", ".join(one.id for one in found)
    raise YazError("unknown-plugin", f"no plugin {plugin_id!r} is installed", f"installed are {known or 'none'}")


def _places(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    places = {}
    for value in values:
        name, equals, folder = value.partition("=")
        if not name or not equals or not folder:
            raise click.BadParameter(f"{value!r} is not NAME=FOLDER")
        places[name] = folder
    return places


@click.command()
@click.argument("plugin_id", metavar="ID")
@click.option("--trusted", is_flag=True, help="Run it in yaz's own process, with all of your own rights.")
@click.option(
    "--place", "places", multiple=True, callback=_places, metavar="NAME=FOLDER", help="The folder a place stands for."
)
@click.option("--with-optional", is_flag=True, help="Grant what it marks as optional, too.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def grant(plugin_id: str, trusted: bool, places: dict[str, str], with_optional: bool, yes: bool) -> None:
    """Let a plugin run, with what it asks for. Each line says what it may do."""
    from yazcore.granting import commit, plan

    home = Home()
    planned = plan(_installed(home, plugin_id), trusted=trusted, places=places, optional=with_optional)
    manifest = planned.manifest
    click.echo(f"{harmless(manifest.name)} ({manifest.id}) {manifest.version} by {harmless(manifest.author)} asks:")
    for capability in sorted(planned.granted, key=lambda one: not one.sensitive):
        click.echo(f"  {'! ' if capability.sensitive else '  '}{harmless(capability.sentence())}")
    if not planned.granted:
        click.echo("    for nothing beyond its own data folder")
    for name, folder in planned.places.items():
        click.echo(f"    {name} is {harmless(folder)}")
    for capability in planned.left_out:
        click.echo(f"    not granted (optional): {harmless(capability.sentence())}")
    for tool in manifest.provides.tools:
        click.echo(f"    agents get a tool: {tool.name} ({tool.posture}, {tool.scope}, needs {tool.permission})")
    click.echo(
        "It will run trusted: inside yaz's own process. The lines above are kept by yaz's services, but nothing stops\n"
        "its code from doing what you yourself could do. Grant it only if you trust who wrote it."
    )
    if not yes:
        click.confirm("Grant this?", abort=True)
    commit(Grants(home), planned)
    if (live := running(home)) is not None:
        live.ask("refresh")
    click.echo(f"granted {manifest.id}")


@click.command()
@click.argument("plugin_id", metavar="ID")
@click.argument("capability", required=False)
def revoke(plugin_id: str, capability: str | None) -> None:
    """Take a plugin's grant back, or only one CAPABILITY kind of it. It counts from the next operation on."""
    home = Home()
    if (live := running(home)) is not None:
        denied = live.ask("revoke", plugin=plugin_id, kind=capability)["denied"]
    else:
        from yazcore.granting import revoke as take_back

        found, _ = look(home)
        manifest = next((one.manifest for one in found if one.id == plugin_id), None)
        denied = take_back(Grants(home), manifest, plugin_id, capability)
    for identity in denied:
        click.echo(f"denied to {plugin_id}: {harmless(identity)}")
    if capability is None:
        click.echo(f"the grant of {plugin_id} is taken back; it will not run until it is granted again")


@click.command()
@click.argument("plugin_id", metavar="ID")
def enable(plugin_id: str) -> None:
    """Switch a plugin on."""
    _switch(plugin_id, True)


@click.command()
@click.argument("plugin_id", metavar="ID")
def disable(plugin_id: str) -> None:
    """Switch a plugin off; its grant is kept."""
    _switch(plugin_id, False)


def _switch(plugin_id: str, on: bool) -> None:
    home = Home()
    _installed(home, plugin_id)
    Grants(home).set_enabled(plugin_id, on)
    if (live := running(home)) is not None:
        live.ask("switch", plugin=plugin_id, on=on)
    click.echo(f"{plugin_id} is {'on' if on else 'off'}")


@click.command()
@click.argument("plugin_id", metavar="ID")
@format_options
def denials(plugin_id: str, as_json: bool) -> None:
    """Show what a plugin tried and was refused, oldest first."""
    records = DenialLog(Home()).of(plugin_id)
    if as_json:
        print_json({"plugin": plugin_id, "denials": records})
        return
    if not records:
        click.echo(f"nothing was refused to {plugin_id}")
        return
    columns(
        [
            (one["time"], one["capability"], one["reason"], one["target"], _remedy(plugin_id, one["reason"]))
            for one in records
        ],
        ("TIME", "CAPABILITY", "REASON", "TARGET", "WHAT WOULD ALLOW IT"),
    )


def _remedy(plugin_id: str, reason: str) -> str:
    return {
        "not-declared": "only a new version: its manifest does not ask for this",
        "not-granted": f"yaz grant {plugin_id}",
        "out-of-scope": "nothing: it reaches beyond what it asks for, or writes in a call that only reads",
        "service-unavailable": "nothing yet: the service is not built",
    }.get(reason, "")
