"""`yaz plugins`, `yaz show`: what is installed. Nothing of a plugin runs; a running yaz answers for itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from yazcore.capabilities.grants import Grants
from yazcore.capabilities.places import suggestions
from yazcore.capabilities.standing import granted_set
from yazcore.cli.output import columns, format_options, harmless, paragraph, print_json, safe_mode_option, say
from yazcore.control import running
from yazcore.home import Home
from yazcore.installed import Installed, survey
from yazcore.manifest.discovery import Skipped
from yazcore.manifest.model import Manifest
from yazcore.plugin_folders import plugin_folders
from yazcore.plugin_status import NOT_POSSIBLE
from yazcore.violations import YazError
from yazcore.writing.contract import FOLDER, SHIPPED, YAZ


def look(home: Home, safe_mode: bool = False) -> tuple[tuple[Installed, ...], tuple[Skipped, ...]]:
    """Everything installed for yaz, by id, without running any of it; with `safe_mode` only what ships with it."""
    found, skipped = survey(
        YAZ, Grants(home), own=FOLDER, builtin_folders=SHIPPED, discover_installed=not safe_mode,
        plugin_folders={} if safe_mode else plugin_folders(home),
    )  # fmt: skip
    return tuple(sorted(found, key=lambda one: one.id)), skipped


def unknown_plugin(plugin_id: str, known: Sequence[str]) -> YazError:
    """The fault that no plugin of that id is installed."""
    return YazError(
        "unknown-plugin", f"no plugin {plugin_id!r} is installed", f"installed are {', '.join(known) or 'none'}"
    )


def listing(home: Home, safe_mode: bool = False) -> tuple[dict[str, Any], tuple[Installed, ...] | None]:
    """`yaz plugins --json`: from the running yaz where there is one, else from the manifests, which come along."""
    if not safe_mode and (live := running(home)) is not None:
        return live.ask("plugins"), None
    found, skipped = look(home, safe_mode)
    document = {
        "live": False,
        "plugins": [one.as_json() for one in found],
        "skipped": [
            {"distribution": one.distribution, "code": one.code, "message": one.message, "fix": one.fix}
            for one in skipped
        ],
    }
    return document, found


@click.command()
@safe_mode_option
@format_options
def plugins(safe_mode: bool, as_json: bool) -> None:
    """List what is installed: state, runtime, tools."""
    home = Home()
    document, found = listing(home, safe_mode)
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
    lines = [f"{plugin_id}: {way}" for plugin_id, _, way in ways_in(document["plugins"], home, found)]
    lines += waiting(document["plugins"], home, found)
    lines += [
        harmless("skipped {distribution}: [{code}] {message}. {fix}".format(**one)) for one in document["skipped"]
    ]
    if lines:
        say("\n".join(lines))


def _why(one: dict[str, Any]) -> str:
    if one["violations"] and one["state"] == "refused":
        return f"{_number(one['violations'], 'violation')}, first: {one['violations'][0]['message']}"
    if one["differences"]:
        return f"{_number(one['differences'], 'difference')}, first: {one['differences'][0]['message']}"
    return "; ".join(one["reasons"])


def _number(faults: Sequence[object], what: str) -> str:
    return f"{len(faults)} {what}{'' if len(faults) == 1 else 's'}"


def ways_in(
    statuses: Sequence[dict[str, Any]], home: Home, found: Sequence[Installed] | None = None
) -> list[tuple[str, str, str]]:
    """For each plugin that is neither active nor allowed: its id, its state and why, and the command that helps.

    `found` is what is installed, where somebody has looked already.
    """
    out = [one for one in statuses if one["state"] not in ("active", "allowed")]
    if not out:
        return []
    manifests = {one.id: one.manifest for one in (look(home)[0] if found is None else found)}
    return [
        (one["id"], harmless(f"{one['state']}: {_why(one)}"), _what_helps(one, manifests.get(one["id"]))) for one in out
    ]


def waiting(statuses: Sequence[dict[str, Any]], home: Home, found: Sequence[Installed] | None = None) -> list[str]:
    """For each plugin of which a newer version waits: why, and what helps. `found` is as in `ways_in`."""
    waits = [one for one in statuses if one["update"] is not None]
    if not waits:
        return []
    manifests = {one.id: one.to_grant.manifest for one in (look(home)[0] if found is None else found)}
    return [harmless(_waits(one, manifests.get(one["id"]))) for one in waits]


def _waits(status: dict[str, Any], manifest: Manifest | None) -> str:
    plugin_id, update = status["id"], status["update"]
    why = "; ".join(update["reasons"])
    match update["state"]:
        case "waiting":
            return f"{plugin_id}: {update['version']} is installed; {why}"
        case "held":
            helps = f"{grant_command(plugin_id, manifest, status['runtime'] == 'trusted')} lets it run"
        case _:
            helps = f"yaz rollback {plugin_id} removes it"
    return f"{plugin_id}: {update['version']} is installed and {update['state']}: {why}; {helps}"


def _what_helps(status: dict[str, Any], manifest: Manifest | None) -> str:
    match status["state"]:
        case "held":
            is_trusted = status["runtime"] == "trusted" or status["confinement"].startswith(NOT_POSSIBLE)
            return f"{grant_command(status['id'], manifest, is_trusted)} lets it run"
        case "disabled":
            return f"yaz enable {status['id']} lets it run"
    return f"yaz show {status['id']} says all of it"


def grant_command(plugin_id: str, manifest: Manifest | None, trusted: bool = False) -> str:
    """The very command that lets a plugin run, with a place for each folder that it cannot find by itself.

    `trusted`: it can only run so, or the user has chosen that before.
    """
    places = {} if manifest is None else suggestions(manifest)
    unbound = [f" --place {name}=FOLDER" for name, folder in places.items() if folder is None]
    return f"yaz grant {plugin_id}{' --trusted' if trusted else ''}{''.join(unbound)}"


@click.command()
@click.argument("plugin_id", metavar="ID")
@format_options
def show(plugin_id: str, as_json: bool) -> None:
    """Show one plugin: what it may do, what it adds, what is wrong with it."""
    home = Home()
    document, there = listing(home)
    found = next((one for one in document["plugins"] if one["id"] == plugin_id), None)
    if found is None:
        raise unknown_plugin(plugin_id, [one["id"] for one in document["plugins"]])
    if as_json:
        print_json({"live": document["live"], **found})
        return
    installed = next((one for one in (look(home)[0] if there is None else there) if one.id == plugin_id), None)
    _show(found, installed, home)


def _show(found: dict[str, Any], installed: Installed | None, home: Home) -> None:
    paragraph("plugin", f"{found['name']} ({found['id']}) {found['version']}")
    paragraph("state", found["state"])
    paragraph("runtime", f"{found['runtime']}: {found['confinement']}")
    for reason in found["reasons"]:
        paragraph("why", reason)
    for line in waiting([found], home):
        paragraph("update", line)
    manifest = None if installed is None else installed.manifest
    if found["state"] not in ("active", "allowed", "refused", "failed"):
        paragraph("what helps", _what_helps(found, manifest))
    if manifest is not None and installed is not None:
        _show_manifest(manifest, installed, home)
    for violation in found["violations"]:
        text = f"{violation['pointer']} [{violation['code']}] {violation['message']}. {violation['fix']}"
        paragraph(violation["severity"], text)
    for difference in found["differences"]:
        paragraph("difference", f"{difference['message']}. {difference['fix']}")


def _show_manifest(manifest: Manifest, installed: Installed, home: Home) -> None:
    from yazcore.manifest.messages import Messages

    text = Messages(manifest.locales_in(installed.folder)).text
    grant = Grants(home).get(manifest.id)
    held = granted_set(manifest, grant, installed.origin)
    paragraph("author", manifest.author)
    paragraph("description", manifest.description)
    for capability in sorted(manifest.capabilities, key=lambda one: not one.sensitive):
        if capability.identity in held.denied:
            standing = "revoked"
        elif held.holds(capability):
            standing = "granted"
        else:
            standing = "optional, not granted" if capability.optional else "not granted"
        reason = f"\n{text(capability.reason_key)}" if capability.reason_key else ""
        paragraph("may" if standing == "granted" else "asks to", f"{capability.sentence()} [{standing}]{reason}")
    for name, folder in held.places.items():
        paragraph("place", f"{name} is {folder}")
    for command in manifest.provides.commands:
        paragraph("command", f"yaz run {manifest.id} {command.id}: {text(command.name_key)}")
    for form in manifest.provides.formats:
        paragraph("format", f"{form.id} ({', '.join(form.extensions)}): {text(form.name_key)}")
    for tool in manifest.provides.tools:
        needs = f"{tool.posture}, {tool.scope}, needs {tool.permission}, approval {tool.approval}"
        paragraph("tool", f"{tool.name}: {needs}\n{text(tool.description_key)}")
    for resource in manifest.provides.resources:
        paragraph("resource", f"{resource.address}: {resource.scope}, needs {resource.permission}")
    for prompt in manifest.provides.prompts:
        paragraph("prompt", f"{prompt.name}: {prompt.scope}, needs {prompt.permission}")
    for setting in manifest.provides.settings:
        paragraph("setting", f"{setting.key} ({setting.type}): {text(setting.description_key)}")
