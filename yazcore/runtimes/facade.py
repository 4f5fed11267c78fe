"""What pluggy holds of a plugin: one guarded function per hook implementation, never the plugin itself (design 6).

pluggy 1.7 hands out functions found in an instance's `__dict__` unbound, as they are, and reads their argument names
through `functools.wraps`: so a facade needs no private name of pluggy. Each function sets the plugin's frame, catches
what the plugin raises, renders it to text inside the frame (`str(error)` is plugin code too), and answers None, so
that other plugins go on.
"""

from __future__ import annotations

import functools
import inspect
import traceback
from asyncio.exceptions import CancelledError
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType
from typing import Any

import attrs
import pluggy

from yazcore.capabilities.context import Frame, current
from yazcore.hookspecs import PROJECT, hookimpl

NO_FAULTS = (KeyboardInterrupt, CancelledError, GeneratorExit)
"""What is not taken for a fault of the plugin whose hook runs: it may be meant for whoever called the hook."""

LONGEST_TEXT = 8_000
"""The most characters that are kept of what an exception says."""

_LONGEST_TRACE = 64_000
_TRACE_FRAMES = 20
_STARS = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


@attrs.frozen
class Failure:
    """An exception of a plugin as data. `trace` is for logs only: it holds paths of this machine."""

    plugin: str
    version: str
    where: str
    type: str
    message: str
    trace: str

    @classmethod
    def of(cls, error: BaseException, plugin: str, version: str, where: str) -> Failure:
        """Render an exception. To be called inside the plugin's frame: rendering runs the plugin's code."""
        return cls(plugin, version, where, type(error).__name__, _text(error), _trace(error))

    def __str__(self) -> str:
        return f"{self.plugin} {self.version}: {self.where} raised {self.type}: {self.message}"


def _text(error: BaseException) -> str:
    try:
        return _kept(str(error), LONGEST_TEXT)
    except BaseException:  # noqa: BLE001 - the plugin's own __str__ failed
        return "<unprintable>"


def _trace(error: BaseException) -> str:
    try:
        return _kept("".join(traceback.format_exception(error, limit=-_TRACE_FRAMES)), _LONGEST_TRACE)
    except BaseException:  # noqa: BLE001 - formatting calls the plugin's own __str__ and __notes__
        return ""


def _kept(text: str, most: int) -> str:
    """The text as far as it is kept and can be encoded; a plain `str`, whatever class the plugin's was."""
    text = str.__str__(text)
    if len(text) > most:
        text = f"{text[:most]}… ({len(text) - most} more characters)"
    return text.encode("utf-8", "backslashreplace").decode()


@attrs.frozen
class HookFault:
    """One hook implementation that the contract does not allow: a stable code, what is wrong, what to do."""

    code: str
    hook: str
    message: str
    fix: str


@attrs.frozen(eq=False)
class Implementation:
    """One hook implementation of a plugin, wherever it runs: the hook, the function, pluggy's options."""

    name: str
    hook: str
    function: Callable[..., Any]
    options: dict[str, Any]


def implementations(plugin: object) -> Iterator[Implementation]:
    """The plugin's hook implementations, by pluggy's own public rule; no property is evaluated."""
    manager = pluggy.PluginManager(PROJECT)
    for name in dir(plugin):
        options = manager.parse_hookimpl_opts(plugin, name)
        if options is not None:
            yield Implementation(name, options.get("specname") or name, getattr(plugin, name), dict(options))


@attrs.frozen
class Parameter:
    """One parameter of a hook implementation. `text` is how it is written; `plain`: pluggy can pass it an argument."""

    name: str
    text: str
    plain: bool
    required: bool


@attrs.frozen
class HookForm:
    """What the contract asks of a hook implementation, as data: the same whether it runs here or in a worker."""

    hook: str
    wrapper: bool
    optional: bool
    is_async: bool
    parameters: tuple[Parameter, ...]
    first: bool = False
    last: bool = False


def form_of(implementation: Implementation) -> HookForm:
    """The form of an implementation. Runs nothing of it, but its signature may be code of the plugin's."""
    options, function = implementation.options, implementation.function
    return HookForm(
        hook=implementation.hook,
        wrapper=bool(options.get("wrapper") or options.get("hookwrapper")),
        optional=bool(options.get("optionalhook")),
        is_async=inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function),
        parameters=tuple(
            Parameter(
                name=one.name,
                text=str(one),
                plain=one.kind not in _STARS and one.kind is not one.KEYWORD_ONLY,
                required=one.default is one.empty,
            )
            for one in inspect.signature(function).parameters.values()
        ),
        first=bool(options.get("tryfirst")),
        last=bool(options.get("trylast")),
    )


