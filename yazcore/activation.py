"""Activation: collect, compare, commit or refuse, all or nothing (design 6).

A plugin is started in its runtime, collected in a pluggy manager of its own, and compared with its manifest. Only when
every check has passed does anything of it become visible: its facade joins the shared manager and its contributions
enter the catalogue in one step. A refused plugin leaves nothing behind.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping
from typing import Any

import attrs
import pluggy

from yazcore.catalogue import ActivePlugin, Catalogue, collisions
from yazcore.contract import Contract
from yazcore.differences import WrongReturn, differences, registrations
from yazcore.hookspecs import PROJECT
from yazcore.runtimes.base import (
    UNLOAD_SECONDS,
    CannotIsolate,
    HooksRefused,
    PluginFailed,
    PluginSource,
    RunningPlugin,
    Runtime,
)
from yazcore.runtimes.facade import Failure
from yazcore.violations import Difference, Violation


@attrs.frozen(kw_only=True)
class Activated:
    """The plugin is active."""

    running: RunningPlugin


@attrs.frozen(kw_only=True)
class Refused:
    """The plugin and its manifest disagree, or it uses hooks in a way that is not allowed; nothing of it is left."""

    differences: tuple[Difference, ...] = ()
    violations: tuple[Violation, ...] = ()


@attrs.frozen(kw_only=True)
class Failed:
    """The plugin crashed or did not answer; `failure` is for logs."""

    message: str
    failure: Failure | None = None


@attrs.frozen(kw_only=True)
class Unconfined:
    """The runtime confines its plugins and cannot do it here; `reason` is a sentence without its end."""

    reason: str


Outcome = Activated | Refused | Failed | Unconfined


def collect(running: RunningPlugin, contract: Contract) -> dict[str, tuple[Any, ...]]:
    """What a started plugin's own hooks register, by contribution key.

    They are called through a pluggy manager of their own, so that no other plugin takes part: what one registers can
    never be blamed on, or changed by, another. Raises `PluginFailed`, `WrongReturn`, and pluggy's
    `PluginValidationError`.
    """
    manager = pluggy.PluginManager(PROJECT)
    for specs in contract.hookspecs:
        manager.add_hookspecs(specs)
    manager.register(running.facade)
    manager.check_pending()
    hooks = {kind.hook: getattr(manager.hook, kind.hook) for kind in contract.contribution_kinds}
    return registrations(contract, running.collect(hooks))


class Activation:
    """The only way into the catalogue and the shared hooks."""

    def __init__(self, contract: Contract, catalogue: Catalogue) -> None:
        self._contract = contract
        self._catalogue = catalogue
        self._lock = threading.RLock()
        self.manager = pluggy.PluginManager(PROJECT)
        for specs in contract.hookspecs:
            self.manager.add_hookspecs(specs)

    def activate(
        self, source: PluginSource, runtime: Runtime, *, texts: Mapping[str, str], own: bool, origin: str
    ) -> Outcome:
        """Start, collect, compare, commit. Never raises for anything the plugin does."""
        try:
            running = runtime.start(source)
        except PluginFailed as failed:
            return Failed(message=str(failed), failure=failed.failure)
        except CannotIsolate as why:
            return Unconfined(reason=str(why))
        except HooksRefused as refused:
            return Refused(
                violations=tuple(Violation(fault.code, fault.message, fault.fix) for fault in refused.faults)
            )
        outcome: Outcome | None = None
        try:
            outcome = self._commit(source, running, texts, own, origin)
        finally:
            if not isinstance(outcome, Activated):
                running.close()
        return outcome

    def _commit(
        self, source: PluginSource, running: RunningPlugin, texts: Mapping[str, str], own: bool, origin: str
    ) -> Outcome:
        manifest = source.manifest
        try:
            registered = collect(running, self._contract)
            if found := differences(manifest, self._contract, registered):
                return Refused(differences=found)
            running.hold(
                {
                    (kind.key, kind.registered_name(one)): one
                    for kind in self._contract.contribution_kinds
                    for one in registered[kind.key]
                }
            )
        except PluginFailed as failed:
            return Failed(message=str(failed), failure=failed.failure)
        except WrongReturn as wrong:
            return Failed(message=f"{manifest.id} {manifest.version}: {wrong}")
        except pluggy.PluginValidationError as wrong:
            return Refused(violations=(Violation("hook-parameters", str(wrong), "take only the hook's own arguments"),))
        except Exception as error:  # noqa: BLE001 - comparing looks at objects of the plugin's, which may do anything
            failure = Failure.of(error, manifest.id, manifest.version, "comparing what it registered")
            return Failed(message=str(failure), failure=failure)
        with self._lock:
            if taken := collisions(self._catalogue.now, manifest, own):
                return Refused(differences=tuple(_collision(*one) for one in taken))
            self.manager.register(running.facade, name=manifest.id)
            self._catalogue.add(
                ActivePlugin(manifest=manifest, texts=dict(texts), own=own, origin=origin, running=running)
            )
        try:
            running.run_hook("onload", UNLOAD_SECONDS)
        except PluginFailed as failed:
            self.withdraw(manifest.id)
            return Failed(message=str(failed), failure=failed.failure)
        except BaseException:  # Ctrl-C while it loads
            self.withdraw(manifest.id)
            raise
        return Activated(running=running)

    def unload(self, gone: ActivePlugin, patience: float = math.inf) -> str | None:
        """End a plugin whose names have left: its running calls, then `onunload`. Gives what went wrong, or None.

        It waits for the calls, each until its deadline and all at most `patience` seconds, so whoever calls holds no
        lock.
        """
        gone.running.settle(patience)
        try:
            gone.running.run_hook("onunload", UNLOAD_SECONDS)
        except PluginFailed as failed:
            return str(failed)
        finally:
            gone.running.close()
        return None

    def withdraw(self, plugin_id: str) -> ActivePlugin | None:
        """Make a plugin's names leave the catalogue and the shared hooks; None where it is not active."""
        with self._lock:
            gone = self._catalogue.remove(plugin_id)
            if gone is not None:
                self.manager.unregister(name=plugin_id)
        return gone


def _collision(key: str, name: str, other: str) -> Difference:
    if key == "formats":
        return Difference(
            key, name, "duplicate",
            f"{name!r} already belongs to a format of the active plugin {other!r}",
            "choose another id and other extensions, or switch one of the two plugins off",
            declared=name, registered=name,
        )  # fmt: skip
    return Difference(
        key, name, "duplicate",
        f"{name!r} would have the same exposed name as one of the active plugin {other!r}",
        "rename it: names that differ only in case, '-' and '_' never coexist",
        declared=name, registered=name,
    )  # fmt: skip
