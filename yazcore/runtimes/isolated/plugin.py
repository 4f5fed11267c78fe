"""One plugin through the lives of its workers: started, asked, restarted, given up.

A worker that ends takes its open calls with it; each gets an error that says why. Then a new one is started, asked for
its hooks and registrations anew, and compared with the first: only the same plugin goes on. Calls that come meanwhile
wait for it. Three ends within ten minutes that were its own fault, and it has failed.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, wait
from typing import Any

import attrs

from yazcore.capabilities.context import Call, Frame
from yazcore.runtimes.base import CLEANUP_SECONDS, STARTING_SECONDS, HooksRefused, PluginFailed, PluginSource
from yazcore.runtimes.facade import (
    Facade,
    Failure,
    HookForm,
    Implementation,
    hook_arguments,
    hook_faults,
    shaped_by,
)
from yazcore.runtimes.isolated.answers import HOW
from yazcore.runtimes.isolated.calls import HookFailed, Promise, failure_of, not_portable
from yazcore.runtimes.isolated.clock import Clock
from yazcore.runtimes.isolated.crossing import RemoteHandler, received
from yazcore.runtimes.isolated.generation import Generation
from yazcore.runtimes.isolated.link import GRACE_SECONDS, Gone, Link, Overdue
from yazcore.runtimes.isolated.remote import describe
from yazcore.runtimes.isolated.spawner import NoZygote
from yazcore.runtimes.isolated.strikes import Strikes
from yazcore.runtimes.isolated.waiting import WorkerGone
from yazcore.runtimes.values import NotPortable, portable, portable_arguments

HOOK_SECONDS = STARTING_SECONDS
"""How long a host's own hook may take in a worker, in seconds."""

_CLOSE_SECONDS = 2.0
_MOST_FAILURES = 100
_WRITING_HOOKS = frozenset({"onload", "onunload"})
_SWEEP_SECONDS = 1.0

Begin = Callable[[Callable[[Link, Gone], None]], Generation]
"""Starts a worker; it is given what to call when that has ended. Raises `PluginFailed` and `NoZygote`."""

_Shape = dict[tuple[str, str], dict[str, Any]]
"""What was registered, by contribution key and name: its fields, code left out."""


class _Changed(Exception):
    """After a restart the plugin is not what it was. The text says how, as the end of a sentence."""


