"""The user's own door to a running application: a second loopback port for commands, JSON over HTTP (design 7).

`run.json` in the home folder (mode 0600) says where it is. It has its own secret: no MCP token opens it, and no MCP
call reaches it, so no agent can grant anything. Standard library only, so that the small commands start fast.

An answer is one JSON object on a line, `{"result"}` or `{"error"}`; the lines before it, of a command that takes its
time, are `{"progress": [done, total, message]}`.
"""

from __future__ import annotations

import contextlib
import hmac
import http.client
import json
import os
import queue
import secrets
import select
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import CancelledError, Future
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import attrs

from yazcore.home import Home
from yazcore.violations import YazError

RUN_FILE = "run.json"
"""The file that says where the running application is; its lock is held for as long as one serves."""

_MOST_BODY = 4 * 2**20
_READ_SECONDS = 10.0
_PING_SECONDS = 10.0
_START_SECONDS = 2.0
_LOOK_SECONDS = 0.25

Report = Callable[[float, float | None, str], None]
Command = Callable[[dict[str, Any]], Any]
"""What the door does for one path, in a thread of the request's own: gives plain data, raises `YazError`, or gives
`Underway` for what takes its time."""


@attrs.frozen(kw_only=True)
class Underway:
    """What a command answers that takes its time: its result to come, and what it reports meanwhile.

    Whoever asked may go: then the future is cancelled.
    """

    future: Future[Any]
    progress: queue.SimpleQueue[tuple[float, float | None, str] | None] = attrs.field(factory=queue.SimpleQueue)

    def report(self, done: float, total: float | None, message: str) -> None:
        """Tell whoever asked how far it is; from any thread."""
        self.progress.put((done, total, message))


@attrs.frozen(kw_only=True)
class Running:
    """Where a running application is reached: what `run.json` holds."""

    pid: int
    url: str
    token: str = attrs.field(repr=False)
    port: int
    secret: str = attrs.field(repr=False)

    def ask(self, command: str, /, seconds: float = 660.0, report: Report | None = None, **arguments: Any) -> Any:
        """Have the running application do something; `seconds` bounds each wait for it to say something.

        Raises `YazError`: what it says; `not-running` where nobody listens; `not-answering`; `connection-lost` where it
        ended before it had answered.
        """
        body = json.dumps(arguments).encode()
        headers = {"Authorization": f"Bearer {self.secret}", "Content-Type": "application/json"}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=seconds)
        try:
            try:
                connection.connect()
            except TimeoutError:
                raise self._not_answering() from None
            except OSError:
                raise not_running() from None
            try:
                connection.request("POST", f"/{command}", body, headers)
                with connection.getresponse() as response:
                    return _answer_of(response, report)
            except TimeoutError:
                raise self._not_answering() from None
            except (OSError, http.client.HTTPException):
                raise YazError(
                    "connection-lost", f"yaz (process {self.pid}) ended before it had answered",
                    "yaz status says whether it runs",
                ) from None  # fmt: skip
        finally:
            connection.close()

    def _not_answering(self) -> YazError:
        return YazError(
            "not-answering", f"yaz (process {self.pid}) does not answer",
            "let it go on if it is suspended (fg), or end that process",
        )  # fmt: skip


def _answer_of(response: http.client.HTTPResponse, report: Report | None) -> Any:
    """The result in an answer; what is no answer of ours raises `HTTPException`."""
    answer: Any = None
    while line := response.readline():
        try:
            answer = json.loads(line)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            raise http.client.HTTPException("this is no answer of ours")
        if "progress" in answer and report is not None:
            report(*answer["progress"])
    if answer is not None and "result" in answer:
        return answer["result"]
    if answer is None or not isinstance(answer.get("error"), dict):
        raise http.client.HTTPException("it broke off")
    error = answer["error"]
    raise YazError(error.get("code", "refused"), error.get("message", "refused"), error.get("fix", ""))


def not_running() -> YazError:
    """The fault that nothing runs here."""
    return YazError("not-running", "no running yaz was found", "start one with: yaz serve")


