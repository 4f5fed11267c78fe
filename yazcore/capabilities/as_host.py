"""What the host does for a plugin while that plugin's frame is set: nothing watches it, as nothing watches the host.

For the `trusted` runtime, where a plugin's own acts are watched (`runtimes.watching`) and a service acts in the same
thread. Only the watching ends: the frame stays, so a service still knows for whom it acts.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import attrs

from yazcore.capabilities.context import Context, Frame, current

T = TypeVar("T")


def as_host(function: Callable[..., T]) -> Callable[..., T]:
    """The function as the host's own doing; what it returns to be awaited, too."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        frame = current.get()
        if frame is None or frame.watch is None:
            return function(*args, **kwargs)
        unwatched = attrs.evolve(frame, watch=None)
        token = current.set(unwatched)
        try:
            value = function(*args, **kwargs)
        finally:
            current.reset(token)
        return _later(value, unwatched) if inspect.iscoroutine(value) else value

    return call


async def _later(waiting: Coroutine[Any, Any, Any], unwatched: Frame) -> Any:
    token = current.set(unwatched)
    try:
        return await waiting
    finally:
        current.reset(token)


class AsHost:
    """A service, every method of which is the host's own doing."""

    def __init__(self, service: Any) -> None:
        self._service = service

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._service, name)
        return as_host(value) if callable(value) else value

    def __getitem__(self, key: Any) -> Any:
        return AsHost(self._service[key])


class _WithAio(AsHost):
    """The same for a service with an awaitable face of its own."""

    @property
    def aio(self) -> AsHost:
        """That face."""
        return AsHost(self._service.aio)


def unwatched(context: Context) -> Context:
    """The context of a plugin that is watched: whatever is asked of it, the host does."""
    return attrs.evolve(
        context,
        services={
            name: (_WithAio if "aio" in type(service).__dict__ else AsHost)(service)
            for name, service in context.services.items()
        },
        message=as_host(context.message),
        publish=as_host(context.publish),
        changed=as_host(context.changed),
    )
