"""A small soak: `python -m bench.soak` is the large one."""

from __future__ import annotations

from pathlib import Path

import pytest

import bench.soak
from bench.soak import MOST_MEMORY, soak
from yazcore.runtimes.isolated.plugin import IsolatedPlugin


def test_nothing_is_lost_and_nothing_left_when_workers_are_killed_at_random() -> None:
    done = soak(calls=3200, workers=4)
    assert (done.wrong, done.answered + done.ended) == (0, 3200)
    assert done.killed > 0
    assert done.after == done.before
    assert done.files == []
    assert done.memory <= MOST_MEMORY
    assert done.holds


def test_what_keeps_a_little_of_each_call_or_a_file_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[bytes] = []
    submit = IsolatedPlugin.submit

    def keeping(self: IsolatedPlugin, *arguments: object) -> object:
        kept.append(bytes(20_000))
        Path(bench.soak.tempfile.gettempdir(), "left").touch()
        return submit(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(IsolatedPlugin, "submit", keeping)
    done = soak(calls=480, workers=2)
    assert done.memory > MOST_MEMORY
    assert done.files == ["temporary/left"]
    assert not done.holds
