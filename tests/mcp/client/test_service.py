"""`context.mcp_servers`: what a plugin may ask of which server, and how its own call bounds it."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import attrs
import pytest

from tests.capabilities.conftest import PLUGIN, entered
from tests.cli.commands import until
from tests.hosts.console import console
from tests.hosts.running import HEAD, call
from tests.mcp.client.conftest import SECONDS, Setup, set_up
from tests.plugins_in_test import tool
from tests.test_host import install
from yazcore import Call, CapabilityError, Home, NoContext, ServiceError
from yazcore.capabilities.broker import Broker, GrantedSet
from yazcore.capabilities.context import Frame
from yazcore.capabilities.denials import DenialLog
from yazcore.capabilities.errors import Cancelled
from yazcore.capabilities.services import McpServers
from yazcore.declarations import Posture
from yazcore.kinds import Capability, McpClient

CHECKER = McpClient(servers=("checker",))


@attrs.define
class Plugin:
    """A plugin with capabilities, and a server that the user has named and seen."""

    servers: Setup
    declared: tuple[Capability, ...] = (CHECKER,)
    granted: tuple[Capability, ...] = (CHECKER,)

    def service(self) -> McpServers:
        allowed = frozenset(one.identity for one in self.granted)
        broker = Broker(
            plugin=PLUGIN, version="1", declared=self.declared, granted=lambda: GrantedSet(allowed=allowed),
            denials=DenialLog(self.servers.home),
        )  # fmt: skip
        return McpServers(broker, PLUGIN, self.servers.servers)

    def frame(self, posture: Posture = "write", **call: Any) -> Frame:
        return Frame(plugin=PLUGIN, version="1", where="tools t", call=Call(posture=posture, **call))

    def call(self, tool: str = "check", server: str = "checker", posture: Posture = "write", **more: Any) -> Any:
        with entered(self.frame(posture, **more)):
            return self.service()[server].call(tool, {"text": "@"})

    def refused(self, *args: Any, **more: Any) -> CapabilityError:
        with pytest.raises(CapabilityError) as caught:
            self.call(*args, **more)
        record = DenialLog(self.servers.home).of(PLUGIN)[-1]
        assert (record["reason"], record["target"]) == (caught.value.reason, caught.value.target)
        return caught.value


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Setup]:
    folder = tmp_path_factory.mktemp("service")
    with set_up(Home(folder / "yaz"), folder / "servers") as made:
        made.stdio()
        made.see("checker", "check", "wait")
        yield made


@pytest.fixture
def plugin(named: Setup) -> Plugin:
    return Plugin(named)


def test_a_tool_is_called_and_answers_plain_data(plugin: Plugin) -> None:
    assert plugin.call()["structuredContent"] == {"found": 1}


def test_names_are_exact(plugin: Plugin) -> None:
    for name in ("Checker", "checker ", "chec", ""):
        assert plugin.refused(server=name).reason == "out-of-scope"


def test_what_is_not_declared_or_not_granted_is_refused_before_anything_is_asked(named: Setup) -> None:
    before = len(named.lines("calls"))
    assert Plugin(named, declared=()).refused().reason == "not-declared"
    assert Plugin(named, granted=()).refused().reason == "not-granted"
    other = McpClient(servers=("other",))
    assert Plugin(named, declared=(other,), granted=(other,)).refused().reason == "out-of-scope"
    assert len(named.lines("calls")) == before


def test_a_server_that_is_granted_and_not_named_is_unknown(named: Setup) -> None:
    other = McpClient(servers=("other",))
    with pytest.raises(ServiceError) as caught:
        Plugin(named, declared=(other,), granted=(other,)).call(server="other")
    assert caught.value.code == "server-unknown"


def test_a_list_of_tools_in_the_capability_is_kept(named: Setup) -> None:
    two = McpClient(servers=("checker",), tools=("check", "fail"))
    plugin = Plugin(named, declared=(two,), granted=(two,))
    assert plugin.call("fail")["isError"] is True
    assert plugin.refused("mend").reason == "out-of-scope"
    with entered(plugin.frame()):
        assert [one["name"] for one in plugin.service()["checker"].tools()] == ["check", "fail"]


def test_a_call_that_only_reads_uses_only_what_the_user_says_reads(plugin: Plugin) -> None:
    assert plugin.call("check", posture="read")["structuredContent"] == {"found": 1}
    error = plugin.refused("mend", posture="read")
    assert (error.reason, error.target) == ("out-of-scope", "checker mend")
    with entered(plugin.frame("read")):
        tools = {one["name"]: one["read"] for one in plugin.service().tools("checker")}
    assert (tools["check"], tools["mend"]) == (True, False)


def test_what_a_server_says_of_its_own_tool_changes_no_posture(setup: Setup) -> None:
    setup.offers(mend={"inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}})
    setup.stdio()
    setup.see()
    assert Plugin(setup).refused("mend", posture="read").reason == "out-of-scope"


def test_outside_its_context_a_plugin_has_no_servers(plugin: Plugin) -> None:
    with pytest.raises(NoContext):
        plugin.service()["checker"].call("check")
    frame = attrs.evolve(plugin.frame(), plugin="other")
    with entered(frame), pytest.raises(NoContext):
        plugin.service().tools("checker")


@pytest.mark.parametrize("name", [None, 3, ["checker"], b"checker"])
def test_a_name_is_a_text(plugin: Plugin, name: Any) -> None:
    with entered(plugin.frame()), pytest.raises(TypeError):
        plugin.service()[name].tools()


def test_a_call_ends_before_the_one_that_it_serves(plugin: Plugin) -> None:
    with pytest.raises(ServiceError, match=r"did not answer within 0\.\d+ seconds") as caught:
        plugin.call("wait", deadline=time.monotonic() + 1.0)
    assert caught.value.code == "server-slow"


def test_a_plugin_may_give_less_time_and_not_more(plugin: Plugin) -> None:
    with entered(plugin.frame()), pytest.raises(ServiceError, match=r"within 0\.2 seconds"):
        plugin.service()["checker"].call("wait", seconds=0.2)
    with entered(plugin.frame(deadline=time.monotonic() + 0.5)), pytest.raises(ServiceError, match="did not answer"):
        plugin.service()["checker"].call("wait", seconds=600)
    for wrong in (0, -1, float("nan"), "1", True):
        with entered(plugin.frame()), pytest.raises(ValueError, match="seconds is a number over 0"):
            plugin.service()["checker"].call("wait", seconds=wrong)


def test_without_time_nothing_is_asked(plugin: Plugin) -> None:
    with pytest.raises(Cancelled):
        plugin.call(deadline=time.monotonic() - 1)


def cancelled_in_time(named: Setup, run: Callable[[], Any], cancel: Callable[[], Any]) -> None:
    """Run a call of `wait` in a thread, cancel it once it is there, and wait until the server knows."""
    before = named.lines("calls").count("wait"), len(named.lines("ended"))
    thread = threading.Thread(target=run)
    thread.start()
    until(lambda: named.lines("calls").count("wait") > before[0])
    cancel()
    until(lambda: len(named.lines("ended")) > before[1])
    thread.join(SECONDS)
    assert not thread.is_alive()


def test_when_nobody_waits_for_the_call_the_server_is_told(plugin: Plugin) -> None:
    frame = plugin.frame()
    raised: list[BaseException] = []

    def run() -> None:
        with entered(frame):
            try:
                plugin.service()["checker"].call("wait")
            except Cancelled as error:
                raised.append(error)

    cancelled_in_time(plugin.servers, run, frame.call.cancelled.set)
    assert len(raised) == 1


def test_awaiting_it_blocks_no_loop_and_cancelling_it_tells_the_server(plugin: Plugin) -> None:
    done: list[Any] = []
    loops: list[asyncio.AbstractEventLoop] = []
    tasks: list[asyncio.Task[Any]] = []

    async def main() -> None:
        aio = plugin.service().aio
        loops.append(asyncio.get_running_loop())
        done.append(await aio["checker"].call("check", {"text": "@@"}))
        done.append([one["name"] for one in await aio["checker"].tools()])
        tasks.append(asyncio.ensure_future(aio["checker"].call("wait")))
        with pytest.raises(asyncio.CancelledError):
            await tasks[0]

    def run() -> None:
        with entered(plugin.frame()):
            asyncio.run(main())

    cancelled_in_time(plugin.servers, run, lambda: loops[0].call_soon_threadsafe(tasks[0].cancel))
    assert done[0]["structuredContent"] == {"found": 2}
    assert "check" in done[1]


def test_when_the_host_closes_whoever_waits_hears_of_it(setup: Setup) -> None:
    setup.stdio()
    setup.see()
    plugin = Plugin(setup)
    raised: list[ServiceError] = []

    def run() -> None:
        with pytest.raises(ServiceError) as caught:
            plugin.call("wait")
        raised.append(caught.value)

    thread = threading.Thread(target=run)
    thread.start()
    until(lambda: "wait" in setup.lines("calls"))
    setup.servers.close()
    thread.join(SECONDS)
    assert [one.code for one in raised] == ["server-gone"]


# -- in a host --------------------------------------------------------------------------------------------------------

CALLING = """
class Plugin:
    def __init__(self, context):
        self.context = context

    @hookimpl
    def provide_tools(self):
        return [Tool("look", self.look), Tool("look-later", self.look_later), Tool("mend", self.mend)]

    def look(self, context, arguments):
        return context.mcp_servers["checker"].call("check", {"text": "@"})["structuredContent"]

    async def look_later(self, context, arguments):
        answer = await context.aio.mcp_servers["checker"].call("check", {"text": "@@"})
        return answer["structuredContent"]

    def mend(self, context, arguments):
        return context.mcp_servers["checker"].call("mend", {"text": "@"})
