"""The door itself: a small HTTP server that does what the user's commands ask of a running application (design 7)."""

from __future__ import annotations

import contextlib
import hmac
import json
import logging
import queue
import secrets
import select
import socket
import sys
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError, Future
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import attrs

from yazcore.outcomes import progress_said
from yazcore.violations import YazError

_MOST_BODY = 4 * 2**20
_READ_SECONDS = 10.0
_LOOK_SECONDS = 0.25
_MOST_STRANGERS = 32

_UNAUTHORISED = {"error": {"code": "unauthorised", "message": "unauthorised"}}
_NO_COMMAND = {"error": {"code": "malformed", "message": "this is no command: commands are asked by POST"}}

_log = logging.getLogger("yazcore.control")

Command = Callable[[dict[str, Any]], Any]
"""What the door does for one path, in a thread of the request's own: gives plain data, raises `YazError`, or gives
`Underway` for what takes its time."""


@attrs.frozen(kw_only=True)
class Underway:
    """What a command answers that takes its time: its result to come, and what it reports meanwhile.

    Whoever asked may go: then the future is cancelled.
    """

    future: Future[Any] = attrs.field(factory=Future)
    progress: queue.SimpleQueue[tuple[float, float | None, str] | None] = attrs.field(factory=queue.SimpleQueue)

    def report(self, done: float, total: float | None, message: str) -> None:
        """Tell whoever asked how far it is; from any thread."""
        self.progress.put((done, total, message))

    def of(self, future: Future[Any]) -> Underway:
        """The same, with the result to come: who starts something needs `report` before there is a future."""
        return attrs.evolve(self, future=future)


class Control:
    """The door itself. `commands` maps a path to what it does; each runs in a thread of its own request."""

    def __init__(self, commands: Mapping[str, Command]) -> None:
        self.secret = secrets.token_urlsafe(32)
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.secret = self.secret.encode()
        self._server.commands = {"ping": lambda arguments: "pong", **commands}
        self.port: int = self._server.server_address[1]
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.05,), name="yaz-control", daemon=True
        )

    def start(self) -> None:
        """Answer from now on."""
        self._thread.start()

    def close(self) -> None:
        """Close the port; requests in flight end with their own threads."""
        self._server.shutdown()
        self._server.server_close()


