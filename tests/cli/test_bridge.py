"""`yaz bridge`, started by the official client as any client starts it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp_types import TextContent

from tests.cli.commands import Served, Shell, until

pytestmark = pytest.mark.anyio

START = ["-P", "-c", "from yazcore.cli import main; main()", "bridge"]


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


def bridge(yaz: Shell, **environment: str) -> StdioServerParameters:
    return StdioServerParameters(command=sys.executable, args=START, env={**yaz.environment, **environment})


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_official_client_lists_calls_reads_and_hears_progress_through_it(
    standing: tuple[Shell, Served], mode: str
) -> None:
    yaz, served = standing
    heard: list[tuple[float, float | None, str | None]] = []
    began = anyio.Event()

    async def hear(done: float, total: float | None, message: str | None) -> None:
        heard.append((done, total, message))
        began.set()

    async with Client(bridge(yaz), mode=mode) as client:
        assert client.protocol_version == ("2026-07-28" if mode == "auto" else "2025-11-25")
        assert {tool.name for tool in (await client.list_tools()).tools} >= {"compile", "demo__echo"}
        echoed = await client.call_tool("demo__echo", {"text": "hi"})
        assert echoed.structured_content == {"text": "hi"}
        refused = await client.call_tool("demo__refuse", {})
        assert isinstance(refused.content[0], TextContent)
        assert (refused.is_error, refused.content[0].text) == (True, "the cupboard is bare")
        read = await client.read_resource(f"yaz://project/{served.project_id}/document/main.typ")
        assert "Words." in read.contents[0].text  # type: ignore[union-attr]
        with anyio.fail_after(20):
            async with anyio.create_task_group() as tasks:

                async def wait() -> None:
                    await client.call_tool("demo__wait", {}, progress_callback=hear)

                tasks.start_soon(wait)
                await began.wait()
                tasks.cancel_scope.cancel()
        assert heard == [(1, 3, "one of three")]
    until((yaz.home.plugin_data("demo") / "cancelled").exists)
    (yaz.home.plugin_data("demo") / "cancelled").unlink()


async def test_it_comes_as_whoever_the_variable_names(standing: tuple[Shell, Served]) -> None:
    yaz, _ = standing
    text = yaz.here("token", "create", "narrow", "--tool", "demo__echo").out.strip()
    async with Client(bridge(yaz, YAZ_TOKEN=text)) as client:
        assert {tool.name for tool in (await client.list_tools()).tools} == {"demo__echo", "help"}


def test_without_a_running_yaz_it_ends_with_a_sentence_and_starts_none(yaz: Shell) -> None:
    done = yaz.run("bridge")
    assert (done.status, done.out) == (1, "")
    assert done.err == "yaz: [not-running] no running yaz was found. start one with: yaz serve\n"
    assert not yaz.home.path("run.json").exists()


def test_when_yaz_stops_it_ends_with_a_sentence(served: Served, demo: Shell) -> None:
    carrying = demo.start("bridge", stdin=subprocess.PIPE)
    asked = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}  # fmt: skip
    stdin: Any = carrying._popen.stdin
    stdin.write(json.dumps(asked) + "\n")
    stdin.flush()
    assert json.loads(carrying.line())["result"]["serverInfo"]["name"] == "yaz"
    assert demo.here("stop").status == 0
    until(lambda: carrying.over)  # its input is still open
    done = carrying.end()
    assert done.status == 1
    assert done.err == (
        "yaz: [bridge-lost] yaz has stopped, and with it this connection. "
        "start it again with yaz serve, then let the client connect anew\n"
    )


def test_the_token_is_on_no_command_line_and_in_no_output(served: Served, demo: Shell) -> None:
    carrying = demo.start("bridge", stdin=subprocess.PIPE)
    until(lambda: len(os.listdir(f"/proc/{carrying.pid}/task")) >= 3)
    for process in Path("/proc").glob("[0-9]*"):
        try:
            assert served.token.encode() not in (process / "cmdline").read_bytes()
        except OSError:
            continue
    stdin: Any = carrying._popen.stdin
    stdin.close()
    carrying._popen.stdin = None
    done = carrying.end()
    assert (done.status, done.out, done.err) == (0, "", "")


def test_a_bridge_that_is_terminated_ends_at_once(served: Served, demo: Shell) -> None:
    carrying = demo.start("bridge", stdin=subprocess.PIPE)
    until(lambda: len(os.listdir(f"/proc/{carrying.pid}/task")) >= 3)
    carrying.signal(signal.SIGTERM)
    assert carrying.end().status == 128 + signal.SIGTERM
