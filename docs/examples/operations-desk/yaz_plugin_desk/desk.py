"""What the desk can do, in the desk's own words: it asks the systems behind it, and translates what they say.

Nothing here knows of yaz. An id, an error or a key of a system never leaves; what leaves is a ticket's number, a
service's name, and a sentence.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from yaz_plugin_desk.stores import Down, Orchestrator, Store


class Refused(Exception):
    """What the desk cannot or will not do, in a sentence for whoever asked."""


class Desk:
    """The desk over its systems."""

    def __init__(self, store: Store, orchestrator: Orchestrator) -> None:
        self._store = store
        self._orchestrator = orchestrator

    def tickets(self, words: str, where: Mapping[str, str], limit: int, cursor: str | None) -> dict[str, Any]:
        """A page of tickets whose title has all the words, newest first. Raises `Refused`."""
        wanted = words.lower().split()
        at, found = _from_cursor(cursor), []
        while len(found) <= limit:
            rows = self._rows("tickets", where, at, limit + 1)
            found += [row for row in rows if all(word in row["title"].lower() for word in wanted)]
            if len(rows) <= limit:
                break
            at = rows[-1]["n"]
        page = found[:limit]
        last = page[-1]["n"] if page else 0
        return {
            "tickets": [{key: row[key] for key in ("ticket", "title", "state", "team")} for row in page],
            "nextCursor": f"after-{last}" if len(found) > limit else None,
        }

    def deployment(self, service: str) -> dict[str, Any]:
        """What three systems know of a service's deployment. Raises `Refused` for a service that is not there."""
        self._known(service)
        parts: dict[str, Any] = {"service": service, "unknown": []}
        for part, table, read in (
            ("version", "deployments", lambda row: row["version"]),
            ("waitingJobs", "queues", lambda row: int(row["waiting"])),
            ("health", "checks", lambda row: row["health"]),
        ):
            try:
                rows = self._store.rows(table, {"service": service}, 0, 1)
                parts[part] = read(rows[0]) if rows else None
            except Down:
                parts[part] = None
                parts["unknown"].append(part)
        return parts

    def restart(self, service: str, reason: str, who: str) -> dict[str, Any]:
        """Restart a service; where that fails, it is in rotation as before. Raises `Refused`."""
        self._known(service)
        try:
            self._orchestrator.drain(service)
            self._orchestrator.start(service)
        except Down:
            raise Refused(f"{service} could not be restarted and runs as before; try again in some minutes") from None
        finally:
            self._orchestrator.put_back(service)
        self._orchestrator.note(who, service, reason)
        return {"service": service, "restarted": True}

    def log(self, service: str, day: str, most: int) -> list[str]:
        """The lines of a service's log of one day. Raises `Refused`."""
        self._known(service)
        rows = self._rows("logs", {"service": service, "day": day}, 0, most)
        return [f"{row['day']}T{row['time']}Z {row['line']}" for row in rows]

    def runbook(self, service: str, failure: str) -> str | None:
        """The runbook for one failure of a service, None where there is none. Raises `Refused`."""
        rows = self._rows("runbooks", {"service": service, "failure": failure}, 0, 1)
        return None if not rows else str(rows[0]["text"])

    def inventory(self, service: str) -> dict[str, Any] | None:
        """What is known of a service, None where there is none. Raises `Refused`."""
        rows = self._rows("services", {"service": service}, 0, 1)
        return None if not rows else {key: rows[0][key] for key in ("service", "team", "purpose")}

    def values(self, variable: str) -> list[str]:
        """The values that a variable of an address takes. Raises `Refused`."""
        table = "services" if variable == "service" else "runbooks"
        return sorted({str(row[variable]) for row in self._rows(table, {}, 0, 100)})

    def _known(self, service: str) -> None:
        if not self._rows("services", {"service": service}, 0, 1):
            raise Refused(f"there is no service {service!r}; {', '.join(self.values('service'))} are known")

    def _rows(self, table: str, where: Mapping[str, str], after: int, most: int) -> list[dict[str, Any]]:
        try:
            return self._store.rows(table, where, after, most)
        except Down:
            raise Refused(f"the {table} cannot be looked at just now; try again in a minute") from None


def _from_cursor(cursor: str | None) -> int:
    if cursor is None:
        return 0
    number = cursor.removeprefix("after-")
    if not number.isascii() or not number.isdecimal() or len(number) > 9:
        raise Refused("the cursor is none that search-tickets gave; leave it out for the first page")
    return int(number)
