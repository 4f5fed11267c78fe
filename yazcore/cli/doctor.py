"""`yaz doctor`: what is wrong with the installation. No plugin runs, and nothing broken keeps it from working."""

from __future__ import annotations

import click

from yazcore.cli.output import format_options, harmless, print_json, safe_mode_option, say
from yazcore.control import running
from yazcore.home import Home
from yazcore.violations import YazError
from yazcore.writing.contract import FOLDER, SHIPPED, YAZ


@click.command()
@safe_mode_option
@format_options
def doctor(safe_mode: bool, as_json: bool) -> None:
    """Say what is wrong with the installation, and how to mend it: exit status 1 where something is.

    Every distribution that is skipped and every plugin that is refused, with the reason; broken files and libraries;
    where yaz looks for plugins, and what it installs with.
    """
    from yazcore.doctor import Problem, diagnose

    home = Home()
    found = diagnose(YAZ, home, own=FOLDER, builtin=SHIPPED, discover=not safe_mode)
    problems = list(found.problems)
    live = None
    try:
        live = running(home)
    except YazError as error:
        problems.append(Problem("run.json", error.code, error.message, error.fix))
    if as_json:
        print_json({"live": live is not None, **found.as_json(), "problems": [one.as_json() for one in problems]})
    else:
        say(harmless(f"python:    {found.python}"))
        say(harmless(f"keeps:     {found.home}"))
        for folder, count in found.path:
            say(harmless(f"looks in:  {folder} ({count} distributions)"))
        say(f"           plugins in YAZ_HOME ({found.folders} versions)")
        say(harmless(f"installs:  {found.installer or 'with nothing'}"))
        say(f"runs:      {'yes' if live is not None else 'no'}")
        for plugin, why in found.waiting:
            say(harmless(f"waits:     {plugin}: {why}; yaz show {plugin} says what helps"))
        for one in problems:
            say(harmless(f"wrong:     {one.subject}: [{one.code}] {one.message}"))
            say(harmless(f"           {one.fix}"))
        if not problems:
            say("nothing is wrong")
    if problems:
        raise click.exceptions.Exit(1)
