"""A console as a web application: Starlette, users and grants in its own database, the MCP server mounted in it.

The application authenticates its own tokens and decides who may what from its own rows, on each call. A grant counts
everywhere, on the clusters of an environment, or on one cluster.
"""

from __future__ import annotations

import contextlib
import hashlib
import secrets
import sqlite3
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.routing import Mount, Route

from tests.mcp.serving import served
from yazcore import Host, PermissionGrant, Principal
from yazcore.mcp.asgi import asgi

TABLES = """
CREATE TABLE users (name TEXT PRIMARY KEY, token TEXT UNIQUE, read_only INTEGER DEFAULT 0, tools TEXT);
CREATE TABLE grants (user TEXT, permission TEXT, scope TEXT, scope_id TEXT);
CREATE TABLE clusters (id TEXT PRIMARY KEY, environment TEXT);
"""


class Users:
    """The application's users and what each was granted."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with self._rows() as rows:
            rows.executescript(TABLES)

    @contextlib.contextmanager
    def _rows(self) -> Iterator[sqlite3.Connection]:
        with contextlib.closing(sqlite3.connect(self._path)) as rows, rows:
            yield rows

    def add(self, name: str, *, tools: str | None = None, read_only: bool = False) -> str:
        """A new user; gives the token. `tools` are names, with spaces between."""
        token = secrets.token_urlsafe(16)
        with self._rows() as rows:
            rows.execute("INSERT INTO users VALUES (?, ?, ?, ?)", (name, _digest(token), read_only, tools))
        return token

    def place(self, cluster: str, environment: str) -> None:
        """Put a cluster into an environment."""
        with self._rows() as rows:
            rows.execute("INSERT OR REPLACE INTO clusters VALUES (?, ?)", (cluster, environment))

    def grant(self, user: str, permission: str, scope: str = "global", scope_id: str | None = None) -> None:
        """Grant a user a permission."""
        with self._rows() as rows:
            rows.execute("INSERT INTO grants VALUES (?, ?, ?, ?)", (user, permission, scope, scope_id))

    def revoke(self, user: str) -> None:
        """Take everything back from a user."""
        with self._rows() as rows:
            rows.execute("DELETE FROM grants WHERE user = ?", (user,))

    def principal_of(self, token: str) -> Principal | None:
        """Whose token it is."""
        with self._rows() as rows:
            found = rows.execute("SELECT name, read_only, tools FROM users WHERE token = ?", (_digest(token),))
            row = found.fetchone()
        if row is None:
            return None
        name, read_only, tools = row
        allowed = None if tools is None else frozenset(tools.split())
        return Principal(name=name, read_only=bool(read_only), tools=allowed)

    def permits(self, principal: Principal, action: str, scope: str, scope_id: str | None) -> bool:
        """Whether a user may do this there, by the rows as they are now."""
        if action == "console:look":
            return True
        plugin = action.partition(":")[0]
        with self._rows() as rows:
            found = rows.execute(
                """
                SELECT count(*) FROM grants WHERE user = ? AND permission IN (?, ?) AND (
                    scope = 'global' OR (scope = ? AND scope_id = ?) OR
                    (scope = 'environment' AND scope_id IN (SELECT environment FROM clusters WHERE id = ?)))
                """,
                (principal.name, action, f"{plugin}:*", scope, scope_id, scope_id),
            )
            return bool(found.fetchone()[0])

    def grants_of(self, principal: Principal) -> list[PermissionGrant]:
        """The rows of a user, for the user to see."""
        with self._rows() as rows:
            found = rows.execute("SELECT permission, scope, scope_id FROM grants WHERE user = ?", (principal.name,))
            return [PermissionGrant(*row) for row in found]


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


@contextlib.asynccontextmanager
async def application(host: Host, users: Users) -> AsyncIterator[str]:
    """The whole application, served; gives its address."""

    async def front(request: Request) -> PlainTextResponse:
        return PlainTextResponse("the console")

    mounted = asgi(host, authenticate=users.principal_of)

    async def agents(request: Request) -> Any:
        return RedirectResponse("/agents/", 307)

    app = Starlette(
        routes=[Route("/", front), Route("/agents", agents, methods=["POST"]), Mount("/agents", app=mounted)],
        lifespan=lambda app: mounted.running(),
    )
    async with served(app) as url:
        yield url
