"""`yaz registry`: an index of plugins, made from wheels and searched. Nothing of a plugin runs."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from yazcore.cli.output import columns, format_options, harmless, print_json, say
from yazcore.writing.contract import YAZ


@click.group()
def registry() -> None:
    """Make an index of plugins, or look for a plugin in one."""


@registry.command(short_help="Make the index of a folder of wheels.")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path), required=False)
@click.option("--installed", is_flag=True, help="Put in what is installed here, too.")
@click.option(
    "--output", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path),
    help="Write it there; it is printed if this is not said.",
)  # fmt: skip
def build(folder: Path | None, installed: bool, output: Path | None) -> None:
    """Make the index of every wheel below DIR: one JSON document.

    It says of each plugin its versions, what they ask for and add, and what changes between them; its schema is
    docs/registry.schema.json. A wheel that yaz would refuse is left out, and named with what is wrong. Exit status 1
    where anything was left out.
    """
    from yazcore.cli.own_folders import installed_folders
    from yazcore.registry.building import build as build_registry
    from yazcore.registry.document import written

    if folder is None and not installed:
        raise click.UsageError("give the folder of the wheels, or --installed, or both")
    found = build_registry(
        YAZ, folder, installed=sys.path if installed else None, extra=installed_folders() if installed else ()
    )
    if output is None:
        print_json(found.as_json())
    else:
        output.write_text(written(found.as_json()), encoding="utf-8")
        versions = sum(len(plugin.versions) for plugin in found.plugins)
        say(harmless(f"{output} has {len(found.plugins)} plugins in {versions} versions"))
    for one in found.left_out:
        for fault in one.faults:
            click.echo(harmless(f"left out {one.name}: [{fault.code}] {fault.message}. {fault.fix}"), err=True)
    if found.left_out:
        raise click.exceptions.Exit(1)


@registry.command(short_help="Look for a plugin in an index.")
@click.argument("words", metavar="WORD...", nargs=-1, required=True)
@click.option(
    "--index", metavar="FILE", type=click.Path(path_type=Path), required=True, help="What yaz registry build made."
)
@format_options
def search(words: tuple[str, ...], index: Path, as_json: bool) -> None:
    """List the plugins of an index in which every WORD stands: in their names, descriptions, tools, capabilities."""
    from yazcore.registry.searching import load
    from yazcore.registry.searching import search as search_in

    found = search_in(load(index), words)
    if as_json:
        print_json({"matches": [match.as_json() for match in found]})
    elif found:
        columns(
            [(one.id, one.version, one.name, ", ".join(one.where), one.description) for one in found],
            ("ID", "VERSION", "NAME", "FOUND IN", "DESCRIPTION"),
        )
    else:
        click.echo("nothing has all of these words", err=True)
