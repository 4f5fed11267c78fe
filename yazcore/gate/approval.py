"""A person's approval of one call: asked of the host, else of the client the call came through (design 7, SU-6).

A tool asks for it by its manifest, or by the operator's mark. Without a yes in time nothing is done. What the client
answers is that of whoever sits before it, as far as the client is honest: the host's own question is the stronger one.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

import attrs

from yazcore.capabilities.context import Client, Flag
from yazcore.catalogue import ActiveTool
from yazcore.declarations import Posture
from yazcore.gate.steps import Attempt, Ended, Report
from yazcore.manifest.words import escaped
from yazcore.parts import NEEDED, Ask, Form
from yazcore.runtimes.threads import Threads

APPROVAL_SECONDS = 120.0
"""How long a person has to approve a call, in seconds."""

LONGEST_ARGUMENTS = 2000
"""The most characters of a call's arguments that a person is shown."""

ANSWER = "approval"
"""The name under which a client is asked."""

_STATE = "yaz-approval"
_MOST_WAITING = 512
_MOST_ASKING = 16

_log = logging.getLogger("yazcore.gate")


@attrs.frozen(kw_only=True, eq=False)
class Approval:
    """What a person is asked: may this call be made?

    * `tool`, `plugin`, `description`, `posture`: what would be called; `arguments`: with what, as they were given.
    * `principal`: who asks. `scope`, `scope_id`: where it would act.
    * `seconds`: how long an answer is waited for. `client_asks`: whether the client could be asked instead.
    * `over`: set when nobody waits for an answer any more.
    """

    tool: str
    plugin: str
    description: str
    posture: Posture
    principal: str
    scope: str
    scope_id: str | None
    arguments: Mapping[str, Any]
    seconds: float
    client_asks: bool
    over: Flag = attrs.field(factory=Flag)

    def question(self) -> str:
        """The question in words: who wants to call what, with which arguments. A model's text in it cannot pose as
        anything else: it stands on one line, as JSON, its control characters escaped."""
        given = escaped(json.dumps(dict(self.arguments), ensure_ascii=False))
        if len(given) > LONGEST_ARGUMENTS:
            given = f"{given[:LONGEST_ARGUMENTS]}… ({len(given)} characters)"
        effect = "changes things" if self.posture == "write" else "reads"
        return (
            f"{self.principal} wants to call {self.tool} of {self.plugin}, which {effect}.\n"
            f"{escaped(self.description)}\nArguments: {given}\nAllow this call, once?"
        )


Approve = Callable[[Approval], bool | None]
"""The host's callback: True allows the call, False refuses it, None says that nobody can be asked here.

It is called in a thread of the gate's own and may block for `seconds`; it should give up when `over` is set.
"""


@attrs.frozen(kw_only=True)
class _Waiting:
    """A question that a client was asked: for which very call, until when; `granted`: it was answered with yes."""

    call: str
    until: float
    granted: bool = False


