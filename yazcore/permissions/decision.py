"""Who may do what in one host: its scope kinds, what everybody has, and grants that it keeps in its own place."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

import attrs

from yazcore.permissions.principals import PermissionGrant, Principal, may
from yazcore.permissions.scopes import ScopeKind

Permits = Callable[[Principal, str, str, str | None], bool]
"""A host's own answer: may the principal do this action (`demo:read`) in this kind of scope, on this canonical id?

The id is None for `global`, and where the question is about every scope of the kind. It is asked on each call, from
any thread, may take its time, and answers True or False; anything but True is no.
"""

GrantsOf = Callable[[Principal], Iterable[PermissionGrant]]
"""What a host's own place has of a principal: only shown to it (S-41), never what decides.

A scope that is no kind of the contract's (`environment`) is shown as it stands. It is asked from any thread, and may
take its time.
"""


@attrs.frozen(kw_only=True)
class Decision:
    """How one host decides (S-37).

    * `everyone`: actions that every principal has everywhere, so that nobody is lost: looking around.
    * `permits`: asked in place of the principal's own grants; None where those count.
    * `grants_of`: what there is to show of that; None where the host does not say.
    """

    kinds: tuple[ScopeKind, ...]
    everyone: frozenset[str] = frozenset()
    permits: Permits | None = None
    grants_of: GrantsOf | None = None

    def asks_elsewhere(self, kind: ScopeKind) -> bool:
        """Whether the answer may take its time: it comes from the host's own code."""
        return self.permits is not None or kind.may is not None

    def may(
        self, principal: Principal, action: str, scope: str, scope_id: str | None, declared: Collection[str]
    ) -> bool:
        """Whether the principal may do `action` there. `declared`: what active plugins declare; nothing else counts.

        The owner may whatever is declared. Raises what the host's own code raises: then nothing is allowed.
        """
        if action not in declared:
            return False
        if principal.owner or action in self.everyone:
            return True
        asked = next((kind.may for kind in self.kinds if kind.name == scope), None)
        if asked is not None:
            return asked(principal, action, scope_id) is True
        if self.permits is not None:
            return self.permits(principal, action, scope, scope_id) is True
        return may(principal, action, scope, scope_id, declared)

    def may_somewhere(self, principal: Principal, kind: ScopeKind, action: str, declared: Collection[str]) -> bool:
        """Whether the principal may do `action` on some id of the kind, perhaps; what the host decides may be so."""
        if action not in declared:
            return False
        if principal.owner or action in self.everyone or self.asks_elsewhere(kind):
            return True
        return any(grant.names(action) and grant.scope in ("global", kind.name) for grant in principal.grants)

    def everywhere(self, principal: Principal, actions: Iterable[str], declared: Collection[str]) -> frozenset[str]:
        """Those of the actions that the principal may do in every scope."""
        return frozenset(action for action in actions if self.may(principal, action, "global", None, declared))

    def granted(self, principal: Principal) -> tuple[PermissionGrant, ...]:
        """The grants that count for the principal, as far as they can be listed. Raises what the host's code raises."""
        if self.grants_of is not None:
            return tuple(self.grants_of(principal))
        if self.permits is not None:
            return ()
        deciding = {kind.name for kind in self.kinds if kind.may is not None}
        return tuple(grant for grant in principal.grants if grant.scope not in deciding)

    def unlisted(self, principal: Principal) -> tuple[ScopeKind, ...]:
        """The kinds of scope in which only the host's own code knows what the principal may."""
        if principal.owner or self.grants_of is not None:
            return ()
        return tuple(kind for kind in self.kinds if kind.argument is not None and self.asks_elsewhere(kind))
