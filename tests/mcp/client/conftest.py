"""Servers to call: a real one over stdio and HTTP, and hostile ones that a test writes as a few lines of Python."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest

from yazcore import Home
from yazcore.capabilities.secrets import Secrets
from yazcore.mcp.client.definitions import definitions
from yazcore.mcp.client.seen import SeenStore
from yazcore.mcp.client.servers import Servers
from yazcore.mcp.client.settings import ServerSettings, read_server, write_server

CHECKER = Path(__file__).with_name("checker.py")
SECONDS = 30.0
"""After how many seconds an answer that should have come long ago is given up."""


@attrs.define
class Setup:
    """A home, the servers of it, and what was started."""

    home: Home
    folder: Path
    servers: Servers
    started: list[subprocess.Popen[str]] = attrs.field(factory=list)

    def named(self, name: str = "checker", **settings: Any) -> ServerSettings:
        """Name a server in the settings."""
        made = ServerSettings(name=name, **settings)
        write_server(self.home, made)
        return made

    def stdio(self, name: str = "checker", **more: Any) -> ServerSettings:
        """The checker over stdio."""
        return self.named(name, command=sys.executable, args=(str(CHECKER), "stdio", str(self.folder)), **more)

    def script(self, code: str, name: str = "hostile") -> ServerSettings:
        """A server over stdio that is this code."""
        path = self.folder / f"{name}.py"
        path.write_text(textwrap.dedent(_HEAD) + textwrap.dedent(code))
        return self.named(name, command=sys.executable, args=(str(path), str(self.folder)))

    def start_http(self, port: int = 0, token: str = "") -> int:
        """Start the checker over HTTP; gives its port."""
        command = [sys.executable, str(CHECKER), "http", str(port), token, str(self.folder)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.started.append(process)
        assert process.stdout is not None
        return int(process.stdout.readline())

    def http(self, name: str = "checker", token: str = "", **more: Any) -> ServerSettings:
        """The checker over HTTP."""
        return self.named(name, url=f"http://127.0.0.1:{self.start_http(token=token)}/mcp", **more)

    def end(self, process: subprocess.Popen[str]) -> None:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()

    def see(self, name: str = "checker", *read: str) -> None:
        """See the tools of a server as they are, and say which only read."""
        settings = read_server(self.home, name)
        assert settings is not None
        store = SeenStore(self.home)
        store.accept(settings, tuple(definitions(self.servers.surface(name, SECONDS)["tools"]).values()))
        store.mark(settings, read, True)

    def call(self, tool: str, text: str = "", server: str = "checker", seconds: float = SECONDS) -> dict[str, Any]:
        return self.servers.call(server, tool, {"text": text}, seconds).result(2 * SECONDS)

    def offers(self, **tools: dict[str, Any]) -> None:
        """Change what the checker lists, from now on."""
        (self.folder / "tools.json").write_text(json.dumps(tools))

    def lines(self, name: str) -> list[str]:
        path = self.folder / name
        return path.read_text().splitlines() if path.exists() else []


_HEAD = """\
import json, os, sys, time

def send(**message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\\n")
    sys.stdout.flush()

def requests():
    for line in sys.stdin:
        message = json.loads(line)
        if message.get("method") == "initialize":
            send(id=message["id"], result={
                "protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                "serverInfo": {"name": "hostile", "version": "0"}})
        elif message.get("method") == "server/discover":
            send(id=message["id"], error={"code": -32601, "message": "no"})
        elif "id" in message and "method" in message:
            yield message

TOOL = {"name": "t", "inputSchema": {"type": "object"}}

def serving(**answers):
    for message in requests():
        if message["method"] == "tools/list" and "list" not in answers:
            send(id=message["id"], result={"tools": [TOOL]})
        elif message["method"] == "tools/list":
            answers["list"](message)
        else:
            answers["call"](message)
"""


@contextlib.contextmanager
def set_up(home: Home, folder: Path) -> Iterator[Setup]:
    folder.mkdir(exist_ok=True)
    made = Setup(home, folder, Servers(home, Secrets(home)))
    try:
        yield made
    finally:
        made.servers.close()
        for process in made.started:
            made.end(process)


@pytest.fixture
def setup(home: Home, tmp_path: Path) -> Iterator[Setup]:
    with set_up(home, tmp_path / "servers") as made:
        yield made


@pytest.fixture(scope="module", params=["stdio", "http"])
def checker(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Setup]:
    """The checker, all of its tools seen, for the tests of a module that leave it as it is."""
    folder = tmp_path_factory.mktemp("checker")
    with set_up(Home(folder / "yaz"), folder / "servers") as made:
        getattr(made, request.param)()
        made.see()
        yield made
