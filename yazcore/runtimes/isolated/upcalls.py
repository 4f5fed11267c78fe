"""What a worker may ask of its host: a list of names, made here from the services that the plugin's context has.

A question is answered in the frame of the call it is for, so a service decides as it does in the host's own process:
for whom, in which project, with which posture. One for no open call has no frame, and a service refuses that.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from yazcore.capabilities.context import Context, Frame, current
from yazcore.capabilities.errors import NoContext
from yazcore.capabilities.services.unavailable import Unavailable

_UNBUILT: Mapping[str, tuple[str, ...]] = {"mcp_servers": ("call", "tools")}
"""The methods of a service that is not there: each refuses, and says why."""


def methods(context: Context) -> dict[str, list[str]]:
    """The methods of each service, by the service's name; `[]` among them where it has parts by name."""
    return {name: _methods_of(name, service) for name, service in context.services.items()}


def _methods_of(name: str, service: Any) -> list[str]:
    if isinstance(service, Unavailable):
        return list(_UNBUILT.get(name, ()))
    return [*_methods_of_class(type(service))]  # type: ignore[arg-type]  # mypy does not take a class for hashable


@functools.cache
def _methods_of_class(service: type) -> tuple[str, ...]:
    functions = dict(inspect.getmembers(service, inspect.isfunction))
    return (*(one for one in functions if not one.startswith("_")), *(("[]",) if "__getitem__" in functions else ()))


class Upcalls:
    """Answers the questions of one plugin."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._methods = {
            f"{service}.{method}": (service, method)
            for service, names in methods(context).items()
            for method in names
            if method != "[]"
        }
        self._own: dict[str, Callable[..., Any]] = {
            "message": context.message, "publish": context.publish, "changed": context.changed, "may": _may,
        }  # fmt: skip

    def serve(self, name: str, args: list[Any], kwargs: dict[str, Any], frame: Frame | None) -> Any:
        """Answer one question, in the frame of the call it is for. Raises what the service does."""
        function = self._own.get(name)
        if function is None:
            if name not in self._methods:
                raise AttributeError("there is no such service")
            service, method = self._methods[name]
            function = getattr(self._context.services[service], method)
        token = current.set(frame)
        try:
            return function(*args, **kwargs)
        finally:
            current.reset(token)


def _may(action: str, scope: str) -> bool:
    """Whether whoever calls may do more than the declared floor asks for."""
    frame = current.get()
    if frame is None:
        raise NoContext("caller")
    return bool(frame.call.allows(action, scope))
