"""A call that somebody waits for from outside the gate: it ends with whoever waits, and in its time."""

from __future__ import annotations

import threading
from concurrent.futures import CancelledError, Future

import pytest

from yazcore.capabilities.context import Call
from yazcore.runtimes.following import following

SECONDS = 30.0


def begun(seconds: float = SECONDS) -> tuple[Future[str], Call, Future[str]]:
    running: Future[str] = Future()
    call = Call(posture="write")

    def outcome() -> str:
        return running.result(0) if running.done() else "overdue"

    return running, call, following(running, call, seconds, outcome)


def test_it_gives_what_came_of_the_call() -> None:
    running, call, told = begun()
    running.set_result("done")
    assert told.result(SECONDS) == "done"
    assert not call.cancelled.is_set()


def test_it_raises_what_the_outcome_raises() -> None:
    running, _, told = begun()
    running.set_exception(KeyError("x"))
    with pytest.raises(KeyError):
        told.result(SECONDS)


def test_one_that_had_ended_before_is_told_too() -> None:
    running: Future[str] = Future()
    running.set_result("done")
    assert following(running, Call(posture="write"), SECONDS, lambda: "told").result(SECONDS) == "told"


def test_where_nobody_waits_the_call_is_cancelled() -> None:
    running, call, told = begun()
    assert told.cancel()
    assert (running.cancelled(), call.cancelled.is_set()) == (True, True)


def test_after_its_time_the_outcome_is_asked_and_the_call_cancelled() -> None:
    running, call, told = begun(0.01)
    assert told.result(SECONDS) == "overdue"
    with pytest.raises(CancelledError):
        running.result(SECONDS)
    assert call.cancelled.is_set()


def test_the_outcome_is_asked_once_and_no_timer_is_left() -> None:
    running: Future[str] = Future()
    asked: list[str] = []
    before = timers()
    told = following(running, Call(posture="write"), SECONDS, lambda: asked.append("x"))
    (mine,) = timers() - before
    running.set_result("done")
    told.result(SECONDS)
    mine.join(SECONDS)
    assert (asked, mine.is_alive()) == (["x"], False)


def timers() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if isinstance(thread, threading.Timer)}
