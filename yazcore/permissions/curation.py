"""Curation: which tools are there at all, for everybody who comes in; a profile is one that is saved (S-46, S-47).

It takes away and never gives: a tool that is left out is, for whoever comes in, a tool that does not exist.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

import attrs

from yazcore.permissions.principals import Principal
from yazcore.violations import YazError


@attrs.frozen(kw_only=True)
class Curation:
    """`tools`: the exposed names that are there (None: all); `read_only`: none that changes anything is.

    Names of tools that there are not match nothing, so a plugin that leaves takes nothing else with it.
    """

    tools: frozenset[str] | None = None
    read_only: bool = False

    def of(self, principal: Principal) -> Principal:
        """The principal, knowing no more than this and than it knew before."""
        if self.tools is None and not self.read_only:
            return principal
        tools = self.tools
        if tools is None or principal.tools is None:
            tools = principal.tools if tools is None else tools
        else:
            tools &= principal.tools
        return attrs.evolve(principal, tools=tools, read_only=principal.read_only or self.read_only)


def profile(settings: Mapping[str, Any], name: str) -> Curation:
    """The profile of that name in the user's settings: `[profiles.NAME]` with `tools` and `read-only`.

    Raises `YazError`: `profile-unknown`, `profile-broken`.
    """
    profiles = settings.get("profiles", {})
    if not isinstance(profiles, dict):
        raise _broken("profiles", "is no table", f"write the names below [profiles.{name}]")
    if name not in profiles:
        near = difflib.get_close_matches(name, profiles, 1)
        raise YazError(
            "profile-unknown", f"settings.toml has no profile {name[:100]!r}",
            f"did you mean {near[0]!r}?" if near else f"there are {', '.join(sorted(profiles)) or 'none'}",
        )  # fmt: skip
    found = profiles[name]
    if not isinstance(found, dict):
        raise _broken(f"profiles.{name}", "is no table", f"write the names below [profiles.{name}]")
    for key in found:
        if key not in ("tools", "read-only"):
            raise _broken(f"profiles.{name}.{key}", "is nothing that a profile has", "it has tools and read-only")
    tools, read_only = found.get("tools"), found.get("read-only", False)
    if tools is not None and not (isinstance(tools, list) and all(isinstance(one, str) for one in tools)):
        raise _broken(f"profiles.{name}.tools", "is no list of names", 'write tools = ["read_outline"]')
    if not isinstance(read_only, bool):
        raise _broken(f"profiles.{name}.read-only", "is neither true nor false", "write read-only = true")
    return Curation(tools=None if tools is None else frozenset(tools), read_only=read_only)


def _broken(what: str, wrong: str, fix: str) -> YazError:
    return YazError("profile-broken", f"settings.toml: {what} {wrong}", fix)
