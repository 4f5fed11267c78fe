"""`yaz manifest sync`: the declared half of a manifest, written from what the hooks registered (design 4).

Pure: a manifest's text and registrations in, the new text out. Whoever calls has run the plugin; nothing here does.

* What a registration says, the manifest is made to say: names, schemas, and whatever else a host's own kinds compare.
* What it cannot say is the author's. Of a new entry, `posture`, `scope`, `permission` and message keys are proposed,
  each so that doing nothing about it lets nothing through: posture `write` unless the registration says that it only
  reads; a permission `<id>:<posture>`, whether it is declared or not; the key of a text that may not exist. The rest
  is left out. Reading and checking then name what is missing, undeclared or without a text.
* What is there stays there: no key of the author's is changed but those a registration gives another value for, and no
  entry is taken out unless that is asked for.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import attrs

from yazcore.contract import Contract
from yazcore.contributions import ContributionKind, same_json
from yazcore.manifest.json_edit import updated
from yazcore.manifest.json_text import parse
from yazcore.manifest.model import Manifest
from yazcore.manifest.places import Fault, located
from yazcore.manifest.reading import Reading
from yazcore.manifest.records import Field, fields_of
from yazcore.manifest.structure import structure
from yazcore.manifest.words import quoted
from yazcore.uri_templates import BadTemplate, variables
from yazcore.violations import Violation, YazError


@attrs.frozen
class Change:
    """One entry that sync adds, updates or removes; `keys` are those it wrote, as the manifest calls them."""

    kind: str
    name: str
    what: Literal["added", "updated", "removed"]
    keys: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The change as plain data."""
        return {"kind": self.kind, "name": self.name, "what": self.what, "keys": list(self.keys)}


@attrs.frozen
class Synced:
    """What sync makes of a manifest's text. Without changes it is the same text."""

    text: str
    changes: tuple[Change, ...]


def obstacles(reading: Reading, contract: Contract) -> tuple[Violation, ...]:
    """What has to be mended before sync can work: all that is wrong, but for what it mends or leaves to the author.

    That is whatever stands inside a contribution's entry, as long as it can be told which contribution it is.
    """
    if reading.text is None or reading.document is None:
        return reading.violations
    kinds = "|".join(re.escape(kind.key) for kind in contract.contribution_kinds)
    inside = re.compile(rf"/provides/({kinds})/[0-9]+(/.*)?", re.DOTALL)
    blocking = [
        one
        for one in reading.violations
        if one.severity == "error" and (one.code.startswith("json-") or not inside.fullmatch(one.pointer))
    ]
    unclear = [] if blocking else located(_unclear(reading.document, contract), reading.text)
    return (*blocking, *unclear)


def _unclear(document: Any, contract: Contract) -> Iterator[Fault]:
    draft, _ = structure(document, contract)
    assert draft is not None, "what is no object has been refused"
    for kind in contract.contribution_kinds:
        seen: dict[str, int] = {}
        for index, name in enumerate(_names(kind, draft)):
            path = ("provides", kind.key, index)
            if not name:
                message = f"nothing says which of the {kind.key} this is"
                yield Fault("sync-entry-unnamed", message, "name it as the code does, or take it out", path)
            elif (first := seen.setdefault(name, index)) != index:
                message = f"entry {first + 1} of {quoted(kind.key)} is {quoted(name)} too"
                yield Fault("sync-entry-repeated", message, "take one of them out", path)


def _names(kind: ContributionKind, draft: Manifest) -> list[str]:
    return [kind.declared_name(one) for one in draft.provides.of(kind.key)]


def bare(document: Mapping[str, Any], contract: Contract) -> dict[str, Any]:
    """The document without what its hooks contribute: enough to start the plugin, whatever is wrong with the rest."""
    provides = document.get("provides", {})
    keys = {kind.key for kind in contract.contribution_kinds}
    return {**document, "provides": {key: value for key, value in provides.items() if key not in keys}}


def sync(text: str, registered: Mapping[str, Sequence[Any]], contract: Contract, *, prune: bool = False) -> Synced:
    """Make a manifest's text declare what is registered (by contribution key, as collecting gives it).

    * `text`: of a manifest without `obstacles`.
    * `prune`: take out what is declared and not registered.

    Of what is registered twice, the first counts. Raises `YazError` `sync-not-json` for a registration that holds what
    no manifest can, `sync-unwritable` where the whole would be no manifest's text any more (too large, too deep).
    """
    document = parse(text.encode()).value
    changes: list[Change] = []
    draft, _ = structure(document, contract)
    assert draft is not None, "a manifest without obstacles is an object"
    provides = dict(document.get("provides", {}))
    taken = set(_message_keys(document))
    kinds = [kind.key for kind in contract.contribution_kinds]
    for kind in contract.contribution_kinds:
        once = {kind.registered_name(one): one for one in reversed(registered.get(kind.key, ()))}
        entries = dict(zip(_names(kind, draft), provides.get(kind.key, ()), strict=True))
        made = []
        for name in dict.fromkeys([*entries, *map(kind.registered_name, registered.get(kind.key, ()))]):
            was = entries.get(name, {})
            now = was
            if name in once:
                now = _Entry(kind, once[name], was, draft, contract).declared(taken)
                keys = tuple(key for key in now if key not in was or not same_json(was[key], now[key]))
                if name not in entries or keys:
                    changes.append(Change(kind.key, name, "updated" if name in entries else "added", keys))
            elif prune:
                changes.append(Change(kind.key, name, "removed"))
                continue
            made.append(now)
        if made or kind.key in provides:
            provides = _placed(provides, kind.key, made, kinds)
    if not changes:
        return Synced(text, ())
    new = updated(text, {**document, "provides": provides})
    for fault in parse(new.encode()).faults:
        raise YazError("sync-unwritable", f"what the hooks register fits no manifest: {fault.message}", fault.fix)
    return Synced(new, tuple(changes))


