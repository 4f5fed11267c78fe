"""`yaz grant`, `revoke`, `enable`, `disable`, `denials`: what the user allows, and what was refused.

What the user decides is written to `grants.json`, which every running plugin's broker reads; then a running yaz is
told, so that a plugin comes or goes at once.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import attrs
import click

from yazcore.capabilities.denials import DenialLog
from yazcore.capabilities.grants import Grants
from yazcore.cli.output import format_options, harmless, print_json, say
from yazcore.cli.plugins import look, unknown_plugin
from yazcore.cli.remedies import Denied, remedy
from yazcore.control import running
from yazcore.home import Home
from yazcore.violations import YazError

if TYPE_CHECKING:
    from yazcore.granting import Plan
    from yazcore.installed import Installed

_ID = re.compile(r"[a-z0-9-]{1,64}")


def _known_id(ctx: click.Context, param: click.Parameter, value: str) -> str:
    if not _ID.fullmatch(value):
        raise click.BadParameter(f"{value!r} is no id of a plugin: a-z, 0-9 and hyphens")
    return value


plugin_id_argument = click.argument("plugin_id", metavar="ID", callback=_known_id)


def _installed(home: Home, plugin_id: str) -> Installed:
    found, _ = look(home)
    for one in found:
        if one.id == plugin_id:
            return one
    raise unknown_plugin(plugin_id, [one.id for one in found])


def _pairs(what: str) -> Callable[[click.Context, click.Parameter, tuple[str, ...]], dict[str, str]]:
    """What reads NAME=FOLDER and NAME=FILE, each as often as it is given."""

    def read(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
        pairs = {}
        for value in values:
            name, equals, rest = value.partition("=")
            if not name or not equals or not rest:
                raise click.BadParameter(f"{value!r} is not NAME={what}")
            pairs[name] = rest
        return pairs

    return read


@attrs.frozen
class _Now:
    """How a plugin stands after a decision; `state` is of the running yaz where there is one."""

    live: bool
    state: str
    reasons: tuple[str, ...]

    def sentence(self) -> str:
        """The state and why, for the end of a line."""
        return f"{self.state}{': ' if self.reasons else ''}{'; '.join(self.reasons)}"


def make_so(home: Home, plugin_id: str) -> _Now:
    """Tell a running yaz of a decision, and say how the plugin stands."""
    if (live := running(home)) is not None:
        for one in live.ask("refresh"):
            if one["id"] == plugin_id:
                faults = [fault["message"] for fault in (*one["violations"], *one["differences"])]
                return _Now(True, one["state"], (*one["reasons"], *faults))
        return _Now(True, "not found", ())
    installed = next((one for one in look(home)[0] if one.id == plugin_id), None)
    return _Now(False, "not installed", ()) if installed is None else _Now(False, installed.state, installed.reasons)


@click.command()
@plugin_id_argument
@click.argument("kinds", nargs=-1, metavar="[CAPABILITY]...")
@click.option(
    "--trusted", is_flag=True,
    help="Run it in yaz's own process, with all of your own rights; without it, it is isolated.",
)
@click.option(
    "--place", "places", multiple=True, callback=_pairs("FOLDER"), metavar="NAME=FOLDER",
    help="The folder a place stands for.",
)
@click.option(
    "--command", "commands", multiple=True, callback=_pairs("FILE"), metavar="NAME=FILE",
    help="The program a command means; else it is looked up in the system's folders.",
)
@click.option("--with-optional", is_flag=True, help="Grant what it marks as optional, too.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@format_options
def grant(
    plugin_id: str,
    kinds: tuple[str, ...],
    trusted: bool,
    places: dict[str, str],
    commands: dict[str, str],
    with_optional: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Let a plugin run, with what it asks for; or with CAPABILITY, as in net, add only that to its grant.

    Each line says what it may do. A folder that you once chose for a place stays, unless --place names another, and
    what is optional stays granted. With --json the question goes to standard error.
    """
    from yazcore.granting import commit, plan

    home = Home()
    installed = _installed(home, plugin_id)
    installed = installed if kinds else installed.to_grant
    grants = Grants(home)
    planned = plan(
        installed, grants.get(plugin_id), trusted=trusted, places=places, commands=commands, optional=with_optional,
        kinds=kinds,
    )  # fmt: skip
    is_new = not planned.shipped or bool(planned.asked)
    if is_new:
        for line in _meaning(planned):
            click.echo(line, err=as_json)
        if not yes and not agreed("Grant this?", "nothing was granted; --yes grants without asking", err=as_json):
            raise click.exceptions.Exit(1)
    commit(grants, planned)
    now = make_so(home, plugin_id)
    if as_json:
        print_json({
            "live": now.live, "plugin": plugin_id, "version": planned.manifest.version, "state": now.state,
            "reasons": list(now.reasons), "granted": [one.identity for one in planned.granted],
            "leftOut": [one.identity for one in planned.left_out], "places": dict(planned.places),
            "commands": {name: text.partition(" ")[2] for name, text in planned.commands.items()},
        })  # fmt: skip
    else:
        for one in planned.again:
            say(f"no longer denied to {plugin_id}: {harmless(one.identity)}")
        if not is_new:
            return
        if now.state in ("active", "allowed"):
            say(f"granted {plugin_id}; {'it is active now' if now.live else 'it runs from the next start on'}")
        else:
            say(harmless(f"granted {plugin_id}, but it is {now.sentence()}; all of it: yaz show {plugin_id}"))
    if now.state not in ("active", "allowed"):
        raise click.exceptions.Exit(1)


