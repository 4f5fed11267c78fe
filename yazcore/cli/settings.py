"""`yaz set`: what plugins let the user choose, and marks on their tools."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from yazcore.cli.output import columns, format_options, harmless, print_json, say
from yazcore.control import running
from yazcore.home import Home

if TYPE_CHECKING:
    from yazcore.installed import Installed
    from yazcore.user_settings import Choice


@click.command("set")
@click.argument("key", required=False)
@click.argument("value", required=False)
@click.option("--unset", is_flag=True, help="Leave the key to its default.")
@format_options
def set_(key: str | None, value: str | None, unset: bool, as_json: bool) -> None:
    """Set KEY to VALUE; without VALUE show it, without KEY all that can be set.

    KEY is a plugin's setting, as in zotero.bibliography, or a mark on one of its tools: zotero.tools.cite-item.approval
    set to ask has a person approve each call, .posture set to write takes the tool for one that changes things.
    """
    from yazcore.cli.plugins import look
    from yazcore.user_settings import choices, set_value
    from yazcore.user_settings import unset as take_out

    home = Home()
    installed = [one for one in look(home)[0] if one.manifest is not None]
    manifests = [one.manifest for one in installed if one.manifest is not None]
    if unset and (key is None or value is not None):
        raise click.UsageError("--unset takes a KEY and no VALUE")
    if key is not None and unset:
        changed = take_out(home, manifests, key)
        _tell(home, {"key": key, "changed": changed}, f"{key} is {'no longer set' if changed else 'not set'}", as_json)
    elif key is not None and value is not None:
        known = set_value(home, manifests, key, value)
        _tell(home, {"key": key, "value": known}, f"{key} is {_shown(known)}", as_json)
    else:
        _show([one for one in choices(home, manifests) if key in (None, one.key)], installed, as_json)


def _tell(home: Home, document: dict[str, Any], sentence: str, as_json: bool) -> None:
    live = running(home)
    if live is not None:
        live.ask("refresh")
    if as_json:
        print_json({"live": live is not None, **document})
    else:
        say(harmless(f"{sentence}{'' if live is None else '; the running yaz has taken it'}"))


def _show(found: list[Choice], installed: list[Installed], as_json: bool) -> None:
    from yazcore.manifest.messages import Messages

    texts = {
        one.id: Messages(one.manifest.locales_in(one.folder), "en-US") for one in installed if one.manifest is not None
    }

    def described(choice: Choice) -> str:
        return texts[choice.plugin].text(choice.description_key) if choice.description_key else "a mark of yours"

    if as_json:
        print_json({"settings": [
            {
                "key": one.key, "type": one.type, "value": one.value, "default": one.default,
                "description": described(one),
            }
            for one in found
        ]})  # fmt: skip
        return
    if not found:
        say("nothing of that name can be set; yaz set lists what can")
        return
    columns(
        [(one.key, _shown(one.value), _shown(one.default), described(one)) for one in found],
        ("KEY", "SET", "DEFAULT", "WHAT IT IS"),
    )


def _shown(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else json.dumps(value)
