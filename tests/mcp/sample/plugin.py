"""A tool for each thing a call can do; `seen` lets a test look at what happened inside."""

from __future__ import annotations

import asyncio
import math
import threading
from typing import Any

import attrs

from yazcore import Link, Prompt, Resource, Result, Tool, ToolError, hookimpl


@attrs.define
class Seen:
    """What the tools did. `released` lets a held call go."""

    waiting: threading.Event = attrs.field(factory=threading.Event)
    ended: threading.Event = attrs.field(factory=threading.Event)
    released: threading.Event = attrs.field(factory=threading.Event)


seen = Seen()


class SamplePlugin:
    def __init__(self, context: Any) -> None:
        self.context = context

    @hookimpl
    def provide_tools(self) -> list[Tool]:
        names = ("echo", "count", "wait", "hold", "refuse", "crash", "describe", "store", "odd")
        return [Tool(name, getattr(self, name)) for name in names]

    @hookimpl
    def provide_resources(self) -> list[Resource]:
        return [
            Resource("yaz://sample/note", lambda context, variables: "a note"),
            Resource("yaz://sample/blob", lambda context, variables: b"\x00\xff"),
            Resource("yaz://sample/item/{key}", lambda context, variables: {"key": variables["key"]}, self.keys),
        ]

    @hookimpl
    def provide_prompts(self) -> list[Prompt]:
        return [Prompt("greet", lambda context, arguments: f"Greet {arguments['name']}.")]

    def keys(self, context: Any, variable: str, prefix: str) -> list[str]:
        return [f"key-{number}" for number in range(3)]

    async def echo(self, context: Any, arguments: dict[str, Any]) -> dict[str, Any]:
        for _ in range(arguments.get("turns", 0)):
            await asyncio.sleep(0)
        return {"text": arguments["text"], "caller": context.caller.name}

    def count(self, context: Any, arguments: dict[str, Any]) -> dict[str, Any]:
        for number in range(1, arguments["to"] + 1):
            context.progress(number, arguments["to"], f"step {number}")
        match arguments.get("then"):
            case "back":
                seen.released.wait()
                context.progress(0)
            case "nan":
                seen.released.wait()
                context.progress(math.nan)
        return {"counted": arguments["to"]}

    async def wait(self, context: Any, arguments: dict[str, Any]) -> dict[str, Any]:
        seen.waiting.set()
        try:
            await asyncio.Event().wait()
        finally:
            seen.ended.set()
        return {}

    def hold(self, context: Any, arguments: dict[str, Any]) -> dict[str, Any]:
        mine = seen  # a test that comes later has events of its own
        mine.waiting.set()
        mine.released.wait()
        mine.ended.set()
        return {}

    def refuse(self, context: Any, arguments: dict[str, Any]) -> dict[str, Any]:
        raise ToolError("the cupboard is bare: ask for something else")

    def crash(self, context: Any, arguments: dict[str, Any]) -> dict[str, Any]:
        raise RuntimeError("a secret of the machine")

    def describe(self, context: Any, arguments: dict[str, Any]) -> Result:
        note = Link("yaz://sample/note", "the note", mime_type="text/plain", description="what was noted")
        return Result(structured={"notes": 1}, text="One note.", links=[note])

    def store(self, context: Any, arguments: dict[str, Any]) -> dict[str, Any]:
        return {"stored": True}

    def odd(self, context: Any, arguments: dict[str, Any]) -> dict[str, Any]:
        return {}
