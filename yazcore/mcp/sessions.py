"""The sessions of the older protocol era: bounded for each principal, so that nobody closes the door to another.

A client that opens a session for each call and never ends one is an everyday fault. Its own sessions make room: the
one that has been silent longest ends, as it would have a little later by itself.
"""

from __future__ import annotations

import math

from mcp.server.auth.middleware.bearer_auth import AuthorizationContext
from mcp.server.streamable_http import StreamableHTTPServerTransport
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

MAX_SESSIONS_EACH = 64
"""How many sessions one principal may have open: each keeps 36 KiB (mcp D3)."""


class Sessions(StreamableHTTPSessionManager):
    """The SDK's manager, which knows one bound for all."""

    def _admit_session(self, requestor: AuthorizationContext | None) -> StreamableHTTPServerTransport | None:
        """A new session; None, which is answered with 503, where all of the principal's are in use, or too many open.

        The SDK has no public place for this (mcp 1.4).
        """
        own = [session for session, owner in self._session_owners.items() if owner == requestor]
        if len(own) >= MAX_SESSIONS_EACH and not self._end_one_of(own):
            return None
        return super()._admit_session(requestor)

    def _end_one_of(self, sessions: list[str]) -> bool:
        """End the session that has been silent longest; False where each serves a request at this moment."""
        silent = min(sessions, key=self._silent_until)
        if self._silent_until(silent) == math.inf:
            return False
        transport = self._server_instances.pop(silent)
        self._session_owners.pop(silent, None)
        if transport.idle_scope is not None:
            transport.idle_scope.cancel()
        return True

    def _silent_until(self, session: str) -> float:
        """When the session will end by itself; never while it serves a request or has a stream open."""
        scope = self._server_instances[session].idle_scope
        return math.inf if scope is None or scope.cancel_called else scope.deadline
