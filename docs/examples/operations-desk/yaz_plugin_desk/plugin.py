"""What yaz loads: the tools and resources of the manifest, over the desk."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from yaz_plugin_desk.desk import Desk, Refused
from yaz_plugin_desk.stores import InMemory, InSqlite, Orchestrator
from yazcore import Link, Resource, Result, ServiceError, Tool, ToolError, hookimpl

RUNBOOK = "yaz://desk/runbook/{service}/{failure}"
INVENTORY = "yaz://desk/inventory/{service}"

_EXPORT_SECONDS = 3600
_MOST_LINES = 10_000


class DeskPlugin:
    """The desk, over the sample data in memory or in SQLite, as the user's setting says."""

    def __init__(self, context: Any) -> None:
        self._store = InSqlite() if context.settings["store"] == "sqlite" else InMemory()
        self._desk = Desk(self._store, Orchestrator())

    @hookimpl
    def onunload(self) -> None:
        """Let go of the database."""
        self._store.close()

    @hookimpl
    def provide_tools(self) -> list[Tool]:
        """The four tools; their schemas stand in the manifest."""
        return [
            Tool("search-tickets", self.search_tickets),
            Tool("get-deployment-status", self.get_deployment_status),
            Tool("restart-service", self.restart_service),
            Tool("create-log-export", self.create_log_export),
        ]

    @hookimpl
    def provide_resources(self) -> list[Resource]:
        """Runbooks and the inventory, by the names that people use."""
        return [
            Resource(RUNBOOK, lambda context, found: self._runbook(found), self.complete),
            Resource(INVENTORY, lambda context, found: self._inventory(found), self.complete),
        ]

    def search_tickets(self, context: Any, arguments: dict[str, Any]) -> dict[str, Any]:
        """A page of tickets."""
        where = {key: arguments[key] for key in ("state", "team") if key in arguments}
        words, limit = arguments.get("words", ""), arguments.get("limit", 20)
        return _told(lambda: self._desk.tickets(words, where, limit, arguments.get("cursor")))

    def get_deployment_status(self, context: Any, arguments: dict[str, Any]) -> dict[str, Any]:
        """One answer from three systems."""
        return _told(lambda: self._desk.deployment(arguments["service"]))

    def restart_service(self, context: Any, arguments: dict[str, Any]) -> dict[str, Any]:
        """Restart, once a person has approved it."""
        return _told(lambda: self._desk.restart(arguments["service"], arguments["reason"], context.caller.name))

    def create_log_export(self, context: Any, arguments: dict[str, Any]) -> Result:
        """Collect a day's log and give it an address."""
        lines: list[str] = _told(lambda: self._desk.log(arguments["service"], arguments["day"], _MOST_LINES))
        if not lines:
            raise ToolError(f"{arguments['service']} wrote no log on {arguments['day']}: give another day")
        uri = context.publish("\n".join(lines).encode(), "text/plain", _EXPORT_SECONDS)
        structured = {"uri": uri, "lines": len(lines), "expiresInSeconds": _EXPORT_SECONDS}
        return Result(structured, f"{len(lines)} lines; read them at the link.", [Link(uri, "log", "text/plain")])

    def complete(self, context: Any, variable: str, prefix: str) -> list[str]:
        """Values for the variables of an address."""
        values: list[str] = _told(lambda: self._desk.values(variable))
        return [value for value in values if value.startswith(prefix)]

    def _runbook(self, found: dict[str, str]) -> str:
        text: str | None = _told(lambda: self._desk.runbook(found["service"], found["failure"]))
        return _there(text)

    def _inventory(self, found: dict[str, str]) -> Any:
        return _there(_told(lambda: self._desk.inventory(found["service"])))


def _told(ask: Callable[[], Any]) -> Any:
    """What the desk says; what it refuses is the one text that leaves."""
    try:
        return ask()
    except Refused as refused:
        raise ToolError(str(refused)) from None


def _there(found: Any) -> Any:
    if found is None:
        # a host answers it as it answers for an address that does not exist, or that is forbidden
        raise ServiceError("file-not-found", "the desk has nothing under that name")
    return found
