"""What an embedding application holds: plugins granted, switched, taken out; commands run; nothing left behind."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.hosts.console import console
from tests.hosts.running import HEAD, call, outcomes, running
from tests.manifest.installed import distribution
from tests.plugins_in_test import manifest, plugin_folder, tool
from yazcore import OWNER, FileRequest, Host, Outcome, YazError
from yazcore import host as host_module
from yazcore.capabilities.context import Call
from yazcore.capabilities.grants import RuntimeName
from yazcore.granting import revoke
from yazcore.home import Home

NOTES = f"""{HEAD}
class Plugin:
    def __init__(self, context):
        self.context = context

    @hookimpl
    def provide_tools(self):
        return [Tool("look", self.look)]

    def look(self, context, arguments):
        return {{"text": context.files.read_text("a.txt", place="notes")}}
"""
ASKS = [{"kind": "fs-read", "place": "notes"}, {"kind": "net", "hosts": ["example.org"], "optional": True}]


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Path]:
    """A folder on the path, for distributions as pip leaves them."""
    folder = tmp_path / "site"
    folder.mkdir()
    sys.path.insert(0, str(folder))
    yield folder
    sys.path.remove(str(folder))
    for name in [name for name in sys.modules if name.startswith("console_plugin_")]:
        del sys.modules[name]


def install(site: Path, plugin_id: str, code: str = NOTES, **document: Any) -> None:
    package = f"console_plugin_{plugin_id}"
    described = manifest(
        plugin_id,
        **{
            "module": f"{package}.plugin:Plugin",
            "provides": {"tools": [tool("look", permission=f"{plugin_id}:read")]},
            **document,
        },
    )
    files = {
        "__init__.py": "", "plugin.py": code, "manifest.json": json.dumps(described),
        "locales/en-US.ftl": "text = A text\n",
    }  # fmt: skip
    distribution(
        site, plugin_id, name=f"console-plugin-{plugin_id}", version="1.0", package=package,
        entry_points=f"[console.manifest]\n{plugin_id} = {package}:manifest.json\n",
        files={f"{package}/{name}": text for name, text in files.items()},
    )  # fmt: skip


@pytest.fixture
def installed(site: Path, home: Home, tmp_path: Path) -> Iterator[Host]:
    """A console that looks for what is installed: the plugin `notes`, which waits for a grant."""
    install(site, "notes", capabilities=ASKS)
    (tmp_path / "notebook").mkdir()
    (tmp_path / "notebook" / "a.txt").write_text("a note")
    host = console(home, discover=True)
    host.activate()
    yield host
    host.close()


def state(host: Host, plugin_id: str = "notes") -> tuple[str, tuple[str, ...]]:
    (status,) = (one for one in host.plugins() if one.id == plugin_id)
    return status.state, status.reasons


def grant(host: Host, tmp_path: Path, **more: Any) -> None:
    host.grant("notes", **{"trusted": True, "places": {"notes": str(tmp_path / "notebook")}, **more})


# --- granting, switching, taking out


def test_a_plugin_waits_for_a_grant_and_then_acts_under_it(installed: Host, tmp_path: Path) -> None:
    assert state(installed) == ("held", ("it has not been granted",))
    assert "console_plugin_notes" not in sys.modules
    grant(installed, tmp_path)
    assert state(installed) == ("active", ())
    assert call(installed, "notes__look").structured == {"text": "a note"}


@pytest.mark.parametrize(
    ("plugin_id", "more", "code"),
    [
        ("notes", {"places": {}}, "place-unbound"),
        ("other", {}, "unknown-plugin"), ("console", {}, "already-shipped"),
    ],
)  # fmt: skip
def test_a_grant_that_cannot_be_given_changes_nothing(
    installed: Host, tmp_path: Path, plugin_id: str, more: dict[str, Any], code: str
) -> None:
    places = {"notes": str(tmp_path / "notebook")}
    with pytest.raises(YazError) as raised:
        installed.grant(plugin_id, **{"trusted": True, "places": places, **more})
    assert raised.value.code == code
    assert installed.grants.all() == ()
    assert state(installed)[0] == "held"


def test_a_plugin_is_switched_off_and_on_again_with_its_grant(installed: Host, tmp_path: Path) -> None:
    grant(installed, tmp_path)
    installed.switch("notes", False)
    assert state(installed) == ("disabled", ("it is switched off",))
    assert "notes__look" not in installed.catalogue.now.tools
    installed.switch("notes", True)
    assert state(installed) == ("active", ())
    assert call(installed, "notes__look").structured == {"text": "a note"}


def test_a_revoked_capability_leaves_the_plugin_active_and_its_next_operation_refused(
    installed: Host, tmp_path: Path
) -> None:
    grant(installed, tmp_path)
    plugin = installed.catalogue.now.plugins["notes"].manifest
    revoke(installed.grants, plugin, "notes", "fs-read")
    outcome = call(installed, "notes__look")
    assert outcome.text == (
        "notes may not do this: fs-read, not-granted. The user can see what was tried with: yaz denials notes"
    )
    assert state(installed)[0] == "active"
    assert [(one["reason"], one["where"]) for one in installed.denials.of("notes")] == [("not-granted", "tools look")]


def test_a_host_may_ask_what_a_plugin_may_do(installed: Host, tmp_path: Path) -> None:
    wanted = FileRequest(area="notes", path="a.txt")
    assert not installed.granted("notes", wanted)
    grant(installed, tmp_path)
    assert installed.granted("notes", wanted)
    assert not installed.granted("notes", FileRequest(area="notes", path="a.txt", write=True))
    assert not installed.granted("nobody", wanted)
    assert installed.denials.of("notes") == []


def test_a_plugin_runs_in_the_runtime_it_was_granted_for_and_moves_when_the_user_says_so(
    installed: Host, tmp_path: Path
) -> None:
    held_by = {"isolated": r"Landlock \d+, seccomp \(\d+ instructions\), resource limits", "trusted": "none: .*"}
    runtimes: tuple[RuntimeName, ...] = ("isolated", "trusted", "isolated")
    for runtime in runtimes:
        grant(installed, tmp_path, trusted=runtime == "trusted")
        assert state(installed) == ("active", ())
        (status,) = (one for one in installed.plugins() if one.id == "notes")
        assert status.runtime == runtime
        assert re.fullmatch(held_by[runtime], status.confinement)
        assert call(installed, "notes__look").structured == {"text": "a note"}


def test_formats_are_for_plugins_that_ship_with_a_host(installed: Host, site: Path) -> None:
    provides = {"formats": [{"id": "bib", "nameKey": "text", "extensions": [".bib"]}]}
    install(site, "fmt", provides=provides)
    installed.grant("fmt", trusted=True)
    (status,) = (one for one in installed.plugins() if one.id == "fmt")
    assert (status.state, [one.code for one in status.violations]) == ("refused", ["format-not-open"])


def test_activating_again_starts_what_is_new_and_leaves_what_runs(installed: Host, tmp_path: Path, site: Path) -> None:
    grant(installed, tmp_path)
    before = installed.catalogue.now.plugins["notes"].running
    install(site, "more", "raise RuntimeError\n")
    installed.activate()
    assert installed.catalogue.now.plugins["notes"].running is before
    assert state(installed, "more") == ("held", ("it has not been granted",))


def test_broken_settings_are_the_users_to_mend(installed: Host, tmp_path: Path) -> None:
    installed.home.path("settings.toml").write_text("[plugins\n")
    with pytest.raises(YazError, match=r"settings\.toml is not valid TOML"):
        grant(installed, tmp_path)


# --- taking out while calls run

RUNS = """
begun, release = threading.Event(), threading.Event()
told = []

