"""How bytes reach a server and come back: a process of the user's choosing, or HTTP; both bounded.

Own lines for the process, and not the SDK's: its line without an end has no bound, its words on standard error go to
the user's terminal, and each line that is no message is a traceback in the log.
"""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import signal
from collections.abc import AsyncIterator, Callable, Mapping
from contextvars import ContextVar
from subprocess import PIPE

import anyio
import anyio.abc
import attrs
import httpx2
import mcp_types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage

from yazcore.mcp.client.settings import ServerSettings

MOST_MESSAGE = 4 * 2**20
"""The longest message of a server, in bytes."""

MOST_BETWEEN = 32 * 2**20
"""The most bytes that a server may send between two requests of ours, or in one stream."""

MOST_WORDS = 4096
"""How much of a process's standard error is kept, in bytes: its end."""

GRACE_SECONDS = 1.0
"""How long a process may take to end by itself, and again after it is told to."""

INHERITED = ("HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "USER", "XDG_RUNTIME_DIR")
"""What a process gets of yaz's own environment, beside what the settings give it."""

_READ = 65_536
_LOOK_SECONDS = 0.01
_REQUEST_SECONDS = 10.0
_STREAM_SECONDS = 610.0  # a call may take ten minutes
_MOST_REDIRECTS = 5
_MOST_RESPONSES = 16  # to one request: redirects, and streams that broke off

Streams = tuple[MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]]

_log = logging.getLogger("yaz.servers")


class TooMuch(httpx2.StreamError):
    """A server sent more than it may."""

    def __init__(self) -> None:
        super().__init__("more than a server may send")


class NotAsked(Exception):
    """A server sent what it was not asked for and what cannot be bounded; the text says what."""


class CannotStart(Exception):
    """A process could not be started; the text says why, without any path."""


@attrs.define
class Note:
    """What is seen of one request beside its answer: the last HTTP status, whether it led elsewhere or was too much."""

    status: int = 0
    elsewhere: bool = False
    too_much: bool = False
    over: bool = False
    responses: int = 0


note: ContextVar[Note | None] = ContextVar("yazcore_mcp_note", default=None)
"""The note of the request that is under way: the SDK sends in the context of whoever asked."""


# -- a process --------------------------------------------------------------------------------------------------------


