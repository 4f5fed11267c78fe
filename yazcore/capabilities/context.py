"""The context plugin code runs in: whose code it is, what it may do now, for whom (design 5).

One `Frame` is set around every hook implementation and every handler. anyio tasks and threads keep it, because it
lives in a `contextvars` variable; a bare `threading.Thread` does not, and a service used there raises `NoContext`.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from pathlib import Path
from typing import Any, ParamSpec, Protocol, TypeVar

import anyio.to_thread
import attrs

from yazcore.capabilities.errors import Cancelled, NoContext
from yazcore.declarations import Posture
from yazcore.permissions import Principal

P = ParamSpec("P")
T = TypeVar("T")


class ProjectFolder(Protocol):
    """What the project of a call must be for services: an identity, a name, a folder on this machine."""

    @property
    def id(self) -> str:
        """The project's id."""

    @property
    def name(self) -> str:
        """A name for people."""

    @property
    def root(self) -> Path:
        """The project's folder."""


@attrs.frozen(kw_only=True)
class Caller:
    """Who calls, as a plugin may know it. `may` asks rules finer than the declared floor (S-36)."""

    name: str
    may: Callable[[str, str], bool]


@attrs.frozen(kw_only=True)
class Client:
    """The program that a call came through, for the handlers of the host itself.

    * `can`: what it can be asked: `elicitation` (a person fills in a form), `sampling`, `roots`.
    * `answers`, `state`: what it answered to the `Ask` of the same call a moment ago, as it sent it, and that `Ask`'s
      own `state`; None where the call has not asked.
    * `say(text, level)`: sends it a few words while the call runs (`debug`, `info`, `warning`, `error`), where it wants
      to read any. From any thread.
    * `let_go()`: ends the stream on which it waits; it comes back for the result. For work that takes long, in the
      older protocol era alone: elsewhere nothing happens. From any thread.
    """

    can: frozenset[str] = frozenset()
    answers: Mapping[str, Any] | None = None
    state: str | None = None
    say: Callable[..., None] = lambda text, level="info": None
    let_go: Callable[[], None] = lambda: None


class Flag:
    """Set once, by one thread, and looked at by others: nobody waits for it, so it needs no lock."""

    __slots__ = ("_is_set", "_listener")

    def __init__(self) -> None:
        self._is_set = False
        self._listener: Callable[[], None] | None = None

    def set(self) -> None:
        """Set it, for good."""
        self._is_set = True
        if self._listener is not None:
            self._listener()

    def is_set(self) -> bool:
        """Whether it is set."""
        return self._is_set

    def tell(self, listener: Callable[[], None]) -> None:
        """Call `listener` when it is set, in the thread that sets it; it may be called more than once."""
        self._listener = listener
        if self._is_set:
            listener()


def no_progress(done: float, total: float | None, message: str) -> None:
    """Take progress that nobody wants to see."""


@attrs.frozen(kw_only=True, eq=False)
class Call:
    """One call in flight: who asked, for what scope, until when.

    `deadline` is a `time.monotonic` value in seconds. `report` takes progress. `cancelled` is set when nobody waits
    any more. `subject` is what the scope id resolved to (a project, a cluster). `client` is there for the host's own.
    """

    posture: Posture
    principal: Principal | None = None
    scope: str = "global"
    scope_id: str | None = None
    subject: Any = None
    project: ProjectFolder | None = None
    deadline: float = float("inf")
    report: Callable[[float, float | None, str], None] = no_progress
    allows: Callable[[str, str], bool] = lambda action, scope: False
    cancelled: Flag = attrs.field(factory=Flag)
    client: Client | None = None


@attrs.frozen(kw_only=True, eq=False)
class Frame:
    """Whose code runs now, and how: what services and the broker look at."""

    plugin: str
    version: str
    where: str
    """The hook or contribution that runs: `provide_tools`, `tools search-library`."""
    call: Call
    watch: Any = None
    """What looks at its own acts (`runtimes.watching.Watch`); None: nothing, or the host acts for it."""

    @property
    def posture(self) -> Posture:
        """Whether this code may write (design 5)."""
        return self.call.posture


current: ContextVar[Frame | None] = ContextVar("yazcore_frame", default=None)


def frame_of(plugin: str, service: str) -> Frame:
    """The frame in which `plugin` uses `service`.

    Raises `NoContext` where none is set, or where another plugin's code holds this plugin's service object; raises
    `Cancelled` where the call is over.
    """
    frame = current.get()
    if frame is None or frame.plugin != plugin:
        raise NoContext(service)
    if frame.call.cancelled.is_set():
        raise Cancelled(f"{frame.where} was cancelled")
    return frame


def _unwatched(act: Callable[[], T]) -> T:
    """What the host does for the plugin whose frame is set (`as_host`, without the arguments)."""
    frame = current.get()
    if frame is None or frame.watch is None:
        return act()
    token = current.set(attrs.evolve(frame, watch=None))
    try:
        return act()
    finally:
        current.reset(token)


