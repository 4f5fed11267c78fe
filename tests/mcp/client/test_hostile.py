"""Servers that lie, flood, hang and lead astray: each ends in one clear fault, in bounded time and memory."""

from __future__ import annotations

import gzip
import json
import os
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.cli.commands import until, wait_for_end
from tests.mcp.client.conftest import SECONDS, Setup
from yazcore import ServiceError
from yazcore.mcp.client.listing import MOST_PAGES


def fault(setup: Setup, tool: str = "t", seconds: float = SECONDS) -> ServiceError:
    with pytest.raises(ServiceError) as caught:
        setup.call(tool, server="hostile", seconds=seconds)
    return caught.value


OLD = {"protocolVersion": "1999-01-01", "capabilities": {}, "serverInfo": {"name": "a", "version": "0"}}


# -- processes --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "expected", "ending"),
    [
        ("sys.exit(1)", "server-gone", "closed the connection"),
        ("os.close(1); time.sleep(1000)", "server-gone", "closed the connection"),
        ("sys.stdout.write('x' * (5 << 20)); sys.stdout.flush(); sys.stdin.read()", "server-too-large", "one answer"),
        ("while True: print('x' * 1000, flush=True)", "server-too-large", "one answer"),
        (
            "while True: send(method='notifications/message', params={'level': 'info', 'data': 'x' * 9000})",
            "server-too-large", "one answer",
        ),
        (
            f"for m in sys.stdin: send(id=json.loads(m).get('id', 0), result={OLD})",
            "server-invalid", "Unsupported protocol version from the server: 1999-01-01",
        ),
        (
            "for m in sys.stdin: send(id=json.loads(m).get('id', 0), error={'code': 5, 'message': 'go away'})",
            "server-error", "answers with error 5: go away",
        ),
    ],
)  # fmt: skip
def test_a_process_that_never_speaks_the_protocol(setup: Setup, code: str, expected: str, ending: str) -> None:
    setup.script(code)
    error = fault(setup, seconds=20)
    assert error.code == expected, error.message
    assert error.message.endswith(ending)


def test_a_process_that_says_nothing_has_its_time_and_no_more(setup: Setup) -> None:
    setup.script("time.sleep(1000)")
    assert fault(setup, seconds=0.5).message == "the MCP server hostile did not answer within 0.5 seconds"


@pytest.mark.parametrize(
    ("answer", "expected", "ending"),
    [
        ("send(id=m['id'], result={'tools': [TOOL], 'nextCursor': 'again'})", "server-endless", "tools without an end"),
        (
            "send(id=m['id'], result={'tools': [TOOL], 'nextCursor': str(time.monotonic_ns())})",
            "server-endless", "tools without an end",
        ),
        ("send(id=m['id'], result={'tools': [TOOL] * 2500, 'nextCursor': 'a'})", "server-endless", "without an end"),
        (
            "send(id=m['id'], result={'tools': [{**TOOL, 'title': 'x' * 3000000}], 'nextCursor': str(time.time_ns())})",
            "server-too-large", "8388608 bytes for one answer",
        ),
        ("send(id=m['id'], result={'tools': 'many'})", "server-invalid", "protocol: tools: list_type"),
        ("send(id=m['id'], result={'tools': [{'name': 't'}]})", "server-invalid", "tools/0/inputSchema: missing"),
        ("send(id=m['id'], result={'tools': [TOOL, TOOL]})", "server-tool-invalid", "it is listed twice"),
        ("os._exit(0)", "server-gone", "closed the connection"),
    ],
)  # fmt: skip
def test_a_list_that_is_none_or_has_no_end(setup: Setup, answer: str, expected: str, ending: str) -> None:
    setup.script(f"def page(m): {answer}\nserving(list=page, call=None)")
    error = fault(setup)
    assert error.code == expected, error.message
    assert error.message.endswith(ending)


def test_no_more_pages_are_asked_than_bounded(setup: Setup) -> None:
    setup.script(
        """
        def page(m):
            open(os.path.join(sys.argv[1], "pages"), "a").write("x\\n")
            send(id=m["id"], result={"tools": [], "nextCursor": str(time.monotonic_ns())})
        serving(list=page, call=None)
        """
    )
    fault(setup)
    assert len(setup.lines("pages")) == MOST_PAGES


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("send(id=m['id'], result={'content': 'text'})", "server-invalid"),
        ("send(id=m['id'], result={'content': [{'type': 'hologram'}]})", "server-invalid"),
        ("send(id=m['id'], result={})", "server-invalid"),
        ("send(id=m['id'], result={'content': [{'type': 'text', 'text': 'x' * (3 << 20)}]})", "server-too-large"),
        ("send(id='another', result={'content': []})", "server-slow"),
        ("send(id=m['id'], result=[])", "server-slow"),
        ("print('{' * 100000, flush=True)", "server-slow"),
        ("print('[' * 100000, flush=True)", "server-slow"),
        ("sys.stdout.buffer.write(b'\\xff\\xfe\\n'); sys.stdout.flush()", "server-slow"),
        ("sys.stdout.write('{\"jsonrpc\": \"2.0\", '); sys.stdout.flush()", "server-slow"),
    ],
)
def test_an_answer_to_a_call_that_is_none(setup: Setup, answer: str, expected: str) -> None:
    setup.script(f"def call(m): {answer}\nserving(call=call)")
    setup.see("hostile")
    seconds = 0.5 if expected == "server-slow" else SECONDS
    assert fault(setup, seconds=seconds).code == expected


