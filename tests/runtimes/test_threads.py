from __future__ import annotations

import threading
from concurrent.futures import CancelledError, wait

import pytest

from yazcore.runtimes.threads import Threads


def test_a_job_gives_its_value_and_its_exception() -> None:
    threads = Threads("t", 2)
    assert threads.submit(lambda: 7).result(10) == 7
    with pytest.raises(ZeroDivisionError):
        threads.submit(lambda: 1 // 0).result(10)
    threads.close()


def test_no_more_jobs_run_at_a_time_than_the_limit() -> None:
    threads = Threads("t", 3)
    running, most, lock = 0, 0, threading.Lock()
    both = threading.Barrier(3)

    def job() -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        both.wait(10)
        with lock:
            running -= 1

    done = wait([threads.submit(job) for _ in range(9)], 10)
    assert not done.not_done
    assert most == 3
    threads.close()


def test_a_thread_that_hangs_leaves_the_others_working() -> None:
    threads, release = Threads("t", 2), threading.Event()
    hung = threads.submit(lambda: release.wait(30))
    assert [threads.submit(lambda: "ok").result(10) for _ in range(5)] == ["ok"] * 5
    release.set()
    assert hung.result(10)
    threads.close()


def test_threads_are_kept_and_used_again() -> None:
    threads = Threads("t", 4)
    names = {threads.submit(lambda: threading.current_thread().name).result(10) for _ in range(50)}
    assert names <= {f"t-{number}" for number in range(1, 5)}
    threads.close()


def test_a_closed_set_refuses_and_cancels_what_waits() -> None:
    threads, release = Threads("t", 1), threading.Event()
    started = threading.Event()

    def hold() -> None:
        started.set()
        release.wait(30)

    threads.submit(hold)
    assert started.wait(10)
    waiting = threads.submit(lambda: None)
    threads.close()
    with pytest.raises(RuntimeError, match="are closed"):
        threads.submit(lambda: None)
    with pytest.raises(CancelledError):
        waiting.result(10)
    release.set()
