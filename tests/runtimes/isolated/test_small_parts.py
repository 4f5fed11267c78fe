"""The allowance, the strikes, the clock."""

from __future__ import annotations

import threading
import time

from yazcore.runtimes.isolated.allowance import BURST_SECONDS, SHARE, Allowance
from yazcore.runtimes.isolated.clock import Clock
from yazcore.runtimes.isolated.strikes import Strikes


class Now:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_worker_that_says_little_is_read_at_once() -> None:
    now = Now()
    allowance = Allowance(now)
    for _ in range(10_000):
        now.now += 0.001
        assert allowance.spend(100) == 0


def test_a_flood_is_read_at_its_share_of_a_processor() -> None:
    now = Now()
    allowance = Allowance(now)
    spent, began = 0, now.now
    for _ in range(200_000):
        now.now += allowance.spend(0)
        spent += 1
    rate = spent / (now.now - began)
    assert SHARE / 40e-6 <= rate < 2 * SHARE / 40e-6
    assert allowance.spend(2 * 2**20) > BURST_SECONDS


def test_three_ends_within_ten_minutes_are_too_many() -> None:
    now = Now()
    strikes = Strikes(clock=now)
    assert [strikes.count(), strikes.pause, strikes.count(), strikes.count()] == [False, 0.0, False, True]
    assert strikes.pause > 0


def test_ends_long_ago_are_forgotten() -> None:
    now = Now()
    strikes = Strikes(clock=now)
    for _ in range(10):
        assert not strikes.count()
        now.now += 400


def test_the_clock_does_each_thing_at_its_time_and_then_rests() -> None:
    before = threading.active_count()
    clock, done, over = Clock(), [], threading.Event()
    now = time.monotonic()
    clock.at(now + 0.05, lambda: (done.append("second"), over.set()))  # type: ignore[func-returns-value]
    clock.at(now + 0.01, lambda: done.append("first"))
    clock.at(now + 60, lambda: done.append("never"))
    assert over.wait(10)
    assert done == ["first", "second"]
    clock.close()
    end = time.monotonic() + 10
    while threading.active_count() > before:
        assert time.monotonic() < end
        threading.Event().wait(0.01)
