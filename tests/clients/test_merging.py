"""Files that people and programs keep, with one entry more: nothing else in them is ever lost."""

from __future__ import annotations

import json
import os
import stat
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yazcore.clients import CLIENTS
from yazcore.clients.merging import Merged, merge, rendered
from yazcore.violations import YazError

CODE, CODEX, VSCODE = CLIENTS["claude-code"], CLIENTS["codex"], CLIENTS["vscode"]
ENTRY = {"type": "stdio", "command": "/opt/yaz", "args": ["bridge"]}
PLAIN = {"command": "/opt/yaz", "args": ["bridge"], "env": {"YAZ_HOME": "/h"}}


def backups(path: Path) -> list[Path]:
    return sorted(path.parent.glob(f"{path.name}.*.bak"))


# --- JSON -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [None, "", " \n", "{}", '{"mcpServers": {}}'])
def test_an_entry_is_added_to_nothing(tmp_path: Path, text: str | None) -> None:
    path = tmp_path / "deep" / "mcp.json"
    if text is not None:
        path.parent.mkdir()
        path.write_text(text)
    assert merge(CODE, path, "yaz", ENTRY).change == "added"
    assert json.loads(path.read_text()) == {"mcpServers": {"yaz": ENTRY}}
    assert len(backups(path)) == (text is not None)


def test_everything_else_stays_byte_for_byte(tmp_path: Path) -> None:
    path = tmp_path / ".claude.json"
    text = (
        '{\n    "numStartups":   34,\n    "mcpServers": {\n        "other": {"command": "x", "n": 1.50}\n    },\n'
        '    "ü": "\\u00fc"\n}\n'
    )
    path.write_text(text)
    path.chmod(0o640)
    merged = merge(CODE, path, "yaz", ENTRY)
    written = path.read_text()
    servers = {"other": {"command": "x", "n": 1.5}, "yaz": ENTRY}
    assert json.loads(written) == {**json.loads(text), "mcpServers": servers}
    for part in ('"numStartups":   34,', '"other": {"command": "x", "n": 1.50}', '"ü": "\\u00fc"'):
        assert part in written
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert merged.backup is not None
    assert merged.backup.read_text() == text
    assert stat.S_IMODE(merged.backup.stat().st_mode) == 0o600


def test_the_same_entry_again_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    merge(CODE, path, "yaz", ENTRY)
    before = path.stat()
    assert merge(CODE, path, "yaz", ENTRY) == Merged(change="same")
    assert (path.stat().st_mtime_ns, path.stat().st_ino) == (before.st_mtime_ns, before.st_ino)
    assert backups(path) == []


def test_an_older_entry_is_replaced_and_what_the_user_added_to_it_stays(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    old = {
        "type": "http", "url": "http://127.0.0.1:1/mcp", "headers": {"Authorization": "Bearer old"}, "timeout": 60,
        "env": {"MINE": "1", "YAZ_HOME": "/old"},
    }  # fmt: skip
    path.write_text(json.dumps({"mcpServers": {"yaz": old}}))
    assert merge(CODE, path, "yaz", {**ENTRY, "env": {"YAZ_HOME": "/h"}}).change == "replaced"
    assert json.loads(path.read_text())["mcpServers"]["yaz"] == {
        **ENTRY, "timeout": 60, "env": {"MINE": "1", "YAZ_HOME": "/h"}
    }  # fmt: skip
    assert json.loads(backups(path)[0].read_text())["mcpServers"]["yaz"] == old


def test_no_backup_is_ever_written_over(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    for number in range(5):
        path.write_text(json.dumps({"number": number}))
        merge(CODE, path, "yaz", ENTRY)
    assert sorted(json.loads(one.read_text())["number"] for one in backups(path)) == [0, 1, 2, 3, 4]


def test_a_file_that_is_kept_elsewhere_and_linked_stays_linked(tmp_path: Path) -> None:
    kept = tmp_path / "dotfiles" / "mcp.json"
    kept.parent.mkdir()
    kept.write_text('{"a": 1}')
    path = tmp_path / "mcp.json"
    path.symlink_to(kept)
    merge(CODE, path, "yaz", ENTRY)
    assert path.is_symlink()
    assert set(json.loads(kept.read_text())) == {"a", "mcpServers"}


@pytest.mark.parametrize("text", ["\ufeff{}", "{\r\n  \"a\": 1\r\n}\r\n"])
def test_marks_and_line_breaks_of_another_system_stay(tmp_path: Path, text: str) -> None:
    path = tmp_path / "mcp.json"
    path.write_bytes(text.encode())
    merged = merge(CODE, path, "yaz", ENTRY)
    written = path.read_bytes().decode()
    assert written.startswith("\ufeff") == text.startswith("\ufeff")
    assert ("\r\n" in written) == ("\r\n" in text)
    assert json.loads(written.removeprefix("\ufeff"))["mcpServers"] == {"yaz": ENTRY}
    assert merged.backup is not None
    assert merged.backup.read_bytes() == text.encode()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "it is no JSON: "),
        ('{"servers": {}, // mine\n}', "it is no JSON: .*; comments are none of JSON"),
        ('{"a": 1, "a": 2}', "it is no JSON: a key stands twice in one object"),
        ("[" * 100_000, "it is no JSON: "),
        (b"\xff\xfe{}", "it is no UTF-8 text"),
    ],
)
def test_a_file_that_cannot_be_understood_is_left_alone(tmp_path: Path, text: str | bytes, why: str) -> None:
    path = tmp_path / "mcp.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(YazError, match=why) as raised:
        merge(VSCODE, path, "yaz", ENTRY)
    assert (raised.value.code, raised.value.fix) == (
        "client-file", "yaz connect vscode prints the entry, to be put there by hand"
    )  # fmt: skip
    assert os.listdir(tmp_path) == ["mcp.json"]
    assert path.read_bytes() == (text if isinstance(text, bytes) else text.encode())


