"""What a plugin may rely on wherever its code runs."""

from __future__ import annotations

import logging
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from tests.runtimes.plugins import Project, Workbench, ask, said
from yazcore.capabilities.context import Call
from yazcore.capabilities.errors import Cancelled, CapabilityError, NoContext, ServiceError
from yazcore.contributions import Link, ToolError
from yazcore.kinds import FileRequest
from yazcore.parts import Embedded, Image
from yazcore.permissions import Principal
from yazcore.results import RESULT_PREFIX
from yazcore.runtimes.base import HandlerFailed, HooksRefused, PluginFailed
from yazcore.runtimes.values import Answer, NotPortable, TooLarge

PROJECT = [{"kind": "fs-project", "access": "write"}]


OUTSIDE = (
    "the service 'files' was used outside the plugin's context: call it from a hook, a handler, "
    "or a thread started with context.run_in_thread"
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "thesis"
    folder.mkdir()
    return folder


def test_a_frame_is_around_sync_and_async_handlers_their_tasks_and_their_threads(bench: Workbench) -> None:
    plugin = bench.start("""
class Plugin(Base):
    def t_sync(self, context, arguments):
        return {"where": current.get().where, "plugin": current.get().plugin}

    async def t_async(self, context, arguments):
        seen = [frame_of("demo", "x").where]
        async def task():
            seen.append(frame_of("demo", "x").where)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(task)
        seen.append(await anyio.to_thread.run_sync(lambda: frame_of("demo", "x").where))
        seen.append(await context.run_in_thread(lambda: frame_of("demo", "x").where))
        return {"seen": seen}
""")
    assert said(plugin, "t_sync") == {"where": "tools t_sync", "plugin": "demo"}
    assert said(plugin, "t_async") == {"seen": ["tools t_async"] * 4}


def test_a_bare_thread_has_no_context_and_no_service(bench: Workbench) -> None:
    plugin = bench.start("""
class Plugin(Base):
    def t_bare(self, context, arguments):
        raised = []
        def bare():
            try:
                context.files.read_text("a.txt")
            except NoContext as error:
                raised.append(str(error))
        thread = threading.Thread(target=bare)
        thread.start()
        thread.join()
        return {"raised": raised}
""")
    assert said(plugin, "t_bare") == {"raised": [OUTSIDE]}


def test_what_a_handler_keeps_in_a_variable_is_not_found_by_the_next(bench: Workbench) -> None:
    plugin = bench.start("""
from contextvars import ContextVar
kept = ContextVar("kept", default=0)

class Plugin(Base):
    def t_sync(self, context, arguments):
        kept.set(kept.get() + 1)
        return {"kept": kept.get()}

    async def t_async(self, context, arguments):
        kept.set(kept.get() + 1)
        return {"kept": kept.get()}
""")
    assert [said(plugin, name) for name in ("t_sync", "t_sync", "t_async", "t_async")] == [{"kept": 1}] * 4


def test_a_call_says_for_whom_and_where_it_is(bench: Workbench, tmp_path: Path) -> None:
    plugin = bench.start("""
class Plugin(Base):
    def t_about(self, context, arguments):
        return {
            "caller": context.caller.name, "may": [context.caller.may(one, "project") for one in ("a:b", "a:c")],
            "project": context.project, "scope": context.scope_id, "posture": context.call.posture,
            "left": 0 < context.deadline <= 30, "client": context.client, "settings": dict(context.settings),
            "plugin": [context.plugin, context.version],
        }

    def t_nobody(self, context, arguments):
        return {"caller": context.caller, "project": context.project, "scope": context.scope_id,
                "forever": context.deadline == float("inf")}
""")
    call = Call(
        posture="write", principal=Principal(name="anna"), scope="project", scope_id="prj_testtesttest",
        project=Project(root=tmp_path), deadline=time.monotonic() + 30, allows=lambda action, scope: action == "a:b",
    )  # fmt: skip
    assert said(plugin, "t_about", None, call) == {
        "caller": "anna", "may": [True, False], "project": {"id": "prj_testtesttest", "name": "thesis"},
        "scope": "prj_testtesttest", "posture": "write", "left": True, "client": None, "settings": {},
        "plugin": ["demo", "1.2"],
    }  # fmt: skip
    assert said(plugin, "t_nobody") == {"caller": None, "project": None, "scope": None, "forever": True}


def test_arguments_are_copies_and_results_plain_data(bench: Workbench) -> None:
    plugin = bench.start("""
class Plugin(Base):
    def t_append(self, context, arguments):
        arguments["items"].append((2, 3))
        return arguments
""")
    given = {"items": [1]}
    assert said(plugin, "t_append", given) == {"items": [1, [2, 3]]}
    assert given == {"items": [1]}


def test_every_form_of_a_result_arrives(bench: Workbench) -> None:
    plugin = bench.start("""
class Plugin(Base):
    def t_page(self, context, arguments):
        return Page([1], "next")

    def t_text(self, context, arguments):
        return "done"

    def t_all(self, context, arguments):
        return Result({"a": 1}, "one a", [Link("yaz://x/1", "one", None, "the first")],
                      [Image(b"\\x89PNG", "image/png"), Embedded("yaz://x/2", "text")])

    @hookimpl
    def provide_resources(self):
        return [Resource("yaz://demo/bytes", lambda context, variables: b"\\0" * (3 << 20), self.complete),
                Resource("yaz://demo/json", lambda context, variables: {"a": [1.5, None]})]

    def complete(self, context, variable, prefix):
        return [prefix + variable]

    @hookimpl
    def provide_prompts(self):
        return [Prompt("p", lambda context, arguments: ["say", Message(Image(b"1", "image/png"), "assistant")])]

    @hookimpl
    def addCommand(self):
        return [Command("c", lambda context, arguments: " ".join(arguments))]
""")
    assert ask(plugin, "t_page") == Answer(structured={"items": [1], "nextCursor": "next"})
    assert ask(plugin, "t_text") == Answer(text="done")
    assert ask(plugin, "t_all") == Answer(
        structured={"a": 1}, text="one a", links=(Link("yaz://x/1", "one", None, "the first"),),
        parts=(Image(b"\x89PNG", "image/png"), Embedded("yaz://x/2", "text")),
    )  # fmt: skip

    def got(key: str, name: str, field: str, *args: Any) -> Any:
        return plugin.submit(key, name, field, Call(posture="read"), *args).result(20)

    assert got("resources", "yaz://demo/bytes", "handler", {}) == b"\0" * (3 << 20)
    assert got("resources", "yaz://demo/json", "handler", {}) == {"a": [1.5, None]}
    assert got("resources", "yaz://demo/bytes", "complete", "key", "a") == ["akey"]
    messages = got("prompts", "p", "handler", {}).messages
    assert [(one.role, one.content) for one in messages] == [("user", "say"), ("assistant", Image(b"1", "image/png"))]
    assert got("commands", "c", "handler", ["a", "b"]) == "a b"


@pytest.mark.parametrize("form", ["sync", "async"])
@pytest.mark.parametrize(
    ("name", "seen", "text"),
    [
        ("tool", ToolError, "say this"),
        ("own", ToolError, "mine"),
        ("capability", CapabilityError, "demo: the user has not granted 'net'"),
        ("service", ServiceError, "a.typ is not there"),
        ("cancelled", Cancelled, "over"),
        ("nowhere", NoContext, OUTSIDE),
        ("value", HandlerFailed, "demo 1.2: tools t_value_FORM raised ValueError: secret"),
        ("exit", HandlerFailed, "demo 1.2: tools t_exit_FORM raised SystemExit: 3"),
        ("interrupt", HandlerFailed, "demo 1.2: tools t_interrupt_FORM raised KeyboardInterrupt: "),
        ("half", HandlerFailed, "demo 1.2: tools t_half_FORM raised ValueError: \\udc80"),
    ],
)  # fmt: skip
def test_what_a_handler_raises_reaches_the_host_as_data(
    bench: Workbench, form: str, name: str, seen: type[Exception], text: str
) -> None:
    plugin = bench.start(RAISING)
    with pytest.raises(seen) as caught:
        ask(plugin, f"t_{name}_{form}")
    assert type(caught.value) is seen
    assert str(caught.value) == text.replace("FORM", form)
    if isinstance(caught.value, CapabilityError):
        assert (caught.value.kind, caught.value.reason, caught.value.target) == ("net", "not-granted", "example.org")
    if isinstance(caught.value, ServiceError):
        assert caught.value.code == "file-not-found"
    # the loop and the threads live on
    assert said(plugin, f"t_fine_{form}") == {"ok": True}


RAISING = """
class Mine(ToolError):
    pass

RAISED = {
    "tool": ToolError("say this"), "own": Mine("mine"),
    "capability": CapabilityError("demo", "net", "not-granted", "example.org"),
    "service": ServiceError("file-not-found", "a.typ is not there"), "cancelled": Cancelled("over"),
    "nowhere": NoContext("files"), "value": ValueError("secret"), "exit": SystemExit(3),
    "interrupt": KeyboardInterrupt(), "half": ValueError("\\udc80"),
}

def sync(error):
    def handler(context, arguments):
        raise error
    return handler

def later(error):
    async def handler(context, arguments):
        raise error
    return handler

async def fine(context, arguments):
    return {"ok": True}

class Plugin(Base):
    @hookimpl
    def provide_tools(self):
        return [
            *(Tool(f"t_{name}_sync", sync(error)) for name, error in RAISED.items()),
            *(Tool(f"t_{name}_async", later(error)) for name, error in RAISED.items()),
            Tool("t_fine_sync", lambda context, arguments: {"ok": True}), Tool("t_fine_async", fine),
        ]
"""


@pytest.mark.parametrize(
    ("name", "kind", "text"),
    [
        ("object", NotPortable, "/x is a object; only plain data may leave a plugin"),
        ("none", NotPortable, "the result is a NoneType; return a dict, a Page, a Result or a text"),
        ("nan", NotPortable, "/x is nan, which JSON does not have"),
        ("large", TooLarge, "/x is larger than 2097152 bytes: page it, or publish it"),
        ("deep", NotPortable, "/x" + "/0" * 63 + " is nested deeper than 64"),
    ],
)
def test_a_result_that_cannot_travel_is_refused(bench: Workbench, name: str, kind: type[Exception], text: str) -> None:
    plugin = bench.start("""
def deep():
    value = 1
    for _ in range(100):
        value = [value]
    return value

class Plugin(Base):
    def t_give(self, context, arguments):
        return {"object": {"x": object()}, "none": None, "nan": {"x": float("nan")}, "large": {"x": "y" * (2 << 20)},
                "deep": {"x": deep()}}[arguments["what"]]
""")
    with pytest.raises(NotPortable) as refused:
        ask(plugin, "t_give", {"what": name})
    assert (type(refused.value), str(refused.value)) == (kind, text)


def test_arguments_that_cannot_travel_are_refused_before_anything_runs(bench: Workbench) -> None:
    plugin = bench.start("class Plugin(Base):\n    def t_x(self, context, arguments):\n        return {}\n")
    with pytest.raises(NotPortable, match="/x is a object"):
        ask(plugin, "t_x", {"x": object()})
    with pytest.raises(KeyError):
        ask(plugin, "t_none")


# --- services


def test_files_are_read_and_written_through_the_service_alike(bench: Workbench, project: Path) -> None:
    plugin = bench.start(
        """
class Plugin(Base):
    def t_files(self, context, arguments):
        files = context.files
        revision = files.write_text("a.txt", "grün")
        try:
            files.write_text("a.txt", "x", expect="absent")
        except ServiceError as error:
            told = [error.code, error.message]
        return {"text": files.read_text("a.txt"), "is": files.revision("a.txt") == revision, "told": told,
                "list": files.list(), "none": files.stat("b.txt")}

    async def t_later(self, context, arguments):
        await context.aio.files.write_bytes("b.bin", b"\\0\\1")
        return {"size": (await context.aio.files.stat("b.bin"))["size"], "text": context.files.read_text("a.txt")}
""",
        capabilities=PROJECT,
    )
    call = Call(posture="write", project=Project(root=project))
    assert said(plugin, "t_files", None, call) == {
        "text": "grün", "is": True,
        "told": ["files-changed", "a.txt is not as expected: read it again and decide anew"],
        "list": [{"path": "a.txt", "kind": "file", "size": 5}], "none": None,
    }  # fmt: skip
    assert said(plugin, "t_later", None, call) == {"size": 2, "text": "grün"}


def test_files_larger_than_a_message_pass_both_ways(bench: Workbench, project: Path) -> None:
    plugin = bench.start(
        """
class Plugin(Base):
    def t_copy(self, context, arguments):
        data = context.files.read_bytes("large")
        text = context.files.read_text("large", encoding="latin-1")
        context.files.write_bytes("copy", data)
        context.files.write_text("text", text)
        return {"size": len(data)}
""",
        capabilities=PROJECT,
    )
    data = bytes(range(256)) * 20_000
    (project / "large").write_bytes(data)
    assert said(plugin, "t_copy", None, Call(posture="write", project=Project(root=project))) == {"size": len(data)}
    assert (project / "copy").read_bytes() == data
    assert (project / "text").read_text() == data.decode("latin-1").replace("\r\n", "\n").replace("\r", "\n")


def test_a_refusal_says_the_same_and_is_recorded(bench: Workbench, project: Path) -> None:
    plugin = bench.start(
        """
class Plugin(Base):
    def t_try(self, context, arguments):
        raised = []
        for path, more in (("../x", {}), ("a.txt", {"place": "notes"})):
            try:
                context.files.read_text(path, **more)
            except CapabilityError as error:
                raised.append([error.plugin, error.kind, error.reason, error.target, str(error)])
        try:
            context.files.read_text(3)
        except TypeError as error:
            raised.append(str(error))
        try:
            context.files.nothing
        except AttributeError:
            raised.append("no such method")
        try:
            context.files.write_text("a.txt", "x")
        except CapabilityError as error:
            raised.append(error.detail)
        return {"raised": raised}
""",
        capabilities=PROJECT,
    )
    assert said(plugin, "t_try", None, Call(posture="read", project=Project(root=project))) == {
        "raised": [
            ["demo", "fs-project", "out-of-scope", "../x",
             "demo: 'fs-project' is granted, but not for this: " + FileRequest(area="project", path="../x").fault()],
            ["demo", "fs-read", "not-declared", "notes:a.txt", "demo: the manifest declares no capability 'fs-read'"],
            "a path is a str", "no such method", "it runs with posture read, which changes nothing",
        ]
    }  # fmt: skip
    assert [one["reason"] for one in bench.denials.of("demo")] == ["out-of-scope", "not-declared", "out-of-scope"]


def test_the_data_folder_messages_the_log_and_exports(
    bench: Workbench, caplog: pytest.LogCaptureFixture
) -> None:
    plugin = bench.start("""
import sqlite3

class Plugin(Base):
    def t_all(self, context, arguments):
        (context.data_folder / "a.txt").write_text("kept")
        database = sqlite3.connect(context.data_folder / "index.sqlite")
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("CREATE VIRTUAL TABLE words USING fts5 (text)")
        database.execute("INSERT INTO words VALUES ('green leaf')")
        database.commit()
        found = database.execute("SELECT text FROM words WHERE words MATCH 'leaf'").fetchone()[0]
        database.close()
        context.log.warning("%d leaves", 3)
        return {
            "text": (context.data_folder / "a.txt").read_text(), "found": found,
            "message": context.message("how-many", n=3, what="four"), "missing": context.message("nothing"),
            "uri": context.publish(b"\\0" * (5 << 20), "application/pdf", 60),
        }
""")
    with caplog.at_level(logging.WARNING, "yaz.test"):
        told = said(plugin, "t_all", None, Call(posture="read", principal=Principal(name="anna")))
    uri = told.pop("uri")
    assert told == {"text": "kept", "found": "green leaf", "message": "3 of four", "missing": "<nothing>"}
    kept = bench.results.get("anna", uri.removeprefix(RESULT_PREFIX))
    assert kept is not None
    assert kept.data == b"\0" * (5 << 20)
    _wait_until(lambda: "3 leaves" in caplog.text)


def test_files_of_the_data_folder_are_copied_as_python_does(bench: Workbench) -> None:
    plugin = bench.start("""
import shutil, tarfile

class Plugin(Base):
    def t_copy(self, context, arguments):
        folder = context.data_folder / "copies"
        (folder / "a" / "deep").mkdir(parents=True)
        (folder / "a" / "deep" / "file").write_text("x")
        (folder / "a" / "file").write_text("y")
        shutil.copy(folder / "a" / "file", folder / "one")
        shutil.copy2(folder / "a" / "file", folder / "two")
        shutil.copytree(folder / "a", folder / "b")
        shutil.copytree(folder / "a", folder / "c", copy_function=shutil.copy)
        shutil.move(folder / "c", folder / "d")
        with tarfile.open(folder / "x.tar", "w") as archive:
            archive.add(folder / "a", "a")
        with tarfile.open(folder / "x.tar") as archive:
            archive.extraction_filter = getattr(tarfile, "data_filter", None)  # of 3.11, since 3.11.4
            archive.extractall(folder / "e")
        files = {str(one.relative_to(folder)): one.read_text() for one in folder.rglob("*")
                 if one.is_file() and one.suffix != ".tar"}
        try:
            shutil.copy(folder / "none", folder / "three")
        except FileNotFoundError:
            return files
""")
    assert said(plugin, "t_copy") == {
        "a/deep/file": "x", "a/file": "y", "one": "y", "two": "y", "b/deep/file": "x", "b/file": "y",
        "d/deep/file": "x", "d/file": "y", "e/a/deep/file": "x", "e/a/file": "y",
    }  # fmt: skip


# --- cancelling, progress, many at once


def test_cancelling_an_async_call_cancels_its_handler(bench: Workbench) -> None:
    plugin = bench.start("""
class Plugin(Base):
    async def t_wait(self, context, arguments):
        (context.data_folder / "begun").touch()
        try:
            await asyncio.sleep(60)
        finally:
            (context.data_folder / "ended").touch()
""")
    future = plugin.submit("tools", "t_wait", "handler", Call(posture="read"), {})
    data = bench.home.plugin_data("demo")
    _wait_until((data / "begun").exists)
    future.cancel()
    _wait_until((data / "ended").exists)


def test_a_sync_handler_learns_that_nobody_waits(bench: Workbench) -> None:
    plugin = bench.start("""
class Plugin(Base):
    def t_wait(self, context, arguments):
        (context.data_folder / "begun").touch()
        while True:
            context.progress(1)
            time.sleep(0.01)
""")
    call = Call(posture="read")
    future = plugin.submit("tools", "t_wait", "handler", call, {})
    _wait_until((bench.home.plugin_data("demo") / "begun").exists)
    call.cancelled.set()
    with pytest.raises(Cancelled, match="the call was cancelled"):
        future.result(20)


def test_progress_reaches_the_caller_before_the_result(bench: Workbench) -> None:
    plugin = bench.start("""
class Plugin(Base):
    def t_count(self, context, arguments):
        context.progress(1, 2, "half")
        context.progress(2, 2, "all")
        return {}

    async def t_later(self, context, arguments):
        context.progress(0.5)
        return {}
""")
    reports: list[Any] = []
    said(plugin, "t_count", None, Call(posture="read", report=lambda *report: reports.append(report)))
    said(plugin, "t_later", None, Call(posture="read", report=lambda *report: reports.append(report)))
    assert reports == [(1, 2, "half"), (2, 2, "all"), (0.5, None, "")]


def test_hung_handlers_of_one_plugin_leave_others_and_its_async_ones_working(bench: Workbench) -> None:
    code = """
class Plugin(Base):
    def t_hang(self, context, arguments):
        while not (context.data_folder / "release").exists():
            time.sleep(0.02)
        return {"done": True}

    async def t_later(self, context, arguments):
        return {"ok": True}

    def t_sync(self, context, arguments):
        return {"ok": True}
"""
    hung, other = bench.start(code), bench.start(code)
    waiting = [hung.submit("tools", "t_hang", "handler", Call(posture="read"), {}) for _ in range(40)]
    assert said(other, "t_sync") == {"ok": True}
    assert said(hung, "t_later") == {"ok": True}
    (bench.home.plugin_data("demo") / "release").touch()
    assert all(one.result(20).structured == {"done": True} for one in waiting)


def test_calls_run_at_the_same_time(bench: Workbench) -> None:
    plugin = bench.start("""
barrier = threading.Barrier(8)
arrived = []

class Plugin(Base):
    def t_sync(self, context, arguments):
        barrier.wait(20)
        return {}

    async def t_later(self, context, arguments):
        arrived.append(1)
        while len(arrived) < 20:
            await asyncio.sleep(0.01)
        return {}
""")
    for name, count in (("t_sync", 8), ("t_later", 20)):
        futures = [plugin.submit("tools", name, "handler", Call(posture="read"), {}) for _ in range(count)]
        assert [future.result(20).structured for future in futures] == [{}] * count


# --- the start, and hooks


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("class Plugin:\n    def __init__(self, context):\n        raise RuntimeError('broken')",
         "demo 1.2: import or constructor raised RuntimeError: broken"),
        ("import no_such_module_anywhere",
         "demo 1.2: import or constructor raised ModuleNotFoundError: No module named 'no_such_module_anywhere'"),
        ("raise SystemExit(4)", "demo 1.2: import or constructor raised SystemExit: 4"),
    ],
)  # fmt: skip
def test_a_plugin_that_cannot_be_made_is_a_failure_with_plugin_and_version(
    bench: Workbench, code: str, message: str
) -> None:
    with pytest.raises(PluginFailed) as failed:
        bench.start(code)
    assert str(failed.value) == message
    assert failed.value.failure is not None


