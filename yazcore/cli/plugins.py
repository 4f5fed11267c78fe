"""`yaz plugins`, `yaz show`: what is installed. Nothing of a plugin runs; a running yaz answers for itself."""

from __future__ import annotations

from typing import Any

import click

from yazcore.capabilities.grants import Grants
from yazcore.cli.output import columns, format_options, harmless, print_json
from yazcore.control import running
from yazcore.home import Home
from yazcore.installed import Installed, survey
from yazcore.manifest.discovery import Skipped
from yazcore.violations import YazError
from yazcore.writing.contract import FOLDER, SHIPPED, YAZ


def look(home: Home) -> tuple[tuple[Installed, ...], tuple[Skipped, ...]]:
    """Everything installed for yaz, without running any of it."""
    return survey(YAZ, Grants(home), own=FOLDER, builtin_folders=SHIPPED)


def listing(home: Home) -> dict[str, Any]:
    """`yaz plugins --json`: from the running yaz where there is one, else from the manifests alone."""
    if (live := running(home)) is not None:
        answer: dict[str, Any] = live.ask("plugins")
        return answer
    found, skipped = look(home)
    return {
        "live": False,
        "plugins": [one.as_json() for one in found],
        "skipped": [
            {"distribution": one.distribution, "code": one.code, "message": one.message, "fix": one.fix}
            for one in skipped
        ],
    }


@click.command()
@format_options
def plugins(as_json: bool) -> None:
    """List what is installed: state, runtime, tools."""
    document = listing(Home())
    if as_json:
        print_json(document)
        return
    columns(
        [
            (one["id"], one["version"], one["state"], one["runtime"], str(len(one["tools"])), _why(one))
            for one in document["plugins"]
        ],
        ("ID", "VERSION", "STATE", "RUNTIME", "TOOLS", "WHY"),
    )
    for one in document["skipped"]:
        click.echo(harmless("skipped {distribution}: [{code}] {message}. {fix}".format(**one)))


def _why(one: dict[str, Any]) -> str:
    if one["violations"] and one["state"] == "refused":
        return f"{len(one['violations'])} violations, first: {one['violations'][0]['message']}"
    if one["differences"]:
        return f"{len(one['differences'])} differences, first: {one['differences'][0]['message']}"
    return "; ".join(one["reasons"])


@click.command()
@click.argument("plugin_id", metavar="ID")
@format_options
def show(plugin_id: str, as_json: bool) -> None:
    """Show one plugin: what it may do, what it adds, what is wrong with it."""
    home = Home()
    document = listing(home)
    found = next((one for one in document["plugins"] if one["id"] == plugin_id), None)
    if found is None:
        known = ", ".join(one["id"] for one in document["plugins"])
        raise YazError("unknown-plugin", f"no plugin {plugin_id!r} is installed", f"installed are {known or 'none'}")
    if as_json:
        print_json({"live": document["live"], **found})
        return
    installed = next((one for one in look(home)[0] if one.id == plugin_id), None)
    _show(found, installed)


def _show(found: dict[str, Any], installed: Installed | None) -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)

    def line(label: str, text: str) -> None:
        console.print(Text(f"{label:<14}", style="bold").append(harmless(text), style="not bold"))

    line("plugin", f"{found['name']} ({found['id']}) {found['version']}")
    line("state", found["state"])
    line("runtime", f"{found['runtime']}: {found['confinement']}")
    for reason in found["reasons"]:
        line("why", reason)
    manifest = None if installed is None else installed.manifest
    if manifest is not None and installed is not None:
        from yazcore.manifest.messages import Messages

        messages = Messages(manifest.locales_in(installed.folder))
        line("description", manifest.description)
        for capability in sorted(manifest.capabilities, key=lambda one: not one.sensitive):
            reason = f" ({messages.text(capability.reason_key)})" if capability.reason_key else ""
            line("asks for", f"{capability.sentence()}{', when first used' if capability.optional else ''}{reason}")
        for tool in manifest.provides.tools:
            line(
                "tool", f"{tool.name}: {tool.posture}, {tool.scope}, needs {tool.permission}, approval {tool.approval}"
            )
            line("", messages.text(tool.description_key))
    for violation in found["violations"]:
        line(
            violation["severity"],
            f"{violation['pointer']} [{violation['code']}] {violation['message']}. {violation['fix']}",
        )
    for difference in found["differences"]:
        line("difference", f"{difference['message']}. {difference['fix']}")