def test_what_a_server_asks_of_us_is_refused(setup: Setup) -> None:
    setup.script(
        """
        ASKS = [
            ("sampling/createMessage", {"messages": [], "maxTokens": 10}),
            ("elicitation/create", {"message": "key?", "requestedSchema": {"type": "object", "properties": {}}}),
            ("roots/list", {}),
        ]
        def call(m):
            for number, (method, params) in enumerate(ASKS):
                send(id=f"q{number}", method=method, params=params)
            answers = [json.loads(sys.stdin.readline()) for _ in ASKS]
            said = sorted(one["error"]["message"] for one in answers)
            send(id=m["id"], result={"content": [{"type": "text", "text": ", ".join(said)}]})
        for message in requests():
            if message["method"] == "tools/list":
                send(id=message["id"], result={"tools": [TOOL]})
            else:
                call(message)
        """
    )
    setup.see("hostile")
    (said,) = setup.call("t", server="hostile")["content"]
    assert said["text"] == "Elicitation not supported, List roots not supported, Sampling not supported"


def test_progress_and_logs_that_nobody_asked_for_change_nothing(setup: Setup) -> None:
    setup.script(
        """
        def call(m):
            for n in range(200):
                send(method="notifications/progress", params={"progressToken": n, "progress": n})
                send(method="notifications/message", params={"level": "emergency", "data": {"a": [n]}})
                send(method="notifications/nonsense", params={"a": n})
            send(id=m["id"], result={"content": []})
        serving(call=call)
        """
    )
    setup.see("hostile")
    assert setup.call("t", server="hostile") == {"content": [], "isError": False}


def test_a_server_that_says_its_tools_changed_is_asked_again(setup: Setup) -> None:
    setup.script(
        """
        seen = [0]
        def page(m):
            seen[0] += 1
            send(id=m["id"], result={"tools": [{**TOOL, "description": f"the {seen[0] // 3}"}]})
        def call(m):
            send(method="notifications/tools/list_changed")
            send(id=m["id"], result={"content": []})
        serving(list=page, call=call)
        """
    )
    setup.see("hostile")
    assert setup.call("t", server="hostile")["isError"] is False
    assert fault(setup).code == "server-tool-held"


def test_a_process_that_takes_no_input_is_given_up(setup: Setup) -> None:
    setup.script(
        """
        def call(m):
            open(os.path.join(sys.argv[1], "hangs"), "a").write(f"{os.getpid()}\\n")
            time.sleep(1000)
        serving(call=call)
        """
    )
    setup.see("hostile")
    for _ in range(3):
        with pytest.raises(ServiceError, match=r"did not answer within 0\.3 seconds"):
            setup.servers.call("hostile", "t", {"text": "x" * 1_000_000}, 0.3).result(SECONDS)
    until(lambda: setup.lines("hangs"))
    wait_for_end(int(setup.lines("hangs")[0]))


def test_what_a_server_started_ends_with_it(setup: Setup) -> None:
    setup.script(
        """
        import signal, subprocess
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        child = subprocess.Popen([sys.executable, "-c", "import signal, time; signal.signal(signal.SIGTERM, "
                                  "signal.SIG_IGN); print(1, flush=True); time.sleep(1000)"])
        open(os.path.join(sys.argv[1], "pids"), "w").write(f"{os.getpid()}\\n{child.pid}\\n")
        serving(call=lambda m: send(id=m["id"], result={"content": []}))
        time.sleep(1000)
        """
    )
    setup.see("hostile")
    setup.call("t", server="hostile")
    setup.servers.close()
    for pid in setup.lines("pids"):
        wait_for_end(int(pid))


def test_a_server_that_cannot_be_started_is_not_started_over_and_over(setup: Setup) -> None:
    setup.script('open(os.path.join(sys.argv[1], "starts"), "a").write("x\\n"); sys.exit(1)')
    for _ in range(10):
        assert fault(setup).code == "server-gone"
    assert len(setup.lines("starts")) == 3


# -- HTTP -------------------------------------------------------------------------------------------------------------

