"""`yaz approve`: an agent's call waits for the user, who sees what it is and says yes or no in another terminal."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from tests.cli.commands import Served, Shell, until


@pytest.fixture
def asking(demo: Shell, served: Served) -> Served:
    assert demo.here("set", "demo.tools.echo.approval", "ask").status == 0
    return served


def waiting(yaz: Shell, served: Served) -> tuple[str, threading.Thread, list[dict[str, Any]]]:
    """A call that waits: under which word, in which thread, and where its result will be."""
    results: list[dict[str, Any]] = []
    thread = threading.Thread(target=lambda: results.append(served.call("demo__echo", text="hi")), daemon=True)
    thread.start()
    found = until(lambda: yaz.here("approve", "--json").json["waiting"])
    return found[0]["id"], thread, results


def test_a_yes_lets_the_call_through_and_the_record_says_who_gave_it(demo: Shell, asking: Served) -> None:
    word, thread, results = waiting(demo, asking)
    listed = demo.here("approve").out.splitlines()
    assert [line.split() for line in listed] == [["ID", "WHO", "WANTS", "TO", "CALL"], [word, "owner", "demo__echo"]]
    done = demo.here("approve", word, typed="y\n")
    assert done.status == 0
    assert 'owner wants to call demo__echo of demo, which reads.\nA text\nArguments: {"text": "hi"}\n' in done.out
    assert done.out.endswith("demo__echo was allowed\n")
    thread.join(60)
    assert results[0]["structuredContent"] == {"text": "hi"}
    (record,) = (one for one in demo.here("log", "--json").json["calls"] if one["name"] == "demo__echo")
    assert (record["outcome"], record["approval"]) == ("ok", "granted by the host")
    assert "ok (granted by the host)" in demo.here("log").out
    assert demo.here("approve").out == "no call waits for you\n"


@pytest.mark.parametrize(("arguments", "typed"), [(["--no"], ""), ([], "n\n"), ([], "\n")])
def test_a_no_refuses_it(demo: Shell, asking: Served, arguments: list[str], typed: str) -> None:
    word, thread, results = waiting(demo, asking)
    assert demo.here("approve", word, *arguments, typed=typed).out.endswith("demo__echo was refused\n")
    thread.join(60)
    assert results[0]["content"][0]["text"] == "The user did not allow this call of demo__echo. Nothing was done."


def test_where_yaz_serves_the_user_is_told_how(demo: Shell, asking: Served) -> None:
    word, thread, _ = waiting(demo, asking)
    demo.here("approve", word, "--yes")
    thread.join(60)
    demo.here("stop")
    assert f"owner wants to call demo__echo: yaz approve {word}\n" in asking.process.end().err


def test_the_users_own_call_may_be_approved_with_it(demo: Shell, asking: Served) -> None:
    assert demo.here("call", "demo__echo", '{"text": "hi"}', "--approve").json["structuredContent"] == {"text": "hi"}
    records = demo.here("log", "--json").json["calls"]
    assert records[-1]["approval"] == "granted by the caller"


def test_alone_nobody_can_be_asked_but_by_the_call_itself(demo: Shell) -> None:
    demo.here("set", "demo.tools.echo.approval", "ask")
    refused = demo.run("call", "demo__echo", '{"text": "hi"}')
    assert (refused.status, "nobody can be asked here" in refused.out) == (1, True)
    assert demo.run("call", "demo__echo", '{"text": "hi"}', "--approve").json["structuredContent"] == {"text": "hi"}


def test_what_does_not_wait_is_said(standing: tuple[Shell, Served], yaz: Shell) -> None:
    done = standing[0].here("approve", "abcd", "--yes")
    assert (done.status, done.err) == (
        1, "yaz: [approval-unknown] no call waits under 'abcd'. yaz approve shows those that wait\n"
    )  # fmt: skip
    assert standing[0].here("approve", "--yes").status == 2
    assert yaz.here("approve").err == "yaz: [not-running] no running yaz was found. start one with: yaz serve\n"


def test_no_token_of_an_agent_answers(demo: Shell, asking: Served) -> None:
    names = {tool["name"] for tool in asking.ask("tools/list")["result"]["tools"]}
    assert not any("approv" in name for name in names)
