"""What every call goes through, whatever it asks for: its scope, its permission, its plugin, its record."""

from __future__ import annotations

import asyncio
import time
import traceback
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from types import TracebackType
from typing import Any

import attrs

from yazcore.audit import Audit, CallRecord, shapes, values
from yazcore.capabilities.context import Call, Client, no_progress
from yazcore.capabilities.errors import Cancelled, CapabilityError, ServiceError
from yazcore.catalogue import Snapshot
from yazcore.contract import Contract
from yazcore.contributions import ToolError
from yazcore.declarations import Posture
from yazcore.gate import waiting
from yazcore.outcomes import INTERNAL_ERROR, ProtocolFault
from yazcore.permissions import GLOBAL, Decision, Principal, ScopeKind
from yazcore.runtimes.abandoned import is_over
from yazcore.runtimes.base import HandlerFailed
from yazcore.runtimes.threads import Threads
from yazcore.runtimes.values import MAX_STRUCTURE, NotPortable, TooLarge

Report = Callable[[float, float | None, str], None]
"""Takes progress: done, total (None: unknown), a few words."""

Meet = Callable[[], Client]
"""Gives the client that a call came through. A function: most calls have no need of it."""

Resolver = Callable[[str], Any]
"""What an id names, or None."""

DONE = "It is done; do not repeat the call. "
"""What comes before the words for a result that cannot be given, where the call has changed something."""

_LONGEST_NAME = 512

DECIDE_SECONDS = 10.0
"""How long a host's own code may take to say who may, in seconds."""

_MOST_DECIDING = 8


@attrs.define(kw_only=True)
class Attempt:
    """One call on its way through the gate: who asks for what, and what the audit will say of it.

    `now` is what was active when the call came: all of it is decided on that.
    """

    principal: Principal
    what: str
    name: str
    arguments: Any
    now: Snapshot
    began: float = attrs.field(factory=time.monotonic)
    scope: str = ""
    scope_id: str | None = None
    outcome: str = "crashed"
    reference: str | None = None
    approval: str = ""
    audited: frozenset[str] = frozenset()


