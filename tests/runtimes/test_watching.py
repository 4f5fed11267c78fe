"""The audit guard: what it notices in plugins that run in this process, what it lets pass, and what it costs nobody.

What it does *not* notice is in `tests/attacks/beyond`: it is no boundary.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.attacks.hosts import CONTRACT, HEAD, called, tools
from tests.plugins_in_test import manifest, plugin_folder
from yazcore import Home, Host
from yazcore.runtimes import watching

CODE = """
import contextlib, json, shutil, signal, socket, sqlite3, subprocess, tempfile, urllib.request
from pathlib import Path

def with_socket(act, kind=socket.SOCK_STREAM, family=socket.AF_INET):
    with socket.socket(family, kind) as one:
        return act(one)

def with_database(path, statement, **options):
    with contextlib.closing(sqlite3.connect(path, **options)) as one:
        return one.execute(statement).fetchall()

def start(path):
    with open(path) as file:
        return file.read(4)

def act():
    try:
        open("/etc/passwd")
    except OSError:
        pass

class Plugin:
    def __init__(self, context):
        self.base = context

    @hookimpl
    def provide_tools(self):
        return [Tool("t", self.t), Tool("later", self.later), Tool("here", self.here)]

    def t(self, context, arguments):
        return self.tried(arguments["x"], context)

    async def later(self, context, arguments):
        return self.tried(arguments["x"], context)

    async def here(self, context, arguments):
        return {"done": repr(await eval(arguments["x"], globals(), {"context": context, "self": self}))}

    def tried(self, code, context):
        try:
            return {"done": repr(eval(code, globals(), {"context": context, "self": self}))}
        except CapabilityError as error:
            return {"kind": error.kind, "reason": error.reason, "errno": error.errno}
        except OSError as error:
            return {"errno": error.errno}
