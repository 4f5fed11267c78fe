"""What a plugin finds in its worker: how it was started, what it may open, where it is."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.hosts.console import CONTRACT
from tests.runtimes.plugins import Workbench, ask, said
from yazcore.activation import collect
from yazcore.capabilities.context import Call
from yazcore.runtimes.base import HandlerFailed
from yazcore.runtimes.isolated import reach

ROOM = """
def tried(what):
    try:
        value = what()
        return "done" if value is None or not isinstance(value, (str, int)) else value
    except BaseException as error:
        return type(error).__name__
"""


def test_it_runs_without_start_up_files_in_its_own_session_with_nothing_open(isolated: Workbench) -> None:
    plugin = isolated.start("""
class Plugin(Base):
    def t_about(self, context, arguments):
        flags = sys.flags
        return {
            "flags": [flags.isolated, flags.no_site, flags.dont_write_bytecode], "site": "site" in sys.modules,
            "session": os.getsid(0) == os.getpid(), "cwd": os.getcwd() == str(context.data_folder),
            "environment": sorted(os.environ), "home": os.environ["HOME"] == str(context.data_folder),
            "open": [number for number in range(64) if is_open(number)], "umask": oct(os.umask(0o077)),
            "stdin": sys.stdin is None or sys.stdin.read(),
        }

def is_open(number):
    try:
        os.fstat(number)
    except OSError:
        return False
    return True
""")
    told = said(plugin, "t_about")
    # 3 is the wire, 4 the folder for temporary files
    assert told == {
        "flags": [1, 1, 1], "site": False, "session": True, "cwd": True, "home": True, "open": [0, 1, 2, 3, 4],
        "umask": "0o77", "stdin": "",
        "environment": sorted([
            "HOME", "LANG", "LC_ALL", "LOGNAME", "MALLOC_ARENA_MAX", "MALLOC_MMAP_THRESHOLD_",
            "MALLOC_TRIM_THRESHOLD_", "OPENBLAS_NUM_THREADS", "PATH", "SQLITE_TMPDIR", "TMPDIR", "USER",
            *(["TZ"] if "TZ" in os.environ else []),
        ]),
    }  # fmt: skip


def test_it_opens_its_package_the_interpreter_and_its_data_folder_and_nothing_else(
    isolated: Workbench, tmp_path: Path
) -> None:
    (tmp_path / "secret").write_text("secret")
    plugin = isolated.start(f"""{ROOM}
import json, yazcore

class Plugin(Base):
    def t_try(self, context, arguments):
        package = os.path.dirname(__file__)
        return {{
            "own": tried(lambda: open(package + "/manifest.json").read(1)),
            "beside": tried(lambda: open(package + "/../beside").read()),
            "list-beside": tried(lambda: os.listdir(package + "/..")),
            "write-own": tried(lambda: open(package + "/new", "w")),
            "interpreter": tried(lambda: open(json.__file__).read(3)),
            "site": tried(lambda: open(sys.modules["attr"].__file__).read(3)),
            "write-site": tried(lambda: open(os.path.dirname(sys.modules["attr"].__file__) + "/new", "w")),
            "data": tried(lambda: (context.data_folder / "x").write_text("y")),
            "up": tried(lambda: os.listdir(context.data_folder / "..")),
            "secret": tried(lambda: open({str(tmp_path / "secret")!r}).read()),
            "etc": tried(lambda: open("/etc/passwd").read()),
            "proc": tried(lambda: os.listdir("/proc")),
            "self": tried(lambda: open("/proc/self/status").read()),
            "tmp": tried(lambda: open("/tmp/yaz-of-a-test", "w")),
            "zone": tried(lambda: str(__import__("zoneinfo").ZoneInfo("Europe/Vienna"))),
        }}
""")
    package = next(Path(one) for one in _places(isolated) if "plugin-1" in one)
    (package.parent / "beside").write_text("beside")
    assert said(plugin, "t_try") == {
        "own": "{", "beside": "PermissionError", "list-beside": "PermissionError", "write-own": "PermissionError",
        "interpreter": 'r""', "site": '# S', "write-site": "PermissionError", "data": 1, "up": "PermissionError",
        "secret": "PermissionError", "etc": "PermissionError", "proc": "PermissionError", "self": "PermissionError",
        "tmp": "PermissionError", "zone": "Europe/Vienna",
    }  # fmt: skip


def _places(bench: Workbench) -> list[str]:
    return [str(one.parent) for one in bench.folder.rglob("manifest.json")]


def test_it_starts_no_process_and_opens_no_socket(isolated: Workbench) -> None:
    plugin = isolated.start(f"""{ROOM}
import socket, subprocess, signal, multiprocessing

