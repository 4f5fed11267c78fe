"""Who reads what a worker says: the listener, or whoever waits."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

import attrs
import pytest

from yazcore.runtimes.isolated import attending, wire
from yazcore.runtimes.isolated.attending import MOMENT_SECONDS, Attending, Interrupted
from yazcore.runtimes.isolated.wire import EVENT, Broken, Closed

Wait = Callable[[Callable[[], object]], None]


@attrs.define
class Ears:
    """A reading end, with a test at the other: what came, and in which thread it was routed."""

    attending: Attending
    theirs: socket.socket
    heard: list[tuple[str, int]]
    over: threading.Event
    wait: list[float]
    fault: list[BaseException | None]

    def say(self, *names: str) -> None:
        self.theirs.sendall(b"".join(wire.frame(EVENT, 1, name, None) for name in names))

    def names(self) -> list[str]:
        return [name for name, _ in self.heard]

    def listen(self) -> tuple[threading.Thread, list[BaseException]]:
        """A listener in a thread of its own, and how it ended."""
        raised: list[BaseException] = []

        def run() -> None:
            try:
                self.attending.listen(self.over)
            except BaseException as error:
                raised.append(error)

        thread = threading.Thread(target=run)
        thread.start()
        return thread, raised

    def end(self) -> BaseException:
        """How a listener ends that begins now."""
        self.theirs.close()
        thread, raised = self.listen()
        thread.join(20)
        return raised[0]


@pytest.fixture
def ears(monkeypatch: pytest.MonkeyPatch) -> Iterator[Ears]:
    monkeypatch.setattr(attending, "_LOOK_SECONDS", 600.0)  # a listener that was not told hears nothing
    ours, theirs = socket.socketpair()
    made: Ears

    def route(message: wire.Message, length: int) -> float:
        if made.fault[0] is not None:
            raise made.fault[0]
        made.heard.append((message[2], threading.get_ident()))
        return made.wait[0]

    with ours, theirs:
        made = Ears(Attending(ours, route), theirs, [], threading.Event(), [0.0], [None])
        yield made


def never() -> bool:
    return False


def test_whoever_waits_reads_what_comes_in_its_own_thread(ears: Ears) -> None:
    ears.say("one")
    ears.attending.attend(lambda: bool(ears.heard), 20)
    assert ears.heard == [("one", threading.get_ident())]


def test_the_listener_reads_while_nobody_attends(ears: Ears, wait: Wait) -> None:
    thread, raised = ears.listen()
    ears.say("one")
    wait(lambda: ears.names() == ["one"])
    ears.say("two")
    wait(lambda: ears.names() == ["one", "two"])
    assert {ident for _, ident in ears.heard} == {thread.ident}
    ears.theirs.close()
    thread.join(20)
    assert [type(error) for error in raised] == [Closed]


def test_after_somebody_attended_the_listener_hears_again(ears: Ears, wait: Wait) -> None:
    thread, _ = ears.listen()
    ears.say("one")
    ears.attending.attend(lambda: bool(ears.heard), 20)
    wait(lambda: ears.names() == ["one"])
    ears.say("two")
    wait(lambda: ears.heard[1:] == [("two", thread.ident)])
    ears.theirs.close()
    thread.join(20)


def test_what_came_with_an_answer_is_not_left_lying(ears: Ears) -> None:
    ears.say("answer", "another", "third")
    ears.attending.attend(lambda: bool(ears.heard), 20)
    assert ears.names() == ["answer", "another", "third"]


def test_whoever_waits_longer_than_a_moment_leaves_it_to_the_listener(ears: Ears) -> None:
    ears.attending.attend(never, 20)
    ears.attending.attend(never, MOMENT_SECONDS / 2)
    assert ears.heard == []


def test_whoever_has_less_than_a_moment_asks_first_whether_something_comes(
    ears: Ears, monkeypatch: pytest.MonkeyPatch
) -> None:
    ears.say("one")
    asked: list[float] = []

    def nothing(*given: Any) -> tuple[list[int], list[int], list[int]]:
        asked.append(given[3])
        return [], [], []

    monkeypatch.setattr(attending.select, "select", nothing)
    ears.attending.attend(never, MOMENT_SECONDS / 2)
    assert ears.heard == []
    assert len(asked) == 1
    assert asked[0] <= MOMENT_SECONDS / 2


def test_where_somebody_reads_nobody_else_does(ears: Ears) -> None:
    ears.say("one")

    def is_over() -> bool:
        if not ears.heard:
            other = threading.Thread(target=ears.attending.attend, args=(never, 20))
            other.start()
            other.join(20)
            assert not other.is_alive()
            assert ears.heard == []
        return bool(ears.heard)

    ears.attending.attend(is_over, 20)
    assert ears.names() == ["one"]


def test_in_a_time_of_quiet_nobody_reads(ears: Ears) -> None:
    ears.wait[0] = 600.0
    ears.say("flood")
    ears.attending.attend(never, 20)
    ears.say("more")
    ears.attending.attend(never, 20)
    thread, raised = ears.listen()
    ears.over.set()
    thread.join(20)
    assert not thread.is_alive()
    assert raised == []
    assert ears.names() == ["flood"]


def test_what_goes_wrong_for_whoever_attends_is_raised_by_the_listener(ears: Ears, wait: Wait) -> None:
    thread, raised = ears.listen()
    ears.theirs.sendall(b"\x04\0\0\0junk")
    ears.attending.attend(lambda: bool(raised), 20)
    thread.join(20)
    assert [type(error) for error in raised] == [Broken]
    assert not thread.is_alive()


def test_nobody_reads_on_after_something_went_wrong(ears: Ears) -> None:
    ears.fault[0] = ValueError("it cannot be routed")
    ears.say("one")
    ears.attending.attend(never, 20)
    ears.attending.attend(_must_not_be_asked, 20)
    assert str(ears.end()) == "it cannot be routed"


def test_an_interruption_while_nothing_has_come_loses_nothing(ears: Ears) -> None:
    def interrupted() -> bool:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ears.attending.attend(interrupted, 20)
    ears.say("one")
    ears.attending.attend(lambda: bool(ears.heard), 20)
    assert ears.names() == ["one"]
    assert isinstance(ears.end(), Closed)


def test_an_interruption_with_a_message_in_hand_is_the_end(ears: Ears) -> None:
    ears.fault[0] = KeyboardInterrupt()
    ears.say("one")
    with pytest.raises(KeyboardInterrupt):
        ears.attending.attend(never, 20)
    assert isinstance(ears.end(), Interrupted)


def test_nobody_attends_once_the_listener_has_ended(ears: Ears) -> None:
    assert isinstance(ears.end(), Closed)
    ears.attending.attend(_must_not_be_asked, 20)


def _must_not_be_asked() -> Any:
    raise AssertionError("somebody attends")