def hook_faults(form: HookForm, known: Mapping[str, tuple[str, ...]]) -> Iterator[HookFault]:
    """What the contract does not allow about one implementation. `known` gives each hook's argument names.

    pluggy itself accepts all of these and fails later or silently: it does not see keyword-only parameters, registers
    unknown names, and returns the coroutine of an async hook unawaited.
    """
    hook = form.hook
    if form.wrapper:
        yield HookFault("hook-wrapper", hook, f"{hook} is a hook wrapper", "implement the hook without wrapper=True")
    if form.is_async:
        yield HookFault("hook-async", hook, f"{hook} is async", "make the hook a plain function; handlers may be async")
    if hook not in known:
        if not form.optional:
            names = ", ".join(sorted(known))
            yield HookFault("hook-unknown", hook, f"{hook} is no hook of this host", f"the hooks are {names}")
        return
    for parameter in form.parameters:
        if not parameter.plain:
            yield HookFault(
                "hook-parameters",
                hook,
                f"{hook} takes {parameter.text}",
                "use plain positional parameters: pluggy sees no other",
            )
        elif parameter.name not in known[hook] and parameter.required:
            takes = ", ".join(known[hook]) or "no arguments"
            yield HookFault(
                "hook-parameters", hook, f"{hook} takes an argument {parameter.name!r}", f"the hook passes {takes}"
            )


def hook_arguments(hookspecs: tuple[ModuleType | type, ...]) -> dict[str, tuple[str, ...]]:
    """Every hook of a contract with the names of its arguments."""
    return {name: tuple(spec.argnames) for name, spec in _specs(hookspecs).items()}


def shaped_by(
    hookspecs: tuple[ModuleType | type, ...], hook: str, function: Callable[..., Any]
) -> Callable[..., Any]:
    """The function, taken by pluggy for one with the hook's own arguments, all of them, in their order."""
    function.__wrapped__ = _specs(hookspecs)[hook].function  # type: ignore[attr-defined]
    return function


@functools.cache
def _specs(hookspecs: tuple[ModuleType | type, ...]) -> Mapping[str, Any]:
    manager = pluggy.PluginManager(PROJECT)
    for specs in hookspecs:
        manager.add_hookspecs(specs)
    callers = vars(manager.hook).items()
    return {name: caller.spec for name, caller in callers if getattr(caller, "spec", None) is not None}


def guard(function: Callable[..., Any], frame: Frame, failed: Callable[[Failure], None]) -> Callable[..., Any]:
    """`function` in the plugin's frame; what it raises goes to `failed` and the answer is None.

    Two closures, because a generic one costs a third more on the hooks without arguments (`bench`).
    """
    enter, leave = current.set, current.reset
    plugin, version, where = frame.plugin, frame.version, frame.where

    if not inspect.signature(function).parameters:

        @functools.wraps(function)
        def call_plain() -> Any:
            token = enter(frame)
            try:
                return function()
            except NO_FAULTS:
                raise
            except BaseException as error:  # noqa: BLE001 - a panic of a library is no Exception
                failed(Failure.of(error, plugin, version, where))
            finally:
                leave(token)
            return None

        return call_plain

    @functools.wraps(function)
    def call(*args: Any) -> Any:
        token = enter(frame)
        try:
            return function(*args)
        except NO_FAULTS:
            raise
        except BaseException as error:  # noqa: BLE001 - as above
            failed(Failure.of(error, plugin, version, where))
        finally:
            leave(token)
        return None

    return call


class Facade:
    """One plugin in pluggy. Its instance dict holds one guarded function per implementation, nothing of the plugin."""

    def __init__(self, plugin: str, version: str) -> None:
        # No name here is one that a plugin's method can have.
        self.__dict__[" label"] = f"{plugin} {version}"

    def add(self, implementation: Implementation, guarded: Callable[..., Any]) -> None:
        """Put a guarded function where pluggy finds it."""
        options = {key: value for key, value in implementation.options.items() if key not in {"wrapper", "hookwrapper"}}
        options["specname"] = implementation.hook
        self.__dict__[f"{implementation.hook} {implementation.name}"] = hookimpl(guarded, **options)

    def __repr__(self) -> str:
        return f"<plugin {self.__dict__[' label']}>"
