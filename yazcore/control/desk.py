"""Calls that wait for the user's yes, and the user's own command that gives it (`yaz approve`).

The desk is what a serving yaz gives its host as the callback for approvals. Where the client that a call came through
can ask whoever sits before it, that is left to the client.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable
from typing import Any

import attrs

from yazcore.control.door import Command
from yazcore.gate import Approval
from yazcore.violations import YazError

_LONGER = 5.0
"""How much longer than the gate the desk waits, in seconds: it is the gate that says that time is up."""


@attrs.define
class _Waiting:
    question: Approval
    answered: threading.Event = attrs.field(factory=threading.Event)
    said: bool | None = None


class Desk:
    """Questions that wait, by a short word each. Safe from any thread. `told` is called with each new one."""

    def __init__(self, told: Callable[[str, Approval], None] = lambda word, question: None) -> None:
        self._told = told
        self._lock = threading.Lock()
        self._waiting: dict[str, _Waiting] = {}

    def __call__(self, question: Approval) -> bool | None:
        """Wait for the user's answer: the host's callback `Approve`."""
        if question.client_asks:
            return None
        waiting = _Waiting(question)
        question.over.tell(waiting.answered.set)
        with self._lock:
            word = next(word for word in iter(lambda: secrets.token_hex(2), "") if word not in self._waiting)
            self._waiting[word] = waiting
        try:
            self._told(word, question)
            waiting.answered.wait(question.seconds + _LONGER)
            return waiting.said
        finally:
            with self._lock:
                del self._waiting[word]

    def commands(self) -> dict[str, Command]:
        """What the user's command asks of the running application."""
        return {"approvals": lambda arguments: self.waiting(), "approve": self._answer}

    def waiting(self) -> list[dict[str, str]]:
        """The questions that wait, oldest first."""
        with self._lock:
            waiting = list(self._waiting.items())
        return [
            {
                "id": word, "tool": one.question.tool, "principal": one.question.principal,
                "question": one.question.question(),
            }
            for word, one in waiting
        ]

    def _answer(self, arguments: dict[str, Any]) -> dict[str, Any]:
        word, allow = str(arguments["id"]), arguments["allow"] is True
        with self._lock:
            waiting = self._waiting.get(word)
            if waiting is not None and waiting.said is None and not waiting.question.over.is_set():
                waiting.said = allow
                waiting.answered.set()
                return {"id": word, "tool": waiting.question.tool, "allowed": allow}
        raise YazError("approval-unknown", f"no call waits under {word[:20]!r}", "yaz approve shows those that wait")
