"""Resources, prompts and completions: the same steps as a tool call; what may not be read is not there (G37, S-30)."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from typing import Any

import attrs

from yazcore.capabilities.context import Client
from yazcore.catalogue import ActivePrompt, ActiveResource, Catalogue, Snapshot
from yazcore.declarations import DEADLINE_SECONDS, Cache, ResourceDeclaration
from yazcore.gate.steps import Attempt, Ended, Meet, NoHandler, Refused, Scope, Steps
from yazcore.outcomes import INTERNAL_ERROR, Content, Prompted, ProtocolFault, echo, encode
from yazcore.permissions import GLOBAL, Principal, ScopeKind
from yazcore.results import PAGE_BYTES, RESULT_PREFIX, Kept, ResultStore
from yazcore.runtimes.values import Spoken
from yazcore.uri_templates import variables

MOST_IDS = 200
"""How many proposed ids are looked at: for each, somebody is asked whether the caller may read there."""

MOST_NAMED = 10
"""How many unknown arguments an error names."""

_RAW_RESULT_BYTES = 2**20
_KEPT = re.compile(r"([A-Za-z0-9_-]{1,64})(?:\?page=([0-9]{1,9}))?", re.ASCII)


class Reading:
    """The way of everything that is read."""

    def __init__(self, steps: Steps, catalogue: Catalogue, results: ResultStore) -> None:
        self._steps = steps
        self._catalogue = catalogue
        self._results = results

    def _attempt(self, principal: Principal, what: str, name: str, arguments: Any) -> Attempt:
        return Attempt(principal=principal, what=what, name=name, arguments=arguments, now=self._catalogue.now)

    # --- resources ------------------------------------------------------------------------------------------------

    async def resource(self, principal: Principal, uri: str) -> Content:
        """Read a resource. Raises `ProtocolFault`."""
        with self._steps.recorded(self._attempt(principal, "resource", uri, {})) as attempt:
            content = self._kept(attempt) if uri.startswith(RESULT_PREFIX) else await self._resource(attempt)
            if content is None:
                raise ProtocolFault(f"No such resource: {echo(uri)}", data={"uri": echo(uri)})
            attempt.outcome = "ok"
            return content

    async def may(self, principal: Principal, uri: str) -> bool:
        """Whether the principal may read what the URI names, as far as that is known without the plugin."""
        return await self._found(self._attempt(principal, "resource", uri, {})) is not None

    async def subscription(self, principal: Principal, uri: str) -> bool:
        """`may`, with a record of its own."""
        with self._steps.recorded(self._attempt(principal, "subscription", uri, {})) as attempt:
            found = await self._found(attempt)
            if found is not None:
                attempt.outcome = "ok"
            return found is not None

    async def _found(self, attempt: Attempt) -> tuple[ActiveResource, dict[str, str], Scope] | None:
        """The resource, the values in its URI and where it is; None for what is not there for this principal.

        From here on the attempt has the address as its name: a value of a template's variable belongs in no record.
        """
        found = attempt.now.resource_for(attempt.name)
        if found is None:
            attempt.outcome = "unknown"
            return None
        resource, values = found
        attempt.name, attempt.arguments = resource.declaration.address, values
        kind = self._steps.kind(resource.declaration.scope)
        try:
            scope_id = self._steps.scope_id(attempt, kind, values)
            scope = await self._steps.permitted(attempt, kind, scope_id, resource.declaration.permission)
        except (ProtocolFault, Refused):
            return None
        return resource, scope.spelled(values), scope

    async def _resource(self, attempt: Attempt) -> Content | None:
        """The content; None for whatever is not there for this principal, in whichever way."""
        uri = attempt.name
        found = await self._found(attempt)
        if found is None:
            return None
        resource, values, scope = found
        declaration = resource.declaration
        call = self._steps.call(attempt, scope, "read", DEADLINE_SECONDS)
        try:
            value = await self._steps.run(
                attempt, resource.plugin, "resources", declaration.address, "handler", call, values
            )
        except Ended as ended:
            if ended.missing:
                return None
            raise ProtocolFault(ended.text, code=INTERNAL_ERROR, data={"uri": echo(uri)}) from None
        mime, data = "application/json", value
        if isinstance(value, str):
            mime = "text/plain"
        elif isinstance(value, bytes):
            mime = "application/octet-stream"
        else:
            data = encode(value)
        cache = declaration.cache
        if scope.id is not None and cache.scope != "private":
            cache = attrs.evolve(cache, scope="private")  # who may read it depends on the id, whatever it says (G70)
        return Content(uri=uri, mime=declaration.mime_type or mime, data=data, cache=cache)

    def _kept(self, attempt: Attempt) -> Content | None:
        """A kept result of this principal's: an export as it is, anything larger or too large once before in pages."""
        attempt.outcome = "unknown"
        asked = _KEPT.fullmatch(attempt.name[len(RESULT_PREFIX) :])
        kept = None if asked is None else self._results.get(attempt.principal.name, asked[1])
        if asked is None or kept is None:
            return None
        if asked[2] is None and not kept.paged and len(kept.data) <= _RAW_RESULT_BYTES:
            return Content(uri=attempt.name, mime=kept.mime, data=kept.data, cache=Cache())
        page = _page_of(kept, int(asked[2] or "1"))
        if page is None:
            return None
        return Content(uri=attempt.name, mime="application/json", data=encode(page), cache=Cache())

    # --- prompts --------------------------------------------------------------------------------------------------

    async def prompt(
        self, principal: Principal, name: str, arguments: Mapping[str, str], meet: Meet | None
    ) -> Prompted:
        """The messages of a prompt. Raises `ProtocolFault`."""
        with self._steps.recorded(self._attempt(principal, "prompt", name, arguments)) as attempt:
            prompted = await self._prompt(attempt, dict(arguments), meet)
            attempt.outcome = "ok" if prompted.ask is None else "asked"
            return prompted

    async def _prompt(self, attempt: Attempt, arguments: dict[str, str], meet: Meet | None) -> Prompted:
        prompt = attempt.now.prompts.get(attempt.name)
        if prompt is None:
            attempt.outcome = "unknown"
            raise ProtocolFault(f"Unknown prompt: {echo(attempt.name)}")
        declaration = prompt.declaration
        kind = self._steps.kind(declaration.scope)
        scope_id = self._steps.scope_id(attempt, kind, arguments)
        try:
            scope = await self._steps.permitted(attempt, kind, scope_id, declaration.permission)
        except Refused as refused:
            raise ProtocolFault(str(refused)) from None
        known = {argument.name: argument.required for argument in declaration.arguments}
        wrong = [f"{name} is missing" for name, required in known.items() if required and not arguments.get(name)]
        wrong += [f"{echo(name)} is unknown" for name in sorted(arguments.keys() - known)][:MOST_NAMED]
        if wrong:
            attempt.outcome = "malformed"
            raise ProtocolFault(f"{attempt.name}: {'; '.join(wrong)}")
        client = (meet or Client)() if prompt.own else None
        call = self._steps.call(attempt, scope, "read", DEADLINE_SECONDS, client=client)
        try:
            spoken: Spoken = await self._steps.run(
                attempt, prompt.plugin, "prompts", declaration.name, "handler", call, scope.spelled(arguments)
            )
        except Ended as ended:
            raise ProtocolFault(ended.text, code=INTERNAL_ERROR) from None
        if spoken.ask is not None and meet is None and prompt.own:
            raise ProtocolFault(f"{attempt.name} has a question, and nobody can be asked here.")
        if spoken.ask is not None and not prompt.own:
            text = self._steps.may_not_ask(attempt, prompt.plugin, f"prompts {declaration.name}")
            raise ProtocolFault(text, code=INTERNAL_ERROR)
        return Prompted(description=prompt.description, messages=spoken.messages, ask=spoken.ask)

    # --- completion -----------------------------------------------------------------------------------------------

    async def completion(
        self, principal: Principal, name: str, argument: str, prefix: str, given: Mapping[str, str]
    ) -> list[str]:
        """Values for a template's variable or a prompt's argument that begin with `prefix`. Raises `ProtocolFault`."""
        asked = {**given, argument: prefix}
        with self._steps.recorded(self._attempt(principal, "completion", name, asked)) as attempt:
            values = await self._values(attempt, argument, prefix, given)
            return [value for value in values if isinstance(value, str) and value.startswith(prefix)]

    async def _values(self, attempt: Attempt, argument: str, prefix: str, given: Mapping[str, str]) -> list[Any]:
        """The values; none where the caller may not read what they would lead to (G45)."""
        found, key, known = _completed(attempt.now, attempt.name)
        if found is None:
            attempt.outcome = "unknown"
            raise ProtocolFault(f"Unknown resource template or prompt: {echo(attempt.name)}")
        if argument not in known:
            attempt.outcome = "malformed"
            raise ProtocolFault(f"{attempt.name} has no {echo(argument)}; it has {', '.join(known) or 'nothing'}")
        declaration = found.declaration
        kind = self._steps.kind(declaration.scope)
        asks_for_ids = kind.argument == argument
        scope = await self._completed_in(attempt, kind, declaration.permission, given, asks_for_ids)
        if scope is None:
            return []
        values: list[Any] | None = known[argument]
        if values is None:
            address = declaration.address if isinstance(declaration, ResourceDeclaration) else declaration.name
            call = self._steps.call(attempt, scope, "read", DEADLINE_SECONDS)
            try:
                proposed = await self._steps.run(
                    attempt, found.plugin, key, address, "complete", call, argument, prefix
                )
            except NoHandler:  # it was registered without a completer
                proposed = []
            except Ended:
                return []
            values = proposed if isinstance(proposed, list) else []
        attempt.outcome = "ok"
        if asks_for_ids:
            values = [one for one in values if isinstance(one, str) and one.startswith(prefix)][:MOST_IDS]
            values = [one for one in values if await self._is_seen(attempt, kind, declaration.permission, one)]
        return values

    async def _completed_in(
        self, attempt: Attempt, kind: ScopeKind, permission: str, given: Mapping[str, str], asks_for_ids: bool
    ) -> Scope | None:
        """Where a completion runs; None where its caller may read nothing of what it would show.

        The id may stand among the values that are known already. Without one, whoever has the permission everywhere
        gets values that belong to no id; and an id itself is proposed one by one, to whoever may read there.
        """
        if asks_for_ids and self._steps.may_somewhere(attempt, kind, permission):
            return Scope(kind=GLOBAL)
        try:
            if kind.argument is None or kind.argument not in given or asks_for_ids:
                return await self._steps.permitted(attempt, GLOBAL, None, permission)
            scope_id = self._steps.scope_id(attempt, kind, given)
            return await self._steps.permitted(attempt, kind, scope_id, permission)
        except (ProtocolFault, Refused):
            attempt.outcome = "denied"
            return None

    async def _is_seen(self, attempt: Attempt, kind: ScopeKind, permission: str, value: str) -> bool:
        if kind.parse(value) != value:
            return False
        try:
            await self._steps.permitted(attempt, kind, value, permission)
        except (ProtocolFault, Refused):
            return False
        finally:
            attempt.outcome = "ok"
        return True


def recorded_as(now: Snapshot, uri: str) -> tuple[str, dict[str, str]]:
    """The name and arguments that a record has for a URI: its template and variables, where it is one of a template."""
    found = now.resource_for(uri)
    return (uri, {}) if found is None else (found[0].declaration.address, found[1])


def _completed(
    now: Snapshot, name: str
) -> tuple[ActiveResource | ActivePrompt | None, str, dict[str, list[Any] | None]]:
    """The template or prompt of that name, its key, and its variables with the values that are declared for each."""
    if (resource := now.resources.get(name)) is not None:
        declared = {variable.name: variable.values for variable in resource.declaration.variables}
        names = variables(resource.declaration.uri_template or "")
        values = {one: declared.get(one) for one in names}
        return resource, "resources", {one: None if of is None else list(of) for one, of in values.items()}
    if (prompt := now.prompts.get(name)) is not None:
        return prompt, "prompts", {argument.name: None for argument in prompt.declaration.arguments}
    return None, "", {}


def _page_of(kept: Kept, number: int) -> dict[str, Any] | None:
    """One page of a kept result: pages of text end between characters, so that joined they are the whole."""
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
    return {"page": number, "pages": pages, "mimeType": kept.mime, **body, "next": following}
