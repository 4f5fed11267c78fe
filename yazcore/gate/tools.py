"""A tool call: known and allowed, scope, permission, arguments, approval, the plugin, its result."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import attrs

from yazcore.capabilities.context import Client
from yazcore.catalogue import ActiveTool, Catalogue
from yazcore.contributions import Link
from yazcore.gate.approval import Approvals
from yazcore.gate.steps import DONE, Attempt, Ended, Meet, Refused, Report, Steps
from yazcore.gate.validators import Validators
from yazcore.manifest.schemas import argument_errors
from yazcore.outcomes import Outcome, ProtocolFault, echo, encode, part_object
from yazcore.parts import Ask
from yazcore.permissions import Principal
from yazcore.results import RESULT_PREFIX, ResultStore
from yazcore.runtimes.values import Answer

_LARGE = 1000
"""The most values, or hundreds of characters, that are looked at on the server's loop: some milliseconds."""

_CHARACTERS = 100


def offered(tool: ActiveTool, principal: Principal) -> bool:
    """Whether the principal may know of the tool: allow-list and read-only; `help` is for everybody."""
    if principal.read_only and tool.posture == "write":
        return False
    return principal.tools is None or tool.exposed in principal.tools or (tool.own and tool.exposed == "help")


class _First(Exception):
    """The client is asked something before the call is made."""

    def __init__(self, ask: Ask) -> None:
        super().__init__()
        self.ask = ask


