"""The `trusted` runtime: plugin code in this process, in its own context, tasks and threads (design 5).

It stops accidents, not a plugin that wants to get out: code in this process can do whatever the process can. What it
gives is order: a frame around every hook and handler, async handlers on one event-loop thread per plugin, sync ones in
a bounded set of threads, never on the server's loop; one plugin's hang is its own.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import importlib
import inspect
import math
import threading
import time
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import CancelledError, Future, InvalidStateError, wait
from concurrent.futures import TimeoutError as FutureTimeout
from typing import Any

import attrs

from yazcore.capabilities.as_host import as_host, unwatched
from yazcore.capabilities.context import Call, CallContext, Frame, current
from yazcore.runtimes.abandoned import Overstaying
from yazcore.runtimes.base import (
    CLEANUP_SECONDS,
    STARTING_SECONDS,
    HooksRefused,
    PluginFailed,
    PluginSource,
    handler_error,
)
from yazcore.runtimes.facade import (
    Facade,
    Failure,
    Implementation,
    form_of,
    guard,
    hook_arguments,
    hook_faults,
    implementations,
)
from yazcore.runtimes.own_path import OwnPath, is_of
from yazcore.runtimes.threads import Threads
from yazcore.runtimes.values import answer, portable, portable_arguments, readable, spoken

SYNC_THREADS = 8
"""How many blocking handlers of one plugin run at a time."""

_MOST_FAILURES = 100
_FINISH: Mapping[tuple[str, str], Callable[[Any], Any]] = {
    ("tools", "handler"): answer, ("resources", "handler"): readable, ("prompts", "handler"): spoken,
}  # fmt: skip
_WRITING_HOOKS = frozenset({"onload", "onunload"})


class TrustedRuntime:
    """Runs plugins in this process. `guard`: whether the host has plugins watched for accidents (`watching`)."""

    name = "trusted"

    def __init__(self, guard: bool = False) -> None:
        self._guard = guard

    @property
    def confinement(self) -> str:
        """What holds plugin code here: nothing that it could not get round."""
        if self._guard:
            return "none, but a guard against accidents: it runs with the host's own rights"
        return "none: it runs with the host's own rights"

    def start(self, source: PluginSource) -> TrustedPlugin:
        """Import and construct the plugin in a thread of its own, so that one that hangs does not hang the host."""
        manifest = source.manifest
        if source.watch is not None:
            from yazcore.runtimes import watching  # a host that does not ask for it has nothing of it

            watching.install()
            source = attrs.evolve(source, context=unwatched(source.context))
        frame = Frame(
            plugin=manifest.id, version=manifest.version, where="starting", call=Call(posture="read"),
            watch=source.watch,
        )  # fmt: skip
        threads = Threads(f"yaz-{manifest.id}", SYNC_THREADS)
        own_path = OwnPath(source.folders)
        known = hook_arguments(source.contract.hookspecs)
        try:
            own_path.enter()
            started = threads.submit(
                _told(lambda: _hooks_of(_make(source), known), frame, "import or constructor", kept=(HooksRefused,))
            )
            found = _within(started, STARTING_SECONDS, frame, "starting it")
        except BaseException:
            own_path.leave()
            threads.close()
            raise
        return TrustedPlugin(source, found, threads, own_path)

    def close(self) -> None:
        """Its plugins share nothing."""


def _make(source: PluginSource) -> object:
    if source.make is not None:
        return source.make(source.context)
    where, _, name = source.manifest.module.partition(":")
    module = importlib.import_module(where)
    if not is_of(module, source.folder):
        raise ImportError(
            f"{where} was imported from elsewhere, or in another version; "
            "it can be loaded when the application has been started again"
        )
    return getattr(module, name)(source.context)


def _hooks_of(made: object, known: dict[str, tuple[str, ...]]) -> list[Implementation]:
    """The hooks of a plugin's object. In its own thread too: looking at it runs code of its own. `HooksRefused`."""
    found = list(implementations(made))
    if faults := tuple(fault for implementation in found for fault in hook_faults(form_of(implementation), known)):
        raise HooksRefused(faults)
    return [one for one in found if one.hook in known]


def _told(
    work: Callable[[], Any], frame: Frame, where: str, kept: tuple[type[Exception], ...] = ()
) -> Callable[[], Any]:
    """`work` for one of the plugin's threads: in its frame, and whatever it raises is `PluginFailed`, rendered there.

    A thread of a plugin is never the one that Ctrl-C ends, so a `KeyboardInterrupt` in it is the plugin's own.
    """

    def told() -> Any:
        token = current.set(frame)
        try:
            return work()
        except kept:
            raise
        except BaseException as error:  # noqa: BLE001 - as above; nothing of it may end a host
            failure = Failure.of(error, frame.plugin, frame.version, where)
            raise PluginFailed(str(failure), failure) from None
        finally:
            current.reset(token)

    return told