class Process:
    """One process and its pipes. `ended` is told when nothing more can come of it.

    `words` is the end of what it wrote on standard error, `says_too_much` whether it was cut off for what it sent.
    """

    def __init__(self, settings: ServerSettings, environment: Mapping[str, str], ended: Callable[[], None]) -> None:
        self._settings = settings
        self._environment = environment
        self._ended = ended
        self._budget = MOST_BETWEEN
        self._told_of_noise = False
        self.words = b""
        self.says_too_much = False

    @contextlib.asynccontextmanager
    async def streams(self) -> AsyncIterator[Streams]:
        """Start it, and give the way to it and back; at the end nothing of its process group is left.

        Raises `CannotStart`, and `TooMuch` (in a group) where it says too much.
        """
        process = await self._start()
        try:
            to_session, from_server = anyio.create_memory_object_stream[SessionMessage | Exception](0)
            to_server, from_session = anyio.create_memory_object_stream[SessionMessage](0)
            async with to_session, from_server, to_server, from_session, anyio.create_task_group() as tasks:
                tasks.start_soon(self._read, process, to_session)
                tasks.start_soon(self._write, process, from_session)
                tasks.start_soon(self._listen, process)
                try:
                    yield from_server, to_server
                finally:
                    from_server.close()  # the reader goes on and drops what comes: the process must not hang on it
                    with anyio.CancelScope(shield=True):
                        await _end(process)
                    tasks.cancel_scope.cancel()
        finally:
            with anyio.CancelScope(shield=True):
                if process.returncode is None:
                    await _end(process)
                with anyio.move_on_after(GRACE_SECONDS):
                    await process.aclose()

    async def _start(self) -> anyio.abc.Process:
        argv = argv_of(self._settings)
        try:
            return await anyio.open_process(
                argv, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=dict(self._environment), cwd=self._settings.folder,
                start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            raise CannotStart(error.strerror or type(error).__name__) from None
        except ValueError:
            raise CannotStart("its environment cannot be given to a process") from None

    async def _read(self, process: anyio.abc.Process, to: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        assert process.stdout is not None
        line = bytearray()
        async with to:
            with contextlib.suppress(anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
                while True:
                    chunk = await process.stdout.receive(_READ)
                    self._bound(0, len(chunk))
                    *whole, rest = chunk.split(b"\n")
                    for end in whole:
                        line += end
                        await self._pass_on(bytes(line), to)
                        line.clear()
                    line += rest
                    self._bound(len(line))
        self._ended()

    def _bound(self, line: int, size: int = 0) -> None:
        self._budget -= size
        if line > MOST_MESSAGE or self._budget < 0:
            self.says_too_much = True
            raise TooMuch

    async def _pass_on(self, line: bytes, to: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        """A line, if it is a message; others are dropped: many servers print on standard output (mcp 29)."""
        self._bound(len(line))
        try:
            message = mcp_types.jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValueError:
            if line.strip() and not self._told_of_noise:
                self._told_of_noise = True
                _log.warning("the MCP server %s prints what is no message; it is left out", self._settings.name)
            return
        with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            await to.send(SessionMessage(message))

    async def _write(self, process: anyio.abc.Process, messages: MemoryObjectReceiveStream[SessionMessage]) -> None:
        assert process.stdin is not None
        try:
            async for one in messages:
                self._budget = MOST_BETWEEN
                text = one.message.model_dump_json(by_alias=True, exclude_unset=True)
                await process.stdin.send(text.encode("utf-8", "replace") + b"\n")
        except (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
            self._ended()

    async def _listen(self, process: anyio.abc.Process) -> None:
        assert process.stderr is not None
        with contextlib.suppress(anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
            while True:
                self.words = (self.words + await process.stderr.receive(_READ))[-MOST_WORDS:]


def argv_of(settings: ServerSettings) -> list[str]:
    """The program, found now, and its arguments. Raises `CannotStart` where no such command is there."""
    command = settings.command or ""
    found = shutil.which(os.path.expanduser(command))
    if found is None:
        raise CannotStart("there is no such command")
    return [found, *settings.args]


def environment(given: Mapping[str, str]) -> dict[str, str]:
    """What a process gets: little of our own, and what the settings give it."""
    own = {name: os.environ[name] for name in INHERITED if name in os.environ}
    return {**own, **given}


async def _end(process: anyio.abc.Process) -> None:
    """End a process and its group: its input ends, then it is told to, then it is killed."""
    if process.stdin is not None:
        with contextlib.suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
            await process.stdin.aclose()
    for number in (signal.SIGTERM, signal.SIGKILL):
        if await _has_ended(process):
            break
        _signal(process.pid, number)
    await _has_ended(process)
    _signal(process.pid, signal.SIGKILL)  # what it started may outlive it


async def _has_ended(process: anyio.abc.Process) -> bool:
    # not `wait`: that one also waits until nobody holds the pipes
    with anyio.move_on_after(GRACE_SECONDS):
        while process.returncode is None:  # noqa: ASYNC110 - asyncio has no event for it
            await anyio.sleep(_LOOK_SECONDS)
    return process.returncode is not None


def _signal(group: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


# -- HTTP -------------------------------------------------------------------------------------------------------------


@contextlib.asynccontextmanager
async def http_streams(settings: ServerSettings, headers: Mapping[str, str]) -> AsyncIterator[Streams]:
    """The way to a server over HTTP. No proxy for this machine; no redirect to another origin; every answer bounded."""
    assert settings.url is not None
    # loading certificates takes 15 ms, and a plain address of this machine needs none
    plain = settings.is_loopback and settings.url.startswith("http:")
    async with (
        httpx2.AsyncClient(
            headers={"Accept-Encoding": "identity", **headers}, trust_env=not settings.is_loopback, verify=not plain,
            timeout=httpx2.Timeout(_REQUEST_SECONDS, read=_STREAM_SECONDS), max_redirects=_MOST_REDIRECTS,
            event_hooks={"response": [_watch]},
        ) as client,
        streamable_http_client(settings.url, http_client=client, max_sse_event_size=MOST_MESSAGE) as streams,
    ):  # fmt: skip
        yield streams  # type: ignore[misc]


async def _watch(response: httpx2.Response) -> None:
    """Look at a response before anything of its body is read, and bound the body."""
    mine = note.get()
    if mine is not None:
        mine.status = response.status_code
        mine.responses += 1
        mine.elsewhere = response.has_redirect_location
        # A stream that is taken up again, for ever or for nobody. Not so a POST: one tells the server that it is over.
        if response.request.method == "GET" and (mine.over or mine.responses > _MOST_RESPONSES):
            raise TooMuch
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        raise NotAsked("a compressed answer, which was not asked for")
    is_stream = response.headers.get("content-type", "").lower().startswith("text/event-stream")
    assert isinstance(response.stream, httpx2.AsyncByteStream)
    response.stream = _Bounded(response.stream, MOST_BETWEEN if is_stream else MOST_MESSAGE, mine)


class _Bounded(httpx2.AsyncByteStream):
    """A body that may have so many bytes, and that ends when nobody waits for it any more."""

    def __init__(self, inner: httpx2.AsyncByteStream, most: int, mine: Note | None) -> None:
        self._inner = inner
        self._left = most
        self._note = mine

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._inner:
            self._left -= len(chunk)
            if self._left < 0:
                if self._note is not None:
                    self._note.too_much = True
                raise TooMuch
            if self._note is not None and self._note.over:
                raise TooMuch
            yield chunk

    async def aclose(self) -> None:
        await self._inner.aclose()


def words_of(words: bytes) -> str:
    """The last words of a process, as text."""
    return words.decode("utf-8", "replace").strip()


def leaf(error: BaseException) -> BaseException:
    """Of what a task group raises, the first that is no group."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


