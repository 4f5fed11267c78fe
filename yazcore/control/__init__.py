"""The user's own door to a running application: a second loopback port for commands, JSON over HTTP (design 7).

`run.json` in the home folder (mode 0600) says where it is. It has its own secret: no MCP token opens it, and no MCP
call reaches it, so no agent can grant anything. Standard library only, so that the small commands start fast: here is
what they need to find the door and to ask; the door itself (`Control`) is loaded by whoever serves.

An answer is one JSON object on a line, `{"result"}` or `{"error"}`; the lines before it, of a command that takes its
time, are `{"progress": [done, total, message]}`.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from yazcore.home import Home
from yazcore.violations import YazError

if TYPE_CHECKING:
    import http.client

    from yazcore.control.door import Control as Control

RUN_FILE = "run.json"
"""The file that says where the running application is; its lock is held for as long as one serves."""

_PING_SECONDS = 10.0
_START_SECONDS = 2.0

Report = Callable[[float, float | None, str], None]
"""Takes progress: what is done, of how much, and a word about it."""


def __getattr__(name: str) -> Any:
    if name == "Control":
        from yazcore.control.door import Control

        return Control
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


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
        import http.client  # where nothing runs, nobody pays for it

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
    from http.client import HTTPException

    answer: Any = None
    while line := response.readline():
        try:
            answer = json.loads(line)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            raise HTTPException("this is no answer of ours")
        if "progress" in answer and report is not None:
            report(*answer["progress"])
    if answer is not None and "result" in answer:
        return answer["result"]
    if answer is None or not isinstance(answer.get("error"), dict):
        raise HTTPException("it broke off")
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


def still_there(home: Home, live: Running) -> bool:
    """Whether that very application still runs: a look at `run.json`, without asking it."""
    try:
        return _read(home.read_json(RUN_FILE)) == live and _alive(live.pid)
    except YazError:
        return False


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
