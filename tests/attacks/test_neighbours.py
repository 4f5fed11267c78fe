"""Plugins side by side: what an honest one may do by accident is its own, and the others and the host do not notice."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.attacks.hosts import CONTRACT, HEAD, called, host_with, states, tools
from tests.mcp.serving import http, listening, modern
from tests.plugins_in_test import manifest, plugin_folder
from yazcore import OWNER, Contract, Home, Host, Principal, hookspec
from yazcore.hookspecs import PROJECT as PLUGGY_PROJECT
from yazcore.runtimes.facade import Facade

GOOD = """
class Plugin:
    def __init__(self, context):
        pass

    @hookimpl
    def provide_tools(self):
        return [Tool("t", lambda context, arguments: {"fine": True})]
"""


@pytest.mark.parametrize(
    "name", ["add", "_label", "remove", "name", "_x", "self", "register", "plugin_name", "_failed", "facade", "zzz"]
)
def test_a_hook_may_have_any_name_of_a_method(tmp_path: Path, name: str) -> None:
    code = f"""
class Plugin:
    def __init__(self, context):
        pass

    @hookimpl(specname="provide_tools")
    def {name}(self):
        return [Tool("t", lambda context, arguments: {{"fine": True}})]

    @hookimpl(specname="onload")
    def loaded(self):
        pass
"""
    with host_with(tmp_path, ("odd", code, tools(["t"])), ("good", GOOD, tools(["t"]))) as host:
        assert states(host) == {"odd": "active", "good": "active"}
        assert called(host, "odd__t").structured == {"fine": True}
        assert sorted(one.plugin_name for one in host.hook.provide_tools.get_hookimpls()) == ["good", "odd"]
        assert repr(host.hook.provide_tools.get_hookimpls()[0].plugin).startswith("<plugin ")


def test_what_pluggy_holds_leads_to_no_plugin(tmp_path: Path) -> None:
    with host_with(tmp_path, ("good", GOOD, tools(["t"]))) as host:
        (held,) = {one.plugin for one in host.hook.provide_tools.get_hookimpls()}
        assert type(held) is Facade
        assert not [one for one in vars(held).values() if not callable(one) and not isinstance(one, str)]
        assert PLUGGY_PROJECT == "yaz"


def test_what_one_call_keeps_in_a_context_variable_is_gone_in_the_next(tmp_path: Path) -> None:
    """The threads are few and used again; a name kept for one caller must not be found by the next."""
    code = """
from contextvars import ContextVar
who = ContextVar("who", default=None)

class Plugin:
    def __init__(self, context):
        pass

    @hookimpl
    def provide_tools(self):
        return [Tool("t", self.t), Tool("u", self.u)]

    def t(self, context, arguments):
        before = who.get()
        who.set(context.caller.name)
        return {"before": before}

    async def u(self, context, arguments):
        return self.t(context, arguments)
"""
    with host_with(tmp_path, ("good", code, tools(["t", "u"]))) as host:
        for name in ("good__t", "good__u"):
            for caller in (OWNER, Principal(name="ada", owner=True), OWNER):
                assert called(host, name, principal=caller).structured == {"before": None}


class HostHooks:
    @hookspec
    def decorate(self, names: list[str]) -> list[str] | None:
        """A hook of the host's."""


def test_a_hook_that_panics_costs_its_own_answer_only(tmp_path: Path) -> None:
    contract = Contract(
        number=CONTRACT.number,
        group=CONTRACT.group,
        prefix=CONTRACT.prefix,
        host=CONTRACT.host,
        version="1.0",
        scope_kinds=CONTRACT.scope_kinds,
        hookspecs=(*CONTRACT.hookspecs, HostHooks),
    )
    bad = GOOD + "\n    @hookimpl\n    def decorate(self, names):\n        raise Panic('x')\n"
    good = GOOD + "\n    @hookimpl\n    def decorate(self, names):\n        return names + ['good']\n"
    folders = []
    with pytest.MonkeyPatch.context() as patch:
        from contextlib import ExitStack

        with ExitStack() as stack:
            for plugin_id, code in (("bad", bad), ("good", good)):
                (tmp_path / plugin_id).mkdir()
                document = manifest(
                    plugin_id, provides={"tools": [{**tools(["t"])["tools"][0], "permission": f"{plugin_id}:read"}]}
                )
                folders.append(stack.enter_context(plugin_folder(tmp_path / plugin_id, document, HEAD + code)))
            host = Host(contract, home=Home(tmp_path / "home"), builtin=folders, discover=False)
            stack.callback(host.close)
            host.activate()
            assert states(host) == {"bad": "active", "good": "active"}
            assert host.hook.decorate(names=["a"]) == [["a", "good"]]
        patch.undo()


