"""A worker: one plugin in a process that the kernel confines before anything of the plugin is loaded.

The first message says what to load. Then, in this order: confinement, the threads that read, the path, the import, the
object. What follows are calls: a hook by its number in the list that was answered, a handler by the number it was
registered under.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import fcntl
import importlib
import os
import socket
import sys
import threading
import time
from collections.abc import Callable, Hashable, Mapping
from typing import Any

import attrs

from yazcore.capabilities.context import Call, CallContext, Frame, current
from yazcore.confinement.process import Policy, confine, prepare
from yazcore.declarations import Posture
from yazcore.hookspecs import hookimpl
from yazcore.runtimes.facade import Implementation, form_of, implementations
from yazcore.runtimes.isolated import wire
from yazcore.runtimes.isolated.answers import PACK
from yazcore.runtimes.isolated.copying import copy_contents_alone
from yazcore.runtimes.isolated.crossing import fault_of, is_async, sent
from yazcore.runtimes.isolated.package_map import PackageMap
from yazcore.runtimes.isolated.peer import Job, Peer
from yazcore.runtimes.isolated.remote import Lines, RemoteCall, RemoteContext, call_from, make_context
from yazcore.runtimes.isolated.wire import ERROR, RESULT
from yazcore.runtimes.values import NotPortable, portable
from yazcore.trees import remove_tree

STACK = 1024 * 1024
"""The stack of each thread, in bytes: with the usual eight megabytes, ten threads fill the address space."""

SCRATCH = ".scratch"
"""Where temporary files go, in the data folder."""


def get_ready() -> None:
    """Do ahead of time what takes a while and is the same for every plugin. In the process that will be the worker."""
    prepare()
    for implementation in implementations(_Sample()):
        attrs.asdict(form_of(implementation))


class _Sample:
    @hookimpl
    def provide_tools(self) -> None:
        """A hook to be looked at."""


def main(connection: socket.socket, standard: int) -> None:
    """Serve one host until it is gone. Called once, in a process of its own with no other thread.

    `standard`: how many entries of the path, at its beginning, are the standard library's.
    """
    threading.stack_size(STACK)
    reader = wire.Reader(connection)
    (_, number, _, about), _ = reader.read()
    worker = _Worker(connection, reader, standard)
    try:
        told = worker.load(about, number)
    except BaseException as error:  # noqa: BLE001 - whatever it raised is for the host to say
        worker.fail(number, error)
        os._exit(1)
    worker.peer.send(RESULT, number, "", told)
    worker.peer.leadership.watch()  # every other thread is a daemon's


class _Worker:
    """What this process knows of its plugin."""

    def __init__(self, connection: socket.socket, reader: wire.Reader, standard: int) -> None:
        self._standard = standard
        self.peer = Peer(connection, reader, self._start, self._cancel)
        self._hooks: list[Implementation] = []
        self._takes: list[frozenset[str]] = []
        self._collecting: frozenset[str] = frozenset()
        self._handlers: list[tuple[Callable[..., Any], bool]] = []
        self._calls: dict[int, RemoteCall] = {}
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._plugin = self._version = ""
        self._context: RemoteContext

    # --- the start ------------------------------------------------------------------------------------------------

    def load(self, about: Mapping[str, Any], number: int) -> dict[str, Any]:
        """Confine this process, import the plugin, make its object; what it is told of it."""
        self._plugin, self._version = about["plugin"], about["version"]
        _settle_in(about["dataFolder"])
        held = confine(Policy(**about["policy"]))
        _clear_scratch(about["dataFolder"])
        copy_contents_alone()
        self.peer.serve()
        sys.path[self._standard : self._standard] = about["path"]
        sys.meta_path.insert(0, PackageMap(about["packages"]))
        self._context = make_context(about, self.peer)
        sys.stdout = sys.stderr = Lines(self._context.log)
        self._collecting = frozenset(about["collecting"])
        call = call_from(about["call"], number, self.peer, time.monotonic())
        token = current.set(self._frame("starting", call))
        try:
            module, _, name = about["module"].partition(":")
            made = getattr(importlib.import_module(module), name)(self._context)
            self._hooks = list(implementations(made))
            forms = [form_of(one) for one in self._hooks]
        finally:
            current.reset(token)
        self._takes = [frozenset(one.name for one in form.parameters) for form in forms]
        return {"landlock": held.landlock, "seccomp": held.seccomp, "hooks": [attrs.asdict(form) for form in forms]}

    def fail(self, number: int, error: BaseException) -> None:
        """Say that the start failed."""
        frame = self._frame("import or constructor", Call(posture="read"))
        self.peer.send(ERROR, number, *fault_of(error, frame))

    def _frame(self, where: str, call: Call) -> Frame:
        return Frame(plugin=self._plugin, version=self._version, where=where, call=call)

    # --- calls ----------------------------------------------------------------------------------------------------

    def _start(self, number: int, name: str, value: Any) -> Job | None:
        if name == "hook":
            return self._start_hook(number, *value)
        which, arguments, where, finish, about = value
        call = self._calls[number] = call_from(about, number, self.peer, time.monotonic())
        frame = self._frame(where, call)
        handler, later = self._handlers[which]
        pack = PACK[finish]
        context = CallContext(base=self._context, call=call)
        if later:
            self.peer.run_later(
                number, lambda: self._async(number, frame, handler, context, arguments, pack), self._tasks
            )
            return None
        return self._job(("run", which), number, frame, lambda: pack(handler(context, *arguments)))

    def _start_hook(self, number: int, which: int, arguments: Mapping[str, Any], posture: Posture) -> Job:
        call = self._calls[number] = RemoteCall(number=number, posture=posture)
        frame = self._frame(self._hooks[which].hook, call)
        return self._job(("hook", which), number, frame, lambda: self._hook(which, arguments))

    def _hook(self, which: int, arguments: Mapping[str, Any]) -> Any:
        implementation, takes = self._hooks[which], self._takes[which]
        returned = implementation.function(**{key: value for key, value in arguments.items() if key in takes})
        if implementation.hook in self._collecting:
            return sent(returned, self._keep)
        return portable(returned)

    def _keep(self, handler: Callable[..., Any]) -> int:
        self._handlers.append((handler, is_async(handler)))
        return len(self._handlers) - 1

    def _job(self, kind: Hashable, number: int, frame: Frame, work: Callable[[], Any]) -> Job:
        def run() -> None:
            current.set(frame)
            try:
                value = work()
            except BaseException as error:  # noqa: BLE001 - nothing of it may end this thread
                self._answer_fault(number, error, frame)
            else:
                self._answer(number, value, frame)

        # As an async one has: what it keeps in a variable of its own is not found by the thread's next call.
        return Job(kind, lambda: contextvars.Context().run(run))

    async def _async(
        self,
        number: int,
        frame: Frame,
        handler: Callable[..., Any],
        context: CallContext,
        arguments: list[Any],
        finish: Callable[[Any], Any],
    ) -> None:
        current.set(frame)
        try:
            value = finish(await handler(context, *arguments))
        except (asyncio.CancelledError, GeneratorExit):  # this task is being ended
            self._calls.pop(number, None)
            self.peer.send(ERROR, number, "ended", [])
            raise
        except BaseException as error:  # noqa: BLE001 - a KeyboardInterrupt would end the loop of all its other calls
            self._answer_fault(number, error, frame)
        else:
            self._answer(number, value, frame)

    def _answer(self, number: int, value: Any, frame: Frame) -> None:
        self._calls.pop(number, None)
        try:
            if type(value) is bytes and len(value) > wire.PART:
                self.peer.send_whole(number, value)
            else:
                self.peer.send(RESULT, number, "", value)
        except (ValueError, TypeError, OverflowError) as error:
            self.peer.send(ERROR, number, *fault_of(NotPortable(str(error)), frame))

    def _answer_fault(self, number: int, error: BaseException, frame: Frame) -> None:
        self._calls.pop(number, None)
        self.peer.send(ERROR, number, *fault_of(error, frame))

    def _cancel(self, number: int) -> None:
        call = self._calls.get(number)
        if call is not None:
            call.cancelled.set()
        task = self._tasks.get(number)
        if task is not None:
            with contextlib.suppress(RuntimeError):
                self.peer.loop.call_soon_threadsafe(task.cancel)


def _settle_in(data_folder: str) -> None:
    """Take the data folder for home, and a folder in it for temporary files."""
    scratch = os.path.join(data_folder, SCRATCH)
    os.umask(0o077)
    os.chdir(data_folder)
    os.environ.update(HOME=data_folder, TMPDIR=scratch, SQLITE_TMPDIR=scratch)


def _clear_scratch(data_folder: str) -> None:
    """Empty the folder for temporary files, unless another worker of the plugin uses it; it is locked while one does.

    In the confined process: whatever a plugin has put there, links included, leads it nowhere.
    """
    scratch = os.path.join(data_folder, SCRATCH)
    with contextlib.suppress(OSError):
        if os.path.islink(scratch) or not os.path.isdir(scratch):
            with contextlib.suppress(FileNotFoundError):
                os.remove(scratch)
            os.mkdir(scratch, 0o700)
        folder = os.open(scratch, os.O_RDONLY | os.O_DIRECTORY)  # open for as long as this process lives
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            for entry in os.scandir(folder):
                if entry.is_dir(follow_symlinks=False):
                    remove_tree(entry.name, dir_fd=folder)
                else:
                    os.unlink(entry.name, dir_fd=folder)
        fcntl.flock(folder, fcntl.LOCK_SH)
