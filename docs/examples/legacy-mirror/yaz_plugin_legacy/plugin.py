"""One handler for everything: what a mirror comes to. yaz refuses the manifest, so nothing of this ever runs there."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

from yazcore import Tool, hookimpl


class LegacyPlugin:
    """The old system's database, and whatever is asked of it."""

    def __init__(self, context: Any) -> None:
        self._db = sqlite3.connect(":memory:", check_same_thread=False)
        self._db.execute("create table customers (row_id integer primary key, name, state)")

    @hookimpl
    def provide_tools(self) -> list[Tool]:
        """A tool for each endpoint, all with the same code behind them."""
        manifest = json.loads((Path(__file__).parent / "manifest.json").read_text("utf-8"))
        return [Tool(one["name"], self.forward) for one in manifest["provides"]["tools"]]

    def forward(self, context: Any, arguments: dict[str, Any]) -> dict[str, Any]:
        """Whatever comes is run as it comes, and whatever comes back is given."""
        return {"rows": self._db.execute(arguments.get("sql", "select * from customers")).fetchall()}
