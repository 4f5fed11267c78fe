"""A client that only speaks stdio, and a server that only speaks HTTP: each message goes through as it is (design 7).

The bridge knows no more of MCP than HTTP asks of a client: which headers stand for what a message says, what belongs
to a session of the older era, and that closing an answer's stream is how the newer era cancels. It loads no SDK, so a
client that starts it waits for nothing.
"""

from __future__ import annotations

import base64
import contextlib
import json
import re
from collections.abc import Callable, Mapping
from typing import Any

import anyio
import anyio.abc
import attrs
import httpx2

from yazcore.mcp.lines import LinesIn, LinesOut, TooLong
from yazcore.violations import YazError

CONNECTION_CLOSED = -32000
PARSE_ERROR = -32700
INVALID_REQUEST = -32600

LAST_ANSWERS_SECONDS = 1.0
"""How long calls may still take when the client's input has ended, in seconds; then they are cancelled."""

_LOOK_SECONDS = 0.5
_FLUSH_SECONDS = 2.0
_CONNECT_SECONDS = 5.0

_VERSION = "io.modelcontextprotocol/protocolVersion"
_NAMES = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_PLAIN = re.compile(r"[\x20-\x7e]*", re.ASCII)
_CODED = re.compile(r"=\?base64\?.*\?=", re.ASCII)

Message = dict[str, Any]


@attrs.define
class _Request:
    """A request on its way. `over`: nobody waits for an answer any more. `modern`: to close its stream cancels it."""

    id: str | int
    modern: bool
    scope: anyio.CancelScope = attrs.field(factory=anyio.CancelScope)
    over: bool = False


async def bridge(
    url: str, token: str, *, there: Callable[[], bool], stdin: int = 0, stdout: int = 1
) -> None:
    """Carry messages between two descriptors and the server at `url`, until the input ends.

    `there` says whether that server still runs; it is asked twice a second and must be quick. Raises `YazError`:
    `bridge-lost` where it does not, after every open request was answered with an error; `bridge-token`;
    `bridge-line`.
    """
    client = httpx2.AsyncClient(
        headers={"Authorization": f"Bearer {token}", "Accept": "application/json, text/event-stream"},
        timeout=httpx2.Timeout(None, connect=_CONNECT_SECONDS),
        limits=httpx2.Limits(max_connections=None, max_keepalive_connections=8),
        # the token goes to the loopback interface and to no proxy of the environment (mcp 19)
        trust_env=False,
        verify=False,  # there is no TLS: the address is http on the loopback interface
    )
    out = LinesOut(stdout)
    async with client:
        carrier = _Carrier(url, client, there, LinesIn(stdin), out)
        try:
            await carrier.run()
        finally:
            with anyio.CancelScope(shield=True):
                await carrier.end_session()
                await out.close(_FLUSH_SECONDS)


