"""The command `yaz` as a person runs it: over a YAZ_HOME of the test's own, with plugins installed for it alone.

`Shell.run` and `Shell.start` run it in a process of its own; `Shell.here` in this one, which is faster, for commands
that run no plugin. Nothing waits for a time: for a line of output, or for a process to end, and a process that says
nothing for too long is killed.
"""

from __future__ import annotations

import contextlib
import http.client
import io
import json
import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import attrs
import pytest

import yazcore
from tests.mcp.serving import modern
from tests.testing.projects import package
from yazcore.cli import main
from yazcore.home import Home

CHECKOUT = Path(yazcore.__file__).parent.parent
ZOTERO = CHECKOUT / "yaz_plugin_zotero"
PATIENCE = 240.0
"""After how many seconds a process that should have ended long ago is killed."""

ENDLESS = "#for a in range(100000) { for b in range(100000) { let x = a * b } }"
"""A Typst document that takes longer than anybody waits."""

# A shell without job control starts what stands in the background with Ctrl-C ignored, nohup starts it with SIGHUP
# ignored, and so would every child be.
_CODE = """
import signal
from yazcore.cli import main
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.{})
main()
"""


def _command(nohup: bool) -> list[str]:
    return [sys.executable, "-P", "-c", _CODE.format("SIG_IGN" if nohup else "SIG_DFL")]


@attrs.frozen
class Done:
    """What one run of the command came to."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Process:
    """One run of the command that goes on beside the test."""

    def __init__(self, arguments: list[str], environment: Mapping[str, str], cwd: Path, **options: Any) -> None:
        self._popen = subprocess.Popen(
            arguments, env=dict(environment), cwd=cwd, text=True,
            **{"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options},
        )  # fmt: skip
        self.pid = self._popen.pid
        self._patience = self._patient()
        self._said: list[str] = []
        self._done: Done | None = None

    def _patient(self) -> threading.Timer:
        patience = threading.Timer(PATIENCE, self._popen.kill)
        patience.daemon = True
        patience.start()
        return patience

    def stay(self) -> None:
        """It may go on for as long as the test that needs it; only its end is hurried from here on."""
        self._patience.cancel()

    def line(self) -> str:
        """The next line of its output."""
        assert self._popen.stdout is not None
        line: str = self._popen.stdout.readline()
        if not line:
            pytest.fail(f"it ended: {self.end()}")
        self._said.append(line)
        return line.removesuffix("\n")

    def lines_to(self, last: str) -> list[str]:
        """The lines of its output up to the one that begins so."""
        lines = [self.line()]
        while not lines[-1].startswith(last):
            lines.append(self.line())
        return lines

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        return self._popen.poll() is not None

    def signal(self, number: signal.Signals) -> None:
        self._popen.send_signal(number)

    def end(self) -> Done:
        """Wait until it has ended; its whole output."""
        if self._done is None:
            self._patience.cancel()
            self._patience = self._patient()
            out, err = self._popen.communicate()
            self._patience.cancel()
            self._done = Done(self._popen.returncode, "".join(self._said) + (out or ""), err or "")
        return self._done

    def children(self) -> list[int]:
        """The processes that it has started and that still run."""
        return _children(self.pid)

    def descendants(self) -> set[int]:
        """Its children, and theirs."""
        found: set[int] = set()
        pending = self.children()
        while pending:
            pid = pending.pop()
            found.add(pid)
            pending += _children(pid)
        return found

    def kill(self) -> None:
        if self._popen.poll() is None:
            self._popen.kill()
        self.end()


def _children(pid: int) -> list[int]:
    found: list[int] = []
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            found += map(int, (task / "children").read_text().split())
    return found


class Shell:
    """A user's shell: one home, one place where plugins are installed, and what was started in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = Home(folder / "yaz-home")
        self.site = folder / "site"
        self.user = folder / "user"
        self.site.mkdir()
        self.user.mkdir()
        self._started: list[Process] = []

    @property
    def environment(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"], "HOME": str(self.user), "YAZ_HOME": str(self.home.folder), "LANG": "C.UTF-8",
            "PYTHONPATH": os.pathsep.join(map(str, self._paths)),
        }  # fmt: skip

    @property
    def _paths(self) -> tuple[Path, ...]:
        return (self.site, CHECKOUT, ZOTERO)

    def start(self, *arguments: str, nohup: bool = False, **options: Any) -> Process:
        """Start the command; whatever still runs at the end of the test is killed."""
        environment = self.environment | options.pop("environment", {})
        process = Process([*_command(nohup), *arguments], environment, self.folder, **options)
        self._started.append(process)
        return process

    def run(self, *arguments: str, **options: Any) -> Done:
        """Run the command to its end."""
        return self.start(*arguments, **options).end()

    def serve(self, *arguments: str, **options: Any) -> Served:
        """Start `yaz serve --json`, and wait until it is ready."""
        process = self.start("serve", "--json", *arguments, **options)
        ready = json.loads(process.line())
        process.stay()
        return Served(process, **ready)

    def here(self, *arguments: str, typed: str = "") -> Done:
        """Run the command in this process, as `main` runs it."""
        out, err = io.StringIO(), io.StringIO()
        with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            for path in reversed(self._paths):
                patch.syspath_prepend(path)
            for name in ("HOME", "YAZ_HOME"):
                patch.setenv(name, self.environment[name])
            patch.setattr(sys, "stdin", io.StringIO(typed))
            with pytest.raises(SystemExit) as exited:
                main(arguments)
        assert isinstance(exited.value.code, int)
        return Done(exited.value.code, out.getvalue(), err.getvalue())

    def close(self) -> None:
        for process in self._started:
            process.kill()


