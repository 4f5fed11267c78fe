"""Asking the user for an optional capability at its first use (design 5).

The question is a callback of the host application: it may show a window, ask in a terminal, or look into a policy of
its own. Without one, or where it does not decide, the use is refused. No path from an agent leads here.
"""

from __future__ import annotations

import contextvars
import logging
import math
import threading
import time
from collections.abc import Callable

import attrs

from yazcore.capabilities.context import Frame
from yazcore.capabilities.grants import GrantedSet, Grants
from yazcore.capabilities.places import suggestions
from yazcore.capabilities.standing import granted_set
from yazcore.granting import answered
from yazcore.installed import Installed
from yazcore.kinds import Capability, Request
from yazcore.manifest.messages import Messages
from yazcore.violations import YazError

_log = logging.getLogger(__name__)


@attrs.frozen(kw_only=True)
class Question:
    """What a user is asked: whether a plugin may do what it declares as optional.

    * `plugin`, `name`, `version`: who asks.
    * `capability`: what for; its `sentence()` says it to a person, its `sensitive` whether to warn.
    * `reason`: why, in the plugin's own words and the user's language; a stranger's text.
    * `target`: what it wants now; `where`: the hook or contribution that wants it.
    * `folder`: the folder that a place would be bound to; None: it needs none, or none is suggested.
    * `seconds`: how long the plugin's call can wait for an answer.
    """

    plugin: str
    name: str
    version: str
    capability: Capability
    reason: str
    target: str
    where: str
    folder: str | None
    seconds: float


AskUser = Callable[[Question], bool | None]
"""The host's callback: True grants the capability, False denies it for good, None leaves it open and refuses now.

It is called in a thread of the plugin, outside the plugin's context, and one question of a plugin at a time.
"""


class FirstUse:
    """Asks for one plugin, and writes down what was answered."""

    def __init__(self, ask: AskUser, grants: Grants, installed: Installed, locale: str) -> None:
        self._ask = ask
        self._grants = grants
        self._installed = installed
        self._locale = locale
        self._lock = threading.Lock()

    def __call__(self, capability: Capability, request: Request, frame: Frame) -> bool:
        """Whether the user has said yes. Never raises for what the callback does."""
        left = frame.call.deadline - time.monotonic()
        if not self._lock.acquire(timeout=-1 if math.isinf(left) else max(0.0, left)):
            return False
        try:
            if self._now().decides(capability):  # somebody else has just asked the same
                return self._now().holds(capability)
            return self._asked(capability, request, frame)
        finally:
            self._lock.release()

    def _asked(self, capability: Capability, request: Request, frame: Frame) -> bool:
        question = self._question(capability, request, frame)
        try:
            # the host's code, in nobody's context but its own
            yes = contextvars.Context().run(self._ask, question)
            if yes is not True and yes is not False:  # None, and what is no answer at all
                return False
            answered(self._grants, self._installed, capability, yes)
        except YazError as error:
            _log.warning("%s could not be granted %s: %s", question.plugin, capability.kind, error)
            return False
        except Exception:  # noqa: BLE001 - a host's callback must not end a plugin's call
            _log.exception("asking for %s of %s failed", capability.kind, question.plugin)
            return False
        return self._now().holds(capability)

    def _question(self, capability: Capability, request: Request, frame: Frame) -> Question:
        manifest = self._installed.manifest
        folder = None
        reason = ""
        if manifest is not None:
            place = getattr(capability, "place", None)
            suggested = suggestions(manifest).get(place) if place is not None else None
            folder = None if suggested is None else str(suggested)
            if capability.reason_key is not None:
                folder_of_texts = manifest.locales_in(self._installed.folder)
                reason = Messages(folder_of_texts, self._locale).text(capability.reason_key)
        return Question(
            plugin=self._installed.id, name=self._installed.name, version=self._installed.version,
            capability=capability, reason=reason, target=request.target, where=frame.where, folder=folder,
            seconds=max(0.0, frame.call.deadline - time.monotonic()),
        )  # fmt: skip

    def _now(self) -> GrantedSet:
        manifest = self._installed.manifest
        if manifest is None:
            return GrantedSet()
        return granted_set(manifest, self._grants.get(self._installed.id), self._installed.origin)