class Approvals:
    """Asks, and remembers what clients were asked: an answer counts once, for the very call it was given for."""

    def __init__(self, approve: Approve | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._approve = approve
        self._clock = clock
        self._threads = Threads("yaz-approvals", _MOST_ASKING)
        self._lock = threading.Lock()
        self._waiting: OrderedDict[str, _Waiting] = OrderedDict()

    def close(self) -> None:
        """Let go of the threads in which the host is asked."""
        self._threads.close()

    async def ask(
        self,
        attempt: Attempt,
        tool: ActiveTool,
        arguments: Mapping[str, Any],
        client: Client | None,
        report: Report | None,
    ) -> Ask | None:
        """None where the call is approved; the question where the client has to be asked first.

        Raises `Ended` where it is refused, or nobody can be asked, or nobody answers in time.
        """
        which = _identity(attempt, tool)
        if client is not None and (answered := self._answered(client, which)) is not None:
            _count(attempt, tool, answered, "the client")
            return None
        can_ask = client is not None and NEEDED[Form] in client.can
        question = Approval(
            tool=tool.exposed, plugin=tool.plugin, description=tool.description, posture=tool.posture,
            principal=attempt.principal.name, scope=attempt.scope, scope_id=attempt.scope_id, arguments=arguments,
            seconds=APPROVAL_SECONDS, client_asks=can_ask,
        )  # fmt: skip
        said = await self._host_says(attempt, question, report)
        if said is not None:
            _count(attempt, tool, said, "the host")
            return None
        if not can_ask:
            attempt.approval = "nobody could be asked"
            raise _refused(attempt, f"{tool.exposed} needs a person's approval, and nobody can be asked here.")
        attempt.approval = "asked of the client"
        return Ask({ANSWER: Form(question.question(), _FORM)}, self._remember(which))

    def passed_on(self, client: Client | None) -> Client | None:
        """The client as the handler sees it: what was asked here is none of its questions."""
        if client is None:
            return None
        _, inner = _split(client.state)
        answers = {name: answer for name, answer in (client.answers or {}).items() if name != ANSWER}
        return attrs.evolve(client, answers=answers or None, state=inner or None)

    def goes_on(self, attempt: Attempt, tool: ActiveTool, ask: Ask) -> Ask:
        """A question of an approved call itself: the approval comes back with its answer."""
        return attrs.evolve(ask, state=self._remember(_identity(attempt, tool), ask.state, granted=True))

    async def _host_says(self, attempt: Attempt, question: Approval, report: Report | None) -> bool | None:
        approve = self._approve
        if approve is None:
            return None
        if report is not None:
            report(0, None, "waiting for a person's approval")
        future = self._threads.submit(lambda: approve(question))
        try:
            said = await asyncio.wait_for(asyncio.wrap_future(future), question.seconds)
        except TimeoutError:
            attempt.approval = "no answer in time"
            late = f"{question.tool} needs a person's approval, and nobody answered in time."
            raise _refused(attempt, late) from None
        except Exception:  # noqa: BLE001 - it is the host's code; without its yes there is none
            _log.exception("asking for the approval of %s failed", question.tool)
            return False
        finally:
            question.over.set()
        return None if said is None else said is True

    # --- what clients were asked ----------------------------------------------------------------------------------

    def _remember(self, call: str, inner: str = "", granted: bool = False) -> str:
        nonce = secrets.token_urlsafe(18)
        with self._lock:
            self._waiting[nonce] = _Waiting(call=call, until=self._clock() + APPROVAL_SECONDS, granted=granted)
            while len(self._waiting) > _MOST_WAITING:
                self._waiting.popitem(last=False)
        return f"{_STATE}:{nonce}:{inner}"

    def _answered(self, client: Client, call: str) -> bool | None:
        """What was answered to our question about this very call; None where none of ours was answered in time."""
        nonce, _ = _split(client.state)
        with self._lock:
            waiting = self._waiting.pop(nonce, None)
        if waiting is None or waiting.call != call or waiting.until < self._clock():
            return None
        if waiting.granted:
            return True
        answer = (client.answers or {}).get(ANSWER)
        content = answer.get("content") if isinstance(answer, Mapping) and answer.get("action") == "accept" else None
        return isinstance(content, Mapping) and content.get("allow") is True


_FORM: Mapping[str, Any] = {
    "type": "object",
    "properties": {"allow": {"type": "boolean", "title": "Allow this call", "default": False}},
    "required": ["allow"],
}


def _identity(attempt: Attempt, tool: ActiveTool) -> str:
    """One very call: who, what, with which arguments, as they were given."""
    said = json.dumps([attempt.principal.name, tool.exposed, attempt.arguments], sort_keys=True)
    return hashlib.sha256(said.encode()).hexdigest()


def _split(state: str | None) -> tuple[str, str]:
    """The mark of our question in a state, and what is the handler's own in it."""
    ours, _, rest = (state or "").partition(":")
    if ours != _STATE:
        return "", state or ""
    nonce, _, inner = rest.partition(":")
    return nonce, inner


def _count(attempt: Attempt, tool: ActiveTool, said: bool, by: str) -> None:
    """Have an answer count. Raises `Ended` for a no."""
    attempt.approval = f"{'granted' if said else 'refused'} by {by}"
    if not said:
        raise _refused(attempt, f"The user did not allow this call of {tool.exposed}.")


def _refused(attempt: Attempt, text: str) -> Ended:
    attempt.outcome = "approval"
    return Ended(f"{text} Nothing was done.")
