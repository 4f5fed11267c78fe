"""What the broker refused: one JSON object a line and one file a plugin, in the order it happened (Y-14)."""

from __future__ import annotations

import json
import os
import re
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from yazcore.home import Home
from yazcore.kinds.causes import Cause

FOLDER = "denials"

MOST_BYTES = 256 * 1024
"""When a plugin's file is larger than this it becomes the older one, and the older one goes."""

_LONGEST_TARGET = 1000
_PLUGIN = re.compile(r"[a-z0-9-]{1,64}")


class DenialLog:
    """The denials of one `YAZ_HOME`. Safe from any thread and from several processes.

    A plugin has a bounded file of its own, so that none can push another's denials out.
    """

    def __init__(self, home: Home) -> None:
        self._home = home
        self._lock = threading.Lock()

    def record(
        self, plugin: str, kind: str, target: str, reason: str, where: str, detail: str = "", cause: Cause = ""
    ) -> None:
        """Note one refusal: of what, for which target, why, in which hook or contribution, what more there is to say,
        and the cause in a word.

        Raises `OSError` or `YazError` where it cannot be written; the refusal stands all the same.
        """
        entry = {
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "plugin": plugin,
            "capability": kind,
            "target": target if len(target) <= _LONGEST_TARGET else f"{target[:_LONGEST_TARGET]}...",
            "reason": reason,
            "where": where,
            **({"detail": detail} if detail else {}),
            **({"cause": cause} if cause else {}),
        }
        line = json.dumps(entry).encode() + b"\n"
        path = self._path(plugin)
        with self._lock:
            self._home.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.parent.mkdir(mode=0o700, exist_ok=True)
            handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                os.write(handle, line)  # one write with O_APPEND: lines of several processes do not mix
                size = os.fstat(handle).st_size
            finally:
                os.close(handle)
            if size > MOST_BYTES:
                self._rotate(path)

    def of(self, plugin: str) -> list[dict[str, Any]]:
        """The plugin's denials, oldest first. A line that was cut off is left out."""
        path = self._path(plugin)
        with self._lock:
            data = b"".join(one.read_bytes() for one in (_older(path), path) if one.is_file())
        return [entry for line in data.splitlines() if (entry := _parsed(line)) is not None]

    def _rotate(self, path: Path) -> None:
        with self._home.locked(FOLDER):
            if path.stat().st_size > MOST_BYTES:  # another process may have been first
                path.replace(_older(path))

    def _path(self, plugin: str) -> Path:
        if not _PLUGIN.fullmatch(plugin):
            raise ValueError(f"{plugin!r} is no plugin id")
        return self._home.path(FOLDER, f"{plugin}.jsonl")


def _older(path: Path) -> Path:
    return path.with_suffix(".old.jsonl")


def _parsed(line: bytes) -> dict[str, Any] | None:
    try:
        entry = json.loads(line)
    except ValueError:
        return None
    return entry if isinstance(entry, dict) else None
