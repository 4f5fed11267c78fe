"""A bounded set of daemon threads for one plugin's blocking code.

Own threads and not `concurrent.futures`: its threads are joined when the interpreter ends, so one hung plugin would
keep the process alive; and never anyio's shared limiter, which forty hung calls would exhaust for everybody.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

_Job = tuple["Future[Any]", Callable[[], Any]]


class Threads:
    """At most `limit` threads, started when needed and kept; further jobs wait their turn."""

    def __init__(self, name: str, limit: int) -> None:
        self._name = name
        self._limit = limit
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._running = 0
        self._idle = 0
        self._closed = False

    def submit(self, job: Callable[[], Any]) -> Future[Any]:
        """Run `job` in one of the threads. Raises `RuntimeError` after `close`."""
        future: Future[Any] = Future()
        with self._lock:
            if self._closed:
                raise RuntimeError(f"the threads of {self._name} are closed")
            self._jobs.put((future, job))
            if self._idle > 0:
                self._idle -= 1
            elif self._running < self._limit:
                self._running += 1
                threading.Thread(target=self._work, name=f"{self._name}-{self._running}", daemon=True).start()
        return future

    def close(self) -> None:
        """Let every thread end after its job; queued jobs are cancelled."""
        with self._lock:
            self._closed = True
            waiting = []
            while True:
                try:
                    waiting.append(self._jobs.get_nowait())
                except queue.Empty:
                    break
            for _ in range(self._running):
                self._jobs.put(None)
        for job in waiting:
            if job is not None:
                job[0].cancel()

    def _work(self) -> None:
        while True:
            job = self._jobs.get()
            if job is None:
                return
            future, function = job
            if future.set_running_or_notify_cancel():
                try:
                    value = function()
                except BaseException as error:  # noqa: BLE001 - whatever it raised is the caller's to see
                    future.set_exception(error)
                else:
                    future.set_result(value)
            del future, function, job
            with self._lock:
                # A job that was queued while all threads worked has no idle thread reserved for it.
                if self._jobs.empty():
                    self._idle += 1
