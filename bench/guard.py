"""What the audit guard costs a host while no plugin's code runs: opening files, and importing.

A hook cannot be taken out again, so each measurement is a process of its own, and the two kinds take turns. What counts
is processor time: both are pure work, and on a machine that others use the clock on the wall says more of the others.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

from bench.measuring import figure

ROUNDS = 21

_PACKAGES = (
    "argparse", "asyncio", "calendar", "concurrent.futures", "configparser", "csv", "dataclasses", "decimal", "difflib",
    "email.message", "fractions", "html.parser", "http.client", "json.tool", "logging.config", "multiprocessing.pool",
    "optparse", "pickle", "sqlite3", "statistics", "tarfile", "unittest", "xml.etree.ElementTree", "zipfile",
)  # fmt: skip

_CHILD = """
import sys, time
sys.path.insert(0, {checkout!r})
from yazcore.runtimes import watching
if {guarded}:
    watching.install()
def timed(act, times):
    began = time.process_time()
    for _ in range(times):
        act()
    return (time.process_time() - began) / times
def opened():
    with open({file!r}):
        pass
timed(opened, 500)
import json
spent = {{"open": min(timed(opened, 1000) for _ in range(9))}}
began = time.process_time()
for name in {packages!r}:
    __import__(name)
spent["import"] = time.process_time() - began
print(json.dumps(spent))
"""


def _measured(guarded: bool) -> dict[str, float]:
    code = _CHILD.format(
        checkout=str(Path(__file__).parents[1]), guarded=guarded, file=__file__, packages=list(_PACKAGES)
    )
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def figures() -> list[dict[str, Any]]:
    """Two ratios: a process with the guard against one without."""
    quotients: dict[str, list[float]] = {"open": [], "import": []}
    for number in range(ROUNDS):
        order = (True, False) if number % 2 else (False, True)
        spent = {guarded: _measured(guarded) for guarded in order}
        for name, values in quotients.items():
            values.append(spent[True][name] / spent[False][name])
    return [
        figure(
            "guard, open()", statistics.median(quotients["open"]), "<= 1.10", "the same process without the guard"
        ),
        figure(
            f"guard, import of {len(_PACKAGES)}", statistics.median(quotients["import"]), "<= 1.03",
            "the same process without the guard",
        ),
    ]  # fmt: skip