@attrs.frozen
class Served:
    """A running `yaz serve --json`: what its line says."""

    process: Process
    url: str
    token: str
    projects: list[dict[str, str]]

    @property
    def project_id(self) -> str:
        (project,) = self.projects
        return project["projectId"]

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """One request of an agent; gives the JSON-RPC answer."""
        request = modern(method, params)
        headers = {**request["headers"], "Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        place = urlsplit(self.url)
        connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=PATIENCE)
        try:
            connection.request("POST", place.path, json.dumps(request["json"]), headers)
            with connection.getresponse() as response:
                answer: dict[str, Any] = json.loads(response.read())
        finally:
            connection.close()
        return answer

    def call(self, name: str, **arguments: Any) -> dict[str, Any]:
        """One tool call of an agent; gives the result object."""
        answer = self.ask("tools/call", name=name, arguments=arguments)
        assert "result" in answer, answer
        result: dict[str, Any] = answer["result"]
        return result

    def calling(self, name: str, **arguments: Any) -> threading.Thread:
        """A tool call that nobody waits for the end of."""

        def call() -> None:
            with contextlib.suppress(OSError, http.client.HTTPException, ValueError):
                self.ask("tools/call", name=name, arguments=arguments)

        thread = threading.Thread(target=call, daemon=True)
        thread.start()
        return thread

    @property
    def refuses(self) -> bool:
        """Whether nobody listens there any more."""
        place = urlsplit(self.url)
        connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=PATIENCE)
        try:
            connection.connect()
        except ConnectionRefusedError:
            return True
        finally:
            connection.close()
        return False


def until(holds: Callable[[], Any]) -> Any:
    """Wait until something is there; gives it."""
    look = threading.Event()
    for _ in range(int(PATIENCE / 0.02)):
        if found := holds():
            return found
        look.wait(0.02)
    pytest.fail("it never came")


