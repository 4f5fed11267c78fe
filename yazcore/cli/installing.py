"""`yaz install`, `uninstall`, `rollback`: plugins in folders of their own, which pip and the host never load."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from yazcore.cli.consent import agreed, make_so, plugin_id_argument
from yazcore.cli.output import Waiting, format_options, harmless, print_json, say
from yazcore.cli.plugins import grant_command, look
from yazcore.home import Home
from yazcore.writing.contract import SHIPPED, YAZ

_ASK, _DECLINED = "Install this?", "nothing was installed; --yes installs without asking"

if TYPE_CHECKING:
    from yazcore.install import Prepared
    from yazcore.manifest.targets import Target


@click.command()
@click.argument("target")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--locale", metavar="LOCALE", help="The language to say it in; that of your shell if it is not said.")
@format_options
def install(target: str, yes: bool, locale: str | None, as_json: bool) -> None:
    """Install the plugin TARGET into a folder of its own: the file of a wheel, or a name, as in NAME==1.2.

    Shows what it asks for and adds, or for a newer version what it changes, and what comes with it; then asks. Nothing
    of it runs, and nothing of it is loaded by yaz. It may run once you grant it; a newer version that asks for more
    waits for that, and the one before goes on. With --json the page and the question go to standard error.
    """
    from yazcore.install import RefusedTarget, place, prepared

    home = Home()
    with Waiting(f"installing {target}") as waiting:

        def told(word: str) -> None:
            waiting.report(0, None, word)

        try:
            with prepared(target, YAZ, home, shipped=SHIPPED, told=told) as found:
                if found.already:
                    _say_already(found, as_json)
                    return
                with waiting.paused():
                    _show(home, found, locale, as_json)
                    if not yes and not agreed(_ASK, _DECLINED, err=as_json):
                        raise click.exceptions.Exit(1)
                place(found, YAZ, home, told)
        except RefusedTarget as refused:
            with waiting.paused():
                _show_target(refused.target, locale, as_json)
            raise
    _say_installed(home, found, as_json)


def _show(home: Home, found: Prepared, locale: str | None, as_json: bool) -> None:
    """What the user decides on: all of it, or against a version that was granted, what changes."""
    from yazcore.cli.preview import of_the_shell, show
    from yazcore.manifest.changes import page
    from yazcore.manifest.targets import compare_targets, open_target

    running = next((one for one in look(home)[0] if one.id == found.plugin), None)
    if running is None or not running.ready:
        _show_target(found.target, locale, as_json)
    else:
        before = open_target(found.distribution, YAZ, path=[str(folder) for folder in running.folders])
        changes = compare_targets(before, found.target)
        show(page(before, found.target, changes, YAZ, locale or of_the_shell()), err=as_json)
    click.echo(err=as_json)
    if found.brings:
        click.echo("Into its folder come, beside it:", err=as_json)
        for one in found.brings:
            there = found.host.version(one.name)
            beside = f" (yaz has {there}, and keeps it for itself)" if there is not None else ""
            click.echo(harmless(f"  {one.name} {one.version}{beside}"), err=as_json)
    else:
        click.echo("Nothing else comes with it.", err=as_json)


def _show_target(target: Target, locale: str | None, as_json: bool) -> None:
    from yazcore.cli.preview import of_the_shell, show
    from yazcore.manifest.preview import preview

    show(preview(target, YAZ, locale or of_the_shell()), err=as_json)


def _say_already(found: Prepared, as_json: bool) -> None:
    if as_json:
        print_json({"plugin": found.plugin, "version": found.version, "installed": False, "already": True})
    else:
        say(f"{found.plugin} {found.version} is installed already")


def _say_installed(home: Home, found: Prepared, as_json: bool) -> None:
    now = make_so(home, found.plugin)
    installed = next((one for one in look(home)[0] if one.id == found.plugin), None)
    waits = installed is not None and installed.update is not None
    if as_json:
        print_json({
            "plugin": found.plugin, "version": found.version, "installed": True, "already": False,
            "distribution": found.distribution, "before": found.before_version,
            "brings": {one.name: one.version for one in found.brings}, "live": now.live, "state": now.state,
            "reasons": list(now.reasons), "waits": waits,
        })  # fmt: skip
        return
    say(f"installed {found.plugin} {found.version}, in a folder of its own")
    if installed is None:
        return
    helps = grant_command(found.plugin, installed.to_grant.manifest, installed.runtime == "trusted")
    if installed.update is not None:
        for reason in installed.update.reasons:
            say(harmless(f"  {reason}"))
        say(f"it waits for your yes, and {installed.version} goes on until then: {helps}")
    elif installed.state == "held":
        say(f"it is held until you let it run: {helps}")
    elif installed.state == "disabled":
        say(f"it is switched off: yaz enable {found.plugin}")
    elif now.live and now.state != "active":
        say(harmless(f"it is {now.sentence()}; all of it: yaz show {found.plugin}"))


@click.command()
@plugin_id_argument
@click.option("--yes", is_flag=True, help="Do not ask.")
@format_options
def uninstall(plugin_id: str, yes: bool, as_json: bool) -> None:
    """Remove the plugin ID that yaz install put there, every version of it, and its grant.

    What it has written into its data folder stays. It works for a plugin that is broken, too.
    """
    from yazcore.install import uninstall as take_out
    from yazcore.plugin_folders import plugin_folders

    home = Home()
    question = f"Remove {plugin_id} and its grant?"
    if plugin_folders(home).get(plugin_id) and not yes and not agreed(question, "nothing was removed", err=as_json):
        raise click.exceptions.Exit(1)
    live: list[bool] = []
    take_out(YAZ, home, plugin_id, gone=lambda: live.append(make_so(home, plugin_id).live))
    if as_json:
        print_json({"plugin": plugin_id, "removed": True, "live": live == [True]})
    else:
        say(f"removed {plugin_id} and its grant; its data folder stays")


@click.command()
@plugin_id_argument
@format_options
def rollback(plugin_id: str, as_json: bool) -> None:
    """Go back to the version of the plugin ID that was kept, with what was granted to it. The newer one goes.

    What you have revoked since stays revoked.
    """
    from yazcore.install import rollback as go_back

    home = Home()
    kept = go_back(YAZ, home, plugin_id)
    now = make_so(home, plugin_id)
    if as_json:
        print_json({
            "plugin": plugin_id, "version": kept.version, "live": now.live, "state": now.state,
            "reasons": list(now.reasons),
        })  # fmt: skip
        return
    say(f"{plugin_id} is {kept.version} again")
    if kept.state == "held":
        say(f"it is held until you let it run: {grant_command(plugin_id, kept.manifest, kept.runtime == 'trusted')}")
    elif now.live and now.reasons:
        say(harmless(f"it is {now.sentence()}"))


