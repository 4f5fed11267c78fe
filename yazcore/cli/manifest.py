"""`yaz manifest`: what an author does with a manifest."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from yazcore.cli.output import format_options, harmless, print_json
from yazcore.violations import sentence
from yazcore.writing.contract import SHIPPED, YAZ

if TYPE_CHECKING:
    from yazcore.syncing import SyncReport


@click.group()
def manifest() -> None:
    """Write the part of a manifest that the code knows."""


@manifest.command(short_help="Make a manifest declare what the plugin's code registers.")
@click.argument("folder", type=click.Path(path_type=Path), default=Path())
@click.option("--check", "only_check", is_flag=True, help="Change nothing; exit status 1 where something would change.")
@click.option("--prune", is_flag=True, help="Take out what is declared and not registered.")
@format_options
def sync(folder: Path, only_check: bool, prune: bool, as_json: bool) -> None:
    """Make the manifest in FOLDER declare what the plugin's code registers.

    FOLDER is the plugin's package, or the project that holds it; here if it is not said. This runs the plugin's code,
    with all of your own rights.

    Commands, formats, tools with their schemas, resources and prompts that the hooks register are added or updated.
    What only you can know of a new one is proposed or left out, and listed afterwards. Whatever else stands in the
    file stays as it is. Exit status 1 where yaz would refuse the plugin even then.
    """
    from yazcore.syncing import sync_folder

    # What the plugin prints while it is imported must not get between the lines of a report.
    with contextlib.redirect_stdout(sys.stderr):
        report = sync_folder(folder, YAZ, shipped=SHIPPED, prune=prune, write=not only_check)
    if as_json:
        print_json(report.as_json())
    else:
        for line in report.diff if only_check else ():
            click.echo(harmless(line))
        for change in report.changes:
            keys = f": {', '.join(change.keys)}" if change.keys else ""
            click.echo(harmless(f"{change.what} {change.kind} {change.name}{keys}"))
        for violation in report.violations:
            click.echo(harmless(f"{violation.severity}: {sentence(violation)}"))
        for difference in report.differences:
            click.echo(harmless(f"difference: {sentence(difference)}"))
        if report.trace:
            click.echo("\n".join(map(harmless, report.trace.splitlines())), err=True)
        click.echo(_summary(report))
    if report.refuses or (only_check and report.changes):
        raise click.exceptions.Exit(1)


def _summary(report: SyncReport) -> str:
    if not report.asked:
        return "nothing was done: mend this first"
    if report.written:
        done = "manifest.json is written"
    else:
        done = "manifest.json would change" if report.changes else "manifest.json has all that the code registers"
    return f"{done}; the rest is for you to mend" if report.refuses else done
