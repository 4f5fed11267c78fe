"""The user's own door against requests by hand: nothing but the secret opens it, and nothing wears it down."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from concurrent.futures import Future
from typing import Any

import pytest

from yazcore.control.door import Control, Underway


@pytest.fixture
def control() -> Iterator[Control]:
    made = Control({"echo": lambda arguments: arguments})
    made.start()
    yield made
    made.close()


def sent(control: Control, data: bytes) -> bytes:
    """All that comes back."""
    with socket.create_connection(("127.0.0.1", control.port), timeout=10) as one:
        one.sendall(data)
        received = b""
        while more := one.recv(65_536):
            received += more
    return received


def request(control: Control, *lines: str, line: str = "POST /echo HTTP/1.1", body: bytes = b"{}") -> bytes:
    """A request as it should be, and these lines beside; a line of a name that is there already takes its place."""
    names = {one.partition(":")[0].strip().lower() for one in lines}
    usual = {
        "host": f"Host: 127.0.0.1:{control.port}",
        "authorization": f"Authorization: Bearer {control.secret}",
        "content-length": f"Content-Length: {len(body)}",
    }
    head = [line, *(one for name, one in usual.items() if name not in names), *lines]
    return "\r\n".join(head).encode("latin-1") + b"\r\n\r\n" + body


def status(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1])


@pytest.mark.parametrize(
    "lines",
    [
        ("Authorization: Bearer",),
        ("Authorization:",),
        ("X-Authorization: Bearer {secret}",),
        ("Authorization: {secret}",),
        ("Authorization: bearer {secret}",),
        ("Authorization: Bearer {secret}x",),
        ("Authorization: Bearer  {secret}",),
        ("Authorization: Bearer {secret}", "Authorization: Bearer {secret}"),
        ("Authorization: Bearer\r\n {secret}",),
        ("Authorization: Bearer \xe9",),
        ("Authorization\t: Bearer {secret}",),
        ("Cookie: secret={secret}", "Authorization: x"),
    ],
)
def test_nothing_but_the_secret_in_its_one_form_opens_it(control: Control, lines: tuple[str, ...]) -> None:
    given = [one.format(secret=control.secret) for one in lines]
    if not any(one.lower().startswith("authorization") for one in given):
        given.append("Authorization: none")
    answers = [sent(control, request(control, *given, line=f"POST /{path} HTTP/1.1")) for path in ("echo", "nothing")]
    assert answers[0] == answers[1]
    assert status(answers[0]) == 401


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (("Host: localhost",), 421),
        (("Host: evil.example:{port}",), 421),
        (("Host: 127.0.0.1:{port}@evil",), 421),
        (("Host: 127.0.0.1:{port}", "Host: 127.0.0.1:{port}"), 421),
        (("Host:",), 421),
        (("Host: [::1]:{port}",), 421),
        (("Origin: null",), 403),
        (("Origin:",), 403),
        (("Origin: http://127.0.0.1:{port}",), 403),
        (("Content-Length: -1",), 400),
        (("Content-Length: 1e3",), 400),
        (("Content-Length: ²",), 400),
        (("Transfer-Encoding: chunked", "Content-Length:"), 400),
    ],
)
def test_with_the_secret_the_rest_is_asked_too(control: Control, lines: tuple[str, ...], expected: int) -> None:
    given = [one.format(port=control.port) for one in lines]
    assert status(sent(control, request(control, *given))) == expected


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"null",
        b'"x"',
        b"[" * 100_000,
        b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
        b'{"a": ' + b"1" * 5_000 + b"}",
        b"\xff\xfe",
        b"{} {}",
    ],
    ids=["none", "a list", "null", "a text", "deep", "deep and closed", "a number without end", "no UTF-8", "two"],
)
def test_a_body_that_is_none_is_an_answer(control: Control, body: bytes) -> None:
    assert status(sent(control, request(control, body=body))) == 400


def test_a_command_is_named_by_its_path_alone(control: Control) -> None:
    for path in (f"http://127.0.0.1:{control.port}/echo", "/echo?x", "/echo/", "/ECHO", "/%65cho", "/../echo", "*"):
        assert status(sent(control, request(control, line=f"POST {path} HTTP/1.1"))) == 404


def test_many_silent_connections_leave_the_door_open_to_others(control: Control) -> None:
    silent = [socket.create_connection(("127.0.0.1", control.port), timeout=10) for _ in range(5)]
    for one in silent:
        one.sendall(b"POST /echo")
    try:
        answer = sent(control, request(control, body=b'{"a": 1}'))
        assert json.loads(answer.partition(b"\r\n\r\n")[2]) == {"result": {"a": 1}}
    finally:
        for one in silent:
            one.close()


def test_a_length_of_thousands_of_digits_is_an_answer(control: Control) -> None:
    assert status(sent(control, request(control, f"Content-Length: {'9' * 5_000}"))) == 400


@pytest.mark.parametrize("line", ["GET /echo HTTP/1.1", "PUT /echo HTTP/1.1", "GET /"])
def test_without_the_secret_other_methods_learn_nothing(control: Control, line: str) -> None:
    answer = sent(control, request(control, "Authorization: none", line=line))
    assert b"yaz" not in answer
    assert b"<html" not in answer


@pytest.mark.parametrize("told", [(object(), None, "x"), (1, {1, 2}, "x"), (1, None, object())])
def test_odd_progress_loses_no_result(told: tuple[Any, Any, Any]) -> None:
    """A plugin says how far it is, in whatever way: what it did is said all the same."""

    def works(arguments: dict[str, Any]) -> Underway:
        underway = Underway(future=Future())
        underway.report(*told)
        underway.future.set_result({"done": True})
        return underway

    control = Control({"works": works})
    control.start()
    try:
        answer = sent(control, request(control, line="POST /works HTTP/1.1"))
        assert json.loads(answer.splitlines()[-1]) == {"result": {"done": True}}
    finally:
        control.close()
