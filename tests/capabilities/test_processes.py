"""`processes` with real commands: Python's own interpreter, which does what each test needs done."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import attrs
import pytest

from tests.capabilities.conftest import PLUGIN, Project, Setup, entered
from yazcore.capabilities.commands import Program, at
from yazcore.capabilities.context import Call, Frame
from yazcore.capabilities.errors import Cancelled, CapabilityError, NoContext, ServiceError
from yazcore.capabilities.services import processes as module
from yazcore.capabilities.services.data_folder import DataFolder
from yazcore.capabilities.services.processes import ProcessService
from yazcore.confinement import landlock
from yazcore.declarations import Posture
from yazcore.home import Home
from yazcore.kinds import Capability, FsProject, FsRead, FsWrite, Process

PYTHON = os.path.realpath(sys.executable)


class World:
    """A plugin that may run `python` in a project."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.places: dict[str, Path] = {}
        self.quota = 10**9
        self.hold()

    def hold(self, *more: Capability, **places: Path) -> None:
        self.setup.hold(Process(commands=("python", "gone")), *more, places=places)
        found = at(PYTHON)
        assert isinstance(found, Program)
        self.setup.granted = attrs.evolve(self.setup.granted, commands={"python": str(found)})

    @property
    def data(self) -> Path:
        return self.setup.home.plugin_data(PLUGIN)

    def service(self, **more: Any) -> ProcessService:
        data = DataFolder(folder=self.data, quota=self.quota)
        return ProcessService(self.setup.broker(), PLUGIN, data, closed=(self.setup.home.folder,), **more)

    def run(self, code: str, posture: Posture = "write", **more: Any) -> dict[str, Any]:
        with self.setup.call(posture):
            return self.service().run("python", ["-I", "-S", "-c", code], **more)

    def says(self, code: str, **more: Any) -> str:
        """What the command prints, or the error that ended it in a word."""
        return str(self.run(f"import os, sys\n{code}", **more)["stdout"].decode().strip())

    def refused(self, command: str, arguments: Any = (), posture: Posture = "write", **more: Any) -> CapabilityError:
        with self.setup.call(posture), pytest.raises(CapabilityError) as caught:
            self.service(**more).run(command, arguments)
        assert self.setup.recorded()[-1] == (caught.value.kind, caught.value.target, caught.value.reason)
        return caught.value

    def failed(self, code: str, **more: Any) -> ServiceError:
        with pytest.raises(ServiceError) as caught:
            self.run(code, **more)
        return caught.value


@pytest.fixture
def world(setup: Setup, monkeypatch: pytest.MonkeyPatch) -> World:
    # the interpreter of the tests may lie anywhere
    monkeypatch.setattr(module, "_SYSTEM", (*module._SYSTEM, sys.base_prefix))
    monkeypatch.setattr(module, "_RUNNABLE", (*module._RUNNABLE, sys.base_prefix))
    return World(setup)


def trying(code: str) -> str:
    """A program that prints `done`, or how the attempt failed."""
    return (
        "import errno, os, signal, socket, subprocess, sys\n"
        f"try:\n    {code}\nexcept OSError as error:\n    print(errno.errorcode[error.errno])\nelse:\n    print('done')"
    )


# --- what comes back


def test_what_it_said_and_how_it_ended(world: World) -> None:
    ended = world.run("import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)")
    assert (ended["code"], ended["stdout"], ended["stderr"]) == (3, b"out\n", b"err\n")
    assert (ended["sandbox"], sorted(ended)) == ("landlock", ["code", "sandbox", "seconds", "stderr", "stdout"])


def test_it_reads_what_it_is_given_and_nothing_of_the_job(world: World) -> None:
    assert world.says("print(sys.stdin.read())", stdin="hellö") == "hellö"
    assert world.says("print(repr(sys.stdin.read()))") == "''"


def test_arguments_are_passed_as_they_are(world: World) -> None:
    odd = ["$HOME", "; ls", "`id`", "-x", "", "a b", "ü", "*"]
    with world.setup.call():
        ended = world.service().run("python", ["-I", "-S", "-c", "import sys; print(sys.argv[1:])", *odd])
    assert ended["stdout"].decode() == f"{odd}\n"


def test_a_signal_is_a_negative_code(world: World) -> None:
    assert world.run("import os, signal; os.kill(os.getpid(), signal.SIGKILL)")["code"] == -9


def test_whether_a_command_is_there(world: World) -> None:
    with world.setup.call():
        assert world.service().known("python")
        assert not world.service().known("gone")


# --- the broker decides


