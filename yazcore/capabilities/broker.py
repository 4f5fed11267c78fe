"""The broker: whether a plugin may do one thing now, and why not (Y-11 to Y-20, design 5).

`decide` is pure. A `Broker` asks it on behalf of one plugin, records every refusal and raises it; what is allowed
leaves no record. Services call `require` before they touch anything, and `refuse` for what only they can see.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

import attrs

from yazcore.capabilities.context import Frame
from yazcore.capabilities.denials import DenialLog
from yazcore.capabilities.errors import CapabilityError, NoContext, Reason
from yazcore.capabilities.grants import GrantedSet
from yazcore.declarations import Posture
from yazcore.kinds import Capability, Request
from yazcore.kinds.causes import Cause
from yazcore.violations import YazError

__all__ = ["Broker", "GrantedSet", "Refusal", "decide"]

READ_POSTURE = "it runs with posture read, which changes nothing"

_log = logging.getLogger(__name__)


@attrs.frozen(kw_only=True)
class Refusal:
    """Why not: the capability kind it is about, the reason, what more there is to say, and the cause in a word.

    `open`: the optional capability that would allow it and that nobody has decided on yet; None: there is none.
    """

    kind: str
    reason: Reason
    detail: str = ""
    cause: Cause = ""
    open: Capability | None = None


def decide(
    declared: tuple[Capability, ...], granted: GrantedSet, request: Request, posture: Posture
) -> Capability | Refusal:
    """The capability that allows the request, or why none does.

    In this order: no capability of a fitting kind is declared: `not-declared`. One would cover it, but none that the
    user granted: `not-granted`. Some are granted, none covers it: `out-of-scope`; none is granted: `not-granted`. It
    is covered, but changes something in a call of posture `read`: `out-of-scope`.
    """
    kinds = request.kinds
    fitting = sorted((one for one in declared if one.kind in kinds), key=lambda one: kinds.index(one.kind))
    if not fitting:
        return Refusal(kind=kinds[0], reason="not-declared")
    covering = [one for one in fitting if one.covers(request)]
    allowing = [one for one in covering if granted.holds(one)]
    for capability in allowing:
        if posture == "write" or capability.reads(request):
            return capability
    if allowing:
        return Refusal(kind=allowing[0].kind, reason="out-of-scope", detail=READ_POSTURE, cause=request.writes)
    if covering:
        undecided = (
            one
            for one in covering
            if one.optional and not granted.decides(one) and (posture == "write" or one.reads(request))
        )
        return Refusal(kind=covering[0].kind, reason="not-granted", open=next(undecided, None))
    held = [one for one in fitting if granted.holds(one)]
    if held:
        return Refusal(kind=held[0].kind, reason="out-of-scope", detail=request.fault(), cause=request.cause())
    return Refusal(kind=fitting[0].kind, reason="not-granted", detail=request.fault(), cause=request.cause())


class Broker:
    """Decides for one plugin.

    `declared` is what its manifest asks for; `granted` gives what it holds at the moment of the call, so that a
    revocation counts at once; `denials` keeps what was refused. `ask` asks the user for an optional capability at its
    first use, and says whether the answer was yes.
    """

    def __init__(
        self,
        *,
        plugin: str,
        version: str,
        declared: tuple[Capability, ...],
        granted: Callable[[], GrantedSet],
        denials: DenialLog,
        ask: Callable[[Capability, Request, Frame], bool] | None = None,
    ) -> None:
        self.plugin = plugin
        self.version = version
        self._declared = declared
        self._granted = granted
        self._denials = denials
        self._ask = ask

    def require(self, request: Request, frame: Frame) -> Capability:
        """The capability that allows the request.

        Raises `CapabilityError` (`not-declared`, `not-granted`, `out-of-scope`), and `NoContext` where the frame is
        another plugin's.
        """
        if frame.plugin != self.plugin:
            raise NoContext(request.kinds[0])
        verdict = decide(self._declared, self._granted(), request, frame.posture)
        if isinstance(verdict, Refusal) and verdict.open is not None:
            if self._ask is not None and self._ask(verdict.open, request, frame):
                verdict = decide(self._declared, self._granted(), request, frame.posture)
            else:
                verdict = attrs.evolve(
                    verdict, detail=f"the user can allow it with: yaz grant {self.plugin} {verdict.kind}"
                )
        if isinstance(verdict, Refusal):
            self.refuse(frame, verdict.kind, request.target, verdict.reason, verdict.detail, verdict.cause)
        return verdict

    def allows(self, request: Request, posture: Posture = "write") -> bool:
        """Whether `require` would allow it in a call of that posture; nothing is recorded."""
        return not isinstance(decide(self._declared, self._granted(), request, posture), Refusal)

    def standing(self, kinds: Sequence[str]) -> tuple[str, Reason]:
        """The kind among these that the plugin has most of, and why what went past the services is refused under it."""
        fitting = [one for one in self._declared if one.kind in kinds]
        granted = self._granted()
        if held := [one for one in fitting if granted.holds(one)]:
            return held[0].kind, "out-of-scope"
        return (fitting[0].kind, "not-granted") if fitting else (kinds[0], "not-declared")

    def held(self) -> tuple[Capability, ...]:
        """The declared capabilities that are granted at this moment."""
        granted = self._granted()
        return tuple(one for one in self._declared if granted.holds(one))

    def command(self, name: str) -> str | None:
        """The program that a command's name meant at consent, as a grant keeps it; empty where there was none.

        None where nobody was asked, because the plugin ships with the application.
        """
        commands = self._granted().commands
        return None if commands is None else commands.get(name, "")

    def place(self, name: str) -> Path | None:
        """The folder that the user has bound to a place."""
        folder = self._granted().places.get(name)
        return None if folder is None else Path(folder).expanduser()

    def refuse(
        self, frame: Frame, kind: str, target: str, reason: Reason, detail: str = "", cause: Cause = ""
    ) -> NoReturn:
        """Record a refusal and raise it as `CapabilityError`. `detail` must hold no path of this machine."""
        try:
            self._denials.record(self.plugin, kind, target, reason, frame.where, detail, cause)
        except (OSError, YazError) as error:
            _log.error("a denial of %s (%s, %s) could not be recorded: %s", self.plugin, kind, reason, error)
        raise CapabilityError(self.plugin, kind, reason, target, detail)