def _within(future: Future[Any], seconds: float, frame: Frame, what: str) -> Any:
    try:
        return future.result(seconds)
    except FutureTimeout:
        future.cancel()
        raise PluginFailed(f"{frame.plugin} {frame.version}: {what} took longer than {seconds:g} seconds") from None
    except CancelledError:
        raise PluginFailed(f"{frame.plugin} {frame.version}: it was ended before {what} was done") from None


class TrustedPlugin:
    """One plugin running in this process."""

    def __init__(
        self, source: PluginSource, found: list[Implementation], threads: Threads, own_path: OwnPath
    ) -> None:
        self._own_path = own_path
        self._context = source.context
        self._watch = source.watch
        self._plugin = source.manifest.id
        self._version = source.manifest.version
        self._threads = threads
        self._loop: _Loop | None = None
        self._loop_lock = threading.Lock()
        self._closed = False
        self._calls: dict[Future[Any], Call] = {}
        self._handlers: dict[tuple[str, str, str], tuple[Callable[..., Any], bool]] = {}
        self.failures: list[Failure] = []
        self._failed_so_far = 0
        self._last_failure: Failure | None = None
        self.facade = Facade(self._plugin, self._version)
        self._own_hooks: dict[str, list[Callable[..., Any]]] = {}
        for implementation in found:
            guarded = guard(implementation.function, self._frame(implementation.hook), as_host(self._failed))
            self.facade.add(implementation, guarded)
            self._own_hooks.setdefault(implementation.hook, []).append(guarded)

    def _frame(self, hook: str) -> Frame:
        call = Call(posture="write" if hook in _WRITING_HOOKS else "read")
        return Frame(plugin=self._plugin, version=self._version, where=hook, call=call, watch=self._watch)

    def _failed(self, failure: Failure) -> None:
        self._context.log.error("%s", failure)
        self._failed_so_far += 1
        self._last_failure = failure
        if len(self.failures) < _MOST_FAILURES:
            self.failures.append(failure)

    def collect(self, hooks: Mapping[str, Callable[[], Any]]) -> dict[str, Any]:
        """Call each collecting hook in a thread, within the time for starting."""
        returned = {}
        for hook, function in hooks.items():
            before = self._failed_so_far
            frame = self._frame(hook)
            future = self._threads.submit(_told(function, frame, hook))
            returned[hook] = _within(future, STARTING_SECONDS, frame, hook)
            self._raise_since(before)
        return returned

    def hold(self, registrations: Mapping[tuple[str, str], Any]) -> None:
        """Keep the accepted registrations' handlers; whether one is async is asked once, here."""
        self._handlers = {
            (key, name, field.name): (handler, _is_async(handler))
            for (key, name), registration in registrations.items()
            for field in attrs.fields(type(registration))
            if callable(handler := getattr(registration, field.name))
        }

    def submit(self, key: str, name: str, field: str, call: Call, *args: Any) -> Future[Any]:
        """Run one handler: on the plugin's loop if it is async, in one of its threads if not."""
        if self._closed:
            raise RuntimeError(f"{self._plugin} was taken out")
        handler, is_async = self._handlers[key, name, field]
        frame = Frame(
            plugin=self._plugin, version=self._version, where=f"{key} {name}", call=call, watch=self._watch
        )
        context = CallContext(base=self._context, call=call)
        arguments = portable_arguments(args)
        finish = _FINISH.get((key, field), portable)
        future: Future[Any]
        if is_async:
            future = self._start_loop().submit(_run_async(handler, frame, context, arguments, finish))
        else:
            # As an async one has: what it keeps in a variable of its own is not found by the thread's next caller.
            own = contextvars.Context()
            future = self._threads.submit(lambda: own.run(_run_sync, handler, frame, context, arguments, finish))
        self._calls[future] = call
        future.add_done_callback(self._ended)
        return future

    def _ended(self, future: Future[Any]) -> None:
        self._calls.pop(future, None)

    def run_hook(self, hook: str, seconds: float) -> None:
        """Run this plugin's own implementations of one hook."""
        before = self._failed_so_far
        frame = self._frame(hook)
        for function in self._own_hooks.get(hook, ()):
            _within(self._threads.submit(_told(function, frame, hook)), seconds, frame, hook)
        self._raise_since(before)

    def _raise_since(self, before: int) -> None:
        if self._failed_so_far > before and self._last_failure is not None:
            raise PluginFailed(str(self._last_failure), self._last_failure)

    def settle(self, most: float = math.inf) -> None:
        """Take no more calls, and wait for those that run, each until its deadline, and at most `most` seconds."""
        self._closed = True
        end = time.monotonic() + most
        for future, call in tuple(self._calls.items()):
            left = min(call.deadline, end) - time.monotonic()
            if left > 0 and math.isfinite(call.deadline) and not call.cancelled.is_set():
                wait((future,), left)
        for future, call in tuple(self._calls.items()):
            call.cancelled.set()  # first: whoever waits for it reads there that it was cut
            future.cancel()
        end = time.monotonic() + CLEANUP_SECONDS
        wait(tuple(self._calls), CLEANUP_SECONDS)  # the blocking ones: a future that runs cannot be cancelled
        with self._loop_lock:
            if self._loop is not None:
                self._loop.drain(end - time.monotonic())

    def close(self) -> None:
        """End the threads and the loop; a handler that hangs keeps its (daemon) thread, and nothing else."""
        self._closed = True
        for call in tuple(self._calls.values()):
            call.cancelled.set()
        self._threads.close()
        self._own_path.leave()
        with self._loop_lock:
            if self._loop is not None:
                self._loop.close()
                self._loop = None
        self._handlers = {}

    def _start_loop(self) -> _Loop:
        with self._loop_lock:
            if self._loop is None:
                self._loop = _Loop(f"yaz-{self._plugin}-loop")
            return self._loop


