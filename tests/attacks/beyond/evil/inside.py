"""What shares a process: memory, modules, environment, contexts, and code that is left behind."""

from __future__ import annotations

import contextvars
import gc
import os
import sys
import threading
import weakref
from typing import Any

from .files import read

World = dict[str, Any]


def secret_in_the_environment(context: Any, world: World) -> str:
    return os.environ.get("YAZ_ATTACK_SECRET", "nothing there")


def secret_in_memory(context: Any, world: World) -> str:
    """Every object of the process is there to be looked at."""
    for one in gc.get_objects():
        if type(one) is dict and "attacked_secret" in one:
            return str(one["attacked_secret"])
    return "nothing there"


def change_a_function_of_the_host(context: Any, world: World) -> str:
    """What is secret in a project: from now on nothing, in whatever process this is."""
    from yazcore.kinds import files

    files.is_secret = lambda name: False
    return str(context.files.read_text(".env"))


def change_the_environment(context: Any, world: World) -> str:
    """What the next command, the next client and every library of the host look at."""
    os.environ["YAZ_ATTACK_CHANGED"] = "1"
    return "done"


def another_plugins_services(context: Any, world: World) -> str:
    from yazcore.capabilities.context import Context

    for one in gc.get_objects():
        if isinstance(one, Context) and one.plugin == "good":
            one.files.read_text("notes.md")
            return "done"
    return "nothing there"


def another_plugins_frame(context: Any, world: World) -> str:
    """A frame of one's own making, with whatever posture one likes."""
    import attrs

    from yazcore.capabilities.context import current

    frame = current.get()
    assert frame is not None
    current.set(attrs.evolve(frame, call=attrs.evolve(frame.call, posture="write")))
    context.files.write_text("forged.txt", "changed")
    return "done"


def no_frame(context: Any, world: World) -> str:
    """Out of the context: what a guard watches by is gone."""
    return contextvars.Context().run(read, world["secret"])


def a_thread_left_behind(context: Any, world: World) -> str:
    found: list[str] = []

    def run() -> None:
        try:
            found.append(read(world["secret"]))
        except OSError as error:
            found.append(str(error.errno))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return _or_raise(found)


def a_finalizer(context: Any, world: World) -> str:
    found: list[str] = []

    class Last:
        pass

    def finish() -> None:
        try:
            found.append(contextvars.Context().run(read, world["secret"]))
        except OSError as error:
            found.append(str(error.errno))

    one = Last()
    weakref.finalize(one, finish)
    del one
    gc.collect()
    return _or_raise(found)


def a_service_from_a_bare_thread(context: Any, world: World) -> str:
    """Services never fall back to the host's own powers."""
    found: list[Any] = []

    def run() -> None:
        try:
            found.append(context.files.read_text("notes.md"))
        except Exception as error:
            found.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if isinstance(found[0], Exception):
        raise found[0]
    return "done"


def modules_of_the_host(context: Any, world: World) -> str:
    """What the host has loaded, a plugin in the same process has too."""
    return str(getattr(sys.modules["__main__"], "attacked_secret", "nothing there"))


def _or_raise(found: list[str]) -> str:
    if found[0].isdigit():
        raise OSError(int(found[0]), "refused")
    return found[0]
