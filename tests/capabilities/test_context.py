"""The context of plugin code: whose it is, for whom it runs, and how long."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest

from yazcore.capabilities.context import Call, CallContext, Context, Flag, Frame, current, frame_of
from yazcore.capabilities.errors import Cancelled, NoContext
from yazcore.permissions import OWNER


class Counting:
    """A service."""

    def add(self, one: int, *, other: int = 0) -> tuple[int, int | None, str | None]:
        frame = current.get()
        return one + other, threading.get_ident(), None if frame is None else frame.plugin

    def refuse(self) -> None:
        raise PermissionError("no")


@attrs.frozen
class Folder:
    id: str = "prj_aaaaaaaaaaaa"
    name: str = "thesis"
    root: Path = Path("/projects/thesis")


@pytest.fixture
def context(tmp_path: Path) -> Context:
    return Context(
        plugin="p", version="1", settings={"limit": 3}, data_folder=tmp_path, message=lambda key, **arguments: key,
        log=logging.getLogger("p"), publish=lambda data, mime, ttl: "yaz://result/x",
        services={name: Counting() for name in ("files", "network", "processes", "mcp_servers", "credentials")},
    )  # fmt: skip


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


def frame(plugin: str = "p", **call: Any) -> Frame:
    return Frame(plugin=plugin, version="1", where="tools look", call=Call(**{"posture": "read", **call}))


@pytest.fixture
def inside() -> Iterator[Frame]:
    made = frame()
    token = current.set(made)
    yield made
    current.reset(token)


# --- whose code runs


def test_a_service_finds_the_frame_of_its_own_plugin(inside: Frame) -> None:
    assert frame_of("p", "files") is inside
    assert inside.posture == "read"


def test_a_service_outside_any_frame_is_refused_with_what_to_do() -> None:
    with pytest.raises(NoContext) as raised:
        frame_of("p", "files")
    assert str(raised.value) == (
        "the service 'files' was used outside the plugin's context: call it from a hook, a handler, "
        "or a thread started with context.run_in_thread"
    )


@pytest.mark.usefixtures("inside")
def test_a_service_in_anothers_frame_is_refused() -> None:
    with pytest.raises(NoContext):
        frame_of("q", "files")


def test_a_service_refuses_a_call_that_nobody_waits_for(inside: Frame) -> None:
    inside.call.cancelled.set()
    with pytest.raises(Cancelled, match="tools look was cancelled"):
        frame_of("p", "files")


def test_a_flag_is_set_for_good() -> None:
    flag = Flag()
    assert not flag.is_set()
    flag.set()
    assert flag.is_set()


# --- the services


@pytest.mark.parametrize("name", ["files", "network", "processes", "mcp_servers", "credentials"])
def test_every_service_is_there_by_its_name_and_awaitable_under_aio(context: Context, name: str) -> None:
    assert getattr(context, name) is context.services[name]
    assert callable(getattr(context.aio, name).add)


def test_a_service_that_is_none_is_told_the_ones_there_are(context: Context) -> None:
    with pytest.raises(AttributeError, match="no service 'file'; there are credentials, files"):
        _ = context.aio.file


@pytest.mark.anyio
async def test_an_awaitable_service_runs_elsewhere_in_the_same_frame(context: Context) -> None:
    token = current.set(frame())
    total, thread, plugin = await context.aio.files.add(1, other=2)
    current.reset(token)
    assert (total, plugin) == (3, "p")
    assert thread != threading.get_ident()
    with pytest.raises(PermissionError, match="no"):
        await context.aio.files.refuse()


@pytest.mark.anyio
async def test_a_thread_that_the_context_starts_keeps_the_frame(context: Context) -> None:
    token = current.set(frame())
    total, thread, plugin = await context.run_in_thread(Counting().add, 1)
    current.reset(token)
    assert (total, plugin) == (1, "p")
    assert thread != threading.get_ident()


# --- the call


def test_a_call_knows_who_asks_and_what_they_may(context: Context) -> None:
    call = Call(posture="read", principal=OWNER, allows=lambda action, scope: (action, scope) == ("p:read", "global"))
    caller = CallContext(base=context, call=call).caller
    assert caller is not None
    assert caller.name == "owner"
    assert caller.may("p:read", "global")
    assert not caller.may("p:read", "project")


def test_without_a_principal_nobody_asks_and_nothing_may_be_done(context: Context) -> None:
    call = Call(posture="read")
    assert CallContext(base=context, call=call).caller is None
    assert not call.allows("p:read", "global")


def test_a_project_is_its_id_and_its_name_and_never_its_folder(context: Context) -> None:
    assert CallContext(base=context, call=Call(posture="read")).project is None
    call = Call(posture="read", project=Folder(), scope_id="prj_aaaaaaaaaaaa")
    of_call = CallContext(base=context, call=call)
    assert of_call.project == {"id": "prj_aaaaaaaaaaaa", "name": "thesis"}
    assert of_call.scope_id == "prj_aaaaaaaaaaaa"


def test_the_deadline_is_what_is_left_and_never_less_than_nothing(context: Context) -> None:
    assert CallContext(base=context, call=Call(posture="read")).deadline == float("inf")
    assert 0 < CallContext(base=context, call=Call(posture="read", deadline=time.monotonic() + 60)).deadline <= 60
    assert CallContext(base=context, call=Call(posture="read", deadline=time.monotonic() - 1)).deadline == 0.0


def test_progress_goes_to_whoever_waits_and_stops_where_nobody_does(context: Context) -> None:
    said: list[tuple[float, float | None, str]] = []
    call = Call(posture="read", report=lambda *progress: said.append(progress))
    of_call = CallContext(base=context, call=call)
    of_call.progress(1, 3, "one of three")
    of_call.progress(2)
    of_call.check()
    call.cancelled.set()
    with pytest.raises(Cancelled):
        of_call.progress(3)
    with pytest.raises(Cancelled):
        of_call.check()
    assert said == [(1, 3, "one of three"), (2, None, "")]


def test_a_handlers_context_has_all_of_the_plugins_context(context: Context) -> None:
    of_call = CallContext(base=context, call=Call(posture="read"))
    assert of_call.settings == {"limit": 3}
    assert of_call.files is context.files
    assert of_call.message("hello") == "hello"
