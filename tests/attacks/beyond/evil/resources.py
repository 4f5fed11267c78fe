"""Memory, processor, disk, descriptors, and the end of the process."""

from __future__ import annotations

import _thread
import asyncio
import os
import re
import threading
import time
from typing import Any

World = dict[str, Any]

def beat(world: World) -> None:
    """A sign of life that the outside can read."""
    with open(world["beat"], "w") as file:
        file.write(str(time.monotonic()))


# --- memory -----------------------------------------------------------------------------------------------------------


def much_memory(context: Any, world: World) -> str:
    """Untouched pages: what is asked for counts, and nobody's memory is used up."""
    import mmap

    mmap.mmap(-1, 1200 * 2**20).close()
    return "done"


def memory_in_small_pieces(context: Any, world: World) -> str:
    """The same from many threads' stacks."""
    stop = threading.Event()
    try:
        for _ in range(700):
            # Not `Thread.start`: it waits for ever for a thread that has a stack and no memory for its first frame.
            _thread.start_new_thread(stop.wait, ())
    finally:
        stop.set()
    return "done"


def memory_without_a_limit(context: Any, world: World) -> str:
    """A file in memory counts for nobody."""
    handle = os.memfd_create("evil")
    os.close(handle)
    return "done"


# --- processor --------------------------------------------------------------------------------------------------------


def busy_for_ever(context: Any, world: World) -> str:
    while True:
        beat(world)
        for _ in range(10_000):
            pass


def hold_the_interpreter(context: Any, world: World) -> str:
    """A regular expression that takes a century, and lets no other thread run."""
    re.match(r"(a|a)+$", "a" * 60 + "b")
    return "done"


async def swallow_the_cancellation(context: Any, world: World) -> str:
    while True:
        try:
            beat(world)
            await asyncio.sleep(0.01)
        except asyncio.CancelledError:
            pass


def hang_without_a_word(context: Any, world: World) -> str:
    threading.Event().wait()
    return "done"


# --- disk -------------------------------------------------------------------------------------------------------------


def a_file_without_end(context: Any, world: World) -> str:
    """A hole of three gigabytes: it takes no room."""
    path = f"{context.data_folder}/huge"
    try:
        with open(path, "wb") as file:
            os.truncate(file.fileno(), 3 * 2**30)
        return "done"
    finally:
        os.remove(path)


def more_than_the_quota(context: Any, world: World) -> str:
    """Nobody counts while it writes: the host looks when it is about to add something, and when a plugin starts."""
    paths = [f"{context.data_folder}/hole{number}" for number in range(3)]
    try:
        for path in paths:
            with open(path, "wb") as file:
                os.truncate(file.fileno(), 15 * 2**27)
        return "done"
    finally:
        for path in paths:
            if os.path.exists(path):
                os.remove(path)


def many_files(context: Any, world: World) -> str:
    """How many files there are is looked at when the host adds something and when the plugin starts."""
    folder = f"{context.data_folder}/many"
    os.mkdir(folder)
    for number in range(300):
        os.close(os.open(f"{folder}/{number}", os.O_CREAT | os.O_WRONLY))
    return "done"


def a_folder_without_bottom(context: Any, world: World) -> str:
    """Deeper than a program that recurses can count, where the host has to do that. It stays, for the next start."""
    context.processes.run("env", ["mkdir", "-p", f"bottomless/{'d/' * 1050}"])
    assert os.path.isdir(f"{context.data_folder}/bottomless/{'d/' * 1050}")
    return str(context.files.copy(["notes.md"]))


# --- descriptors ------------------------------------------------------------------------------------------------------


def many_descriptors(context: Any, world: World) -> str:
    held: list[int] = []
    try:
        while len(held) < 600:
            held.append(os.open("/dev/null", os.O_RDONLY))
        return "done"
    finally:
        for handle in held:
            os.close(handle)


def descriptors_of_the_host(context: Any, world: World) -> str:
    """What the host has open, the plugin may find open too."""
    found = []
    for handle in range(3, 256):
        try:
            found.append(os.pread(handle, 1000, 0).decode("utf-8", "replace"))
        except OSError:
            continue
    return " ".join(found)


def close_everything(context: Any, world: World) -> str:
    os.closerange(0, 4096)
    return "done"


# --- the end ----------------------------------------------------------------------------------------------------------


def exit_at_once(context: Any, world: World) -> str:
    os._exit(7)


def crash(context: Any, world: World) -> str:
    import ctypes

    ctypes.string_at(0)
    return "done"


def alarm(context: Any, world: World) -> str:
    import signal

    signal.setitimer(signal.ITIMER_REAL, 0.01)
    time.sleep(0.5)
    return "done"


def recurse_for_ever(context: Any, world: World) -> str:
    """Past Python's own limit, into the end of the stack."""
    import sys

    sys.setrecursionlimit(2**30)

    class Deep:
        def __repr__(self) -> str:
            return repr([self])

    repr(Deep())
    return "done"