def test_a_constructor_may_use_what_needs_no_call(bench: Workbench) -> None:
    plugin = bench.start("""
class Plugin(Base):
    def __init__(self, context):
        super().__init__(context)
        self.text = context.message("text")
        try:
            context.files.read_text("a.txt")
        except CapabilityError as error:
            self.reason = error.reason

    def t_told(self, context, arguments):
        return {"text": self.text, "reason": self.reason}
""")
    assert said(plugin, "t_told") == {"text": "A text", "reason": "not-declared"}


def test_hooks_of_a_form_that_is_not_allowed_are_refused_all_at_once(bench: Workbench) -> None:
    with pytest.raises(HooksRefused) as refused:
        bench.start("""
class Plugin:
    def __init__(self, context):
        pass

    @hookimpl
    async def provide_tools(self):
        return []

    @hookimpl
    def provide_tool(self):
        return []

    @hookimpl(wrapper=True)
    def onload(self):
        yield

    @hookimpl
    def decorate(self, cluster, *more, colour):
        pass
""")
    assert [(fault.code, fault.hook) for fault in refused.value.faults] == [
        ("hook-parameters", "decorate"), ("hook-parameters", "decorate"), ("hook-wrapper", "onload"),
        ("hook-unknown", "provide_tool"), ("hook-async", "provide_tools"),
    ]  # fmt: skip


