"""A plugin is run for a moment and asked what it contributes: the half of `yaz check` and `manifest sync` that runs it.

It is imported, made and asked in this process, in the trusted runtime and with all of this user's rights; `onload` is
left out, and nothing of it is left running.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pluggy

from yazcore.activation import collect
from yazcore.capabilities.denials import DenialLog
from yazcore.capabilities.standing import granted_set
from yazcore.contract import Contract
from yazcore.differences import WrongReturn
from yazcore.home import Home
from yazcore.manifest.model import Manifest
from yazcore.plugin_context import make_context
from yazcore.results import ResultStore
from yazcore.runtimes.base import HooksRefused, PluginFailed, PluginSource
from yazcore.runtimes.trusted import TrustedRuntime
from yazcore.violations import Violation


class NotAsked(Exception):
    """The plugin could not be asked what it contributes; `trace` is for its author's terminal only."""

    def __init__(self, *violations: Violation, trace: str = "") -> None:
        super().__init__()
        self.violations = violations
        self.trace = trace


def registered(manifest: Manifest, package: Path, contract: Contract) -> dict[str, tuple[Any, ...]]:
    """What the hooks of the plugin in `package` return, by contribution key, as `activation.collect` gives it.

    The plugin has default settings, an empty data folder, all it requires granted, and no place bound. Raises
    `NotAsked` with every violation that its code shows.
    """
    with tempfile.TemporaryDirectory(prefix="yaz-asking-") as scratch:
        home = Home(Path(scratch))
        context, _ = make_context(
            manifest,
            package,
            home=home,
            granted=lambda: granted_set(manifest, None, "builtin"),
            denials=DenialLog(home),
            results=ResultStore(),
            locale="en-US",
            services_of_host=contract.services,
        )
        source = PluginSource(manifest=manifest, folder=package, context=context, contract=contract)
        try:
            running = TrustedRuntime().start(source)
            try:
                return collect(running, contract)
            finally:
                running.close()
        except PluginFailed as failed:
            trace = failed.failure.trace if failed.failure is not None else ""
            fix = "mend what it raised; until it starts, nobody knows what it contributes"
            raise NotAsked(Violation("plugin-failed", str(failed), fix), trace=trace) from None
        except HooksRefused as refused:
            raise NotAsked(*(Violation(one.code, one.message, one.fix) for one in refused.faults)) from None
        except WrongReturn as wrong:
            fix = "return a list of the objects that the hook is for"
            message = f"{manifest.id} {manifest.version}: {wrong}"
            raise NotAsked(Violation("hook-return", message, fix)) from None
        except pluggy.PluginValidationError as wrong:
            raise NotAsked(Violation("hook-parameters", str(wrong), "take only the hook's own arguments")) from None
