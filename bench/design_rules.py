"""The design rules: 1,000 tools judged, and `yaz check` of a wheel with 20 tools as a process of its own.

Both are held against a floor measured in the same run: parsing and writing the same list as JSON many times over, and a
Python that imports what every command of yaz needs.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.measuring import figure
from yazcore.design_rules.documents import read
from yazcore.design_rules.engine import chosen, judge
from yazcore.design_rules.rules import RULES
from yazcore.design_rules.view import View

COUNT = 1000

_CHECK = [sys.executable, "-c", "import sys; from yazcore.cli import main; main()", "check", "--static"]
_FLOOR = [sys.executable, "-c", "import click, attrs, json, packaging.utils, email.parser, fluent.syntax"]
_MODULES = """
import atexit, json, sys
atexit.register(lambda: sys.stderr.write(json.dumps(sorted(sys.modules))))
from yazcore.cli import main
main()
"""


def figures() -> list[dict[str, Any]]:
    """What judging costs, and what a check of a wheel costs and loads."""
    document = {"tools": [_tool(number) for number in range(COUNT)]}
    text = json.dumps(document, indent=1)
    selection = chosen(RULES)
    ours = _processor(lambda: judge(View(read(json.loads(text))), selection, text=text))
    floor = _processor(lambda: json.dumps(json.loads(text)))
    with tempfile.TemporaryDirectory() as folder:
        wheel = _wheel(Path(folder))
        environment = {**os.environ, "YAZ_HOME": str(Path(folder, "home"))}
        pairs = [(_seconds([*_CHECK, str(wheel)], environment), _seconds(_FLOOR, environment)) for _ in range(9)]
        run = subprocess.run(
            [sys.executable, "-c", _MODULES, "check", "--static", str(wheel)], env=environment, check=True,
            capture_output=True, text=True,
        )  # fmt: skip
    modules = set(json.loads(run.stderr[run.stderr.index("[") :]))
    heavy = {"mcp", "mcp_types", "pydantic", "keyring", "yaz_plugin_bench"}
    return [
        figure("check-1000-tools", ours / floor, "<= 75", "reading and writing the same list as JSON"),
        figure("check-1000-tools-s", ours, "<= 2", "nothing", "s", guide=True),
        figure("check-wheel-20-tools", statistics.median(a / b for a, b in pairs), "<= 3", "importing what it needs"),
        figure("check-wheel-20-tools-s", statistics.median(a for a, _ in pairs), "<= 0.3", "nothing", "s", guide=True),
        figure(
            "check-wheel-imports", float(len(heavy & modules)), "<= 0", "mcp, pydantic, keyring, the plugin", "modules"
        ),
    ]


def _processor(function: Callable[[], object]) -> float:
    """The median of the processor's time of one call, in seconds."""
    spent = []
    for _ in range(5):
        began = time.process_time()
        function()
        spent.append(time.process_time() - began)
    return statistics.median(spent)


def _seconds(command: list[str], environment: dict[str, str]) -> float:
    """The processor's time of one run: other work on the machine should not decide."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=environment, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime - before.ru_utime) + (after.ru_stime - before.ru_stime)


_VERBS = ("search", "read", "create", "update", "close", "export", "list", "assign")
_THINGS = ("ticket", "invoice", "order", "customer", "runbook", "service", "report", "device", "account", "booking")


def _tool(number: int) -> dict[str, Any]:
    verb, thing = _VERBS[number % len(_VERBS)], _THINGS[number // 8 % len(_THINGS)]
    properties = {
        "key": {
            "type": "string",
            "pattern": "^[A-Z]{2}-[0-9]{1,9}$",
            "description": f"The {thing}'s key, as in OP-17.",
        },
        "words": {"type": "string", "maxLength": 200, "description": "Words of the title, in any order."},
        "state": {"type": "string", "enum": ["open", "closed"], "description": "Only those in this state."},
        "limit": {
            "type": "integer",
            "minimum": 1,
            "maximum": 50,
            "default": 20,
            "description": "The most in one page.",
        },
        "cursor": {"type": "string", "maxLength": 100, "description": "nextCursor of the page before."},
    }
    return {
        "name": f"{verb}_{thing}_{number}",
        "description": f"Does {verb} for a {thing} of part {number}. Use it when the key is known; else search for it. "
        "It gives a page of short records with nextCursor, and changes nothing that is not named here.",
        "inputSchema": {"type": "object", "properties": properties, "required": ["key"], "additionalProperties": False},
        "outputSchema": {
            "type": "object",
            "properties": {
                "items": {"type": "array", "maxItems": 50, "items": {"type": "string"}},
                "nextCursor": {"type": "string"},
            },
            "additionalProperties": False,
        },
    }  # fmt: skip


def _wheel(folder: Path) -> Path:
    tools = [
        {
            "name": one["name"].replace("_", "-"), "descriptionKey": f"tool-{number}", "posture": "read",
            "scope": "global", "permission": "bench:read", "inputSchema": one["inputSchema"],
            "outputSchema": one["outputSchema"],
        }
        for number, one in enumerate(map(_tool, range(20)))
    ]  # fmt: skip
    manifest = {
        "contract": 1, "id": "bench", "name": "Bench", "version": "1.0", "minAppVersion": "0.1.0", "author": "A",
        "description": "A plugin.", "module": "yaz_plugin_bench.plugin:Plugin", "locales": "locales",
        "permissions": [{"action": "bench:read", "descriptionKey": "permission"}], "provides": {"tools": tools},
    }  # fmt: skip
    texts = "permission = Read\n" + "".join(f"tool-{number} = {_tool(number)['description']}\n" for number in range(20))
    files = {
        "yaz_plugin_bench/__init__.py": "raise SystemExit('a plugin was imported')\n",
        "yaz_plugin_bench/manifest.json": json.dumps(manifest),
        "yaz_plugin_bench/locales/en-US.ftl": texts,
        "yaz_plugin_bench-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: yaz-plugin-bench\nVersion: 1.0\n",
        "yaz_plugin_bench-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "yaz_plugin_bench-1.0.dist-info/entry_points.txt": "[yaz.manifest]\nbench = yaz_plugin_bench:manifest.json\n",
    }
    record = "".join(f"{name},,\n" for name in [*files, "yaz_plugin_bench-1.0.dist-info/RECORD"])
    path = folder / "yaz_plugin_bench-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in {**files, "yaz_plugin_bench-1.0.dist-info/RECORD": record}.items():
            archive.writestr(name, text)
    return path
