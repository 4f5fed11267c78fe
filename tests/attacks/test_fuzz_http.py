"""The listener against requests at random, of both protocol eras: no 5xx, no internal error, no leak, no log of it."""

from __future__ import annotations

import contextlib
import json
import logging
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import anyio.from_thread
import attrs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.attacks.sockets import INITIALIZE, META, port_of, request
from tests.mcp.sample import plugin
from tests.mcp.serving import MODERN, sample_host
from yazcore import Home
from yazcore.mcp.listener import Address, Listener

METHODS = (
    "tools/list", "tools/call", "resources/list", "resources/templates/list", "resources/read", "resources/subscribe",
    "resources/unsubscribe", "prompts/list", "prompts/get", "completion/complete", "server/discover", "initialize",
    "ping", "logging/setLevel", "notifications/initialized", "notifications/cancelled", "subscriptions/listen",
    "tasks/get", "roots/list", "elicitation/create", "", "x" * 300, "tools/call\n",
)  # fmt: skip
NAMES = ("sample__echo", "sample__count", "sample__refuse", "sample__describe", "sample__greet", "nothing", "", "é")
URIS = ("yaz://sample/note", "yaz://sample/blob", "yaz://result/x?page=1", "yaz://", "file:///etc/passwd", "\u0000")


@attrs.frozen
class Target:
    """The server under attack."""

    port: int
    token: str
    folder: Path
    session: str
    log: list[logging.LogRecord]


