"""`yaz connect CLIENT`: what is printed, what is written, and that a client that reads it reaches the running yaz."""

from __future__ import annotations

import json
import os
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.cli.commands import Served, Shell
from yazcore.clients import CLIENTS


def entry_in(client: str, path: Path) -> dict[str, Any]:
    text = path.read_text()
    document = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
    entry: dict[str, Any] = document[CLIENTS[client].section]["yaz"]
    return entry


@pytest.mark.parametrize("client", list(CLIENTS))
def test_what_is_written_reaches_the_running_yaz_and_holds_no_secret(
    standing: tuple[Shell, Served], client: str
) -> None:
    yaz, served = standing
    done = yaz.here("connect", client, "--write", "--json")
    assert done.status == 0
    path = Path(done.json["file"])
    assert path.is_relative_to(yaz.user if client != "inspector" else yaz.home.folder)
    entry = entry_in(client, path)
    assert entry == done.json["entry"]
    assert served.token not in path.read_text()
    assert served.url not in path.read_text()
    assert answer_of(entry, yaz)["result"]["serverInfo"]["name"] == "yaz"


def answer_of(entry: dict[str, Any], yaz: Shell) -> Any:
    """What a client gets that starts what the entry says, with as little of the environment as clients pass on."""
    opening = {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}
    }  # fmt: skip
    asked = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": opening}
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(yaz.user), "PYTHONPATH": yaz.environment["PYTHONPATH"]}
    done = subprocess.run(
        [entry["command"], *entry["args"]], input=json.dumps(asked) + "\n", capture_output=True, text=True, check=True,
        env=environment | entry.get("env", {}), timeout=60,
    )  # fmt: skip
    return json.loads(done.stdout.splitlines()[0])


def test_without_write_it_is_printed_and_nothing_is_touched(yaz: Shell) -> None:
    done = yaz.here("connect", "cursor")
    first, rest = done.out.split("\n", 1)
    assert first == f"# in {yaz.user}/.cursor/mcp.json"
    assert json.loads(rest)["mcpServers"]["yaz"]["args"][-1] == "bridge"
    assert done.err == "yaz connect cursor --write puts it there\n"
    assert os.listdir(yaz.user) == []


def test_what_was_there_is_kept_and_said(yaz: Shell) -> None:
    path = yaz.user / ".cursor" / "mcp.json"
    path.parent.mkdir()
    path.write_text('{"mcpServers": {"other": {"command": "x"}}}')
    done = yaz.here("connect", "cursor", "--write")
    lines = done.out.splitlines()
    assert lines[0] == f"yaz added to {path}"
    assert lines[1].startswith(f"the file as it was: {path}.")
    assert set(json.loads(path.read_text())["mcpServers"]) == {"other", "yaz"}
    again = yaz.here("connect", "cursor", "--write").out.splitlines()
    assert again[0] == f"yaz is already as it should be in {path}"


def test_a_project_has_settings_of_its_own(yaz: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(yaz.folder)
    assert yaz.here("connect", "vscode", "--project", "--write").status == 0
    assert "yaz" in json.loads((yaz.folder / ".vscode" / "mcp.json").read_text())["servers"]
    refused = yaz.here("connect", "claude-desktop", "--project")
    assert refused.status == 2
    assert "Claude Desktop has no settings in a project's folder" in refused.err


def test_the_inspector_is_started_with_the_file(yaz: Shell) -> None:
    said = yaz.here("connect", "inspector", "--write").out.splitlines()[-1]
    file = yaz.home.path("clients", "inspector.json")
    assert said == f"npx @modelcontextprotocol/inspector --config {file} --server yaz"


def test_a_client_may_come_as_a_named_token_and_no_file_holds_it(standing: tuple[Shell, Served]) -> None:
    yaz, _ = standing
    text = yaz.here("token", "create", "helper", "--tool", "demo__echo").out.strip()
    done = yaz.here("connect", "claude-code", "--as", "helper", "--write", "--json")
    entry = entry_in("claude-code", Path(done.json["file"]))
    assert entry["args"][-3:] == ["bridge", "--as", "helper"]
    assert text not in Path(done.json["file"]).read_text()
    told = answer_of(entry, yaz)["result"]["instructions"]
    assert "demo__echo" in told
    assert "demo__note" not in told
    yaz.here("token", "revoke", "helper")
    with pytest.raises(subprocess.CalledProcessError) as raised:
        answer_of(entry, yaz)
    assert raised.value.stderr == "yaz: [token-unknown] there is no token 'helper'. there are none\n"


def test_a_token_that_is_not_there_connects_nobody(yaz: Shell) -> None:
    done = yaz.here("connect", "cursor", "--as", "nobody-known", "--write")
    assert (done.status, done.out) == (1, "")
    assert done.err == "yaz: [token-unknown] there is no token 'nobody-known'. there are none\n"


def test_a_client_that_is_none_is_wrong_use(yaz: Shell) -> None:
    done = yaz.here("connect", "emacs")
    assert done.status == 2
    assert "'claude-code', 'claude-desktop', 'vscode', 'cursor', 'codex', 'inspector'" in done.err
