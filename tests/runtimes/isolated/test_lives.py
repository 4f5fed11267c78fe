"""Workers that die, hang, lie and are started again: an error for whoever called, and nothing for anybody else."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.runtimes.plugins import Workbench, ask, said, workbench
from yazcore.capabilities.context import Call
from yazcore.runtimes.base import HandlerFailed, PluginFailed
from yazcore.runtimes.isolated import generation as generation_module
from yazcore.runtimes.isolated import plugin as plugin_module
from yazcore.runtimes.isolated.plugin import IsolatedPlugin
from yazcore.runtimes.isolated.runtime import IsolatedRuntime
from yazcore.runtimes.isolated.strikes import Strikes

Wait = Callable[[Callable[[], object]], None]

CODE = """
class Plugin(Base):
    def t_pid(self, context, arguments):
        return {"pid": os.getpid()}

    def t_die(self, context, arguments):
        os._exit(7)

    def t_crash(self, context, arguments):
        import signal
        os.kill(os.getpid(), signal.SIGSEGV)
        time.sleep(600)

    def t_spin(self, context, arguments):
        (context.data_folder / "spins").touch()
        while True:
            pass

    async def t_wait(self, context, arguments):
        (context.data_folder / "waits").touch()
        await asyncio.sleep(600)

    def t_sleep(self, context, arguments):
        (context.data_folder / "sleeps").touch()
        time.sleep(600)

    def t_raw(self, context, arguments):
        data = bytes.fromhex(arguments["hex"]) * arguments["times"]
        while data:
            data = data[os.write(3, data):]
        time.sleep(600)
"""


@pytest.fixture(scope="module")
def patient() -> Iterator[IsolatedRuntime]:
    """A runtime that never gives a plugin up."""
    runtime = IsolatedRuntime(strikes=lambda: Strikes(most=10**9))
    yield runtime
    runtime.close()


@pytest.fixture
def bench(patient: IsolatedRuntime, tmp_path: Path) -> Iterator[Workbench]:
    with workbench(patient, tmp_path) as made:
        yield made


def submit(plugin: Any, name: str, seconds: float | None = None, arguments: Any = None) -> Any:
    deadline = float("inf") if seconds is None else time.monotonic() + seconds
    return plugin.submit("tools", name, "handler", Call(posture="read", deadline=deadline), arguments or {})


@pytest.mark.parametrize(("name", "how"), [("t_die", "exit status 7"), ("t_crash", "signal SIGSEGV")])
def test_a_worker_that_dies_fails_its_calls_and_the_next_call_finds_a_new_one(
    bench: Workbench, wait: Wait, name: str, how: str
) -> None:
    plugin = bench.start(CODE)
    first = said(plugin, "t_pid")["pid"]
    other = submit(plugin, "t_wait")
    wait((bench.home.plugin_data("demo") / "waits").exists)
    for future, where in ((submit(plugin, name), name), (other, "t_wait")):
        with pytest.raises(HandlerFailed) as failed:
            future.result(20)
        failure = failed.value.failure
        assert (failure.type, failure.where) == ("WorkerEnded", f"tools {where}")
        assert failure.message == f"its worker was ended: it ended with {how}"
    assert said(plugin, "t_pid")["pid"] != first


def test_one_plugins_end_is_nobody_elses(bench: Workbench) -> None:
    plugin, other = bench.start(CODE), bench.start(CODE)
    before = said(other, "t_pid")
    with pytest.raises(HandlerFailed):
        ask(plugin, "t_die")
    assert said(other, "t_pid") == before


def test_calls_that_come_while_there_is_no_worker_wait_for_the_next(bench: Workbench, wait: Wait) -> None:
    plugin = bench.start("""
class Plugin(Base):
    def __init__(self, context):
        super().__init__(context)
        if (context.data_folder / "slow").exists():
            time.sleep(0.3)

    def t_pid(self, context, arguments):
        (context.data_folder / "slow").touch()
        return {"pid": os.getpid()}
""")
    first = said(plugin, "t_pid")["pid"]
    os.kill(first, signal.SIGKILL)
    wait(lambda: plugin._generation is None)
    futures = [submit(plugin, "t_pid") for _ in range(50)]
    pids = {future.result(20).structured["pid"] for future in futures}
    assert len(pids) == 1
    assert first not in pids


def test_a_call_that_was_given_up_before_there_was_a_worker_is_not_made(bench: Workbench, wait: Wait) -> None:
    plugin = bench.start("""