"""


@contextmanager
def watched(folder: Path, *capabilities: dict[str, Any], guard: bool = True, code: str = CODE) -> Iterator[Host]:
    """A host with a plugin that does whatever it is told; its own files are all in `folder/plugin`."""
    plugins = folder / "plugin"
    plugins.mkdir()
    names = tools(["t", "later", "here"], posture="write")
    document = manifest("demo", provides=names, capabilities=list(capabilities))
    with plugin_folder(plugins, document, HEAD + code) as package:
        host = Host(CONTRACT, home=Home(folder / "home"), builtin=[package], discover=False, guard=guard)
        try:
            (status,) = host.activate()
            assert status.state == "active", status
            yield host
        finally:
            host.close()


def does(host: Host, code: str, tool: str = "t") -> Any:
    outcome = called(host, f"demo__{tool}", {"x": code})
    assert not outcome.is_error, outcome.text
    return (outcome.structured or {}).get("done", outcome.structured)


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    folder = tmp_path_factory.mktemp("watched")
    (folder / "secret").write_text("secret")
    os.environ["OUTSIDE"] = str(folder)
    with watched(folder) as made:
        yield made
    del os.environ["OUTSIDE"]


OUT = "os.environ['OUTSIDE']"
FILE = {"kind": "fs-read", "reason": "not-declared", "errno": 13}
WRITE = {"kind": "fs-write", "reason": "not-declared", "errno": 13}
NET = {"kind": "net", "reason": "not-declared", "errno": 13}
PROCESS = {"kind": "process", "reason": "not-declared", "errno": 13}

REFUSED = {
    f"open({OUT} + '/secret')": FILE,
    f"open({OUT} + '/secret', 'w')": WRITE,
    f"open({OUT} + '/new', 'x')": WRITE,
    f"os.open({OUT} + '/secret', os.O_RDONLY)": FILE,
    f"Path({OUT}, 'secret').read_text()": FILE,
    f"open({OUT} + '/plugin/../secret')": FILE,
    f"os.listdir({OUT})": FILE,
    f"list(os.scandir({OUT}))": FILE,
    f"list(Path({OUT}).glob('*'))": "[]",  # pathlib takes it for an empty folder; it is recorded all the same
    f"os.mkdir({OUT} + '/d')": WRITE,
    f"os.remove({OUT} + '/secret')": WRITE,
    f"os.rename({OUT} + '/secret', 'x')": WRITE,
    f"os.rename(str(context.data_folder / 'a'), {OUT} + '/b')": WRITE,
    f"os.symlink('x', {OUT} + '/link')": WRITE,
    f"os.chmod({OUT} + '/secret', 0)": WRITE,
    f"os.utime({OUT} + '/secret')": WRITE,
    f"os.truncate({OUT} + '/secret', 0)": WRITE,
    f"shutil.rmtree({OUT})": FILE,
    f"shutil.copy({OUT} + '/secret', str(context.data_folder))": FILE,
    f"sqlite3.connect({OUT} + '/secret')": WRITE,
    f"sqlite3.connect('file:' + {OUT} + '/secret?mode=ro', uri=True)": WRITE,
    "tempfile.mkstemp()": WRITE,
    "open('/etc/passwd')": FILE,
    "open(os.path.expanduser('~/.ssh/id_rsa'))": FILE,
    "socket.create_connection(('127.0.0.1', 9))": NET,
    "with_socket(lambda one: one.sendto(b'x', ('127.0.0.1', 9)), socket.SOCK_DGRAM)": NET,
    "with_socket(lambda one: one.connect('/run/docker.sock'), socket.SOCK_STREAM, socket.AF_UNIX)": NET,
    "with_socket(lambda one: one.bind(('127.0.0.1', 0)))": NET,
    "socket.getaddrinfo('example.org', 443)": NET,
    "urllib.request.urlopen('http://127.0.0.1:9/').read()": {"errno": None},
    "subprocess.run(['true'])": PROCESS,
    "subprocess.run('true', shell=True)": PROCESS,
    "os.system('true')": PROCESS,
    "os.popen('true').read()": PROCESS,
    "os.posix_spawn('/bin/true', ['true'], {})": PROCESS,
    "os.execv('/bin/true', ['true'])": PROCESS,
    "os.fork()": PROCESS,
    "os.kill(os.getppid(), 0)": PROCESS,
    "os.chdir('/')": PROCESS,
    "os.environ.update(YAZ_CHANGED='1')": PROCESS,
    "os.environ.pop('OUTSIDE')": PROCESS,
    "os.putenv('YAZ_CHANGED', '1')": PROCESS,
    "os.unsetenv('OUTSIDE')": PROCESS,
}


@pytest.mark.parametrize("code", REFUSED)
@pytest.mark.parametrize("tool", ["t", "later"])
def test_what_goes_past_the_services_is_refused_and_recorded(host: Host, code: str, tool: str) -> None:
    before = len(host.denials.of("demo"))
    assert does(host, code, tool) == REFUSED[code]
    assert len(host.denials.of("demo")) > before


ALLOWED = [
    "(context.data_folder / 'mine').write_text('x')",
    "(context.data_folder / 'mine').read_text()",
    "os.listdir(context.data_folder)",
    "os.makedirs(context.data_folder / 'a' / 'b', exist_ok=True)",
    "shutil.rmtree(context.data_folder / 'a', ignore_errors=False)",
    "with_database(context.data_folder / 'db', 'create table if not exists t (a)')",
    "with_database(f'file:{context.data_folder}/db?mode=ro', 'select * from t', uri=True)",
    "with_database(':memory:', 'select 1')",
    "tempfile.TemporaryFile(dir=context.data_folder).close()",
    "start(__file__)",
    "start(json.__file__)",
    "open('/dev/null', 'w').close()",
    "__import__('wsgiref.simple_server').__name__",
    "__import__('zoneinfo').ZoneInfo('Europe/Berlin').key",
    "[one.close() for one in socket.socketpair()]",
    "os.path.exists('/etc/passwd')",
    "os.urandom(4)[:0]",
    "__import__('mimetypes').guess_type('a.pdf')",
    "__import__('ssl').create_default_context() and 1",
    "os.environ.update(OPENBLAS_MAIN_FREE='1') or os.environ.pop('OPENBLAS_MAIN_FREE')",  # at the import of numpy
    "context.message('text')",
    "context.publish(b'x', 'text/plain', 5)[:4]",
    "context.log.info('a line')",
    "context.caller.may('demo:read', 'global')",
]


@pytest.mark.parametrize("code", ALLOWED)
def test_what_a_plugin_may_do_itself_passes(host: Host, code: str) -> None:
    before = host.denials.of("demo")
    done = does(host, code)
    assert isinstance(done, str), done
    assert host.denials.of("demo") == before


def test_services_act_all_the_same(tmp_path: Path) -> None:
    granted = tmp_path / "granted"
    granted.mkdir()
    (granted / "a").write_text("text")
    capabilities = [
        {"kind": "fs-write", "path": str(granted)},
        {"kind": "process", "commands": ["env"]},
        {"kind": "net", "hosts": ["localhost"], "ports": [9], "private": True},
        {"kind": "credential", "names": ["key"]},
    ]
    with watched(tmp_path, *capabilities) as host:
        assert does(host, f"context.files.read_text({str(granted / 'a')!r})") == "'text'"
        does(host, f"context.files.write_text({str(granted / 'b')!r}, 'new')")
        assert (granted / "b").read_text() == "new"
        assert does(host, f"context.files.copy([{str(granted / 'a')!r}])").startswith("{")
        assert does(host, "context.processes.run('env', ['true'])['code']") == "0"
        assert does(host, "context.credentials.known('key')") == "False"
        assert does(host, f"context.aio.files.read_text({str(granted / 'a')!r})", "here") == "'text'"
        with pytest.raises(AssertionError, match="network-unreachable"):
            does(host, "context.network.get('http://localhost:9/')")
        # what it may do through a service it may still not do itself
        itself = does(host, f"open({str(granted / 'a')!r})")
        assert itself == {"kind": "fs-write", "reason": "out-of-scope", "errno": 13}
        assert [one["reason"] for one in host.denials.of("demo")] == ["out-of-scope"]


def test_a_record_says_what_and_where(tmp_path: Path) -> None:
    with watched(tmp_path) as host:
        does(host, "open('/etc/passwd')")
        (denial,) = host.denials.of("demo")
    assert {**denial, "time": ""} == {
        "time": "", "plugin": "demo", "capability": "fs-read", "target": "/etc/passwd", "reason": "not-declared",
        "where": "tools t", "detail": "a plugin's own code reaches its data folder and nothing else: use context.files",
        "cause": "own-code",
    }  # fmt: skip


def test_tasks_and_threads_that_keep_the_context_are_watched(tmp_path: Path) -> None:
    with watched(tmp_path) as host:
        for code in (
            "asyncio.create_task(asyncio.to_thread(self.tried, \"open('/etc/passwd')\", context))",
            "asyncio.to_thread(self.tried, \"open('/etc/passwd')\", context)",
            "context.run_in_thread(self.tried, \"open('/etc/passwd')\", context)",
        ):
            assert "fs-read" in does(host, code, "here")


@pytest.mark.parametrize(
    "moment",
    ["import", "constructor", "provide_tools", "onload", "onunload"],
)
def test_hooks_and_the_start_are_watched(tmp_path: Path, moment: str) -> None:
    hook = f"\n    @hookimpl\n    def {moment}(self):\n        act()\n"
    code = {
        "import": f"{CODE}\nact()\n",
        "constructor": CODE.replace("        self.base = context", "        self.base = context\n        act()"),
        "provide_tools": CODE.replace("        return [Tool", "        act()\n        return [Tool"),
    }.get(moment, CODE + hook)
    with watched(tmp_path, code=code) as host:
        home = host.home
    denials = [json.loads(line) for line in home.path("denials", "demo.jsonl").read_text().splitlines()]
    where = "starting" if moment in ("import", "constructor") else moment
    assert (where, "/etc/passwd") in [(one["where"], one["target"]) for one in denials]


def test_a_host_that_does_not_ask_for_it_has_none(tmp_path: Path) -> None:
    with watched(tmp_path, guard=False) as host:
        assert does(host, "open('/etc/passwd').close()") == "None"
        assert host.plugins()[0].confinement == "none: it runs with the host's own rights"


def test_the_host_itself_is_not_watched(host: Host, tmp_path: Path) -> None:
    assert watching.is_installed()
    (tmp_path / "a").write_text("x")
    assert (tmp_path / "a").read_text() == "x"
    assert subprocess.run(["true"], check=False).returncode == 0


def test_an_embedding_host_has_no_hook_unless_it_asks(tmp_path: Path) -> None:
    """One hook a process, for ever: so it is not even loaded where nobody asks."""
    code = (
        "import sys\nfrom pathlib import Path\nfrom yazcore import *\n"
        "hooks = []\nadd = sys.addaudithook\nsys.addaudithook = lambda hook: (hooks.append(hook), add(hook))\n"
        "contract = Contract(number=1, group='a.b', prefix='a-', host='h', version='1')\n"
        "for guard in (False, True):\n"
        "    host = Host(contract, home=Home(Path('home')), discover=False, guard=guard)\n"
        "    host.activate()\n    host.close()\n"
        "print(len(hooks), 'yazcore.runtimes.watching' in sys.modules)\n"
    )
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(Path(__file__).parents[2]), "HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == "0 False\n"


def test_what_python_compiles_is_no_denial(host: Host) -> None:
    before = host.denials.of("demo")
    code = "open(os.path.dirname(json.__file__) + '/__pycache__/x.cpython.pyc.123', 'wb')"
    assert does(host, code) == WRITE
    assert host.denials.of("demo") == before


def test_folders_that_hold_everything_are_no_folders_of_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path, "/", os.path.expanduser("~"), "", "relative"])
    folders = watching.python_folders()
    assert {"/", os.path.expanduser("~"), "", "relative"}.isdisjoint(folders)
    assert sys.prefix in folders


def test_the_loop_of_a_plugin_starts_and_ends(host: Host) -> None:
    assert asyncio.run(asyncio.sleep(0, "fine")) == "fine"
    assert does(host, "asyncio.sleep(0, 'fine')", "here") == "'fine'"
