"""Where the kernel cannot hold a worker, an isolated plugin does not run, and its state says why (trials 6)."""

from __future__ import annotations

import errno
import json
import subprocess
import sys
from pathlib import Path

import pytest

LACKING = Path(__file__).parents[2] / "confinement" / "lacking.py"
LANDLOCK = "landlock_create_ruleset,landlock_add_rule,landlock_restrict_self"

HOST = """
import json, sys
from pathlib import Path
from tests.hosts.console import console
from tests.hosts.running import granted_for
from tests.plugins_in_test import manifest, plugin_folder
from yazcore.home import Home

folder = Path(sys.argv[4])
code = "open(__import__('os').environ['MARK'], 'w')\\nclass Plugin:\\n    def __init__(self, context): pass\\n"
with plugin_folder(folder, manifest(), code) as package:
    host = console(Home(folder / "home"), {}, (package,))
    granted_for(host, "demo", "isolated")
    (status,) = (one for one in host.activate() if one.id == "demo")
    host.close()
print(json.dumps([status.state, status.runtime, status.confinement, list(status.reasons)]))
"""


@pytest.mark.parametrize(
    ("error", "calls", "reason"),
    [
        (errno.ENOSYS, LANDLOCK, "this kernel has no Landlock (Linux 5.13 or newer is needed)"),
        (errno.EPERM, LANDLOCK, "the container forbids Landlock (its seccomp profile blocks the call)"),
        (errno.EPERM, "seccomp", "the container forbids seccomp (its own profile blocks the call)"),
        (
            errno.EPERM, "pidfd_open",
            "the kernel gives no handles of processes (pidfd_open: Operation not permitted)",
        ),
    ],
)  # fmt: skip
def test_an_isolated_plugin_is_held_and_never_runs_in_another_way(
    tmp_path: Path, error: int, calls: str, reason: str
) -> None:
    mark = tmp_path / "mark"
    done = subprocess.run(
        [sys.executable, str(LACKING), str(int(error)), calls, HOST, str(tmp_path)],
        capture_output=True, text=True, check=False, env={"PATH": "/usr/bin", "MARK": str(mark), "HOME": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [
        "held", "isolated", f"not possible: {reason}", [f"it is to run isolated, which this system cannot do: {reason}"]
    ]
    assert not mark.exists()
