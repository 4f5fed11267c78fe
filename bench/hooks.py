"""A guarded hook call against the same call in bare pluggy."""

from __future__ import annotations

from typing import Any

import pluggy

from bench.measuring import figure, ratio
from yazcore import hookspecs
from yazcore.capabilities.context import Call, Frame
from yazcore.hookspecs import PROJECT, hookimpl, hookspec
from yazcore.runtimes.facade import Facade, Failure, guard, implementations


class _Specs:
    @hookspec
    def decorate(self, cluster: str, width: int) -> str:  # type: ignore[empty-body]
        """A hook with two arguments, as a host application has them."""


class _Plugin:
    @hookimpl
    def provide_tools(self) -> list[Any]:
        return []

    @hookimpl
    def decorate(self, cluster: str, width: int) -> str:
        return cluster


def _failed(failure: Failure) -> None:
    raise AssertionError(failure)


def _relay(count: int, guarded: bool) -> pluggy.HookRelay:
    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(hookspecs)
    manager.add_hookspecs(_Specs)
    for number in range(count):
        if not guarded:
            manager.register(_Plugin())
            continue
        facade = Facade(f"p{number}", "1")
        for one in implementations(_Plugin()):
            frame = Frame(plugin=f"p{number}", version="1", where=one.hook, call=Call(posture="read"))
            facade.add(one, guard(one.function, frame, _failed))
        manager.register(facade)
    return manager.hook


def figures() -> list[dict[str, Any]]:
    """Four ratios: one and twenty implementations, without arguments and with two."""
    return [*_figures_of(1, "<= 1.4"), *_figures_of(20, "<= 2.0")]


def _figures_of(count: int, goal: str) -> list[dict[str, Any]]:
    ours, bare = _relay(count, guarded=True), _relay(count, guarded=False)
    times = 4000 // count + 200
    plain = ratio(ours.provide_tools, bare.provide_tools, times=times)
    with_arguments = ratio(
        lambda: ours.decorate(cluster="c", width=3), lambda: bare.decorate(cluster="c", width=3), times=times
    )
    return [
        figure(f"hook-call-{count}", plain, goal, "pluggy"),
        figure(f"hook-call-{count}-arguments", with_arguments, goal, "pluggy"),
    ]