def _is_async(handler: Callable[..., Any]) -> bool:
    # an instance whose __call__ is async is an async handler too
    return inspect.iscoroutinefunction(handler) or inspect.iscoroutinefunction(type(handler).__call__)


def _run_sync(
    handler: Callable[..., Any],
    frame: Frame,
    context: CallContext,
    arguments: list[Any],
    finish: Callable[[Any], Any],
) -> Any:
    token = current.set(frame)
    try:
        return finish(handler(context, *arguments))
    except BaseException as error:  # noqa: BLE001 - Ctrl-C ends the main thread, never one of these
        raise handler_error(error, frame) from None
    finally:
        current.reset(token)


async def _run_async(
    handler: Callable[..., Any],
    frame: Frame,
    context: CallContext,
    arguments: list[Any],
    finish: Callable[[Any], Any],
) -> Any:
    current.set(frame)
    try:
        return finish(await handler(context, *arguments))
    except (asyncio.CancelledError, GeneratorExit):  # this task is being ended
        raise
    except BaseException as error:  # noqa: BLE001 - a KeyboardInterrupt would end the loop of all its other calls
        raise handler_error(error, frame) from None


class _Loop:
    """One event loop in one daemon thread."""

    def __init__(self, name: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._running: dict[Future[Any], asyncio.Task[None]] = {}
        self._ending = False
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            while not self._ending:  # a handler can stop the loop it runs on, and its other calls still wait
                with contextlib.suppress(SystemExit, KeyboardInterrupt):  # of a task that a handler left behind
                    self._loop.run_forever()
        finally:
            self._loop.close()

    def submit(self, coroutine: Coroutine[Any, Any, Any]) -> Future[Any]:
        """Run a coroutine as a task with an empty context of its own: no caller's variables leak into plugin code.

        Own lines and not `asyncio.run_coroutine_threadsafe`: its chained futures, and a task's callbacks, each cost a
        turn of the loop that the caller waits for.
        """
        future = Overstaying()  # an async handler can swallow its cancellation

        async def work() -> None:
            try:
                value = await coroutine
            except (asyncio.CancelledError, GeneratorExit):
                future.cancel()
                raise
            except Exception as error:  # noqa: BLE001 - whatever it raised is the caller's to see
                # the caller may have given up meanwhile; then nobody wants what came of it
                with contextlib.suppress(InvalidStateError):
                    future.set_exception(error)
            else:
                with contextlib.suppress(InvalidStateError):
                    future.set_result(value)
            finally:
                self._running.pop(future, None)
                future.over = True

        def start() -> None:
            if future.cancelled():
                coroutine.close()
                future.over = True
                return
            task = self._running[future] = self._loop.create_task(work())
            task.add_done_callback(lambda done: setattr(future, "over", True))  # cancelled before its first step
            future.add_done_callback(lambda done: self._cancel(task) if done.cancelled() else None)

        try:
            self._loop.call_soon_threadsafe(start, context=contextvars.Context())
        except RuntimeError:
            coroutine.close()
            raise
        return future

    def _cancel(self, task: asyncio.Task[None]) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed, and the task with it
            self._loop.call_soon_threadsafe(task.cancel)

    def drain(self, seconds: float) -> None:
        """Wait until every coroutine has ended, those that nobody waits for included."""

        async def over() -> None:
            if tasks := tuple(self._running.values()):
                await asyncio.wait(tasks, timeout=seconds)

        if not self._loop.is_closed():
            with contextlib.suppress(FutureTimeout):  # one that does not yield
                asyncio.run_coroutine_threadsafe(over(), self._loop).result(max(seconds, 0))

    def close(self) -> None:
        """Cancel what runs and end the thread; a task that does not yield keeps it (it is a daemon)."""

        async def end() -> None:
            others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
            for task in others:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)
            for future in tuple(self._running):  # a task that was cancelled before its first step told nobody
                future.cancel()
            await self._loop.shutdown_default_executor()
            self._ending = True
            self._loop.stop()

        if not self._loop.is_closed():
            asyncio.run_coroutine_threadsafe(end(), self._loop)
            self._thread.join(1.0)
