"""Scope kinds: on what a permission counts. `project` and `global` are shipped; a host adds its own (S-20, S-29)."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import attrs

from yazcore.permissions.principals import Principal

_PROJECT_ID = re.compile(r"prj_[a-z2-7]{12}")


def _canonical_project(text: str) -> str | None:
    return text if _PROJECT_ID.fullmatch(text) else None


@attrs.frozen(kw_only=True)
class ScopeKind:
    """One kind of scope.

    * `name`: the word in a manifest (`project`).
    * `argument`: the required string argument that carries the id (`projectId`); None for `global`, which has no id.
    * `parse`: the canonical id of a text, or None where the text is no id; strict, so that one thing has one spelling
      (S-29, SG-8).
    * `source`: where ids come from, named in the error for a malformed one ("list_projects").
    * `hidden`: the one answer for an id that does not resolve or is not allowed (S-30): it names neither.
    * `resolve`: what an id names, or None; a host may give it to `Host(resolve=...)` instead.
    * `may`: whether a principal may do an action on an id (None: on every one), where the grants that principals carry
      do not say so: a grant for an environment, say, counts on its clusters. Answers as `Permits` does.
    """

    name: str
    argument: str | None = None
    parse: Callable[[str], str | None] = lambda text: None
    source: str = ""
    hidden: str = ""
    resolve: Callable[[str], Any] | None = None
    may: Callable[[Principal, str, str | None], bool] | None = None


GLOBAL = ScopeKind(name="global")
"""The whole installation: nothing to hide, so a denial names the permission (S-31)."""

PROJECT = ScopeKind(
    name="project",
    argument="projectId",
    parse=_canonical_project,
    source="list_projects",
    hidden="No such project, or no permission for it; list_projects shows yours.",
)
"""One project, by its id `prj_` and twelve characters of a-z2-7 (design 8)."""