class _Carrier:
    """One client's connection."""

    def __init__(
        self, url: str, client: httpx2.AsyncClient, there: Callable[[], bool], lines: LinesIn, out: LinesOut
    ) -> None:
        self._url = url
        self._client = client
        self._there = there
        self._lines = lines
        self._out = out
        self._open: dict[str | int, _Request] = {}
        self._idle = anyio.Event()
        self._session: dict[str, str] = {}
        self._mirrored: dict[str, Any] = {}
        self._scope = anyio.CancelScope()
        self._fault: YazError | None = None

    async def run(self) -> None:
        """Carry until the input ends. Raises as `bridge`."""
        with self._scope:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._watch)
                tasks.start_soon(self._until_nobody_reads)
                await self._carry(tasks)
                tasks.cancel_scope.cancel()
        if self._fault is not None:
            for request in tuple(self._open.values()):
                await self._answer(request, _error(request.id, CONNECTION_CLOSED, self._fault.message))
            raise self._fault

    def _end(self, fault: YazError) -> None:
        """End the whole connection for this reason."""
        self._fault = self._fault or fault
        self._scope.cancel()

    async def _watch(self) -> None:
        while True:
            if not self._there():
                self._end(_lost())
            await anyio.sleep(_LOOK_SECONDS)

    async def _until_nobody_reads(self) -> None:
        await self._out.broken.wait()
        self._scope.cancel()

    # --- from the client ------------------------------------------------------------------------------------------

    async def _carry(self, tasks: anyio.abc.TaskGroup) -> None:
        while (line := await self._next()) is not None:
            try:
                message = json.loads(line)
            except (ValueError, RecursionError):
                await self._out.put(_error(None, PARSE_ERROR, "this line is no JSON"))
                continue
            if not isinstance(message, dict):
                await self._out.put(_error(None, INVALID_REQUEST, "a message is one object"))
            elif "method" in message and "id" in message:
                await self._start(message, line, tasks)
            elif not self._cancels(message):
                await self._tell(message, line, tasks)
        with anyio.move_on_after(LAST_ANSWERS_SECONDS):
            while self._open:
                self._idle = anyio.Event()
                await self._idle.wait()

    async def _next(self) -> bytes | None:
        """The next line with something on it; None at the end of input."""
        try:
            while (line := await self._lines.next()) is not None:
                if line := line.strip():
                    return line
        except TooLong:
            self._end(YazError("bridge-line", "the client sent a line that is too long", "send smaller messages"))
        return None

    async def _start(self, message: Message, line: bytes, tasks: anyio.abc.TaskGroup) -> None:
        request_id = message["id"]
        if type(request_id) not in (str, int):
            await self._out.put(_error(None, INVALID_REQUEST, "an id is a text or a whole number"))
        elif request_id in self._open:
            await self._out.put(_error(request_id, INVALID_REQUEST, "a request with this id is open"))
        else:
            request = self._open[request_id] = _Request(request_id, _version(message) is not None)
            tasks.start_soon(self._request, request, message, line)

    def _cancels(self, message: Message) -> bool:
        """Whether this message cancels a request of the newer era, where no message does."""
        if message.get("method") != "notifications/cancelled":
            return False
        params = message.get("params")
        request_id = params.get("requestId") if isinstance(params, dict) else None
        if not isinstance(request_id, str | int) or isinstance(request_id, bool):
            return False
        request = self._open.get(request_id)
        if request is None or not request.modern:
            return False
        request.over = True
        request.scope.cancel()
        return True

    async def _tell(self, message: Message, line: bytes, tasks: anyio.abc.TaskGroup) -> None:
        """A notification, or the client's answer to a question: the server says no more than that it has it."""
        with contextlib.suppress(httpx2.HTTPError):
            await self._client.post(self._url, content=line, headers=self._headers(message))
        if message.get("method") == "notifications/initialized" and self._session:
            tasks.start_soon(self._listen)

    async def _request(self, request: _Request, message: Message, line: bytes) -> None:
        with request.scope:
            try:
                await self._ask(request, message, line)
            except httpx2.HTTPError:
                if not self._there():
                    self._end(_lost())
                await self._answer(request, _error(request.id, CONNECTION_CLOSED, "the connection to yaz broke off"))
        if request.over:
            self._open.pop(request.id, None)
            self._idle.set()

    async def _ask(self, request: _Request, message: Message, line: bytes) -> None:
        opening = message["method"] == "initialize"
        if opening:
            self._session = {}
        headers = self._headers(message)
        async with self._client.stream("POST", self._url, content=line, headers=headers) as response:
            if opening and (session := response.headers.get("mcp-session-id")):
                self._session = {"Mcp-Session-Id": session}
            if response.headers.get("content-type", "").startswith("text/event-stream"):
                async for data in _events(response):
                    await self._pass_on(request, data, opening)
                    if request.over:
                        return
                await self._answer(request, _error(request.id, CONNECTION_CLOSED, "the answer broke off"))
                return
            body = await response.aread()
            if response.is_success and body:
                await self._pass_on(request, body, opening)
            else:
                await self._refused(request, response.status_code, body)

    async def _listen(self) -> None:
        """What the server says of itself in the older era."""
        with contextlib.suppress(httpx2.HTTPError):
            async with self._client.stream("GET", self._url, headers=dict(self._session)) as response:
                if response.is_success:
                    async for data in _events(response):
                        await self._out.put(_one_line(data))

    async def end_session(self) -> None:
        """Tell the server that a session of the older era is over, where there is one."""
        if self._session and self._fault is None:
            with anyio.move_on_after(_FLUSH_SECONDS), contextlib.suppress(httpx2.HTTPError):
                await self._client.delete(self._url, headers=dict(self._session))

    # --- to the client --------------------------------------------------------------------------------------------

    async def _pass_on(self, request: _Request, data: bytes, opening: bool) -> None:
        """Give the client a message as it came; where it is the answer, the request is over."""
        if opening or b'"x-mcp-header"' in data:
            self._note(json.loads(data))
        if b'"method"' in data and "method" in json.loads(data):
            await self._out.put(_one_line(data))
        else:
            await self._answer(request, data)

    async def _answer(self, request: _Request, data: bytes) -> None:
        if not request.over:
            request.over = True
            await self._out.put(_one_line(data))

    async def _refused(self, request: _Request, status: int, body: bytes) -> None:
        """An answer of HTTP that carries no result: the error in it, or the status in words."""
        try:
            error = json.loads(body)["error"]
        except (ValueError, KeyError, TypeError, RecursionError):
            error = None
        if status == 401:
            self._end(YazError("bridge-token", "yaz does not accept the token", _RENEW))
        elif isinstance(error, dict):
            answer = {"jsonrpc": "2.0", "id": request.id, "error": error}
            await self._answer(request, json.dumps(answer).encode())
        else:
            said = _STATUS.get(status, f"yaz answered with HTTP status {status}")
            await self._answer(request, _error(request.id, INVALID_REQUEST, said))

    def _note(self, message: Message) -> None:
        """Keep what later requests have to repeat: the older era's version, and arguments that stand in headers."""
        result = message.get("result")
        if not isinstance(result, dict):
            return
        if isinstance(version := result.get("protocolVersion"), str) and self._session:
            self._session["MCP-Protocol-Version"] = version
        if isinstance(tools := result.get("tools"), list):
            from mcp.shared.inbound import x_mcp_header_map  # few tools have such arguments: only they pay for the SDK

            self._mirrored |= {tool["name"]: x_mcp_header_map(tool["inputSchema"]) for tool in tools}

    def _headers(self, message: Message) -> dict[str, str]:
        headers = {"Content-Type": "application/json"}
        version = _version(message)
        if version is None:
            return headers | self._session
        method, params = str(message.get("method", "")), message["params"]
        headers |= {"MCP-Protocol-Version": _coded(version), "Mcp-Method": _coded(method)}
        if isinstance(name := params.get(_NAMES.get(method, "")), str):
            headers["Mcp-Name"] = _coded(name)
            if method == "tools/call" and name in self._mirrored:
                from mcp.shared.inbound import mcp_param_headers

                arguments = params.get("arguments")
                headers |= mcp_param_headers(self._mirrored[name], arguments if isinstance(arguments, dict) else {})
        return headers


