"""The user's settings in a test, written as a user writes them: `settings.toml`."""

from __future__ import annotations

import json
from collections.abc import Mapping

from yazcore.home import Home


def write_settings(home: Home, plugin_id: str, settings: Mapping[str, str | bool | int | float]) -> None:
    """Write the values of one plugin's settings. Raises `TypeError` for a value that a setting cannot have."""
    for key, value in settings.items():
        if type(value) not in (str, bool, int, float):
            raise TypeError(f"{key} is a {type(value).__name__}; a setting is text, true or false, or a number")
    if settings:
        lines = [f"{json.dumps(key)} = {_toml(value)}\n" for key, value in settings.items()]
        home.write_text("settings.toml", f"[plugins.{json.dumps(plugin_id)}]\n" + "".join(lines))


def _toml(value: str | bool | int | float) -> str:
    # Text of JSON is text of TOML, but for the one control character that JSON lets stand.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