class Plugin(Base):
    def __init__(self, context):
        super().__init__(context)
        if (context.data_folder / "slow").exists():
            time.sleep(0.3)

    def t_die(self, context, arguments):
        (context.data_folder / "slow").touch()
        os._exit(1)

    def t_mark(self, context, arguments):
        (context.data_folder / "marked").touch()
        return {}

    def t_pid(self, context, arguments):
        return {}
""")
    with pytest.raises(HandlerFailed):
        ask(plugin, "t_die")
    wait(lambda: plugin._generation is None)
    future = submit(plugin, "t_mark")
    assert future.cancel()
    said(plugin, "t_pid")
    assert not (bench.home.plugin_data("demo") / "marked").exists()


def test_a_call_that_runs_over_is_ended_with_its_worker_and_the_others_are_told(
    bench: Workbench, wait: Wait
) -> None:
    plugin = bench.start(CODE)
    first = said(plugin, "t_pid")["pid"]
    other = submit(plugin, "t_wait")
    spinning = submit(plugin, "t_spin", seconds=0.2)
    wait((bench.home.plugin_data("demo") / "spins").exists)
    began = time.monotonic()
    spinning.cancel()
    with pytest.raises(HandlerFailed, match="its worker was ended: tools t_spin did not end in time"):
        other.result(20)
    assert time.monotonic() - began < 10
    assert said(plugin, "t_pid")["pid"] != first


def test_a_call_that_nobody_gives_up_is_ended_soon_after_its_deadline(bench: Workbench) -> None:
    plugin = bench.start(CODE)
    with pytest.raises(HandlerFailed, match="tools t_spin did not end in time"):
        submit(plugin, "t_spin", seconds=0.1).result(20)
    assert said(plugin, "t_pid")


def test_a_cancelled_call_may_run_until_its_deadline(bench: Workbench, wait: Wait) -> None:
    plugin = bench.start("""
class Plugin(Base):
    def t_slow(self, context, arguments):
        (context.data_folder / "begun").touch()
        time.sleep(1)
        (context.data_folder / "ended").touch()

    def t_pid(self, context, arguments):
        return {"pid": os.getpid()}
""")
    first = said(plugin, "t_pid")
    slow = submit(plugin, "t_slow", seconds=60)
    data = bench.home.plugin_data("demo")
    wait((data / "begun").exists)
    slow.cancel()
    wait((data / "ended").exists)
    assert said(plugin, "t_pid") == first


def test_a_cancelled_async_call_frees_its_worker_at_once(bench: Workbench, wait: Wait) -> None:
    plugin = bench.start(CODE)
    first = said(plugin, "t_pid")
    waiting = submit(plugin, "t_wait", seconds=0.3)
    wait((bench.home.plugin_data("demo") / "waits").exists)
    waiting.cancel()
    time.sleep(0.8)  # past its deadline and the grace: had it not ended, its worker would be gone
    assert said(plugin, "t_pid") == first


@pytest.mark.parametrize(
    ("data", "times", "why"),
    [
        ("ffffffff", 1, "it sent a frame of 4294967295 bytes"),
        ("0400000000000000", 1, "it sent a frame that is no message"),
        ("05000000940102a0c1", 1, "it sent a frame that is no message"),
        ("0500000094014da0c0", 1, "it sent an answer to a call that was never made"),
        ("00000002", 4_000_000, "it sent a frame of 33554432 bytes"),
    ],
)
def test_a_worker_that_breaks_the_protocol_costs_its_call_an_error(
    bench: Workbench, data: str, times: int, why: str
) -> None:
    plugin = bench.start(CODE)
    with pytest.raises(HandlerFailed, match=f"its worker was ended: {why}"):
        submit(plugin, "t_raw", arguments={"hex": data, "times": times}).result(20)
    assert said(plugin, "t_pid")


def test_a_flood_is_throttled_and_hurts_nobody_else(bench: Workbench) -> None:
    plugin, other = bench.start(CODE), bench.start(CODE)
    # an event of twenty bytes, over and over: {"log": [10, "x"]}
    flood = "0d0000009404" + "00" + "a36c6f67" + "920aa178"
    length = (len(bytes.fromhex(flood)) - 4).to_bytes(4, "little").hex()
    flooding = submit(plugin, "t_raw", seconds=60, arguments={"hex": length + flood[8:], "times": 100_000})
    before = time.thread_time()
    reader = plugin._generation.link._thread
    for _ in range(50):
        said(other, "t_pid")
    assert reader.is_alive()
    assert time.thread_time() - before < 10
    flooding.cancel()


def test_a_stopped_worker_is_ended_at_the_deadline(bench: Workbench, wait: Wait) -> None:
    plugin = bench.start(CODE)
    pid = said(plugin, "t_pid")["pid"]
    os.kill(pid, signal.SIGSTOP)
    wait(lambda: ") T " in Path(f"/proc/{pid}/stat").read_text())
    with pytest.raises(HandlerFailed, match="did not end in time"):
        submit(plugin, "t_pid", seconds=0.1).result(20)
    assert said(plugin, "t_pid")


# --- hooks


def test_a_hook_whose_worker_dies_is_a_failure_and_the_others_go_on(bench: Workbench) -> None:
    plugin = bench.start("""