def test_onload_that_raises_is_a_failure_and_runs_as_write(bench: Workbench) -> None:
    plugin = bench.start("""
class Plugin(Base):
    @hookimpl
    def onload(self):
        raise OSError(current.get().posture)
""")
    with pytest.raises(PluginFailed, match=r"^demo 1\.2: onload raised OSError: write$"):
        plugin.run_hook("onload", 5)


def test_only_onload_and_onunload_may_write_of_what_is_no_call(bench: Workbench, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    plugin = bench.start(
        """
def tried(context, where):
    try:
        context.files.write_text(where, "x", place="notes")
        said = "written"
    except CapabilityError as error:
        said = error.reason
    (context.data_folder / f"{where}.said").write_text(f"{current.get().posture} {said}")

class Plugin(Base):
    def __init__(self, context):
        super().__init__(context)
        tried(context, "constructor")

    @hookimpl
    def onload(self):
        tried(self.context, "onload")

    @hookimpl
    def onunload(self):
        tried(self.context, "onunload")

    @hookimpl
    def provide_tools(self):
        tried(self.context, "collecting")
        return []

    @hookimpl
    def decorate(self, cluster, width):
        tried(self.context, "a hook of the application")
""",
        capabilities=[{"kind": "fs-write", "place": "notes"}], places={"notes": str(notes)},
    )  # fmt: skip
    plugin.run_hook("onload", 20)
    (decorate,) = (function for name, function in vars(plugin.facade).items() if name.startswith("decorate"))
    decorate("a", 3)
    plugin.run_hook("onunload", 20)
    said = {path.stem: path.read_text() for path in bench.home.plugin_data("demo").glob("*.said")}
    assert said == {
        "constructor": "read out-of-scope", "collecting": "read out-of-scope",
        "a hook of the application": "read out-of-scope", "onload": "write written", "onunload": "write written",
    }  # fmt: skip
    assert sorted(path.name for path in notes.iterdir()) == ["onload", "onunload"]


def test_the_import_of_a_plugin_runs_as_read(bench: Workbench) -> None:
    plugin = bench.start("""
posture = current.get().posture

class Plugin(Base):
    def t_posture(self, context, arguments):
        return {"posture": posture}
""")
    assert said(plugin, "t_posture") == {"posture": "read"}


def test_a_collecting_hook_that_raises_is_a_failure(bench: Workbench) -> None:
    with pytest.raises(PluginFailed, match=r"^demo 1\.2: provide_tools raised ValueError: not today$") as failed:
        bench.start("""
class Plugin:
    def __init__(self, context):
        pass

    @hookimpl
    def provide_tools(self):
        raise ValueError("not today")
""")
    assert failed.value.failure is not None
    assert "not today" in failed.value.failure.trace


def test_a_closed_plugin_takes_no_calls(bench: Workbench) -> None:
    plugin = bench.start("class Plugin(Base):\n    def t_x(self, context, arguments):\n        return {}\n")
    plugin.settle()
    plugin.close()
    with pytest.raises(RuntimeError, match="demo was taken out"):
        ask(plugin, "t_x")


def test_settling_waits_for_calls_until_their_deadline_and_cuts_the_rest(bench: Workbench) -> None:
    plugin = bench.start("""
class Plugin(Base):
    async def t_short(self, context, arguments):
        (context.data_folder / "begun").touch()
        await asyncio.sleep(0.2)
        return {"done": True}

    async def t_long(self, context, arguments):
        await asyncio.sleep(60)
""")
    short = plugin.submit("tools", "t_short", "handler", Call(posture="read", deadline=time.monotonic() + 20), {})
    long = plugin.submit("tools", "t_long", "handler", Call(posture="read"), {})
    _wait_until((bench.home.plugin_data("demo") / "begun").exists)
    plugin.settle()
    assert short.result(0).structured == {"done": True}
    assert long.cancelled()


@pytest.mark.parametrize("told_before", [True, False], ids=["cancelled before", "cancelled by it"])
def test_a_call_that_is_told_to_end_cleans_up_before_its_plugin_leaves(bench: Workbench, told_before: bool) -> None:
    plugin = bench.start("""
class Plugin(Base):
    def t_sync(self, context, arguments):
        (context.data_folder / "sync").touch()
        while not context.call.cancelled.is_set():
            time.sleep(0.01)
        time.sleep(0.2)
        (context.data_folder / "sync cleaned").touch()

    async def t_async(self, context, arguments):
        (context.data_folder / "async").touch()
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.2)
            (context.data_folder / "async cleaned").touch()
""")
    folder = bench.home.plugin_data("demo")
    for name in ("sync", "async"):
        call = Call(posture="write")
        future = plugin.submit("tools", f"t_{name}", "handler", call, {})
        _wait_until((folder / name).exists)
        if told_before:
            call.cancelled.set()
            future.cancel()
    plugin.settle(0)
    plugin.close()
    assert {path.name for path in folder.glob("* cleaned")} == {"sync cleaned", "async cleaned"}


def test_one_services_thread_does_not_wait_for_another(bench: Workbench, project: Path) -> None:
    # eight blocking handlers, each asking for a file at the same moment
    plugin = bench.start(
        """
barrier = threading.Barrier(8)

class Plugin(Base):
    def t_read(self, context, arguments):
        barrier.wait(20)
        return {"text": context.files.read_text("a.txt")}
""",
        capabilities=PROJECT,
    )
    (project / "a.txt").write_text("x")
    call = Call(posture="read", project=Project(root=project))
    futures = [plugin.submit("tools", "t_read", "handler", call, {}) for _ in range(8)]
    assert [future.result(20).structured for future in futures] == [{"text": "x"}] * 8


def _wait_until(holds: Any, seconds: float = 20) -> None:
    """Wait for something that another thread or process does; fails the test where it does not come."""
    end, look = time.monotonic() + seconds, threading.Event()
    while not holds():
        assert time.monotonic() < end, "it did not happen"
        look.wait(0.01)
