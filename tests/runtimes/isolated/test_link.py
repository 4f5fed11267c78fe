"""The host's end of a worker, with a test at the other end that says what no honest worker would."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import attrs
import msgspec
import pytest

from yazcore.capabilities.context import Call, Frame, current
from yazcore.capabilities.errors import ServiceError
from yazcore.runtimes.isolated import link as link_module
from yazcore.runtimes.isolated import wire
from yazcore.runtimes.isolated.calls import Promise
from yazcore.runtimes.isolated.link import MOST_QUESTIONS, Gone, Link, Overdue
from yazcore.runtimes.isolated.spawner import Process
from yazcore.runtimes.isolated.waiting import Waiting, WorkerGone
from yazcore.runtimes.isolated.wire import CALL, CANCEL, ERROR, EVENT, RESULT

FRAME = Frame(plugin="p", version="1", where="tools t", call=Call(posture="read"))


@attrs.define
class Liar:
    """A worker that a test plays: `say` sends a message, `raw` anything; the real process only waits."""

    link: Link
    socket: socket.socket
    process: subprocess.Popen[bytes]
    reader: wire.Reader
    ended: threading.Event
    gone: list[Gone]
    lines: list[tuple[int, str]]
    asked: list[Any]

    def say(self, kind: int, number: int, name: str, value: Any) -> None:
        self.raw(wire.frame(kind, number, name, value))

    def raw(self, data: bytes) -> None:
        try:
            self.socket.sendall(data)
        except OSError:
            return

    def heard(self) -> wire.Message:
        return self.reader.read()[0]

    def why(self) -> str:
        assert self.ended.wait(20)
        return self.gone[0].why


@pytest.fixture
def liar() -> Iterator[Liar]:
    ours, theirs = socket.socketpair()
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    handle = os.pidfd_open(child.pid)
    seen, status = threading.Event(), list[int]()

    def bury() -> None:
        status.append(os.waitpid(child.pid, 0)[1])
        child.returncode = 0
        seen.set()

    threading.Thread(target=bury, daemon=True).start()
    made: Liar

    def serve(name: str, args: list[Any], kwargs: dict[str, Any], frame: Frame | None) -> Any:
        made.asked.append((name, args, kwargs, frame))
        if name == "large":
            return b"x" * (3 << 20)
        if name == "many":
            return ["y" * 1000] * 5000
        if name == "fail":
            raise ServiceError("files-changed", "they changed")
        return [name, len(args)]

    over = threading.Event()
    gone: list[Gone] = []
    lines: list[tuple[int, str]] = []

    def ended(link: Link, why: Gone) -> None:
        gone.append(why)
        over.set()

    link = Link(ours, Process(child.pid, handle, seen, status), serve, lambda *line: lines.append(line), ended)
    made = Liar(link, theirs, child, wire.Reader(theirs), over, gone, lines, [])
    yield made
    link.end("the test is over", fault=False)
    link.join(10)
    theirs.close()
    assert seen.wait(10)


def promise(**more: Any) -> Promise:
    return Promise(attrs.evolve(FRAME, **more), ("tools", "t", "handler"), [], "plain", lambda promise: None)


def test_an_answer_reaches_whoever_asked(liar: Liar) -> None:
    def answer() -> None:
        kind, number, name, value = liar.heard()
        assert (kind, name, value) == (CALL, "hook", {"x": 1})
        liar.say(RESULT, number, "", [2])

    threading.Thread(target=answer).start()
    assert liar.link.ask("hook", {"x": 1}, FRAME, 20) == (RESULT, "", [2])


@pytest.mark.parametrize("wait", [Promise.result, Promise.exception])
def test_whoever_waits_for_a_handler_attends_to_the_worker(
    liar: Liar, monkeypatch: pytest.MonkeyPatch, wait: Callable[[Promise, float], Any]
) -> None:
    call = promise()
    call.link, call.number = liar.link, liar.link.begin(call, "run", {})
    attended: list[float] = []

    def attend(is_over: Callable[[], bool], seconds: float) -> None:
        attended.append(seconds)
        call.answered(RESULT, "", None)
        assert is_over()

    monkeypatch.setattr(liar.link, "attend", attend)
    assert wait(call, 20) is None
    assert len(attended) == 1
    assert 0 < attended[0] <= 20


def test_a_worker_that_does_not_answer_is_asked_to_stop_and_then_ended(liar: Liar) -> None:
    with pytest.raises(Overdue):
        liar.link.ask("hook", {}, FRAME, 0.05)
    assert [liar.heard()[0] for _ in range(2)] == [CALL, CANCEL]
    assert liar.why() == "tools t did not end in 0.05 seconds"
    with pytest.raises(WorkerGone, match="did not end"):
        liar.link.ask("hook", {}, FRAME, 1)


def test_a_late_answer_within_the_grace_is_dropped_and_the_worker_lives(
    liar: Liar, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(link_module, "GRACE_SECONDS", 20)

    def answer() -> None:
        number = liar.heard()[1]
        assert liar.heard()[0] == CANCEL
        liar.say(RESULT, number, "", 1)

    threading.Thread(target=answer).start()
    with pytest.raises(Overdue):
        liar.link.ask("hook", {}, FRAME, 0.05)
    assert liar.link.gone is None


def test_the_end_of_a_worker_ends_all_its_calls_at_once_with_the_reason(liar: Liar) -> None:
    calls = [promise() for _ in range(20)]
    for call in calls:
        liar.link.begin(call, "run", {})
    os.kill(liar.process.pid, signal.SIGKILL)
    liar.socket.close()
    for call in calls:
        with pytest.raises(Exception, match="its worker was ended: it ended with signal SIGKILL"):
            call.result(20)
    assert liar.gone == [] or liar.gone[0].fault


def test_a_worker_that_closes_its_end_and_goes_on_is_ended(liar: Liar) -> None:
    liar.socket.close()
    assert liar.why() == "it ended with signal SIGKILL"


@pytest.mark.parametrize(
    ("message", "why"),
    [
        ((RESULT, 99, "", None), "it sent an answer to a call that was never made"),
        ((ERROR, 0, "failure", ["", "", ""]), "it sent an answer to a call that was never made"),
        ((EVENT, 1, "progress", ["half"]), "it sent an event that is none"),
        ((EVENT, 1, "progress", [True, None, ""]), "it sent an event that is none"),
        ((EVENT, 0, "log", [10, 3]), "it sent an event that is none"),
        ((EVENT, 0, "log", [1000, "x"]), "it sent an event that is none"),
        ((EVENT, 0, "log", [10, "x" * 70_000]), "it sent an event that is too long"),
        ((EVENT, 0, "shutdown", None), "it sent an event that is none"),
        ((EVENT, 1, "result-part", "text"), "it sent a part that is none"),
        ((CALL, 1, "x", None), "it sent a question that is none"),
        ((CALL, 1, "x", [0, [], {}]), "it sent a question that is none"),
        ((CALL, 1, "x", [0, [], {1: 2}, []]), "it sent a question that is none"),
        ((CALL, 1, "x", [0, [1], {}, [[0, True]]]), "it sent a question that is none"),
        ((CALL, 1, "x", [0, [1], {}, [[5, True, 1]]]), "it sent a part that belongs to nothing"),
        ((CALL, 1, "x", [0, [1], {}, [["__class__", True, 1]]]), "it sent a part that belongs to nothing"),
    ],
)
def test_what_cannot_be_is_the_end(liar: Liar, message: wire.Message, why: str) -> None:
    call = Waiting(FRAME)
    liar.link.begin(call, "hook", {})
    liar.say(*message)
    assert liar.why() == why
    with pytest.raises(WorkerGone):
        call.wait(1)


def test_bytes_where_none_can_be_are_the_end_and_whoever_waits_is_told(liar: Liar) -> None:
    call = Promise(FRAME, ("tools", "t", "handler"), [], "answer", lambda promise: None)
    number = liar.link.begin(call, "run", {})
    liar.say(RESULT, number, "whole", None)
    with pytest.raises(Exception, match="its worker was ended: it sent bytes where none can be"):
        call.result(20)


def test_a_frame_of_32_mebibytes_of_empty_lists_is_never_read(liar: Liar) -> None:
    size = 32 << 20
    threading.Thread(target=liar.raw, args=((size + 5).to_bytes(4, "little") + b"\x94\x01\x01\xa0\xdd",)).start()
    assert liar.why() == f"it sent a frame of {size + 5} bytes"


def test_a_crowd_of_lists_ends_the_worker_and_fails_its_call(liar: Liar) -> None:
    call = promise()
    number = liar.link.begin(call, "run", {})
    body = b"\x94\x01" + bytes([number]) + b"\xa0\xdd" + (2_000_000).to_bytes(4, "big") + b"\x90" * 2_000_000
    threading.Thread(target=liar.raw, args=(len(body).to_bytes(4, "little") + body,)).start()
    with pytest.raises(Exception, match="it sent a value with more than 262144 lists and objects"):
        call.result(20)
    assert liar.why() == "it sent a value with more than 262144 lists and objects"


def test_more_questions_than_can_be_open_are_the_end(liar: Liar, monkeypatch: pytest.MonkeyPatch) -> None:
    hold = threading.Event()
    liar.link._serve = lambda *asked: hold.wait(20)
    for number in range(1, MOST_QUESTIONS + 2):
        liar.say(CALL, number, "x", [0, [], {}, []])
    assert liar.why() == f"it sent more than {MOST_QUESTIONS} questions at once"
    hold.set()


def test_a_question_under_a_taken_number_is_the_end(liar: Liar) -> None:
    hold = threading.Event()
    liar.link._serve = lambda *asked: hold.wait(20)
    for _ in range(2):
        liar.say(CALL, 1, "x", [0, [], {}, []])
    assert liar.why() == "it sent a question whose number is taken"
    hold.set()


def test_more_parts_than_belong_to_anything_are_the_end(liar: Liar, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link_module, "_MOST_PARTS", 3 << 20)
    sender = threading.Thread(
        target=lambda: [liar.say(EVENT, 5, "argument-part", b"x" * (1 << 20)) for _ in range(5)]
    )
    sender.start()
    assert liar.why() == "it sent more parts than belong to anything"
    sender.join()


def test_a_worker_that_does_not_read_is_ended_and_nobody_who_sends_waits(
    liar: Liar, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(link_module, "_MOST_BACKLOG", 4 << 20)
    began = time.monotonic()

    def pump() -> None:
        for _ in range(50):
            liar.link.begin(promise(), "run", b"x" * (1 << 20))

    with pytest.raises(WorkerGone, match="it does not read what it is sent"):
        pump()
    assert time.monotonic() - began < 10
    assert liar.why() == "it does not read what it is sent"


def test_what_is_sent_faster_than_it_is_read_arrives_in_order(liar: Liar) -> None:
    for number in range(30):
        liar.link.begin(promise(), "run", [number, b"x" * 100_000])
    assert [liar.heard()[3][0] for _ in range(30)] == list(range(30))


# --- questions


def test_a_question_is_answered_in_the_frame_of_the_call_it_is_for(liar: Liar) -> None:
    number = liar.link.begin(promise(where="tools other"), "run", {})
    liar.heard()
    liar.say(CALL, 5, "files.read_text", [number, ["a"], {"place": "x"}, []])
    assert liar.heard() == (RESULT, 5, "", ["files.read_text", 1])
    name, args, kwargs, frame = liar.asked[0]
    assert (name, args, kwargs, frame.where) == ("files.read_text", ["a"], {"place": "x"}, "tools other")
    assert current.get() is None


def test_a_question_for_no_open_call_is_nobodys(liar: Liar) -> None:
    number = liar.link.begin(promise(), "run", {})
    liar.heard()
    liar.say(RESULT, number, "", None)
    for question, parent in enumerate((number, 0, 77, -1, 2**61), 1):
        liar.say(CALL, question, "x", [parent, [], {}, []])
        liar.heard()
    assert [asked[3] for asked in liar.asked] == [None] * 5


def test_long_arguments_and_answers_travel_in_parts(liar: Liar) -> None:
    for part in (b"ab", b"c\xed\xa0\x80"):
        liar.say(EVENT, 6, "argument-part", part)
    liar.say(CALL, 6, "large", [0, [None, 1], {"text": None}, [[0, False, 2], ["text", True, 4]]])
    received = b""
    while (message := liar.heard())[0] == EVENT:
        assert message[1:3] == (6, "result-part")
        received += message[3]
    assert (message, received) == ((RESULT, 6, "whole", None), b"x" * (3 << 20))
    assert liar.asked[0][1:3] == ([b"ab", 1], {"text": "c\ud800"})
    liar.say(CALL, 7, "many", [0, [], {}, []])
    packed = b""
    while (message := liar.heard())[0] == EVENT:
        packed += message[3]
    assert message == (RESULT, 7, "packed", None)
    assert msgspec.msgpack.decode(packed) == ["y" * 1000] * 5000


def test_what_a_service_raises_is_an_error_for_the_worker(liar: Liar) -> None:
    liar.say(CALL, 5, "fail", [0, [], {}, []])
    assert liar.heard() == (ERROR, 5, "service", ["files-changed", "they changed"])


def test_lines_and_progress_arrive_and_a_flood_of_them_costs_little(liar: Liar) -> None:
    reports: list[Any] = []
    call = Call(posture="read", report=lambda *report: reports.append(report))
    waiting = promise(call=call)
    number = liar.link.begin(waiting, "run", {})
    flood = wire.frame(EVENT, number, "progress", [1, None, ""]) * 2000 + wire.frame(EVENT, 0, "log", [20, "x"]) * 2000
    liar.raw(flood)
    liar.say(EVENT, number, "progress", [2, 3, "last"])
    liar.say(RESULT, number, "", "done")
    assert waiting.result(20) == "done"
    assert reports[-1] == (2, 3, "last")
    assert liar.link.gone is None


def test_nothing_is_left_of_a_worker_that_ended(liar: Liar, wait: Callable[[Callable[[], bool]], None]) -> None:
    before = len(os.listdir("/proc/self/fd"))
    liar.link.begin(promise(), "run", b"x" * (1 << 20))  # a writer, too
    liar.say(CALL, 5, "x", [0, [], {}, []])
    liar.link.end("enough")
    liar.link.join(10)
    wait(lambda: len(os.listdir("/proc/self/fd")) == before - 3)  # socket, epoll, pidfd
    wait(lambda: not [one for one in threading.enumerate() if str(liar.process.pid) in one.name])