def wait_for_end(pid: int) -> None:
    """Wait until a process that is no child of the test has ended."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        ready, _, _ = select.select([handle], [], [], PATIENCE)
        assert ready, f"process {pid} still runs"
    finally:
        os.close(handle)


# -- plugins ----------------------------------------------------------------------------------------------------------


def install(site: Path, plugin_id: str = "demo", version: str = "1.0", **more: Any) -> Path:
    """Install a plugin in a folder, with the metadata that pip writes; `more` as `package` takes it."""
    name = f"yaz_plugin_{plugin_id}"
    where = package(site, plugin_id=plugin_id, name=name, version=version, **more)
    info = site / f"{name}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: yaz-plugin-{plugin_id}\nVersion: {version}\n")
    (info / "entry_points.txt").write_text(f"[yaz.manifest]\n{plugin_id} = {name}:manifest.json\n")
    files = [path.relative_to(site).as_posix() for folder in (where, info) for path in folder.rglob("*")]
    (info / "RECORD").write_text("".join(f"{file},,\n" for file in [*files, f"{info.name}/RECORD"]))
    return where


def make_library(yaz: Shell, folder: Path) -> None:
    """Make a sample Zotero library in a new folder."""
    code = "import sys; from pathlib import Path; from yaz_plugin_zotero.sample import make_library as make"
    done = subprocess.run(
        [sys.executable, "-P", "-c", f"{code}; make(Path(sys.argv[1]), items=20)", str(folder)],
        env=yaz.environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def install_zotero(site: Path) -> None:
    """Install the Zotero plugin of this checkout, as `pip install -e` does."""
    manifest = json.loads((ZOTERO / "yaz_plugin_zotero" / "manifest.json").read_text("utf-8"))
    info = site / f"yaz_plugin_zotero-{manifest['version']}.dist-info"
    info.mkdir()
    metadata = f"Metadata-Version: 2.1\nName: yaz-plugin-zotero\nVersion: {manifest['version']}\n"
    (info / "METADATA").write_text(metadata)
    (info / "entry_points.txt").write_text("[yaz.manifest]\nzotero = yaz_plugin_zotero:manifest.json\n")
    (info / "direct_url.json").write_text(json.dumps({"url": ZOTERO.as_uri(), "dir_info": {"editable": True}}))
    (info / "RECORD").write_text("".join(f"{info.name}/{name},,\n" for name in ("METADATA", "RECORD")))


def _tool(name: str, scope: str = "global", posture: str = "read", **properties: Any) -> dict[str, Any]:
    if scope == "project":
        properties = {"projectId": {"type": "string"}, **properties}
    return {
        "name": name, "descriptionKey": "text", "posture": posture, "scope": scope, "permission": "demo:read",
        "inputSchema": {
            "type": "object", "properties": properties, "required": list(properties), "additionalProperties": False,
        },
    }  # fmt: skip


DEMO: dict[str, Any] = {
    "provides": {
        "commands": [{"id": "greet", "nameKey": "text"}],
        "tools": [
            _tool("echo", text={"type": "string"}),
            _tool("refuse"),
            _tool("crash"),
            _tool("wait"),
            _tool("note", scope="project", posture="write"),
        ],
    },
    "capabilities": [{"kind": "fs-project", "access": "write"}],
    "code": '''
import os
import time

from yazcore import Command, Tool, ToolError, hookimpl

print("noise: import")


class Plugin:
    def __init__(self, context):
        print("noise: constructor")
        self.folder = context.data_folder

    @hookimpl
    def onload(self):
        print("noise: onload")

    @hookimpl
    def onunload(self):
        print("noise: onunload")
        (self.folder / "unloaded").write_text("yes")

    @hookimpl
    def provide_tools(self):
        print("noise: hook")
        return [Tool(name, getattr(self, name)) for name in ("echo", "refuse", "crash", "wait", "note")]

    @hookimpl
    def addCommand(self):
        return [Command("greet", self.greet)]

    def echo(self, context, arguments):
        print("noise: print")
        os.write(1, b"noise: write\\n")
        return {"text": arguments["text"]}

    def refuse(self, context, arguments):
        raise ToolError("the cupboard is bare")

    def crash(self, context, arguments):
        raise RuntimeError("no luck\\x1b[2J\\u202e")

    def wait(self, context, arguments):
        context.progress(1, 3, "one of three")
        (self.folder / "waiting").write_text("yes")
        while not context.call.cancelled.is_set():
            time.sleep(0.02)
        (self.folder / "cancelled").write_text("yes")
        return {}

    def note(self, context, arguments):
        context.files.write_text("note.txt", "noted")
        return {"noted": True}

    def greet(self, context, arguments):
        print("noise: command")
        name = context.project["name"] if context.project else "no project"
        return f"Hello {' '.join(arguments)}, in {name}"
''',
}  # fmt: skip
"""A plugin with a tool for each thing a call can do. It prints wherever it can."""


@contextlib.contextmanager
def shell(folder: Path) -> Iterator[Shell]:
    """A shell in a folder, closed at the end."""
    folder.mkdir(exist_ok=True)
    made = Shell(folder)
    try:
        yield made
    finally:
        made.close()
