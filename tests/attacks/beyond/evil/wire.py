"""Lies on the wire between a worker and its host: frames that are none, names that are code, floods.

A plugin in a worker holds the socket, as everything in its process: nothing stops it from writing there.
"""

from __future__ import annotations

import gc
import os
import struct
import time
from typing import Any

World = dict[str, Any]

CALL, RESULT, ERROR, CANCEL, EVENT = range(5)
PATIENCE = 1.0


class NoWire(Exception):
    """This is the host's own process."""


def peer() -> Any:
    """The worker's end of the wire."""
    for one in gc.get_objects():
        if type(one).__name__ == "Peer" and type(one).__module__.endswith("isolated.peer"):
            return one
    raise NoWire


def write(data: bytes) -> str:
    """Write past everything, and wait for what the host does about it."""
    connection = next(value for value in vars(peer()).values() if hasattr(value, "fileno"))
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(connection.fileno(), view) :]
        except BlockingIOError:
            time.sleep(0.001)
    time.sleep(PATIENCE)
    return "done"


def framed(payload: bytes) -> bytes:
    return struct.pack("<I", len(payload)) + payload


def message(kind: int, number: int, name: str, value: Any) -> bytes:
    import msgspec

    return framed(msgspec.msgpack.encode((kind, number, name, value)))


def number_of(context: Any) -> int:
    peer()
    return int(context.call.number)


# --- frames that are none ---------------------------------------------------------------------------------------------


def a_frame_of_junk(context: Any, world: World) -> str:
    return write(framed(b"\xc1" * 100))


def a_frame_of_four_gigabytes(context: Any, world: World) -> str:
    return write(b"\xff\xff\xff\xff" + b"x" * 1000)


def a_frame_of_empty_arrays(context: Any, world: World) -> str:
    """32 MiB of them cost a host 2.3 GB and 9 seconds, where it unpacks them."""
    return write(framed(b"\x94\x01\x01\xa0\xdd" + struct.pack(">I", 2**25) + b"\x90" * 2**25))


def an_answer_of_empty_arrays(context: Any, world: World) -> str:
    """As many as a frame holds, as the answer to a call that is open."""
    count = 2 * 2**20 - 100
    head = b"\x94" + bytes([RESULT]) + b"\xce" + struct.pack(">I", number_of(context)) + b"\xa0"
    return write(framed(head + b"\xdd" + struct.pack(">I", count) + b"\x90" * count))


def a_frame_that_nests(context: Any, world: World) -> str:
    return write(framed(b"\x94\x01\x01\xa0" + b"\x91" * 100_000 + b"\xc0"))


def a_frame_of_another_type(context: Any, world: World) -> str:
    return write(framed(b"\x94\x01" + b"\xce" + struct.pack(">I", number_of(context)) + b"\xa0" + b"\xc7\x01\x05x"))


def a_frame_of_no_kind(context: Any, world: World) -> str:
    return write(message(9, 1, "", None))


def a_frame_without_end(context: Any, world: World) -> str:
    """A byte now and then."""
    connection = next(value for value in vars(peer()).values() if hasattr(value, "fileno"))
    os.write(connection.fileno(), struct.pack("<I", 1000))
    for _ in range(40):
        os.write(connection.fileno(), b"x")
        time.sleep(0.1)
    return "done"


# --- lies -------------------------------------------------------------------------------------------------------------


def an_answer_that_nobody_asked_for(context: Any, world: World) -> str:
    return write(message(RESULT, 10**6, "", "evil"))


def an_answer_with_a_class(context: Any, world: World) -> str:
    """A packed result names its classes: from a list of the host's own."""
    return write(message(RESULT, number_of(context), "", [None, None, [["os.system", "x"]], [], None]))


def an_error_with_a_class(context: Any, world: World) -> str:
    return write(message(ERROR, number_of(context), "builtins.SystemExit", ["evil"]))


def an_event_that_is_none(context: Any, world: World) -> str:
    return write(message(EVENT, 1, "__class__", [1]))


def a_question_that_is_none(context: Any, world: World) -> str:
    return write(message(CALL, 1, "files.read_text", "evil"))


# --- names that are code ----------------------------------------------------------------------------------------------


def a_question_whose_name_is_code(context: Any, world: World) -> str:
    name = f"__import__('os').system('echo changed > {world['target']}')"
    return str(peer().ask(name, number_of(context), [], {}))


def a_question_for_what_is_private(context: Any, world: World) -> str:
    for name in ("credentials._secrets", "files._broker", "network._purse", "network._purse.spend", "files.__class__"):
        try:
            return str(peer().ask(name, number_of(context), ["key"], {}))
        except Exception as error:
            last = error
    raise last


def an_argument_whose_name_is_code(context: Any, world: World) -> str:
    arguments = {f"x=__import__('os').system('echo changed > {world['target']}')": 1}
    peer().ask("files.read_text", number_of(context), ["notes.md"], arguments)
    return "done"


def a_question_for_no_call(context: Any, world: World) -> str:
    peer().ask("files.read_text", 0, ["notes.md"], {})
    return "done"


def a_question_for_a_call_of_others(context: Any, world: World) -> str:
    peer().ask("files.read_text", 10**6, ["notes.md"], {})
    return "done"


_held: list[int] = []


def hold_a_writing_call(context: Any, world: World) -> str:
    """What `the_widest_of_its_open_calls` takes the number of."""
    _held.append(number_of(context))
    time.sleep(1.0)
    return "held"


def the_widest_of_its_open_calls(context: Any, world: World) -> str:
    """In a reading call, a question on behalf of a writing one that is open at the same time."""
    peer()
    deadline = time.monotonic() + 1
    while not _held and time.monotonic() < deadline:
        time.sleep(0.01)
    peer().ask("files.write_text", _held.pop(), ["forged.txt", "changed"], {})
    return "done"


# --- floods -----------------------------------------------------------------------------------------------------------


def a_flood_of_questions(context: Any, world: World) -> str:
    about = [number_of(context), [""], {}, []]
    return write(b"".join(message(CALL, 10_000 + one, "files.list", about) for one in range(2000)))


def a_flood_of_lines(context: Any, world: World) -> str:
    line = message(EVENT, 0, "log", [20, "x" * 200])
    return write(line * 100_000)


def a_flood_of_reports(context: Any, world: World) -> str:
    return write(message(EVENT, number_of(context), "progress", [1, 2, "x"]) * 50_000)


def a_host_that_nobody_reads(context: Any, world: World) -> str:
    """Ask for more than fits, and read nothing of it."""
    ask = message(CALL, 20_000, "files.read_bytes", [number_of(context), ["large.bin"], {}, []])
    frames = b"".join(ask.replace(struct.pack(">H", 20_000), struct.pack(">H", 20_000 + one)) for one in range(100))
    lock = next(value for value in vars(peer()).values() if type(value).__name__ == "lock")
    lock.acquire(timeout=1)
    return write(frames)
