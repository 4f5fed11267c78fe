"""The `isolated` runtime: one zygote for all of a host's isolated plugins, one worker for each (design 5).

Where the kernel cannot hold a worker, it refuses and says why; it never runs plugin code in another way.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from yazcore.confinement.process import Policy
from yazcore.runtimes.base import CannotIsolate, PluginSource
from yazcore.runtimes.isolated import generation, reach
from yazcore.runtimes.isolated.clock import Clock
from yazcore.runtimes.isolated.generation import Generation, Held
from yazcore.runtimes.isolated.link import Gone, Link
from yazcore.runtimes.isolated.plugin import IsolatedPlugin
from yazcore.runtimes.isolated.spawner import NoZygote, Zygote
from yazcore.runtimes.isolated.strikes import Strikes


class IsolatedRuntime:
    """Runs each plugin in a worker of its own.

    * `policy`: the limits of a worker; the folders are added for each.
    * `strikes`: makes the count of a plugin's ends.
    """

    name = "isolated"

    def __init__(self, policy: Policy | None = None, strikes: Callable[[], Strikes] = Strikes) -> None:
        self._policy = policy if policy is not None else Policy()
        self._strikes = strikes
        self._clock = Clock()
        self._lock = threading.Lock()
        self._reach: reach.Reach | None = None
        self._zygote: Zygote | None = None
        self._held: Held | None = None
        self._closed = False

    @property
    def confinement(self) -> str:
        """What the kernel holds workers by, as the last one that was started found it."""
        if self._held is None:
            return "not running"
        return f"Landlock {self._held.landlock}, seccomp ({self._held.seccomp} instructions), resource limits"

    def why_not(self) -> str | None:
        """Why no worker can be confined here, as a sentence without its end; None where it can. Asks the kernel."""
        try:
            self._living()
        except NoZygote as none:
            return str(none)
        return None

    def start(self, source: PluginSource) -> IsolatedPlugin:
        """Start a worker, import and construct the plugin there. Raises `CannotIsolate` where none can be confined."""
        try:
            plugin = IsolatedPlugin(source, lambda ended: self._begin(source, ended), self._clock, self._strikes())
        except NoZygote as none:
            raise CannotIsolate(str(none)) from None
        self._held = plugin.held
        return plugin

    def close(self) -> None:
        """End the zygote, and with it every worker that is left."""
        with self._lock:
            self._closed = True
            zygote, self._zygote = self._zygote, None
        if zygote is not None:
            zygote.close()
        self._clock.close()

    def _begin(self, source: PluginSource, ended: Callable[[Link, Gone], None]) -> Generation:
        zygote = self._living()

        def told(link: Link, gone: Gone) -> None:
            # A zygote takes all its workers with it, and that is no fault of theirs.
            ended(link, gone if zygote.alive else Gone("the process that workers come from is gone", fault=False))

        common = self._reach
        assert common is not None, "whoever made the zygote computed it"
        return generation.begin(source, zygote.spawn, common, self._policy, told)

    def _living(self) -> Zygote:
        """The zygote; a new one where there is none. Raises `NoZygote`."""
        with self._lock:
            if self._closed:
                raise NoZygote("the runtime is closed")
            if self._zygote is None or not self._zygote.alive:
                if self._reach is None:
                    self._reach = reach.common()
                self._zygote = Zygote(self._reach)
            return self._zygote
