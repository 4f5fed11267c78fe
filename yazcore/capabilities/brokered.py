"""What a host application's own service asks the broker by (design 5: a host adds kinds through its `Contract`)."""

from __future__ import annotations

from typing import NoReturn

from yazcore.capabilities.broker import Broker
from yazcore.capabilities.context import Call, frame_of
from yazcore.kinds import Capability, Request


class Brokered:
    """The broker, for one plugin and whatever call of it runs now.

    Every method raises `NoContext` outside the plugin's code, and `Cancelled` where the call is over.
    """

    def __init__(self, broker: Broker, plugin: str) -> None:
        self._broker = broker
        self.plugin = plugin

    @property
    def call(self) -> Call:
        """The call that runs: its posture, what its scope's id resolved to, until when."""
        return frame_of(self.plugin, "the host's own service").call

    def require(self, request: Request) -> Capability:
        """The granted capability that allows the request. Raises `CapabilityError`, recorded, where none does."""
        return self._broker.require(request, frame_of(self.plugin, request.kinds[0]))

    def refuse(self, capability: Capability, target: str, detail: str = "") -> NoReturn:
        """Refuse, `out-of-scope`, what only the service could see; recorded. `detail` holds no path of this machine."""
        frame = frame_of(self.plugin, capability.kind)
        self._broker.refuse(frame, capability.kind, target, "out-of-scope", detail)
