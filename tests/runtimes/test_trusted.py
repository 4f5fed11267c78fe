from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest

from tests.hosts.console import CONTRACT
from yazcore.capabilities.context import Call, Context, current, frame_of
from yazcore.capabilities.errors import Cancelled, CapabilityError, NoContext, ServiceError
from yazcore.contributions import Page, Resource, Tool, ToolError
from yazcore.hookspecs import hookimpl
from yazcore.manifest.model import Manifest
from yazcore.runtimes import trusted
from yazcore.runtimes.base import HandlerFailed, HooksRefused, PluginFailed, PluginSource
from yazcore.runtimes.trusted import TrustedPlugin, TrustedRuntime
from yazcore.runtimes.values import Answer, NotPortable

Start = Callable[..., TrustedPlugin]


class Plain:
    """A plugin without hooks."""


def source(make: Callable[[Context], object] | None, module: str = "nowhere:Nothing") -> PluginSource:
    manifest = Manifest(
        contract=3, id="p", name="P", version="1.2", min_app_version="1", author="A", description="D", module=module
    )
    context = Context(
        plugin="p", version="1.2", settings={}, data_folder=Path("/nowhere"), message=lambda key, **more: key,
        log=logging.getLogger("test"), services={}, publish=lambda data, mime, ttl: "",
    )  # fmt: skip
    return PluginSource(manifest=manifest, folder=Path("/nowhere"), context=context, contract=CONTRACT, make=make)


@pytest.fixture
def start() -> Iterator[Start]:
    running: list[TrustedPlugin] = []

    def begin(handler: Any = None, **registrations: Any) -> TrustedPlugin:
        plugin = TrustedRuntime().start(source(lambda context: Plain()))
        running.append(plugin)
        if handler is not None:
            plugin.hold({("tools", "t"): Tool("t", handler), ("resources", "r"): Resource("r", handler)})
        return plugin

    yield begin
    for plugin in running:
        plugin.close()


def submit(plugin: TrustedPlugin, call: Call | None = None, key: str = "tools", *args: Any) -> Any:
    name = {"tools": "t", "resources": "r"}[key]
    return plugin.submit(key, name, "handler", call or Call(posture="read"), *(args or ({},))).result(20)


def test_a_sync_handler_runs_in_a_thread_of_its_plugin_in_its_frame(start: Start) -> None:
    def handler(context: Any, arguments: dict[str, Any]) -> dict[str, Any]:
        frame = current.get()
        assert frame is not None
        return {"thread": threading.current_thread().name, "plugin": frame.plugin, "where": frame.where}

    structured = submit(start(handler)).structured
    assert structured.pop("thread").startswith("yaz-p-")
    assert structured == {"plugin": "p", "where": "tools t"}


def test_an_async_handler_runs_on_the_plugins_own_loop_and_keeps_its_frame_in_tasks_and_threads(start: Start) -> None:
    async def handler(context: Any, arguments: dict[str, Any]) -> dict[str, Any]:
        seen = [threading.current_thread().name, frame_of("p", "x").where]

        async def task() -> None:
            seen.append(frame_of("p", "x").where)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(task)
        seen.append(await anyio.to_thread.run_sync(lambda: frame_of("p", "x").where))
        seen.append(await context.run_in_thread(lambda: frame_of("p", "x").where))
        return {"seen": seen}

    assert submit(start(handler)).structured == {"seen": ["yaz-p-loop", "tools t", "tools t", "tools t", "tools t"]}


def test_a_bare_thread_has_no_context(start: Start) -> None:
    def handler(context: Any, arguments: dict[str, Any]) -> dict[str, Any]:
        raised: list[str] = []

        def bare() -> None:
            try:
                frame_of("p", "files")
            except NoContext as error:
                raised.append(str(error))

        thread = threading.Thread(target=bare)
        thread.start()
        thread.join()
        return {"raised": raised}

    assert submit(start(handler)).structured == {
        "raised": [
            (
                "the service 'files' was used outside the plugin's context: call it from a hook, a handler, "
                "or a thread started with context.run_in_thread"
            )
        ]
    }


def test_a_callers_context_variables_do_not_reach_the_plugin(start: Start) -> None:
    async def handler(context: Any, arguments: dict[str, Any]) -> dict[str, Any]:
        return {"leaked": secret.get(None) is not None}

    from contextvars import ContextVar

    secret: ContextVar[str | None] = ContextVar("secret", default=None)
    secret.set("mine")
    assert submit(start(handler)).structured == {"leaked": False}


def test_arguments_are_copies_of_plain_data(start: Start) -> None:
    given = {"items": [1]}

    def handler(context: Any, arguments: dict[str, Any]) -> dict[str, Any]:
        arguments["items"].append(2)
        return arguments

    assert submit(start(handler), None, "tools", given).structured == {"items": [1, 2]}
    assert given == {"items": [1]}


