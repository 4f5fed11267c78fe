"""`yaz outline`, `compile`, `diagnostics`: one project from the shell, without a server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from yazcore.cli.output import Waiting, format_options, harmless, plugins_aside, print_json, say
from yazcore.home import Home

_folder = click.argument("project", type=click.Path(exists=True, file_okay=False, path_type=Path))


def _on(project: Path, what: str, doing: str) -> dict[str, Any]:
    from yazcore.writing.application import open_writing

    plugins_aside()
    with Waiting(f"{doing} {project.resolve().name}"):
        application = open_writing(Home(), (project,))
        try:
            project_id = application.project(project)
            document: dict[str, Any] = getattr(application, what)(project_id)
        finally:
            application.close()
    return document


@click.command()
@_folder
@format_options
def outline(project: Path, as_json: bool) -> None:
    """Print the outline of PROJECT, from its sources."""
    document = _on(project, "outline", "reading")
    if as_json:
        print_json(document)
        return
    for node in document["nodes"]:
        say(f"{'  ' * (node['level'] - 1)}{harmless(node['title'])}  ({harmless(node['file'])}:{node['line']})")
    if not document["nodes"]:
        say("no headings")


@click.command("compile")
@_folder
@format_options
def compile(project: Path, as_json: bool) -> None:  # noqa: A001
    """Compile PROJECT. Exit status 1 where no PDF came of it."""
    document = _on(project, "compile", "compiling")
    if as_json:
        print_json(document)
    else:
        _print_diagnostics(document)
        if document["pdfPath"] is not None:
            say(harmless(document["pdfPath"]))
    if not document["succeeded"]:
        raise click.exceptions.Exit(1)


@click.command()
@_folder
@format_options
def diagnostics(project: Path, as_json: bool) -> None:
    """Compile PROJECT and print every diagnostic. Exit status 1 where one is an error."""
    document = _on(project, "diagnostics", "compiling")
    if as_json:
        print_json(document)
    else:
        _print_diagnostics(document)
    if document["hasErrors"]:
        raise click.exceptions.Exit(1)


def _print_diagnostics(document: dict[str, Any]) -> None:
    for one in document["diagnostics"]:
        place = f"{one['file']}:{one['line']}:{one['column']}: " if one.get("file") else ""
        say(f"{harmless(place)}{one['severity']}: {harmless(one['message'])}")
        for hint in one.get("hints", ()):
            say(f"    hint: {harmless(hint)}")
    made = "a PDF was made" if document["succeeded"] else "no PDF was made"
    count = len(document["diagnostics"])
    say(f"{made}; {count or 'no'} diagnostic{'' if count == 1 else 's'}")
