"""Finding and reading 300 installed plugins, against npe2's own discovery of 300; and what `yaz plugins` imports.

Times are of the processor: both read the same files, and other work on the machine should not decide.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from bench.measuring import figure

COUNT = 300

_OURS = """
import sys, time
sys.path.insert(0, sys.argv[1])
from yazcore.writing.contract import YAZ
from yazcore.manifest.discovery import discover
from yazcore.manifest.reading import read
import pathlib
first = next(pathlib.Path(sys.argv[1]).glob("*/manifest.json"))
read(first.read_bytes(), YAZ)  # as with npe2, classes are made before the clock runs
began = time.process_time()
found, skipped = discover(YAZ)
readings = [read(one.manifest.read_bytes(), YAZ) for one in found]
spent = time.process_time() - began
assert len(found) >= int(sys.argv[2]), (len(found), skipped[:3])
assert all(reading.manifest for reading in readings), readings[0].violations
print(spent)
"""

_NPE2 = """
import sys, time
sys.path.insert(0, sys.argv[1])
import warnings; warnings.simplefilter("ignore")
from npe2 import PluginManifest
began = time.process_time()
found = [one.manifest for one in PluginManifest.discover()]
spent = time.process_time() - began
assert sum(one is not None for one in found) >= int(sys.argv[2]), len(found)
print(spent)
"""

_MARKS = """
import sys
sys.path.insert(0, sys.argv[1])
sys.argv = ["yaz", "plugins", "--json"]
import atexit, json, os
atexit.register(lambda: sys.stderr.write(json.dumps(sorted(sys.modules))))
from yazcore.cli import main
main()
"""


def figures() -> list[dict[str, Any]]:
    """The ratio of both discoveries, and how many of the modules that must not load did."""
    with tempfile.TemporaryDirectory() as folder:
        site = Path(folder) / "site"
        write_plugins(site)
        peer = importlib.util.find_spec("npe2") is not None
        spent = [(_seconds(_OURS, site), _seconds(_NPE2, site) if peer else 0.0) for _ in range(7)]
        ours = statistics.median(mine for mine, _ in spent)
        if peer:
            ratio = statistics.median(mine / theirs for mine, theirs in spent)
            compared = figure("discovery-300", ratio, "<= 0.0667", "npe2 discovery of 300")
        else:
            compared = figure(
                "discovery-300", None, "<= 0.0667", "npe2, which is not installed: requirements/bench.txt"
            )
        return [
            compared,
            figure("discovery-300-ms", ours * 1000, "<= 120", "nothing", "ms", guide=True),
            _imports(site, Path(folder)),
        ]


def _seconds(code: str, site: Path) -> float:
    command = [sys.executable, "-c", code, str(site), str(COUNT)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def _imports(site: Path, home: Path) -> dict[str, Any]:
    run = subprocess.run(
        [sys.executable, "-c", _MARKS, str(site)], check=True, capture_output=True, text=True,
        env={**os.environ, "YAZ_HOME": str(home / "home")},
    )  # fmt: skip
    modules = json.loads(run.stderr)
    heavy = {"mcp", "mcp_types", "pydantic", "keyring", *(f"yaz_plugin_p{number:03}" for number in range(COUNT))}
    return figure(
        "plugins-300-imports", float(len(heavy & set(modules))), "<= 0", "mcp, pydantic, keyring, any plugin", "modules"
    )


def write_plugins(site: Path) -> None:
    """300 installed distributions, each with a manifest of ours (20 tools) and one of npe2's (38 entries, 4 kB)."""
    for number in range(COUNT):
        name = f"p{number:03}"
        package = f"yaz_plugin_{name}"
        folder, info = site / package, site / f"{package}-1.0.dist-info"
        folder.mkdir(parents=True)
        info.mkdir()
        (folder / "__init__.py").write_text("raise SystemExit('a plugin was imported')\n")
        (folder / "manifest.json").write_text(json.dumps(manifest(name, package)))
        (folder / "napari.yaml").write_text(_as_yaml(_npe2_manifest(package)))
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: yaz-plugin-{name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[yaz.manifest]\n{name} = {package}:manifest.json\n")
        (info / "RECORD").write_text(f"{package}/__init__.py,,\n{package}/manifest.json,,\n{info.name}/METADATA,,\n")
        # npe2's manifests stand in distributions of their own: a foreign entry point beside ours is refused
        other = site / f"npe2_{package}-1.0.dist-info"
        other.mkdir()
        (other / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        (other / "entry_points.txt").write_text(f"[napari.manifest]\n{package} = {package}:napari.yaml\n")
        (other / "RECORD").write_text("")


def _as_yaml(document: dict[str, Any]) -> str:
    """As npe2's authors write; JSON, which is YAML too, where nobody will read it for want of npe2."""
    if importlib.util.find_spec("yaml") is None:
        return json.dumps(document)
    yaml = importlib.import_module("yaml")
    return str(yaml.safe_dump(document, sort_keys=False))


def manifest(name: str, package: str) -> dict[str, Any]:
    schema = {
        "type": "object",
        "properties": {"query": {"type": "string", "maxLength": 200}},
        "additionalProperties": False,
    }
    return {
        "contract": 1, "id": name, "name": name, "version": "1.0", "minAppVersion": "0.1.0", "author": "A",
        "description": "A plugin.", "module": f"{package}.plugin:Plugin",
        "permissions": [{"action": f"{name}:read", "descriptionKey": "permission"}],
        "provides": {
            "tools": [
                {
                    "name": f"tool-{number}", "descriptionKey": f"tool-{number}", "posture": "read", "scope": "global",
                    "permission": f"{name}:read", "inputSchema": schema,
                }
                for number in range(20)
            ],
        },
    }  # fmt: skip


def _npe2_manifest(package: str) -> dict[str, Any]:
    commands = [
        {"id": f"{package}.c{n}", "title": f"Command {n}", "python_name": f"{package}.module:function_a"}
        for n in range(20)
    ]
    return {
        "name": package, "display_name": "A plugin",
        "contributions": {
            "commands": commands,
            "readers": [
                {"command": f"{package}.c{number}", "filename_patterns": ["*.x"], "accepts_directories": False}
                for number in range(4)
            ],
            "writers": [
                {"command": f"{package}.c{number}", "layer_types": ["image"], "display_name": f"Writer {number}"}
                for number in range(4)
            ],
            "sample_data": [
                {"command": f"{package}.c{number}", "key": f"sample-{number}", "display_name": f"Sample {number}"}
                for number in range(4)
            ],
            "widgets": [{"command": f"{package}.c{n}", "display_name": f"Widget {n}"} for n in range(6)],
        },
    }  # fmt: skip
