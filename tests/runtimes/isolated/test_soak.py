"""A small soak: `python -m bench.soak` is the large one."""

from __future__ import annotations

from bench.soak import soak


def test_nothing_is_lost_and_nothing_left_when_workers_are_killed_at_random() -> None:
    done = soak(calls=3200, workers=4)
    assert (done.wrong, done.answered + done.ended) == (0, 3200)
    assert done.killed > 0
    assert done.after == done.before
