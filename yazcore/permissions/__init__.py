"""What callers may ask for: permissions in scopes, held by principals (design 1, 7; ADR 0114)."""

from yazcore.permissions.decision import Decision, GrantsOf, Permits
from yazcore.permissions.principals import OWNER, PermissionGrant, Principal, may
from yazcore.permissions.scopes import GLOBAL, PROJECT, ScopeKind

__all__ = [
    "GLOBAL", "OWNER", "PROJECT", "Decision", "GrantsOf", "PermissionGrant", "Permits", "Principal", "ScopeKind", "may",
]  # fmt: skip