def _fault(error: Exception) -> dict[str, str]:
    if isinstance(error, YazError):
        return error.as_json()
    if isinstance(error, CancelledError):
        return {"code": "stopped", "message": "it was ended before it was done: yaz stops"}
    # The user's own command: the kind of error may be said, not its text.
    return {"code": "internal", "message": f"internal error ({type(error).__name__})"}


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128  # with Python's five, a few connections at once keep others waiting for seconds
    secret: bytes
    commands: Mapping[str, Command]

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._lock = threading.Lock()
        self._strangers: dict[Any, None] = {}
        self._room = threading.Semaphore(_MOST_STRANGERS)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Start the thread of one connection. Where too many have not shown the secret, the oldest of them has to go.

        Any program on this machine may connect: it must neither take all threads nor keep the user out.
        """
        if not self._room.acquire(blocking=False):
            with self._lock:
                oldest = next(iter(self._strangers), None)
            if oldest is not None:
                with contextlib.suppress(OSError):
                    oldest.shutdown(socket.SHUT_RDWR)
            self._room.acquire()
        with self._lock:
            self._strangers[request] = None
        super().process_request(request, client_address)

    def is_no_stranger(self, request: Any) -> None:
        """The connection has shown the secret, or has ended: it takes no room any more."""
        with self._lock:
            was_one = request in self._strangers
            self._strangers.pop(request, None)
        if was_one:
            self._room.release()

    def shutdown_request(self, request: Any) -> None:
        """End a connection."""
        self.is_no_stranger(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Where whoever asked has gone before the answer, nothing is wrong; anything else is for the log."""
        if not isinstance(sys.exception(), OSError):
            _log.exception("a command could not be answered")


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    server_version = "yaz"
    sys_version = ""
    timeout = _READ_SECONDS
    protocol_version = "HTTP/1.0"

    def do_POST(self) -> None:
        """One command. The secret is asked before anything else is looked at."""
        if not self._has_secret():
            self._answer(401, _UNAUTHORISED)
            return
        self.server.is_no_stranger(self.connection)
        host = self.headers.get_all("Host") or []
        if host not in ([f"127.0.0.1:{self.server.server_address[1]}"], [f"localhost:{self.server.server_address[1]}"]):
            self._answer(421, {"error": {"code": "wrong-host", "message": "wrong Host"}})
            return
        if self.headers.get("Origin") is not None:
            self._answer(403, {"error": {"code": "foreign-origin", "message": "no web page may ask"}})
            return
        command = self.server.commands.get(self.path.removeprefix("/"))
        if command is None:
            self._answer(404, {"error": {"code": "unknown-command", "message": "unknown command"}})
            return
        arguments = self._body()
        if arguments is None:
            self._answer(400, {"error": {"code": "malformed", "message": "the body is no JSON object"}})
            return
        try:
            result = command(arguments)
        except Exception as error:  # noqa: BLE001 - whatever it is, whoever asked has to hear of it
            self._answer(422 if isinstance(error, YazError) else 500, {"error": _fault(error)})
            return
        if isinstance(result, Underway):
            self._follow(result)
        else:
            self._answer(200, {"result": result})

    def _follow(self, underway: Underway) -> None:
        """Say how far it is, a line each time, and at the end what came of it. Stops it where nobody listens."""
        underway.future.add_done_callback(lambda _: underway.progress.put(None))
        self.send_response_only(200)
        self.send_header("Content-Type", "application/x-ndjson")
        self.end_headers()
        try:
            while (told := self._next(underway)) is not None:
                if (said := progress_said(*told)) is not None:
                    self._line({"progress": said})
            try:
                answer = {"result": underway.future.result()}
            except Exception as error:  # noqa: BLE001 - as above; a cancelled one too
                answer = {"error": _fault(error)}
            self._line(answer)
        except OSError:
            underway.future.cancel()

    def _next(self, underway: Underway) -> tuple[float, float | None, str] | None:
        while True:
            with contextlib.suppress(queue.Empty):
                return underway.progress.get(timeout=_LOOK_SECONDS)
            if self._is_alone():
                raise ConnectionAbortedError

    def _is_alone(self) -> bool:
        """Whether whoever asked has gone."""
        readable, _, _ = select.select([self.connection], [], [], 0)
        return bool(readable) and not self.connection.recv(1, socket.MSG_PEEK)

    def _line(self, document: dict[str, Any]) -> None:
        self.wfile.write(json.dumps(document).encode() + b"\n")

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """What is no command: without the secret no more is said than for a wrong one."""
        known = self._has_secret()
        self._answer(code if known else 401, _NO_COMMAND if known else _UNAUTHORISED)

    def _has_secret(self) -> bool:
        headers = getattr(self, "headers", None)  # none, where not even the request's first line was one
        given = [] if headers is None else headers.get_all("Authorization") or []
        expected = b"Bearer " + self.server.secret
        return len(given) == 1 and hmac.compare_digest(given[0].encode("latin-1", "replace"), expected)

    def _body(self) -> dict[str, Any] | None:
        length = self.headers.get("Content-Length", "")
        if not length.isascii() or not length.isdigit() or len(length) > 9 or int(length) > _MOST_BODY:
            return None
        try:
            body = json.loads(self.rfile.read(int(length)))
        except (ValueError, RecursionError):
            return None
        return body if isinstance(body, dict) else None

    def _answer(self, status: int, document: dict[str, Any]) -> None:
        body = json.dumps(document).encode()
        self.send_response_only(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Nothing is logged: a request line may hold what a user would not want kept."""
