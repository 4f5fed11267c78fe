"""The MCP server of one host: what a client asks, put to the gate, and the gate's answer, put into the protocol.

The SDK's low-level server in both protocol eras (mcp D1, D3). Nothing is decided here but what belongs to the
protocol: who asks stands in the HTTP request (`asgi` put it there), whether they may is the gate's.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
import attrs
import mcp_types as types
from mcp.server import CacheHint, NotificationOptions, Server, ServerRequestContext
from mcp.server.models import InitializationOptions
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from yazcore.capabilities.context import Client
from yazcore.mcp.asking import answers_in, boundary, questions_object, until_answered
from yazcore.mcp.changes import STILL, Changes, Still
from yazcore.mcp.help import instructions
from yazcore.mcp.parameters import call_in, unfit
from yazcore.mcp.prepared import PREPARED, TAKES, encoded
from yazcore.mcp.results import completion_result, prompt_result, read_result, tool_result
from yazcore.mcp.sessions import Sessions
from yazcore.mcp.surface import (
    BadCursor,
    list_page,
    prompt_object,
    resource_object,
    template_object,
    tool_object,
)
from yazcore.mcp.talk import Talk, set_level
from yazcore.outcomes import INVALID_PARAMS, Outcome, Prompted, ProtocolFault, echo
from yazcore.permissions import Principal

if TYPE_CHECKING:
    from yazcore.host import Host

PRINCIPAL = "yazcore.principal"
"""The key of the ASGI scope under which a request says who asks."""

BODY_BYTES = 2**20
"""The most bytes the body of a request may have; a model never writes as much."""

MAX_SESSIONS = 512
"""How many sessions of the older protocol era may be open at once, of all principals together."""

SESSION_IDLE_SECONDS = 300.0
"""After how much silence a session of the older era ends."""

LIST_TTL_MS = 1000
"""How long a client may keep a list: plugins come and go while the server runs (S-42)."""

_RESOURCE_NOT_FOUND = -32002
"""How the older era says it; the newer one uses -32602."""

_LAST_FRAMES_SECONDS = 0.05
_CACHED_LISTS = 64

_Context = ServerRequestContext[Any, Any]
_Next = Callable[[_Context], Awaitable[Any]]
_P = TypeVar("_P")

_log = logging.getLogger("yazcore.mcp")


class Face:
    """One host's MCP server. `server` is the SDK's; clients in the same process connect to it directly.

    `principal` is who asks where no HTTP request says so; without it such requests are refused.
    """

    def __init__(self, host: Host, *, principal: Principal | None = None) -> None:
        self._host = host
        self._gate = host.gate
        self._principal = principal
        self._lists: dict[tuple[Any, ...], tuple[dict[str, Any], bytes]] = {}
        self._listed = -1
        self._changes = Changes(host)
        self._boundary = boundary(host.contract.host, lambda ctx: self._who(ctx).name)
        self._sessions: Sessions | None = None
        self._running: set[anyio.CancelScope] = set()
        self._answered_call = self._answering(self._call_tool)
        self.server = self._build()
        self._stamp = self.server.server_info_stamp  # the SDK copies it for each answer; nobody here changes it

    def _build(self) -> Server[Any]:
        contract = self._host.contract
        server = _Server(
            contract.host,
            version=contract.version,
            cache_hints={"server/discover": CacheHint(ttl_ms=LIST_TTL_MS, scope="private")},
            # Without this the SDK walks the whole tools/list for every call: 28 times slower at 1000 tools (mcp D2).
            get_tool_input_schema=self._gate.header_schema,
            on_subscriptions_listen=self._listen,
        )
        paged, add = types.PaginatedRequestParams, server.add_request_handler
        add("tools/list", paged, self._answering(self._list_tools))
        add("tools/call", types.CallToolRequestParams, self._answered_call)
        add("resources/list", paged, self._answering(self._list_resources))
        add("resources/templates/list", paged, self._answering(self._list_templates))
        add("resources/read", types.ReadResourceRequestParams, self._answering(self._read_resource))
        add("prompts/list", paged, self._answering(self._list_prompts))
        add("prompts/get", types.GetPromptRequestParams, self._answering(self._get_prompt))
        add("completion/complete", types.CompleteRequestParams, self._answering(self._propose))
        add("resources/subscribe", types.SubscribeRequestParams, self._subscribe)
        add("resources/unsubscribe", types.UnsubscribeRequestParams, self._unsubscribe)
        add("logging/setLevel", types.SetLevelRequestParams, self._set_level)
        server.add_notification_handler("notifications/initialized", types.NotificationParams, self._initialized)
        # In place of the SDK's own tracing: a twelfth of a call, for spans that nobody asked for.
        server.middleware[:] = [self._around]
        return server

    def _answering(
        self, handler: Callable[[_Context, _P], Awaitable[dict[str, Any]]]
    ) -> Callable[[_Context, _P], Awaitable[dict[str, Any]]]:
        """The handler, cancelled by `end`, with what the newer era wants to read in every result: nothing is open."""

        async def answer(ctx: _Context, params: _P) -> dict[str, Any]:
            with anyio.CancelScope() as scope:
                self._running.add(scope)
                try:
                    result = await handler(ctx, params)
                finally:
                    self._running.discard(scope)
                result.setdefault("resultType", "complete")
                return result
            raise MCPError(types.CONNECTION_CLOSED, "the MCP server was switched off")

        return answer

    # --- around every request -------------------------------------------------------------------------------------

    async def _around(self, ctx: _Context, call_next: _Next) -> Any:
        if ctx.request_id is None:  # a notification asks for nothing, whatever it calls itself
            return await call_next(ctx)
        if (wrong := unfit(ctx.params)) is not None:
            self._malformed(ctx)
            raise MCPError(INVALID_PARAMS, wrong)
        try:
            if ctx.method == "tools/call":
                return await self._called(ctx, call_next)
            if ctx.method == "tools/list":
                return await self._cached(ctx, call_next)
            if ctx.method == "prompts/get":
                return await self._sealed(ctx, call_next)
            result = await call_next(ctx)
            if ctx.method in ("initialize", "server/discover"):
                # Not the server's own attribute: what a principal may not know is not named to it.
                who = self._who(ctx)
                may = await self._gate.everywhere(who)
                uri = self._host.catalogue.now.permissions_uri
                result["instructions"] = instructions(self._host.contract.host, self._gate.tools(who), may, uri)
            return result
        except MCPError:
            raise
        except ValidationError:  # of the SDK's models: the handler was not reached
            self._malformed(ctx)
            raise
        except ProtocolFault as fault:
            raise _protocol_error(ctx, fault) from None
        except Exception:  # noqa: BLE001 - nothing of a fault in here may reach a client
            # The SDK's older era would send the exception's text.
            _log.exception("%s failed", ctx.method)
            raise MCPError(types.INTERNAL_ERROR, "Internal server error") from None

    async def _called(self, ctx: _Context, call_next: _Next) -> Any:
        """A tool call; one of the newer era that is plainly well-formed goes past the SDK's models.

        They check again what the gate checks: an eighth of a call's time. Everything else goes through them.
        """
        params = ctx.params or {}
        name, arguments = params.get("name"), params.get("arguments")
        if arguments is None:
            arguments = {}
        if isinstance(name, str) and not isinstance(arguments, dict):
            return await self._answered_call(ctx, _Asked(name, arguments))  # the gate knows what to say to that
        modern = ctx.protocol_version in MODERN_PROTOCOL_VERSIONS and ctx.meta is not None
        if not modern or not isinstance(name, str) or answers_in(ctx):
            return await self._sealed(ctx, call_next)
        result = await self._answered_call(ctx, _Asked(name, arguments))
        if result["resultType"] != "complete":
            return await self._boundary(ctx, lambda _: _given(result))
        result["_meta"] = {types.SERVER_INFO_META_KEY: self._stamp}
        return result

    async def _sealed(self, ctx: _Context, call_next: _Next) -> Any:
        """A call with what it wants to remember sealed; one whose seal is broken does not reach the gate."""
        opened = False

        async def go_on(inner: _Context) -> Any:
            nonlocal opened
            opened = True
            return await call_next(inner)

        try:
            return await self._boundary(ctx, go_on)
        except MCPError:
            if not opened:
                self._malformed(ctx)
            raise

    def _malformed(self, ctx: _Context) -> None:
        """Leave a record of a call that the gate never saw (design 7: one for each, whatever the outcome)."""
        if (call := call_in(ctx.method, ctx.params)) is not None:
            self._gate.malformed(self._who(ctx), *call)

    async def _cached(self, ctx: _Context, call_next: _Next) -> Any:
        """A list, made once for each generation of the catalogue: at 1000 tools a third of the time (mcp D13)."""
        generation = self._host.catalogue.now.generation
        if generation != self._listed or len(self._lists) >= _CACHED_LISTS:
            self._lists, self._listed = {}, generation
        who = self._who(ctx)
        cursor = (ctx.params or {}).get("cursor")
        key = (ctx.protocol_version, who.tools, who.read_only, cursor)
        ready = ctx.session.client_capabilities is not None and (cursor is None or isinstance(cursor, str))
        if ready and (made := self._lists.get(key)) is not None:
            result, ready_made = made
            if ctx.request is None or not ctx.request.scope.get(TAKES):
                return result
            ctx.request.scope[PREPARED] = ready_made, ctx.request_id
            return {**result, "tools": []}
        result = await call_next(ctx)
        # The SDK's own shape of a schema drops a `default: null` at its root: put back what was declared.
        tools = self._host.catalogue.now.tools
        result["tools"] = [
            tool_object(tools[tool["name"]]) if tool["name"] in tools else tool for tool in result["tools"]
        ]
        if generation == self._host.catalogue.now.generation:
            self._lists[key] = result, encoded(result)
        return result

    def _who(self, ctx: _Context) -> Principal:
        """Who asks: always read from this very request, never kept, so that no caller can be taken for another."""
        who = self._principal if ctx.request is None else ctx.request.scope[PRINCIPAL]
        if not isinstance(who, Principal):
            raise MCPError(types.INVALID_REQUEST, "nobody is named as the caller")
        return who

    # --- requests -------------------------------------------------------------------------------------------------

    async def _list_tools(self, ctx: _Context, params: types.PaginatedRequestParams) -> dict[str, Any]:
        tools = {tool.exposed: tool_object(tool) for tool in self._gate.tools(self._who(ctx))}
        return _list("tools", tools, params.cursor)

    async def _list_resources(self, ctx: _Context, params: types.PaginatedRequestParams) -> dict[str, Any]:
        found = (one for one in self._gate.resources(self._who(ctx)) if one.declaration.uri is not None)
        return _list("resources", {one.declaration.address: resource_object(one) for one in found}, params.cursor)

    async def _list_templates(self, ctx: _Context, params: types.PaginatedRequestParams) -> dict[str, Any]:
        found = (one for one in self._gate.resources(self._who(ctx)) if one.declaration.uri is None)
        entries = {one.declaration.address: template_object(one) for one in found}
        return _list("resourceTemplates", entries, params.cursor)

    async def _list_prompts(self, ctx: _Context, params: types.PaginatedRequestParams) -> dict[str, Any]:
        prompts = {one.exposed: prompt_object(one) for one in self._gate.prompts(self._who(ctx))}
        return _list("prompts", prompts, params.cursor)

    async def _call_tool(self, ctx: _Context, params: types.CallToolRequestParams | _Asked) -> dict[str, Any]:
        who, arguments = self._who(ctx), {} if params.arguments is None else params.arguments
        tool = self._host.catalogue.now.tools.get(params.name)
        may_ask = tool is not None and (tool.own or tool.asks)
        if not may_ask and (ctx.meta is None or "progress_token" not in ctx.meta):
            return tool_result(await self._gate.call_tool(who, params.name, arguments))  # it can say nothing meanwhile
        talk = Talk(ctx, self._host.contract.host)

        def call(meet: Callable[[], Client]) -> Awaitable[Outcome]:
            return self._gate.call_tool(who, params.name, arguments, talk.report, meet)

        outcome = await talk.during(until_answered(ctx, talk, call))
        return tool_result(outcome) if outcome.ask is None else questions_object(outcome.ask)

    async def _read_resource(self, ctx: _Context, params: types.ReadResourceRequestParams) -> dict[str, Any]:
        return read_result(await self._gate.read_resource(self._who(ctx), str(params.uri)))

    async def _get_prompt(self, ctx: _Context, params: types.GetPromptRequestParams) -> dict[str, Any]:
        who, arguments, talk = self._who(ctx), params.arguments or {}, Talk(ctx, self._host.contract.host)

        def call(meet: Callable[[], Client]) -> Awaitable[Prompted]:
            return self._gate.get_prompt(who, params.name, arguments, meet)

        prompted = await talk.during(until_answered(ctx, talk, call))
        return prompt_result(prompted) if prompted.ask is None else questions_object(prompted.ask)

    async def _propose(self, ctx: _Context, params: types.CompleteRequestParams) -> dict[str, Any]:
        what = params.ref.uri if isinstance(params.ref, types.ResourceTemplateReference) else params.ref.name
        asked, given = params.argument, (params.context.arguments if params.context is not None else None)
        return completion_result(await self._gate.complete(self._who(ctx), what, asked.name, asked.value, given))

    # --- what changed ---------------------------------------------------------------------------------------------

    def _still(self, ctx: _Context) -> Still:
        """How to ask later who this request's token stands for then."""
        if ctx.request is None:
            return lambda: self._principal
        still: Still = ctx.request.scope[STILL]
        return still

    async def _initialized(self, ctx: _Context, params: types.NotificationParams) -> None:
        still, sessions = self._still(ctx), self._sessions
        session = None if ctx.request is None else ctx.request.headers.get(MCP_SESSION_ID_HEADER)

        def now() -> Principal | None:
            """Who the session's open stream is for: its token may be a newer one than that of this request."""
            stream = None if sessions is None or session is None else sessions.stream_of(session)
            return (still if stream is None else stream.still)()

        self._changes.opened(ctx, now)

    async def _listen(
        self, ctx: _Context, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        return await self._changes.listen(ctx, params, self._who(ctx), self._still(ctx))

    async def _subscribe(self, ctx: _Context, params: types.SubscribeRequestParams) -> types.EmptyResult:
        uri = str(params.uri)
        if not await self._changes.subscribe(ctx, uri, self._who(ctx)):
            raise MCPError(_RESOURCE_NOT_FOUND, f"No such resource: {echo(uri)}", {"uri": echo(uri)})
        return types.EmptyResult()

    async def _unsubscribe(self, ctx: _Context, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
        self._changes.unsubscribe(ctx, str(params.uri))
        return types.EmptyResult()

    async def _set_level(self, ctx: _Context, params: types.SetLevelRequestParams) -> types.EmptyResult:
        set_level(ctx, params.level)
        return types.EmptyResult()

    # --- serving --------------------------------------------------------------------------------------------------

    @contextlib.asynccontextmanager
    async def serving(self) -> AsyncIterator[StreamableHTTPSessionManager]:
        """The server's HTTP side, ready for requests while the context lasts; its `asgi_app` takes them.

        Answers may be streams: a plain JSON answer would lose progress, and cancelling when a client leaves (mcp D3).
        """
        self._sessions = manager = Sessions(
            self.server,
            json_response=False,
            stateless=False,
            max_request_body_size=BODY_BYTES,
            session_idle_timeout=SESSION_IDLE_SECONDS,
            max_sessions=MAX_SESSIONS,
        )
        async with manager.run(), anyio.create_task_group() as tasks:
            tasks.start_soon(self._changes.tell)
            tasks.start_soon(self._changes.watch, manager.streams)
            try:
                yield manager
            finally:
                await self._finish()
                tasks.cancel_scope.cancel()

    def end(self) -> None:
        """Cancel every call and end every listen stream; each still sends its last frame (mcp D7)."""
        self._changes.close()
        for scope in tuple(self._running):
            scope.cancel()

    async def _finish(self) -> None:
        """A session of the older era that is closed over a running call would wait a second for it, in vain."""
        if self._running:
            self.end()
            with anyio.CancelScope(shield=True):
                await anyio.sleep(_LAST_FRAMES_SECONDS)


@attrs.frozen
class _Asked:
    """What a tool call asks for, where the SDK's model of it would only cost time."""

    name: str
    arguments: Any


class _Server(Server[Any]):
    """The SDK's server; it tells the older era, too, that lists may change."""

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        changes = NotificationOptions(prompts_changed=True, resources_changed=True, tools_changed=True)
        return super().create_initialization_options(
            notification_options or changes, experimental_capabilities, extensions
        )


async def _given(result: dict[str, Any]) -> dict[str, Any]:
    return result


def _list(listing: str, entries: dict[str, dict[str, Any]], cursor: str | None) -> dict[str, Any]:
    try:
        page = list_page(listing, entries, cursor)
    except BadCursor:
        raise MCPError(INVALID_PARAMS, f"this is no cursor of this list; list the {listing} from the start") from None
    result: dict[str, Any] = {listing: list(page.items), "ttlMs": LIST_TTL_MS, "cacheScope": "private"}
    if page.next_cursor is not None:
        result["nextCursor"] = page.next_cursor
    return result


def _protocol_error(ctx: _Context, fault: ProtocolFault) -> MCPError:
    code = fault.code
    missing = ctx.method == "resources/read" and code == INVALID_PARAMS
    if missing and ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS:
        code = _RESOURCE_NOT_FOUND
    return MCPError(code, fault.message, None if fault.data is None else dict(fault.data))
