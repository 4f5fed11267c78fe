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
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any
from urllib.parse import parse_qs, urlsplit

import attrs

from yazcore.audit import Audit, CallRecord, shapes
from yazcore.capabilities.context import Call, no_progress
from yazcore.capabilities.errors import Cancelled, CapabilityError, ServiceError
from yazcore.catalogue import ActivePlugin, ActivePrompt, ActiveResource, ActiveTool, Catalogue, Snapshot
from yazcore.contract import Contract
from yazcore.contributions import Link, ToolError
from yazcore.declarations import DEADLINE_SECONDS, Cache, Posture
from yazcore.manifest.schemas import argument_errors, validator
from yazcore.permissions import GLOBAL, Principal, ScopeKind, may
from yazcore.results import PAGE_BYTES, RESULT_PREFIX, Kept, ResultStore
from yazcore.runtimes.base import HandlerFailed
from yazcore.runtimes.values import Answer, NotPortable

INVALID_PARAMS = -32602
_RAW_RESULT_BYTES = 2**20

Report = Callable[[float, float | None, str], None]
Resolver = Callable[[str], Any]


class ProtocolFault(Exception):
    """A call that is wrong as a request: a JSON-RPC error, because a model cannot mend it by other arguments."""

    def __init__(self, message: str, code: int = INVALID_PARAMS, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


@attrs.frozen(kw_only=True)
class Outcome:
    """What a caller gets for a tool call. `structured` is never there together with `is_error` (mcp 48)."""

    is_error: bool = False
    text: str
    structured: Mapping[str, Any] | None = None
    links: tuple[Link, ...] = ()


@attrs.frozen(kw_only=True)
class Content:
    """What reading a resource gives."""

    uri: str
    mime: str
    data: str | bytes
    cache: Cache


@attrs.define(kw_only=True)
class _Attempt:
    """One call on its way through the gate: what the audit will say of it."""

    principal: Principal
    what: str
    name: str
    arguments: Any
    began: float
    scope: str = ""
    scope_id: str | None = None
    outcome: str = "crashed"
    reference: str | None = None


class _Refused(Exception):
    """Step 3 said no. Carries the hidden answer, or the one that names the permission."""


class Gate:
    """One gate per host. `resolve` gives, per scope kind, the function that turns an id into the thing, or None."""

    def __init__(
        self,
        *,
        contract: Contract,
        catalogue: Catalogue,
        resolve: Mapping[str, Resolver],
        results: ResultStore,
        audit: Audit,
        stuck: Callable[[str, Future[Any]], None] = lambda plugin, future: None,
    ) -> None:
        self._contract = contract
        self._catalogue = catalogue
        self._resolve = resolve
        self._results = results
        self._audit = audit
        self._stuck = stuck
        self._validators: dict[tuple[int, str, str], Any] = {}

    # --- listings -------------------------------------------------------------------------------------------------

    def tools(self, principal: Principal) -> tuple[ActiveTool, ...]:
        """The tools this principal may know of: filtered by allow-list and read-only, not by permission (S-13)."""
        return tuple(tool for tool in self._catalogue.now.tools.values() if _offered(tool, principal))

    def resources(self, principal: Principal) -> tuple[ActiveResource, ...]:
        """The resources and templates; what may be read is decided for each URI."""
        return tuple(self._catalogue.now.resources.values())

    def prompts(self, principal: Principal) -> tuple[ActivePrompt, ...]:
        """The prompts."""
        return tuple(self._catalogue.now.prompts.values())

    def input_schema(self, name: str) -> Mapping[str, Any] | None:
        """The declared input schema of an exposed tool."""
        tool = self._catalogue.now.tools.get(name)
        return None if tool is None else tool.declaration.input_schema

    # --- tools ----------------------------------------------------------------------------------------------------

    async def call_tool(self, principal: Principal, name: str, arguments: Any, report: Report | None = None) -> Outcome:
        """Call a tool. Raises `ProtocolFault` for what is wrong as a request; everything else is an `Outcome`.

        `report(done, total, message)` takes progress, from any thread. Cancelling this coroutine cancels the call.
        """
        attempt = _Attempt(principal=principal, what="tool", name=name, arguments=arguments, began=time.monotonic())
        try:
            return await self._call_tool(attempt, report)
        except asyncio.CancelledError:
            attempt.outcome = "cancelled"
            raise
        finally:
            self._record(attempt)

    async def _call_tool(self, attempt: _Attempt, report: Report | None) -> Outcome:
        principal, arguments = attempt.principal, attempt.arguments
        now = self._catalogue.now
        tool = now.tools.get(attempt.name)
        if tool is None or not _offered(tool, principal):
            attempt.outcome = "unknown"
            raise ProtocolFault(f"Unknown tool: {attempt.name}")
        declaration = tool.declaration
        if not isinstance(arguments, dict):
            attempt.outcome = "malformed"
            raise ProtocolFault("arguments must be an object")
        kind = self._scope_kind(declaration.scope)
        scope_id = self._scope_id(attempt, kind, arguments)
        try:
            subject = self._permitted(attempt, now, kind, scope_id, declaration.permission)
        except _Refused as refused:
            return Outcome(is_error=True, text=str(refused))
        if scope_id is not None and kind.argument is not None:
            arguments = {**arguments, kind.argument: scope_id}
        if wrong := argument_errors(self._validator(now, attempt.name, "input", declaration.input_schema), arguments):
            attempt.outcome = "invalid"
            return Outcome(is_error=True, text=_invalid_text(attempt.name, wrong))
        if declaration.approval == "ask":
            attempt.outcome = "approval"
            return Outcome(
                is_error=True,
                text=f"{attempt.name} needs a person's approval, and nobody can be asked here. Nothing was done.",
            )
        call = self._call(
            principal, now, declaration.posture, kind, scope_id, subject, declaration.deadline_seconds, report
        )
        plugin = now.plugins[tool.plugin]
        try:
            answer = await self._run(plugin, "tools", declaration.name, "handler", call, arguments)
        except _Ended as ended:
            attempt.outcome, attempt.reference = ended.outcome, ended.reference
            return Outcome(is_error=True, text=ended.text)
        return self._promised(attempt, now, tool, answer)

    def _promised(self, attempt: _Attempt, now: Snapshot, tool: ActiveTool, answer: Answer) -> Outcome:
        """The last step: is the result what the manifest promised, and does it fit?"""
        declaration = tool.declaration
        if declaration.output_schema is not None:
            wrong = (
                ["there is no structured result"]
                if answer.structured is None
                else argument_errors(
                    self._validator(now, attempt.name, "output", declaration.output_schema), answer.structured
                )
            )
            if wrong:
                plugin = now.plugins[tool.plugin].manifest
                attempt.outcome = "crashed"
                attempt.reference = self._audit.crash(
                    plugin=plugin.id, version=plugin.version, where=f"tools {declaration.name}", type="OutputSchema",
                    message="; ".join(wrong), trace="",
                )  # fmt: skip
                return Outcome(is_error=True, text=_masked_text(tool.plugin, attempt.name, attempt.reference))
        structured_text = None if answer.structured is None else _json(answer.structured)
        text = answer.text if answer.text is not None else structured_text or ""
        size = max(len(text.encode()), len((structured_text or "").encode()))
        if size > declaration.max_result:
            attempt.outcome = "too-large"
            kept = structured_text if structured_text is not None else text
            return self._too_large(attempt, tool, kept, size)
        attempt.outcome = "ok"
        return Outcome(text=text, structured=answer.structured, links=answer.links)

    def _too_large(self, attempt: _Attempt, tool: ActiveTool, text: str, size: int) -> Outcome:
        result_id = self._results.keep(attempt.principal.name, text.encode(), "application/json")
        done = "It is done; do not repeat the call. " if tool.declaration.posture == "write" else ""
        return Outcome(
            is_error=True,
            text=(
                f"{done}The result of {attempt.name} is {size} bytes, "
                f"more than the {tool.declaration.max_result} that fit. "
                f"Ask for less, or read all of it in pages at {RESULT_PREFIX}{result_id}."
            ),
            links=(
                Link(
                    uri=f"{RESULT_PREFIX}{result_id}", name=f"result of {attempt.name}", mime_type="application/json",
                    description="The whole result, in pages; each page names the next.",
                ),
            ),
        )  # fmt: skip

    # --- resources, prompts, completion ---------------------------------------------------------------------------

    async def read_resource(self, principal: Principal, uri: str) -> Content:
        """Read a resource. An unknown URI and one that may not be read give the same `ProtocolFault` (G37, S-30)."""
        attempt = _Attempt(principal=principal, what="resource", name=uri[:512], arguments={}, began=time.monotonic())
        try:
            if uri.startswith(RESULT_PREFIX):
                content = self._read_result(attempt, uri)
            else:
                content = await self._read_resource(attempt, uri)
            attempt.outcome = "ok"
            return content
        except asyncio.CancelledError:
            attempt.outcome = "cancelled"
            raise
        finally:
            self._record(attempt)

    async def _read_resource(self, attempt: _Attempt, uri: str) -> Content:
        now = self._catalogue.now
        found = now.resource_for(uri)
        if found is None:
            attempt.outcome = "unknown"
            raise _no_resource(uri)
        resource, values = found
        declaration = resource.declaration
        kind = self._scope_kind(declaration.scope)
        scope_id = None
        if kind.argument is not None:
            scope_id = kind.parse(values.get(kind.argument, ""))
            if scope_id is None:
                attempt.outcome = "malformed"
                raise _no_resource(uri)
            values = {**values, kind.argument: scope_id}
        try:
            subject = self._permitted(attempt, now, kind, scope_id, declaration.permission)
        except _Refused:
            raise _no_resource(uri) from None
        call = self._call(attempt.principal, now, "read", kind, scope_id, subject, DEADLINE_SECONDS, None)
        plugin = now.plugins[resource.plugin]
        try:
            value = await self._run(plugin, "resources", declaration.address, "handler", call, values)
        except _Ended as ended:
            attempt.outcome, attempt.reference = ended.outcome, ended.reference
            if ended.missing:
                raise _no_resource(uri) from None
            raise ProtocolFault(ended.text, code=-32603, data={"uri": uri}) from None
        if isinstance(value, (str, bytes)):
            mime = declaration.mime_type or ("text/plain" if isinstance(value, str) else "application/octet-stream")
            return Content(uri=uri, mime=mime, data=value, cache=declaration.cache)
        return Content(
            uri=uri, mime=declaration.mime_type or "application/json", data=_json(value), cache=declaration.cache
        )

    def _read_result(self, attempt: _Attempt, uri: str) -> Content:
        parts = urlsplit(uri[len(RESULT_PREFIX) :])
        query = parse_qs(parts.query, keep_blank_values=True)
        numbers = query.get("page", ["1"])
        kept = self._results.get(attempt.principal.name, parts.path)
        if (
            kept is None
            or set(query) - {"page"}
            or len(numbers) != 1
            or not numbers[0].isascii()
            or not numbers[0].isdigit()
        ):
            attempt.outcome = "unknown"
            raise _no_resource(uri)
        if "page" not in query and len(kept.data) <= _RAW_RESULT_BYTES and kept.mime != "application/json":
            return Content(uri=uri, mime=kept.mime, data=kept.data, cache=Cache())
        page = _page_of(kept, int(numbers[0]))
        if page is None:
            attempt.outcome = "unknown"
            raise _no_resource(uri)
        return Content(uri=uri, mime="application/json", data=_json(page), cache=Cache())

    async def get_prompt(self, principal: Principal, name: str, arguments: Mapping[str, str]) -> str:
        """The text of a prompt. Raises `ProtocolFault`."""
        attempt = _Attempt(principal=principal, what="prompt", name=name, arguments=arguments, began=time.monotonic())
        try:
            text = await self._get_prompt(attempt, dict(arguments))
            attempt.outcome = "ok"
            return text
        except asyncio.CancelledError:
            attempt.outcome = "cancelled"
            raise
        finally:
            self._record(attempt)

    async def _get_prompt(self, attempt: _Attempt, arguments: dict[str, str]) -> str:
        now = self._catalogue.now
        prompt = now.prompts.get(attempt.name)
        if prompt is None:
            attempt.outcome = "unknown"
            raise ProtocolFault(f"Unknown prompt: {attempt.name}")
        declaration = prompt.declaration
        known = {argument.name for argument in declaration.arguments}
        missing = [
            argument.name
            for argument in declaration.arguments
            if argument.required and not arguments.get(argument.name)
        ]
        if missing or set(arguments) - known:
            attempt.outcome = "malformed"
            wrong = [f"{name} is missing" for name in missing] + [
                f"{name} is unknown" for name in sorted(set(arguments) - known)
            ]
            raise ProtocolFault(f"{attempt.name}: {'; '.join(wrong)}")
        kind = self._scope_kind(declaration.scope)
        scope_id = self._scope_id(attempt, kind, arguments)
        try:
            subject = self._permitted(attempt, now, kind, scope_id, declaration.permission)
        except _Refused as refused:
            raise ProtocolFault(str(refused)) from None
        call = self._call(attempt.principal, now, "read", kind, scope_id, subject, DEADLINE_SECONDS, None)
        try:
            text = await self._run(now.plugins[prompt.plugin], "prompts", declaration.name, "handler", call, arguments)
        except _Ended as ended:
            attempt.outcome, attempt.reference = ended.outcome, ended.reference
            raise ProtocolFault(ended.text, code=-32603) from None
        if not isinstance(text, str):
            attempt.outcome = "crashed"
            raise ProtocolFault(f"{attempt.name} gave no text", code=-32603)
        return text

    async def complete(self, principal: Principal, address: str, argument: str, prefix: str) -> list[str]:
        """Values for a template's variable that begin with `prefix`.

        What may not be read is not proposed: without the permission everywhere, nothing is (G45, design 7).
        """
        now = self._catalogue.now
        resource = now.resources.get(address)
        attempt = _Attempt(
            principal=principal, what="completion", name=address[:512], arguments={}, began=time.monotonic()
        )
        try:
            if resource is None:
                attempt.outcome = "unknown"
                raise ProtocolFault(f"Unknown resource template: {address}")
            declaration = resource.declaration
            if not may(principal, declaration.permission, "global", None, now.actions):
                attempt.outcome = "denied"
                return []
            attempt.outcome = "ok"
            fixed = next((variable.values for variable in declaration.variables if variable.name == argument), None)
            if fixed is not None:
                return [value for value in fixed if value.startswith(prefix)]
            call = self._call(principal, now, "read", GLOBAL, None, None, DEADLINE_SECONDS, None)
            plugin = now.plugins[resource.plugin]
            try:
                values = await self._run(plugin, "resources", declaration.address, "complete", call, argument, prefix)
            except KeyError:  # the resource was registered without a completer
                return []
            except _Ended as ended:
                attempt.outcome, attempt.reference = ended.outcome, ended.reference
                return []
            proposed = values if isinstance(values, list) else []
            return [value for value in proposed if isinstance(value, str) and value.startswith(prefix)][:100]
        except asyncio.CancelledError:
            attempt.outcome = "cancelled"
            raise
        finally:
            self._record(attempt)

    # --- the steps ------------------------------------------------------------------------------------------------

    def _scope_kind(self, name: str) -> ScopeKind:
        kind = self._contract.scope_kind(name)
        assert kind is not None, "reading refuses a manifest whose scope the contract does not know"
        return kind

    def _scope_id(self, attempt: _Attempt, kind: ScopeKind, arguments: Mapping[str, Any]) -> str | None:
        """Step 2. The canonical id, or None for a scope without one; format goes before permission (SA-14)."""
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

    def _permitted(
        self, attempt: _Attempt, now: Snapshot, kind: ScopeKind, scope_id: str | None, permission: str
    ) -> Any:
        """Step 3. What the id names. Raises `_Refused` with the same words for "none such" and "not yours" (S-30)."""
        allowed = may(attempt.principal, permission, kind.name, scope_id, now.actions)
        if scope_id is None:
            if not allowed:
                attempt.outcome = "denied"
                raise _Refused(
                    f"{attempt.name} needs the permission {permission}, which you do not have; "
                    "yaz://permissions shows what you may do."
                )
            return None
        # Both questions are always asked, so that neither answer can be told from the time it takes.
        subject = self._resolve[kind.name](scope_id) if kind.name in self._resolve else None
        if subject is None or not allowed:
            attempt.outcome = "denied"
            raise _Refused(kind.hidden)
        return subject

    def _call(
        self,
        principal: Principal,
        now: Snapshot,
        posture: Posture,
        kind: ScopeKind,
        scope_id: str | None,
        subject: Any,
        seconds: float,
        report: Report | None,
    ) -> Call:
        def allows(action: str, scope: str) -> bool:
            return (
                may(principal, action, kind.name, scope_id, now.actions)
                if scope == kind.name
                else may(principal, action, scope, None, now.actions)
            )

        return Call(
            posture=posture,
            principal=principal,
            scope=kind.name,
            scope_id=scope_id,
            subject=subject,
            project=subject if kind.name == "project" else None,
            deadline=time.monotonic() + seconds,
            allows=allows,
            report=report or no_progress,
        )

    async def _run(self, plugin: ActivePlugin, key: str, name: str, field: str, call: Call, *args: Any) -> Any:
        """Step 6. Raises `_Ended` for every way in which there is no answer."""
        plugin_id = plugin.manifest.id
        seconds = call.deadline - time.monotonic()
        future: Future[Any] = Future()
        try:
            future = plugin.running.submit(key, name, field, call, *args)
            return await _finished(future, seconds)
        except TimeoutError:
            self._abandon(plugin_id, call, future)
            raise _Ended(
                "overdue", f"{plugin_id} did not answer within {seconds:.0f} seconds; the call was ended. "
                "Ask for less, or try again later.",
            ) from None  # fmt: skip
        except asyncio.CancelledError:
            self._abandon(plugin_id, call, future)
            raise
        except ToolError as error:
            raise _Ended("error", str(error)) from None
        except CapabilityError as error:
            raise _Ended("error", error.public_text) from None
        except ServiceError as error:
            raise _Ended(
                "error", f"{plugin_id} could not go on: {error.code}.", missing=error.code == "file-not-found"
            ) from None
        except Cancelled:
            raise _Ended("overdue", f"{plugin_id} was stopped.") from None
        except (HandlerFailed, NotPortable, _Dropped, RuntimeError) as error:
            failure = error.failure if isinstance(error, HandlerFailed) else None
            reference = self._audit.crash(
                plugin=plugin_id,
                version=plugin.manifest.version,
                where=f"{key} {name}",
                type=failure.type if failure else type(error).__name__,
                message=failure.message if failure else str(error),
                trace=failure.trace if failure else "",
            )
            raise _Ended("crashed", _masked_text(plugin_id, name, reference), reference=reference) from None

    def _abandon(self, plugin_id: str, call: Call, future: Future[Any]) -> None:
        """Nobody waits any more: an async handler is cancelled, a sync one is told; a late result is dropped."""
        call.cancelled.set()
        if not future.cancel() and not future.done():
            self._stuck(plugin_id, future)

    def _validator(self, now: Snapshot, name: str, which: str, schema: Any) -> Any:
        key = (now.generation, name, which)
        found = self._validators.get(key)
        if found is None:
            if self._validators and next(iter(self._validators))[0] != now.generation:
                self._validators = {}
            found = self._validators[key] = validator(schema)
        return found

    def _record(self, attempt: _Attempt) -> None:
        self._audit.call(
            CallRecord(
                principal=attempt.principal.name,
                what=attempt.what,
                name=attempt.name[:512],
                outcome=attempt.outcome,
                seconds=time.monotonic() - attempt.began,
                scope=attempt.scope,
                scope_id=attempt.scope_id,
                arguments=shapes(attempt.arguments),
                reference=attempt.reference,
            )
        )


class _Ended(Exception):
    """A handler gave no answer: the outcome for the audit and the text for the caller."""

    def __init__(self, outcome: str, text: str, reference: str | None = None, missing: bool = False) -> None:
        super().__init__(text)
        self.outcome, self.text, self.reference, self.missing = outcome, text, reference, missing


class _Dropped(Exception):
    """The handler's task was cancelled by its own plugin, not by the caller."""


async def _finished(future: Future[Any], seconds: float) -> Any:
    """Wait for a future of another thread without taking its cancellation for one's own. Raises `TimeoutError`."""
    loop = asyncio.get_running_loop()
    done = loop.create_future()

    def overdue() -> None:
        if not done.done():
            done.set_exception(TimeoutError())

    def wake(_: Future[Any]) -> None:
        def tell() -> None:
            if not done.done():
                done.set_result(None)

        # a handler that hung may end after the loop of whoever asked is closed
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(tell)

    future.add_done_callback(wake)
    timer = loop.call_later(seconds, overdue)
    try:
        await done
    finally:
        timer.cancel()
    if future.cancelled():
        raise _Dropped("the handler cancelled itself")
    return future.result()


def _offered(tool: ActiveTool, principal: Principal) -> bool:
    if principal.read_only and tool.declaration.posture == "write":
        return False
    return principal.tools is None or tool.exposed in principal.tools or (tool.own and tool.exposed == "help")


def _no_resource(uri: str) -> ProtocolFault:
    return ProtocolFault(f"No such resource: {uri}", data={"uri": uri})


def _invalid_text(name: str, wrong: list[str]) -> str:
    return f"The arguments of {name} are not as declared: {'; '.join(wrong)}. Nothing was done."


def _masked_text(plugin: str, name: str, reference: str) -> str:
    return f"{name} failed inside {plugin}. The user can see why with: yaz log {reference}"


_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
"""Made once: `json.dumps` with options makes an encoder for each call."""


def _page_of(kept: Kept, number: int) -> dict[str, Any] | None:
    """One page of a kept result: pages of text end between characters, so that joined they are the whole."""
    head: dict[str, Any] = {"page": number, "pages": 1, "mimeType": kept.mime}
    if kept.mime == "application/json" or kept.mime.startswith("text/"):
        text = kept.data.decode("utf-8", "replace")
        size = PAGE_BYTES // 4
        pages = max(1, -(-len(text) // size))
        body = {"text": text[(number - 1) * size : number * size]}
    else:
        size = PAGE_BYTES
        pages = max(1, -(-len(kept.data) // size))
        body = {"base64": base64.b64encode(kept.data[(number - 1) * size : number * size]).decode()}
    if not 1 <= number <= pages:
        return None
    following = f"{RESULT_PREFIX}{kept.id}?page={number + 1}" if number < pages else None
    return {**head, "pages": pages, **body, "next": following}
