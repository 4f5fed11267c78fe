"""A manifest, read: what one plugin says about itself, as data (design 4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import attrs

from yazcore.declarations import (
    CommandDeclaration,
    FormatDeclaration,
    PermissionDeclaration,
    PromptDeclaration,
    ResourceDeclaration,
    SettingDeclaration,
    ToolDeclaration,
)
from yazcore.kinds import Capability


@attrs.frozen(kw_only=True)
class Updates:
    """Where updates come from."""

    source: Literal["pypi"]


@attrs.frozen
class Provides:
    """What a plugin adds: declarations by contribution key. A host's own kinds stand beside the shipped ones."""

    declared: Mapping[str, tuple[Any, ...]] = attrs.field(factory=dict)
    settings: tuple[SettingDeclaration, ...] = ()

    @cached_property
    def entries(self) -> tuple[tuple[str, int, Any], ...]:
        """Every entry, settings included, as (key under `provides`, index, declaration), in the manifest's order."""
        whole = (*self.declared.items(), ("settings", self.settings))
        return tuple((key, index, entry) for key, entries in whole for index, entry in enumerate(entries))

    def of(self, key: str) -> tuple[Any, ...]:
        """The declarations of one contribution kind, in the manifest's order."""
        return self.declared.get(key, ())

    @property
    def commands(self) -> tuple[CommandDeclaration, ...]:
        """The commands for people."""
        return self.of("commands")

    @property
    def formats(self) -> tuple[FormatDeclaration, ...]:
        """The document formats."""
        return self.of("formats")

    @property
    def tools(self) -> tuple[ToolDeclaration, ...]:
        """The tools for agents."""
        return self.of("tools")

    @property
    def resources(self) -> tuple[ResourceDeclaration, ...]:
        """The resources."""
        return self.of("resources")

    @property
    def prompts(self) -> tuple[PromptDeclaration, ...]:
        """The prompts."""
        return self.of("prompts")


@attrs.frozen(kw_only=True)
class Manifest:
    """One plugin's manifest. It exists only if reading found no error."""

    contract: int
    id: str
    name: str
    version: str
    min_app_version: str
    author: str
    description: str
    module: str
    icon: str | None = None
    repository: str | None = None
    license: str | None = None
    locales: str | None = None
    capabilities: tuple[Capability, ...] = ()
    permissions: tuple[PermissionDeclaration, ...] = ()
    provides: Provides = Provides()
    updates: Updates | None = None

    @property
    def actions(self) -> frozenset[str]:
        """The actions it declares as permissions."""
        return frozenset(permission.action for permission in self.permissions)

    def locales_in(self, folder: Path) -> Path | None:
        """The folder of its message files, where `folder` is its package; None where it has none."""
        return None if self.locales is None else folder / self.locales

    def message_keys(self) -> Iterator[tuple[str, str]]:
        """Every message key it names, as (key, JSON pointer), in document order."""
        for index, capability in enumerate(self.capabilities):
            if capability.reason_key is not None:
                yield capability.reason_key, f"/capabilities/{index}/reasonKey"
        for index, permission in enumerate(self.permissions):
            yield permission.description_key, f"/permissions/{index}/descriptionKey"
        for key, entries in self.provides.declared.items():
            yield from _keys_of(entries, f"/provides/{key}")
        yield from _keys_of(self.provides.settings, "/provides/settings")


def _keys_of(entries: tuple[Any, ...], pointer: str) -> Iterator[tuple[str, str]]:
    for index, entry in enumerate(entries):
        for field, wire in (("name_key", "nameKey"), ("description_key", "descriptionKey")):
            if (key := getattr(entry, field, None)) is not None:
                yield key, f"{pointer}/{index}/{wire}"
