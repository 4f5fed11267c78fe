"""Secrets: kept in the system's keyring or in an environment variable that the user names, read by the host alone.

`secrets.json` says which there are and where each is kept, never what they are. A *reference* names one in settings:
`keyring:NAME` the one kept under that name, `env:VARIABLE` an environment variable. A plugin's credential `api-key` is
the secret `<plugin id>/api-key`. Nothing here gives a secret to a plugin, an agent, a log or an error.
"""

from __future__ import annotations

import os
import re
import secrets as random
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import attrs

from yazcore.capabilities.keyrings import Keyring, SystemKeyring
from yazcore.home import Home
from yazcore.kinds.net import canonical_host
from yazcore.violations import YazError

FILE = "secrets.json"

MOST_BYTES = 16 * 1024
"""The longest secret, in bytes of UTF-8."""

_NAME = re.compile(r"(?:[a-z][a-z0-9]*(?:-[a-z0-9]+)*/)?[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_VAULT = re.compile(r"[0-9a-f]{16}")


@attrs.frozen(kw_only=True)
class Kept:
    """Where one secret is kept.

    * `variable`: the environment variable that holds it; None: the keyring does.
    * `hosts`: the only hosts it may be sent to; empty: any that its plugin may reach.
    * `time`: when it was set (ISO 8601, UTC).
    """

    name: str
    variable: str | None = None
    hosts: tuple[str, ...] = ()
    time: str = ""

    def as_json(self) -> dict[str, Any]:
        """The record as `yaz secret list --json` prints it."""
        return {
            "name": self.name, "from": "keyring" if self.variable is None else f"env:{self.variable}",
            "hosts": list(self.hosts), "time": self.time,
        }  # fmt: skip


class Secrets:
    """The secrets of one `YAZ_HOME`. Safe from any thread and from several processes.

    `keyring` gives the keyring for a service name. Every method raises `YazError` where the file cannot be understood.
    """

    def __init__(self, home: Home, keyring: Callable[[str], Keyring] = SystemKeyring) -> None:
        self._home = home
        self._keyring = keyring

    def all(self) -> tuple[Kept, ...]:
        """Every record, by name."""
        _, kept = _read(self._home.read_json(FILE))
        return tuple(kept[name] for name in sorted(kept))

    def get(self, name: str) -> Kept | None:
        """The record of one secret."""
        return _read(self._home.read_json(FILE))[1].get(name)

    def keep(self, name: str, secret: str, hosts: tuple[str, ...] | None = None) -> Kept:
        """Keep a secret in the keyring, in place of an earlier one of that name; `hosts` None leaves them as they are.

        Raises `YazError`: `secret-name`, `secret-invalid`, `secret-host`, and what the keyring raises.
        """
        _check_name(name)
        if not _is_secret(secret):
            raise YazError(
                "secret-invalid", f"a secret is a text of 1 to {MOST_BYTES} bytes, without NUL", "give it as it is"
            )
        return self._set(name, None, hosts, lambda vault: self._keyring(vault).put(name, secret))

    def point(self, name: str, variable: str, hosts: tuple[str, ...] | None = None) -> Kept:
        """Let a name stand for an environment variable, which need not be set yet.

        Raises `YazError`: `secret-name`, `secret-variable`, `secret-host`.
        """
        _check_name(name)
        if not _VARIABLE.fullmatch(variable):
            raise YazError(
                "secret-variable", f"{variable!r} is no name of an environment variable",
                "use letters, digits and _, as in ZOTERO_API_KEY",
            )  # fmt: skip
        return self._set(name, variable, hosts, lambda vault: None)

    def forget(self, name: str) -> bool:
        """Forget a secret and its record; whether there was one. Raises `YazError`: what the keyring raises."""
        with self._home.locked(FILE):
            vault, kept = _read(self._home.read_json(FILE))
            old = kept.pop(name, None)
            if old is None:
                return False
            if old.variable is None:
                self._keyring(_service(vault)).remove(name)
            self._write(vault, kept)
        return True

    def of(self, name: str) -> str:
        """The secret of that name.

        Raises `YazError`: `secret-unknown`, `secret-variable-unset`, and what the keyring raises.
        """
        vault, kept = _read(self._home.read_json(FILE))
        record = kept.get(name)
        if record is None:
            raise _unknown(name)
        if record.variable is not None:
            return _of_variable(record.variable)
        secret = self._keyring(_service(vault)).get(name)
        if secret is None:
            raise _unknown(name)
        return secret

    def read(self, reference: str) -> str:
        """What a reference in the user's settings stands for: `keyring:NAME`, `env:VARIABLE`.

        Raises `YazError`: `secret-reference`, and as `of` does.
        """
        where, _, name = reference.partition(":")
        if where == "keyring" and _NAME.fullmatch(name):
            return self.of(name)
        if where == "env" and _VARIABLE.fullmatch(name):
            return _of_variable(name)
        # never the text itself: somebody may have put the secret there
        raise YazError(
            "secret-reference", "what stands where a secret is named is no reference",
            "write keyring:NAME after yaz secret set NAME, or env:VARIABLE",
        )  # fmt: skip

    def _set(
        self, name: str, variable: str | None, hosts: tuple[str, ...] | None, put: Callable[[str], None]
    ) -> Kept:
        with self._home.locked(FILE):
            vault, kept = _read(self._home.read_json(FILE))
            old = kept.get(name)
            if hosts is None:
                hosts = () if old is None else old.hosts
            record = Kept(
                name=name, variable=variable, hosts=tuple(sorted({_host(host) for host in hosts})),
                time=datetime.now(UTC).isoformat(timespec="seconds"),
            )  # fmt: skip
            vault = vault or random.token_hex(8)
            put(_service(vault))
            if old is not None and old.variable is None and variable is not None:
                self._keyring(_service(vault)).remove(name)
            self._write(vault, {**kept, name: record})
        return record

    def _write(self, vault: str, kept: Mapping[str, Kept]) -> None:
        self._home.write_json(
            FILE,
            {
                "vault": vault,
                "secrets": {
                    name: {"variable": one.variable, "hosts": list(one.hosts), "time": one.time}
                    for name, one in kept.items()
                },
            },
        )


def is_name(text: str) -> bool:
    """Whether a text can be the name of a secret: `api-key`, `zotero/api-key`."""
    return _NAME.fullmatch(text) is not None


def _is_secret(text: str) -> bool:
    try:
        return 0 < len(text.encode()) <= MOST_BYTES and "\0" not in text
    except UnicodeEncodeError:
        return False


def _service(vault: str) -> str:
    """The keyring's word for all secrets of one `YAZ_HOME`: two of them never overwrite each other's."""
    return f"yaz {vault}"


def _check_name(name: str) -> None:
    if not is_name(name):
        raise YazError(
            "secret-name", f"{name!r} is no name of a secret",
            "use letters, digits, - _ and ., as in github; a plugin's is ID/NAME, as in zotero/api-key",
        )  # fmt: skip


def _host(text: str) -> str:
    try:
        return canonical_host(text)
    except ValueError as error:
        raise YazError("secret-host", f"{text!r} is not a host name: {error}", "give the host alone") from None


def _of_variable(variable: str) -> str:
    secret = os.environ.get(variable, "")
    if not secret:
        raise YazError(
            "secret-variable-unset", f"the environment variable {variable} is not set where yaz runs",
            "set it before yaz starts",
        )  # fmt: skip
    return secret


def _unknown(name: str) -> YazError:
    return YazError("secret-unknown", f"no secret is kept under {name!r}", f"yaz secret set {name}")


def _read(document: Any) -> tuple[str, dict[str, Kept]]:
    """The vault's id (empty where nothing was kept yet) and every record."""
    if document is None:
        return "", {}
    try:
        vault = document["vault"]
        kept = {
            name: Kept(name=name, variable=one["variable"], hosts=tuple(one["hosts"]), time=one["time"])
            for name, one in document["secrets"].items()
        }
    except (TypeError, KeyError, AttributeError):
        raise _broken() from None
    texts = [vault, *(text for one in kept.values() for text in (one.time, *one.hosts))]
    variables = [one.variable for one in kept.values() if one.variable is not None]
    if not all(isinstance(text, str) for text in (*texts, *variables)) or not _VAULT.fullmatch(vault):
        raise _broken()
    return vault, kept


def _broken() -> YazError:
    return YazError(
        "secrets-broken", f"{FILE} in YAZ_HOME cannot be understood",
        "mend the file, or move it away and set them again",
    )  # fmt: skip
