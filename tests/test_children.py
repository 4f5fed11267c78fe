"""Child processes within bounds. The children are real."""

from __future__ import annotations

import os
import selectors
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from yazcore.children import ChildEnded, run_child
from yazcore.process_groups import Bounds


def ran(code: str, cwd: Path, **more: Any) -> ChildEnded:
    settings: dict[str, Any] = {"env": {}, "stdin": Path("/dev/null"), "seconds": 20.0, "most_stdout": 10_000, **more}
    return run_child([sys.executable, "-I", "-S", "-c", code], cwd=cwd, **settings)


def test_what_it_says_and_its_status_are_kept(tmp_path: Path) -> None:
    ended = ran("import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)", tmp_path)
    assert (ended.ending, ended.code, ended.stdout, ended.stderr) == ("exit", 3, b"out\n", b"err\n")


def test_it_runs_in_its_folder_with_its_environment_and_nothing_else(tmp_path: Path) -> None:
    ended = ran("import os; print(os.getcwd()); print(sorted(os.environ))", tmp_path, env={"LANG": "C.UTF-8"})
    assert ended.stdout.decode().splitlines() == [str(tmp_path), "['LANG']"]


def test_it_reads_the_file_it_is_given(tmp_path: Path) -> None:
    (tmp_path / "in").write_text("given")
    assert ran("print(input())", tmp_path, stdin=tmp_path / "in").stdout == b"given\n"


def test_it_reads_the_bytes_it_is_given(tmp_path: Path) -> None:
    assert ran("print(input())", tmp_path, stdin=b"given").stdout == b"given\n"
    assert list(tmp_path.iterdir()) == []


def test_at_the_deadline_it_is_ended(tmp_path: Path) -> None:
    ended = ran("import time; time.sleep(600)", tmp_path, seconds=0.2)
    assert (ended.ending, ended.code) == ("deadline", -15)


def test_one_that_will_not_end_is_killed(tmp_path: Path) -> None:
    deaf = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('x' * 20_000, flush=True)"
    # It says too much when it is deaf already, so that it is told to end in vain.
    ended = ran(f"{deaf}; time.sleep(600)", tmp_path, grace=0.1)
    assert (ended.ending, ended.code) == ("output", -9)


def test_what_it_started_ends_with_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "held")
    reading = os.open(tmp_path / "held", os.O_RDONLY | os.O_NONBLOCK)
    code = (
        "import subprocess, sys\n"
        "deaf = 'import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)'\n"
        "held = open('held', 'w')\n"
        "subprocess.Popen([sys.executable, '-I', '-S', '-c', deaf], stdout=held, stderr=subprocess.DEVNULL)"
    )
    assert ran(code, tmp_path).ending == "exit"
    # The pipe has no writer left, which is its end, when the process that held it is dead.
    with selectors.DefaultSelector() as selector:
        selector.register(reading, selectors.EVENT_READ)
        assert selector.select(timeout=20)
    assert os.read(reading, 1) == b""
    os.close(reading)


def test_one_that_closes_its_streams_and_goes_on_is_ended(tmp_path: Path) -> None:
    ended = ran("import os, time; os.close(1); os.close(2); time.sleep(600)", tmp_path, seconds=0.2)
    assert ended.ending == "deadline"


def test_one_that_says_too_much_is_ended(tmp_path: Path) -> None:
    ended = ran("while True: print('x' * 1000)", tmp_path, most_stdout=5_000)
    assert (ended.ending, len(ended.stdout)) == ("output", 5_000)


def test_a_flood_of_complaints_does_not_end_it(tmp_path: Path) -> None:
    ended = ran("import sys; sys.stderr.write('x' * 1_000_000); print('done')", tmp_path)
    assert (ended.ending, ended.stdout, len(ended.stderr)) == ("exit", b"done\n", 65_536)


def test_it_ends_when_nobody_waits_any_more(tmp_path: Path) -> None:
    cancelled = threading.Event()
    cancelled.set()
    assert ran("import time; time.sleep(600)", tmp_path, cancelled=cancelled).ending == "cancelled"


def test_a_program_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        run_child(["/nowhere/at/all"], cwd=tmp_path, env={}, stdin=Path("/dev/null"), seconds=1, most_stdout=1)


def test_one_that_multiplies_is_ended_with_all_it_started(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "held")
    reading = os.open(tmp_path / "held", os.O_RDONLY | os.O_NONBLOCK)
    deaf = "signal.signal(signal.SIGTERM, signal.SIG_IGN)"
    code = f"import os, signal, time\nheld = open('held', 'w')\n{deaf}\nfor _ in range(5): os.fork()\ntime.sleep(600)"
    ended = ran(code, tmp_path, bounds=Bounds(processes=20, memory=2**40), grace=600)
    assert (ended.ending, ended.code) == ("processes", -9)
    with selectors.DefaultSelector() as selector:
        selector.register(reading, selectors.EVENT_READ)
        assert selector.select(timeout=20)
    assert os.read(reading, 1) == b""
    os.close(reading)


@pytest.mark.parametrize("silent", ["", "os.close(1); os.close(2); "])
def test_one_that_takes_too_much_memory_is_ended_in_silence_too(tmp_path: Path, silent: str) -> None:
    code = f"import os, time; {silent}held = b'x' * 60_000_000; time.sleep(600)"
    assert ran(code, tmp_path, bounds=Bounds(processes=20, memory=50_000_000)).ending == "memory"


def test_one_that_goes_on_in_silence_ends_when_nobody_waits_any_more(tmp_path: Path) -> None:
    cancelled = threading.Event()
    threading.Timer(0.2, cancelled.set).start()
    code = "import os, time; os.close(1); os.close(2); time.sleep(600)"
    assert ran(code, tmp_path, cancelled=cancelled).ending == "cancelled"


def test_within_its_bounds_nothing_happens(tmp_path: Path) -> None:
    assert ran("print('said')", tmp_path, bounds=Bounds(processes=1, memory=2**30)).stdout == b"said\n"