Answer = Callable[[BaseHTTPRequestHandler, dict[str, Any]], None]


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """Whoever asked has hung up."""


class Web:
    """A server over HTTP that a test answers for; `asked` has every request."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, dict[str, str]]] = []
        self.answer: Answer = usual
        self.get: Callable[[BaseHTTPRequestHandler], None] = lambda handler: reply(handler, 405, b"")
        web = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                web.asked.append(("POST", self.path, dict(self.headers)))
                web.answer(self, json.loads(body))

            def do_GET(self) -> None:
                web.asked.append(("GET", self.path, dict(self.headers)))
                web.get(self)

            def do_DELETE(self) -> None:
                reply(self, 405, b"")

            def log_message(self, *args: Any) -> None:
                """Nothing is said."""

        self.server = _Server(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}/mcp"


def reply(handler: BaseHTTPRequestHandler, status: int, body: bytes, **headers: str) -> None:
    handler.send_response(status)
    for name, value in {"Content_Type": "application/json", "Content_Length": str(len(body)), **headers}.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    handler.wfile.write(body)


def usual(handler: BaseHTTPRequestHandler, message: dict[str, Any]) -> None:
    results: dict[str, Any] = {
        "initialize": {
            "protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
            "serverInfo": {"name": "hostile", "version": "0"},
        },
        "tools/list": {"tools": [{"name": "t", "inputSchema": {"type": "object"}}]},
        "tools/call": {"content": []},
    }  # fmt: skip
    if "id" not in message:
        reply(handler, 202, b"")
    elif message["method"] in results:
        result = {"jsonrpc": "2.0", "id": message["id"], "result": results[message["method"]]}
        reply(handler, 200, json.dumps(result).encode(), Mcp_Session_Id="abc")
    else:
        error = {"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "no"}}
        reply(handler, 200, json.dumps(error).encode())


def on_call(answer: Answer) -> Answer:
    def answers(handler: BaseHTTPRequestHandler, message: dict[str, Any]) -> None:
        (answer if message.get("method") == "tools/call" else usual)(handler, message)

    return answers


@pytest.fixture
def web(setup: Setup) -> Iterator[Web]:
    made = Web()
    setup.named("hostile", url=made.url, headers={"X-Key": "env:HOSTILE_KEY"})
    os.environ["HOSTILE_KEY"] = "s3cret"
    try:
        yield made
    finally:
        del os.environ["HOSTILE_KEY"]
        made.server.shutdown()
        made.server.server_close()


def test_a_redirect_to_another_origin_is_not_followed(setup: Setup, web: Web) -> None:
    other = Web()
    web.answer = lambda handler, message: reply(handler, 307, b"", Location=other.url)
    error = fault(setup)
    assert (error.code, error.message) == (
        "server-redirects", "the MCP server hostile redirects to another address, which is not followed"
    )  # fmt: skip
    assert other.asked == []
    other.server.shutdown()
    other.server.server_close()


def test_a_redirect_within_the_origin_is_followed_so_often(setup: Setup, web: Web) -> None:
    def once(handler: BaseHTTPRequestHandler, message: dict[str, Any]) -> None:
        if handler.path == "/mcp":
            reply(handler, 307, b"", Location="/mcp/")
        else:
            usual(handler, message)

    web.answer = once
    setup.see("hostile")
    assert setup.call("t", server="hostile")["isError"] is False
    web.answer = lambda handler, message: reply(handler, 307, b"", Location=f"{handler.path}x")
    web.asked.clear()
    assert fault(setup).code == "server-redirects"
    assert len(web.asked) < 20


@pytest.mark.parametrize(
    ("answer", "code", "ending"),
    [
        (lambda handler, message: reply(handler, 403, b"{}"), "server-refused", "HTTP 403"),
        (lambda handler, message: reply(handler, 500, b"no"), "server-gone", "answers HTTP 500"),
        (lambda handler, message: reply(handler, 200, b"<html>", Content_Type="text/html"), "server-invalid", "read"),
        (lambda handler, message: reply(handler, 200, b"{"), "server-invalid", "cannot be read"),
        (lambda handler, message: reply(handler, 202, b""), "server-invalid", "cannot be read"),
        (lambda handler, message: reply(handler, 200, b"x" * (5 << 20)), "server-too-large", "one answer"),
        (
            lambda handler, message: reply(handler, 200, gzip.compress(b" " * (100 << 20)), Content_Encoding="gzip"),
            "server-invalid", "a compressed answer, which was not asked for",
        ),
        (
            lambda handler, message: reply(
                handler, 200, b"data: " + b"x" * (5 << 20) + b"\n\n", Content_Type="text/event-stream"
            ),
            "server-invalid", "cannot be read",
        ),
        (lambda handler, message: handler.wfile.write(b"SSH-2.0-hello\r\n\r\n"), "server-gone", "RemoteProtocolError"),
        (lambda handler, message: handler.connection.shutdown(2), "server-gone", "Error"),
    ],
)  # fmt: skip
def test_an_answer_over_http_that_is_none(setup: Setup, web: Web, answer: Answer, code: str, ending: str) -> None:
    web.answer = answer
    error = fault(setup)
    assert error.code == code, error.message
    assert error.message.endswith(ending)
    assert "s3cret" not in error.message


def test_a_stream_that_does_not_end_ends_with_the_call(setup: Setup, web: Web) -> None:
    over = threading.Event()

    def stream(handler: BaseHTTPRequestHandler, message: dict[str, Any]) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.end_headers()
        try:
            while True:
                handler.wfile.write(b": nothing\n\n")
                over.wait(0.01)
        except OSError:
            over.set()

    web.answer = on_call(stream)
    setup.see("hostile")
    assert fault(setup, seconds=0.5).code == "server-slow"
    assert over.wait(SECONDS)


def test_a_stream_that_breaks_off_is_taken_up_again_and_not_for_ever(setup: Setup, web: Web) -> None:
    def breaks_off(handler: BaseHTTPRequestHandler) -> None:
        reply(handler, 200, b"id: 7\nretry: 1\ndata:\n\n", Content_Type="text/event-stream")

    web.answer = on_call(lambda handler, message: breaks_off(handler))
    web.get = breaks_off
    setup.see("hostile")
    assert fault(setup).code == "server-gone"
    taken_up = [headers for method, _, headers in web.asked if method == "GET" and headers.get("last-event-id") == "7"]
    assert 0 < len(taken_up) < 40


def test_a_cancelled_call_leaves_the_connection_to_others(setup: Setup, web: Web) -> None:
    told: list[dict[str, Any]] = []
    over = threading.Event()

    def waits(handler: BaseHTTPRequestHandler, message: dict[str, Any]) -> None:
        if message.get("method") == "tools/call" and not told:
            over.wait(SECONDS)
        elif message.get("method") == "notifications/cancelled":
            told.append(message["params"])
            over.set()
        usual(handler, message)

    setup.see("hostile")
    web.answer = waits
    asked = len(web.asked)
    assert fault(setup, seconds=0.3).code == "server-slow"
    assert over.wait(SECONDS)
    assert setup.call("t", server="hostile")["isError"] is False
    # the list, a call, that it is over, another call
    assert [method for method, _, _ in web.asked[asked:]] == ["POST"] * 4


def test_a_flood_of_events_is_cut(setup: Setup, web: Web) -> None:
    told = {"level": "info", "data": "x" * 9000}
    event = json.dumps({"jsonrpc": "2.0", "method": "notifications/message", "params": told})

    def flood(handler: BaseHTTPRequestHandler, message: dict[str, Any]) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.end_headers()
        try:
            while True:
                handler.wfile.write(b"data: " + event.encode() + b"\n\n")
        except OSError:
            pass

    web.answer = on_call(flood)
    setup.see("hostile")
    assert fault(setup).code == "server-too-large"


def test_a_session_that_was_forgotten_is_opened_anew_and_the_call_made_once(setup: Setup, web: Web) -> None:
    forgotten = [True]

    def forgets(handler: BaseHTTPRequestHandler, message: dict[str, Any]) -> None:
        if message.get("method") == "tools/call" and forgotten:
            forgotten.clear()
            reply(handler, 404, b"")
        else:
            usual(handler, message)

    setup.see("hostile")
    web.answer = forgets
    assert setup.call("t", server="hostile")["isError"] is False
    assert forgotten == []


def test_a_session_that_is_always_forgotten_is_gone(setup: Setup, web: Web) -> None:
    setup.see("hostile")
    web.answer = on_call(lambda handler, message: reply(handler, 404, b""))
    assert fault(setup).message == "the MCP server hostile has forgotten us"


def test_the_secret_goes_in_its_header_and_nowhere_else(
    setup: Setup, web: Web, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    setup.see("hostile")
    setup.call("t", server="hostile")
    web.answer = lambda handler, message: reply(handler, 500, b"no")
    fault(setup)
    assert {headers.get("X-Key") for _, _, headers in web.asked} == {"s3cret"}
    assert "s3cret" not in caplog.text
    kept = [path.read_text() for path in Path(setup.home.folder).rglob("*") if path.is_file()]
    assert kept
    assert not any("s3cret" in text for text in kept)


def test_a_get_stream_that_is_refused_is_no_fault(setup: Setup, web: Web) -> None:
    setup.see("hostile")
    until(lambda: [one for one in web.asked if one[0] == "GET"])
    assert setup.call("t", server="hostile")["isError"] is False
