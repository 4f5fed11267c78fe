"""One plugin's context, put together: its broker, services, settings, messages, data folder (design 5)."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from yazcore.capabilities.broker import Broker, GrantedSet
from yazcore.capabilities.brokered import Brokered
from yazcore.capabilities.context import Context, Frame, frame_of
from yazcore.capabilities.denials import DenialLog
from yazcore.capabilities.secrets import Secrets
from yazcore.capabilities.services import RemoteServers, services
from yazcore.home import Home
from yazcore.kinds import Capability, Request
from yazcore.manifest.address_rules import is_media_type
from yazcore.manifest.contribution_rules import setting_fits
from yazcore.manifest.messages import Messages
from yazcore.manifest.model import Manifest
from yazcore.results import LONGEST_SECONDS, RESULT_PREFIX, ResultStore
from yazcore.uri_templates import match
from yazcore.violations import Violation

_WORDS = {"string": "a text", "boolean": "true or false", "integer": "an integer", "number": "a number"}


def make_context(
    manifest: Manifest,
    folder: Path,
    *,
    home: Home,
    granted: Callable[[], GrantedSet],
    denials: DenialLog,
    results: ResultStore,
    locale: str,
    runtime: str = "trusted",
    changed: Callable[[str], None] = lambda uri: None,
    ask: Callable[[Capability, Request, Frame], bool] | None = None,
    servers: RemoteServers | None = None,
    services_of_host: Mapping[str, Callable[[Brokered], Any]] = MappingProxyType({}),
) -> tuple[Context, Broker]:
    """The context of the plugin whose package is `folder`, and the broker that its services ask.

    `granted` gives what it holds at the moment it is asked, so that a revocation counts at the next operation;
    `runtime` is where its code runs, `changed` is told of the plugin's own resources that read differently, and `ask`
    asks the user for what is optional; `services_of_host` is `Contract.services`.
    """
    plugin_id = manifest.id
    data_folder = home.plugin_data(plugin_id)
    broker = Broker(
        plugin=plugin_id,
        version=manifest.version,
        declared=manifest.capabilities,
        granted=granted,
        denials=denials,
        ask=ask,
    )

    def publish(data: bytes, mime: str, ttl: float) -> str:
        principal = frame_of(plugin_id, "publish").call.principal
        _check_export(data, mime, ttl)
        name = principal.name if principal else "nobody"
        return RESULT_PREFIX + results.keep(name, data, mime, ttl, plugin=plugin_id)

    def tell_changed(uri: str) -> None:
        if not isinstance(uri, str) or not _is_own(manifest, uri):
            raise ValueError("changed takes the URI of a resource that the plugin declares")
        changed(uri)

    context = Context(
        plugin=plugin_id,
        version=manifest.version,
        settings=settings_of(manifest, home),
        data_folder=data_folder,
        message=Messages(manifest.locales_in(folder), locale).text,
        log=logging.getLogger(f"yaz.plugins.{plugin_id}"),
        services=services(
            broker=broker, plugin=plugin_id, data_folder=data_folder, secrets=Secrets(home), closed=(home.folder,),
            needs_sandbox=runtime != "trusted", servers=servers, more=services_of_host,
        ),
        publish=publish,
        changed=tell_changed,
    )
    return context, broker


def _is_own(manifest: Manifest, uri: str) -> bool:
    return any(
        uri == one.uri or (one.uri_template is not None and match(one.uri_template, uri) is not None)
        for one in manifest.provides.resources
    )


def _check_export(data: Any, mime: Any, ttl: Any) -> None:
    if not isinstance(data, bytes):
        raise TypeError(f"publish takes bytes, not a {type(data).__name__}")
    if not isinstance(mime, str) or not is_media_type(mime):
        raise ValueError("publish takes a media type in lower case, as in application/pdf")
    if not isinstance(ttl, (int, float)) or not math.isfinite(ttl) or not 0 < ttl <= LONGEST_SECONDS:
        raise ValueError(f"publish keeps for more than 0 and at most {LONGEST_SECONDS:.0f} seconds")


def setting_violations(manifest: Manifest, home: Home) -> list[Violation]:
    """The user's settings for this plugin that are not of the declared type, or no table at all."""
    if (given := _given(manifest, home)) is None:
        return [
            Violation(
                "setting-wrong-type", f"settings.toml: plugins.{manifest.id} is no table",
                f"write the settings below [plugins.{manifest.id}]",
            )
        ]  # fmt: skip
    return [
        Violation(
            "setting-wrong-type",
            f"settings.toml: plugins.{manifest.id}.{setting.key} is not {_WORDS[setting.type]}",
            f"write {_WORDS[setting.type]}, or take the line out",
        )
        for setting in manifest.provides.settings
        if setting.key in given and not setting_fits(setting, given[setting.key])
    ]


def settings_of(manifest: Manifest, home: Home) -> dict[str, Any]:
    """What the user has set for the plugin, with the defaults filled in. Raises `YazError` as `Home.settings` does."""
    given = _given(manifest, home) or {}
    return {setting.key: given.get(setting.key, setting.default) for setting in manifest.provides.settings}


def _given(manifest: Manifest, home: Home) -> dict[str, Any] | None:
    """What the user has set for the plugin; None where that is no table."""
    plugins = home.settings().get("plugins", {})
    given = plugins.get(manifest.id, {}) if isinstance(plugins, dict) else None
    return given if isinstance(given, dict) else None
