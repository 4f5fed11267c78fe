"""The table of a server in settings.toml: what it may say, and what it must not."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yazcore import Home, YazError
from yazcore.mcp.client.settings import (
    ServerSettings,
    filled,
    parsed,
    read_server,
    references,
    remove_server,
    server_names,
    write_server,
)

URL = "https://style.example.org/mcp"


def test_a_process_and_an_address_are_read(home: Home) -> None:
    home.write_text(
        "settings.toml",
        """
        [servers.checker]
        command = "checker"
        args = ["--stdio"]
        env = { MODE = "strict", CHECKER_KEY = "keyring:checker" }
        cwd = "~/work"

        [servers.house-style]
        url = "https://style.example.org/mcp"
        headers = { Authorization = "Bearer env:STYLE" }
        """,
    )
    assert server_names(home) == ("checker", "house-style")
    assert read_server(home, "checker") == ServerSettings(
        name="checker", command="checker", args=("--stdio",), cwd="~/work",
        env={"MODE": "strict", "CHECKER_KEY": "keyring:checker"},
    )  # fmt: skip
    style = read_server(home, "house-style")
    assert style == ServerSettings(name="house-style", url=URL, headers={"Authorization": "Bearer env:STYLE"})
    assert (style.transport, style.host, style.is_loopback) == ("http", "style.example.org", False)
    assert read_server(home, "Checker") is None


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        ("checker", "it is no table"),
        ({}, "exactly one of command and url says how it is reached"),
        ({"command": "a", "url": URL}, "exactly one of command and url says how it is reached"),
        ({"comand": "a"}, 'unknown key "comand"'),
        ({"command": ["a"]}, "command is not a text"),
        ({"command": "a", "args": "b"}, "args is not a list of texts"),
        ({"command": "a", "args": [1]}, "args is not a list of texts"),
        ({"command": "a", "env": {"A": 1}}, "env is not a table of texts"),
        ({"command": "a", "headers": {}}, "headers means nothing beside command"),
        ({"url": URL, "args": []}, "args means nothing beside url"),
        ({"command": ""}, "command is neither a bare name nor a whole path"),
        ({"command": "bin/a"}, "command is neither a bare name nor a whole path"),
        ({"command": "a\0"}, "command or args hold a NUL"),
        ({"command": "a", "cwd": "work"}, "cwd is no whole path"),
        ({"url": ""}, "url is no address of a server"),
        ({"url": "ftp://style.example.org"}, "url is no address of a server"),
        ({"url": "https://"}, "url is no address of a server"),
        ({"url": "https://style.example.org/a b"}, "url is no address of a server"),
        ({"url": "https://style.example.org:0/"}, "url is no address of a server"),
        ({"url": "https://style.example.org:x/"}, "url is no address of a server"),
        ({"url": "https://style.example.org\\@evil.org"}, "url is no address of a server"),
        ({"url": "https://style.example.org/#a"}, "url is no address of a server"),
        ({"url": "https://anna:pw@style.example.org/"}, "url holds a user name"),
        ({"url": f"{URL}?token=abc"}, 'url holds "token", and addresses end up in logs'),
        ({"url": "http://style.example.org/mcp"}, "url is plain http to another machine"),
        ({"url": "http://127.0.0.1.example.org/"}, "url is plain http to another machine"),
        ({"url": "http://localhost.example.org/"}, "url is plain http to another machine"),
        ({"url": URL, "headers": {"Host": "a"}}, 'headers sets "Host", which cannot be set'),
        ({"url": URL, "headers": {"mcp-session-id": "a"}}, 'headers sets "mcp-session-id", which cannot be set'),
        ({"url": URL, "headers": {"A b": "a"}}, 'headers sets "A b", which cannot be set'),
        ({"url": URL, "headers": {"X-A": "a\r\nX-B: b"}}, 'the value of "X-A" in headers cannot be sent'),
        ({"url": URL, "headers": {"X-A": "ä"}}, 'the value of "X-A" in headers cannot be sent'),
        ({"url": URL, "headers": {"Cookie": "a=s3cret"}}, '"Cookie" in headers holds a secret as it is'),
        ({"url": URL, "headers": {"X-Api-Key": "s3cret"}}, '"X-Api-Key" in headers holds a secret as it is'),
        ({"command": "a", "env": {"A-B": "a"}}, 'env sets "A-B", which cannot be set'),
        ({"command": "a", "env": {"GITHUB_TOKEN": "s3cret"}}, '"GITHUB_TOKEN" in env holds a secret as it is'),
        ({"command": "a", "env": {"A": "Bearer env:B"}}, 'the value of "A" in env is more than a reference'),
    ],
)  # fmt: skip
def test_what_is_not_right_is_refused_in_a_sentence(table: Any, problem: str) -> None:
    with pytest.raises(YazError) as caught:
        parsed("s", table)
    assert caught.value.code == "server-settings"
    assert caught.value.message == f"settings.toml: servers.s: {problem}"
    assert caught.value.fix
    assert "s3cret" not in str(caught.value.as_json())


@pytest.mark.parametrize(
    "table",
    [
        {"url": "http://127.0.0.1:8000/mcp"},
        {"url": "http://[::1]:8000/mcp"},
        {"url": "http://LOCALHOST/mcp"},
        {"url": "http://box.lan/mcp", "insecure": True},
        {"url": f"{URL}?toolsets=all"},
        {"command": "~/bin/checker"},
        {"command": "a", "env": {"TOKENIZERS_PARALLELISM": "false", "GITHUB_TOKEN": "env:GITHUB_TOKEN"}},
    ],
)
def test_what_is_meant_is_taken(table: dict[str, Any]) -> None:
    assert parsed("s", table).as_table() == table


@pytest.mark.parametrize("name", ["", "-a", "a b", "a/b", "ä", ".", "a" * 65])
def test_a_name_is_one_that_a_manifest_can_hold(name: str) -> None:
    with pytest.raises(YazError, match="the name has other characters"):
        parsed(name, {"command": "a"})


def test_servers_that_are_no_table(home: Home) -> None:
    home.write_text("settings.toml", "servers = 3\n")
    with pytest.raises(YazError, match=r"settings\.toml: servers is no table"):
        server_names(home)


def test_references_are_looked_up_and_nothing_else() -> None:
    settings = ServerSettings(
        name="s", url=URL, headers={"Authorization": "Bearer keyring:style", "X-Mode": "strict", "X-Key": "env:KEY"}
    )
    assert references(settings) == ("keyring:style", "env:KEY")
    asked = {"keyring:style": "one", "env:KEY": "two"}
    assert filled(settings.headers, asked.__getitem__) == {
        "Authorization": "Bearer one", "X-Mode": "strict", "X-Key": "two",
    }  # fmt: skip


def test_a_server_is_added_beside_what_the_user_wrote(home: Home) -> None:
    text = '# mine\nroots = ["~/thesis"]   # here\n\n[plugins.zotero]\nbibliography = "a.bib"\n'
    home.write_text("settings.toml", text)
    first = ServerSettings(name="checker.v2", command="checker", args=("-x",), env={"A": "b c"})
    second = ServerSettings(name="style", url=URL, headers={"Authorization": "Bearer env:STYLE"})
    write_server(home, first)
    write_server(home, second)
    assert home.path("settings.toml").read_text().startswith(text)
    assert [read_server(home, name) for name in server_names(home)] == [first, second]
    assert home.settings()["plugins"] == {"zotero": {"bibliography": "a.bib"}}
    assert remove_server(home, "checker.v2")
    assert not remove_server(home, "checker.v2")
    assert server_names(home) == ("style",)
    assert home.path("settings.toml").read_text().startswith(text)


def test_a_server_is_not_written_over_another_nor_where_it_is_not_right(home: Home) -> None:
    write_server(home, ServerSettings(name="s", command="a"))
    before = home.path("settings.toml").read_text()
    with pytest.raises(YazError, match="names an MCP server 's' already"):
        write_server(home, ServerSettings(name="s", command="b"))
    with pytest.raises(YazError, match="no whole path"):
        write_server(home, ServerSettings(name="t", command="b", cwd="x"))
    assert home.path("settings.toml").read_text() == before


def test_other_settings_have_another_digest() -> None:
    one = ServerSettings(name="s", command="a", env={"A": "1", "B": "2"})
    assert one.digest == ServerSettings(name="s", command="a", env={"B": "2", "A": "1"}).digest
    others = [
        ServerSettings(name="s", command="a"),
        ServerSettings(name="s", command="a", args=("A=1",)),
        ServerSettings(name="s", url=URL),
    ]
    assert len({one.digest, *(other.digest for other in others)}) == 4


@given(st.dictionaries(st.text(max_size=12), st.recursive(st.none() | st.text() | st.booleans(), st.lists), max_size=4))
def test_any_table_is_read_or_refused_with_a_code(table: dict[str, Any]) -> None:
    try:
        read = parsed("s", table).name
    except YazError as error:
        read = error.code
    assert read in ("s", "server-settings")
