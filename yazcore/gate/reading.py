"""Resources, prompts and completions: the same steps as a tool call; what may not be read is not there (G37, S-30)."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from typing import Any

from yazcore.catalogue import Catalogue
from yazcore.declarations import DEADLINE_SECONDS, Cache
from yazcore.gate.steps import Attempt, Ended, NoHandler, Refused, Scope, Steps
from yazcore.outcomes import INTERNAL_ERROR, Content, ProtocolFault, encode
from yazcore.permissions import GLOBAL, Principal
from yazcore.results import PAGE_BYTES, RESULT_PREFIX, Kept, ResultStore

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
                raise ProtocolFault(f"No such resource: {uri}", data={"uri": uri})
            attempt.outcome = "ok"
            return content

    async def _resource(self, attempt: Attempt) -> Content | None:
        """The content; None for whatever is not there for this principal, in whichever way."""
        uri = attempt.name
        found = attempt.now.resource_for(uri)
        if found is None:
            attempt.outcome = "unknown"
            return None
        resource, values = found
        declaration = resource.declaration
        kind = self._steps.kind(declaration.scope)
        try:
            scope_id = self._steps.scope_id(attempt, kind, values)
            scope = await self._steps.permitted(attempt, kind, scope_id, declaration.permission)
        except (ProtocolFault, Refused):
            return None
        call = self._steps.call(attempt, scope, "read", DEADLINE_SECONDS)
        try:
            value = await self._steps.run(
                attempt, resource.plugin, "resources", declaration.address, "handler", call, scope.spelled(values)
            )
        except Ended as ended:
            if ended.missing:
                return None
            raise ProtocolFault(ended.text, code=INTERNAL_ERROR, data={"uri": uri}) from None
        mime, data = "application/json", value
        if isinstance(value, str):
            mime = "text/plain"
        elif isinstance(value, bytes):
            mime = "application/octet-stream"
        else:
            data = encode(value)
        return Content(uri=uri, mime=declaration.mime_type or mime, data=data, cache=declaration.cache)

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

    async def prompt(self, principal: Principal, name: str, arguments: Mapping[str, str]) -> str:
        """The text of a prompt. Raises `ProtocolFault`."""
        with self._steps.recorded(self._attempt(principal, "prompt", name, arguments)) as attempt:
            text = await self._prompt(attempt, dict(arguments))
            attempt.outcome = "ok"
            return text

    async def _prompt(self, attempt: Attempt, arguments: dict[str, str]) -> str:
        prompt = attempt.now.prompts.get(attempt.name)
        if prompt is None:
            attempt.outcome = "unknown"
            raise ProtocolFault(f"Unknown prompt: {attempt.name}")
        declaration = prompt.declaration
        known = {argument.name: argument.required for argument in declaration.arguments}
        wrong = [f"{name} is missing" for name, required in known.items() if required and not arguments.get(name)]
        wrong += [f"{name} is unknown" for name in sorted(arguments.keys() - known)]
        if wrong:
            attempt.outcome = "malformed"
            raise ProtocolFault(f"{attempt.name}: {'; '.join(wrong)}")
        kind = self._steps.kind(declaration.scope)
        scope_id = self._steps.scope_id(attempt, kind, arguments)
        try:
            scope = await self._steps.permitted(attempt, kind, scope_id, declaration.permission)
        except Refused as refused:
            raise ProtocolFault(str(refused)) from None
        call = self._steps.call(attempt, scope, "read", DEADLINE_SECONDS)
        try:
            text = await self._steps.run(
                attempt, prompt.plugin, "prompts", declaration.name, "handler", call, scope.spelled(arguments)
            )
        except Ended as ended:
            raise ProtocolFault(ended.text, code=INTERNAL_ERROR) from None
        if not isinstance(text, str):
            where = f"prompts {declaration.name}"
            masked = self._steps.masked(attempt, prompt.plugin, where, "NoText", f"it gave a {type(text).__name__}")
            raise ProtocolFault(masked, code=INTERNAL_ERROR)
        return text

    # --- completion -----------------------------------------------------------------------------------------------

    async def completion(self, principal: Principal, address: str, argument: str, prefix: str) -> list[str]:
        """Values for a template's variable that begin with `prefix`. Raises `ProtocolFault`."""
        with self._steps.recorded(self._attempt(principal, "completion", address, {})) as attempt:
            values = await self._values(attempt, argument, prefix)
            return [value for value in values if isinstance(value, str) and value.startswith(prefix)]

    async def _values(self, attempt: Attempt, argument: str, prefix: str) -> list[Any]:
        now = attempt.now
        resource = now.resources.get(attempt.name)
        if resource is None:
            attempt.outcome = "unknown"
            raise ProtocolFault(f"Unknown resource template: {attempt.name}")
        declaration = resource.declaration
        try:
            await self._steps.permitted(attempt, GLOBAL, None, declaration.permission)
        except Refused:
            return []
        fixed = next((variable.values for variable in declaration.variables if variable.name == argument), None)
        if fixed is not None:
            attempt.outcome = "ok"
            return list(fixed)
        call = self._steps.call(attempt, Scope(kind=GLOBAL), "read", DEADLINE_SECONDS)
        try:
            values = await self._steps.run(
                attempt, resource.plugin, "resources", declaration.address, "complete", call, argument, prefix
            )
        except NoHandler:  # the resource was registered without a completer
            attempt.outcome = "ok"
            return []
        except Ended:
            return []
        attempt.outcome = "ok"
        return values if isinstance(values, list) else []


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