def _placed(into: Mapping[str, Any], key: str, value: Any, order: Sequence[str]) -> dict[str, Any]:
    """The object with this value; a key that is new stands behind those that come before it in `order`."""
    if key in into:
        return {**into, key: value}
    at = max((place for place, one in enumerate(into, 1) if one in order[: order.index(key)]), default=0)
    pairs = list(into.items())
    return dict([*pairs[:at], (key, value), *pairs[at:]])


def _message_keys(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in ("nameKey", "descriptionKey", "reasonKey") and isinstance(inner, str):
                yield inner
            yield from _message_keys(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _message_keys(inner)


# -- one entry --------------------------------------------------------------------------------------------------------


@attrs.frozen
class _Entry:
    """One contribution: its registration, and what the manifest says of it so far."""

    kind: ContributionKind
    registration: Any
    was: Mapping[str, Any]
    manifest: Manifest
    contract: Contract

    @property
    def name(self) -> str:
        return self.kind.registered_name(self.registration)

    def declared(self, taken: set[str]) -> dict[str, Any]:
        """The entry as the manifest is to have it. `taken` are the message keys that are used; it grows."""
        fields = fields_of(self.kind.declaration)
        order = [field.wire for field in fields]
        now = dict(self.was)
        for field in fields:
            if (value := self._said(field)) is not None:
                now = _placed(now, field.wire, value, order)
        for field in fields:  # in view of all that is said: a scope follows from what a tool must be given
            if field.required and field.wire not in now and (value := self._proposal(field, now, taken)) is not None:
                now = _placed(now, field.wire, value, order)
        return now

    def _said(self, field: Field) -> Any:
        """What the registration itself says of a field; None for nothing."""
        if field.wire in ("uri", "uriTemplate") and hasattr(self.registration, "address") and not self.was:
            return self.name if field.wire == ("uriTemplate" if "{" in self.name else "uri") else None
        value = None if field.name in self.kind.handlers else getattr(self.registration, field.name, None)
        if value is None:
            return None
        try:
            return _plain(value)
        except (_NotPlainError, RecursionError) as problem:
            what = problem if isinstance(problem, _NotPlainError) else "itself"
            message = f"{self.kind.hook} registered {self.name!r} with a {field.wire} that holds {what}"
            raise YazError("sync-not-json", message, "give plain data: texts, numbers, lists, dicts") from None

    def _proposal(self, field: Field, now: Mapping[str, Any], taken: set[str]) -> str | None:
        """What is to stand in a field that only the author can know, None where that is better left out."""
        match field.wire:
            case "nameKey" | "descriptionKey":
                return self._message_key(field.wire, taken)
            case "posture":
                return "read" if getattr(self.registration, "read_only_hint", None) is True else "write"
            case "scope":
                return self._scope(now)
            case "permission":
                return f"{self.manifest.id}:{'write' if now.get('posture') == 'write' else 'read'}"
        return None

    def _message_key(self, wire: str, taken: set[str]) -> str:
        words = self.name.partition("://")[2].partition("/")[2] or self.name  # of a URI its path
        words = re.sub(r"\{[^{}]*\}", "", words)
        stem = "-".join([self.kind.key.removesuffix("s"), *re.findall(r"[A-Za-z0-9]+", words)])
        both = {"nameKey", "descriptionKey"} <= {field.wire for field in fields_of(self.kind.declaration)}
        key = plain = f"{stem}-description" if both and wire == "descriptionKey" else stem
        number = 1
        while key in taken:
            number += 1
            key = f"{plain}-{number}"
        taken.add(key)
        return key

    def _scope(self, now: Mapping[str, Any]) -> str | None:
        """The scope whose id it takes, else the one without an id."""
        kinds = self.contract.scope_kinds
        arguments = _arguments(now)
        fitting = [kind.name for kind in kinds if kind.argument is not None and kind.argument in arguments]
        return next(iter([*fitting, *(kind.name for kind in kinds if kind.argument is None)]), None)


def _arguments(entry: Mapping[str, Any]) -> list[str]:
    """What a contribution must be given: required arguments of a tool, variables of a template."""
    schema, template = entry.get("inputSchema"), entry.get("uriTemplate")
    required = schema.get("required") if isinstance(schema, dict) else None
    if isinstance(required, list):
        return [one for one in required if isinstance(one, str)]
    try:
        return list(variables(template)) if isinstance(template, str) else []
    except BadTemplate:
        return []


class _NotPlainError(ValueError):
    """Something that JSON does not have; the text says what."""


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        if odd := [key for key in value if not isinstance(key, str)]:
            raise _NotPlainError(f"the key {odd[0]!r}")
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        raise _NotPlainError(str(value))
    for plain in (bool, str, int, float):
        if isinstance(value, plain):
            return plain(value)
    if value is None:
        return None
    raise _NotPlainError(f"a {type(value).__name__}")