"""
REFUSED = "demo may not do this: mcp-client, out-of-scope. The user can see what was tried with: yaz denials demo"


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Path]:
    """A folder on the path, for a distribution as pip leaves it."""
    folder = tmp_path / "site"
    folder.mkdir()
    sys.path.insert(0, str(folder))
    yield folder
    sys.path.remove(str(folder))
    for name in [name for name in sys.modules if name.startswith("console_plugin_")]:
        del sys.modules[name]


@pytest.mark.parametrize("runtime", ["trusted", "isolated"])
def test_a_plugin_of_a_host_calls_a_server_and_closing_the_host_leaves_it(
    setup: Setup, site: Path, runtime: Literal["trusted", "isolated"]
) -> None:
    setup.stdio()
    setup.see("checker", "check")
    tools = [tool("look"), tool("look-later"), tool("mend")]
    asks = [{"kind": "mcp-client", "servers": ["checker"]}]
    install(site, "demo", HEAD + CALLING, capabilities=asks, provides={"tools": tools})
    host = console(setup.home, discover=True)
    try:
        host.grant("demo", trusted=True)
        host.deactivate("demo")
        granted = host.grants.get("demo")
        assert granted is not None
        host.grants.put(attrs.evolve(granted, runtime=runtime))
        (status,) = (one for one in host.activate() if one.id == "demo")
        assert (status.state, status.runtime) == ("active", runtime), status
        assert call(host, "demo__look").structured == {"found": 1}
        assert call(host, "demo__look-later").structured == {"found": 2}
        refused = call(host, "demo__mend")
        assert (refused.is_error, refused.text) == (True, REFUSED)
        assert setup.lines("calls") == ["check", "check"]
    finally:
        host.close()
    with pytest.raises(ServiceError, match="is left: yaz is closing"):
        host.servers.tools("checker", SECONDS)