class ToolCalls:
    """The way of a tool call."""

    def __init__(self, steps: Steps, approvals: Approvals, catalogue: Catalogue, results: ResultStore) -> None:
        self._steps = steps
        self._approvals = approvals
        self._catalogue = catalogue
        self._results = results
        self._validators = Validators(catalogue)

    def header_schema(self, tool: ActiveTool) -> Mapping[str, Any] | None:
        """The declared input schema, where it says that headers repeat some of its properties."""
        schema = tool.declaration.input_schema
        return schema if self._validators.of(schema).names_headers else None

    async def call(
        self,
        principal: Principal,
        name: str,
        arguments: Any,
        report: Report | None,
        meet: Meet | None,
        approved: bool = False,
    ) -> Outcome:
        """Call a tool. `approved`: whoever asks is the person who approves. Raises `ProtocolFault`."""
        now = self._catalogue.now
        with self._steps.recorded(
            Attempt(principal=principal, what="tool", name=name, arguments=arguments, now=now)
        ) as attempt:
            tool = now.tools.get(name)
            if tool is None or not offered(tool, principal):
                attempt.outcome = "unknown"
                raise ProtocolFault(f"Unknown tool: {echo(name)}")
            attempt.audited = tool.audited
            attempt.approval = "granted by the caller" if approved and tool.asks else ""
            if not isinstance(arguments, dict):
                attempt.outcome = "malformed"
                raise ProtocolFault("arguments must be an object")
            try:
                return await self._promised(attempt, tool, await self._answer(attempt, tool, arguments, report, meet))
            except _First as first:
                attempt.outcome = "asked"
                return Outcome(ask=first.ask)
            except (Refused, Ended) as none:
                return Outcome(is_error=True, text=str(none))

    async def _answer(
        self, attempt: Attempt, tool: ActiveTool, arguments: dict[str, Any], report: Report | None, meet: Meet | None
    ) -> Answer:
        """Steps 2 to 6."""
        declaration = tool.declaration
        kind = self._steps.kind(declaration.scope)
        scope_id = self._steps.scope_id(attempt, kind, arguments)
        scope = await self._steps.permitted(attempt, kind, scope_id, declaration.permission)
        arguments = scope.spelled(arguments)
        schema = self._validators.of(declaration.input_schema)
        if wrong := await _errors(schema, arguments):
            attempt.outcome = "invalid"
            raise Ended(f"The arguments of {attempt.name} are not as declared: {'; '.join(wrong)}. Nothing was done.")
        client = meet() if meet is not None and (tool.own or tool.asks) else None
        if tool.asks:
            if not attempt.approval:
                first = await self._approvals.ask(attempt, tool, arguments, client, report)
                if first is not None:
                    raise _First(first)
            client = self._approvals.passed_on(client)
        client = client or Client() if tool.own else None
        call = self._steps.call(attempt, scope, declaration.posture, declaration.deadline_seconds, report, client)
        answer: Answer = await self._steps.run(
            attempt, tool.plugin, "tools", declaration.name, "handler", call, arguments
        )
        if answer.ask is not None and tool.own and meet is None:
            attempt.outcome = "asked"
            raise Ended(f"{attempt.name} has a question, and nobody can be asked here. Nothing was done.")
        return answer

    async def _promised(self, attempt: Attempt, tool: ActiveTool, answer: Answer) -> Outcome:
        """Step 7: is the result what the manifest promised, and does it fit?"""
        declaration = tool.declaration
        if answer.ask is not None:
            if not tool.own:
                raise Ended(self._steps.may_not_ask(attempt, tool.plugin, f"tools {declaration.name}"))
            attempt.outcome = "asked"
            return Outcome(ask=self._approvals.goes_on(attempt, tool, answer.ask) if tool.asks else answer.ask)
        if (schema := declaration.output_schema) is not None:
            wrong = ["there is no structured result"]
            if answer.structured is not None:
                wrong = await _errors(self._validators.of(schema), answer.structured)
            if wrong:
                where = f"tools {declaration.name}"
                raise Ended(self._steps.masked(attempt, tool.plugin, where, "OutputSchema", "; ".join(wrong)))
        structured = None if answer.structured is None else encode(answer.structured)
        text = answer.text if answer.text is not None else structured or ""
        links = sum(len(encode(attrs.asdict(link)).encode()) for link in answer.links) if answer.links else 0
        parts = sum(len(encode(part_object(part)).encode()) for part in answer.parts) if answer.parts else 0
        size = max(len(text.encode()), len(structured.encode()) if structured is not None else 0) + links + parts
        if size > declaration.max_result:
            attempt.outcome = "too-large"
            return self._too_large(attempt, tool, answer, size, links_fit=links <= declaration.max_result // 2)
        attempt.outcome = "ok"
        return Outcome(text=text, structured=answer.structured, links=answer.links, parts=answer.parts)

    def _too_large(self, attempt: Attempt, tool: ActiveTool, answer: Answer, size: int, links_fit: bool) -> Outcome:
        """Nothing is cut: all of it is kept for whoever asked, to be read in pages."""
        data, mime = _whole(answer, () if links_fit else answer.links)
        uri = RESULT_PREFIX + self._results.keep(attempt.principal.name, data, mime, plugin=tool.plugin, paged=True)
        done = DONE if tool.declaration.posture == "write" else ""
        pages = Link(
            uri=uri, name=f"result of {attempt.name}", mime_type="application/json",
            description="The whole result, in pages; each page names the next.",
        )  # fmt: skip
        return Outcome(
            is_error=True,
            text=(
                f"{done}The result of {attempt.name} is {size} bytes, "
                f"more than the {tool.declaration.max_result} that fit. "
                f"Ask for less, or read all of it in pages at {uri}."
            ),
            links=(pages, *answer.links) if links_fit else (pages,),
        )


def _whole(answer: Answer, links: tuple[Link, ...]) -> tuple[bytes, str]:
    """All that a tool said, and its media type: its data, its text, or each part by name where it said more."""
    more = links or answer.parts
    if answer.structured is None and not more:
        return (answer.text or "").encode(), "text/plain"
    if answer.text is None and not more:
        return encode(answer.structured).encode(), "application/json"
    said = {
        "text": answer.text,
        "structuredContent": answer.structured,
        "links": [attrs.asdict(link, filter=lambda _, part: part is not None) for link in links] or None,
        "parts": [part_object(part) for part in answer.parts] or None,
    }
    return encode({name: one for name, one in said.items() if one is not None}).encode(), "application/json"


async def _errors(schema: Any, value: Any) -> list[str]:
    """What is wrong with a value. A large one is looked at in a thread: the loop belongs to every other call too."""
    if _is_large(value):
        return await asyncio.to_thread(argument_errors, schema, value)
    return argument_errors(schema, value)


def _is_large(value: Any) -> bool:
    """Whether looking at every part of a value may take more than a moment. Looks at no more of it than it must."""
    left, waiting = _LARGE, [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, (dict, list)):
            left -= len(one)
            if left < 0:
                return True
            waiting.extend(one.values() if isinstance(one, dict) else one)
        elif isinstance(one, str):
            left -= len(one) // _CHARACTERS
    return left < 0
