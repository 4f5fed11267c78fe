"""What happened, for the user: one record per call, and the full text of crashes that callers saw masked (design 7).

JSON Lines below the home folder, rotated. A record holds names, types and sizes of arguments; a value only where the
tool's schema marks the property with `"x-audit": true`.
"""

from __future__ import annotations

import json
import os
import secrets
import threading
import time
from collections.abc import Collection, Iterator, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

import attrs

from yazcore.home import Home

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
"""For what msgspec refuses: halves of surrogate pairs."""

_ROTATE_BYTES = 8 * 2**20
_KEEP = 3
_LONGEST_VALUE = 200


@attrs.frozen(kw_only=True)
class CallRecord:
    """One call through the gate, whatever its outcome.

    `outcome` is `ok`, `error` (the tool said no), `unknown`, `malformed`, `denied`, `invalid`, `approval`, `overdue`,
    `cancelled`, `crashed` or `too-large`; `seconds` is how long it took; `arguments` maps names to type and size;
    `values` holds the values that the tool's schema wants kept (`audited`); `approval` says who allowed or refused it,
    where somebody was asked.
    """

    principal: str
    what: str
    name: str
    outcome: str
    seconds: float
    scope: str = ""
    scope_id: str | None = None
    arguments: Mapping[str, str] = attrs.field(factory=dict)
    values: Mapping[str, Any] = attrs.field(factory=dict)
    approval: str = ""
    reference: str | None = None


def shapes(arguments: Any) -> dict[str, str]:
    """Names, types and sizes of a call's arguments: what an audit may keep of them."""
    if not isinstance(arguments, Mapping):
        return {}
    return {str(name)[:64]: _shape(value) for name, value in list(arguments.items())[:32]}


_SHAPES = {str: "text", bool: "boolean", int: "integer", float: "number", list: "list", dict: "object"}


def _shape(value: Any) -> str:
    name = _SHAPES.get(type(value), "null")
    return f"{name} {len(value)}" if name in ("text", "list", "object") else name


def values(arguments: Any, audited: Collection[str]) -> dict[str, Any]:
    """The values of the `audited` arguments, as far as they are scalars; a text is cut at 200 characters (SA-26)."""
    if not audited or not isinstance(arguments, Mapping):
        return {}
    kept = {name: arguments[name] for name in sorted(audited) if name in arguments}
    return {
        name: value[:_LONGEST_VALUE] if isinstance(value, str) else value
        for name, value in kept.items()
        if isinstance(value, str | bool | int | float) or value is None
    }


class Audit:
    """The audit of one home folder. Safe from any thread; a disk that is full never fails a call."""

    def __init__(self, home: Home) -> None:
        self._folder = home.path("logs")
        self._calls = _Lines(self._folder / "calls.jsonl")
        self._crashes = _Lines(self._folder / "crashes.jsonl")

    def call(self, record: CallRecord) -> None:
        """Add the record of one call."""
        self._calls.append(
            {
                "time": _now(),
                "principal": record.principal,
                "what": record.what,
                "name": record.name,
                "outcome": record.outcome,
                "seconds": round(record.seconds, 6),
                "scope": record.scope,
                "scope_id": record.scope_id,
                "arguments": record.arguments,
                "reference": record.reference,
                **({"values": record.values} if record.values else {}),
                **({"approval": record.approval} if record.approval else {}),
            }
        )

    def crash(self, *, plugin: str, version: str, where: str, type: str, message: str, trace: str) -> str:  # noqa: A002
        """Keep the full text of a crash and give its reference, which is all that a caller sees."""
        reference = secrets.token_hex(4)
        self._crashes.append(
            {
                "time": _now(), "reference": reference, "plugin": plugin, "version": version, "where": where,
                "type": type, "message": message, "trace": trace,
            }
        )  # fmt: skip
        return reference

    def close(self) -> None:
        """Let go of the files; the next record opens them again."""
        self._calls.close()
        self._crashes.close()

    def calls(self, most: int = 200) -> list[dict[str, Any]]:
        """The newest records, oldest first."""
        return list(self._lines("calls.jsonl"))[-most:]

    def crash_of(self, reference: str) -> dict[str, Any] | None:
        """The crash behind a reference."""
        return next((line for line in self._lines("crashes.jsonl") if line.get("reference") == reference), None)

    def _lines(self, name: str) -> Iterator[dict[str, Any]]:
        for path in [*(self._folder / f"{name}.{number}" for number in range(_KEEP, 0, -1)), self._folder / name]:
            try:
                text = path.read_bytes().decode("utf-8", "replace")
            except OSError:
                continue
            for line in text.split("\n"):  # JSON escapes no other line break that Unicode knows
                try:
                    found = json.loads(line)
                except ValueError:
                    continue
                if isinstance(found, dict):
                    yield found


class _Lines:
    """One file of JSON Lines that is appended to and rotated. It stays open: opening it costs more than the line."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._descriptor: int | None = None
        self._size = 0

    def append(self, line: Mapping[str, Any]) -> None:
        text = _encoded(line) + b"\n"
        with self._lock:
            try:
                os.write(self._open(len(text)), text)
                self._size += len(text)
            except OSError:
                # An audit that cannot be written must not turn every call into an error; `yaz doctor` says so.
                self._close()

    def close(self) -> None:
        with self._lock:
            self._close()

    def _open(self, more: int) -> int:
        if self._descriptor is not None and self._size + more <= _ROTATE_BYTES:
            return self._descriptor
        self._close()
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        _rotate(self._path, more)
        # One write a record, at the end of the file whoever else writes to it.
        self._descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        self._size = os.fstat(self._descriptor).st_size
        return self._descriptor

    def _close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def __del__(self) -> None:
        self._close()


def _encoded(line: Mapping[str, Any]) -> bytes:
    import msgspec  # `yaz log` only reads

    try:
        return msgspec.json.encode(line)
    except UnicodeEncodeError:
        return _encode(line).encode("utf-8", "backslashreplace")


def _rotate(path: Path, more: int) -> None:
    if not path.exists() or path.stat().st_size + more <= _ROTATE_BYTES:
        return
    for number in range(_KEEP - 1, 0, -1):
        older = path.with_name(f"{path.name}.{number}")
        if older.exists():
            older.replace(path.with_name(f"{path.name}.{number + 1}"))
    path.replace(path.with_name(f"{path.name}.1"))


def _now() -> str:
    seconds, rest = divmod(time.time_ns(), 10**9)
    return f"{_second(seconds)}.{rest // 10**6:03}+00:00"


@lru_cache(maxsize=4)
def _second(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat().removesuffix("+00:00")
