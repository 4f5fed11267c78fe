"""An installer as a child: its lines as they come, and nothing of it left when we stop."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.cli.commands import wait_for_end
from yazcore.install.children import Ran, run

WAITS = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"])
print(child.pid, flush=True)
child.wait()
"""


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def test_both_outputs_are_told_line_by_line_and_kept(tmp_path: Path) -> None:
    told: list[str] = []
    code = "import os, sys; print(' one ', flush=True); os.write(2, b'two'); sys.exit(int(os.environ['S']))"
    ran = run(python(code), environment={"S": "7"}, folder=tmp_path, told=told.append)
    assert (ran, told) == (Ran(7, (" one", "two")), ["one", "two"])


def test_bytes_that_are_no_text_and_endless_lines_are_no_trouble(tmp_path: Path) -> None:
    code = "import sys; sys.stdout.buffer.write(b'\\xff\\n' * 5000)"
    ran = run(python(code), environment={}, folder=tmp_path, told=lambda line: None)
    assert ran == Ran(0, ("\ufffd",) * 2000)


@pytest.mark.parametrize("ending", [KeyboardInterrupt, SystemExit])
def test_whoever_stops_ends_the_child_and_what_it_started(tmp_path: Path, ending: type[BaseException]) -> None:
    started: list[int] = []

    def told(line: str) -> None:
        started.append(int(line))
        raise ending

    with pytest.raises(ending):
        run(python(WAITS), environment={"PATH": os.environ["PATH"]}, folder=tmp_path, told=told)
    wait_for_end(started[0])