@pytest.mark.parametrize("command", ["sh", PYTHON, "./python", "python ", "python\0", "", "../python", "Python", "-c"])
def test_only_the_commands_that_are_named_are_run(world: World, command: str) -> None:
    assert world.refused(command).reason == "out-of-scope"


def test_without_a_declaration_or_a_grant_nothing_is_run(world: World) -> None:
    declared = world.setup.declared
    world.setup.hold()
    assert world.refused("python").reason == "not-declared"
    world.setup.declared = declared
    assert world.refused("python").reason == "not-granted"


def test_a_call_of_posture_read_runs_nothing(world: World) -> None:
    assert world.refused("python", posture="read").reason == "out-of-scope"


def test_a_command_that_was_not_there_at_consent_is_not_granted(world: World) -> None:
    refused = world.refused("gone")
    assert (refused.reason, refused.detail) == ("not-granted", "no such program was there when it was granted")


def test_a_program_that_was_replaced_is_not_granted(world: World, tmp_path: Path) -> None:
    path = tmp_path / "tool"
    path.write_text("#!/bin/sh\necho one\n")
    path.chmod(0o755)
    world.setup.granted = attrs.evolve(world.setup.granted, commands={"python": str(at(str(path)))})
    with world.setup.call():
        assert world.service().run("python")["stdout"] == b"one\n"
    path.write_text("#!/bin/sh\necho two\n")
    refused = world.refused("python")
    assert (refused.reason, refused.detail) == ("not-granted", "the program has changed since it was granted")


def test_a_plugin_that_ships_has_what_the_system_has(world: World) -> None:
    world.setup.hold(Process(commands=("env",)))
    world.setup.granted = attrs.evolve(world.setup.granted, commands=None)
    with world.setup.call():
        assert world.service().run("env", ["true"])["code"] == 0


def test_outside_a_context_there_is_no_service(world: World) -> None:
    with pytest.raises(NoContext):
        world.service().run("python")


# --- the sandbox


def test_its_environment_is_made_from_nothing(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "s3cret")
    monkeypatch.setenv("LD_PRELOAD", "/none")
    assert world.says("print(sorted(os.environ))") == "['HOME', 'LANG', 'PATH', 'TMPDIR']"
    assert str(world.data) in world.says("print(os.environ['TMPDIR'])")


def test_it_works_in_the_data_folder_and_leaves_what_it_makes_there(world: World) -> None:
    assert world.says("print(os.getcwd()); open('made', 'w').write('x')") == str(world.data)
    assert (world.data / "made").read_text() == "x"
    assert sorted(one.name for one in world.data.iterdir()) == ["made"]  # its scratch folder is gone


def test_it_reads_the_project_where_the_plugin_may_and_changes_nothing_there(world: World, root: Path) -> None:
    (root / "main.tex").write_text("text")
    look = trying(f"print(open({str(root / 'main.tex')!r}).read())")
    assert world.says(look) == "EACCES"
    world.hold(FsProject(access="write"))
    assert world.says(look) == "text\ndone"
    assert world.says("print(open('main.tex').read())", folder="project") == "text"
    assert world.says(trying(f"open({str(root / 'main.tex')!r}, 'a')")) == "EACCES"
    assert world.says(trying(f"open({str(root / 'new')!r}, 'w')")) == "EACCES"
    assert world.says(trying(f"os.remove({str(root / 'main.tex')!r})")) == "EACCES"
    assert world.says(trying(f"os.chmod({str(root / 'main.tex')!r}, 0)")) == "EPERM"


@pytest.mark.parametrize("secret", [".env", ".git/config", "sub/.env.local", "sub/deep/.git/config"])
def test_it_never_reads_what_is_secret_in_a_project(world: World, root: Path, secret: str) -> None:
    world.hold(FsProject())
    path = root / secret
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("secret")
    (root / "sub").mkdir(exist_ok=True)
    (root / "sub" / "plain").write_text("plain")
    assert world.says(trying(f"open({str(path)!r})")) == "EACCES"
    assert world.says(f"print(open({str(root / 'sub' / 'plain')!r}).read())") == "plain"


def test_it_reads_only_the_paths_that_are_named(world: World, root: Path) -> None:
    (root / "a").mkdir()
    for name in ("a/one", "a/two", "b"):
        (root / name).write_text(name)
    world.hold(FsProject(paths=("a/one",)))
    assert world.says(f"print(open({str(root / 'a/one')!r}).read())") == "a/one"
    assert world.says(trying(f"open({str(root / 'a/two')!r})")) == "EACCES"
    assert world.says(trying(f"open({str(root / 'b')!r})")) == "EACCES"