def _meaning(planned: Plan) -> list[str]:
    """What granting it means, a line each."""
    manifest = planned.manifest
    lines = [f"{harmless(manifest.name)} ({manifest.id}) {manifest.version} by {harmless(manifest.author)} asks:"]
    for one in sorted(planned.asked, key=lambda one: not one.sensitive):
        lines.append(f"  {'! ' if one.sensitive else '  '}{harmless(one.sentence())}")
        if reason := planned.reasons.get(one.identity):
            lines.append(f"        {harmless(' '.join(reason.split()))}")
    if not planned.asked:
        lines.append("    for nothing beyond its own data folder")
    lines += [f"    {name} is {harmless(folder)}" for name, folder in planned.places.items()]
    lines += [_program(name, text.partition(" ")[2]) for name, text in planned.commands.items()]
    lines += [f"    {name} is not there: install it, and grant again" for name in planned.missing]
    lines += [f"    not granted (optional): {harmless(one.sentence())}" for one in planned.left_out]
    if not planned.adds:  # then nothing is decided about them
        lines += [
            f"    agents get a tool: {tool.name} ({tool.posture}, {tool.scope}, needs {tool.permission})"
            for tool in manifest.provides.tools
        ]
    if not planned.shipped:
        lines += _RUNS[planned.runtime]
    return lines


_RUNS = {
    "trusted": (
        "It will run trusted: inside yaz's own process. The lines above are kept by yaz's services, but nothing",
        "stops its code from doing what you yourself could do. Grant it only if you trust who wrote it.",
    ),
    "isolated": (
        "It will run isolated: in a process of its own, where the kernel opens to it only its own code, the Python it",
        "runs on and its data folder. All else it has to ask yaz for, and gets it only as the lines above say.",
    ),
}


def _program(name: str, path: str) -> str:
    from yazcore.capabilities.commands import runs_anything

    warning = ", and does whatever the plugin tells it" if runs_anything(name, path) else ""
    return f"    {name} is {harmless(path)}{warning}"


def agreed(question: str, otherwise: str, *, err: bool = False) -> bool:
    """Ask, on standard error with `err`; where nobody says yes, say what follows."""
    try:
        said = click.confirm(question, err=err)
    except click.Abort:
        click.echo(err=True)
        said = False
    if not said:
        click.echo(otherwise, err=True)
    return said


