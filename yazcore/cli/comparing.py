"""`yaz diff`: what another version of a plugin asks for, adds, removes and changes. Nothing of either runs."""

from __future__ import annotations

import click

from yazcore.cli.output import format_options, print_json
from yazcore.cli.own_folders import own_folders
from yazcore.writing.contract import SHIPPED, YAZ


@click.command()
@click.argument("old")
@click.argument("new")
@click.option("--locale", metavar="LOCALE", help="The language to say it in; that of your shell if it is not said.")
@format_options
def diff(old: str, new: str, locale: str | None, as_json: bool) -> None:
    """Show what the plugin NEW asks for, adds, removes and changes against OLD, another version of it.

    Each is a wheel, an sdist, a folder, or an installed name. Exit status 1 where the update needs your yes: it asks
    for more, or a tool, resource or prompt is new or changed.
    """
    from yazcore.manifest.changes import page
    from yazcore.manifest.targets import compare_targets, open_target

    before, after = (open_target(one, YAZ, shipped=SHIPPED, extra=own_folders(one)) for one in (old, new))
    found = compare_targets(before, after)
    if as_json:
        print_json(found.as_json())
    else:
        from yazcore.cli.preview import of_the_shell, show

        show(page(before, after, found, YAZ, locale or of_the_shell()))
    if found.needs_consent:
        raise click.exceptions.Exit(1)
