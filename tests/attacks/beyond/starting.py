"""Names that are code, at the start: what a plugin, or a worker that lies for it, can make a host take for a name."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.attacks.beyond.attack import NO_WIRE, OPEN, Runtime
from tests.attacks.hosts import CONTRACT, HEAD, tools
from tests.hosts.running import granted_for
from tests.plugins_in_test import manifest, plugin_folder
from yazcore import Home, Host

_PLUGIN = """
class Plugin:
    def __init__(self, context):
        pass

    @hookimpl
    def provide_tools(self):
        return [Tool("t", lambda context, arguments: {"fine": True})]
"""
_LIE = """
import attrs, sys
from yazcore.runtimes.facade import Parameter
worker = sys.modules["yazcore.runtimes.isolated.worker"]
honest = worker.form_of
"""
CODE = "__import__('pathlib').Path({mark!r}).write_text('x')"

PLUGINS: Mapping[str, str] = {
    "a_hook_whose_name_is_code": f"""
class Plugin:
    def __init__(self, context):
        pass

setattr(Plugin, {CODE!r}, hookimpl(specname={CODE!r})(lambda self: []))
""",
    "a_tool_whose_name_is_code": _PLUGIN.replace('"t"', repr(CODE)),
    "a_worker_that_lies_about_a_hooks_name": f"""{_LIE}
worker.form_of = lambda one: attrs.evolve(honest(one), hook={CODE!r})
{_PLUGIN}""",
    "a_worker_that_lies_about_a_parameters_name": f"""{_LIE}
worker.form_of = lambda one: attrs.evolve(
    honest(one), parameters=(Parameter(name="x=" + {CODE!r}, text="x", plain=True, required=False),)
)
{_PLUGIN}""",
    "a_worker_that_says_no_names_at_all": f"""{_LIE}
worker.form_of = lambda one: attrs.evolve(honest(one), hook=None, parameters=())
{_PLUGIN}""",
}


def started(runtime: Runtime) -> Iterator[tuple[str, str]]:
    """Start each of these plugins; what came of it: its state and why, or `OPEN` where its code has run in the host."""
    for name, code in PLUGINS.items():
        if "worker" in name and runtime == "trusted":
            yield name, NO_WIRE
            continue
        with tempfile.TemporaryDirectory(prefix="yaz-start-") as folder:
            yield name, _started(Path(folder).resolve(), code, runtime)


def _started(folder: Path, code: str, runtime: Runtime) -> str:
    mark = folder / "mark"
    package = folder / "plugin"
    package.mkdir()
    document = manifest("demo", provides=tools(["t"]))
    for one in document["provides"]["tools"]:
        one["permission"] = "demo:read"
    with contextlib.ExitStack() as stack:
        text = HEAD + code.replace("{mark!r}", repr(str(mark)))
        made = stack.enter_context(plugin_folder(package, document, text))
        host = Host(CONTRACT, home=Home(folder / "home"), builtin=[made], discover=False, guard=True)
        stack.callback(host.close)
        granted_for(host, "demo", runtime)
        (status,) = host.activate()
        if mark.exists():
            return OPEN
        codes = [one.code for one in status.violations] + [f"{one.kind} {one.change}" for one in status.differences]
        said = " ".join(sorted(codes)) or " ".join(status.reasons).partition(" yaz log ")[0].partition(": Expected")[0]
        return f"{status.state}: {said}" if said else status.state