class Plugin:
    def __init__(self, context):
        self.context = context

    @hookimpl
    def provide_tools(self):
        return [Tool("slow", self.slow), Tool("blocking", self.blocking), Tool("hangs", self.hangs)]

    @hookimpl
    def onunload(self):
        told.append("unloaded")
        if self.context.settings["sad"]:
            raise ValueError("not yet")

    async def slow(self, context, arguments):
        begun.set()
        await asyncio.to_thread(release.wait, 20)
        told.append("answered")
        return {"done": True}

    def blocking(self, context, arguments):
        begun.set()
        release.wait(20)
        told.append("answered")
        return {"done": True}

    async def hangs(self, context, arguments):
        begun.set()
        await asyncio.Event().wait()
"""


@pytest.fixture
def runs(tmp_path: Path, home: Home) -> Iterator[tuple[Host, Any]]:
    """A host whose plugin has calls that take as long as a test wants."""
    provides = {
        "tools": [tool("slow"), tool("blocking"), tool("hangs", deadlineSeconds=1)],
        "settings": [{"key": "sad", "type": "boolean", "default": False, "descriptionKey": "text"}],
    }
    with running(tmp_path, home, RUNS, provides=provides) as host:
        module = sys.modules[host.catalogue.now.plugins["demo"].manifest.module.partition(":")[0]]
        yield host, module
        module.release.set()


def taken_out_during(host: Host, module: Any, name: str, then: Any = lambda: None) -> Outcome:
    """Begin a call, take its plugin out while it runs, and do something once the plugin's names have left."""
    gone = threading.Event()
    host.catalogue.on_change(gone.set)

    async def both() -> Outcome:
        running = asyncio.create_task(host.gate.call_tool(OWNER, name, {}))
        assert await asyncio.to_thread(module.begun.wait, 10)
        leaving = asyncio.create_task(asyncio.to_thread(host.deactivate, "demo"))
        assert await asyncio.to_thread(gone.wait, 10)
        then()
        outcome = await running
        await leaving
        return outcome

    return asyncio.run(both())