def test_a_page_is_an_answer_and_other_kinds_give_plain_values(start: Start) -> None:
    assert submit(start(lambda context, arguments: Page([1]))) == Answer(structured={"items": [1], "nextCursor": None})
    assert submit(start(lambda context, variables: b"bytes"), None, "resources") == b"bytes"


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize(
    ("raised", "seen", "text"),
    [
        (ToolError("say this"), ToolError, "say this"),
        (CapabilityError("p", "net", "not-granted"), CapabilityError, "p: the user has not granted 'net'"),
        (ServiceError("file-not-found", "a.typ is not there"), ServiceError, "a.typ is not there"),
        (Cancelled("over"), Cancelled, "over"),
        (ValueError("secret"), HandlerFailed, "p 1.2: tools t raised ValueError: secret"),
        (SystemExit(3), HandlerFailed, "p 1.2: tools t raised SystemExit: 3"),
    ],
)
def test_what_a_handler_raises_reaches_the_host_as_data(
    start: Start, is_async: bool, raised: BaseException, seen: type[Exception], text: str
) -> None:
    def handler(context: Any, arguments: dict[str, Any]) -> None:
        raise raised

    async def async_handler(context: Any, arguments: dict[str, Any]) -> None:
        raise raised

    plugin = start(async_handler if is_async else handler)
    with pytest.raises(seen) as caught:
        submit(plugin)
    assert type(caught.value) is seen
    assert str(caught.value) == text
    # the loop and the threads live on
    plugin.hold({("tools", "t"): Tool("t", lambda context, arguments: {"ok": True})})
    assert submit(plugin).structured == {"ok": True}


def test_a_tool_error_of_the_plugins_own_making_does_not_travel(start: Start) -> None:
    class Mine(ToolError):
        pass

    def handler(context: Any, arguments: dict[str, Any]) -> None:
        raise Mine("text")

    with pytest.raises(ToolError) as caught:
        submit(start(handler))
    assert type(caught.value) is ToolError


def test_a_result_that_is_no_plain_data_is_refused(start: Start) -> None:
    with pytest.raises(NotPortable, match="/x is a object"):
        submit(start(lambda context, arguments: {"x": object()}))


def test_cancelling_an_async_call_cancels_its_handler(start: Start) -> None:
    begun, ended = threading.Event(), threading.Event()

    async def handler(context: Any, arguments: dict[str, Any]) -> None:
        begun.set()
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()

    future = start(handler).submit("tools", "t", "handler", Call(posture="read"), {})
    assert begun.wait(10)
    future.cancel()
    assert ended.wait(10)


def test_a_sync_handler_learns_that_nobody_waits(start: Start) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def handler(context: Any, arguments: dict[str, Any]) -> dict[str, Any]:
        begun.set()
        go_on.wait(10)
        context.progress(1)
        return {}

    call = Call(posture="read")
    future = start(handler).submit("tools", "t", "handler", call, {})
    assert begun.wait(10)
    call.cancelled.set()
    go_on.set()
    with pytest.raises(Cancelled):
        future.result(10)


def test_forty_hung_sync_handlers_leave_another_plugin_working(start: Start) -> None:
    release = threading.Event()
    hung = start(lambda context, arguments: {"done": release.wait(30)})
    waiting = [hung.submit("tools", "t", "handler", Call(posture="read"), {}) for _ in range(40)]
    assert submit(start(lambda context, arguments: {"ok": True})).structured == {"ok": True}
    release.set()
    assert all(one.result(20).structured == {"done": True} for one in waiting)


def test_a_constructor_that_raises_is_a_failure_with_plugin_and_version() -> None:
    def make(context: Context) -> object:
        raise RuntimeError("broken")

    with pytest.raises(PluginFailed) as failed:
        TrustedRuntime().start(source(make))
    assert str(failed.value) == "p 1.2: import or constructor raised RuntimeError: broken"


def test_an_import_that_fails_is_a_failure() -> None:
    with pytest.raises(PluginFailed) as failed:
        TrustedRuntime().start(source(None, "no_such_package_here.plugin:P"))
    assert str(failed.value) == (
        "p 1.2: import or constructor raised ModuleNotFoundError: No module named 'no_such_package_here'"
    )


def test_a_constructor_that_hangs_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    release = threading.Event()
    monkeypatch.setattr(trusted, "STARTING_SECONDS", 0.05)
    with pytest.raises(PluginFailed) as failed:
        TrustedRuntime().start(source(lambda context: release.wait(30)))
    release.set()
    assert str(failed.value) == "p 1.2: starting it took longer than 0.05 seconds"


def test_hooks_of_a_form_that_is_not_allowed_are_refused_all_at_once() -> None:
    class Plugin:
        @hookimpl
        async def provide_tools(self) -> list[Any]:
            return []

        @hookimpl
        def provide_tool(self) -> list[Any]:
            return []

    with pytest.raises(HooksRefused) as refused:
        TrustedRuntime().start(source(lambda context: Plugin()))
    assert [fault.code for fault in refused.value.faults] == ["hook-unknown", "hook-async"]


def test_onload_that_raises_is_a_failure_and_runs_as_write() -> None:
    postures: list[str] = []

    class Plugin:
        @hookimpl
        def onload(self) -> None:
            frame = current.get()
            assert frame is not None
            postures.append(frame.posture)
            raise OSError("no disk")

    plugin = TrustedRuntime().start(source(lambda context: Plugin()))
    with pytest.raises(PluginFailed, match=r"p 1\.2: onload raised OSError: no disk"):
        plugin.run_hook("onload", 5)
    assert postures == ["write"]
    plugin.close()


def test_progress_reaches_the_caller(start: Start) -> None:
    reports: list[Any] = []

    def handler(context: Any, arguments: dict[str, Any]) -> dict[str, Any]:
        context.progress(1, 2, "half")
        return {}

    submit(start(handler), Call(posture="read", report=lambda *report: reports.append(report)))
    assert reports == [(1, 2, "half")]