@click.command()
@plugin_id_argument
@click.argument("capability", required=False)
@format_options
def revoke(plugin_id: str, capability: str | None, as_json: bool) -> None:
    """Take a plugin's grant back, or only one CAPABILITY kind of it. It counts from the next operation on."""
    from yazcore.granting import revoke as take_back

    home = Home()
    installed = next((one for one in look(home)[0] if one.id == plugin_id), None)
    if capability is None and installed is not None and installed.origin != "installed":
        raise YazError(
            "already-shipped", f"{plugin_id} ships with the application and has no grant to take back",
            f"yaz disable {plugin_id} switches it off; yaz revoke {plugin_id} KIND denies it one capability",
        )  # fmt: skip
    denied = take_back(Grants(home), None if installed is None else installed.manifest, plugin_id, capability)
    now = make_so(home, plugin_id)
    if as_json:
        print_json({"live": now.live, "plugin": plugin_id, "state": now.state, "denied": list(denied)})
        return
    for identity in denied:
        say(f"denied to {plugin_id}: {harmless(identity)}")
    if capability is None:
        say(f"the grant of {plugin_id} is taken back; it will not run until it is granted again")


@click.command()
@plugin_id_argument
@format_options
def enable(plugin_id: str, as_json: bool) -> None:
    """Switch a plugin on."""
    _switch(plugin_id, True, as_json)


@click.command()
@plugin_id_argument
@format_options
def disable(plugin_id: str, as_json: bool) -> None:
    """Switch a plugin off; its grant is kept."""
    _switch(plugin_id, False, as_json)


def _switch(plugin_id: str, on: bool, as_json: bool) -> None:
    home = Home()
    if _installed(home, plugin_id).origin == "own":
        raise YazError("own-plugin", f"{plugin_id} is the application itself and is always on")
    Grants(home).set_enabled(plugin_id, on)
    now = make_so(home, plugin_id)
    if as_json:
        print_json({"live": now.live, "plugin": plugin_id, "state": now.state, "reasons": list(now.reasons)})
    elif on and now.state not in ("active", "allowed"):
        say(harmless(f"{plugin_id} is on, but {now.sentence()}"))
    else:
        say(f"{plugin_id} is {'on' if on else 'off'}")


@click.command()
@plugin_id_argument
@format_options
def denials(plugin_id: str, as_json: bool) -> None:
    """Show what a plugin tried and was refused, oldest first."""
    home = Home()
    live = running(home)
    records: list[dict[str, Any]] = (
        live.ask("denials", plugin=plugin_id) if live is not None else DenialLog(home).of(plugin_id)
    )
    if not records:
        _installed(home, plugin_id)
    if as_json:
        print_json({"live": live is not None, "plugin": plugin_id, "denials": records})
        return
    if not records:
        say(f"nothing was refused to {plugin_id}")
        return
    for one in _told(plugin_id, records):
        denied = one.denied
        times = f", {one.count} times" if one.count > 1 else ""
        say(f"{one.last}  {harmless(denied.kind)}, {harmless(denied.reason)}{times}, in {harmless(denied.where)}")
        say(f"  tried: {harmless(denied.target)}")
        if denied.detail:
            say(f"  why: {harmless(denied.detail)}")
        say(f"  what would allow it: {harmless(remedy(denied))}")


@attrs.frozen(kw_only=True)
class _Told:
    """Denials that are alike, told as one: how often, and when last."""

    denied: Denied
    last: str
    count: int


def _told(plugin_id: str, records: list[dict[str, Any]]) -> list[_Told]:
    """The denials, those alike as one, in the order in which the last of each happened."""
    found: dict[Denied, _Told] = {}
    for one in records:
        denied = Denied(
            plugin=plugin_id, kind=str(one.get("capability", "")),
            **{name: str(one.get(name, "")) for name in ("target", "reason", "where", "detail", "cause")},
        )  # fmt: skip
        before = found.pop(denied, None)
        count = 1 if before is None else before.count + 1
        found[denied] = _Told(denied=denied, last=str(one.get("time", "")), count=count)
    return list(found.values())