class Plugin(Base):
    def t_try(self, context, arguments):
        return {{
            "run": tried(lambda: subprocess.run(["/bin/true"])), "fork": tried(os.fork),
            "system": tried(lambda: os.system("true") != 0), "socket": tried(socket.socket),
            "unix": tried(lambda: socket.socket(socket.AF_UNIX)), "signal": tried(lambda: os.kill(os.getppid(), 0)),
            "pool": tried(lambda: multiprocessing.get_context("spawn").Process(target=print).start()),
            "pair": tried(lambda: socket.socketpair()[0].close()), "thread": tried(threading.Thread(target=int).start),
        }}
""")
    assert said(plugin, "t_try") == {
        "run": "PermissionError", "fork": "PermissionError", "system": True, "socket": "PermissionError",
        "unix": "PermissionError", "signal": "PermissionError", "pool": "PermissionError", "pair": "done",
        "thread": "done",
    }  # fmt: skip


def test_libraries_work_in_it(isolated: Workbench) -> None:
    plugin = isolated.start("""
import asyncio, decimal, importlib.metadata, json, re, shutil, sqlite3, ssl, tempfile, zipfile

class Plugin(Base):
    def t_all(self, context, arguments):
        folder = tempfile.mkdtemp()
        database = sqlite3.connect(os.path.join(folder, "x.sqlite"))
        database.execute("CREATE TABLE t (x)")
        database.executemany("INSERT INTO t VALUES (?)", [(str(n) * 50,) for n in range(20_000)])
        database.execute("CREATE INDEX i ON t (x)")
        database.commit()
        database.execute("VACUUM")
        count = database.execute("SELECT count(*) FROM (SELECT x FROM t ORDER BY x DESC)").fetchone()[0]
        database.close()
        with zipfile.ZipFile(os.path.join(folder, "x.zip"), "w") as archive:
            archive.writestr("a", "b")
        shutil.copyfile(os.path.join(folder, "x.zip"), os.path.join(folder, "y.zip"))
        shutil.rmtree(folder)
        threads = [threading.Thread(target=time.sleep, args=(0.1,)) for _ in range(40)]
        for thread in threads:
            thread.start()
        return {"count": count, "yazcore": importlib.metadata.version("attrs") != "",
                "certificates": len(ssl.create_default_context().get_ca_certs()) > 0,
                "temporary": folder.startswith(str(context.data_folder))}
""")
    told = said(plugin, "t_all")
    told.pop("certificates")  # whether there are any is the machine's own
    assert told == {"count": 20_000, "yazcore": True, "temporary": True}


def test_a_copy_says_so_where_the_file_itself_is_closed(isolated: Workbench, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    plugin = isolated.start(f"""{ROOM}
import shutil

class Plugin(Base):
    def t_try(self, context, arguments):
        own = context.data_folder / "own"
        own.touch()
        return {{"from": tried(lambda: shutil.copy({str(tmp_path / "secret")!r}, own)),
                 "to": tried(lambda: shutil.copy(own, {str(tmp_path / "new")!r})),
                 "mode": tried(lambda: shutil.copymode({str(tmp_path / "secret")!r}, own)),
                 "chmod": tried(lambda: os.chmod(own, 0o777))}}
""")
    closed = "PermissionError"
    assert said(plugin, "t_try") == {"from": closed, "to": closed, "mode": "done", "chmod": closed}


def test_memory_and_open_files_end_at_their_limits_and_the_worker_lives(isolated: Workbench) -> None:
    plugin = isolated.start(f"""{ROOM}
class Plugin(Base):
    def t_try(self, context, arguments):
        return {{"memory": tried(lambda: bytearray(1 << 30)),
                 "files": tried(lambda: [open("/dev/null") for _ in range(300)]),
                 "threads": tried(self.threads), "file": tried(self.file)}}

    def threads(self):
        for _ in range(10_000):
            threading.Thread(target=time.sleep, args=(1,), daemon=True).start()

    def file(self):
        with open(self.context.data_folder / "large", "wb") as file:
            file.truncate(3 << 30)

    def t_after(self, context, arguments):
        return {{"ok": True}}
""")
    told = said(plugin, "t_try")
    assert told == {"memory": "MemoryError", "files": "OSError", "threads": "RuntimeError", "file": "OSError"}
    assert said(plugin, "t_after") == {"ok": True}


def test_temporary_files_are_gone_with_the_next_worker(isolated: Workbench) -> None:
    plugin = isolated.start("""
import tempfile

class Plugin(Base):
    def t_leave(self, context, arguments):
        folder = tempfile.mkdtemp()
        open(os.path.join(folder, "x"), "w").close()
        return {"there": os.listdir(tempfile.gettempdir())}

    def t_look(self, context, arguments):
        return {"there": os.listdir(tempfile.gettempdir())}

    def t_die(self, context, arguments):
        os._exit(1)
