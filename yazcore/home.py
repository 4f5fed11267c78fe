"""YAZ_HOME: the one folder for what the user decided and the application keeps (design 9).

Whatever is written here is written whole or not at all, readable by the user alone, and under a lock where two
processes may want it.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Generic, TypeVar

from yazcore.violations import YazError

T = TypeVar("T")

SETTINGS = "settings.toml"
"""The file of what the user has set."""

LOCK_SECONDS = 10.0
"""How long to wait for another process, in seconds."""

_SAFE_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


class Home:
    """The folder; nothing is made before the first write.

    `folder` None means the environment's `YAZ_HOME`, else the platform's place for application data.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = (folder if folder is not None else _default_folder()).absolute()

    def path(self, *parts: str) -> Path:
        """A path below the folder; touches nothing. Raises `ValueError` for parts that lead out of it."""
        found = Path(os.path.normpath(self.folder.joinpath(*parts)))
        if not found.is_relative_to(self.folder):
            raise ValueError(f"{'/'.join(parts)} is not below YAZ_HOME")
        return found

    def read_json(self, name: str) -> Any | None:
        """What a JSON file holds, None where there is none.

        Raises `YazError` `home-file-broken` for a file that is no JSON, `home-file-unreadable` for one that cannot be
        read. Neither names the absolute path.
        """
        text = self._read(name)
        if text is None:
            return None
        try:
            return json.loads(text)
        except json.JSONDecodeError as error:
            where = f" (line {error.lineno}, column {error.colno})"
        except (ValueError, RecursionError):
            where = ""
        raise YazError(
            "home-file-broken",
            f"{name} in YAZ_HOME is not valid JSON{where}",
            "restore it from a copy, or remove it and decide again",
        )

    def write_json(self, name: str, value: Any) -> None:
        """Replace a JSON file as a whole: 0600, sorted keys, for people to read. Raises `home-not-writable`."""
        self.write_text(name, json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n")

    def write_text(self, name: str, text: str) -> None:
        """Replace a text file as a whole, 0600. Raises `YazError` `home-not-writable`."""
        import tempfile  # brings random and shutil: only whoever writes pays for it

        target = self.path(name)
        try:
            self._make_folder(target.parent)
            descriptor, temporary = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent)
            try:
                with open(descriptor, "w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
                    file.write(text)
                    file.flush()
                    os.fsync(file.fileno())
                os.replace(temporary, target)
            except BaseException:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(temporary)
                raise
            _sync_folder(target.parent)
        except OSError as error:
            raise YazError(
                "home-not-writable",
                f"{name} cannot be written in YAZ_HOME: {error.strerror}",
                "make the folder writable, or set YAZ_HOME to one that is",
            ) from error

    @contextlib.contextmanager
    def locked(self, name: str, timeout: float = LOCK_SECONDS) -> Iterator[None]:
        """Hold the lock of a file against other processes and threads; it is not re-entrant.

        `timeout` is in seconds; raises `YazError` `home-busy` after that.
        """
        from filelock import FileLock, Timeout  # brings asyncio: only whoever writes pays for it

        path = self.path(f"{name}.lock")
        try:
            self._make_folder(path.parent)
            lock = FileLock(path, timeout=timeout, mode=0o600)
            lock.acquire()
        except Timeout:
            raise YazError(
                "home-busy", f"another process holds {name} in YAZ_HOME", "wait until it has finished, and try again"
            ) from None
        except OSError as error:
            raise YazError(
                "home-not-writable",
                f"{name} cannot be locked in YAZ_HOME: {error.strerror}",
                "make the folder writable, or set YAZ_HOME to one that is",
            ) from error
        try:
            yield
        finally:
            lock.release()

    def settings(self) -> dict[str, Any]:
        """What `settings.toml` holds; empty where there is none. Raises `YazError` `settings-broken`, with the line."""
        import tomllib

        text = self._read(SETTINGS)
        if text is None:
            return {}
        try:
            return tomllib.loads(text)
        except (tomllib.TOMLDecodeError, RecursionError) as error:
            reason = str(error) if isinstance(error, tomllib.TOMLDecodeError) else "it nests too deeply"
            raise YazError("settings-broken", f"settings.toml is not valid TOML: {reason}", "mend that line") from None

    def change_settings(self, change: Callable[[Any], None]) -> None:
        """Change `settings.toml` under its lock; `change` gets a document of tomlkit, so comments and order stay.

        Raises `YazError`: `settings-broken`, `home-busy`, `home-not-writable`.
        """
        import tomlkit

        with self.locked(SETTINGS):
            self.settings()  # what is broken is not written over
            document = tomlkit.parse(self._read(SETTINGS) or "")
            change(document)
            self.write_text(SETTINGS, tomlkit.dumps(document))

    def plugin_data(self, plugin_id: str) -> Path:
        """A plugin's own folder, made 0700. Raises `ValueError` for what is no id."""
        if not _SAFE_ID.fullmatch(plugin_id):
            raise ValueError(f"{plugin_id!r} is not a plugin id")
        folder = self.path("data", plugin_id)
        self._make_folder(folder)
        return folder

    def _read(self, name: str) -> str | None:
        try:
            return self.path(name).read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        except UnicodeDecodeError:
            raise YazError(
                "home-file-broken", f"{name} in YAZ_HOME is not UTF-8 text", "save it as UTF-8, or remove it"
            ) from None
        except OSError as error:
            raise YazError(
                "home-file-unreadable",
                f"{name} in YAZ_HOME cannot be read: {error.strerror}",
                "give yourself the right to read it",
            ) from error

    def _make_folder(self, folder: Path) -> None:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        below = self.folder
        for part in folder.relative_to(self.folder).parts:
            below /= part
            below.mkdir(mode=0o700, exist_ok=True)


class Watched(Generic[T]):
    """What a JSON file of the home folder says, read again whenever another process has changed it.

    `read` makes a value of what the file holds, None where there is none. Safe from any thread.
    """

    def __init__(self, home: Home, name: str, read: Callable[[Any | None], T]) -> None:
        self._home = home
        self._name = name
        self._read = read
        self._lock = threading.Lock()
        self._stamp: tuple[int, int, int] | None = None
        self._value: T | None = None
        self._known = False

    def now(self) -> T:
        """The value. Raises as `Home.read_json` and `read` do; then the next call reads again."""
        with self._lock:
            try:
                status = self._home.path(self._name).stat()
                stamp = (status.st_mtime_ns, status.st_size, status.st_ino)
            except FileNotFoundError:
                stamp = None
            if not self._known or stamp is None or stamp != self._stamp:
                self._known = False
                self._value = self._read(self._home.read_json(self._name))
                self._stamp, self._known = stamp, True
            return self._value  # type: ignore[return-value]


def _default_folder() -> Path:
    if given := os.environ.get("YAZ_HOME"):
        return Path(given).expanduser()
    from platformdirs import user_data_path  # nobody who says where pays for it

    return user_data_path("yaz", appauthor=False)


def _sync_folder(folder: Path) -> None:
    """Make a rename durable, where a folder can be opened for that."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
