"""Services that are not built: the broker decides as it will then, and what it allows is refused in plain words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from yazcore.capabilities.broker import Broker
from yazcore.capabilities.context import frame_of
from yazcore.kinds import McpRequest, Request

MakeRequest = Callable[[str, tuple[Any, ...], Mapping[str, Any]], Request]


class Unavailable:
    """A service whose every method refuses: with the broker's own reason where it has one, else `service-unavailable`.

    Either way the refusal is recorded. So a plugin learns of a fault in its manifest, and a user of a missing grant,
    before the service exists.
    """

    def __init__(self, broker: Broker, plugin: str, service: str, make_request: MakeRequest) -> None:
        self._broker = broker
        self._plugin = plugin
        self._service = service
        self._make_request = make_request

    def __getattr__(self, name: str) -> Callable[..., NoReturn]:
        if name.startswith("_"):
            raise AttributeError(name)

        def refuse(*args: Any, **kwargs: Any) -> NoReturn:
            frame = frame_of(self._plugin, self._service)
            request = self._make_request(name, args, kwargs)
            capability = self._broker.require(request, frame)
            self._broker.refuse(
                frame, capability.kind, request.target, "service-unavailable",
                f"the service {self._service!r} is not part of this version",
            )  # fmt: skip

        return refuse


def mcp_request(method: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Request:
    """`call(server, tool, arguments)`, `tools(server)`."""
    return McpRequest(
        server=_text(args, 0, kwargs, "server"), tool=_text(args, 1, kwargs, "tool") if method == "call" else None
    )


def _text(args: tuple[Any, ...], index: int, kwargs: Mapping[str, Any], name: str) -> str:
    value = args[index] if index < len(args) else kwargs.get(name)
    return value if isinstance(value, str) else ""
