"""What the plugin does. What it may do, and what it adds, stands in manifest.json."""

from typing import Any

from yazcore import CallContext, Command, Context, Tool, ToolError, hookimpl


class Plugin:
    """Made once, with everything the plugin can reach: settings, texts, files, a folder of its own."""

    def __init__(self, context: Context) -> None:
        self.context = context

    @hookimpl
    def provide_tools(self) -> list[Tool]:
        """The tools for agents. Schemas and permissions are the manifest's: nothing is said twice."""
        return [Tool("count-words", self.count_words)]

    @hookimpl
    def addCommand(self) -> list[Command]:
        """The commands for people: `yaz run {{ cookiecutter.plugin_id }} count TEXT`."""
        return [Command("count", self.count)]

    def count_words(self, context: CallContext, arguments: dict[str, Any]) -> dict[str, Any]:
        # A call that does not fit the schema never comes here, nor one of a caller without the permission.
        words = len(arguments["text"].split())
        if words == 0:
            # The only error whose text an agent reads, so it says what to do.
            raise ToolError("the text has no words: give a text with at least one")
        return {"words": words}

    def count(self, context: CallContext, arguments: list[str]) -> str:
        # Texts for people come from locales/, in the language of whoever reads them.
        text: str = context.message("words-counted", count=len(" ".join(arguments).split()))
        return text
