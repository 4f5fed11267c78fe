"""`credentials`: secrets that the host keeps and spends for a plugin; no method gives one back (design 5).

Spending is `network`'s: a request carries a credential's name, and the host adds the header. So it needs `net` for the
host as well, and a secret that the user has bound to hosts is sent to no other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from yazcore.capabilities.broker import Broker
from yazcore.capabilities.context import Frame, frame_of
from yazcore.capabilities.errors import ServiceError
from yazcore.capabilities.secrets import Secrets
from yazcore.kinds import CredentialRequest
from yazcore.violations import YazError

T = TypeVar("T")


class CredentialService:
    """The credentials of one plugin. Every method raises `CapabilityError` where the broker forbids it.

    Other failures are `ServiceError`: `credential-fixed`, `secret-invalid`, `secrets-broken`, `keyring-unavailable`,
    `keyring-slow`, `keyring-failed`.
    """

    def __init__(self, broker: Broker, plugin: str, secrets: Secrets) -> None:
        self._broker = broker
        self._plugin = plugin
        self._secrets = secrets

    def known(self, name: str) -> bool:
        """Whether a secret is kept under that name."""
        self._require(name, change=False)
        return _told(lambda: self._secrets.get(full_name(self._plugin, name))) is not None

    def keep(self, name: str, secret: str) -> None:
        """Keep a secret, in place of an earlier one; the hosts that the user has bound it to stay.

        `credential-fixed` where the user has it read from an environment variable.
        """
        self._require(name, change=True)
        if not isinstance(secret, str):
            raise TypeError("a secret is a str")
        self._must_be_free(name)
        _told(lambda: self._secrets.keep(full_name(self._plugin, name), secret))

    def forget(self, name: str) -> bool:
        """Forget a secret; whether there was one. `credential-fixed` as for `keep`."""
        self._require(name, change=True)
        self._must_be_free(name)
        return _told(lambda: self._secrets.forget(full_name(self._plugin, name)))

    def _require(self, name: str, *, change: bool) -> None:
        if not isinstance(name, str):
            raise TypeError("a credential's name is a str")
        self._broker.require(CredentialRequest(name=name, change=change), frame_of(self._plugin, "credentials"))

    def _must_be_free(self, name: str) -> None:
        record = _told(lambda: self._secrets.get(full_name(self._plugin, name)))
        if record is not None and record.variable is not None:
            raise ServiceError(
                "credential-fixed", f"{name} is read from the user's environment and cannot be changed from here"
            )


class Purse:
    """What spends one plugin's credentials, for other services of the host; no plugin ever holds it."""

    def __init__(self, broker: Broker, plugin: str, secrets: Secrets) -> None:
        self._broker = broker
        self._plugin = plugin
        self._secrets = secrets

    def spend(self, name: str, host: str, frame: Frame) -> str:
        """The secret of that name, to be sent to `host` (in its canonical spelling) and shown to nobody.

        Raises `CapabilityError`: as the broker does, and `out-of-scope` where the user has bound it to other hosts;
        `ServiceError` `credential-missing` where there is none, and what the keyring gives.
        """
        request = CredentialRequest(name=name)
        capability = self._broker.require(request, frame)
        record = _told(lambda: self._secrets.get(full_name(self._plugin, name)))
        if record is None:
            raise _missing(self._plugin, name)
        if record.hosts and host not in record.hosts:
            self._broker.refuse(
                frame, capability.kind, f"{name} to {host}", "out-of-scope", "the user has bound it to other hosts",
                "secret-bound",
            )  # fmt: skip
        try:
            return self._secrets.of(record.name)
        except YazError as error:
            if error.code == "secret-unknown":
                raise _missing(self._plugin, name) from None
            raise ServiceError(error.code, error.message) from None


def full_name(plugin: str, name: str) -> str:
    """The name under which the host keeps a plugin's credential."""
    return f"{plugin}/{name}"


def _missing(plugin: str, name: str) -> ServiceError:
    return ServiceError(
        "credential-missing",
        f"no secret is kept under {name}; the user can set one with: yaz secret set {full_name(plugin, name)}",
    )


def _told(work: Callable[[], T]) -> T:
    """What the store gives; its faults are the plugin's to hear, in the store's own words."""
    try:
        return work()
    except YazError as error:
        raise ServiceError(error.code, error.message) from None
