"""A keyring for tests, named by `PYTHON_KEYRING_BACKEND`: it keeps what it is given in a file, so that it outlives a
process, and each way in which a real one fails is a class of its own."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

import keyring.backend
import keyring.errors

FILE = "YAZ_TEST_KEYRING"
"""The environment variable that says where the file is."""

opened = threading.Event()
"""Lets a keyring that waits for its window go on."""


class Keyring(keyring.backend.KeyringBackend):
    """Works."""

    priority = -1.0  # type: ignore[assignment]

    def get_password(self, service: str, username: str) -> str | None:
        found: str | None = self._read().get(service, {}).get(username)
        return found

    def set_password(self, service: str, username: str, password: str) -> None:
        kept = self._read()
        kept.setdefault(service, {})[username] = password
        self._file.write_text(json.dumps(kept))

    def delete_password(self, service: str, username: str) -> None:
        kept = self._read()
        if kept.get(service, {}).pop(username, None) is None:
            raise keyring.errors.PasswordDeleteError("no such password")
        self._file.write_text(json.dumps(kept))

    @property
    def _file(self) -> Path:
        return Path(os.environ[FILE])

    def _read(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self._file.read_text()) if self._file.exists() else {}
        return found


class Locked(Keyring):
    """Says no, and repeats what it was given in its complaint."""

    def get_password(self, service: str, username: str) -> str | None:
        raise keyring.errors.KeyringLocked(f"{service} {username}")

    def set_password(self, service: str, username: str, password: str) -> None:
        raise keyring.errors.KeyringLocked(f"{service} {username} {password}")


class Waiting(Keyring):
    """Waits for a window that nobody closes."""

    def get_password(self, service: str, username: str) -> str | None:
        opened.wait()
        return None


class Broken(Keyring):
    """Cannot even be made."""

    def __init__(self) -> None:
        raise OSError("no bus")