""")
    assert len(said(plugin, "t_leave")["there"]) == 1
    with pytest.raises(HandlerFailed):
        ask(plugin, "t_die")
    assert said(plugin, "t_look") == {"there": []}


def test_a_link_where_temporary_files_go_leads_nowhere(isolated: Workbench, tmp_path: Path) -> None:
    (tmp_path / "others").mkdir()
    (tmp_path / "others" / "x").touch()
    data = isolated.home.plugin_data("demo")
    (data / ".scratch").symlink_to(tmp_path / "others")
    plugin = isolated.start("class Plugin(Base):\n    def t_x(self, context, arguments):\n        return {}\n")
    assert said(plugin, "t_x") == {}
    assert (tmp_path / "others" / "x").exists()
    assert (data / ".scratch").is_dir()
    assert not (data / ".scratch").is_symlink()


def test_what_it_prints_is_in_its_log(isolated: Workbench, caplog: pytest.LogCaptureFixture, wait: Callable) -> None:  # type: ignore[type-arg]
    plugin = isolated.start("""
class Plugin(Base):
    def t_print(self, context, arguments):
        print("one line\\nand half", end="")
        sys.stderr.write(" of another\\n")
        context.log.debug("not wanted")
        return {}
""")
    with caplog.at_level("INFO", "yaz.test"):
        plugin.close()
        plugin = isolated.start("""
class Plugin(Base):
    def t_print(self, context, arguments):
        print("one line\\nand half", end="")
        sys.stderr.write(" of another\\n")
        context.log.debug("not wanted")
        return {}
""")
        said(plugin, "t_print")
        wait(lambda: "and half of another" in caplog.text)
    assert [one.message for one in caplog.records if one.name == "yaz.test"] == ["one line", "and half of another"]


def test_no_pth_file_and_no_sitecustomize_runs_in_it(isolated: Workbench, tmp_path: Path) -> None:
    site = tmp_path / "site-packages"
    site.mkdir()
    (site / "evil.pth").write_text("import sys; sys.pth_ran = True\n")
    (site / "sitecustomize.py").write_text("import sys; sys.customized = True\n")
    (site / "usercustomize.py").write_text("import sys; sys.customized = True\n")
    (site / "there_is_one.py").write_text("")
    source = isolated.source(
        """
import there_is_one

class Plugin(Base):
    def t_look(self, context, arguments):
        return {"ran": [hasattr(sys, "pth_ran"), hasattr(sys, "customized")]}
""",
        folders=(site,),
    )
    plugin = isolated.runtime.start(source)
    try:
        plugin.hold({("tools", "t_look"): _tool(plugin, "t_look")})
        assert said(plugin, "t_look") == {"ran": [False, False]}
    finally:
        plugin.close()


def _tool(plugin: object, name: str) -> object:
    return next(one for one in collect(plugin, CONTRACT)["tools"] if one.name == name)  # type: ignore[arg-type]


def test_a_plugins_own_folder_comes_after_the_standard_library_and_before_all_else(
    isolated: Workbench, tmp_path: Path
) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (own / "json.py").write_text("evil = True\n")
    (own / "bibtexparser.py").write_text("mine = True\n")
    source = isolated.source(
        """
import json, bibtexparser
assert not hasattr(json, "evil")
assert bibtexparser.mine

class Plugin(Base):
    pass
""",
        folders=(own,),
    )
    isolated.runtime.start(source).close()


def test_what_lies_in_the_hosts_working_folder_is_not_imported(
    isolated: Workbench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "stray.py").write_text("")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(Exception, match="No module named 'stray'"):
        isolated.start("import stray")


# --- what the host computes


def test_the_reach_of_a_worker_is_narrow() -> None:
    found = reach.common()
    home = os.path.realpath(os.path.expanduser("~"))
    for path in found.read:
        assert path not in ("/", "/etc", "/usr", "/home", "/root", home, "/tmp", "/var")
        assert not path.startswith(("/proc", "/sys", "/run"))
    assert os.path.realpath(os.path.dirname(os.__file__)) in found.read
    assert all(os.path.basename(entry) in ("site-packages", "dist-packages") for entry in found.path)


def test_a_package_outside_of_site_packages_opens_its_own_folder_alone(isolated: Workbench) -> None:
    source = isolated.source("class Plugin(Base):\n    pass\n")
    own = reach.of_plugin(source)
    name = source.manifest.module.partition(".")[0]
    assert own.packages[name] == os.path.realpath(source.folder)
    # the contract's own classes, which a plugin of that host imports, lie in `tests`
    assert set(own.packages) == {name, "tests"}
    assert own.read == [os.path.realpath(source.folder), own.packages["tests"]]


def test_a_plugin_may_register_what_its_host_has_a_kind_of(isolated: Workbench) -> None:
    plugin = isolated.start("""
from tests.hosts.console import Panel

class Plugin(Base):
    @hookimpl
    def provide_panels(self):
        return [Panel("load", lambda context, arguments: "42 %", 3)]
""")
    assert plugin.submit("panels", "load", "handler", Call(posture="read"), {}).result(20) == "42 %"


def test_the_version_of_python_is_the_hosts(isolated: Workbench) -> None:
    plugin = isolated.start("""
class Plugin(Base):
    def t_version(self, context, arguments):
        return {"version": list(sys.version_info[:3])}
""")
    assert said(plugin, "t_version") == {"version": list(sys.version_info[:3])}
