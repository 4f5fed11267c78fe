"""Two processes that are about to replace files in one folder: one at a time, and nobody waits for ever."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from yazcore.capabilities.services import atomic
from yazcore.capabilities.services.atomic import alone_in

HOLDS = """
import os, sys
from yazcore.capabilities.services.atomic import alone_in
with alone_in(os.open(sys.argv[1], os.O_RDONLY)):
    print("held", flush=True)
    sys.stdin.readline()
print("let go", flush=True)
sys.stdin.readline()
"""


@contextmanager
def holding(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process is alone in the folder until it reads a line."""
    environment = {**os.environ, "PYTHONPATH": str(Path(atomic.__file__).parents[3])}
    with subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(folder)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stdin is not None
        assert process.stdout.readline() == "held\n"
        try:
            yield process
        finally:
            process.stdin.close()


@contextmanager
def opened(folder: Path) -> Iterator[int]:
    handle = os.open(folder, os.O_RDONLY)
    try:
        yield handle
    finally:
        os.close(handle)


def test_a_process_that_is_alone_keeps_others_out_until_their_patience_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(atomic, "LOCK_SECONDS", 0.2)
    with holding(tmp_path), opened(tmp_path) as folder:
        with pytest.raises(TimeoutError, match="another process is writing there all the time"), alone_in(folder):
            pytest.fail("two are alone")
        assert list(tmp_path.iterdir()) == []


def test_whoever_waits_comes_in_when_the_other_leaves(tmp_path: Path) -> None:
    inside = threading.Event()
    with holding(tmp_path) as other, opened(tmp_path) as folder:

        def wait() -> None:
            with alone_in(folder):
                inside.set()

        waiting = threading.Thread(target=wait)
        waiting.start()
        assert other.stdin is not None
        assert other.stdout is not None
        other.stdin.write("\n")
        other.stdin.flush()
        assert other.stdout.readline() == "let go\n"
        assert inside.wait(10)
        waiting.join(10)


def test_a_folder_is_free_again_after_an_exception(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(atomic, "LOCK_SECONDS", 0.0)
    with opened(tmp_path) as first, opened(tmp_path) as second:
        with pytest.raises(KeyError), alone_in(first):
            raise KeyError
        with alone_in(second):
            pass
