"""Tokens lent to the user's own programs, so that a bridge can come as a named principal and no file holds a secret."""

from __future__ import annotations

import hashlib
import secrets
import threading

from yazcore.permissions.principals import Principal
from yazcore.permissions.tokens import PREFIX, Tokens


class Lending:
    """One token a name, while the application runs; whoever has it is what the named token is at that moment."""

    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens
        self._lock = threading.Lock()
        self._lent: dict[str, str] = {}
        self._names: dict[bytes, str] = {}

    def lend(self, name: str) -> str:
        """A token that stands for the named one. Raises `YazError` `token-unknown`."""
        self._tokens.get(name)
        with self._lock:
            if name not in self._lent:
                self._lent[name] = PREFIX + secrets.token_urlsafe(32)
                self._names[_digest(self._lent[name])] = name
            return self._lent[name]

    def principal_of(self, text: str) -> Principal | None:
        """Whose token this is, lent or named; what is revoked or has expired is nobody's, lent or not."""
        name = self._names.get(_digest(text))
        return self._tokens.principal_of(text) if name is None else self._tokens.principal_named(name)


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
