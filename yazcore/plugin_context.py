"""One plugin's context, put together: its broker, services, settings, messages, data folder (design 5)."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

from yazcore.capabilities.broker import Broker, GrantedSet
from yazcore.capabilities.context import Context, frame_of
from yazcore.capabilities.denials import DenialLog
from yazcore.capabilities.services import services
from yazcore.home import Home
from yazcore.manifest.messages import Messages
from yazcore.manifest.model import Manifest
from yazcore.results import RESULT_PREFIX, ResultStore
from yazcore.violations import Violation

_JSON_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
}


def make_context(
    manifest: Manifest,
    folder: Path,
    *,
    home: Home,
    granted: Callable[[], GrantedSet],
    denials: DenialLog,
    results: ResultStore,
    locale: str,
) -> tuple[Context, Broker]:
    """The context of the plugin whose package is `folder`, and the broker that its services ask.

    `granted` gives what it holds at the moment it is asked, so that a revocation counts at the next operation.
    """
    plugin_id = manifest.id
    data_folder = home.plugin_data(plugin_id)
    broker = Broker(
        plugin=plugin_id,
        version=manifest.version,
        declared=manifest.capabilities,
        granted=granted,
        denials=denials,
    )

    def publish(data: bytes, mime: str, ttl: float) -> str:
        principal = frame_of(plugin_id, "publish").call.principal
        return RESULT_PREFIX + results.keep(principal.name if principal else "nobody", data, mime, ttl)

    context = Context(
        plugin=plugin_id,
        version=manifest.version,
        settings=_settings(manifest, home),
        data_folder=data_folder,
        message=Messages(manifest.locales_in(folder), locale).text,
        log=logging.getLogger(f"yaz.plugins.{plugin_id}"),
        services=services(broker=broker, plugin=plugin_id, data_folder=data_folder, closed=(home.folder,)),
        publish=publish,
    )
    return context, broker


def setting_violations(manifest: Manifest, home: Home) -> list[Violation]:
    """The user's settings for this plugin that are not of the declared type."""
    given = _given(manifest, home)
    return [
        Violation(
            "setting-wrong-type",
            f"settings.toml: plugins.{manifest.id}.{setting.key} is no {setting.type}",
            f"write a {setting.type}, or take the line out",
        )
        for setting in manifest.provides.settings
        if setting.key in given and type(given[setting.key]) not in _JSON_TYPES[setting.type]
    ]


def _settings(manifest: Manifest, home: Home) -> dict[str, Any]:
    given = _given(manifest, home)
    return {setting.key: given.get(setting.key, setting.default) for setting in manifest.provides.settings}


def _given(manifest: Manifest, home: Home) -> dict[str, Any]:
    plugins = home.settings().get("plugins", {})
    given = plugins.get(manifest.id, {}) if isinstance(plugins, dict) else {}
    return given if isinstance(given, dict) else {}
