"""What is optional is asked for at its first use, through a callback of the host, in a real host and both runtimes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.attacks.hosts import CONTRACT, HEAD, called, tools
from tests.plugins_in_test import manifest, plugin_folder
from yazcore import AskUser, Home, Host, Question
from yazcore.capabilities.context import current
from yazcore.capabilities.grants import Grant, Grants, RuntimeName

WEB = {"kind": "net", "hosts": ["api.example.org"], "private": True, "optional": True, "reasonKey": "text"}
WEB_IDENTITY = (
    'net {"hosts": ["api.example.org"], "ports": [443], "private": true, "readMethods": ["GET", "HEAD"]}'
)
DATA = {"kind": "fs-read", "place": "notes", "suggest": ["~/Notes"], "optional": True}
CODE = """
class Plugin:
    def __init__(self, context):
        pass

    @hookimpl
    def provide_tools(self):
        return [Tool("web", self.web), Tool("send", self.send), Tool("read", self.read)]

    def web(self, context, arguments):
        return self.tried(lambda: context.network.get("https://api.example.org/", seconds=0.01))

    def send(self, context, arguments):
        return self.tried(lambda: context.network.post("https://api.example.org/", seconds=0.01))

    def read(self, context, arguments):
        return self.tried(lambda: context.files.read_text("a", place="notes"))

    def tried(self, act):
        try:
            return {"done": act()}
        except CapabilityError as error:
            return {"reason": error.reason, "detail": error.detail}
        except ServiceError as error:
            return {"code": error.code}