def running(home: Home) -> Running | None:
    """The running application of this home folder, if there is one; a stale `run.json` is ignored.

    Raises `YazError`: `not-answering`, and `run-file-broken` where one runs and the file does not say where.
    """
    try:
        found = _read(home.read_json(RUN_FILE))
    except YazError:
        found = None
    if found is None:
        if home.path(RUN_FILE).exists() and _is_held(home):
            raise YazError(
                "run-file-broken", f"a yaz runs, but {RUN_FILE} in YAZ_HOME does not say where",
                "end it with Ctrl-C where it was started; the next one writes the file anew",
            )  # fmt: skip
        return None
    if not _alive(found.pid):
        return None
    try:
        found.ask("ping", seconds=_PING_SECONDS)
    except YazError as error:
        if error.code == "not-answering":
            raise
        return None
    return found


def _read(document: Any) -> Running | None:
    """What a `run.json` says; None where it is none."""
    try:
        door = document["control"]
        found = Running(
            pid=document["pid"], url=document["url"], token=document["token"], port=door["port"], secret=door["secret"]
        )
    except (TypeError, KeyError):
        return None
    numbers = all(type(one) is int and one > 0 for one in (found.pid, found.port)) and found.port < 65_536
    return found if numbers and all(isinstance(one, str) for one in (found.url, found.token, found.secret)) else None


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def _is_held(home: Home) -> bool:
    try:
        with home.locked(RUN_FILE, timeout=0):
            return False
    except YazError as error:
        return error.code == "home-busy"


@contextlib.contextmanager
def only_one(home: Home) -> Iterator[None]:
    """Be the one application that serves from this home folder, until the block ends or the process does.

    Raises `YazError` `already-running`, `not-answering`.
    """
    _refuse_beside(home)
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(home.locked(RUN_FILE, timeout=_START_SECONDS))
        except YazError as error:
            if error.code != "home-busy":
                raise
            _refuse_beside(home)
            raise YazError(
                "already-running", "another yaz is starting or stopping in this YAZ_HOME",
                "yaz status says what runs; try again in a moment",
            ) from None  # fmt: skip
        yield


def _refuse_beside(home: Home) -> None:
    if (other := running(home)) is not None:
        raise YazError("already-running", f"a yaz is running already (process {other.pid})", "stop it with: yaz stop")


def wait_until_over(home: Home, seconds: float) -> bool:
    """Wait until nobody serves from this home folder any more; False where somebody still does after `seconds`."""
    try:
        with home.locked(RUN_FILE, timeout=seconds):
            return True
    except YazError as error:
        if error.code == "home-busy":
            return False
        raise


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


def announce(home: Home, *, url: str, token: str, control: Control) -> Path:
    """Write `run.json`, readable by the user alone."""
    home.write_json(
        RUN_FILE,
        {
            "pid": os.getpid(),
            "url": url,
            "token": token,
            "control": {"port": control.port, "secret": control.secret},
        },
    )
    return home.path(RUN_FILE)


def withdraw(home: Home) -> None:
    """Remove `run.json`, if it is this process's own."""
    try:
        document = home.read_json(RUN_FILE)
    except YazError:
        document = None
    if isinstance(document, dict) and document.get("pid") == os.getpid():
        home.path(RUN_FILE).unlink(missing_ok=True)


def _fault(error: Exception) -> dict[str, str]:
    if isinstance(error, YazError):
        return error.as_json()
    if isinstance(error, CancelledError):
        return {"code": "stopped", "message": "it was ended before it was done: yaz stops"}
    # The user's own command: the kind of error may be said, not its text.
    return {"code": "internal", "message": f"internal error ({type(error).__name__})"}


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    secret: bytes
    commands: Mapping[str, Command]


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    server_version = "yaz"
    sys_version = ""
    timeout = _READ_SECONDS
    protocol_version = "HTTP/1.0"

    def do_POST(self) -> None:
        """One command. The secret is asked before anything else is looked at."""
        given = self.headers.get_all("Authorization") or []
        expected = b"Bearer " + self.server.secret
        if len(given) != 1 or not hmac.compare_digest(given[0].encode("latin-1", "replace"), expected):
            self._answer(401, {"error": {"code": "unauthorised", "message": "unauthorised"}})
            return
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
                self._line({"progress": told})
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

    def _body(self) -> dict[str, Any] | None:
        length = self.headers.get("Content-Length", "")
        if not length.isascii() or not length.isdigit() or int(length) > _MOST_BODY:
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
