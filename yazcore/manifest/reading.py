"""Reading a manifest: bytes to a manifest, or to everything that is wrong with it, at once (design 4).

Structure and the cheap rules: no Fluent, no JSON Schema, no file. `checking` adds texts and schemas.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from yazcore.contract import Contract
from yazcore.manifest.json_text import MOST_BYTES, parse
from yazcore.manifest.model import Manifest
from yazcore.manifest.places import Fault, bounded, located
from yazcore.manifest.rules import FOLDER, RULES, disagreements, id_reserved, module_elsewhere
from yazcore.manifest.structure import structure
from yazcore.violations import Violation

if TYPE_CHECKING:
    from yazcore.manifest.discovery import Found


@attrs.frozen
class Reading:
    """What reading gave. `manifest` is None exactly where a violation is an error.

    `document` is the plain data, None where the bytes hold no JSON; where there are violations it may hold stand-ins.
    `text` is what positions count in.
    """

    manifest: Manifest | None
    violations: tuple[Violation, ...]
    document: Any
    text: str | None = attrs.field(default=None, repr=False)

    @property
    def locales(self) -> str | None:
        """The folder of its message files, of a refused manifest, too; None where it names none."""
        if self.manifest is not None:
            return self.manifest.locales
        named = self.document.get("locales") if isinstance(self.document, dict) else None
        return named if isinstance(named, str) and FOLDER.fullmatch(named) else None

    @property
    def message_keys(self) -> frozenset[str]:
        """Every message key it names, of a refused manifest, too."""
        if self.manifest is not None:
            return frozenset(key for key, _ in self.manifest.message_keys())
        return frozenset(_keys_in(self.document))


def _keys_in(value: Any) -> Iterator[str]:
    for key, inner in value.items() if isinstance(value, dict) else ():
        if key in ("nameKey", "descriptionKey", "reasonKey") and isinstance(inner, str):
            yield inner
        else:
            yield from _keys_in(inner)
    for inner in value if isinstance(value, list) else ():
        yield from _keys_in(inner)


def read(data: bytes, contract: Contract, *, own: bool = False, package: str | None = None) -> Reading:
    """Read a manifest's bytes. Pure; never raises for anything the bytes hold.

    * `own`: the manifest comes with the host, as its own or as a shipped plugin's, so that it may have a reserved id.
    * `package`: the top-level package it was found in, where that is known: its code must be there.
    """
    return _read(data, contract, own, lambda manifest: module_elsewhere(manifest, package))


def read_found(found: Found, contract: Contract) -> Reading:
    """Read the manifest of a plugin that discovery found, and hold it against its distribution. Never raises.

    Beside what `read` asks: its id is the entry point's, its version the distribution's, its code in its own package.
    """
    try:
        data = _bytes_of(found.manifest)
    except OSError as error:
        fault = Fault(
            "manifest-unreadable", f"the manifest cannot be read: {error.strerror}", "install the plugin again"
        )
        return Reading(None, located([fault], None), None)
    if found.origin != "installed":
        return read(data, contract, own=True)
    return _read(data, contract, False, lambda manifest: disagreements(manifest, found))


def _bytes_of(path: Path) -> bytes:
    # a pipe or a device would block for ever, or never end
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(0, "it is no regular file")
        return file.read(MOST_BYTES + 1)


def _read(data: bytes, contract: Contract, own: bool, more: Callable[[Manifest], Iterable[Fault]]) -> Reading:
    parsed = parse(data)
    if not parsed.is_json:
        return Reading(None, located(parsed.faults, parsed.text), None, parsed.text)
    manifest, shape = structure(parsed.value, contract)
    faults = [*parsed.faults, *_heard(shape, parsed.faults)]
    judged: Iterable[Fault] = ()
    if manifest is not None:
        rules = (rule for rule in RULES if not (own and rule is id_reserved))
        judged = chain(chain.from_iterable(rule(manifest, contract) for rule in rules), more(manifest))
    faults = bounded(chain(faults, _heard(judged, faults)))
    if not faults:
        return Reading(manifest, (), parsed.value, parsed.text)
    refused = any(fault.severity == "error" for fault in faults)
    return Reading(None if refused else manifest, located(faults, parsed.text), parsed.value, parsed.text)


def _heard(faults: Iterable[Fault], earlier: Iterable[Fault]) -> Iterator[Fault]:
    """Those faults that are not about a value, or a part of one, that an earlier fault called unreadable.

    Neither are those about a list as a whole heard where one of its entries could not be read.
    """
    unreadable = {fault.path for fault in earlier if fault.code != "json-duplicate-key"}
    lists = {path[:place] for path in unreadable for place, part in enumerate(path) if isinstance(part, int)}
    for fault in faults:
        path = fault.path
        if path not in lists and not any(path[:length] in unreadable for length in range(len(path) + 1)):
            yield fault
