from __future__ import annotations

import http.client
import os
import stat
from collections.abc import Iterator
from typing import Any

import pytest

from yazcore.control import Control, Running, announce, running, withdraw
from yazcore.home import Home
from yazcore.violations import YazError


def refuse(arguments: dict[str, Any]) -> None:
    raise YazError("no-such-thing", "there is none", "make one")


def crash(arguments: dict[str, Any]) -> None:
    raise RuntimeError("/a/path/of/this/machine")


@pytest.fixture
def control() -> Iterator[Control]:
    door = Control({"echo": lambda arguments: arguments, "refuse": refuse, "crash": crash})
    door.start()
    yield door
    door.close()


def found(control: Control) -> Running:
    return Running(pid=os.getpid(), url="u", token="t", port=control.port, secret=control.secret)


def request(
    control: Control, method: str = "POST", path: str = "/echo", body: bytes = b"{}", **headers: str
) -> tuple[int, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", control.port, timeout=10)
    given = {
        "Authorization": f"Bearer {control.secret}",
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    connection.request(method, path, body, given)
    response = connection.getresponse()
    text = response.read()
    connection.close()
    return response.status, text


def test_a_command_gets_its_arguments_and_gives_its_result(control: Control) -> None:
    assert found(control).ask("echo", a=1) == {"a": 1}


def test_a_fault_arrives_as_the_fault_it_was(control: Control) -> None:
    with pytest.raises(YazError) as raised:
        found(control).ask("refuse")
    assert (raised.value.code, raised.value.message, raised.value.fix) == ("no-such-thing", "there is none", "make one")


def test_a_crash_says_its_kind_and_nothing_of_the_machine(control: Control) -> None:
    with pytest.raises(YazError) as raised:
        found(control).ask("crash")
    assert raised.value.message == "internal error (RuntimeError)"


@pytest.mark.parametrize("authorization", ["", "Bearer wrong", "Basic x", "bearer"])
def test_without_the_secret_nothing_is_said(control: Control, authorization: str) -> None:
    status, text = request(control, Authorization=authorization)
    assert (status, text) == (401, b'{"error": {"code": "unauthorised", "message": "unauthorised"}}')


def test_a_web_page_and_a_foreign_name_are_refused_even_with_the_secret(control: Control) -> None:
    assert request(control, Origin="https://evil.example")[0] == 403
    assert request(control, Origin="null")[0] == 403
    assert request(control, Host="evil.example")[0] == 421
    assert request(control, Host=f"localhost:{control.port}")[0] == 200


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"7", b"[" * 100_000])
def test_a_body_that_is_no_object_is_malformed(control: Control, body: bytes) -> None:
    assert request(control, body=body)[0] == 400


def test_other_methods_and_paths_are_refused(control: Control) -> None:
    assert request(control, method="GET")[0] == 501
    assert request(control, path="/nothing")[0] == 404


def test_run_json_is_the_users_alone_and_leads_to_the_running_application(home: Home, control: Control) -> None:
    path = announce(home, url="http://127.0.0.1:1/mcp", token="token", control=control)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    there = running(home)
    assert there is not None
    assert there.url == "http://127.0.0.1:1/mcp"
    withdraw(home)
    assert not path.exists()
    assert running(home) is None


def test_a_stale_run_json_is_ignored(home: Home, control: Control) -> None:
    announce(home, url="u", token="t", control=control)
    document: Any = home.read_json("run.json")
    home.write_json("run.json", {**document, "control": {"port": document["control"]["port"], "secret": "another"}})
    assert running(home) is None
    home.write_json("run.json", {**document, "pid": 2**22 + 1})
    assert running(home) is None
    home.write_json("run.json", ["nonsense"])
    assert running(home) is None


def test_another_processes_run_json_is_left_alone(home: Home, control: Control) -> None:
    announce(home, url="u", token="t", control=control)
    document: Any = home.read_json("run.json")
    home.write_json("run.json", {**document, "pid": document["pid"] + 1})
    withdraw(home)
    assert home.path("run.json").exists()


def test_after_closing_the_port_refuses(home: Home) -> None:
    door = Control({})
    door.start()
    there = found(door)
    door.close()
    with pytest.raises(YazError) as raised:
        there.ask("ping")
    assert raised.value.code == "not-running"
