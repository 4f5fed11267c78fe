"""Named tokens: who may come in beside the owner, and as whom. `tokens.json` holds digests, never a token (S-10).

A running application keeps no copy: every request asks again, so a token that is revoked, or a grant that is taken
back, counts from the next request on.
"""

from __future__ import annotations

import hashlib
import logging
import re
import secrets
import time
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

import attrs

from yazcore.home import Home, Watched
from yazcore.permissions.principals import OWNER, PermissionGrant, Principal
from yazcore.permissions.words import grant_word
from yazcore.violations import YazError

FILE = "tokens.json"

PREFIX = "yaz_"
"""How every named token begins, so that people and scanners for secrets know one when they see it."""

RESERVED_NAMES = frozenset({OWNER.name, "nobody"})
"""Names of principals that no token may have: what is kept for one caller is kept by name."""

_NAME = re.compile(r"[a-z0-9]+([-_.][a-z0-9]+)*", re.ASCII)
_LONGEST_NAME = 48
_TOKEN_BYTES = 32

_log = logging.getLogger("yazcore.permissions")


@attrs.frozen(kw_only=True)
class Token:
    """One named token, as it is kept.

    * `digest`: SHA-256 of the token, in hexadecimal. A token is 32 random bytes, so nothing slower is needed.
    * `created`, `expires`: ISO 8601, UTC; `expires` None: never.
    * `grants`, `tools`, `read_only`: as in `Principal`.
    """

    name: str
    digest: str
    created: str
    expires: str | None = None
    grants: tuple[PermissionGrant, ...] = ()
    tools: tuple[str, ...] | None = None
    read_only: bool = False

    @property
    def principal(self) -> Principal:
        """Who comes with it."""
        tools = None if self.tools is None else frozenset(self.tools)
        return Principal(name=self.name, grants=self.grants, tools=tools, read_only=self.read_only)

    def is_over(self, now: float) -> bool:
        """Whether it has expired at that time, in seconds since 1970."""
        return self.expires is not None and datetime.fromisoformat(self.expires).timestamp() <= now

    def as_json(self) -> dict[str, Any]:
        """What people may see of it; the digest is not among it."""
        return {
            "name": self.name,
            "created": self.created,
            "expires": self.expires,
            "grants": [grant_word(grant) for grant in self.grants],
            "tools": None if self.tools is None else list(self.tools),
            "readOnly": self.read_only,
        }


class Tokens:
    """The named tokens of one `YAZ_HOME`. Safe from any thread; writing is locked against other processes.

    Every method but `principal_of` raises `YazError` where the file cannot be understood.
    """

    def __init__(self, home: Home, clock: Callable[[], float] = time.time) -> None:
        self._home = home
        self._clock = clock
        self._kept = Watched(home, FILE, _read)
        self._standing = Watched(home, FILE, _principals)
        self._told = ""

    def all(self) -> tuple[Token, ...]:
        """Every token, by name."""
        return tuple(token for _, token in sorted(self._kept.now().items()))

    def get(self, name: str) -> Token:
        """One token. Raises `YazError` `token-unknown`."""
        found = self._kept.now().get(name)
        if found is None:
            raise _unknown(name, self._kept.now())
        return found

    def principal_of(self, text: str) -> Principal | None:
        """Whose token this is; None for nobody's, an expired one, and while the file cannot be understood."""
        # Found by digest: how long that takes says nothing about a token.
        return self._good(_digest(text)) if text.startswith(PREFIX) else None

    def principal_named(self, name: str) -> Principal | None:
        """Who the token of that name stands for; None as for `principal_of`."""
        return self._good(name)

    def _good(self, key: str) -> Principal | None:
        try:
            kept = self._standing.now()
        except YazError as error:
            if error.message != self._told:
                self._told = error.message
                _log.error("named tokens open nothing: %s", error.message)
            return None
        token, principal = kept.get(key, (None, None))
        return None if token is None or token.is_over(self._clock()) else principal

    def create(
        self,
        name: str,
        grants: Iterable[PermissionGrant] = (),
        *,
        tools: Iterable[str] | None = None,
        read_only: bool = False,
        seconds: float | None = None,
    ) -> str:
        """Make a token and give it: it is in nobody's hands but the caller's then.

        `seconds`: how long it is good; None: until it is revoked. Raises `YazError` `token-name`, `token-exists`.
        """
        if len(name) > _LONGEST_NAME or not _NAME.fullmatch(name) or name in RESERVED_NAMES:
            taken = name in RESERVED_NAMES
            raise YazError(
                "token-name", f"{name[:100]!r} {'is taken by yaz itself' if taken else 'is no name for a token'}",
                f"use small letters, digits and single - _ . between them, at most {_LONGEST_NAME}",
            )  # fmt: skip
        text, now = _new(), self._clock()
        token = Token(
            name=name, digest=_digest(text), created=_iso(now),
            expires=None if seconds is None else _iso(now + seconds), grants=tuple(dict.fromkeys(grants)),
            tools=None if tools is None else tuple(sorted(set(tools))), read_only=read_only,
        )  # fmt: skip

        def add(tokens: dict[str, Token]) -> None:
            if name in tokens:
                raise YazError(
                    "token-exists", f"there is a token {name!r}", f"yaz token renew {name} makes a new secret for it"
                )
            tokens[name] = token

        self._change(add)
        return text

    def renew(self, name: str) -> str:
        """A new secret for a token; the old one is dead from now on, what it was granted stays. Raises as `get`."""
        text = _new()
        self._evolve(name, lambda token: attrs.evolve(token, digest=_digest(text)))
        return text

    def grant(self, name: str, grants: Iterable[PermissionGrant]) -> Token:
        """Grant more to a token. Raises as `get`."""
        more = tuple(grants)
        return self._evolve(
            name, lambda token: attrs.evolve(token, grants=tuple(dict.fromkeys((*token.grants, *more))))
        )

    def withdraw(self, name: str, grants: Iterable[PermissionGrant]) -> Token:
        """Take grants back, each as it was given. Raises as `get`, and `token-not-granted` for one it does not have."""
        less = tuple(grants)

        def without(token: Token) -> Token:
            for grant in less:
                if grant not in token.grants:
                    held = ", ".join(map(grant_word, token.grants)) or "nothing"
                    raise YazError(
                        "token-not-granted", f"{name} was not granted {grant_word(grant)}", f"it was granted {held}"
                    )
            return attrs.evolve(token, grants=tuple(grant for grant in token.grants if grant not in less))

        return self._evolve(name, without)

    def revoke(self, name: str) -> None:
        """Make a token dead, for good. Raises as `get`."""

        def remove(tokens: dict[str, Token]) -> None:
            if tokens.pop(name, None) is None:
                raise _unknown(name, tokens)

        self._change(remove)

    def _evolve(self, name: str, change: Callable[[Token], Token]) -> Token:
        changed: list[Token] = []

        def one(tokens: dict[str, Token]) -> None:
            if name not in tokens:
                raise _unknown(name, tokens)
            tokens[name] = change(tokens[name])
            changed.append(tokens[name])

        self._change(one)
        return changed[0]

    def _change(self, change: Callable[[dict[str, Token]], None]) -> None:
        with self._home.locked(FILE):
            tokens = _read(self._home.read_json(FILE))
            change(tokens)
            entries = {name: {**token.as_json(), "digest": token.digest} for name, token in tokens.items()}
            for entry in entries.values():
                del entry["name"]
            self._home.write_json(FILE, {"tokens": entries})