class Plugin(Base):
    @hookimpl
    def decorate(self, cluster, width):
        if cluster == "die":
            os._exit(3)
        return f"{cluster} {width}"
""")
    decorate = _hook(plugin, "decorate")
    assert decorate("a", 3) == "a 3"
    assert decorate("die", 3) is None
    assert plugin.failures[-1].message == "its worker was ended: it ended with exit status 3"
    assert decorate("b", 4) == "b 4"  # it waits for the next worker


def test_a_hook_that_hangs_is_ended(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugin_module, "HOOK_SECONDS", 0.2)
    plugin = bench.start("""
class Plugin(Base):
    @hookimpl
    def decorate(self, width):
        time.sleep(600)
""")
    assert _hook(plugin, "decorate")("a", 3) is None
    assert str(plugin.failures[-1]) == (
        "demo 1.2: decorate raised Overdue: demo 1.2: decorate took longer than 0.2 seconds"
    )


def test_a_hooks_values_are_plain_data(bench: Workbench) -> None:
    plugin = bench.start("""
class Plugin(Base):
    @hookimpl
    def decorate(self, cluster, width):
        if cluster == "bytes":
            return b"x" * width
        return {1, 2} if cluster == "set" else (cluster, width)
""")
    decorate = _hook(plugin, "decorate")
    assert decorate("a", {"b": (1,)}) == ["a", {"b": [1]}]
    assert decorate("bytes", 3 << 20) == b"x" * (3 << 20)
    assert decorate("bytes", 3) == b"xxx"
    assert decorate(object(), 1) is None
    assert (plugin.failures[-1].type, plugin.failures[-1].message) == (
        "hook-not-portable", "/cluster is a object; only plain data may leave a plugin"
    )  # fmt: skip
    assert decorate("set", 1) is None
    assert plugin.failures[-1].type == "hook-not-portable"


def test_a_hook_is_called_from_many_threads_also_on_a_running_loop(bench: Workbench) -> None:
    import asyncio

    plugin = bench.start("""
class Plugin(Base):
    @hookimpl
    def decorate(self, cluster):
        return cluster + self.context.message("text")
""")
    decorate = _hook(plugin, "decorate")

    async def on_the_loop() -> Any:
        both = await asyncio.gather(*(asyncio.to_thread(decorate, str(number), 1) for number in range(40)))
        return decorate("loop", 1), both

    assert asyncio.run(on_the_loop()) == ("loopA text", [f"{number}A text" for number in range(40)])


def _hook(plugin: IsolatedPlugin, name: str) -> Any:
    (function,) = (value for key, value in vars(plugin.facade).items() if key.startswith(f"{name} "))
    return function


# --- starting again, and giving up


def test_three_ends_and_the_plugin_has_failed_with_the_reason(isolated: Workbench, wait: Wait) -> None:
    plugin = isolated.start(CODE)
    for _ in range(3):
        with pytest.raises(HandlerFailed):
            ask(plugin, "t_die")
    wait(lambda: isolated.failed)
    assert isolated.failed == ["its worker was ended 3 times; at last: it ended with exit status 7"]
    with pytest.raises(RuntimeError, match="demo was taken out"):
        ask(plugin, "t_pid")
    plugin.run_hook("onunload", 5)  # nothing is left that could run it


def test_a_plugin_that_registers_something_else_after_a_restart_has_failed(bench: Workbench, wait: Wait) -> None:
    plugin = bench.start("""
class Plugin(Base):
    @hookimpl
    def provide_tools(self):
        mark = self.context.data_folder / "mark"
        names = ["t_a", "t_b"] if mark.exists() else ["t_a"]
        mark.touch()
        return [Tool(name, self.t_die) for name in names]

    def t_die(self, context, arguments):
        os._exit(1)
""")
    with pytest.raises(HandlerFailed):
        ask(plugin, "t_a")
    wait(lambda: bench.failed)
    assert bench.failed == [
        "its worker was ended (it ended with exit status 1), and the next one registered something else"
    ]


def test_a_plugin_with_other_hooks_after_a_restart_has_failed(bench: Workbench, wait: Wait) -> None:
    plugin = bench.start("""
