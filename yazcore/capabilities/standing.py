"""Where a plugin stands: may it run, and if not, why (design 2, 5). Pure."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

import attrs

from yazcore.capabilities.grants import Grant, GrantedSet, RuntimeName
from yazcore.kinds import Capability
from yazcore.manifest.model import Manifest

Origin = Literal["installed", "builtin", "own"]
State = Literal["held", "disabled", "allowed"]


@attrs.frozen(kw_only=True)
class Standing:
    """The verdict on one plugin.

    `reasons` says why it is not allowed, a sentence each; `asks` holds the required capabilities that wait for the
    user's yes or no; `runtime` is where its code would run.
    """

    state: State
    reasons: tuple[str, ...] = ()
    asks: tuple[Capability, ...] = ()
    runtime: RuntimeName = "isolated"


def granted_set(manifest: Manifest, grant: Grant | None, origin: str) -> GrantedSet:
    """What the plugin holds now.

    A shipped plugin holds, by being shipped, all that is not optional; what is denied on disk counts for it too. A
    plugin that is switched off holds nothing.
    """
    if grant is not None and not grant.enabled:
        return GrantedSet(denied=frozenset(grant.denied))
    held = GrantedSet() if grant is None else grant.granted_set
    if not _is_shipped(origin):
        return held if grant is not None and grant.given else attrs.evolve(held, allowed=frozenset())
    shipped = frozenset(one.identity for one in manifest.capabilities if not one.optional)
    return attrs.evolve(held, allowed=held.allowed | shipped, commands=None)


def standing(
    manifest: Manifest,
    digests: Mapping[str, str],
    grant: Grant | None,
    origin: str,
    why: Mapping[str, str] = MappingProxyType({}),
) -> Standing:
    """Where the plugin stands.

    `digests` are those of the manifest at hand (`manifest.digests.digests`). `why` says more of a change, by digest
    or by a capability's identity (`manifest.changes.explained`); it decides nothing.

    A third-party plugin is held until it is granted, even if it asks for nothing; then again if it asks for a required
    capability that the user has neither allowed, in itself or in a wider one, nor denied, or if a tool, resource or
    prompt is new or changed. One that asks for less, or has lost a tool, is not held.
    """
    runtime: RuntimeName = "trusted" if _is_shipped(origin) else "isolated"
    if grant is not None and grant.given:
        runtime = grant.runtime
    if grant is not None and not grant.enabled:
        return Standing(state="disabled", reasons=("it is switched off",), runtime=runtime)
    if _is_shipped(origin):
        return Standing(state="allowed", runtime=runtime)
    held = granted_set(manifest, grant, origin)
    asks = tuple(one for one in manifest.capabilities if not one.optional and not held.decides(one))
    if grant is None or not grant.given:
        return Standing(state="held", reasons=("it has not been granted",), asks=asks, runtime=runtime)
    reasons = [f"it asks for more: {one.sentence()}{_more('; ', why.get(one.identity))}" for one in asks]
    for name, digest in digests.items():
        if name not in grant.digests:
            reasons.append(f"{name} is new since it was granted")
        elif grant.digests[name] != digest:
            reasons.append(f"{name} has changed since it was granted{_more(': ', why.get(name))}")
    return Standing(state="held" if reasons else "allowed", reasons=tuple(reasons), asks=asks, runtime=runtime)


def _more(mark: str, said: str | None) -> str:
    return f"{mark}{said}" if said else ""


def _is_shipped(origin: str) -> bool:
    return origin in ("builtin", "own")
