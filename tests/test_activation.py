"""Activation through a host: all or nothing, in both directions, one plugin's faults its own."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.hosts.console import console
from tests.plugins_in_test import manifest, plugin_folder, tool
from yazcore.home import Home
from yazcore.host import Host
from yazcore.permissions import OWNER
from yazcore.plugin_status import PluginStatus
from yazcore.runtimes import trusted

HEAD = "from yazcore import Command, Prompt, Resource, Tool, hookimpl\n"


def tools_of(*names: str, more: str = "") -> str:
    registered = ", ".join(f"Tool({name!r}, lambda context, arguments: {{'tool': {name!r}}})" for name in names)
    return f"""{HEAD}
class Plugin:
    def __init__(self, context):
        self.context = context

    @hookimpl
    def provide_tools(self):
        return [{registered}]
{more}
"""


def declared(*names: str, plugin_id: str = "demo", **more: Any) -> dict[str, Any]:
    entries = [tool(name, permission=f"{plugin_id}:read") for name in names]
    return manifest(plugin_id, provides={"tools": entries, **more})


class Hosts:
    """Hosts with the given plugins, closed again."""

    def __init__(self, folder: Path, home: Home, stack: ExitStack) -> None:
        self._folder, self._home, self._stack = folder, home, stack

    def start(
        self, *plugins: tuple[Mapping[str, Any], str], messages: Mapping[str, str] | None = None
    ) -> tuple[Host, dict[str, PluginStatus]]:
        folders = [
            self._stack.enter_context(plugin_folder(self._folder / str(number), document, code, messages))
            for number, (document, code) in enumerate(plugins)
        ]
        host = console(self._home, builtin=tuple(folders))
        self._stack.callback(host.close)
        return host, {status.id: status for status in host.activate()}


@pytest.fixture
def hosts(tmp_path: Path, home: Home) -> Any:
    with ExitStack() as stack:
        yield Hosts(tmp_path, home, stack)


def assert_nothing_left(host: Host, plugin_id: str = "demo") -> None:
    now = host.catalogue.now
    assert set(now.plugins) == {"console"}
    assert all(one.plugin == "console" for one in now.tools.values())
    assert not any(action.startswith(f"{plugin_id}:") for action in now.actions)
    assert [name for name, _ in host._activation.manager.list_name_plugin()] == ["console"]


def test_a_plugin_that_does_what_it_says_is_active(hosts: Hosts) -> None:
    host, states = hosts.start((declared("a", "b"), tools_of("a", "b")))
    assert states["demo"].state == "active"
    assert states["demo"].runtime == "trusted"
    assert {"demo__a", "demo__b"} <= set(host.catalogue.now.tools)


@pytest.mark.parametrize(
    ("names", "registered", "changes"),
    [
        (["a"], ["a", "b"], [("b", "undeclared")]),
        (["a", "b"], ["a"], [("b", "missing")]),
        (["a"], ["b"], [("a", "missing"), ("b", "undeclared")]),
        (["a"], ["a", "a"], [("a", "duplicate")]),
    ],
)
def test_a_plugin_that_differs_from_its_manifest_is_refused_and_leaves_nothing(
    hosts: Hosts, names: list[str], registered: list[str], changes: list[tuple[str, str]]
) -> None:
    host, states = hosts.start((declared(*names), tools_of(*registered)))
    assert states["demo"].state == "refused"
    assert [(one.name, one.change) for one in states["demo"].differences] == changes
    assert_nothing_left(host)


def test_undeclared_commands_resources_and_prompts_are_refused_like_tools(hosts: Hosts) -> None:
    code = f"""{HEAD}
class Plugin:
    def __init__(self, context):
        pass

    @hookimpl
    def addCommand(self):
        return [Command("c", print)]

    @hookimpl
    def provide_resources(self):
        return [Resource("yaz://demo/r", print)]

    @hookimpl
    def provide_prompts(self):
        return [Prompt("p", print)]