_RENEW = "if YAZ_TOKEN names one, renew it; else restart the client, so that it starts the bridge anew"

_STATUS = {
    404: "the session is over; connect again",
    413: "the message is too large for yaz",
    503: "too many sessions are open; close one, or wait some minutes",
}
"""What an HTTP status means to a client that knows of no HTTP."""


def _lost() -> YazError:
    return YazError(
        "bridge-lost", "yaz has stopped, and with it this connection",
        "start it again with yaz serve, then let the client connect anew",
    )  # fmt: skip


def _version(message: Mapping[str, Any]) -> str | None:
    """The protocol version that a message of the newer era names; None for one of the older era."""
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    version = meta.get(_VERSION) if isinstance(meta, dict) else None
    return version if isinstance(version, str) else None


def _error(request_id: str | int | None, code: int, message: str) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": message}}).encode()


def _one_line(data: bytes) -> bytes:
    """A message on one line: in JSON a line break stands between values alone, where a space says the same."""
    return data.replace(b"\r", b" ").replace(b"\n", b" ")


def _coded(text: str) -> str:
    """A text as a header's value: as it is, or in base64 where it would not arrive as it is (mcp 2)."""
    if _PLAIN.fullmatch(text) and text == text.strip() and not _CODED.fullmatch(text):
        return text
    return f"=?base64?{base64.b64encode(text.encode('utf-8', 'replace')).decode()}?="


async def _events(response: httpx2.Response) -> Any:
    """The messages of an event stream. What only keeps the connection open is none."""
    async for event in httpx2.EventSource(response, max_event_size=None):
        if event.event == "message" and event.data:
            yield event.data.encode()