class Plugin(Base):
    def __init__(self, context):
        super().__init__(context)
        mark = context.data_folder / "mark"
        if mark.exists():
            Plugin.onload = hookimpl(lambda self: None, specname="onload")
        mark.touch()

    def t_die(self, context, arguments):
        os._exit(1)
""")
    with pytest.raises(HandlerFailed):
        ask(plugin, "t_die")
    wait(lambda: bench.failed)
    assert bench.failed[0].endswith("and the next one has other hooks")


def test_a_plugin_that_cannot_be_started_again_has_failed_in_the_end(isolated: Workbench, wait: Wait) -> None:
    plugin = isolated.start("""
class Plugin(Base):
    def __init__(self, context):
        super().__init__(context)
        mark = context.data_folder / "mark"
        if mark.exists():
            raise ValueError("not again")
        mark.touch()

    def t_die(self, context, arguments):
        os._exit(1)
""")
    with pytest.raises(HandlerFailed):
        ask(plugin, "t_die")
    waiting = submit(plugin, "t_die")
    wait(lambda: isolated.failed)
    reason = (
        "its worker was ended 3 times; at last: it could not be started again: demo 1.2: import or constructor raised "
        "ValueError: not again"
    )
    assert isolated.failed == [reason]
    with pytest.raises(HandlerFailed, match="not again"):
        waiting.result(20)


def test_onload_runs_in_every_worker(bench: Workbench, wait: Wait) -> None:
    plugin = bench.start("""
class Plugin(Base):
    loaded = False

    @hookimpl
    def onload(self):
        self.loaded = True

    def t_loaded(self, context, arguments):
        return {"loaded": self.loaded}

    def t_die(self, context, arguments):
        os._exit(1)
""")
    plugin.run_hook("onload", 5)
    with pytest.raises(HandlerFailed):
        ask(plugin, "t_die")
    assert said(plugin, "t_loaded") == {"loaded": True}


def test_a_constructor_that_hangs_is_a_failure(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generation_module, "STARTING_SECONDS", 0.3)
    with pytest.raises(PluginFailed) as failed:
        bench.start("class Plugin:\n    def __init__(self, context):\n        time.sleep(600)")
    assert str(failed.value) == "demo 1.2: starting it took longer than 0.3 seconds"


def test_a_constructor_that_dies_is_a_failure(bench: Workbench) -> None:
    with pytest.raises(PluginFailed) as failed:
        bench.start("os._exit(9)")
    assert str(failed.value) == "demo 1.2: its worker ended while it was started: it ended with exit status 9"


# --- the zygote


def test_when_the_zygote_dies_its_workers_do_and_everything_is_started_again(isolated: Workbench) -> None:
    plugins = [isolated.start(CODE) for _ in range(3)]
    before = [said(plugin, "t_pid")["pid"] for plugin in plugins]
    zygote = isolated.runtime._zygote  # type: ignore[attr-defined]
    os.kill(zygote._process.pid, signal.SIGKILL)
    for pid in before:
        _wait_gone(pid)
    after = [said(plugin, "t_pid")["pid"] for plugin in plugins]
    assert not set(after) & set(before)
    assert isolated.failed == []  # and it is no fault of theirs


HOST = """
import sys
from pathlib import Path
sys.path[:0] = {path!r}
from tests.runtimes.plugins import said, workbench
from yazcore.capabilities.context import Call
from yazcore.runtimes.isolated.runtime import IsolatedRuntime

CODE = '''
import signal

class Plugin(Base):
    def t_pid(self, context, arguments):
        return {{"pid": os.getpid()}}

    def t_deaf(self, context, arguments):
        signal.pthread_sigmask(signal.SIG_BLOCK, range(1, signal.NSIG))
        (context.data_folder / "deaf").touch()
        sum(iter(int, 1))  # without end, and without letting another thread run
'''

with workbench(IsolatedRuntime(), Path({folder!r})) as bench:
    plugin = bench.start(CODE)
    pid = said(plugin, "t_pid")["pid"]
    plugin.submit("tools", "t_deaf", "handler", Call(posture="read"), {{}})
    print(pid, bench.home.plugin_data("demo"), flush=True)
    sys.stdin.read()
