"""`[servers.NAME]` in settings.toml: the MCP servers that the user has named, and how each is reached (seed 0022).

    [servers.reference-checker]                     # a process of the user's choosing
    command = "reference-checker"
    args = ["--stdio"]
    env = { CHECKER_KEY = "keyring:checker", CHECKER_MODE = "strict" }

    [servers.house-style]                           # over HTTP
    url = "https://style.example.org/mcp"
    headers = { Authorization = "Bearer env:STYLE_TOKEN" }

Secrets stand there by reference only, `keyring:NAME` or `env:VARIABLE`, and are looked up when a connection is made.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs

from yazcore.home import Home
from yazcore.kinds.net import canonical_host
from yazcore.manifest.words import did_you_mean, is_printable, quoted
from yazcore.violations import YazError

FILE = "settings.toml"

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_REFERENCE = re.compile(r"(?P<before>[A-Za-z][A-Za-z0-9-]* )?(?P<reference>(?:keyring|env):\S*)")
_SECRET = re.compile(r"authorization|cookie|secret|token(?!iz)|passw|credential|api[-_]?key|_key$|^key$", re.IGNORECASE)
_NOT_YOURS = re.compile(
    r"host|connection|content-.*|transfer-encoding|accept|accept-encoding|te|upgrade|expect|mcp-.*|last-event-id",
    re.IGNORECASE,
)
_LOOPBACK = re.compile(r"localhost|127\.\d+\.\d+\.\d+|\[::1\]", re.IGNORECASE)
_LONGEST = 8192


@attrs.frozen(kw_only=True)
class ServerSettings:
    """How one server is reached: by starting `command`, or at `url`.

    * `env`, `headers`: values as they are written; a reference is looked up when a connection is made.
    * `cwd`: the folder the process starts in; None: the user's home folder.
    * `insecure`: whether plain http to another machine is meant.
    """

    name: str
    command: str | None = None
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = attrs.field(factory=dict)
    cwd: str | None = None
    url: str | None = None
    headers: Mapping[str, str] = attrs.field(factory=dict)
    insecure: bool = False

    @property
    def transport(self) -> str:
        """`stdio` or `http`."""
        return "http" if self.url is not None else "stdio"

    @property
    def folder(self) -> str:
        """The folder the process starts in."""
        return os.path.expanduser(self.cwd or "~")

    @property
    def is_loopback(self) -> bool:
        """Whether the URL leads to this machine, where no proxy has any business."""
        return self.url is not None and _LOOPBACK.fullmatch(_host(self.url)) is not None

    @property
    def host(self) -> str | None:
        """The URL's host in its one spelling; None for a process."""
        if self.url is None:
            return None
        try:
            return canonical_host(_host(self.url))
        except ValueError:
            return None

    @property
    def digest(self) -> str:
        """What tells these settings from others; references are in it, secrets are not."""
        text = json.dumps(self.as_table(), sort_keys=True, ensure_ascii=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def as_table(self) -> dict[str, Any]:
        """The settings as they stand in the file, what is not said left out."""
        table: dict[str, Any] = {}
        if self.url is not None:
            table["url"] = self.url
        if self.command is not None:
            table["command"] = self.command
        if self.args:
            table["args"] = list(self.args)
        if self.cwd is not None:
            table["cwd"] = self.cwd
        for key, values in (("env", self.env), ("headers", self.headers)):
            if values:
                table[key] = dict(values)
        if self.insecure:
            table["insecure"] = True
        return table


def filled(values: Mapping[str, str], secret: Callable[[str], str]) -> dict[str, str]:
    """The values with each reference replaced by what `secret` gives for it. Raises what `secret` raises."""
    made = {}
    for name, value in values.items():
        found = _REFERENCE.fullmatch(value)
        made[name] = value if found is None else (found["before"] or "") + secret(found["reference"])
    return made


def references(settings: ServerSettings) -> tuple[str, ...]:
    """Every reference that stands in the settings."""
    values = (*settings.env.values(), *settings.headers.values())
    return tuple(found["reference"] for value in values if (found := _REFERENCE.fullmatch(value)) is not None)


# -- reading ----------------------------------------------------------------------------------------------------------


def server_names(home: Home) -> tuple[str, ...]:
    """The names of all servers in the settings, sorted. Raises `YazError` `settings-broken`, `server-settings`."""
    return tuple(sorted(_tables(home)))


def read_server(home: Home, name: str) -> ServerSettings | None:
    """The settings of one server, None where there are none.

    Raises `YazError`: `settings-broken` for a file that is no TOML, `server-settings` for an entry that is not right.
    """
    table = _tables(home).get(name)
    return None if table is None else parsed(name, table)


def _tables(home: Home) -> Mapping[str, Any]:
    tables = home.settings().get("servers", {})
    if not isinstance(tables, dict):
        raise YazError(
            "server-settings", "settings.toml: servers is no table", "write each server below [servers.NAME]"
        )
    return tables


def parsed(name: str, table: Any) -> ServerSettings:
    """The settings in one table of the file. Raises `YazError` `server-settings` for the first thing that is wrong."""
    if not _NAME.fullmatch(name):
        raise _wrong(name, "the name has other characters", "use letters, digits, - _ and ., at most 64")
    if not isinstance(table, dict):
        raise _wrong(name, "it is no table", f"write [servers.{name}], and command or url below it")
    _check_keys(name, table)
    settings = ServerSettings(name=name, **{key: _as_field(value) for key, value in table.items()})
    for problem, fix in (*_faults_of_command(settings), *_faults_of_url(settings), *_faults_of_values(settings)):
        raise _wrong(name, problem, fix)
    return settings


_TYPES: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "command": ("a text", lambda value: isinstance(value, str)),
    "args": ("a list of texts", lambda value: isinstance(value, list) and all(isinstance(one, str) for one in value)),
    "env": ("a table of texts", lambda value: _is_texts(value)),
    "cwd": ("a text", lambda value: isinstance(value, str)),
    "url": ("a text", lambda value: isinstance(value, str)),
    "headers": ("a table of texts", lambda value: _is_texts(value)),
    "insecure": ("true or false", lambda value: isinstance(value, bool)),
}
_OF_PROCESS = ("args", "env", "cwd")
_OF_HTTP = ("headers", "insecure")


