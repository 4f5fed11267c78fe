"""What every capability kind has in common."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, ClassVar, Literal, Self

import attrs

from yazcore.kinds.causes import Cause

Comparison = Literal["same", "narrower", "wider"]


@attrs.frozen(kw_only=True)
class Request:
    """One thing a plugin wants to do: the kinds that could allow it, and the target as a person would name it.

    The first of `kinds` is the one that is named when the manifest declares none of them.
    """

    kinds: tuple[str, ...]
    target: str

    writes: ClassVar[Cause] = "posture"
    """The cause that is recorded where it is covered, and a call of posture `read` may not make it."""

    def fault(self) -> str:
        """Why no capability could ever cover it, in a few words; empty where it is well formed."""
        return ""

    def cause(self) -> Cause:
        """The same in a word, and where it is well formed what else is the matter with it; empty where nothing is."""
        return "malformed" if self.fault() else ""


@attrs.frozen
class TargetFault:
    """One fault of a capability's targets, relative to the capability: `path` is where (`("hosts", 0)`)."""

    code: str
    message: str
    fix: str
    path: tuple[str | int, ...] = ()


@attrs.frozen(kw_only=True)
class Capability:
    """One capability as a manifest declares it; a kind is a subclass.

    `kind` is the word in the manifest, `service` the service that acts under it, `sensitive` whether people are shown
    it first (Y-7). `reason_key` names the plugin's own reason in its messages; an `optional` capability is asked for at
    its first use.

    `schema_keywords` is what JSON Schema can say of a field beyond its type, by the field's name, and under the empty
    name of the capability as a whole: no more than `faults` asks, so that whoever writes a manifest hears it earlier.

    The other fields of a subclass are its targets: snake_case here, camelCase in a manifest.
    """

    kind: ClassVar[str]
    service: ClassVar[str]
    sensitive: ClassVar[bool] = False
    schema_keywords: ClassVar[Mapping[str, Mapping[str, Any]]] = MappingProxyType({})

    reason_key: str | None = None
    optional: bool = False

    def targets(self) -> dict[str, Any]:
        """What it reaches, canonical, as plain JSON data: the same targets written differently give the same value.

        The keys are those of the manifest. Defaults are spelled out, so that a stored grant says all it allows.
        """
        raise NotImplementedError(type(self).__name__)

    def faults(self) -> Iterator[TargetFault]:
        """What is wrong with its targets (a wildcard, an empty list, a path that may not be granted)."""
        raise NotImplementedError(type(self).__name__)

    def covers(self, request: Request) -> bool:
        """Whether this capability, granted, allows the request. Pure: places are bound by whoever asks."""
        raise NotImplementedError(type(self).__name__)

    def sentence(self) -> str:
        """What it lets the plugin do, as an English sentence without a full stop."""
        raise NotImplementedError(type(self).__name__)

    def reads(self, request: Request) -> bool:
        """Whether a request that it covers changes nothing, so that a call of posture `read` may make it (design 5).

        A kind that does not say counts as changing something.
        """
        return False

    def within(self, other: Capability) -> bool:
        """Whether everything it allows is allowed by `other` too. A kind that does not say is within its equal only."""
        return self.identity == other.identity

    @property
    def identity(self) -> str:
        """The capability as one word for grants and for `revoke`: `fs-project {"access": "write"}`."""
        return f"{self.kind} {json.dumps(self.targets(), sort_keys=True, ensure_ascii=False)}"

    @classmethod
    def of_identity(cls, identity: str) -> Self | None:
        """The capability of this kind that has that identity, or None where the text is no identity of this kind."""
        kind, _, text = identity.partition(" ")
        if kind != cls.kind:
            return None
        try:
            found = cls(**_fields(json.loads(text)))
            return found if found.identity == identity else None
        except (TypeError, ValueError, AttributeError, RecursionError):
            return None


def _fields(targets: Mapping[str, Any]) -> dict[str, Any]:
    return {_snake_case(key): tuple(value) if isinstance(value, list) else value for key, value in targets.items()}


def _snake_case(key: str) -> str:
    return re.sub("[A-Z]", lambda capital: f"_{capital[0].lower()}", key)


def compare(old: Capability, new: Capability) -> Comparison:
    """How what `new` allows stands to what `old` allows: anything that `old` does not allow makes it `wider`."""
    if old.kind == new.kind:
        if old.identity == new.identity:
            return "same"
        if new.within(old):
            return "narrower"
    return "wider"


def whole_text(form: re.Pattern[str], longest: int | None = None) -> dict[str, Any]:
    """The JSON Schema keywords for a text that a form matches as a whole, and that has at most so many characters."""
    keywords: dict[str, Any] = {"pattern": f"^(?:{form.pattern})$"}
    return keywords if longest is None else {**keywords, "maxLength": longest}


def some_of(entry: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON Schema keywords for a list of at least one entry, and those of each entry."""
    return {"minItems": 1, "items": dict(entry)}


_MARKS = frozenset("*?")


def text_faults(texts: tuple[str, ...], key: str, what: str) -> Iterator[TargetFault]:
    """The faults that a list of names has whatever it names: no entry, an empty entry, a wildcard (YB-3, YB-4).

    `what` is what one entry names ("host name"), `key` the list's key in the manifest.
    """
    if not texts:
        yield TargetFault(
            "capability-empty", f"{key} is empty, which asks for nothing",
            f"name each {what}, or leave the capability out", (key,),
        )  # fmt: skip
    for index, text in enumerate(texts):
        if not text.strip():
            yield TargetFault("capability-empty", f"{key} has an empty entry", f"name a {what}", (key, index))
        elif has_wildcard(text):
            yield TargetFault(
                "capability-wildcard", f"{text!r} is a wildcard, and a capability reaches only what it names",
                f"name each {what} in full", (key, index),
            )  # fmt: skip


def has_wildcard(text: str) -> bool:
    """Whether a text holds `*` or `?`, which no target may: nothing here is a pattern (Y-8)."""
    return not _MARKS.isdisjoint(text)
