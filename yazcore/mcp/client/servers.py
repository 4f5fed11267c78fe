"""The MCP servers of one host: what the service `mcp_servers` and the user's commands ask.

Servers are looked up in settings.toml at each use, so that what the user changes counts at once. The SDK, and the loop
that it runs on, are loaded and started with the first one that is reached.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, TypeVar

from yazcore.capabilities.errors import ServiceError
from yazcore.capabilities.secrets import Secrets
from yazcore.home import Home
from yazcore.mcp.client import faults
from yazcore.mcp.client.faults import ServerFault
from yazcore.mcp.client.loop import LoopThread
from yazcore.mcp.client.seen import Seen, SeenStore
from yazcore.mcp.client.settings import ServerSettings, filled, read_server, references
from yazcore.runtimes.threads import Threads
from yazcore.runtimes.values import NotPortable, portable
from yazcore.violations import YazError

if TYPE_CHECKING:
    from yazcore.mcp.client.remote import Remote

T = TypeVar("T")

CLOSE_SECONDS = 8.0
"""How long leaving all servers may take."""

_THREADS = 4


class Servers:
    """The servers that the settings of one `YAZ_HOME` name. Safe from any thread.

    `secrets` has what their settings name by reference.
    """

    def __init__(self, home: Home, secrets: Secrets) -> None:
        self._home = home
        self._secrets = secrets
        self._store = SeenStore(home)
        self._remotes: dict[str, Remote] = {}
        self._leaving: set[asyncio.Task[None]] = set()
        self._loop = LoopThread("yaz-servers")
        self._threads = Threads("yaz-servers", _THREADS)

    # -- what services ask --------------------------------------------------------------------------------------------

    def reads(self, server: str, tool: str) -> bool:
        """Whether the user says that this tool only reads, of the server as it is set up now. Never raises."""
        try:
            settings = read_server(self._home, server)
            return settings is not None and self._store.of(settings).reads(tool)
        except YazError:
            return False

    def tools(self, server: str, seconds: float) -> Future[list[dict[str, Any]]]:
        """The tools of a server that may be called: definitions as on the wire, and `read`, what the user says of it.

        The future raises `ServiceError`. A tool that is new, changed or cannot be used is left out.
        """
        return self._submitted(server, lambda remote: self._usable(remote, seconds))

    def call(self, server: str, tool: str, arguments: Any, seconds: float) -> Future[dict[str, Any]]:
        """Call a tool: `{"content": [...], "isError": bool, "structuredContent"?}`. The future raises `ServiceError`.

        Cancelling the future cancels the call.
        """
        try:
            given = portable({} if arguments is None else arguments)
            if not isinstance(given, dict) or _has_bytes(given):
                raise NotPortable("they are no object of JSON")
        except NotPortable as error:
            raise _told(faults.arguments(tool, str(error))) from None
        return self._submitted(server, lambda remote: remote.call(tool, given, seconds))

    # -- what the user's commands ask ---------------------------------------------------------------------------------

    def surface(self, server: str, seconds: float) -> dict[str, Any]:
        """All that a server offers, as `listing.surface_of` has it. Blocks; raises `YazError` with the server's words.

        Here what was seen does not count: this is how the user sees it.
        """
        try:
            settings = self._settings(server)
            return self._on_loop(settings, lambda remote: remote.surface(seconds)).result()
        except ServerFault as fault:
            words = f"; its last words: {fault.detail[-_LONGEST_WORDS:]}" if fault.detail else ""
            raise YazError(fault.code, f"{fault.message}{words}", _FIXES.get(fault.code, "")) from None

    def refresh(self) -> None:
        """Leave the servers that are no longer in the settings, or stand there otherwise. Does not wait for it."""

        async def leave() -> None:
            for name, known in tuple(self._remotes.items()):
                try:
                    settings = read_server(self._home, name)
                except YazError:
                    settings = None
                if settings != known.settings:
                    self._leave_one(self._remotes.pop(name))

        if self._remotes:
            with contextlib.suppress(RuntimeError):
                self._loop.submit(leave())

    # -- inside -------------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Leave every server: no process, no task and no connection is left. A call under way ends as `server-gone`."""
        self._loop.close(self._leave(), CLOSE_SECONDS)
        self._threads.close()

    async def _leave(self) -> None:
        remotes, self._remotes = tuple(self._remotes.values()), {}
        await asyncio.gather(*(remote.close() for remote in remotes), *self._leaving, return_exceptions=True)

    def _submitted(self, server: str, work: Callable[[Remote], Coroutine[Any, Any, T]]) -> Future[T]:
        """Work on a server's loop, for a plugin: a fault is a `ServiceError`, without what only the user should see."""

        async def told(remote: Remote) -> T:
            try:
                return await work(remote)
            except ServerFault as fault:
                raise _told(fault) from None

        try:
            return self._on_loop(self._settings(server), told)
        except ServerFault as fault:
            raise _told(fault) from None

    def _on_loop(self, settings: ServerSettings, work: Callable[[Remote], Coroutine[Any, Any, T]]) -> Future[T]:
        async def run() -> T:
            return await work(self._remote(settings))

        try:
            return self._loop.submit(run())
        except RuntimeError:
            raise faults.gone(settings.name, "is left: yaz is closing") from None

    def _settings(self, server: str) -> ServerSettings:
        try:
            settings = read_server(self._home, server)
        except YazError as error:
            raise ServerFault(error.code, error.message) from None
        if settings is None:
            raise faults.unknown(server)
        return settings

    def _remote(self, settings: ServerSettings) -> Remote:
        """The server with these settings; one of that name with others is left."""
        from yazcore.mcp.client.remote import Remote

        known = self._remotes.get(settings.name)
        if known is None or known.settings != settings:
            if known is not None:
                self._leave_one(known)
            known = self._remotes[settings.name] = Remote(
                settings, values=lambda: self._values(settings), seen=lambda: self._seen(settings),
                in_thread=self._in_thread,
            )  # fmt: skip
        return known

    def _leave_one(self, remote: Remote) -> None:
        task = asyncio.get_running_loop().create_task(remote.close())
        self._leaving.add(task)
        task.add_done_callback(self._leaving.discard)

    async def _usable(self, remote: Remote, seconds: float) -> list[dict[str, Any]]:
        found = await remote.definitions(seconds)
        seen = self._seen(remote.settings)
        usable = [
            {**one.data, "read": seen.reads(one.name)}
            for one in found.values()
            if not one.fault and seen.state(one) == "seen"
        ]
        try:
            made: list[dict[str, Any]] = portable(usable)
        except NotPortable as error:
            raise faults.invalid(remote.name, str(error)) from None
        return made

    def _values(self, settings: ServerSettings) -> Mapping[str, str]:
        try:
            for reference in references(settings):
                self._check_bound(settings, reference)
            return filled(settings.headers if settings.url is not None else settings.env, self._secrets.read)
        except YazError as error:
            raise ServerFault(error.code, error.message) from None

    def _check_bound(self, settings: ServerSettings, reference: str) -> None:
        """A secret that the user has bound to hosts goes to no other, and to no process, which could."""
        where, _, name = reference.partition(":")
        kept = self._secrets.get(name) if where == "keyring" else None
        if kept is not None and kept.hosts and settings.host not in kept.hosts:
            raise ServerFault(
                "server-secret-bound", f"the secret {name!r} is bound to other hosts than that of {settings.name}"
            )

    def _seen(self, settings: ServerSettings) -> Seen:
        try:
            return self._store.of(settings)
        except YazError as error:
            raise ServerFault(error.code, error.message) from None

    def _in_thread(self, work: Callable[[], T]) -> Awaitable[T]:
        return asyncio.wrap_future(self._threads.submit(work))


_LONGEST_WORDS = 500

_FIXES = {
    "server-unknown": "name one: yaz server add NAME -- COMMAND, or yaz server add NAME --url URL",
    "server-gone": "see that it runs, and that its command or address in settings.toml is right",
    "server-refused": "see that the secret in its settings is the right one",
    "server-slow": "try again: some servers take long to start when they are started first",
}


def _told(fault: ServerFault) -> ServiceError:
    return ServiceError(fault.code, fault.message)


def _has_bytes(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_has_bytes, value.values()))
    return any(map(_has_bytes, value)) if isinstance(value, list) else isinstance(value, bytes)
