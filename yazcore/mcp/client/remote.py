"""One server that the user has named: connected when it is needed, again when it has gone; its tools as they are seen.

Everything here runs on yazcore's own loop, for one server at a time with these settings: other settings, another
`Remote`.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any, TypeVar

import mcp_types as types
from mcp import Client
from mcp.shared.exceptions import MCPError
from pydantic import TypeAdapter

from yazcore.manifest.schemas import argument_errors, validator
from yazcore.mcp.client import faults
from yazcore.mcp.client.connection import Connection, SessionOver
from yazcore.mcp.client.definitions import Definition, definitions
from yazcore.mcp.client.faults import NotLetIn, ServerFault
from yazcore.mcp.client.listing import surface_of, tools_of
from yazcore.mcp.client.seen import WHY, Seen
from yazcore.mcp.client.settings import ServerSettings
from yazcore.runtimes.values import MAX_STRUCTURE, NotPortable, TooLarge, portable

T = TypeVar("T")

FRESH_SECONDS = 60.0
"""How long the list of tools counts as it was; a server that says that it has changed is asked at once."""

MOST_AT_ONCE = 16
"""How many calls of one server run at a time; others wait their turn."""

MOST_FAILURES = 3
"""After how many failed attempts in a row to connect one pauses before the next."""

_LONGEST_PAUSE = 60.0

_ANSWER: TypeAdapter[types.CallToolResult | types.InputRequiredResult] = TypeAdapter(
    types.CallToolResult | types.InputRequiredResult
)


class Remote:
    """One server.

    `values` gives its environment or headers with secrets in them, and may wait for a keyring; `seen` gives what the
    user has seen of it, at the moment it is asked. Both raise `ServerFault`.
    """

    def __init__(
        self,
        settings: ServerSettings,
        *,
        values: Callable[[], Mapping[str, str]],
        seen: Callable[[], Seen],
        in_thread: Callable[[Callable[[], Any]], Awaitable[Any]],
    ) -> None:
        self.settings = settings
        self.name = settings.name
        self._values = values
        self._seen = seen
        self._in_thread = in_thread
        self._connecting = asyncio.Lock()
        self._listing = asyncio.Lock()
        self._room = asyncio.Semaphore(MOST_AT_ONCE)
        self._connection: Connection | None = None
        self._definitions: dict[str, Definition] = {}
        self._listed_by: Connection | None = None
        self._listed_at = 0.0
        self._failures = 0
        self._not_before = 0.0
        self._last_fault: ServerFault | None = None
        self._failed_last: Connection | None = None
        self._validators: dict[str, Any] = {}

    async def definitions(self, seconds: float) -> dict[str, Definition]:
        """The server's tools as they are now. Raises `ServerFault`."""
        async with _within(self.name, seconds):
            return await self._fresh()

    async def call(self, tool: str, arguments: dict[str, Any], seconds: float) -> dict[str, Any]:
        """Call a tool that the user has seen as it is: `{"content", "structuredContent"?, "isError"}`.

        Raises `ServerFault`; cancelling it cancels the call on the server.
        """
        async with _within(self.name, seconds), self._room:
            definition = (await self._fresh()).get(tool)
            if definition is None:
                raise faults.no_tool(self.name, tool)
            state = self._seen().state(definition)
            if definition.fault:
                raise faults.unusable(self.name, tool, definition.fault)
            if state != "seen":
                raise faults.held(self.name, tool, WHY[state])
            answer = await self._asked(lambda client: _called(client, tool, arguments))
            if isinstance(answer, types.InputRequiredResult):
                raise faults.asks(self.name)
            made: dict[str, Any] = await self._in_thread(lambda: self._checked(definition, answer))
            return made

    async def surface(self, seconds: float) -> dict[str, Any]:
        """All that the server offers (`surface_of`)."""
        async with _within(self.name, seconds):
            return await self._asked(lambda client: surface_of(client, self.name))

    async def close(self) -> None:
        """Leave the server, and wait until nothing is left of the connection."""
        if self._connection is not None:
            self._connection.close()
            await self._connection.closed()

    # -- inside -------------------------------------------------------------------------------------------------------

    async def _fresh(self) -> dict[str, Definition]:
        loop = asyncio.get_running_loop()
        async with self._listing:
            connection = self._connection
            if (
                connection is None
                or connection is not self._listed_by
                or connection.has_new_tools
                or not connection.is_usable
                or loop.time() - self._listed_at > FRESH_SECONDS
            ):
                if connection is not None:
                    connection.has_new_tools = False
                tools = await self._asked(lambda client: tools_of(client, self.name))
                self._definitions = await self._in_thread(lambda: definitions(tools))
                self._validators = {}
                self._listed_by, self._listed_at = self._connection, loop.time()
            return self._definitions

    async def _asked(self, work: Callable[[Client], Awaitable[T]]) -> T:
        """Ask over the connection there is, or a new one.

        Once more where the server has only forgotten the session, or refused a secret that is another one by now.
        """
        connection = await self._connected()
        try:
            return await connection.request(work)
        except SessionOver:
            pass
        except NotLetIn:
            if await self._in_thread(self._values) == connection.values:
                raise
            connection.retire()
        return await (await self._connected()).request(work)

    async def _connected(self) -> Connection:
        async with self._connecting:
            connection = self._connection
            if connection is None or not connection.is_usable:
                self._pause()
                connection = self._connection = Connection(self.settings, await self._in_thread(self._values))
        try:
            await connection.opened()
        except ServerFault as fault:
            self._failed(connection, fault)
            raise
        self._failures = 0
        return connection

    def _pause(self) -> None:
        """A server that cannot be reached is not asked over and over: after some attempts, not for a while."""
        if self._last_fault is not None and asyncio.get_running_loop().time() < self._not_before:
            raise self._last_fault.again()

    def _failed(self, connection: Connection, fault: ServerFault) -> None:
        if self._failed_last is connection:  # others waited for it too
            return
        self._failed_last = connection
        self._failures += 1
        self._last_fault = fault
        if self._failures >= MOST_FAILURES:
            pause = min(2.0 ** (self._failures - MOST_FAILURES), _LONGEST_PAUSE)
            self._not_before = asyncio.get_running_loop().time() + pause

    def _checked(self, definition: Definition, answer: types.CallToolResult) -> dict[str, Any]:
        """The answer as plain data, once it is what the definition promises. In a thread: it may be large."""
        data: dict[str, Any] = {
            "content": [block.model_dump(by_alias=True, mode="json", exclude_none=True) for block in answer.content],
            "isError": bool(answer.is_error),
        }
        schema = definition.output_schema
        has_structure = "structured_content" in answer.model_fields_set and answer.structured_content is not None
        if schema is not None and not answer.is_error:
            if not has_structure:
                raise faults.lied(self.name, definition.name, "there is no structured result")
            if wrong := argument_errors(self._validator(definition.digest, schema), answer.structured_content):
                raise faults.lied(self.name, definition.name, "; ".join(wrong))
        if has_structure and not definition.schema_fault:
            data["structuredContent"] = answer.structured_content
        try:
            made: dict[str, Any] = portable(data)
        except TooLarge:
            raise faults.too_large(self.name, MAX_STRUCTURE) from None
        except NotPortable as error:
            raise faults.invalid(self.name, str(error)) from None
        return made

    def _validator(self, digest: str, schema: Mapping[str, Any]) -> Any:
        found = self._validators.get(digest)
        if found is None:
            found = self._validators[digest] = validator(schema)
        return found


async def _called(
    client: Client, tool: str, arguments: dict[str, Any]
) -> types.CallToolResult | types.InputRequiredResult:
    """One call, past the SDK's own look at the result: it takes any dialect, lists on its own, and has no bounds."""
    request = types.CallToolRequest(params=types.CallToolRequestParams(name=tool, arguments=arguments))
    try:
        return await client.session.send_request(request, _ANSWER)
    except MCPError as error:
        if error.code != types.HEADER_MISMATCH:
            raise
        await client.list_tools()  # which of the arguments stand in headers has changed
        return await client.session.send_request(request, _ANSWER)


@contextlib.asynccontextmanager
async def _within(name: str, seconds: float) -> AsyncIterator[None]:
    """A block that may take so many seconds. Raises `ServerFault` `server-slow`."""
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        raise faults.slow(name, seconds) from None