"""
PATIENCE = 30.0
"""After how many seconds what should have happened long ago is not waited for any more."""

REFUSED = {"reason": "not-granted", "detail": "the user can allow it with: yaz grant demo net"}


Hosting = Callable[..., AbstractContextManager[Host]]


@pytest.fixture
def hosting(runtime: RuntimeName) -> Hosting:
    """A host with the plugin, which runs in that runtime: `hosting(folder, ask, *capabilities)`."""
    return partial(_hosting, runtime)


def entry(runtime: RuntimeName) -> Grant:
    """What the grants hold of the plugin before anybody is asked: where it runs."""
    return Grant(plugin="demo", version="1.0", runtime=runtime, time="2026-11-30T00:00:00+00:00")


@contextmanager
def _hosting(runtime: RuntimeName, folder: Path, ask: AskUser | None, *capabilities: dict[str, Any]) -> Iterator[Host]:
    provides = tools(["web", "read", "send"], deadlineSeconds=60)["tools"]
    document = manifest("demo", provides={"tools": provides}, capabilities=list(capabilities))
    with plugin_folder(folder, document, HEAD + CODE) as package:
        Grants(Home(folder / "home")).put(entry(runtime))
        host = Host(CONTRACT, home=Home(folder / "home"), builtin=[package], discover=False, ask=ask)
        try:
            (status,) = host.activate()
            assert (status.state, status.runtime) == ("active", runtime)
            yield host
        finally:
            host.close()


def asked(answers: list[bool | None]) -> tuple[list[Question], Callable[[Question], bool | None]]:
    questions: list[Question] = []

    def ask(question: Question) -> bool | None:
        assert current.get() is None  # the host's code never runs as the plugin's
        questions.append(question)
        return answers.pop(0)

    return questions, ask


def test_without_a_callback_it_is_refused_and_the_way_is_said(tmp_path: Path, hosting: Hosting) -> None:
    with hosting(tmp_path, None, WEB) as host:
        assert called(host, "demo__web").structured == REFUSED
        (denial,) = host.denials.of("demo")
        assert (denial["reason"], denial["detail"]) == ("not-granted", REFUSED["detail"])


def test_a_yes_is_written_down_and_counts_at_once_and_for_good(tmp_path: Path, hosting: Hosting) -> None:
    questions, ask = asked([True])
    with hosting(tmp_path, ask, WEB) as host:
        assert "reason" not in (called(host, "demo__web").structured or {})
        assert "reason" not in (called(host, "demo__web").structured or {})
        grant = host.grants.get("demo")
        assert grant is not None
        assert grant.capabilities == (WEB_IDENTITY,)
        assert host.denials.of("demo") == []
    (question,) = questions
    assert (question.plugin, question.version, question.capability.identity) == ("demo", "1.0", WEB_IDENTITY)
    assert (question.reason, question.target, question.where) == (
        "A text", "GET https://api.example.org:443", "tools web"
    )  # fmt: skip
    assert 0 < question.seconds <= 60


def test_a_no_is_a_denial_and_is_not_asked_again(tmp_path: Path, hosting: Hosting) -> None:
    questions, ask = asked([False])
    with hosting(tmp_path, ask, WEB) as host:
        assert called(host, "demo__web").structured == REFUSED
        assert (called(host, "demo__web").structured or {})["reason"] == "not-granted"
        grant = host.grants.get("demo")
        assert grant is not None
        assert grant.denied == (WEB_IDENTITY,)
    assert len(questions) == 1


def test_a_denial_made_while_the_user_is_asked_beats_the_yes(tmp_path: Path, hosting: Hosting) -> None:
    hosts: list[Host] = []

    def ask(question: Question) -> bool | None:
        hosts[0].grants.revoke("demo", question.capability.identity)
        return True

    with hosting(tmp_path, ask, WEB) as host:
        hosts.append(host)
        assert (called(host, "demo__web").structured or {})["reason"] == "not-granted"
        grant = host.grants.get("demo")
        assert grant is not None
        assert (grant.capabilities, grant.denied) == ((), (WEB_IDENTITY,))


def test_an_open_answer_refuses_now_and_is_asked_again(tmp_path: Path, hosting: Hosting, runtime: RuntimeName) -> None:
    questions, ask = asked([None, True])
    with hosting(tmp_path, ask, WEB) as host:
        assert called(host, "demo__web").structured == REFUSED
        assert host.grants.get("demo") == entry(runtime)
        assert "reason" not in (called(host, "demo__web").structured or {})
    assert len(questions) == 2


def test_what_the_posture_forbids_is_not_asked_for(tmp_path: Path, hosting: Hosting) -> None:
    questions, ask = asked([])
    with hosting(tmp_path, ask, WEB) as host:
        assert called(host, "demo__send").structured == {"reason": "not-granted", "detail": ""}
    assert questions == []


def test_what_is_required_or_denied_is_not_asked_for(tmp_path: Path, hosting: Hosting) -> None:
    questions, ask = asked([])
    with hosting(tmp_path, ask, {**WEB, "optional": False}) as host:
        host.grants.revoke("demo", WEB_IDENTITY)
        assert (called(host, "demo__web").structured or {})["reason"] == "not-granted"
    assert questions == []


def test_a_callback_that_fails_refuses(tmp_path: Path, hosting: Hosting, runtime: RuntimeName) -> None:
    def ask(question: Question) -> bool | None:
        raise ValueError("no window")

    with hosting(tmp_path, ask, WEB) as host:
        assert called(host, "demo__web").structured == REFUSED
        assert host.grants.get("demo") == entry(runtime)


def test_a_yes_binds_the_folder_that_is_suggested(tmp_path: Path, hosting: Hosting) -> None:
    (Path.home() / "Notes").mkdir()
    (Path.home() / "Notes" / "a").write_text("note")
    questions, ask = asked([True])
    with hosting(tmp_path, ask, DATA) as host:
        assert called(host, "demo__read").structured == {"done": "note"}
        grant = host.grants.get("demo")
        assert grant is not None
        assert grant.places == {"notes": str((Path.home() / "Notes").resolve())}
    assert questions[0].folder == str(Path.home() / "Notes")


def test_a_yes_without_any_folder_to_bind_is_refused(tmp_path: Path, hosting: Hosting) -> None:
    questions, ask = asked([True])
    with hosting(tmp_path, ask, DATA) as host:
        assert (called(host, "demo__read").structured or {})["reason"] == "not-granted"
    assert questions[0].folder is None


def test_calls_at_the_same_time_ask_once(tmp_path: Path, hosting: Hosting) -> None:
    questions: list[Question] = []
    both = threading.Barrier(2, timeout=10)

    def ask(question: Question) -> bool | None:
        questions.append(question)
        return True

    with hosting(tmp_path, ask, WEB) as host:
        answers: list[Any] = []

        def call() -> None:
            both.wait()
            answers.append(called(host, "demo__web").structured)

        threads = [threading.Thread(target=call) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not any("reason" in answer for answer in answers)
    assert len(questions) == 1


def test_while_a_person_is_asked_the_plugins_other_calls_go_on(tmp_path: Path, hosting: Hosting) -> None:
    """The question waits in a thread of its own: other handlers run, and what they ask of services is answered."""
    open_, answer = threading.Event(), threading.Event()

    def ask(question: Question) -> bool | None:
        open_.set()
        return answer.wait(PATIENCE)

    with hosting(tmp_path, ask, WEB) as host:
        answers: list[Any] = []
        asking = threading.Thread(target=lambda: answers.append(called(host, "demo__web").structured))
        asking.start()
        assert open_.wait(PATIENCE)
        try:
            for _ in range(20):
                assert called(host, "demo__read").structured == {"reason": "not-declared", "detail": ""}
            assert answers == []
        finally:
            answer.set()
            asking.join()
        assert "reason" not in answers[0]


@pytest.mark.parametrize("value", [1, 0, "yes", object()])
def test_what_is_no_answer_leaves_it_open(tmp_path: Path, hosting: Hosting, runtime: RuntimeName, value: Any) -> None:
    _, ask = asked([value])
    with hosting(tmp_path, ask, WEB) as host:
        assert called(host, "demo__web").structured == REFUSED
        assert host.grants.get("demo") == entry(runtime)