def test_what_a_command_leaves_without_bottom_is_removed(world: World) -> None:
    code = "import os\nos.chdir(os.environ['TMPDIR'])\nfor _ in range(1500):\n    os.mkdir('d')\n    os.chdir('d')"
    assert world.run(code)["code"] == 0
    assert list(world.data.iterdir()) == []


def test_counting_what_the_data_folder_holds_ends_with_its_call(world: World) -> None:
    for number in range(1100):
        (world.data / str(number)).touch()
    world.quota = 0  # what would be said in the end
    with world.setup.call() as frame:
        frame.call.cancelled.set()
        with pytest.raises(Cancelled):
            world.service().run("python", ["-c", "pass"])


def test_a_link_in_a_project_leads_nowhere_new(world: World, root: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    (root / "link").symlink_to(tmp_path / "secret")
    world.hold(FsProject())
    assert world.says(trying(f"open({str(root / 'link')!r})")) == "EACCES"


def test_folders_that_are_granted_are_open_as_they_are_granted(world: World, tmp_path: Path) -> None:
    for name in ("in", "out"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text(name)
    world.hold(FsRead(place="in"), FsWrite(path=str(tmp_path / "out")), **{"in": tmp_path / "in"})
    assert world.says("print(open('file').read())", folder="in") == "in"
    assert world.says(trying(f"open({str(tmp_path / 'in' / 'file')!r}, 'w')")) == "EACCES"
    assert world.says(trying(f"open({str(tmp_path / 'out' / 'new')!r}, 'w')")) == "done"


def test_a_folder_that_programs_are_run_from_is_open_to_no_command_for_writing(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "site"
    folder.mkdir()
    world.hold(FsWrite(path=str(folder)))
    evil = trying(f"open({str(folder / 'evil.pth')!r}, 'w')")
    assert world.says(evil) == "done"
    (folder / "evil.pth").unlink()
    monkeypatch.syspath_prepend(folder)
    assert world.says(evil) == "EACCES"
    assert list(folder.iterdir()) == []


def test_a_home_folder_that_a_link_leads_to_is_worked_in_like_any(world: World, root: Path, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "linked").symlink_to("real")
    linked = World(Setup(Home(tmp_path / "linked" / "home"), root))
    assert linked.says("open('made', 'w').write('x')\nprint(open('made').read())") == "x"


def test_the_applications_own_files_are_open_to_no_command(world: World, tmp_path: Path) -> None:
    home = world.setup.home.folder
    world.setup.home.write_text("grants.json", "{}")
    world.hold(FsWrite(path=str(home.parent)), FsProject())
    assert world.says(trying(f"open({str(home / 'grants.json')!r})")) == "EACCES"
    with entered(world.setup.frame(project=Project(home.parent))):
        ended = world.service().run("python", ["-I", "-S", "-c", trying(f"open({str(home / 'grants.json')!r})")])
    assert ended["stdout"] == b"EACCES\n"


def test_the_applications_own_files_are_closed_in_a_tree_of_the_systems_too(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where YAZ_HOME is a folder below /usr or /opt."""
    home = world.setup.home.folder
    world.setup.home.write_text("grants.json", "{}")
    (tmp_path / "beside").write_text("the system's")
    for name in ("_SYSTEM", "_RUNNABLE"):
        monkeypatch.setattr(module, name, (*getattr(module, name), str(tmp_path)))
    assert home.is_relative_to(tmp_path)
    assert world.says(trying(f"open({str(home / 'grants.json')!r})")) == "EACCES"
    assert world.says(trying(f"os.listdir({str(home)!r})")) == "EACCES"
    assert world.says(f"print(open({str(tmp_path / 'beside')!r}).read())") == "the system's"
    assert world.says(trying("open('own', 'w')")) == "done"


def test_of_the_packages_with_folders_of_their_own_only_the_programs_is_open(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("tool", "other"):
        (tmp_path / "opt" / name / "lib").mkdir(parents=True)
        (tmp_path / "opt" / name / "lib" / "text").write_text(name)
    program = tmp_path / "opt" / "tool" / "bin"
    program.mkdir()
    (program / "run").write_text(f"#!/bin/sh\ncat {tmp_path}/opt/tool/lib/text {tmp_path}/opt/other/lib/text\n")
    (program / "run").chmod(0o755)
    monkeypatch.setattr(module, "_PACKAGES", str(tmp_path / "opt"))
    world.setup.granted = attrs.evolve(world.setup.granted, commands={"python": str(at(str(program / "run")))})
    with world.setup.call():
        ended = world.service().run("python")
    assert (ended["code"], ended["stdout"]) == (1, b"tool")


ESCAPES = {
    "open('/etc/passwd')": "EACCES",
    "open('/etc/shadow')": "EACCES",
    "os.listdir('/')": "EACCES",
    "os.listdir('/proc')": "EACCES",
    "open('/proc/self/environ')": "EACCES",
    "open(f'/proc/{os.getppid()}/environ')": "EACCES",
    "open('/tmp/yaz-escape', 'w')": "EACCES",
    "socket.socket(socket.AF_INET, socket.SOCK_STREAM)": "EPERM",
    "socket.socket(socket.AF_INET, socket.SOCK_DGRAM)": "EPERM",
    "socket.socket(socket.AF_UNIX)": "EPERM",
    "os.kill(os.getppid(), signal.SIGTERM)": "EPERM",
    "os.setsid()": "EPERM",
    "os.setpgid(0, 0)": "EPERM",
    "os.chown('.', 0, 0)": "EPERM",
    "os.mkfifo('fifo')": "EPERM",
    "os.symlink('/etc/passwd', 'link')": "EACCES",
    # whoever is not root may not link the files of others in any case (fs.protected_hardlinks)
    "os.link('/etc/passwd', 'link')": "EXDEV" if os.geteuid() == 0 else "EPERM",
}


def test_it_cannot_get_out(world: World) -> None:
    code = "\n".join(trying(one) for one in ESCAPES)
    assert world.says(code).split("\n") == list(ESCAPES.values())


def test_what_it_starts_is_held_to_the_same(world: World) -> None:
    code = "import subprocess; print(subprocess.run(['/bin/sh', '-c', 'cat /etc/passwd; echo $?']).returncode)"
    ended = world.run(code)
    assert ended["code"] == 0
    assert b"root:" not in ended["stdout"]


def test_a_program_that_it_brings_along_is_not_run(world: World) -> None:
    code = "import shutil; shutil.copyfile('/bin/true', 'mine'); " + "os.execv('mine', ['mine'])"
    assert "PermissionError" in world.run(f"import os; {code}")["stderr"].decode()


# --- bounds


def test_at_the_deadline_it_ends_with_all_it_started(world: World) -> None:
    code = (
        "import os, sys, time\n"
        "for _ in range(3):\n    if os.fork() == 0: break\n"
        "held = open('held', 'w')\n"
        "time.sleep(600)"
    )
    os.mkfifo(world.data / "held")
    reading = os.open(world.data / "held", os.O_RDONLY | os.O_NONBLOCK)
    error = world.failed(code, seconds=0.5)
    assert (error.code, error.message) == ("process-timeout", "python took longer than 0.5 seconds and was ended")
    with selectors.DefaultSelector() as selector:  # the pipe ends when the last process that holds it is dead
        selector.register(reading, selectors.EVENT_READ)
        assert selector.select(10)
        assert os.read(reading, 1) == b""
    os.close(reading)


HOST = """
import os, sys
from pathlib import Path
sys.path[:0] = {path!r}
from tests.capabilities.conftest import Setup
from tests.capabilities.test_processes import World
from yazcore.capabilities.services import processes as module
from yazcore.home import Home

module._SYSTEM += (sys.base_prefix,)
module._RUNNABLE += (sys.base_prefix,)
world = World(Setup(Home(Path({folder!r}, "home")), Path({folder!r})))
world.run({code!r})
"""
DEAF = """
import os, signal
signal.pthread_sigmask(signal.SIG_BLOCK, range(1, signal.NSIG))
held = open("held", "w")
print(os.getpid(), file=held, flush=True)
while True:
    pass
"""


def test_a_command_that_spins_with_every_signal_blocked_dies_with_the_host(tmp_path: Path) -> None:
    held = Home(tmp_path / "home").plugin_data(PLUGIN) / "held"
    os.mkfifo(held)
    reading = os.open(held, os.O_RDONLY | os.O_NONBLOCK)
    code = HOST.format(path=sys.path, folder=str(tmp_path), code=DEAF)
    with selectors.DefaultSelector() as selector:
        selector.register(reading, selectors.EVENT_READ)
        with subprocess.Popen([sys.executable, "-c", code]) as host:
            assert selector.select(20), "it did not begin"
            command = int(os.read(reading, 9))
            host.kill()
        ended = bool(selector.select(10))
    os.close(reading)
    if not ended:
        os.kill(command, signal.SIGKILL)
    assert ended, "the command outlived its host"


def test_the_calls_deadline_bounds_it(world: World) -> None:
    call = Call(posture="write", deadline=time.monotonic() + 0.3)
    frame = Frame(plugin=PLUGIN, version="0.1.0", where="tools t", call=call)
    with entered(frame), pytest.raises(ServiceError) as over:
        world.service().run("python", ["-I", "-S", "-c", "import time; time.sleep(600)"], seconds=100)
    assert over.value.code == "process-timeout"


def test_a_call_that_is_cancelled_ends_it(world: World) -> None:
    with world.setup.call() as frame:
        threading.Timer(0.2, frame.call.cancelled.set).start()
        with pytest.raises(Cancelled):
            world.service().run("python", ["-I", "-S", "-c", "import time; time.sleep(600)"])


def test_what_says_too_much_is_ended(world: World) -> None:
    assert world.failed("while True: print('x' * 10_000)").code == "process-output"


def test_memory_and_files_have_an_end(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MEMORY", 2**28)
    monkeypatch.setattr(module, "FILE_SIZE", 1000)
    assert "MemoryError" in world.run("b'x' * 2**30")["stderr"].decode()
    code = "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); open('f', 'wb', 0).write(b'x' * 2000)"
    world.run(code)
    assert (world.data / "f").stat().st_size == 1000


def test_a_command_that_multiplies_is_ended(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PROCESSES", 20)
    error = world.failed("import os, time\nfor _ in range(5): os.fork()\ntime.sleep(600)")
    assert (error.code, error.message) == ("process-limit", "python had more than 20 processes at a time and was ended")


def test_a_command_that_takes_too_much_memory_in_parts_is_ended(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "TOTAL_MEMORY", 100_000_000)
    error = world.failed("import os, time\nos.fork()\nheld = b'x' * 60_000_000\ntime.sleep(600)")
    assert error.code == "process-limit"
    assert error.message == "python had more than 100000000 bytes of memory at a time and was ended"


def test_what_a_user_runs_has_an_end_that_the_kernel_holds(world: World) -> None:
    running = int(Path("/proc/loadavg").read_text().split()[3].partition("/")[2])
    most = int(world.says("import resource; print(resource.getrlimit(resource.RLIMIT_NPROC)[1])"))
    assert most <= running + module.MORE_THREADS + 500  # threads come and go


def test_with_a_full_data_folder_nothing_is_run(world: World) -> None:
    (world.data / "large").write_bytes(b"x" * 1000)
    world.quota = 1000
    assert world.failed("pass").code == "quota-exceeded"


@pytest.mark.parametrize(
    "arguments", [["a\0b"], ["\ud800"], ["x" * 200_000], ["x"] * 2000], ids=["nul", "half", "long", "many"]
)
def test_what_cannot_be_arguments_is_refused(world: World, arguments: list[str]) -> None:
    with world.setup.call(), pytest.raises(ServiceError) as caught:
        world.service().run("python", arguments)
    assert caught.value.code == "process-arguments"


@pytest.mark.parametrize(
    ("arguments", "more"),
    [("-c", {}), ([5], {}), (5, {}), ([], {"stdin": 5}), ([], {"seconds": -1}), ([], {"seconds": float("inf")})],
)
def test_what_is_of_another_kind_is_a_type_error(world: World, arguments: Any, more: dict[str, Any]) -> None:
    with world.setup.call(), pytest.raises(TypeError):
        world.service().run("python", arguments, **more)


@pytest.mark.parametrize("folder", ["project", "none", "/", ""])
def test_a_folder_that_is_none_is_refused(world: World, folder: str) -> None:
    with world.setup.call(project=False), pytest.raises(ServiceError) as caught:
        world.service().run("python", [], folder=folder)
    assert caught.value.code == "process-folder"


# --- where the kernel cannot


def test_without_the_kernels_help_nothing_is_run(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(landlock, "why_not", lambda: "this kernel has no Landlock")
    refused = world.refused("python")
    assert (refused.reason, refused.detail) == (
        "service-unavailable", "no command can be held here: this kernel has no Landlock"
    )  # fmt: skip


def test_for_a_trusted_plugin_it_runs_and_says_that_nothing_held_it(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(landlock, "why_not", lambda: "this kernel has no Landlock")
    with world.setup.call():
        ended = world.service(needs_sandbox=False).run("python", ["-I", "-S", "-c", "print(open('/etc/passwd').name)"])
    assert (ended["stdout"], ended["sandbox"]) == (b"/etc/passwd\n", "none")
