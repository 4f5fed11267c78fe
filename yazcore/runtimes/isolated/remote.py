"""The context of a plugin in its worker: the same face as in the host's process, every act asked of the host.

A service's method is a call to the host that names the call it is made for. Which services and methods there are, the
host said when it started the worker.
"""

from __future__ import annotations

import contextlib
import functools
import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

import attrs

from yazcore.capabilities.context import Call, Context, frame_of
from yazcore.permissions import Principal
from yazcore.runtimes.values import NotPortable, portable

_LONGEST_LINE = 8_000
_LONGEST_WORDS = 1_000


class Asking(Protocol):
    """How a worker asks its host. `parent` is the number of the call it is for, 0 for none."""

    def ask(self, name: str, parent: int, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Ask, and wait for the answer, in any thread."""

    async def ask_later(self, name: str, parent: int, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Ask from async code."""

    def tell(self, name: str, call: int, value: Any) -> None:
        """Tell something that is not answered."""


@attrs.frozen(kw_only=True, eq=False)
class RemoteCall(Call):
    """One call of the host, in its worker. `number` is the host's for it."""

    number: int


@attrs.frozen(kw_only=True)
class RemoteProject:
    """The project of a call, as a worker knows it: its files are reached through `files`, wherever they lie."""

    id: str
    name: str


def call_from(about: Mapping[str, Any], number: int, asking: Asking, now: float) -> RemoteCall:
    """The call that the host described. `now` is this process's `time.monotonic`."""
    project = about["project"]

    def report(done: float, total: float | None, message: str) -> None:
        # As in the host's own process, what cannot be said in passing is no reason to fail.
        with contextlib.suppress(ValueError, TypeError, OverflowError):
            asking.tell("progress", number, [done, total, message[:_LONGEST_WORDS]])

    def allows(action: str, scope: str) -> bool:
        return bool(asking.ask("may", number, [action, scope], {}))

    return RemoteCall(
        number=number,
        posture=about["posture"],
        principal=None if about["principal"] is None else Principal(name=about["principal"]),
        scope=about["scope"],
        scope_id=about["scopeId"],
        project=None if project is None else RemoteProject(id=project[0], name=project[1]),  # type: ignore[arg-type]
        deadline=now + about["seconds"] if about["seconds"] is not None else float("inf"),
        report=report,
        allows=allows,
    )


def describe(call: Call, now: float) -> dict[str, Any]:
    """What a worker may know of a call; in the host."""
    return {
        "posture": call.posture,
        "principal": None if call.principal is None else call.principal.name,
        "scope": call.scope,
        "scopeId": call.scope_id,
        "project": None if call.project is None else [call.project.id, call.project.name],
        "seconds": call.deadline - now if call.deadline < float("inf") else None,
    }


class RemoteService:
    """A service with the methods that the host's has; each call of one is a call to the host."""

    def __init__(self, asking: Asking, plugin: str, name: str, methods: frozenset[str]) -> None:
        self._asking = asking
        self._plugin = plugin
        self._name = name
        self._methods = methods

    def __getattr__(self, method: str) -> Callable[..., Any]:
        self._must_have(method)

        def call(*args: Any, **kwargs: Any) -> Any:
            parent = number_of(self._plugin, self._name)
            return self._asking.ask(f"{self._name}.{method}", parent, list(args), kwargs)

        return call

    def __getitem__(self, part: str) -> RemotePart:
        """A part of the service by its name, where it has some (`context.mcp_servers["checker"]`)."""
        if "[]" not in self._methods:
            raise TypeError(f"the service {self._name!r} has no parts")
        return RemotePart(self, part)

    def _must_have(self, method: str) -> None:
        if method not in self._methods:
            raise AttributeError(f"the service {self._name!r} has no {method!r}")


class RemotePart:
    """A part of a service: its methods are the service's, with the part's name before their arguments."""

    def __init__(self, service: RemoteService, name: str) -> None:
        self._service = service
        self.name = name

    def __getattr__(self, method: str) -> Callable[..., Any]:
        return functools.partial(getattr(self._service, method), self.name)


class RemoteAwaitable(RemoteService):
    """The same, awaitable: `await context.aio.files.read_text(...)`."""

    def __getattr__(self, method: str) -> Callable[..., Any]:
        self._must_have(method)

        async def call(*args: Any, **kwargs: Any) -> Any:
            parent = number_of(self._plugin, self._name)
            return await self._asking.ask_later(f"{self._name}.{method}", parent, list(args), kwargs)

        return call


def number_of(plugin: str, service: str) -> int:
    """The number of the call whose code runs now. Raises `NoContext` and `Cancelled`, as a service in the host does."""
    call = frame_of(plugin, service).call
    return call.number if isinstance(call, RemoteCall) else 0


class _Awaitables:
    def __init__(self, services: Mapping[str, RemoteAwaitable]) -> None:
        self._services = services

    def __getattr__(self, name: str) -> RemoteAwaitable:
        if name not in self._services:
            raise AttributeError(f"no service {name!r}; there are {', '.join(sorted(self._services))}")
        return self._services[name]


@attrs.frozen(kw_only=True, eq=False)
class RemoteContext(Context):
    """A plugin's context in its worker."""

    awaitables: Any

    @property
    def aio(self) -> Any:
        """The services for async code: nothing of them waits in a thread."""
        return self.awaitables


def make_context(about: Mapping[str, Any], asking: Asking) -> RemoteContext:
    """The context of the plugin that the host described."""
    plugin: str = about["plugin"]

    def message(key: str, /, **arguments: Any) -> str:
        return str(asking.ask("message", 0, [str(key)], {name: _word(value) for name, value in arguments.items()}))

    def publish(data: bytes, mime: str, ttl: float) -> str:
        return str(asking.ask("publish", number_of(plugin, "publish"), [data, mime, ttl], {}))

    def changed(uri: str) -> None:
        asking.ask("changed", 0, [uri], {})

    methods = {name: frozenset(known) for name, known in about["services"].items()}
    return RemoteContext(
        plugin=plugin,
        version=about["version"],
        settings=about["settings"],
        data_folder=Path(about["dataFolder"]),
        message=message,
        log=_logger(plugin, asking, about["level"]),
        services={name: RemoteService(asking, plugin, name, known) for name, known in methods.items()},
        publish=publish,
        changed=changed,
        awaitables=_Awaitables(
            {name: RemoteAwaitable(asking, plugin, name, known) for name, known in methods.items()}
        ),
    )


def _word(value: Any) -> Any:
    """An argument of a text as it can travel: what is no number is said in words anyway."""
    if type(value) in (int, float, str):
        try:
            return portable(value)
        except NotPortable:
            pass
    try:
        return str(value).encode("utf-8", "backslashreplace").decode()
    except Exception:  # noqa: BLE001 - an object of the plugin's
        return "?"


def _logger(plugin: str, asking: Asking, level: int) -> logging.Logger:
    logger = logging.getLogger(f"yaz.plugins.{plugin}")
    logger.setLevel(level)
    logger.propagate = False
    logger.addHandler(_ToHost(asking))
    return logger


class _ToHost(logging.Handler):
    """Tells the host each line."""

    def __init__(self, asking: Asking) -> None:
        super().__init__()
        self._asking = asking

    def emit(self, record: logging.LogRecord) -> None:
        try:
            line = self.format(record)[:_LONGEST_LINE].encode("utf-8", "backslashreplace").decode()
            self._asking.tell("log", 0, [record.levelno, line])
        except Exception:  # noqa: BLE001 - a line that cannot be said is no reason to fail
            self.handleError(record)


class Lines:
    """What a plugin prints, as lines of its log: a worker has no terminal."""

    encoding = "utf-8"

    def __init__(self, logger: logging.Logger) -> None:
        self._logger = logger
        self._line = ""

    def write(self, text: str) -> int:
        """Take a text; whole lines are told."""
        *lines, self._line = (self._line + text).split("\n")
        for line in lines:
            self._logger.info("%s", line)
        self._line = self._line[:_LONGEST_LINE]
        return len(text)

    def flush(self) -> None:
        """Tell what stands in an unfinished line."""
        line, self._line = self._line, ""
        if line:
            self._logger.info("%s", line)

    def isatty(self) -> bool:
        """No."""
        return False
