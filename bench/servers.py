"""The servers that figures are measured on: each a process of its own, on one processor where there are several."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]


@contextmanager
def server(module: str, which: str, *arguments: str) -> Iterator[dict[str, Any]]:
    """`python -m module which ...`, which prints a line of JSON when it serves; gives that, and `process`."""
    folder = tempfile.mkdtemp(prefix="bench-")
    environment = {
        **os.environ, "PYTHONPATH": str(ROOT), "YAZ_HOME": folder, "HOME": folder, "PYDANTIC_DISABLE_PLUGINS": "__all__"
    }  # fmt: skip
    command = [sys.executable, "-m", module, which, *arguments]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment, cwd=ROOT
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line:
            raise RuntimeError(f"the {which} server did not start: python -m {module} {which} says why")
        yield {**json.loads(line), "process": process}
    finally:
        process.kill()
        process.communicate()
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def on_processor(which: int) -> Iterator[None]:
    """Stay on one processor, where there are two or more, so that a scheduler does not decide."""
    before = os.sched_getaffinity(0)
    if len(before) > 1:
        os.sched_setaffinity(0, {sorted(before)[which]})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