@attrs.frozen(kw_only=True)
class Scope:
    """Where a call acts: the kind of scope, the canonical id (None where the kind has none) and what that names."""

    kind: ScopeKind
    id: str | None = None
    subject: Any = None

    def spelled(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """The arguments with the id in its canonical spelling: one thing has one name further in (S-29)."""
        if self.id is None or self.kind.argument is None:
            return arguments
        return {**arguments, self.kind.argument: self.id}


class Refused(Exception):
    """The id names nothing, or the principal may not do this there. Carries the answer: for an id, the hidden one."""


class Ended(Exception):
    """A handler gave no answer. Carries the text for the caller; `missing`: what was asked for is not there."""

    def __init__(self, text: str, missing: bool = False) -> None:
        super().__init__(text)
        self.text = text
        self.missing = missing


class NoHandler(Ended):
    """The plugin has no such handler: it registered none, or was taken out a moment ago."""


class Recorded:
    """The record of one call, as a context. A class: every call passes here, and a generator costs it more."""

    __slots__ = ("_attempt", "_audit")

    def __init__(self, audit: Audit, attempt: Attempt) -> None:
        self._audit = audit
        self._attempt = attempt

    def __enter__(self) -> Attempt:
        return self._attempt

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        attempt = self._attempt
        if kind is not None and issubclass(kind, asyncio.CancelledError):
            attempt.outcome = "cancelled"
        self._audit.call(
            CallRecord(
                principal=attempt.principal.name,
                what=attempt.what,
                name=attempt.name[:_LONGEST_NAME],
                outcome=attempt.outcome,
                seconds=time.monotonic() - attempt.began,
                scope=attempt.scope,
                scope_id=attempt.scope_id,
                arguments=shapes(attempt.arguments),
                values=values(attempt.arguments, attempt.audited),
                approval=attempt.approval,
                reference=attempt.reference,
            )
        )


class Steps:
    """The steps that tools, resources, prompts and completions share."""

    def __init__(
        self,
        *,
        contract: Contract,
        resolve: Mapping[str, Resolver],
        decision: Decision,
        audit: Audit,
        stuck: Callable[[str, Future[Any]], None],
    ) -> None:
        self._contract = contract
        self._resolve = {kind.name: kind.resolve for kind in contract.scope_kinds if kind.resolve} | dict(resolve)
        self._decision = decision
        self._deciding = Threads("yaz-permissions", _MOST_DECIDING)
        self._audit = audit
        self._stuck = stuck
        self._in_flight = 0
        self._slow: set[tuple[str, str, str, str]] = set()

    def close(self) -> None:
        """Let go of the threads in which a host's own code decides."""
        self._deciding.close()

    # --- the record -----------------------------------------------------------------------------------------------

    def recorded(self, attempt: Attempt) -> Recorded:
        """`with steps.recorded(attempt):` writes the one record of the call when it ends, however it does."""
        return Recorded(self._audit, attempt)

    def masked(self, attempt: Attempt, plugin_id: str, where: str, type: str, message: str, trace: str = "") -> str:  # noqa: A002
        """Keep what went wrong inside a plugin for `yaz log`, and give the text for the caller, which says nothing."""
        attempt.outcome = "crashed"
        attempt.reference = self._audit.crash(
            plugin=plugin_id,
            version=attempt.now.plugins[plugin_id].manifest.version,
            where=where,
            type=type,
            message=message,
            trace=trace,
        )
        return f"{attempt.name} failed inside {plugin_id}. The user can see why with: yaz log {attempt.reference}"

    def may_not_ask(self, attempt: Attempt, plugin_id: str, where: str) -> str:
        """The text for an `Ask` that is not the host's own: no manifest says that a plugin puts questions."""
        return self.masked(attempt, plugin_id, where, "AskRefused", "only the host's own tools and prompts may ask")

    # --- scope and permission -------------------------------------------------------------------------------------

    def kind(self, name: str) -> ScopeKind:
        """The scope kind of that name."""
        kind = self._contract.scope_kind(name)
        assert kind is not None, "reading refuses a manifest whose scope the contract does not know"
        return kind

    def scope_id(self, attempt: Attempt, kind: ScopeKind, arguments: Mapping[str, Any]) -> str | None:
        """The canonical id among the arguments, or None for a scope without one; before any permission (SA-14).

        Raises `ProtocolFault` where it is missing, no text, or malformed.
        """
        attempt.scope = kind.name
        if kind.argument is None:
            return None
        given = arguments.get(kind.argument)
        scope_id = kind.parse(given) if isinstance(given, str) else None
        if scope_id is None:
            attempt.outcome = "malformed"
            problem = "is missing" if kind.argument not in arguments else f"is no {kind.name} id"
            source = f"; {kind.source} shows the ids" if kind.source else ""
            raise ProtocolFault(f"{kind.argument} {problem}{source}. help explains {attempt.name}.")
        attempt.scope_id = scope_id
        return scope_id

    async def permitted(self, attempt: Attempt, kind: ScopeKind, scope_id: str | None, permission: str) -> Scope:
        """Where the call may act. Raises `Refused`, with the same words for "none such" and "not yours" (S-30).

        What the host's own code decides, it decides in a thread: a slow database holds up nobody else's call. Where it
        raises or takes too long, nothing is allowed, and the `ProtocolFault` says so.
        """
        if self._decision.asks_elsewhere(kind) and not attempt.principal.owner:
            allowed, subject = await self._decided(attempt, kind, scope_id, permission)
        else:
            allowed, subject = self._decide(attempt, kind, scope_id, permission)
        if scope_id is None:
            if not allowed:
                attempt.outcome = "denied"
                uri = attempt.now.permissions_uri
                more = "" if uri is None else f"; {uri} shows what you may do"
                raise Refused(f"{attempt.name} needs the permission {permission}, which you do not have{more}.")
            return Scope(kind=kind)
        if subject is None or not allowed:
            attempt.outcome = "denied"
            raise Refused(kind.hidden)
        return Scope(kind=kind, id=scope_id, subject=subject)

    def _decide(
        self, attempt: Attempt, kind: ScopeKind, scope_id: str | None, permission: str
    ) -> tuple[bool, Any]:
        """Whether the principal may, and what the id names.

        Both questions are always asked, so that neither answer can be told from the time it takes.
        """
        allowed = self._decision.may(attempt.principal, permission, kind.name, scope_id, attempt.now.actions)
        return allowed, None if scope_id is None else self._resolved(attempt, kind, scope_id)

    def _resolved(self, attempt: Attempt, kind: ScopeKind, scope_id: str) -> Any:
        """What the id names; None, too, where the host cannot say: any other answer would tell the two apart."""
        resolve = self._resolve.get(kind.name)
        try:
            return None if resolve is None else resolve(scope_id)
        except Exception as error:  # noqa: BLE001 - it is the host's code, and says nothing to a caller
            attempt.reference = self._host_failed(f"what a {kind.name} id names", error)
            return None

    def _host_failed(self, where: str, error: Exception) -> str:
        return self._audit.crash(
            plugin=self._contract.host, version=self._contract.version, where=where,
            type=type(error).__name__, message=str(error), trace="".join(traceback.format_exception(error)),
        )  # fmt: skip

    async def _decided(
        self, attempt: Attempt, kind: ScopeKind, scope_id: str | None, permission: str
    ) -> tuple[bool, Any]:
        future = self._deciding.submit(lambda: self._decide(attempt, kind, scope_id, permission))
        try:
            decided: tuple[bool, Any] = await asyncio.wait_for(asyncio.wrap_future(future), DECIDE_SECONDS)
        except TimeoutError:
            attempt.outcome = "overdue"
            raise ProtocolFault("whether you may could not be decided in time; try again", INTERNAL_ERROR) from None
        except Exception as error:  # noqa: BLE001 - it is the host's code, and says nothing to a caller
            attempt.reference = self._host_failed(f"who may do {permission}", error)
            raise ProtocolFault(
                f"whether you may could not be decided. The user can see why with: yaz log {attempt.reference}",
                INTERNAL_ERROR,
            ) from None
        return decided

    def may_somewhere(self, attempt: Attempt, kind: ScopeKind, permission: str) -> bool:
        """Whether the principal may do this on some id of the kind, perhaps: only each id's own answer counts."""
        return self._decision.may_somewhere(attempt.principal, kind, permission, attempt.now.actions)

    async def everywhere(self, principal: Principal, now: Snapshot) -> frozenset[str]:
        """What the principal may do in every scope, among all that active plugins declare."""
        def asked() -> frozenset[str]:
            return self._decision.everywhere(principal, now.actions, now.actions)

        if principal.owner or not self._decision.asks_elsewhere(GLOBAL):
            return asked()
        return await asyncio.wait_for(asyncio.wrap_future(self._deciding.submit(asked)), DECIDE_SECONDS)

    # --- the plugin -----------------------------------------------------------------------------------------------

    def call(
        self,
        attempt: Attempt,
        scope: Scope,
        posture: Posture,
        seconds: float,
        report: Report | None = None,
        client: Client | None = None,
    ) -> Call:
        """The call as the plugin's context will show it. It has `seconds` from now on."""
        principal, actions, kind, decision = attempt.principal, attempt.now.actions, scope.kind, self._decision

        def allows(action: str, scope_name: str) -> bool:
            scope_id = scope.id if scope_name == kind.name else None
            return decision.may(principal, action, scope_name, scope_id, actions)

        return Call(
            posture=posture,
            principal=principal,
            scope=kind.name,
            scope_id=scope.id,
            subject=scope.subject,
            project=scope.subject if kind.name == "project" else None,
            deadline=time.monotonic() + seconds,
            allows=allows,
            report=report or no_progress,
            client=client,
        )

    async def run(
        self, attempt: Attempt, plugin_id: str, key: str, name: str, field: str, call: Call, *args: Any
    ) -> Any:
        """One handler, in its plugin's context, under its deadline. Raises `Ended` for every way to give no answer."""
        began = time.monotonic()
        seconds = call.deadline - began
        future: Future[Any] | None = None
        which = (plugin_id, key, name, field)
        self._in_flight += 1
        try:
            future = _submitted(attempt, plugin_id, key, name, field, call, *args)
            alone = self._in_flight == 1 and which not in self._slow
            return await waiting.finished(future, seconds, at_once=alone)
        except TimeoutError:
            self._abandon(plugin_id, call, future)
            raise _overdue(attempt, plugin_id, seconds) from None
        except asyncio.CancelledError:
            self._abandon(plugin_id, call, future)
            raise
        except ToolError as error:
            attempt.outcome = "error"
            raise Ended(str(error)) from None
        except CapabilityError as error:
            attempt.outcome = "error"
            raise Ended(error.public_text) from None
        except ServiceError as error:
            attempt.outcome = "error"
            raise Ended(f"{plugin_id} could not go on: {error.code}.", missing=error.code == "file-not-found") from None
        except Cancelled:
            attempt.outcome = "overdue"
            raise Ended(f"{plugin_id} was stopped.") from None
        except waiting.Dropped as error:
            if time.monotonic() >= call.deadline:
                raise _overdue(attempt, plugin_id, seconds) from None
            if call.cancelled.is_set():
                attempt.outcome = "overdue"
                raise Ended(f"{plugin_id} was stopped.") from None
            text = self.masked(attempt, plugin_id, f"{key} {name}", "Cancelled", str(error))
            raise Ended(text) from None
        except HandlerFailed as error:
            failure = error.failure
            text = self.masked(attempt, plugin_id, f"{key} {name}", failure.type, failure.message, failure.trace)
            raise Ended(text) from None
        except TooLarge:
            attempt.outcome = "too-large"
            done = DONE if call.posture == "write" else ""
            raise Ended(
                f"{done}What {plugin_id} answered is larger than {MAX_STRUCTURE} bytes, which is more than a plugin "
                "may answer (result-too-large). Ask for less; its author can page or publish it."
            ) from None
        except (NotPortable, RuntimeError) as error:
            text = self.masked(attempt, plugin_id, f"{key} {name}", type(error).__name__, str(error))
            raise Ended(text) from None
        finally:
            self._in_flight -= 1
            if time.monotonic() - began > waiting.MOMENT_SECONDS:
                self._slow.add(which)
            else:
                self._slow.discard(which)

    def _abandon(self, plugin_id: str, call: Call, future: Future[Any] | None) -> None:
        """Nobody waits any more: an async handler is cancelled, a sync one is told; a late result is dropped."""
        call.cancelled.set()
        if future is None:
            return
        future.cancel()
        if not is_over(future):  # it may end in a moment: whoever is told counts those that do not
            self._stuck(plugin_id, future)


def _submitted(
    attempt: Attempt, plugin_id: str, key: str, name: str, field: str, call: Call, *args: Any
) -> Future[Any]:
    """The handler on its way. Raises `Ended` where it cannot set out: the plugin has seen nothing of the call then."""
    try:
        future: Future[Any] = attempt.now.plugins[plugin_id].running.submit(key, name, field, call, *args)
    except NotPortable as error:
        attempt.outcome = "invalid"
        raise Ended(f"The arguments of {attempt.name} cannot be passed on: {error}. Nothing was done.") from None
    except (KeyError, RuntimeError):
        attempt.outcome = "error"
        raise NoHandler(f"{plugin_id} was switched off just now. Nothing was done; list what there is again.") from None
    return future


def _overdue(attempt: Attempt, plugin_id: str, seconds: float) -> Ended:
    attempt.outcome = "overdue"
    return Ended(
        f"{plugin_id} did not answer within {seconds:.0f} seconds; the call was ended. "
        "Ask for less, or try again later."
    )