"""


def test_a_worker_that_spins_with_every_signal_blocked_dies_with_its_host(tmp_path: Path, wait: Wait) -> None:
    code = HOST.format(path=sys.path, folder=str(tmp_path))
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as host:
        assert host.stdout is not None
        pid, _, data = host.stdout.readline().decode().strip().partition(" ")
        worker = os.pidfd_open(int(pid))
        wait((Path(data) / "deaf").exists)
        host.kill()
    with selectors.DefaultSelector() as selector:
        selector.register(worker, selectors.EVENT_READ)
        ended = bool(selector.select(timeout=20))
    if not ended:
        signal.pidfd_send_signal(worker, signal.SIGKILL)
    os.close(worker)
    assert ended, "the worker outlived its host"


def test_workers_do_not_die_with_the_thread_that_asked_for_them(bench: Workbench) -> None:
    started: list[Any] = []
    thread = threading.Thread(target=lambda: started.append(bench.start(CODE)))
    thread.start()
    thread.join()
    first = said(started[0], "t_pid")
    time.sleep(0.3)
    assert said(started[0], "t_pid") == first


def _wait_gone(pid: int) -> None:
    end = time.monotonic() + 20
    while Path(f"/proc/{pid}").exists():
        assert time.monotonic() < end, "it is still there"
        time.sleep(0.01)


# --- what is left


def test_nothing_is_left_when_everything_is_closed(tmp_path: Path, wait: Wait) -> None:
    before = (_descriptors(), threading.active_count(), _children())
    runtime = IsolatedRuntime()
    with workbench(runtime, tmp_path) as bench:
        plugins = [bench.start(CODE) for _ in range(3)]
        pids = [said(plugin, "t_pid")["pid"] for plugin in plugins]
        submit(plugins[0], "t_sleep")
        with pytest.raises(HandlerFailed):
            ask(plugins[1], "t_die")
    runtime.close()
    for pid in pids:
        assert not Path(f"/proc/{pid}").exists()
    wait(lambda: (_descriptors(), threading.active_count(), _children()) == before)


def test_a_plugin_that_could_not_start_leaves_nothing(bench: Workbench, wait: Wait) -> None:
    bench.start(CODE)
    before = (_descriptors(), threading.active_count())
    refused = "class Plugin(Base):\n    @hookimpl\n    async def onload(self): pass"
    for code, why in (("raise ValueError", "demo"), ("os._exit(1)", "demo"), (refused, "onload is async")):
        with pytest.raises(Exception, match=why):
            bench.start(code)
    wait(lambda: (_descriptors(), threading.active_count()) == before)


def _descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def _children() -> str:
    return Path(f"/proc/self/task/{os.getpid()}/children").read_text()


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[Workbench]:
    """A workbench whose zygote has no workers but its own."""
    runtime = IsolatedRuntime()
    with workbench(runtime, tmp_path) as made:
        yield made
    runtime.close()


def children_of_zygote(bench: Workbench) -> set[int]:
    zygote = bench.runtime._zygote._process.pid  # type: ignore[attr-defined]
    with open(f"/proc/{zygote}/task/{zygote}/children") as file:
        return {int(child) for child in file.read().split()}


def test_a_worker_that_ended_while_it_waited_for_its_plugin_is_passed_over(alone: Workbench, wait: Wait) -> None:
    plugin = alone.start(CODE)
    serving = said(plugin, "t_pid")["pid"]
    wait(lambda: len(children_of_zygote(alone)) == 2)
    (spare,) = children_of_zygote(alone) - {serving}
    os.kill(spare, signal.SIGKILL)
    wait(lambda: spare not in children_of_zygote(alone))
    other = alone.start(CODE)
    assert said(other, "t_pid")["pid"] not in (serving, spare)
    assert said(plugin, "t_pid")["pid"] == serving


def test_whoever_waits_for_a_plugin_and_the_zygote_have_no_privilege_of_roots(alone: Workbench, wait: Wait) -> None:
    alone.start(CODE)
    wait(lambda: len(children_of_zygote(alone)) == 2)
    zygote = alone.runtime._zygote._process.pid  # type: ignore[attr-defined]
    for process in (zygote, *children_of_zygote(alone)):
        status = Path(f"/proc/{process}/status").read_text()
        privileges = dict(line.split(":\t") for line in status.splitlines() if line.startswith("Cap"))
        assert {privileges[name] for name in ("CapPrm", "CapEff", "CapInh", "CapAmb")} == {"0" * 16}


def test_a_worker_that_waits_for_its_plugin_dies_with_the_zygote(alone: Workbench, wait: Wait) -> None:
    alone.start(CODE)
    wait(lambda: len(children_of_zygote(alone)) == 2)
    children = children_of_zygote(alone)
    os.kill(alone.runtime._zygote._process.pid, signal.SIGKILL)  # type: ignore[attr-defined]
    wait(lambda: not any(Path(f"/proc/{child}").exists() for child in children))
