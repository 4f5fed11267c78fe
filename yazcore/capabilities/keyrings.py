"""The system's keyring: which one, asked how (design 9; trials 8).

The backend is named by its class, the one of this platform or the one that the user names in `PYTHON_KEYRING_BACKEND`;
keyring's own search is never used, because it loads code from every installed distribution that offers a backend. Each
question is asked in a thread of its own, with a deadline: a window that asks for a password can stay open for ever.
"""

from __future__ import annotations

import importlib
import os
import queue
import sys
import threading
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from yazcore.violations import YazError

T = TypeVar("T")

ASK_SECONDS = 10.0
"""How long one question may take, in seconds."""

MOST_WAITING = 4
"""How many questions may wait for an answer at a time; further ones are refused when their own time is over."""

_SYSTEM = {
    "linux": (
        "keyring.backends.SecretService.Keyring", "keyring.backends.libsecret.Keyring",
        "keyring.backends.kwallet.DBusKeyring",
    ),
    "darwin": ("keyring.backends.macOS.Keyring",),
    "win32": ("keyring.backends.Windows.WinVaultKeyring",),
}  # fmt: skip
# `null` pretends to keep what it is given, `fail` keeps nothing, the chainer searches for every backend there is
_USELESS = ("keyring.backends.null.", "keyring.backends.fail.", "keyring.backends.chainer.")

_asking = threading.BoundedSemaphore(MOST_WAITING)


class Keyring(Protocol):
    """Where secrets are kept, by name. Every method raises `YazError`."""

    def get(self, name: str) -> str | None:
        """The secret of that name, or None."""

    def put(self, name: str, secret: str) -> None:
        """Keep a secret under that name, in place of an earlier one."""

    def remove(self, name: str) -> None:
        """Forget the secret of that name, if there is one."""


class SystemKeyring:
    """The keyring of this machine, as far as entries of one `service` go.

    Raises `YazError`: `keyring-unavailable` where there is none, `keyring-slow` where it does not answer in `seconds`,
    `keyring-failed` where it refuses.
    """

    def __init__(self, service: str, seconds: float = ASK_SECONDS) -> None:
        self._service = service
        self._seconds = seconds

    def get(self, name: str) -> str | None:
        """The secret of that name, or None."""
        found: str | None = self._ask(lambda backend: backend.get_password(self._service, name))
        return found

    def put(self, name: str, secret: str) -> None:
        """Keep a secret."""
        self._ask(lambda backend: backend.set_password(self._service, name, secret))

    def remove(self, name: str) -> None:
        """Forget a secret."""

        def remove(backend: Any) -> None:
            from keyring.errors import PasswordDeleteError

            try:
                backend.delete_password(self._service, name)
            except PasswordDeleteError:
                if backend.get_password(self._service, name) is not None:
                    raise

        self._ask(remove)

    def _ask(self, question: Callable[[Any], T]) -> T:
        return within(self._seconds, lambda: question(backend()))


def backend() -> Any:
    """The keyring backend of this machine. Raises `YazError` `keyring-unavailable`."""
    named = os.environ.get("PYTHON_KEYRING_BACKEND", "").strip()
    if named:
        if named.startswith(_USELESS):
            raise _unavailable(f"PYTHON_KEYRING_BACKEND names {named}, which keeps nothing")
        try:
            return _class_of(named)()
        except Exception as error:  # noqa: BLE001 - code that the user names may fail in any way
            raise _unavailable(f"{named}, which PYTHON_KEYRING_BACKEND names: {type(error).__name__}") from None
    for name in _SYSTEM.get(sys.platform, ()):
        try:
            found = _class_of(name)
            if found.viable:
                return found()
        except Exception:  # noqa: BLE001, S112 - a backend that cannot be used here says so by whatever it raises
            continue
    raise _unavailable("no keyring of this system is running")


def _class_of(name: str) -> Any:
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(module), attribute)


def _unavailable(why: str) -> YazError:
    return YazError(
        "keyring-unavailable", f"no keyring can be used: {why}",
        "put the secret in an environment variable, and name that: yaz secret set NAME --env VARIABLE",
    )  # fmt: skip


def within(seconds: float, work: Callable[[], T]) -> T:
    """What `work` gives, in a thread of its own and within so many seconds.

    The thread has no plugin's context: what a keyring does, the host does. Raises `YazError`: what `work` raises,
    `keyring-slow`, and `keyring-failed` for everything else.
    """
    answers: queue.SimpleQueue[tuple[bool, Any]] = queue.SimpleQueue()

    def ask() -> None:
        try:
            answers.put((True, work()))
        except BaseException as error:  # noqa: BLE001 - it is raised again where somebody waits
            answers.put((False, error))
        finally:
            _asking.release()

    if not _asking.acquire(timeout=seconds):
        raise _slow(seconds)
    try:
        threading.Thread(target=ask, name="yaz-keyring", daemon=True).start()
    except BaseException:
        _asking.release()
        raise
    try:
        good, answer = answers.get(timeout=seconds)
    except queue.Empty:
        raise _slow(seconds) from None
    if good:
        found: T = answer
        return found
    if isinstance(answer, YazError):
        raise answer
    # not its own words: a backend may repeat what it was given
    raise YazError(
        "keyring-failed", f"the keyring refused: {type(answer).__name__}", "unlock it, and try again"
    ) from None


def _slow(seconds: float) -> YazError:
    return YazError(
        "keyring-slow", f"the keyring did not answer in {seconds:g} seconds",
        "it may wait for you to unlock it: look for its window, and try again",
    )  # fmt: skip