"""
    _, states = hosts.start((declared(), code))
    assert [(one.kind, one.name) for one in states["demo"].differences] == [
        ("commands", "c"), ("resources", "yaz://demo/r"), ("prompts", "p"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("raise RuntimeError('at import')\n", "demo 1.0: import or constructor raised RuntimeError: at import"),
        ("raise SystemExit(1)\n", "demo 1.0: import or constructor raised SystemExit: 1"),
        ("class Other: pass\n", None),
        (
            tools_of("a").replace("self.context = context", "raise OSError('no')"),
            "demo 1.0: import or constructor raised OSError: no",
        ),
        (tools_of("a").replace("return [", "raise ValueError('in a hook')\n        return ["),
         "demo 1.0: provide_tools raised ValueError: in a hook"),
        (tools_of("a").replace("return [", "raise SystemExit(2)\n        return ["),
         "demo 1.0: provide_tools raised SystemExit: 2"),
        (tools_of("a").replace("return [", "return 7\n        return ["),
         "demo 1.0: provide_tools returned a int; it must return a list"),
        (tools_of("a", more="\n    @hookimpl\n    def onload(self):\n        raise KeyError('x')\n"),
         "demo 1.0: onload raised KeyError: 'x'"),
    ],
)  # fmt: skip
def test_a_plugin_that_crashes_while_starting_has_failed_and_the_others_go_on(
    hosts: Hosts, code: str, reason: str | None
) -> None:
    host, states = hosts.start((declared("a"), code), (declared("b", plugin_id="good"), tools_of("b")))
    assert states["demo"].state == "failed"
    if reason is not None:
        assert states["demo"].reasons[0] == reason
    if "raised" in (reason or ""):
        crash = host.audit.crash_of(states["demo"].reasons[1].removeprefix("yaz log ").removesuffix(" says why"))
        assert crash is not None
        assert "Traceback" in crash["trace"]
    assert states["good"].state == "active"
    assert "demo" not in host.catalogue.now.plugins
    assert asyncio.run(host.gate.call_tool(OWNER, "good__b", {})).structured == {"tool": "b"}


def test_a_collecting_hook_that_never_answers_is_a_failure(hosts: Hosts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trusted, "STARTING_SECONDS", 0.5)
    code = tools_of("a").replace("return [", "import threading; threading.Event().wait(20)\n        return [")
    host, states = hosts.start((declared("a"), code))
    assert states["demo"].reasons == ("demo 1.0: provide_tools took longer than 0.5 seconds",)
    assert_nothing_left(host)


def test_hooks_of_a_wrong_form_refuse_the_plugin_with_their_codes(hosts: Hosts) -> None:
    more = """
    @hookimpl(wrapper=True)
    def provide_prompts(self):
        return (yield)

    @hookimpl
    async def addCommand(self):
        return []

    @hookimpl
    def provide_tool(self):
        return []
"""
    host, states = hosts.start((declared("a"), tools_of("a", more=more)))
    assert states["demo"].state == "refused"
    assert [one.code for one in states["demo"].violations] == ["hook-async", "hook-wrapper", "hook-unknown"]
    assert_nothing_left(host)


def test_a_hook_wrapper_of_one_plugin_cannot_change_what_another_registers(hosts: Hosts) -> None:
    meddler = f"""{HEAD}
class Plugin:
    def __init__(self, context):
        pass

    @hookimpl(tryfirst=True)
    def provide_tools(self):
        return []
"""
    _, states = hosts.start((declared(plugin_id="aaa"), meddler), (declared("b", plugin_id="good"), tools_of("b")))
    assert states["good"].state == "active"


def test_a_manifest_with_faults_is_refused_with_every_one_of_them(hosts: Hosts) -> None:
    document = manifest(contract=2, provides={"tools": [tool("Bad Name", permission="other:read", scope="galaxy")]})
    _, states = hosts.start((document, tools_of("a")))
    codes = [one.code for one in states["demo"].violations]
    assert states["demo"].state == "refused"
    assert {"contract-mismatch", "tool-permission-undeclared", "scope-unknown"} <= set(codes)
    assert len(codes) >= 4


def test_a_message_file_that_refers_to_itself_is_a_violation_and_no_crash(hosts: Hosts) -> None:
    _, states = hosts.start((declared("a"), tools_of("a")), messages={"en-US": "text = { text }\n"})
    assert states["demo"].state == "refused"
    assert states["demo"].violations


def test_a_missing_message_is_a_violation(hosts: Hosts) -> None:
    _, states = hosts.start((declared("a"), tools_of("a")), messages={"en-US": "other = x\n"})
    assert states["demo"].state == "refused"


def test_a_hosts_own_kind_and_hookspec_work_like_the_shipped_ones(hosts: Hosts) -> None:
    code = f"""{HEAD}
from tests.hosts.console import Panel

class Plugin:
    def __init__(self, context):
        self.context = context

    @hookimpl
    def provide_panels(self):
        return [Panel("load", lambda context, arguments: "42 %")]

    @hookimpl
    def decorate(self, cluster, width):
        if cluster == "bad":
            raise ValueError("no decoration")
        return cluster.upper()[:width]
