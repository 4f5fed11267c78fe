"""What the user may set: what plugins let them choose, and marks on tools; one key, one value (`yaz set`, design 9).

A key is a plugin's id, a dot and the setting (`zotero.bibliography`), or a tool and what is marked of it
(`zotero.tools.cite-item.approval`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import attrs

from yazcore.declarations import SettingDeclaration
from yazcore.home import Home
from yazcore.manifest.contribution_rules import setting_fits
from yazcore.manifest.model import Manifest
from yazcore.manifest.words import did_you_mean
from yazcore.marks import TOOLS, VALUES, read_marks
from yazcore.violations import YazError

Value = str | bool | int | float


@attrs.frozen(kw_only=True)
class Choice:
    """One thing that can be set: `value` is what the user has set, None where that is nothing.

    * `type`: of the value; `default`: what counts where nothing is set.
    * `description_key`: the plugin's message that says what it is for; empty for a mark.
    """

    key: str
    plugin: str
    type: str
    value: Any
    default: Value | None
    description_key: str = ""


def choices(home: Home, manifests: Iterable[Manifest]) -> list[Choice]:
    """Everything that can be set, and every mark there is. Raises `YazError` where the settings are not understood."""
    settings = home.settings()
    marks = read_marks(settings)
    found = []
    for manifest in manifests:
        given = _table(settings, manifest.id)
        found += [
            Choice(
                key=f"{manifest.id}.{one.key}", plugin=manifest.id, type=one.type, value=given.get(one.key),
                default=one.default, description_key=one.description_key,
            )
            for one in manifest.provides.settings
        ]  # fmt: skip
        for tool in manifest.provides.tools:
            mark = marks.get((manifest.id, tool.name))
            said = {"approval": mark is not None and mark.ask, "posture": mark is not None and mark.write}
            declared = {"approval": tool.approval, "posture": tool.posture}
            found += [
                Choice(
                    key=f"{manifest.id}.{TOOLS}.{tool.name}.{what}", plugin=manifest.id, type="string",
                    value=strict, default=declared[what],
                )
                for what, strict in VALUES.items()
                if said[what]
            ]  # fmt: skip
    return found


def _table(settings: dict[str, Any], plugin_id: str) -> dict[str, Any]:
    plugins = settings.get("plugins", {})
    table = plugins.get(plugin_id, {}) if isinstance(plugins, dict) else {}
    return table if isinstance(table, dict) else {}


def set_value(home: Home, manifests: Iterable[Manifest], key: str, text: str) -> Value:
    """Set one key to what the text says, in its own type, and give that.

    Raises `YazError`: `setting-unknown`, `setting-value`, and as `Home.change_settings` does.
    """
    path, setting = _found(manifests, key)
    value = _mark_of(key, path[-1], text) if setting is None else _value_of(key, setting, text)

    def change(document: Any) -> None:
        import tomlkit

        table = document
        for step in path[:-1]:
            if not isinstance(table.get(step), dict):
                table[step] = tomlkit.table(is_super_table=step != path[-2])
            table = table[step]
        table[path[-1]] = value

    home.change_settings(change)
    return value


def unset(home: Home, manifests: Iterable[Manifest], key: str) -> bool:
    """Leave a key to its default, or a tool to its plugin; whether anything was set. Raises as `set_value` does."""
    path, _ = _found(manifests, key)
    changed = False

    def change(document: Any) -> None:
        nonlocal changed
        tables = [document]
        for step in path[:-1]:
            below = tables[-1].get(step)
            if not isinstance(below, dict):
                return
            tables.append(below)
        if path[-1] in tables[-1]:
            del tables[-1][path[-1]]
            changed = True
            for table, step in zip(reversed(tables[:-1]), reversed(path[:-1]), strict=True):
                if table[step]:  # a table that holds nothing is only in the way
                    break
                del table[step]

    home.change_settings(change)
    return changed


def _found(manifests: Iterable[Manifest], key: str) -> tuple[tuple[str, ...], SettingDeclaration | None]:
    """Where a key stands in the file, and what it is: a setting, or with None a mark."""
    known = {manifest.id: manifest for manifest in manifests}
    plugin_id, *rest = key.split(".")
    manifest = known.get(plugin_id)
    if manifest is None:
        raise _unknown(key, f"no plugin {plugin_id!r} is installed", did_you_mean(plugin_id, known))
    settings = {one.key: one for one in manifest.provides.settings}
    tools = [one.name for one in manifest.provides.tools]
    match rest:
        case [name] if name in settings:
            return ("plugins", plugin_id, name), settings[name]
        case ["tools", name, what] if name in tools and what in VALUES:
            return ("plugins", plugin_id, TOOLS, name, what), None
        case ["tools", name, what] if name in tools:
            raise _unknown(key, f"{what!r} is nothing that can be marked", did_you_mean(what, VALUES))
        case ["tools", name, *_]:
            raise _unknown(key, f"{plugin_id} has no tool {name!r}", did_you_mean(name, tools))
    raise _unknown(key, f"{plugin_id} has no setting {'.'.join(rest)!r}", did_you_mean(".".join(rest), settings))


def _unknown(key: str, message: str, fix: str) -> YazError:
    return YazError("setting-unknown", message, fix)


def _mark_of(key: str, what: str, text: str) -> str:
    if text != VALUES[what]:
        raise YazError(
            "setting-value", f'{key} can only be "{VALUES[what]}": a mark makes a tool stricter',
            f"yaz set {key} --unset leaves it to the plugin",
        )  # fmt: skip
    return text


def _value_of(key: str, setting: SettingDeclaration, text: str) -> Value:
    value: Any = text
    if setting.type != "string":
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            value = None
    if not setting_fits(setting, value):
        raise YazError(
            "setting-value", f"{text[:100]!r} is not {_WORDS[setting.type]}, and {key} is {_WORDS[setting.type]}",
            f"write {_EXAMPLES[setting.type]}",
        )  # fmt: skip
    fits: Value = value
    return fits


_WORDS = {"string": "a text", "boolean": "true or false", "integer": "a whole number", "number": "a number"}
_EXAMPLES = {"string": "a text", "boolean": "true or false", "integer": "a number as in 7", "number": "one as in 0.5"}