@pytest.mark.parametrize("name", ["slow", "blocking"])
def test_a_running_call_ends_before_its_plugin_unloads(runs: tuple[Host, Any], name: str) -> None:
    host, module = runs

    def once_gone() -> None:
        assert "demo" not in host.catalogue.now.plugins
        assert module.told == []
        module.release.set()

    outcome = taken_out_during(host, module, f"demo__{name}", once_gone)
    assert outcome.structured == {"done": True}
    assert module.told == ["answered", "unloaded"]
    assert state(host, "demo") == ("disabled", ())


def test_a_call_that_does_not_end_is_cut_at_its_deadline_and_then_the_plugin_unloads(runs: tuple[Host, Any]) -> None:
    host, module = runs
    outcome = taken_out_during(host, module, "demo__hangs")
    assert "did not answer within 1 seconds" in outcome.text
    assert outcomes(host) == ["overdue"]
    assert module.told == ["unloaded"]


def test_a_plugin_that_leaves_takes_no_more_calls(runs: tuple[Host, Any]) -> None:
    host, module = runs
    leaving = host.catalogue.now.plugins["demo"].running
    leaving.settle()
    with pytest.raises(RuntimeError, match="demo was taken out"):
        leaving.submit("tools", "blocking", "handler", Call(posture="read"), {})
    assert call(host, "demo__blocking").text.startswith("demo was switched off just now. Nothing was done")
    assert not module.begun.is_set()


def test_a_plugin_that_fails_while_it_unloads_is_out_all_the_same(tmp_path: Path, home: Home) -> None:
    home.path().mkdir(parents=True, exist_ok=True)
    home.path("settings.toml").write_text("[plugins.demo]\nsad = true\n")
    provides = {
        "tools": [tool("slow"), tool("blocking"), tool("hangs")],
        "settings": [{"key": "sad", "type": "boolean", "default": False, "descriptionKey": "text"}],
    }
    with running(tmp_path, home, RUNS, provides=provides) as host:
        host.deactivate("demo", "disabled", "it is switched off")
        reasons = ("it is switched off", "demo 1.0: onunload raised ValueError: not yet")
        assert state(host, "demo") == ("disabled", reasons)
        assert "demo" not in host.catalogue.now.plugins


def test_what_a_hook_raised_before_is_not_blamed_on_unloading(
    tmp_path: Path, home: Home, runtime: RuntimeName
) -> None:
    code = """
class Plugin:
    def __init__(self, context):
        pass

    @hookimpl
    def decorate(self, cluster, width):
        raise ValueError(cluster)

    @hookimpl
    def onunload(self):
        pass
"""
    with running(tmp_path, home, code, runtime=runtime) as host:
        assert host.hook.decorate(cluster="one", width=3) == []
        host.deactivate("demo")
        assert state(host, "demo") == ("disabled", ())


