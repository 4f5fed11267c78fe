"""One entry, put into a settings file that a person and a program keep: all else in it stays as it is.

The file is changed as text, so spaces, order and comments stay; before it is written, what it would say is held against
what it said. It is replaced as a whole, with a copy of the old one beside it.
"""

from __future__ import annotations

import json
import os
import tempfile
import tomllib
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from yazcore.clients import Client
from yazcore.manifest.json_edit import updated
from yazcore.violations import YazError

if TYPE_CHECKING:
    from tomlkit import TOMLDocument

_OTHER_WAYS = frozenset({
    "type", "url", "headers", "serverUrl", "bearer_token_env_var", "http_headers", "env_http_headers",
})  # fmt: skip
"""What an entry has that reaches a server in another way; of an older entry it would contradict ours."""

_BOM = "\ufeff"


@attrs.frozen(kw_only=True)
class Merged:
    """What came of it. `change`: `added`, `replaced` or `same`; `backup`: the copy of the file as it was."""

    change: str
    backup: Path | None = None


def rendered(client: Client, name: str, entry: Mapping[str, Any]) -> str:
    """The text of a file that holds this entry alone."""
    document = {client.section: {name: dict(entry)}}
    return _toml_with(client, name, entry, "") if client.format == "toml" else json.dumps(document, indent=2) + "\n"


def merge(client: Client, path: Path, name: str, entry: Mapping[str, Any]) -> Merged:
    """Put the entry into the file at `path`, which need not be there.

    What the user added to an older entry of that name stays. Raises `YazError` `client-file`, `client-file-shape`: then
    nothing is written.
    """
    target = path.resolve()  # settings that are kept elsewhere and linked stay so
    try:
        old = target.read_bytes().decode("utf-8") if target.exists() else None  # with the line breaks it has
    except (OSError, UnicodeDecodeError) as error:
        raise _untouched(client, path, getattr(error, "strerror", None) or "it is no UTF-8 text") from None
    text = "" if old is None else old.removeprefix(_BOM)
    before = _document(client, path, text)
    known = _section(client, path, before)
    merged = _joined(known.get(name), entry)
    if known.get(name) == merged:
        return Merged(change="same")
    after = {**before, client.section: {**known, name: merged}}
    new = _toml_with(client, name, merged, text) if client.format == "toml" else _json_with(after, text)
    if _document(client, path, new) != after:
        raise _untouched(client, path, "it is written in a way that cannot be kept")
    backup = None if old is None else _copy(target, old)
    _replace(client, target, new if old is None or not old.startswith(_BOM) else _BOM + new)
    return Merged(change="added" if name not in known else "replaced", backup=backup)


def _joined(old: Any, entry: Mapping[str, Any]) -> dict[str, Any]:
    if not isinstance(old, dict):
        return dict(entry)
    kept = {key: value for key, value in old.items() if key not in _OTHER_WAYS}
    environment = {**(kept["env"] if isinstance(kept.get("env"), dict) else {}), **entry.get("env", {})}
    return {**kept, **entry, **({"env": environment} if environment else {})}


# -- what a file says -------------------------------------------------------------------------------------------------


def _document(client: Client, path: Path, text: str) -> dict[str, Any]:
    try:
        if client.format == "toml":
            return tomllib.loads(text)
        found = json.loads(text, object_pairs_hook=_unrepeated) if text.strip() else {}
    except (ValueError, RecursionError) as error:
        reason = str(error) if isinstance(error, ValueError) else "it nests too deeply"
        comments = "; comments are none of JSON" if "//" in text or "/*" in text else ""
        kind = "TOML" if client.format == "toml" else "JSON"
        raise _untouched(client, path, f"it is no {kind}: {reason}{comments}") from None
    if not isinstance(found, dict):
        raise _misshapen(client, path, "it holds no object")
    return found


def _unrepeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return found


def _section(client: Client, path: Path, document: Mapping[str, Any]) -> dict[str, Any]:
    section = document.get(client.section, {})
    if not isinstance(section, dict):
        raise _misshapen(client, path, f"its {client.section} is no table of servers")
    return section


# -- what it says afterwards ------------------------------------------------------------------------------------------


def _json_with(document: Mapping[str, Any], text: str) -> str:
    return updated(text, document) if text.strip() else json.dumps(document, indent=2) + "\n"


def _toml_with(client: Client, name: str, entry: Mapping[str, Any], text: str) -> str:
    import tomlkit.items  # whoever has no TOML to change pays for none

    document: TOMLDocument = tomlkit.parse(text)
    if client.section not in document:
        document[client.section] = tomlkit.table(is_super_table=True)
    section: Any = document[client.section]
    fresh: Any = tomlkit.inline_table() if isinstance(section, tomlkit.items.InlineTable) else tomlkit.table()
    table: Any = section[name] if isinstance(section.get(name), dict) else fresh
    for key in [key for key in table if key not in entry]:
        del table[key]
    for key, value in entry.items():
        if table.get(key) != value:
            table[key] = value
    section[name] = table
    return tomlkit.dumps(document)


# -- writing ----------------------------------------------------------------------------------------------------------


def _copy(target: Path, text: str) -> Path:
    """A copy beside the file, under a name that is free, readable by the user alone: it may hold secrets of others."""
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S")
    number = 0
    while True:
        copy = target.with_name(f"{target.name}.{stamp}{f'-{number}' if number else ''}.bak")
        try:
            descriptor = os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            number += 1
            continue
        with open(descriptor, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        return copy


def _replace(client: Client, target: Path, text: str) -> None:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        mode = target.stat().st_mode & 0o777 if target.exists() else 0o600
        descriptor, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        try:
            with open(descriptor, "w", encoding="utf-8", newline="") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(temporary, mode)
            os.replace(temporary, target)
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError as error:
        raise YazError(
            "client-file", f"the settings of {client.name} cannot be written: {error.strerror}",
            f"yaz connect {client.id} prints the entry, to be put there by hand",
        ) from None  # fmt: skip


def _untouched(client: Client, path: Path, why: str) -> YazError:
    return YazError(
        "client-file", f"{path} was not changed: {why}",
        f"yaz connect {client.id} prints the entry, to be put there by hand",
    )  # fmt: skip


def _misshapen(client: Client, path: Path, why: str) -> YazError:
    return YazError(
        "client-file-shape", f"{path} was not changed: {why}", f"see how {client.name} wants it, and mend it"
    )
