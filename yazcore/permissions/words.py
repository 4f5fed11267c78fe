"""A grant as one word that people write and read: `yaz:read`, `zotero:*@project`, `yaz:edit@project:prj_…`."""

from __future__ import annotations

import re
from collections.abc import Iterable

from yazcore.permissions.principals import PermissionGrant
from yazcore.permissions.scopes import ScopeKind
from yazcore.violations import YazError

_PERMISSION = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*:([a-z][a-z0-9-]*|\*)", re.ASCII)
_LONGEST = 400


def grant_word(grant: PermissionGrant) -> str:
    """The word for a grant: the permission, and where it is not for everywhere `@` and the scope."""
    if grant.scope == "global":
        return grant.permission
    return f"{grant.permission}@{grant.scope}" + ("" if grant.scope_id is None else f":{grant.scope_id}")


def read_grant(word: str, kinds: Iterable[ScopeKind]) -> PermissionGrant:
    """The grant that a word says, its id in the kind's own spelling.

    A project's id may stand alone: `yaz:read@prj_…`. Raises `YazError`: `grant-permission`, `grant-scope`.
    """
    permission, at, where = word.partition("@")
    if len(word) > _LONGEST or not _PERMISSION.fullmatch(permission):
        raise YazError(
            "grant-permission", f"{permission[:100]!r} is no permission",
            "write one as in zotero:read, or zotero:* for all of one plugin; yaz token permissions lists them",
        )  # fmt: skip
    if not at:
        return PermissionGrant(permission)
    known = {kind.name: kind for kind in kinds}
    name, colon, scope_id = where.partition(":")
    if name == "global" and not colon:
        return PermissionGrant(permission)
    kind = known.get(name)
    if kind is not None and kind.argument is not None:
        canonical = kind.parse(scope_id) if colon else None
        if not colon or canonical is not None:
            return PermissionGrant(permission, name, canonical)
    elif not colon:
        for one in known.values():
            if one.argument is not None and (canonical := one.parse(where)) is not None:
                return PermissionGrant(permission, one.name, canonical)
    scopes = " or ".join(f"@{one.name} or @{one.name}:ID" for one in known.values() if one.argument is not None)
    raise YazError("grant-scope", f"{where[:100]!r} is no scope", f"leave it out for everywhere, or write {scopes}")