def test_taking_out_what_is_not_active_changes_nothing(runs: tuple[Host, Any]) -> None:
    host, _ = runs
    before = host.plugins()
    host.deactivate("nobody")
    assert host.plugins() == before


def test_closing_takes_the_hosts_own_plugin_out_last_and_leaves_no_thread(tmp_path: Path, home: Home) -> None:
    provides = {
        "tools": [tool("slow"), tool("blocking"), tool("hangs", deadlineSeconds=1)],
        "settings": [{"key": "sad", "type": "boolean", "default": False, "descriptionKey": "text"}],
    }
    before = set(threading.enumerate())  # a hung plugin of another test may still be there
    with running(tmp_path, home, RUNS, provides=provides) as host:
        call(host, "demo__hangs")
        seen: list[set[str]] = []
        host.catalogue.on_change(lambda: seen.append(set(host.catalogue.now.plugins)))
        ours = [one for one in set(threading.enumerate()) - before if one.name.startswith(("yaz-demo", "yaz-console"))]
        assert ours
        host.close()
        assert seen == [{"console"}, set()]
        for thread in ours:
            thread.join(10)
        assert not any(thread.is_alive() for thread in ours)


def test_closing_does_not_wait_for_deadlines(runs: tuple[Host, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_module, "CLOSE_SECONDS", 0.1)
    host, module = runs
    running = host.catalogue.now.plugins["demo"].running
    waiting = Call(posture="read", deadline=time.monotonic() + 600)
    future = running.submit("tools", "hangs", "handler", waiting, {})
    assert module.begun.wait(10)
    host.close()
    assert waiting.cancelled.is_set()
    assert future.cancelled()
    assert module.told == ["unloaded"]


def test_a_host_changes_nothing_of_the_process_it_lives_in(tmp_path: Path, home: Home) -> None:
    def surroundings() -> tuple[Any, ...]:
        root = logging.getLogger()
        return (
            tuple(root.handlers), root.level, sys.excepthook, threading.excepthook, sys.unraisablehook,
            tuple(signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)),
        )  # fmt: skip

    before = surroundings()
    with running(tmp_path, home, NOTES.removeprefix(HEAD), provides={"tools": [tool("look")]}) as host:
        call(host, "demo__look")
        assert surroundings() == before
    assert surroundings() == before


# --- commands and single handlers

COMMANDS = """
ended = {"blocks": threading.Event(), "waits": threading.Event()}

class Plugin:
    def __init__(self, context):
        self.context = context

    @hookimpl
    def addCommand(self):
        return [Command(name, getattr(self, name)) for name in NAMES]

    def echo(self, context, arguments):
        return " ".join([context.caller.name, *arguments])

    def silent(self, context, arguments):
        return None

    async def counts(self, context, arguments):
        return f"{len(arguments)} of {context.caller.may('demo:read', 'global')}"

    def says(self, context, arguments):
        raise ToolError("give it a word")

    def refused(self, context, arguments):
        context.files.read_text("a.txt", place="notes")

    def changed(self, context, arguments):
        raise ServiceError("files-changed", "the files changed while they were copied")

    def stops(self, context, arguments):
        raise Cancelled("enough")

    def raises(self, context, arguments):
        raise ValueError("a fault")

    def odd(self, context, arguments):
        return object()

    def outside(self, context, arguments):
        raise NoContext("files")

    def blocks(self, context, arguments):
        while not context.call.cancelled.is_set():
            threading.Event().wait(0.01)
        ended["blocks"].set()

    async def waits(self, context, arguments):
        try:
            await asyncio.Event().wait()
        finally:
            ended["waits"].set()

    def posture(self, context, arguments):
        return f"{context.call.posture} until {context.deadline > 500}"
"""
NAMES = (
    "echo", "silent", "counts", "says", "refused", "changed", "stops", "raises", "odd", "outside", "posture", "blocks",
    "waits",
)  # fmt: skip


@pytest.fixture(scope="module")
def commands(tmp_path_factory: pytest.TempPathFactory, runtime: RuntimeName) -> Iterator[Host]:
    folder = tmp_path_factory.mktemp("commands")
    provides = {"commands": [{"id": name, "nameKey": "text"} for name in NAMES]}
    code = COMMANDS.replace("NAMES", repr(NAMES))
    with running(folder, Home(folder / "home"), code, runtime=runtime, provides=provides) as host:
        yield host


