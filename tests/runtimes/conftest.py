"""One runtime of each kind for the tests of a module, and a workbench in it for each test."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.runtimes.plugins import Workbench, workbench
from yazcore.capabilities.grants import RuntimeName
from yazcore.runtimes.base import Runtime
from yazcore.runtimes.isolated.runtime import IsolatedRuntime
from yazcore.runtimes.trusted import TrustedRuntime


@pytest.fixture(scope="module")
def isolated_runtime() -> Iterator[IsolatedRuntime]:
    runtime = IsolatedRuntime()
    yield runtime
    runtime.close()


@pytest.fixture
def isolated(isolated_runtime: IsolatedRuntime, tmp_path: Path) -> Iterator[Workbench]:
    """A workbench for isolated plugins."""
    with workbench(isolated_runtime, tmp_path) as bench:
        yield bench


@pytest.fixture
def bench(runtime: RuntimeName, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Workbench]:
    """A workbench for plugins in each runtime in turn."""
    chosen: Runtime = TrustedRuntime() if runtime == "trusted" else request.getfixturevalue("isolated_runtime")
    with workbench(chosen, tmp_path) as made:
        yield made


@pytest.fixture
def wait() -> Callable[[Callable[[], object]], None]:
    """Wait for something that another thread or process does; fails the test where it does not come."""

    def until(holds: Callable[[], object], seconds: float = 20) -> None:
        end, look = time.monotonic() + seconds, threading.Event()
        while not holds():
            assert time.monotonic() < end, "it did not happen"
            look.wait(0.01)

    return until
