from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pluggy
import pytest

from yazcore import hookspecs
from yazcore.capabilities.context import Call, Frame, current
from yazcore.hookspecs import PROJECT, hookimpl, hookspec
from yazcore.runtimes.facade import Facade, Failure, form_of, guard, hook_arguments, hook_faults, implementations


class HostHooks:
    @hookspec
    def decorate(self, cluster: str, width: int) -> str | None:
        """A hook with arguments."""


def unwanted(failure: Failure) -> None:
    pytest.fail(str(failure))


KNOWN = hook_arguments((hookspecs, HostHooks))


def frame(where: str = "decorate") -> Frame:
    return Frame(plugin="p", version="1", where=where, call=Call(posture="read"))


def manager_with(plugin: object, failed: Callable[[Failure], None]) -> pluggy.PluginManager:
    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(hookspecs)
    manager.add_hookspecs(HostHooks)
    facade = Facade("p", "1")
    for implementation in implementations(plugin):
        facade.add(implementation, guard(implementation.function, frame(implementation.hook), failed))
    manager.register(facade, name="p")
    return manager


def test_every_hook_of_the_page_is_known_with_its_arguments() -> None:
    assert KNOWN == {
        "addCommand": (), "registerFormat": (), "provide_tools": (), "provide_resources": (), "provide_prompts": (),
        "onload": (), "onunload": (), "decorate": ("cluster", "width"),
    }  # fmt: skip


def test_an_implementation_runs_in_its_plugins_frame_and_nothing_is_left_behind() -> None:
    seen: list[Any] = []

    class Plugin:
        @hookimpl
        def provide_tools(self) -> list[Any]:
            seen.append(current.get())
            return []

    manager_with(Plugin(), unwanted).hook.provide_tools()
    assert seen[0].plugin == "p"
    assert seen[0].where == "provide_tools"
    assert current.get() is None


def test_arguments_reach_an_implementation_that_takes_some_of_them() -> None:
    class Plugin:
        @hookimpl
        def decorate(self, width: int) -> str:
            return f"{width} wide"

    assert manager_with(Plugin(), unwanted).hook.decorate(cluster="c", width=3) == ["3 wide"]


@pytest.mark.parametrize("error", [ValueError("no"), SystemExit(3)])
def test_what_a_plugin_raises_is_recorded_and_the_others_go_on(error: BaseException) -> None:
    failures: list[Failure] = []

    class Broken:
        @hookimpl
        def decorate(self, cluster: str) -> str:
            raise error

    class Good:
        @hookimpl
        def decorate(self, cluster: str) -> str:
            return "good"

    manager = manager_with(Broken(), failures.append)
    manager.register(Good())
    assert manager.hook.decorate(cluster="c", width=1) == ["good"]
    assert str(failures[0]) == f"p 1: decorate raised {type(error).__name__}: {error}"
    assert current.get() is None


def test_a_keyboard_interrupt_is_not_a_plugins_fault() -> None:
    class Plugin:
        @hookimpl
        def onload(self) -> None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        manager_with(Plugin(), unwanted).hook.onload()


def test_an_exception_that_cannot_be_printed_is_still_recorded() -> None:
    failures: list[Failure] = []

    class Nasty(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no text for you")

    class Plugin:
        @hookimpl
        def onload(self) -> None:
            raise Nasty

    manager_with(Plugin(), failures.append).hook.onload()
    assert failures[0].message == "<unprintable>"


def test_pluggy_holds_a_facade_and_never_the_plugin() -> None:
    class Plugin:
        secret = "s"

        @hookimpl
        def onload(self) -> None:
            return None

    manager = manager_with(Plugin(), unwanted)
    (held,) = manager.get_plugins()
    assert repr(held) == "<plugin p 1>"
    assert not hasattr(held, "secret")
    assert all(value is None or not hasattr(value, "__self__") for value in vars(held).values() if callable(value))


def faults(plugin: object) -> list[tuple[str, str]]:
    forms = map(form_of, implementations(plugin))
    return [(fault.code, fault.message) for form in forms for fault in hook_faults(form, KNOWN)]


def test_a_plain_implementation_has_no_fault() -> None:
    class Plugin:
        @hookimpl(tryfirst=True)
        def provide_tools(self) -> list[Any]:
            return []

        @hookimpl(specname="decorate")
        def mine(self, cluster: str, spare: int = 1) -> None:
            return None

    assert faults(Plugin()) == []


def test_wrappers_of_both_forms_are_refused() -> None:
    class New:
        @hookimpl(wrapper=True)
        def provide_tools(self) -> Any:
            return (yield)

    class Old:
        @hookimpl(hookwrapper=True)
        def provide_tools(self) -> Any:
            yield

    assert faults(New()) == [("hook-wrapper", "provide_tools is a hook wrapper")]
    assert faults(Old()) == [("hook-wrapper", "provide_tools is a hook wrapper")]


def test_an_async_hook_is_refused() -> None:
    class Plugin:
        @hookimpl
        async def provide_tools(self) -> list[Any]:
            return []

    assert faults(Plugin()) == [("hook-async", "provide_tools is async")]


def test_parameters_that_pluggy_does_not_see_are_refused() -> None:
    class Plugin:
        @hookimpl
        def decorate(self, cluster: str, *, width: int) -> None:
            return None

        @hookimpl
        def provide_tools(self, *args: Any) -> list[Any]:
            return []

        @hookimpl
        def onload(self, context: Any) -> None:
            return None

    assert faults(Plugin()) == [
        ("hook-parameters", "decorate takes width: 'int'"),
        ("hook-parameters", "onload takes an argument 'context'"),
        ("hook-parameters", "provide_tools takes *args: 'Any'"),
    ]


def test_an_unknown_hook_is_refused_unless_it_is_marked_optional() -> None:
    class Plugin:
        @hookimpl
        def provide_tool(self) -> list[Any]:
            return []

        @hookimpl(optionalhook=True)
        def provide_widgets(self) -> list[Any]:
            return []

    assert faults(Plugin()) == [("hook-unknown", "provide_tool is no hook of this host")]


def test_looking_for_implementations_evaluates_no_property() -> None:
    class Plugin:
        @property
        def trap(self) -> None:
            pytest.fail("a property was evaluated")

    assert list(implementations(Plugin())) == []