def test_a_plugin_that_blocks_all_its_threads_is_still_taken_out(tmp_path: Path) -> None:
    code = """
go_on = threading.Event()
class Plugin:
    def __init__(self, context):
        pass

    @hookimpl
    def provide_tools(self):
        return [Tool("t", lambda context, arguments: {"waited": go_on.wait(20)})]
"""

    async def hang(host: Host) -> None:
        tasks = [asyncio.create_task(host.gate.call_tool(OWNER, "bad__t", {})) for _ in range(12)]
        await asyncio.sleep(0.1)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    bad: tuple[str, str, Any] = ("bad", code, tools(["t"], deadlineSeconds=30))
    with host_with(tmp_path, bad, ("good", GOOD, tools(["t"]))) as host:
        asyncio.run(hang(host))
        assert called(host, "good__t").structured == {"fine": True}
        host.deactivate("bad")
        assert list(host.catalogue.now.tools) == ["good__t"]
        module = next(one for name, one in __import__("sys").modules.items() if hasattr(one, "go_on"))
        module.go_on.set()


def test_two_plugins_that_change_what_they_are_given_change_nothing_for_each_other(tmp_path: Path) -> None:
    code = """
class Plugin:
    def __init__(self, context):
        self.context = context
        context.settings["x"] = context.plugin

    @hookimpl
    def provide_tools(self):
        return [Tool("t", self.t)]

    def t(self, context, arguments):
        arguments["x"].append(context.plugin)
        return {"x": arguments["x"], "settings": dict(context.settings)}
"""
    given = {"x": ["a"]}
    with host_with(tmp_path, ("one", code, tools(["t"])), ("two", code, tools(["t"]))) as host:
        for plugin_id in ("one", "two"):
            told = called(host, f"{plugin_id}__t", given).structured
            assert told == {"x": ["a", plugin_id], "settings": {"x": plugin_id}}
    assert given == {"x": ["a"]}


HUNG = """
release = threading.Event()

class Plugin:
    def __init__(self, context):
        pass

    @hookimpl
    def provide_tools(self):
        return [Tool("sync", self.sync), Tool("thread", self.thread), Tool("let_go", self.let_go)]

    def sync(self, context, arguments):
        release.wait(30)
        return {"done": True}

    async def thread(self, context, arguments):
        await context.run_in_thread(release.wait, 30)
        return {"done": True}

    async def let_go(self, context, arguments):
        release.set()
        return {"done": True}
"""
FINE = """
class Plugin:
    def __init__(self, context):
        pass

    @hookimpl
    def provide_tools(self):
        return [Tool("t", self.t)]

    async def t(self, context, arguments):
        return {"fine": await context.run_in_thread(lambda: True)}
"""


@pytest.mark.parametrize("how", ["sync", "thread"])
@pytest.mark.anyio
async def test_forty_one_hung_calls_of_one_plugin_stop_neither_the_server_nor_another_plugin(
    tmp_path: Path, how: str
) -> None:
    hung = ("hung", HUNG, tools(["sync", "thread", "let_go"]))
    with host_with(tmp_path, hung, ("fine", FINE, tools(["t"]))) as host:
        async with listening(host) as (_, address), http(address.token) as client:

            async def call(name: str) -> Any:
                return (await client.post(address.url, **modern("tools/call", {"name": name}))).json()["result"]

            waiting = [asyncio.ensure_future(call(f"hung__{how}")) for _ in range(41)]
            assert (await call("fine__t"))["structuredContent"] == {"fine": True}
            assert (await client.post(address.url, **modern("tools/list"))).status_code == 200
            await call("hung__let_go")
            assert all([(await one)["structuredContent"] == {"done": True} for one in waiting])
