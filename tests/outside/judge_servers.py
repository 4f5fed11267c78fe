"""Servers of others, called as a plugin calls them: from PyPI and from npm, over stdio and HTTP, of both eras."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.commands import until
from tests.mcp.client.conftest import SECONDS, Setup, set_up
from yazcore import Home, ServiceError
from yazcore.mcp.client.transports import INHERITED

EVERYTHING = Path("@modelcontextprotocol") / "server-everything" / "dist" / "index.js"


@pytest.fixture
def named(tmp_path: Path) -> Iterator[Setup]:
    with set_up(Home(tmp_path / "yaz"), tmp_path / "servers") as made:
        yield made


def call(named: Setup, tool: str, seconds: float = SECONDS, **arguments: Any) -> dict[str, Any]:
    return named.servers.call("theirs", tool, arguments, seconds).result(2 * SECONDS)


def text_of(answer: dict[str, Any]) -> str:
    text: str = answer["content"][0]["text"]
    return text


def test_a_server_from_pypi(named: Setup, time_python: Path) -> None:
    named.named("theirs", command=str(time_python), args=("-m", "mcp_server_time", "--local-timezone", "UTC"))
    surface = named.servers.surface("theirs", SECONDS)
    assert surface["server"] == {"name": "mcp-time", "version": "2026.10.19"}
    assert [one["name"] for one in surface["tools"]] == ["get_current_time", "convert_time"]
    named.see("theirs")
    tokyo = call(named, "convert_time", source_timezone="UTC", time="12:00", target_timezone="Asia/Tokyo")
    assert tokyo["structuredContent"]["time_difference"] == "+9.0h"
    wrong = call(named, "get_current_time", timezone="Nowhere/AtAll")
    assert (wrong["isError"], "Invalid timezone" in text_of(wrong)) == (True, True)


@pytest.fixture(params=["stdio", "streamableHttp"])
def everything(request: pytest.FixtureRequest, named: Setup, node: str, packages: Path) -> Iterator[Setup]:
    """The server with everything, from npm, all its tools seen."""
    program = str(packages / EVERYTHING)
    with contextlib.ExitStack() as stack:
        if request.param == "stdio":
            named.named("theirs", command=node, args=(program, "stdio"))
        else:
            port = _free_port()
            process = stack.enter_context(
                subprocess.Popen(
                    [node, program, "streamableHttp"], env={**os.environ, "PORT": str(port)},
                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                )
            )  # fmt: skip
            stack.callback(process.terminate)
            until(lambda: _listens(port))
            named.named("theirs", url=f"http://127.0.0.1:{port}/mcp")
        named.see("theirs")
        yield named


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


def _listens(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False


def test_a_server_from_npm(everything: Setup) -> None:
    surface = everything.servers.surface("theirs", SECONDS)
    assert surface["server"]["name"] == "mcp-servers/everything"
    assert surface["resources"]
    assert surface["prompts"]
    assert call(everything, "echo", message="hello")["content"] == [{"type": "text", "text": "Echo: hello"}]
    weather = call(everything, "get-structured-content", location="Chicago")
    assert json.loads(text_of(weather)) == weather["structuredContent"]
    parts = call(everything, "get-tiny-image")["content"]
    assert "image" in {one["type"] for one in parts}
    wrong = call(everything, "echo")
    assert (wrong["isError"], "Input validation error" in text_of(wrong)) == (True, True)


def test_what_it_would_ask_of_us_it_does_not_even_offer(everything: Setup) -> None:
    offered = {one["name"] for one in everything.servers.surface("theirs", SECONDS)["tools"]}
    assert offered.isdisjoint({"trigger-sampling-request", "trigger-elicitation-request", "get-roots-list"})


def test_a_long_operation_is_over_in_our_time(everything: Setup) -> None:
    with pytest.raises(ServiceError, match=r"did not answer within 0\.5 seconds"):
        call(everything, "trigger-long-running-operation", seconds=0.5, duration=20, steps=2)
    assert text_of(call(everything, "echo", message="and on")) == "Echo: and on"


def test_a_process_of_theirs_gets_little_of_our_environment(
    named: Setup, node: str, packages: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_SECRET", "s3cret")
    named.named("theirs", command=node, args=(str(packages / EVERYTHING), "stdio"), env={"MODE": "strict"})
    named.see("theirs")
    environment = json.loads(text_of(call(named, "get-env")))
    assert environment["MODE"] == "strict"
    assert set(environment) <= {"MODE", *INHERITED}