"""
    panels = [{"id": "load", "nameKey": "text", "width": 2}]
    host, states = hosts.start((manifest(provides={"panels": panels}), code))
    assert states["demo"].state == "active"
    assert host.hook.decorate(cluster="alpha", width=3) == ["ALP"]
    assert host.hook.decorate(cluster="bad", width=3) == []
    from yazcore.capabilities.context import Call

    assert host.call("panels", "demo", "load", "handler", {}, call=Call(posture="read")).result(10) == "42 %"
    _, undeclared = hosts.start((manifest(), code))
    assert [(one.kind, one.change) for one in undeclared["demo"].differences] == [("panels", "undeclared")]


def test_pluggy_shows_no_plugin_another_plugins_object(hosts: Hosts) -> None:
    host, _ = hosts.start((declared("a"), tools_of("a")))
    for _name, held in host._activation.manager.list_name_plugin():
        assert type(held).__name__ == "Facade"


def test_deactivating_takes_the_names_first_and_then_says_goodbye(hosts: Hosts) -> None:
    more = """
    @hookimpl
    def onunload(self):
        (self.context.data_folder / "goodbye").write_text("x")
"""
    host, _ = hosts.start((declared("a"), tools_of("a", more=more)))
    host.deactivate("demo")
    assert (host.home.plugin_data("demo") / "goodbye").exists()
    assert_nothing_left(host)
    assert {status.id: status.state for status in host.plugins()}["demo"] == "disabled"


def test_settings_of_the_wrong_type_refuse_the_plugin_and_name_the_line(hosts: Hosts, home: Home) -> None:
    home.path().mkdir(parents=True, exist_ok=True)
    home.path("settings.toml").write_text("[plugins.demo]\nlimit = 'many'\n")
    document = declared("a", settings=[{"key": "limit", "type": "integer", "default": 3, "descriptionKey": "text"}])
    _, states = hosts.start((document, tools_of("a")))
    assert [(one.code, one.message) for one in states["demo"].violations] == [
        ("setting-wrong-type", "settings.toml: plugins.demo.limit is not an integer")
    ]


def test_a_status_is_plain_data_with_the_promised_keys(hosts: Hosts) -> None:
    _, states = hosts.start((declared("a"), tools_of("a")))
    promised = "id name version distribution state runtime confinement capabilities tools violations differences"
    assert set(promised.split()) <= set(states["demo"].as_json())


def test_help_and_the_documents_come_from_what_is_active(hosts: Hosts) -> None:
    host, _ = hosts.start((declared("a"), tools_of("a")))
    index = asyncio.run(host.gate.call_tool(OWNER, "help", {})).structured
    assert index is not None
    entry = {"tool": "demo__a", "summary": "A text", "permission": "demo:read", "scope": "global"}
    assert entry in index["tools"]["read"]
    topic = asyncio.run(host.gate.call_tool(OWNER, "help", {"topic": "  DEMO__A "})).structured
    assert topic is not None
    assert topic["tool"]["access"] == {"permission": "demo:read", "scope": "global"}
    unknown = asyncio.run(host.gate.call_tool(OWNER, "help", {"topic": "nothing"}))
    assert unknown.is_error is False
    assert unknown.structured is not None
    assert unknown.structured["tools"] == ["demo__a", "help", "list_clusters"]
    host.deactivate("demo")
    later = asyncio.run(host.gate.call_tool(OWNER, "help", {})).structured
    assert later is not None
    assert entry not in later["tools"]["read"]


FORMAT = HEAD + """
from yazcore import Format

class Plugin:
    def __init__(self, context):
        self.context = context

    @hookimpl
    def registerFormat(self):
        return [Format("ID", find_entry=len, outline=len, plan=len, collect=len)]
"""


def test_of_two_formats_for_one_extension_the_later_in_id_order_is_refused(hosts: Hosts) -> None:
    def plugin(plugin_id: str, form: str) -> tuple[dict[str, Any], str]:
        formats = [{"id": form, "nameKey": "text", "extensions": [".bib"]}]
        return manifest(plugin_id, provides={"formats": formats}), FORMAT.replace("ID", form)

    host, statuses = hosts.start(plugin("zzz", "one"), plugin("aaa", "two"))
    assert (statuses["aaa"].state, statuses["zzz"].state) == ("active", "refused")
    assert list(host.catalogue.now.formats) == ["two"]
    (difference,) = statuses["zzz"].differences
    assert (difference.change, difference.message, difference.fix) == (
        "duplicate",
        "'.bib' already belongs to a format of the active plugin 'aaa'",
        "choose another id and other extensions, or switch one of the two plugins off",
    )
