"""What every runtime offers, wherever it runs plugin code."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import attrs

from yazcore.capabilities.context import Call, Context, Frame
from yazcore.capabilities.errors import Cancelled, CapabilityError, NoContext, ServiceError
from yazcore.contract import Contract
from yazcore.contributions import ToolError
from yazcore.manifest.model import Manifest
from yazcore.runtimes.facade import Facade, Failure, HookFault
from yazcore.runtimes.values import NotPortable, TooLarge

if TYPE_CHECKING:
    from yazcore.runtimes.watching import Watch

_KEPT = (CapabilityError, ServiceError, NoContext, Cancelled, NotPortable, TooLarge)

STARTING_SECONDS = 10.0
"""How long import, constructor and each collecting hook may take (design 6)."""

UNLOAD_SECONDS = 5.0
"""How long `onunload` may take (design 6)."""

CLEANUP_SECONDS = 1.0
"""How long the calls of a plugin that is taken out may still take when they were told to end."""


@attrs.frozen(kw_only=True, eq=False)
class PluginSource:
    """All a runtime needs to start one plugin.

    `folder` is the plugin's package; `make` builds the plugin object where the host itself supplies it (its own
    plugin), else the manifest's `module` names the class. `folders` are those that only this plugin has on its path:
    a worker before everything that the host has installed, this process at the end. `.pth` files in them are not read.
    `watch` looks at what its own code does in this process, where the host wants that (`watching`).
    `failed` is told, in a thread of the runtime's, of a plugin that cannot go on, and why.
    """

    manifest: Manifest
    folder: Path
    context: Context
    contract: Contract
    make: Callable[[Context], object] | None = None
    folders: tuple[Path, ...] = ()
    watch: Watch | None = None
    failed: Callable[[RunningPlugin, str], None] = lambda running, reason: None


class PluginFailed(Exception):
    """A plugin crashed or did not answer while it was started. `failure` holds its exception, where it raised one."""

    def __init__(self, message: str, failure: Failure | None = None) -> None:
        super().__init__(message)
        self.failure = failure


class CannotIsolate(Exception):
    """No worker can be confined here; the text says why, as a sentence without its end."""


class HooksRefused(Exception):
    """A plugin implements hooks in a way the contract does not allow; `faults` names every one."""

    def __init__(self, faults: tuple[HookFault, ...]) -> None:
        super().__init__("; ".join(fault.message for fault in faults))
        self.faults = faults


class HandlerFailed(Exception):
    """A handler crashed. `failure` is for logs: a caller gets a reference, never this text (design 7)."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(str(failure))
        self.failure = failure


def handler_error(error: BaseException, frame: Frame) -> Exception:
    """What a handler raised, as the host may see it. To be called inside the plugin's frame.

    `ToolError` keeps its text, refusals of services and values stay themselves; everything else is `HandlerFailed`, so
    that no code of the plugin (a subclass, a `__str__`) travels with it.
    """
    if isinstance(error, ToolError):
        return ToolError(Failure.of(error, frame.plugin, frame.version, frame.where).message)
    if type(error) in _KEPT:
        return error  # type: ignore[return-value]
    return HandlerFailed(Failure.of(error, frame.plugin, frame.version, frame.where))


class RunningPlugin(Protocol):
    """One plugin, started: its code imported and its object made, whatever the runtime."""

    @property
    def facade(self) -> Facade:
        """What pluggy holds."""

    @property
    def failures(self) -> list[Failure]:
        """What its hooks raised so far, oldest first; bounded."""

    def collect(self, hooks: Mapping[str, Callable[[], Any]]) -> dict[str, Any]:
        """Call the collecting hooks, each within `STARTING_SECONDS`, and give what each returned.

        Raises `PluginFailed` where one raises or does not answer.
        """

    def hold(self, registrations: Mapping[tuple[str, str], Any]) -> None:
        """Keep the accepted registrations by (contribution key, name): what `submit` can run."""

    def submit(self, key: str, name: str, field: str, call: Call, *args: Any) -> Future[Any]:
        """Run one handler of one contribution in its own task, in the plugin's frame.

        `args` are plain data, and so is the future's result (a tool's is an `Answer`). The future raises `ToolError`,
        `CapabilityError`, `ServiceError`, `NoContext`, `Cancelled`, `NotPortable` or `HandlerFailed`. Cancelling it
        cancels an async handler; a sync one is told through `call.cancelled`.
        """

    def run_hook(self, hook: str, seconds: float) -> None:
        """Run this plugin's own implementations of `onload` or `onunload`. Raises `PluginFailed`."""

    def settle(self, most: float = math.inf) -> None:
        """Take no more calls, and wait for those that run: each until it ends or its deadline is over.

        A call that nobody waits for any more, or that has no deadline, is told at once; all together have at most
        `most` seconds. Whatever was told has `CLEANUP_SECONDS` more.
        """

    def close(self) -> None:
        """Let go of everything: threads, loops, processes. What still runs is cut."""


class Runtime(Protocol):
    """A way to run plugin code."""

    @property
    def name(self) -> str:
        """`trusted` or `isolated`."""

    @property
    def confinement(self) -> str:
        """What holds plugin code in this runtime, in a few words for `yaz plugins`."""

    def start(self, source: PluginSource) -> RunningPlugin:
        """Import and construct the plugin.

        Raises `PluginFailed` where that raises or takes longer than `STARTING_SECONDS`, `HooksRefused` where its hooks
        are not of the allowed form, and `CannotIsolate` where the runtime confines and cannot.
        """

    def close(self) -> None:
        """Let go of what its plugins share."""


@runtime_checkable
class Confining(Runtime, Protocol):
    """A runtime that confines plugin code, where the system can."""

    def why_not(self) -> str | None:
        """Why it cannot here, as a sentence without its end; None where it can."""
