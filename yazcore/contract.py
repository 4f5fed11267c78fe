"""What a host accepts of a plugin: the contract, as one value that everything static takes (design 4)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import attrs

from yazcore import hookspecs as _hookspecs
from yazcore.contributions import CONTRIBUTION_KINDS, ContributionKind
from yazcore.kinds import CAPABILITY_KINDS, Capability
from yazcore.permissions import GLOBAL, ScopeKind

RESERVED = frozenset({"yaz", "core", "mcp", "tools", "permissions", "projects", "project", "result", "help"})
"""Ids that no plugin may have (design 4)."""


HOOKSPECS = (_hookspecs,)
"""The hooks that every host has; a host's own stand after them in its `Contract`."""


def _find(key: str, name: str, values: tuple[Any, ...]) -> Any:
    for value in values:
        if getattr(value, key) == name:
            return value
    return None


@attrs.frozen(kw_only=True)
class Contract:
    """One host application's contract.

    * `number`: must equal the manifest's `contract`; raised only when a manifest valid before would be refused.
    * `group`: the entry-point group in which manifests are published.
    * `prefix`: a plugin's distribution is named `<prefix><id>`.
    * `host`, `version`: the host application's id and version; `minAppVersion` compares with the version (PEP 440).
    * `reserved`: ids that no third-party plugin may have.
    * `schemes`: the URI schemes the host's own resources may have beside `yaz`.
    * `everyone`: actions that every principal has, whatever it was granted: the host's own for looking around.
    * `capability_kinds`, `contribution_kinds`, `scope_kinds`: what a manifest may name.
    * `services`: what acts under the host's own capability kinds, by the name under which a plugin's context has it: a
      function that makes it for one plugin, from that plugin's `Brokered`.
    * `hookspecs`: modules or classes of hookspecs; the shipped one first.
    """

    number: int
    group: str
    prefix: str
    host: str
    version: str
    reserved: frozenset[str] = RESERVED
    schemes: tuple[str, ...] = ()
    everyone: frozenset[str] = frozenset()
    capability_kinds: tuple[type[Capability], ...] = CAPABILITY_KINDS
    contribution_kinds: tuple[ContributionKind, ...] = CONTRIBUTION_KINDS
    scope_kinds: tuple[ScopeKind, ...] = (GLOBAL,)
    services: Mapping[str, Callable[[Any], Any]] = attrs.field(factory=dict)
    hookspecs: tuple[ModuleType | type, ...] = HOOKSPECS

    def capability_kind(self, name: str) -> type[Capability] | None:
        """The capability kind of that name."""
        found: type[Capability] | None = _find("kind", name, self.capability_kinds)
        return found

    def contribution_kind(self, key: str) -> ContributionKind | None:
        """The contribution kind with that key under `provides`."""
        found: ContributionKind | None = _find("key", key, self.contribution_kinds)
        return found

    def scope_kind(self, name: str) -> ScopeKind | None:
        """The scope kind of that name."""
        found: ScopeKind | None = _find("name", name, self.scope_kinds)
        return found