def _is_texts(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(one, str) for one in value.values())


def _as_field(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _check_keys(name: str, table: Mapping[str, Any]) -> None:
    for key, value in table.items():
        if key not in _TYPES:
            raise _wrong(name, f"unknown key {quoted(key)}", did_you_mean(key, _TYPES))
        words, fits = _TYPES[key]
        if not fits(value):
            raise _wrong(name, f"{key} is not {words}", f"write {words}")
    if ("command" in table) == ("url" in table):
        raise _wrong(name, "exactly one of command and url says how it is reached", "write one of them")
    for key in _OF_PROCESS if "url" in table else _OF_HTTP:
        if key in table:
            raise _wrong(name, f"{key} means nothing beside {'url' if 'url' in table else 'command'}", "leave it out")


def _faults_of_command(settings: ServerSettings) -> Iterator[tuple[str, str]]:
    if settings.command is None:
        return
    command = settings.command
    if not command.strip() or ("/" in command and not command.startswith(("/", "~/"))):
        yield "command is neither a bare name nor a whole path", "write a name that is on PATH, or a path from / or ~/"
    if any("\0" in one for one in (command, *settings.args, settings.cwd or "")):
        yield "command or args hold a NUL", "take it out"
    if settings.cwd is not None and not settings.cwd.startswith(("/", "~/")) and settings.cwd != "~":
        yield "cwd is no whole path", "write a path from / or ~/"


def _faults_of_url(settings: ServerSettings) -> Iterator[tuple[str, str]]:
    if settings.url is None:
        return
    from urllib.parse import parse_qsl, urlsplit

    url = settings.url
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    if (
        parts.scheme not in ("http", "https")
        or not parts.hostname
        or port == 0
        or not url.isascii()
        or not is_printable(url)
        or any(character.isspace() or character == "\\" for character in url)
        or parts.fragment
    ):
        yield "url is no address of a server", "write it as in https://style.example.org/mcp"
        return
    if parts.username is not None or parts.password is not None:
        yield "url holds a user name", "put it into headers, by reference"
    for key, _ in parse_qsl(parts.query, keep_blank_values=True):
        if _SECRET.search(key):
            yield f"url holds {quoted(key)}, and addresses end up in logs", "put it into headers, by reference"
    if parts.scheme == "http" and not settings.is_loopback and not settings.insecure:
        yield "url is plain http to another machine", "use https, or write insecure = true beside it"


def _faults_of_values(settings: ServerSettings) -> Iterator[tuple[str, str]]:
    for key, values, form in (("env", settings.env, _VARIABLE), ("headers", settings.headers, _HEADER)):
        for name, value in values.items():
            if not form.fullmatch(name) or (key == "headers" and _NOT_YOURS.fullmatch(name)):
                yield f"{key} sets {quoted(name)}, which cannot be set", "take it out"
            elif len(value) > _LONGEST or "\0" in value or (key == "headers" and not _is_header_value(value)):
                yield f"the value of {quoted(name)} in {key} cannot be sent", "use one line of ASCII"
            elif (found := _REFERENCE.fullmatch(value)) is not None:
                if found["before"] and key == "env":
                    yield f"the value of {quoted(name)} in env is more than a reference", _BY_REFERENCE
            elif _SECRET.search(name):
                yield f"{quoted(name)} in {key} holds a secret as it is", _BY_REFERENCE


_BY_REFERENCE = "write keyring:NAME after yaz secret set NAME, or env:VARIABLE"


def _is_header_value(value: str) -> bool:
    return value.isascii() and value.isprintable() and value == value.strip()


def _host(url: str) -> str:
    from urllib.parse import urlsplit

    host = urlsplit(url).hostname or ""
    return f"[{host}]" if ":" in host else host


def _wrong(name: str, problem: str, fix: str) -> YazError:
    return YazError("server-settings", f"settings.toml: servers.{name}: {problem}", fix)


# -- writing ----------------------------------------------------------------------------------------------------------


def write_server(home: Home, settings: ServerSettings) -> None:
    """Add a server to settings.toml; all else that stands there stays as it is, comments too.

    Raises `YazError`: `server-exists`, `server-settings`, `settings-broken`, `home-busy`, `home-not-writable`.
    """
    import tomlkit

    parsed(settings.name, settings.as_table())
    with home.locked(FILE):
        if settings.name in _tables(home):
            raise YazError(
                "server-exists", f"settings.toml names an MCP server {settings.name!r} already",
                f"yaz server remove {settings.name} takes it out",
            )  # fmt: skip
        document = tomlkit.parse(_text(home))
        if "servers" not in document:
            document["servers"] = tomlkit.table(is_super_table=True)
        document["servers"][settings.name] = _as_toml(settings)
        home.write_text(FILE, tomlkit.dumps(document))


def _as_toml(settings: ServerSettings) -> Any:
    import tomlkit

    table = tomlkit.table()
    for key, value in settings.as_table().items():
        if isinstance(value, dict):
            inline = tomlkit.inline_table()
            inline.update(value)
            table[key] = inline
        else:
            table[key] = value
    return table


def remove_server(home: Home, name: str) -> bool:
    """Take a server out of settings.toml; whether it was there. Raises `YazError` as `write_server` does."""
    import tomlkit

    with home.locked(FILE):
        if name not in _tables(home):
            return False
        document = tomlkit.parse(_text(home))
        del document["servers"][name]
        home.write_text(FILE, tomlkit.dumps(document))
    return True


def _text(home: Home) -> str:
    path: Path = home.path(FILE)
    return path.read_text("utf-8") if path.is_file() else ""