@pytest.mark.parametrize(
    ("name", "arguments", "text"),
    [
        ("echo", ["a", "b"], "owner a b"), ("silent", [], None), ("counts", ["a", "b", "c"], "3 of True"),
        ("posture", [], "write until True"),
    ],
)  # fmt: skip
def test_a_command_gives_its_text_and_may_write(
    commands: Host, name: str, arguments: list[str], text: str | None
) -> None:
    assert commands.run_command("demo", name, arguments) == text


@pytest.mark.parametrize(
    ("name", "arguments", "code", "message"),
    [
        ("says", [], "command-failed", "give it a word"),
        ("refused", [], "command-refused",
         "demo may not do this: fs-read, not-declared. The user can see what was tried with: yaz denials demo"),
        ("changed", [], "command-failed", "the files changed while they were copied"),
        ("stops", [], "command-failed", "stops was stopped"),
        ("echo", ["\udcff"], "command-arguments",
         "the arguments cannot be passed on: /0 holds half of a surrogate pair"),
        ("nothing", [], "not-active", "demo has no 'nothing' among its commands"),
    ],
)  # fmt: skip
def test_a_command_that_fails_says_why(
    commands: Host, name: str, arguments: list[str], code: str, message: str
) -> None:
    with pytest.raises(YazError) as raised:
        commands.run_command("demo", name, arguments)
    assert (raised.value.code, raised.value.message) == (code, message)


@pytest.mark.parametrize(
    ("name", "kind"), [("raises", "ValueError"), ("odd", "NotPortable"), ("outside", "NoContext")]
)
def test_a_command_that_crashes_leaves_a_reference(commands: Host, name: str, kind: str) -> None:
    with pytest.raises(YazError, match=f"{name} failed inside demo") as raised:
        commands.run_command("demo", name, [])
    reference = raised.value.fix.removeprefix("yaz log ").removesuffix(" says why")
    crash = commands.audit.crash_of(reference)
    assert crash is not None
    assert (crash["plugin"], crash["version"], crash["where"], crash["type"]) == (
        "demo", "1.0", f"commands {name}", kind
    )  # fmt: skip


@pytest.mark.parametrize("runtime", ["trusted"], indirect=True)
@pytest.mark.parametrize("name", ["blocks", "waits"])
def test_a_command_that_does_not_end_is_told_so_and_given_up(
    commands: Host, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(host_module, "COMMAND_SECONDS", 0.2)
    with pytest.raises(YazError) as raised:
        commands.run_command("demo", name, [])
    assert (raised.value.code, raised.value.message) == ("command-overdue", f"{name} did not end in 0 seconds")
    module = sys.modules[commands.catalogue.now.plugins["demo"].manifest.module.partition(":")[0]]
    assert module.ended[name].wait(10)


def test_what_is_not_active_is_not_called(commands: Host) -> None:
    with pytest.raises(YazError, match="nobody is not active") as raised:
        commands.call("panels", "nobody", "load", "handler", call=Call(posture="read"))
    assert (raised.value.code, raised.value.fix) == ("not-active", "yaz show nobody says why, if it is installed")


def test_outside_a_call_nobody_asks_and_nothing_is_told_of_permissions(commands: Host) -> None:
    assert commands.permissions_document() == {
        "principal": "nobody", "owner": False, "permissions": [], "tools": None, "readOnly": False
    }  # fmt: skip


def test_a_plugin_whose_data_folder_holds_too_much_does_not_start(tmp_path: Path, home: Home) -> None:
    code = "class Plugin:\n    def __init__(self, context): ...\n"
    with plugin_folder(tmp_path, manifest(), code) as folder:
        with (home.plugin_data("demo") / "hole").open("wb") as file:
            file.truncate(5 * 2**30)
        host = console(home, {}, (folder,))
        try:
            (status,) = (one for one in host.activate() if one.id == "demo")
            assert status.state == "failed"
            (reason,) = status.reasons
            assert reason == (
                f"its data folder holds {5 * 2**30} bytes, more than the {4 * 2**30} it may hold: "
                "delete what is not needed there"
            )
        finally:
            host.close()
