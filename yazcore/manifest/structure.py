"""Plain data to classes: a document's shape, with every fault at once (design 4).

Where an entry cannot be read as a whole, what is well formed of it is kept beside a neutral value for the rest, so that
the rules can judge the whole manifest at once. Such a draft never leaves this room: it always comes with faults, and a
rule that only speaks of a neutral value is not heard (`reading`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, ClassVar

import attrs

from yazcore.contract import Contract
from yazcore.declarations import PermissionDeclaration, SettingDeclaration
from yazcore.kinds import Capability, TargetFault
from yazcore.manifest.model import Manifest, Provides
from yazcore.manifest.places import MOST_FAULTS, Fault, Path
from yazcore.manifest.records import (
    MOST_ENTRIES,
    Field,
    Problem,
    Unreadable,
    fields_of,
    missing_key,
    reader,
    too_many,
    unchecked,
    unknown_key,
    wrong_type,
)
from yazcore.manifest.words import did_you_mean, quoted

_DEALT_WITH_APART = ("capabilities", "permissions", "provides")


@attrs.frozen(kw_only=True)
class UnreadableCapability(Capability):
    """Stands in a draft for a capability that could not be read; its faults are reported already."""

    kind: ClassVar[str] = ""
    service: ClassVar[str] = ""

    def faults(self) -> Iterator[TargetFault]:
        """None of its own."""
        return iter(())


def structure(document: Any, contract: Contract) -> tuple[Manifest | None, tuple[Fault, ...]]:
    """The manifest in a document, and what is wrong with its shape. With faults, the manifest is a draft.

    None only where the document is no object. Pure; never raises for anything a document holds.
    """
    work = _Structuring(contract)
    manifest = work.manifest(document)
    return manifest, tuple(work.faults)


class _Structuring:
    """One document's structuring; `faults` grows in document order of the entries, to one more than are named."""

    def __init__(self, contract: Contract) -> None:
        self._contract = contract
        self.faults: list[Fault] = []

    def manifest(self, document: Any) -> Manifest | None:
        if not self._is_object(document, ()):
            return None
        fields = fields_of(Manifest)
        self._known_keys(document, [field.wire for field in fields] + ["$schema"], ())
        if "$schema" in document:
            self._try(document["$schema"], str, ("$schema",))
        head = {field.name: self._field(field, document, ()) for field in fields if field.name not in _DEALT_WITH_APART}
        return Manifest(
            **head,
            capabilities=tuple(self._capabilities(document)),
            permissions=self._entries(PermissionDeclaration, document.get("permissions", []), ("permissions",)),
            provides=self._provides(document.get("provides", {})),
        )

    def _provides(self, value: Any) -> Provides:
        path = ("provides",)
        if not self._is_object(value, path):
            return Provides()
        self._known_keys(value, [*(kind.key for kind in self._contract.contribution_kinds), "settings"], path)
        declared = {}
        for key in value:
            if (kind := self._contract.contribution_kind(key)) is not None:
                declared[key] = self._entries(kind.declaration, value[key], (*path, key))
        settings = self._entries(SettingDeclaration, value.get("settings", []), (*path, "settings"))
        return Provides(declared, settings)

    def _capabilities(self, document: Mapping[str, Any]) -> Iterator[Capability]:
        path = ("capabilities",)
        value = document.get("capabilities", [])
        if self._is_list(value, path):
            for index, entry in enumerate(value):
                yield self._capability(entry, (*path, index)) or UnreadableCapability()

    def _capability(self, value: Any, path: Path) -> Capability | None:
        if not self._is_object(value, path):
            return None
        if "kind" not in value:
            self._note(missing_key("kind"), path)
            return None
        name = self._try(value["kind"], str, (*path, "kind"))
        if name is None:
            return None
        kind = self._contract.capability_kind(name)
        if kind is None:
            self._report([_unknown_kind(name, self._contract, (*path, "kind"))])
            return None
        found: Capability | None = self._try({key: one for key, one in value.items() if key != "kind"}, kind, path)
        return found

    def _entries(self, cls: type, value: Any, path: Path) -> tuple[Any, ...]:
        if not self._is_list(value, path):
            return (_draft(cls, {}),)
        read = reader(cls)
        entries = []
        for index, entry in enumerate(value):
            found = read(entry)
            if type(found) is Unreadable:
                self._report(found.faults((*path, index)))
                found = _draft(cls, found.values)
            entries.append(found)
        return tuple(entries)

    def _field(self, field: Field, value: Mapping[str, Any], path: Path) -> Any:
        if field.wire not in value:
            if field.required:
                self._note(missing_key(field.wire, field.hint), path)
            return field.stand_in()
        found = self._try(value[field.wire], field.hint, (*path, field.wire))
        return field.stand_in() if found is None else found

    def _try(self, value: Any, hint: Any, path: Path) -> Any:
        """The value as that type, or None and its faults."""
        found = reader(hint)(value)
        if type(found) is Unreadable:
            self._report(found.faults(path))
            return None
        return found

    def _note(self, problem: Problem, path: Path) -> None:
        self._report([problem(path)])

    def _report(self, faults: Iterable[Fault]) -> None:
        self.faults += islice(faults, MOST_FAULTS + 1 - len(self.faults))

    def _is_object(self, value: Any, path: Path) -> bool:
        if not isinstance(value, dict):
            self._note(wrong_type("an object", value), path)
        return isinstance(value, dict)

    def _is_list(self, value: Any, path: Path) -> bool:
        if not isinstance(value, list):
            self._note(wrong_type("a list", value), path)
            return False
        if len(value) > MOST_ENTRIES:
            self._note(too_many(len(value)), path)
        return len(value) <= MOST_ENTRIES

    def _known_keys(self, value: Mapping[str, Any], known: list[str], path: Path) -> None:
        self._report(unknown_key(key, known)(path) for key in value if key not in known)


def _draft(cls: type, values: Mapping[str, Any]) -> Any:
    """An entry that has faults, as far as it could be read."""
    return unchecked(cls, {field.name: values.get(field.name, field.stand_in()) for field in fields_of(cls)})


def _unknown_kind(name: str, contract: Contract, path: Path) -> Fault:
    message = f"{contract.host} knows no capability {quoted(name)}"
    fix = did_you_mean(name, [kind.kind for kind in contract.capability_kinds])
    return Fault("capability-unknown-kind", message, fix, path)
