"""One worker of a plugin, from the moment it is asked for until it has ended: loaded, and ready for calls."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Mapping
from typing import Any

import attrs
import msgspec

from yazcore.capabilities.context import Call, Frame
from yazcore.confinement.process import Policy
from yazcore.runtimes.base import STARTING_SECONDS, PluginFailed, PluginSource
from yazcore.runtimes.facade import HookForm, Parameter
from yazcore.runtimes.isolated import reach, wire
from yazcore.runtimes.isolated.calls import HookFailed, hook_value
from yazcore.runtimes.isolated.link import Gone, Link, Overdue
from yazcore.runtimes.isolated.remote import describe
from yazcore.runtimes.isolated.spawner import Process
from yazcore.runtimes.isolated.upcalls import Upcalls, methods
from yazcore.runtimes.isolated.waiting import WorkerGone

_MOST_HOOKS = 200
_LONGEST_WORD = 200


@attrs.frozen
class Held:
    """What the kernel took from a worker, as it said before anything of the plugin was loaded."""

    landlock: int
    seccomp: int


class Generation:
    """A worker that has loaded its plugin. `forms` are its hook implementations, in the order of their numbers."""

    def __init__(self, link: Link, held: Held, forms: tuple[HookForm, ...]) -> None:
        self.link = link
        self.held = held
        self.forms = forms

    def hook(self, number: int, arguments: Mapping[str, Any], frame: Frame, seconds: float) -> Any:
        """Call one of its hook implementations, from any thread.

        Raises `HookFailed`, `WorkerGone`, `Overdue`.
        """
        kind, name, answer = self.link.ask("hook", [number, arguments, frame.posture], frame, seconds)
        try:
            return hook_value(kind, name, answer, frame)
        except wire.Broken as broken:
            self.link.end(f"it sent {broken}")
            raise WorkerGone(f"it sent {broken}") from None


def begin(
    source: PluginSource,
    spawn: Callable[[socket.socket], Process],
    common: reach.Reach,
    policy: Policy,
    ended: Callable[[Link, Gone], None],
) -> Generation:
    """Start a worker for a plugin, and load it there.

    Raises `PluginFailed` where that raises or takes longer than `STARTING_SECONDS`, and what `spawn` raises.
    """
    own = reach.of_plugin(source)
    ours, theirs = socket.socketpair()
    with theirs:
        try:
            process = spawn(theirs)
        except BaseException:
            ours.close()
            raise
    log = source.context.log
    link = Link(ours, process, Upcalls(source.context).serve, lambda level, line: log.log(level, "%s", line), ended)
    frame = _frame(source)
    about = _about(source, own, attrs.evolve(policy, read=[*common.read, *own.read]), frame)
    try:
        return _loaded(link, link.ask("load", about, frame, STARTING_SECONDS), frame)
    except Overdue:
        reason = f"starting it took longer than {STARTING_SECONDS:g} seconds"
    except WorkerGone as gone:
        reason = f"its worker ended while it was started: {gone}"
    except (wire.Broken, msgspec.ValidationError) as broken:
        reason = f"its worker said something wrong while it was started: {broken}"
    except HookFailed as failed:
        link.end("its plugin could not be loaded", fault=False)
        raise PluginFailed(str(failed), failed.failure) from None
    except BaseException:
        link.end("its start was given up", fault=False)
        raise
    link.end(reason)
    raise PluginFailed(f"{source.manifest.id} {source.manifest.version}: {reason}")


def _frame(source: PluginSource) -> Frame:
    manifest = source.manifest
    where = "import or constructor"
    return Frame(plugin=manifest.id, version=manifest.version, where=where, call=Call(posture="read"))


def _about(source: PluginSource, own: reach.Reach, policy: Policy, frame: Frame) -> dict[str, Any]:
    """What a worker has to know of its plugin."""
    context = source.context
    data_folder = str(context.data_folder.resolve())
    return {
        "plugin": source.manifest.id,
        "version": source.manifest.version,
        "module": source.manifest.module,
        "path": own.path,
        "packages": own.packages,
        "dataFolder": data_folder,
        "settings": dict(context.settings),
        "services": methods(context),
        "level": context.log.getEffectiveLevel(),
        "collecting": [kind.hook for kind in source.contract.contribution_kinds],
        "call": describe(frame.call, time.monotonic()),
        "policy": attrs.asdict(attrs.evolve(policy, write=[data_folder, "/dev/null"])),
    }


class _Parameter(msgspec.Struct):
    name: str
    text: str
    plain: bool
    required: bool


class _Form(msgspec.Struct):
    hook: str
    wrapper: bool
    optional: bool
    is_async: bool
    parameters: list[_Parameter]
    first: bool
    last: bool


class _Told(msgspec.Struct):
    landlock: int
    seccomp: int
    hooks: list[_Form]


def _loaded(link: Link, answer: tuple[int, str, Any], frame: Frame) -> Generation:
    """The worker's answer to `load`, looked at. Raises `HookFailed`, `Broken` and msgspec's `ValidationError`."""
    told = msgspec.convert(hook_value(*answer, frame), _Told)
    if len(told.hooks) > _MOST_HOOKS:
        raise wire.Broken(f"more than {_MOST_HOOKS} hooks")
    return Generation(link, Held(told.landlock, told.seccomp), tuple(map(_form, told.hooks)))


def _form(told: _Form) -> HookForm:
    return HookForm(
        hook=told.hook[:_LONGEST_WORD],
        wrapper=told.wrapper,
        optional=told.optional,
        is_async=told.is_async,
        parameters=tuple(
            Parameter(one.name[:_LONGEST_WORD], one.text[:_LONGEST_WORD], one.plain, one.required)
            for one in told.parameters
        ),
        first=told.first,
        last=told.last,
    )