class Kept(logging.Handler):
    """Every record of every logger."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    folder = tmp_path_factory.mktemp("fuzz")
    host, kept, root = sample_host(Home(folder / "yaz")), Kept(), logging.getLogger()
    level = root.level
    root.addHandler(kept)
    root.setLevel(logging.DEBUG)
    plugin.seen.released.set()
    try:
        with anyio.from_thread.start_blocking_portal() as portal:
            listener = Listener(host)
            running, address = portal.start_task(listener.run)
            assert isinstance(address, Address)
            port = port_of(address.url)
            opened = exchange(port, request(port, address.token, INITIALIZE))
            session = opened.lower().split(b"mcp-session-id: ")[1].split(b"\r\n")[0].decode()
            yield Target(port, address.token, folder, session, kept.records)
            portal.call(listener.stop)
            running.result(10)
    finally:
        root.setLevel(level)
        root.removeHandler(kept)
        host.close()


def exchange(port: int, data: bytes) -> bytes:
    """All that comes back: the whole answer, and of a stream what comes before it is silent for a moment."""
    received = b""
    with socket.create_connection(("127.0.0.1", port), 10) as connection, contextlib.suppress(ConnectionError):
        connection.sendall(data)
        while not _is_over(received, data.startswith(b"HEAD ")):
            connection.settimeout(0.05 if b"text/event-stream" in received else 10)
            try:
                more = connection.recv(65_536)
            except TimeoutError:
                break
            if not more:
                break
            received += more
    return received


def _is_over(received: bytes, is_head_alone: bool) -> bool:
    head, end, rest = received.partition(b"\r\n\r\n")
    if not end or is_head_alone:
        return bool(end)
    if b"transfer-encoding: chunked" in head.lower():
        return rest.endswith(b"0\r\n\r\n")
    lengths = [int(one[15:]) for one in head.lower().split(b"\r\n") if one.startswith(b"content-length:")]
    return not lengths or len(rest) >= lengths[0]


odd = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**30), 10**30) | st.floats() | st.text(max_size=8)
    | st.sampled_from([*NAMES, *URIS, MODERN, "2025-11-25", "x" * 5000]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip
REFS = st.sampled_from(
    [{"type": "ref/resource", "uri": "yaz://sample/{name}"}, {"type": "ref/prompt", "name": "sample__greet"}]
)


def mostly(usual: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return usual | usual | usual | odd


params = st.fixed_dictionaries(
    {},
    optional={
        "_meta": mostly(st.just(META) | st.just({**META, "progressToken": 1})),
        "name": mostly(st.sampled_from(NAMES)), "arguments": mostly(st.just({"text": "hi"}) | st.just({"to": 3})),
        "uri": mostly(st.sampled_from(URIS)), "cursor": odd, "ref": mostly(REFS), "argument": odd, "level": odd,
        "protocolVersion": odd, "capabilities": odd, "clientInfo": odd, "requestState": odd, "inputResponses": odd,
        "notifications": odd, "requestId": odd, "context": odd,
    },
)  # fmt: skip
messages = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": mostly(st.just("2.0")), "id": mostly(st.integers(1, 5) | st.just("a")),
        "method": mostly(st.sampled_from(METHODS)), "params": mostly(params), "result": odd, "error": odd,
    },
)  # fmt: skip
bodies = st.one_of(
    messages.map(lambda message: json.dumps(message).encode()),
    messages.map(lambda message: json.dumps(message).encode()),
    st.lists(messages, max_size=3).map(lambda several: json.dumps(several).encode()),
    odd.map(lambda value: json.dumps(value).encode()),
    st.binary(max_size=40),
)
values = st.text(st.characters(min_codepoint=32, max_codepoint=255, exclude_characters="\x7f"), max_size=20)
headers = st.lists(
    st.tuples(
        st.sampled_from([
            "Accept", "Content-Type", "MCP-Protocol-Version", "Mcp-Method", "Mcp-Name", "Mcp-Session-Id", "Mcp-Param-X",
            "Last-Event-ID", "Origin", "Host", "Authorization", "Connection", "Expect", "Cookie", "X-Forwarded-For",
        ]),
        values
        | st.sampled_from(["application/json", "text/event-stream", MODERN, "2025-11-25", "1", "session", "*/*"]),
    ),
    max_size=3,
)  # fmt: skip


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    body=bodies,
    era=st.sampled_from(["newer", "newer", "older", "none"]),
    verb=st.sampled_from(["POST"] * 6 + ["GET", "DELETE", "PUT", "OPTIONS", "post", "HEAD"]),
    path=st.sampled_from(["/mcp"] * 8 + ["/", "/mcp/", "/mcp?token=x", "*", "/.well-known/oauth-protected-resource"]),
    token=st.sampled_from(["right"] * 8 + ["none", "wrong"]),
    more=headers,
)
def test_whatever_is_asked_nothing_breaks_and_nothing_leaks(
    target: Target, body: bytes, era: str, verb: str, path: str, token: str, more: list[tuple[str, str]]
) -> None:
    secret = {"right": target.token, "wrong": "x" * 43, "none": None}[token]
    session = "gone" if verb == "DELETE" else target.session  # the one session is to live on
    lines = [f"{name}: {session if value == 'session' else value}" for name, value in more]
    if era == "newer":
        method = _of(body, "method")
        lines += [f"MCP-Protocol-Version: {MODERN}", f"Mcp-Method: {method}"]
        lines += [f"Mcp-Name: {named}"] if (named := _of(body, "params", "name") or _of(body, "params", "uri")) else []
    elif era == "older":
        lines += ["MCP-Protocol-Version: 2025-11-25", f"Mcp-Session-Id: {session}"]
    del target.log[:]
    answer = exchange(target.port, request(target.port, secret, body, *lines, line=f"{verb} {path} HTTP/1.1"))
    status = int(answer.split(b" ", 2)[1]) if answer else 0  # what is no HTTP may be answered with silence
    assert status < 500 or status == 501, answer
    if token != "right" and answer:
        assert status in (400, 401), answer
    for leak in (b"Traceback", str(target.folder).encode(), b"site-packages", target.token.encode(), b"-32603"):
        assert leak not in answer, answer
    for record in target.log:
        said = record.getMessage() + str(record.exc_info or "")
        assert record.levelno < logging.ERROR, said
        assert target.token not in said


@pytest.mark.parametrize("method", ["tools/call", "resources/read", "prompts/get", "logging/setLevel"])
def test_a_request_without_an_id_asks_for_nothing(target: Target, method: str) -> None:
    del target.log[:]
    params = {"name": "sample__echo", "arguments": {"text": "hi"}, "requestState": "x", "uri": "yaz://sample/note"}
    body = json.dumps({"jsonrpc": "2.0", "method": method, "params": {**params, "_meta": META}}).encode()
    newer = (f"MCP-Protocol-Version: {MODERN}", f"Mcp-Method: {method}", "Mcp-Name: sample__echo")
    older = ("MCP-Protocol-Version: 2025-11-25", f"Mcp-Session-Id: {target.session}")
    for lines in (newer, older):
        answer = exchange(target.port, request(target.port, target.token, body, *lines))
        assert answer.startswith(b"HTTP/1.1 202"), answer
    assert [record.getMessage() for record in target.log if record.levelno >= logging.WARNING] == []


def _of(body: bytes, *path: str) -> str:
    """A text of a message that can stand in a header."""
    try:
        value = json.loads(body)
        for name in path:
            value = value[name]
    except (ValueError, KeyError, TypeError, IndexError, RecursionError):
        return ""
    return value if isinstance(value, str) and value.isprintable() and value.isascii() else ""


def test_after_all_that_it_still_answers(target: Target) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": META}}
    assert exchange(target.port, request(target.port, target.token, body)).startswith(b"HTTP/1.1 200")
