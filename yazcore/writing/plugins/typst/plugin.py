"""The plugin: Typst as a format of projects."""

from __future__ import annotations

from typing import Any

from yazcore import CallContext, CapabilityError, Context, Format, ServiceError, hookimpl
from yazcore.writing.plugins.typst import entry, outline, report


class TypstPlugin:
    """Finds where a Typst project begins, outlines it, and reads what the compiler said.

    It reads sources only to find an entry, through the file service; the rest it is given. It runs nothing: the host
    has the engine `typst`.
    """

    def __init__(self, context: Context) -> None:
        self.context = context

    @hookimpl
    def registerFormat(self) -> list[Format]:  # noqa: N802 - the hook's name
        """The one format."""
        return [Format("typst", find_entry=self.find_entry, outline=self.outline, plan=self.plan, collect=self.collect)]

    def find_entry(self, context: CallContext, names: list[str]) -> str | None:
        """The document the project begins with."""

        def read(name: str) -> str | None:
            try:
                return str(context.files.read_text(name))
            except (ServiceError, CapabilityError, UnicodeDecodeError):
                return None

        return entry.find_entry(names, read)

    def outline(self, context: CallContext, source: dict[str, Any]) -> list[dict[str, Any]]:
        """The headings of `{"entry", "files"}`."""
        return outline.outline(source["entry"], source["files"])

    def plan(self, context: CallContext, job: dict[str, Any]) -> dict[str, Any]:
        """The embedded compiler, on the entry."""
        return {"engine": "typst", "arguments": {"entry": job["entry"]}}

    def collect(self, context: CallContext, outcome: dict[str, Any]) -> dict[str, Any]:
        """The diagnostics in what the compiler said."""
        return {"diagnostics": report.diagnostics(outcome["output"], outcome["entry"])}