@pytest.mark.parametrize("text", ["[]", '"x"', '{"mcpServers": []}', '{"mcpServers": null}'])
def test_a_file_of_another_shape_is_left_alone(tmp_path: Path, text: str) -> None:
    path = tmp_path / "mcp.json"
    path.write_text(text)
    with pytest.raises(YazError) as raised:
        merge(CODE, path, "yaz", ENTRY)
    assert raised.value.code == "client-file-shape"
    assert path.read_text() == text


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "no").write_text("a file where a folder should be")
    with pytest.raises(YazError) as raised:
        merge(CODE, tmp_path / "no" / "mcp.json", "yaz", ENTRY)
    assert raised.value.code == "client-file"


plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.dictionaries(st.text(max_size=8), plain, max_size=4),
    st.dictionaries(st.text(max_size=6), plain, max_size=3),
    st.sampled_from([None, 2, 4, "\t"]),
)
def test_whatever_a_file_holds_is_there_afterwards(
    tmp_path_factory: pytest.TempPathFactory, document: dict[str, Any], servers: dict[str, Any], indent: Any
) -> None:
    path = tmp_path_factory.mktemp("x") / "mcp.json"
    document = {**document, "mcpServers": servers}
    path.write_text(json.dumps(document, indent=indent))
    merge(CODE, path, "yaz", ENTRY)
    after = json.loads(path.read_text())
    ours = after["mcpServers"].pop("yaz")
    assert {key: ours[key] for key in ENTRY} == ENTRY
    document["mcpServers"].pop("yaz", None)
    assert after == document


# --- TOML -------------------------------------------------------------------------------------------------------------

CONFIG = """# my settings
model = "gpt-5"   # the good one

[mcp_servers.other]
command = "npx"
args = ["-y", "x"]

[mcp_servers.other.env]
KEY = "1"

[tui]
theme = "dark"
"""


def test_an_entry_is_added_to_toml_and_comments_stay(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(CONFIG)
    merged = merge(CODEX, path, "yaz", PLAIN)
    written = path.read_text()
    expected = tomllib.loads(CONFIG)
    expected["mcp_servers"]["yaz"] = PLAIN
    assert tomllib.loads(written) == expected
    for line in CONFIG.splitlines():
        assert line in written
    assert merged.backup is not None
    assert merged.backup.read_text() == CONFIG


def test_an_older_entry_of_toml_is_replaced_in_its_place(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(
        '[mcp_servers.yaz]\nurl = "http://127.0.0.1:1/mcp"  # old\nstartup_timeout_sec = 20 # mine\n\n[tui]\na = 1\n'
    )
    assert merge(CODEX, path, "yaz", PLAIN).change == "replaced"
    assert tomllib.loads(path.read_text()) == {
        "mcp_servers": {"yaz": {"startup_timeout_sec": 20, **PLAIN}}, "tui": {"a": 1}
    }  # fmt: skip
    assert "startup_timeout_sec = 20 # mine" in path.read_text()
    assert merge(CODEX, path, "yaz", PLAIN).change == "same"


@pytest.mark.parametrize(
    "text",
    ["", "a = 1\n", "[mcp_servers]\n", "[mcp_servers]\nb = {command = 'x'}\n", "mcp_servers = {b = {command = 'x'}}\n",
     "mcp_servers.b.command = 'x'\n", "[mcp_servers.b]\r\ncommand = 'x'\r\n", "[[list]]\na = 1\n[[list]]\na = 2\n"],
)  # fmt: skip
def test_toml_of_every_form_keeps_what_it_says(tmp_path: Path, text: str) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes(text.encode())
    merge(CODEX, path, "yaz", PLAIN)
    after = tomllib.loads(path.read_bytes().decode())
    assert after["mcp_servers"].pop("yaz") == PLAIN
    assert after == {"mcp_servers": {}, **tomllib.loads(text)}


@pytest.mark.parametrize("text", ["a = ", "a = 1\na = 2\n", "[a\n"])
def test_toml_that_is_none_is_left_alone(tmp_path: Path, text: str) -> None:
    path = tmp_path / "config.toml"
    path.write_text(text)
    with pytest.raises(YazError, match="it is no TOML"):
        merge(CODEX, path, "yaz", PLAIN)
    assert path.read_text() == text


@pytest.mark.parametrize("client", list(CLIENTS))
def test_what_is_printed_is_what_would_be_written(tmp_path: Path, client: str) -> None:
    known = CLIENTS[client]
    entry = known.entry(["/opt/yaz", "bridge"], {"YAZ_HOME": "/h"})
    path = tmp_path / "new"
    merge(known, path, "yaz", entry)
    assert rendered(known, "yaz", entry) == path.read_text()
