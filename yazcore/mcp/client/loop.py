"""yazcore's own event loop: one daemon thread for what needs a loop, never the application's and no plugin's."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading
from collections.abc import Coroutine
from concurrent.futures import Future, InvalidStateError
from typing import Any, TypeVar

T = TypeVar("T")


class LoopThread:
    """An event loop in a thread, started with the first work."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._closed = False

    def submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Run a coroutine as a task with an empty context of its own. Cancelling the future cancels the task.

        Raises `RuntimeError` after `close`.
        """
        future: Future[T] = Future()
        try:
            loop = self._running_loop()
            loop.call_soon_threadsafe(_start, loop, work, future, context=contextvars.Context())
        except RuntimeError:
            work.close()
            raise
        return future

    def close(self, last: Coroutine[Any, Any, None], seconds: float) -> None:
        """Run `last`, cancel what still runs then, and end the thread; waits for at most so many seconds."""
        with self._lock:
            self._closed = True
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
        if loop is None or thread is None:
            last.close()
            return
        loop.call_soon_threadsafe(_begin_end, loop, last, context=contextvars.Context())
        thread.join(seconds)

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._closed:
                raise RuntimeError(f"the loop {self._name} is closed")
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=_run, args=(self._loop,), name=self._name, daemon=True)
                self._thread.start()
            return self._loop


_tasks: set[asyncio.Task[Any]] = set()  # the loop itself holds its tasks weakly


def _run(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
    finally:
        loop.close()


def _start(loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, T], future: Future[T]) -> None:
    if future.cancelled():
        work.close()
        return
    task = loop.create_task(_told(work, future))
    _tasks.add(task)
    task.add_done_callback(_tasks.discard)

    def cancel(done: Future[T]) -> None:
        if done.cancelled():
            with contextlib.suppress(RuntimeError):  # the loop is closed, and the task with it
                loop.call_soon_threadsafe(task.cancel)

    future.add_done_callback(cancel)


async def _told(work: Coroutine[Any, Any, T], future: Future[T]) -> None:
    """Run `work`, and tell the future what came of it; the future may have been cancelled meanwhile."""
    with contextlib.suppress(InvalidStateError):
        try:
            value = await work
        except asyncio.CancelledError:
            future.cancel()
            raise
        except BaseException as error:  # noqa: BLE001 - whatever it raised is for whoever waits
            future.set_exception(error)
        else:
            future.set_result(value)


def _begin_end(loop: asyncio.AbstractEventLoop, last: Coroutine[Any, Any, None]) -> None:
    async def end() -> None:
        try:
            await last
            others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
            for task in others:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)
            await loop.shutdown_asyncgens()
        finally:
            loop.stop()

    task = loop.create_task(end())
    _tasks.add(task)
    task.add_done_callback(_tasks.discard)
