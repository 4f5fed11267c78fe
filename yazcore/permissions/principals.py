"""Who calls, and the decision whether they may."""

from __future__ import annotations

from collections.abc import Collection

import attrs


@attrs.frozen
class PermissionGrant:
    """One permission in one scope: `scope_id` None means every scope of that kind (S-37).

    `permission` is an action (`zotero:read`) or a wildcard for one plugin (`zotero:*`); a wildcard over plugins grants
    nothing. A `global` grant counts in every scope.
    """

    permission: str
    scope: str = "global"
    scope_id: str | None = None

    def names(self, action: str) -> bool:
        """Whether this grant is about the action."""
        if self.permission == action:
            return True
        plugin, _, word = self.permission.partition(":")
        return word == "*" and bool(plugin) and plugin == action.partition(":")[0]


@attrs.frozen(kw_only=True)
class Principal:
    """Who calls: a name for the audit, what it was granted, and optional limits on what it sees.

    `owner` may do whatever an active plugin declares. `tools` is an allow-list of exposed names (None: all);
    `read_only` refuses every tool of posture `write`.
    """

    name: str
    owner: bool = False
    grants: tuple[PermissionGrant, ...] = ()
    tools: frozenset[str] | None = None
    read_only: bool = False


OWNER = Principal(name="owner", owner=True)
"""The user who started the application: the start token and the command line act as this principal."""


def may(principal: Principal, action: str, scope: str, scope_id: str | None, declared: Collection[str]) -> bool:
    """Whether the principal may do `action` in the scope. Pure.

    `declared` are the actions that active plugins declare: any other action grants nothing, to the owner too (S-37).
    """
    if action not in declared:
        return False
    if principal.owner:
        return True
    return any(
        grant.names(action)
        and (
            grant.scope == "global"
            or (grant.scope == scope and (grant.scope_id is None or grant.scope_id == scope_id) and scope != "global")
        )
        for grant in principal.grants
    )