class IsolatedPlugin:
    """One plugin running in a worker. Raises `PluginFailed`, `HooksRefused` and `NoZygote` where it cannot start."""

    def __init__(self, source: PluginSource, begin: Begin, clock: Clock, strikes: Strikes) -> None:
        self._source = source
        self._plugin = source.manifest.id
        self._version = source.manifest.version
        self._begin_worker = begin
        self._clock = clock
        self._strikes = strikes
        self._known = hook_arguments(source.contract.hookspecs)
        self._collecting = {kind.hook: kind for kind in source.contract.contribution_kinds}
        self._state = threading.Condition()
        self._generation: Generation | None = None
        self._given_up = ""
        self._closed = False
        self._stop = threading.Event()
        self._waiting: list[Promise] = []
        self._promises: set[Promise] = set()
        self._sweeping = False
        self._numbers: dict[tuple[str, str, str], int] = {}
        self._shape: _Shape = {}
        self.failures: list[Failure] = []
        self._failed_so_far = 0
        self._last_problem = PluginFailed("")
        self.facade = Facade(self._plugin, self._version)
        first = begin(self._worker_ended)
        if faults := tuple(fault for form in first.forms for fault in hook_faults(form, self._known)):
            first.link.end("its hooks are refused", fault=False)
            raise HooksRefused(faults)
        self._forms = first.forms
        self.held = first.held
        for number, form in enumerate(first.forms):
            if form.hook in self._known:
                self.facade.add(self._implementation(number, form), self._hook(number, form))
        self._serve_with(first)

    # --- hooks ----------------------------------------------------------------------------------------------------

    def _implementation(self, number: int, form: HookForm) -> Implementation:
        """What pluggy sees of an implementation: its own name is ours, so that nothing a worker says is one."""
        options = {"tryfirst": form.first, "trylast": form.last, "optionalhook": form.optional}
        return Implementation(f"{number:04d}", form.hook, lambda: None, options)

    def _hook(self, number: int, form: HookForm) -> Callable[..., Any]:
        names = self._known[form.hook]
        frame = self._frame(form.hook)

        def call(*args: Any) -> Any:
            try:
                arguments = portable(dict(zip(names, args, strict=True)))
                return self._asked(self._ready(HOOK_SECONDS), number, arguments, frame, HOOK_SECONDS)
            except NotPortable as error:
                self._failed(not_portable(error, frame))
            except PluginFailed as problem:
                self._failed(problem.failure or self._failure(form.hook, "Overdue", str(problem)), problem)
            return None

        return shaped_by(self._source.contract.hookspecs, form.hook, call)

    def _asked(
        self, generation: Generation, number: int, arguments: Mapping[str, Any], frame: Frame, seconds: float
    ) -> Any:
        """What one hook implementation returned. Raises `PluginFailed` and `NotPortable`."""
        try:
            returned = generation.hook(number, arguments, frame, seconds)
        except HookFailed as failed:
            raise PluginFailed(str(failed), failed.failure) from None
        except WorkerGone as gone:
            failure = failure_of(frame, str(gone))
            raise PluginFailed(str(failure), failure) from None
        except Overdue:
            raise PluginFailed(
                f"{self._plugin} {self._version}: {frame.where} took longer than {seconds:g} seconds"
            ) from None
        kind = self._collecting.get(frame.where)
        return portable(returned) if kind is None else received(returned, kind.registration)

    def _frame(self, hook: str) -> Frame:
        call = Call(posture="write" if hook in _WRITING_HOOKS else "read")
        return Frame(plugin=self._plugin, version=self._version, where=hook, call=call)

    def _failure(self, where: str, kind: str, message: str) -> Failure:
        return Failure(self._plugin, self._version, where, kind, message, "")

    def _failed(self, failure: Failure, problem: PluginFailed | None = None) -> None:
        self._source.context.log.error("%s", failure if problem is None else problem)
        self._failed_so_far += 1
        self._last_problem = problem or PluginFailed(str(failure), failure)
        if len(self.failures) < _MOST_FAILURES:
            self.failures.append(failure)

    def collect(self, hooks: Mapping[str, Callable[[], Any]]) -> dict[str, Any]:
        """Call each collecting hook, within the time for starting."""
        returned = {}
        for hook, function in hooks.items():
            before = self._failed_so_far
            returned[hook] = function()
            if self._failed_so_far > before:
                raise self._last_problem
        return returned

    def run_hook(self, hook: str, seconds: float) -> None:
        """Run this plugin's own implementations of one hook; of a plugin that was given up none is left."""
        if self._given_up:
            return
        self._run_hook(self._ready(seconds), hook, seconds)

    def _run_hook(self, generation: Generation, hook: str, seconds: float) -> None:
        frame = self._frame(hook)
        for number, form in enumerate(self._forms):
            if form.hook == hook:
                self._asked(generation, number, {}, frame, seconds)

    # --- handlers -------------------------------------------------------------------------------------------------

    def hold(self, registrations: Mapping[tuple[str, str], Any]) -> None:
        """Keep the accepted registrations: under which number each handler runs, and what a new worker must repeat."""
        self._numbers, self._shape = _numbers_and_shape(registrations)

    def submit(self, key: str, name: str, field: str, call: Call, *args: Any) -> Future[Any]:
        """Run one handler in the worker. While there is none, the call waits for the next.

        Its callbacks run in the thread that reads for all of the plugin's calls, and must not wait.
        """
        frame = Frame(plugin=self._plugin, version=self._version, where=f"{key} {name}", call=call)
        arguments = portable_arguments(args)
        promise = Promise(frame, (key, name, field), arguments, HOW.get((key, field), "plain"), self._abandoned)
        with self._state:
            if self._closed or self._given_up:
                raise RuntimeError(f"{self._plugin} was taken out")
            if (key, name, field) not in self._numbers:
                raise KeyError(name)
            self._promises.add(promise)
            self._send(promise)
        promise.add_done_callback(self._promises.discard)
        call.cancelled.tell(promise.abandon)
        self._watch(call.deadline)
        return promise

    def _send(self, promise: Promise) -> None:
        """Send a call to the worker, or keep it for the next. To be called with the state held."""
        if self._generation is None:
            self._waiting.append(promise)
            return
        call = promise.frame.call
        number = self._numbers[promise.which]
        value = [number, promise.arguments, promise.frame.where, promise.finish, describe(call, time.monotonic())]
        try:
            promise.number = self._generation.link.begin(promise, "run", value)
        except WorkerGone:  # nothing was sent
            self._waiting.append(promise)
            return
        promise.link = self._generation.link
        if promise.is_abandoned:  # meanwhile
            self._abandoned(promise)

    def _abandoned(self, promise: Promise) -> None:
        link, number = promise.link, promise.number
        if link is None:
            return
        link.abandon(number)

        def overrun() -> None:
            if link.is_open(number):
                link.end(f"{promise.frame.where} did not end in time")

        self._clock.at(promise.overrun_at + GRACE_SECONDS, overrun)

    def _watch(self, deadline: float) -> None:
        """Make sure that calls are looked at when they have run over, also where nobody waits for them."""
        if not self._sweeping and deadline < math.inf:
            self._sweeping = True
            self._clock.at(deadline + _SWEEP_SECONDS, self._sweep)

    def _sweep(self) -> None:
        self._sweeping = False
        now = time.monotonic()
        for promise in tuple(self._promises):
            if promise.frame.call.deadline + _SWEEP_SECONDS <= now:
                promise.abandon()
            else:
                self._watch(promise.frame.call.deadline)

    # --- lives ----------------------------------------------------------------------------------------------------

    def _ready(self, seconds: float) -> Generation:
        """The worker of this moment; between two it is waited for. Raises `PluginFailed` where there is none."""
        if (now := self._serving()) is not None:
            return now
        with self._state:
            self._state.wait_for(lambda: self._serving() or self._given_up or self._closed, seconds)
            if (now := self._serving()) is not None:
                return now
        why = self._given_up or ("it was taken out" if self._closed else "its worker is not ready")
        raise PluginFailed(f"{self._plugin} {self._version}: {why}", self._failure("starting", "WorkerEnded", why))

    def _serving(self) -> Generation | None:
        """The worker that serves; one that has ended no longer does, whoever hears of it first."""
        now = self._generation
        return now if now is not None and now.link.gone is None else None

    def _worker_ended(self, link: Link, gone: Gone) -> None:
        """A worker has ended: start the next. In the thread of the one that ended, when nothing is left of it."""
        with self._state:
            if self._generation is None or self._generation.link is not link:
                return  # one that never came to serve
            self._generation = None
            if self._closed:
                return
        threading.Thread(target=self._start_again, args=(gone,), name=f"yaz-{self._plugin}-start", daemon=True).start()

    def _start_again(self, gone: Gone) -> None:
        try:
            self._restart(gone)
        except Exception as error:  # noqa: BLE001 - calls wait for what this thread does
            self._give_up(f"its worker was ended ({gone.why}), and starting the next failed: {type(error).__name__}")

    def _restart(self, gone: Gone) -> None:
        while True:
            self._source.context.log.warning("the worker of %s ended: %s", self._plugin, gone.why)
            if gone.fault and self._strikes.count():
                self._give_up(f"its worker was ended {self._strikes.most} times; at last: {gone.why}")
                return
            if self._stop.wait(self._strikes.pause):
                return
            try:
                generation = self._begin_worker(self._worker_ended)
                self._resume(generation)
            except _Changed as changed:
                self._give_up(f"its worker was ended ({gone.why}), and the next one {changed}")
                return
            except NoZygote as none:
                self._give_up(f"its worker was ended, and no other can be started: {none}")
                return
            except (PluginFailed, NotPortable) as failed:
                gone = Gone(f"it could not be started again: {failed}", fault=True)
            else:
                return

    def _resume(self, generation: Generation) -> None:
        """Go on with a new worker, where it is the same plugin. Raises `PluginFailed`, `NotPortable` and `_Changed`."""
        try:
            if generation.forms != self._forms:
                raise _Changed("has other hooks")
            numbers, shape = _numbers_and_shape(self._collected(generation))
            if shape != self._shape:
                raise _Changed("registered something else")
            self._run_hook(generation, "onload", STARTING_SECONDS)
        except BaseException:
            generation.link.end("it did not become what it was before", fault=False)
            raise
        self._numbers = numbers
        self._serve_with(generation)

    def _serve_with(self, generation: Generation) -> None:
        """Take a worker for the one that serves, and send it what has waited."""
        with self._state:
            if self._closed:
                generation.link.end("it was taken out", fault=False)
                return
            self._generation = generation
            waiting, self._waiting = self._waiting, []
            for promise in waiting:
                if not promise.done():
                    self._send(promise)
            self._state.notify_all()
        if generation.link.gone is not None:  # it ended before it was known to serve
            self._worker_ended(generation.link, generation.link.gone)

    def _collected(self, generation: Generation) -> dict[tuple[str, str], Any]:
        """What the collecting hooks of a new worker register, by contribution key and name."""
        found: dict[tuple[str, str], Any] = {}
        for number, form in enumerate(self._forms):
            kind = self._collecting.get(form.hook)
            if kind is None:
                continue
            returned = self._asked(generation, number, {}, self._frame(form.hook), STARTING_SECONDS)
            for item in returned if type(returned) in (list, tuple) else ():
                if type(item) is not kind.registration:
                    raise _Changed("registered something else")
                found[kind.key, kind.registered_name(item)] = item
        return found

    def _give_up(self, reason: str) -> None:
        with self._state:
            self._given_up = reason
            waiting, self._waiting = self._waiting, []
            self._state.notify_all()
        for promise in waiting:
            promise.lost(reason)
        self._source.failed(self, reason)

    # --- the end --------------------------------------------------------------------------------------------------

    def settle(self, most: float = math.inf) -> None:
        """Take no more calls, and wait for those that run, each until its deadline, and at most `most` seconds."""
        with self._state:
            self._closed = True
        end = time.monotonic() + most
        for promise in tuple(self._promises):
            call = promise.frame.call
            left = min(call.deadline, end) - time.monotonic()
            if left > 0 and math.isfinite(call.deadline) and not call.cancelled.is_set():
                wait((promise,), left)
        for promise in tuple(self._promises):
            promise.frame.call.cancelled.set()  # first: whoever waits for it reads there that it was cut
            promise.cancel()
        if (serving := self._serving()) is not None:
            serving.link.drain(CLEANUP_SECONDS)

    def close(self) -> None:
        """End the worker and everything of it."""
        self._stop.set()
        with self._state:
            self._closed = True
            generation, self._generation = self._generation, None
            waiting, self._waiting = self._waiting, []
            self._state.notify_all()
        for promise in (*waiting, *self._promises):
            promise.cancel()
        if generation is not None:
            generation.link.end("it was taken out", fault=False)
            generation.link.join(_CLOSE_SECONDS)


def _numbers_and_shape(registrations: Mapping[tuple[str, str], Any]) -> tuple[dict[tuple[str, str, str], int], _Shape]:
    """The number of each handler, and everything else of each registration."""
    numbers: dict[tuple[str, str, str], int] = {}
    shape: _Shape = {}
    for (key, name), registration in registrations.items():
        fields = shape[key, name] = {}
        for field in attrs.fields(type(registration)):
            value = getattr(registration, field.name)
            if isinstance(value, RemoteHandler):
                numbers[key, name, field.name] = value.number
                value = RemoteHandler
            fields[field.name] = value
    return numbers, shape