class Awaitable:
    """A service with every method awaitable: `await context.aio.files.read_text(...)`; it runs in a thread."""

    def __init__(self, service: Any, limiter: anyio.CapacityLimiter | None = None) -> None:
        self._service = service
        self._limiter = limiter

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self._service, name)

        async def call(*args: Any, **kwargs: Any) -> Any:
            return await anyio.to_thread.run_sync(lambda: method(*args, **kwargs), limiter=self._limiter)

        return call


class _AwaitableServices:
    def __init__(self, services: Mapping[str, Any]) -> None:
        self._services = services

    def __getattr__(self, name: str) -> Any:
        if name not in self._services:
            raise AttributeError(f"no service {name!r}; there are {', '.join(sorted(self._services))}")
        service = self._services[name]
        # one that needs no thread to wait in has a face of its own
        return service.aio if "aio" in type(service).__dict__ else Awaitable(service)


@attrs.frozen(kw_only=True, eq=False)
class Context:
    """What a plugin is made with, and all it needs: identity, settings, a folder of its own, messages, services.

    * `settings`: the values of the declared settings, defaults filled in.
    * `data_folder`: a private folder that outlives the process; it counts against a quota.
    * `message(key, **arguments)`: a text of the plugin's own message files, in the user's language.
    * `files`, `network`, `processes`, `mcp_servers`, `credentials`: the services; each refuses with `CapabilityError`.
    * `aio`: the same services, awaitable.
    * `publish(data, mime, ttl)`: keeps bytes for `ttl` seconds, at most a day, for whoever called, and gives their
      `yaz://result/...` URI. Raises `TypeError`, `ValueError` and `NoContext`.
    * `changed(uri)`: says that one of the plugin's own resources reads differently now; whoever has subscribed to it
      is told. Raises `ValueError` for a URI that is not its own.
    """

    plugin: str
    version: str
    settings: Mapping[str, Any]
    data_folder: Path
    message: Callable[..., str]
    log: logging.Logger
    services: Mapping[str, Any]
    publish: Callable[[bytes, str, float], str]
    changed: Callable[[str], None] = lambda uri: None

    @property
    def files(self) -> Any:
        """Files of the project, of granted folders, and copies into the data folder."""
        return self.services["files"]

    @property
    def network(self) -> Any:
        """HTTP to granted hosts."""
        return self.services["network"]

    @property
    def processes(self) -> Any:
        """Granted commands."""
        return self.services["processes"]

    @property
    def mcp_servers(self) -> Any:
        """MCP servers that the user named and granted."""
        return self.services["mcp_servers"]

    @property
    def credentials(self) -> Any:
        """Secrets that the host keeps and spends."""
        return self.services["credentials"]

    @property
    def aio(self) -> _AwaitableServices:
        """The services for async code."""
        return _AwaitableServices(self.services)

    def __getattr__(self, name: str) -> Any:
        """The host's own services, each by its name."""
        if name.startswith("_") or name not in self.services:
            raise AttributeError(f"the context has no {name!r}")
        return self.services[name]

    async def run_in_thread(self, function: Callable[..., T], *args: Any) -> T:
        """Run blocking code in a thread that keeps this context."""
        return await anyio.to_thread.run_sync(lambda: function(*args))


@attrs.frozen(kw_only=True, eq=False)
class CallContext:
    """What a handler gets: everything of the plugin's `Context`, and the call it serves."""

    base: Context
    call: Call

    def __getattr__(self, name: str) -> Any:
        return getattr(self.base, name)

    @property
    def caller(self) -> Caller | None:
        """Who asked; None for the host itself."""
        if self.call.principal is None:
            return None
        name, allows = self.call.principal.name, self.call.allows
        return Caller(name=name, may=lambda action, scope: _unwatched(lambda: allows(action, scope)))

    @property
    def project(self) -> dict[str, str] | None:
        """The project of this call: `{"id", "name"}`; its files are reached through `files`. None without one."""
        if self.call.project is None:
            return None
        return {"id": self.call.project.id, "name": self.call.project.name}

    @property
    def client(self) -> Client | None:
        """The program that the call came through; None for whatever is not the host's own."""
        return self.call.client

    @property
    def scope_id(self) -> str | None:
        """The canonical id of the scope the call is about."""
        return self.call.scope_id

    @property
    def deadline(self) -> float:
        """Seconds left for this call."""
        return max(0.0, self.call.deadline - time.monotonic())

    def progress(self, done: float, total: float | None = None, message: str = "") -> None:
        """Tell the caller how far the work is. Raises `Cancelled` when nobody waits for it any more."""
        self.check()
        _unwatched(lambda: self.call.report(done, total, message))

    def check(self) -> None:
        """Raise `Cancelled` when nobody waits for this call any more."""
        if self.call.cancelled.is_set():
            raise Cancelled("the call was cancelled")
