"""The path of one call, whoever asks: MCP, `yaz call`, a test (design 7).

The order is fixed, and each step is taken before the next looks at anything:

1. is the name known, and allowed for this principal? (else as an unknown one)
2. is the scope argument there, a string, well-formed?
3. does the id resolve, and may the principal do this there? (else one fixed hidden answer)
4. do the arguments match the declared schema?
5. does somebody have to approve?
6. the plugin, in its context, under its deadline;
7. is the result what was declared, and small enough?

Exactly one audit record is written, whatever the outcome. Nothing here knows MCP.

`steps` holds what every call goes through (2, 3, 6 and the record), `tools` the rest of a tool's way, `reading` that of
a resource, a prompt and a completion.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any

from yazcore.audit import Audit
from yazcore.catalogue import ActivePrompt, ActiveResource, ActiveTool, Catalogue
from yazcore.contract import Contract
from yazcore.gate.approval import Approval, Approvals, Approve
from yazcore.gate.reading import Reading, recorded_as
from yazcore.gate.steps import Attempt, Meet, Report, Resolver, Steps
from yazcore.gate.tools import ToolCalls, offered
from yazcore.outcomes import INVALID_PARAMS, Content, Outcome, Prompted, ProtocolFault
from yazcore.permissions import Decision, Principal
from yazcore.results import ResultStore

__all__ = ["INVALID_PARAMS", "Approval", "Approve", "Content", "Gate", "Outcome", "ProtocolFault", "Report"]


class Gate:
    """One gate per host. `resolve` gives, per scope kind, the function that turns an id into the thing, or None, where
    the kind itself does not; `decision` says who may (None: the grants of each principal).

    `approve` asks a person about calls of tools that want it (None: only the client can). `stuck` is told of a call
    that nobody waits for any more and that has not ended, by its plugin's id.
    """

    def __init__(
        self,
        *,
        contract: Contract,
        catalogue: Catalogue,
        resolve: Mapping[str, Resolver],
        decision: Decision | None = None,
        results: ResultStore,
        audit: Audit,
        approve: Approve | None = None,
        stuck: Callable[[str, Future[Any]], None] = lambda plugin, future: None,
    ) -> None:
        self._catalogue = catalogue
        self._approvals = Approvals(approve)
        self._steps = Steps(
            contract=contract,
            resolve=resolve,
            decision=decision or Decision(kinds=contract.scope_kinds, everyone=contract.everyone),
            audit=audit,
            stuck=stuck,
        )
        self._tools = ToolCalls(self._steps, self._approvals, catalogue, results)
        self._reading = Reading(self._steps, catalogue, results)

    def close(self) -> None:
        """Let go of what the gate holds; the host closes it after its plugins."""
        self._approvals.close()
        self._steps.close()

    # --- listings -------------------------------------------------------------------------------------------------

    def tools(self, principal: Principal) -> tuple[ActiveTool, ...]:
        """The tools this principal may know of: filtered by allow-list and read-only, not by permission (S-13)."""
        return tuple(tool for tool in self._catalogue.now.tools.values() if offered(tool, principal))

    def resources(self, principal: Principal) -> tuple[ActiveResource, ...]:
        """The resources and templates; what may be read is decided for each URI."""
        return tuple(self._catalogue.now.resources.values())

    def prompts(self, principal: Principal) -> tuple[ActivePrompt, ...]:
        """The prompts."""
        return tuple(self._catalogue.now.prompts.values())

    async def everywhere(self, principal: Principal) -> frozenset[str]:
        """What the principal may do in every scope, among all that active plugins declare."""
        return await self._steps.everywhere(principal, self._catalogue.now)

    def header_schema(self, name: str) -> Mapping[str, Any] | None:
        """The declared input schema of an exposed tool, where it says that headers repeat some of its properties."""
        tool = self._catalogue.now.tools.get(name)
        return None if tool is None else self._tools.header_schema(tool)

    # --- calls ----------------------------------------------------------------------------------------------------

    async def call_tool(
        self,
        principal: Principal,
        name: str,
        arguments: Any,
        report: Report | None = None,
        meet: Meet | None = None,
        approved: bool = False,
    ) -> Outcome:
        """Call a tool. Raises `ProtocolFault` for what is wrong as a request; everything else is an `Outcome`.

        `report(done, total, message)` takes progress, from any thread; `meet()` gives the client that the call came
        through, where it came through one; `approved` says that whoever asks is the person who has to approve, and
        does. Cancelling this coroutine cancels the call.
        """
        return await self._tools.call(principal, name, arguments, report, meet, approved)

    def malformed(self, principal: Principal, what: str, name: str, arguments: Any) -> None:
        """Record a call whose request was refused before it came here: it was not fit to be looked at.

        `what` is `tool`, `resource`, `subscription`, `prompt` or `completion`, as of the calls that come here.
        """
        now = self._catalogue.now
        if what in ("resource", "subscription"):
            name, arguments = recorded_as(now, name)
        attempt = Attempt(principal=principal, what=what, name=name, arguments=arguments, now=now, outcome="malformed")
        with self._steps.recorded(attempt):
            pass

    async def read_resource(self, principal: Principal, uri: str) -> Content:
        """Read a resource. An unknown URI and one that may not be read give the same `ProtocolFault` (G37, S-30)."""
        return await self._reading.resource(principal, uri)

    async def get_prompt(
        self, principal: Principal, name: str, arguments: Mapping[str, str], meet: Meet | None = None
    ) -> Prompted:
        """The messages of a prompt. Raises `ProtocolFault`."""
        return await self._reading.prompt(principal, name, arguments, meet)

    async def may_read(self, principal: Principal, uri: str) -> bool:
        """Whether the principal may read what the URI names, as far as that is known without the plugin."""
        return await self._reading.may(principal, uri)

    async def subscribe(self, principal: Principal, uri: str) -> bool:
        """Whether the principal may hear of changes of a resource: `may_read`, with a record of its own."""
        return await self._reading.subscription(principal, uri)

    async def complete(
        self, principal: Principal, name: str, argument: str, prefix: str, given: Mapping[str, str] | None = None
    ) -> list[str]:
        """Values for a variable of a template, or an argument of a prompt, that begin with `prefix`.

        `name` is the template or the prompt's exposed name; `given` the values that are known already. What may not be
        read is not proposed (G45, design 7). Raises `ProtocolFault`.
        """
        return await self._reading.completion(principal, name, argument, prefix, given or {})
