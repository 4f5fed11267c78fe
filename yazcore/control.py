"""The user's own door to a running application: a second loopback port for commands, JSON over HTTP (design 7).

`run.json` in the home folder (mode 0600) says where it is. It has its own secret: no MCP token opens it, and no MCP
call reaches it, so no agent can grant anything. Standard library only, so that the small commands start fast.
"""

from __future__ import annotations

import hmac
import http.client
import json
import os
import secrets
import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import attrs

from yazcore.home import Home
from yazcore.violations import YazError

RUN_FILE = "run.json"
_MOST_BODY = 4 * 2**20
_READ_SECONDS = 10.0

Command = Callable[[dict[str, Any]], Any]


@attrs.frozen(kw_only=True)
class Running:
    """Where a running application is reached: what `run.json` holds."""

    pid: int
    url: str
    token: str
    port: int
    secret: str

    def ask(self, command: str, /, seconds: float = 660.0, **arguments: Any) -> Any:
        """Have the running application do something. Raises `YazError` with what it says, or `not-running`."""
        body = json.dumps(arguments).encode()
        headers = {"Authorization": f"Bearer {self.secret}", "Content-Type": "application/json"}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=seconds)
        try:
            connection.request("POST", f"/{command}", body, headers)
            response = connection.getresponse()
            answer = json.loads(response.read())
        except (OSError, ValueError, http.client.HTTPException):
            raise not_running() from None
        finally:
            connection.close()
        if response.status != 200:
            error = answer.get("error", {})
            raise YazError(error.get("code", "refused"), error.get("message", "refused"), error.get("fix", ""))
        return answer["result"]


def not_running() -> YazError:
    """The fault that nothing runs here."""
    return YazError("not-running", "no running yaz was found", "start one with: yaz serve")


def running(home: Home) -> Running | None:
    """The running application of this home folder, if there is one; a stale `run.json` is ignored."""
    try:
        document: Any = home.read_json(RUN_FILE)
        found = Running(
            pid=document["pid"],
            url=document["url"],
            token=document["token"],
            port=document["control"]["port"],
            secret=document["control"]["secret"],
        )
    except (YazError, TypeError, KeyError):
        return None
    if not _alive(found.pid):
        return None
    try:
        found.ask("ping", seconds=2.0)
    except YazError:
        return None
    return found


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


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
        except YazError as error:
            self._answer(422, {"error": error.as_json()})
        except Exception as error:  # noqa: BLE001 - the user's own command: the kind of error may be said, not its text
            self._answer(500, {"error": {"code": "internal", "message": f"internal error ({type(error).__name__})"}})
        else:
            self._answer(200, {"result": result})

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
