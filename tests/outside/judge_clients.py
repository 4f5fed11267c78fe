"""The clients that others use: list, call, error, resource, prompt, progress; and no token, no answer."""

from __future__ import annotations

import json
from collections.abc import Awaitable
from pathlib import Path
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError

from tests.mcp.serving import connected, http, words
from tests.outside.conftest import Judged, home, run

HERE = Path(__file__).parent
INSPECTOR = "@modelcontextprotocol/inspector"

SAW: dict[str, Any] = {
    "tools": 1,
    "text": "This is a simple text response for testing.",
    "error": [True, "This tool intentionally returns an error for testing"],
    "unknown": -32602,
    "resource": "This is the content of the static text resource.",
    "prompt": "This is a simple prompt for testing.",
    "progress": [[0, 100], [50, 100], [100, 100]],
    "refused": True,
}
NEWER = {"protocol": "2026-07-28", "missing": -32602}
OLDER = {"protocol": "2025-11-25", "missing": -32002}


@pytest.mark.parametrize(("package", "era"), [("client", NEWER), ("sdk", OLDER)])
def test_typescript(node: str, packages: Path, judged: Judged, package: str, era: dict[str, Any]) -> None:
    folder = packages / "@modelcontextprotocol" / package
    done = run(node, HERE / "typescript_client.mjs", folder, judged.url, judged.token)
    assert done.stdout, done.stderr
    assert json.loads(done.stdout) == {**SAW, **era}


def test_the_older_python_sdk(older_python: Path, judged: Judged) -> None:
    done = run(older_python, HERE / "older_client.py", judged.url, judged.token)
    assert done.stdout, done.stderr
    assert json.loads(done.stdout) == {**SAW, **OLDER}


@pytest.mark.anyio
@pytest.mark.parametrize(("mode", "era"), [("auto", NEWER), ("legacy", OLDER)])
async def test_the_python_sdk(judged: Judged, mode: str, era: dict[str, Any]) -> None:
    saw: dict[str, Any] = {"progress": []}

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        saw["progress"].append([progress, total])

    async def code_of(call: Awaitable[Any]) -> int | None:
        try:
            await call
        except MCPError as error:
            return error.error.code
        return None

    async with connected(judged.url, judged.token, mode) as client:
        saw["protocol"] = client.protocol_version
        saw["tools"] = sum(tool.name == "test_simple_text" for tool in (await client.list_tools()).tools)
        saw["text"] = words(await client.call_tool("test_simple_text", {}))
        failed = await client.call_tool("test_error_handling", {})
        saw["error"] = [failed.is_error, words(failed)]
        saw["unknown"] = await code_of(client.call_tool("nothing", {}))
        saw["resource"] = (await client.read_resource("test://static-text")).contents[0].text  # type: ignore[union-attr]
        saw["missing"] = await code_of(client.read_resource("test://nothing"))
        saw["prompt"] = (await client.get_prompt("test_simple_prompt")).messages[0].content.text  # type: ignore[union-attr]
        await client.call_tool("test_tool_with_progress", {}, progress_callback=hear)
    async with http() as plain:
        saw["refused"] = (await plain.post(judged.url, json={})).status_code == 401
    assert saw == {**SAW, **era}


class Inspector:
    """The Inspector's command line in one protocol era."""

    def __init__(self, node: str, packages: Path, folder: Path, judged: Judged, era: str) -> None:
        self._folder = folder
        self._judged = judged
        program = json.loads((packages / INSPECTOR / "package.json").read_text())["bin"]["mcp-inspector"]
        self._command = (node, packages / INSPECTOR / program, "--cli", judged.url, "--transport", "http")
        self._era = ("--protocol-era", era)

    def asked(self, method: str, *options: str, token: bool = True) -> tuple[int, Any, Any]:
        """Its exit status, the JSON it printed, and the JSON of its complaint."""
        secret = ("--header", f"Authorization: Bearer {self._judged.token}") if token else ()
        done = run(*self._command, *self._era, *secret, "--method", method, *options, **home(self._folder))
        complaint = done.stderr.strip()
        return (
            done.returncode,
            json.loads(done.stdout) if done.stdout.strip() else None,
            json.loads(complaint)["error"]["code"] if complaint.startswith("{") else complaint,
        )


@pytest.fixture(params=["legacy", "modern"])
def inspector(
    request: pytest.FixtureRequest, node: str, packages: Path, tmp_path: Path, judged: Judged
) -> Inspector:
    return Inspector(node, packages, tmp_path, judged, request.param)


def test_inspector_lists_tools_that_every_client_can_take(inspector: Inspector) -> None:
    status, listed, complaint = inspector.asked("tools/list", "--strict")
    assert (status, complaint) == (0, "")
    assert "test_simple_text" in [tool["name"] for tool in listed["tools"]]


def test_inspector_calls(inspector: Inspector) -> None:
    status, called, _ = inspector.asked("tools/call", "--tool-name", "test_simple_text")
    assert (status, called["content"][0]["text"]) == (0, SAW["text"])
    status, called, complaint = inspector.asked("tools/call", "--tool-name", "test_error_handling")
    assert (status, called["isError"], complaint) == (5, True, "tool_is_error")
    assert inspector.asked("tools/call", "--tool-name", "nothing") == (5, None, "tool_not_found")
    status, called, _ = inspector.asked("tools/call", "--tool-name", "test_tool_with_progress")
    assert (status, called["content"][0]["text"]) == (0, "done")


def test_inspector_reads(inspector: Inspector) -> None:
    status, read, _ = inspector.asked("resources/read", "--uri", "test://static-text")
    assert (status, read["contents"][0]["text"]) == (0, SAW["resource"])
    status, given, _ = inspector.asked("prompts/get", "--prompt-name", "test_simple_prompt")
    assert (status, given["messages"][0]["content"]["text"]) == (0, SAW["prompt"])


def test_inspector_gets_nothing_without_the_token(inspector: Inspector) -> None:
    status, answer, complaint = inspector.asked("tools/list", token=False)
    assert (status, answer, complaint) == (3, None, "auth_required")
