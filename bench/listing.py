"""`yaz plugins` as a whole process, with none and with 300 plugins, and one manifest of 20 tools by itself.

Times of processes are of the processor, children included: every run reads the same files, and other work on the
machine should not decide.
"""

from __future__ import annotations

import importlib.util
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from bench.discovery import COUNT, manifest, write_plugins
from bench.measuring import figure, median_seconds

ROUNDS = 9

_YAZ = [sys.executable, "-c", "from yazcore.cli import main; main()", "plugins"]
_PYTHON = [sys.executable, "-c", "pass"]
_NPE2 = [sys.executable, "-W", "ignore", "-m", "npe2", "list"]


def figures() -> list[dict[str, Any]]:
    """Two ratios of processes, and two guide values of one manifest."""
    with tempfile.TemporaryDirectory() as folder:
        where = Path(folder)
        site, nothing = where / "site", where / "nothing"
        write_plugins(site)
        nothing.mkdir()
        return [
            figure("plugins-none", _against(_YAZ, _PYTHON, nothing, where), "<= 15", "python -c pass"),
            _with_300(site, where),
            *_of_one_manifest(where / "yaz_plugin_one"),
        ]


def _with_300(site: Path, where: Path) -> dict[str, Any]:
    if importlib.util.find_spec("npe2") is None:
        return figure(f"plugins-{COUNT}", None, "<= 0.2", "npe2 list, which is not installed: requirements/bench.txt")
    for command, name in ((_YAZ, "p000"), (_NPE2, "yaz_plugin_p000")):
        if name not in _run(command, site, where, stdout=subprocess.PIPE)[1]:
            raise RuntimeError(f"{' '.join(command)} does not list what is installed")
    return figure(f"plugins-{COUNT}", _against(_YAZ, _NPE2, site, where), "<= 0.2", f"npe2 list of {COUNT}")


def _against(ours: list[str], theirs: list[str], site: Path, where: Path) -> float:
    """The median, over interleaved rounds, of our time over theirs."""
    spent = [(_run(ours, site, where)[0], _run(theirs, site, where)[0]) for _ in range(ROUNDS + 1)]
    return statistics.median(mine / theirs for mine, theirs in spent[1:])  # the first round warms up


def _run(command: list[str], site: Path, where: Path, stdout: int = subprocess.DEVNULL) -> tuple[float, str]:
    """One run of a command; its seconds of the processor, and what it printed."""
    path = os.pathsep.join([str(site), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {
        **os.environ, "YAZ_HOME": str(where / "home"), "PYTHONPATH": path,
        "PYTHONPYCACHEPREFIX": str(where / "compiled"),  # as installed: what the first round compiled stays compiled
    }  # fmt: skip
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    before = _spent_by_children()
    done = subprocess.run(command, check=True, stdout=stdout, stderr=subprocess.PIPE, text=True, env=environment)
    return _spent_by_children() - before, done.stdout


def _spent_by_children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)  # `os.times` counts in hundredths of a second
    return usage.ru_utime + usage.ru_stime


def _of_one_manifest(folder: Path) -> list[dict[str, Any]]:
    from yazcore.manifest.checking import check_reading
    from yazcore.manifest.reading import read
    from yazcore.writing.contract import YAZ

    document = {**manifest("one", folder.name), "locales": "locales"}
    data = json.dumps(document).encode()
    (folder / "locales").mkdir(parents=True)
    texts = "permission = Reads\n" + "".join(f"tool-{number} = Tool {number}\n" for number in range(20))
    (folder / "locales" / "en-US.ftl").write_text(texts)
    reading = read(data, YAZ)
    if reading.manifest is None or check_reading(reading, folder):
        raise RuntimeError("the manifest that is measured has violations")
    reads = median_seconds(lambda: read(data, YAZ)) * 1000
    checks = median_seconds(lambda: check_reading(reading, folder)) * 1000
    return [
        figure("manifest-read-20", reads, "<= 1", "nothing", "ms", guide=True),
        figure("manifest-check-20", checks, "<= 100", "nothing", "ms", guide=True),
    ]
