"""`yaz preview`: what a plugin asks for and adds, before it is installed. Nothing of it runs."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from yazcore.cli.output import format_options, harmless, print_json, stream
from yazcore.cli.own_folders import own_folders
from yazcore.violations import errors
from yazcore.writing.contract import SHIPPED, YAZ

if TYPE_CHECKING:
    from rich.console import Console

    from yazcore.manifest.looking import Target
    from yazcore.manifest.preview import Entry, Preview

_STYLES = {"sensitive": "bold yellow", "warning": "bold yellow", "error": "bold red", "": ""}
_MARKS = {"sensitive": "! ", "warning": "! ", "error": "x ", "": "- "}
_SAID = "| "


@click.command()
@click.argument("target")
@click.option("--locale", metavar="LOCALE", help="The language to say it in; that of your shell if it is not said.")
@format_options
def preview(target: str, locale: str | None, as_json: bool) -> None:
    """Show what the plugin TARGET asks for and adds: a wheel, an sdist, a folder, or an installed name.

    Nothing of it runs, and nothing is unpacked. Exit status 1 where yaz would refuse the plugin.
    """
    from yazcore.manifest.targets import open_target

    looked_at = open_target(target, YAZ, shipped=SHIPPED, extra=own_folders(target))
    found = _findings(looked_at)
    if as_json:
        names = ("errors", "suspicions", "waived")
        print_json({**looked_at.as_json(), "findings": dict(zip(names, found, strict=True))})
    else:
        from yazcore.manifest.preview import preview as page_of

        show(page_of(looked_at, YAZ, locale or of_the_shell(), found))
    if errors(looked_at.violations):
        raise click.exceptions.Exit(1)


def _findings(target: Target) -> tuple[int, int, int]:
    """How many findings the design rules have: errors, suspicions, waived."""
    from yazcore.design_rules.plugins import counts_of

    counts = counts_of(target, YAZ)
    return counts.errors, counts.suspicions, counts.waived


def of_the_shell() -> str:
    """The language that the shell asks programs to speak (POSIX)."""
    return next((value for name in ("LC_ALL", "LC_MESSAGES", "LANG") if (value := os.environ.get(name))), "en-US")


def show(page: Preview, *, err: bool = False) -> None:
    """Print the page, on standard error with `err`. What the plugin says stands behind a bar, and only that does."""
    from rich.console import Console

    console = Console(file=sys.stderr if err else stream(), highlight=False, markup=False, emoji=False)
    _line(console, "", page.title, "bold")
    for fact in page.facts:
        _line(console, "  ", fact)
    for said in page.said:
        _line(console, f"  {_SAID}", said, "italic")
    for section in page.sections:
        console.print()
        _line(console, "", section.heading, "bold")
        for entry in section.entries:
            _entry(console, entry)
    console.print()
    _line(console, "", page.verdict, "bold red" if page.refused else "bold")


def _entry(console: Console, entry: Entry) -> None:
    _line(console, f"  {_MARKS[entry.mark]}", entry.text, _STYLES[entry.mark])
    for fact in entry.facts:
        _line(console, "      ", fact)
    for said in entry.said:
        _line(console, f"      {_SAID}", said, "italic")


def _line(console: Console, prefix: str, text: str, style: str = "") -> None:
    """One line, wrapped where a terminal shows it; every further line has the prefix's bar, but not its mark."""
    from rich.text import Text

    further = prefix if prefix.endswith(_SAID) else " " * len(prefix)
    for number, piece in enumerate(_pieces(console, harmless(text), len(prefix))):
        console.print(Text(prefix if number == 0 else further).append(piece, style), soft_wrap=True)


def _pieces(console: Console, text: str, indent: int) -> Iterator[str]:
    if not console.is_terminal:
        yield text
        return
    from rich.text import Text

    for line in Text(text).wrap(console, max(20, console.width - indent)):
        yield line.plain.rstrip()