def _unknown(name: str, known: Mapping[str, Token]) -> YazError:
    there = ", ".join(sorted(known)) or "none"
    return YazError("token-unknown", f"there is no token {name[:100]!r}", f"there are {there}")


def _new() -> str:
    return PREFIX + secrets.token_urlsafe(_TOKEN_BYTES)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


# -- the file ---------------------------------------------------------------------------------------------------------


def _read(document: Any | None) -> dict[str, Token]:
    if document is None:
        return {}
    tokens = document.get("tokens") if isinstance(document, dict) else None
    if not isinstance(tokens, dict):
        raise _broken("it has no object 'tokens'")
    return {name: _read_one(name, entry) for name, entry in tokens.items()}


def _principals(document: Any | None) -> dict[str, tuple[Token, Principal]]:
    """Each token with its principal, by digest and by name: no name is as long as a digest."""
    return {key: (token, token.principal) for token in _read(document).values() for key in (token.digest, token.name)}


def _read_one(name: str, entry: Any) -> Token:
    if not isinstance(entry, dict):
        raise _broken(f"tokens.{name} is no object")
    for key, fits in _SHAPES.items():
        if key not in entry or not fits(entry[key]):
            raise _broken(f"tokens.{name}.{key} is not what it should be")
    if unknown := sorted(entry.keys() - _SHAPES.keys()):
        raise _broken(f"tokens.{name} has an unknown key {unknown[0]!r}")
    return Token(
        name=name,
        digest=entry["digest"],
        created=entry["created"],
        expires=entry["expires"],
        grants=tuple(map(_kept_grant, entry["grants"])),
        tools=None if entry["tools"] is None else tuple(entry["tools"]),
        read_only=entry["readOnly"],
    )


def _kept_grant(word: str) -> PermissionGrant:
    """A grant as it was written here: its scope was looked at when it was given."""
    permission, _, where = word.partition("@")
    scope, colon, scope_id = where.partition(":")
    return PermissionGrant(permission, scope or "global", scope_id if colon else None)


def _is_time(value: Any) -> bool:
    try:
        return isinstance(value, str) and datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        return False


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


_SHAPES: Mapping[str, Callable[[Any], bool]] = {
    "digest": lambda value: isinstance(value, str) and re.fullmatch(r"[0-9a-f]{64}", value) is not None,
    "created": _is_time,
    "expires": lambda value: value is None or _is_time(value),
    "grants": _are_texts,
    "tools": lambda value: value is None or _are_texts(value),
    "readOnly": lambda value: isinstance(value, bool),
}


def _broken(what: str) -> YazError:
    return YazError(
        "tokens-broken", f"{FILE} cannot be understood: {what}", "mend the file, or move it away and make tokens again"
    )
