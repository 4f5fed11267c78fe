"""A plugin that comes and goes."""

from __future__ import annotations

from typing import Any

from yazcore import Prompt, Tool, hookimpl


class Extra:
    def __init__(self, context: Any) -> None:
        pass

    @hookimpl
    def provide_tools(self) -> list[Tool]:
        return [Tool("ping", lambda context, arguments: "pong")]

    @hookimpl
    def provide_prompts(self) -> list[Prompt]:
        return [Prompt("greet", lambda context, arguments: "Good day.")]
