"""The whole contract a plugin implements, on one page.

A plugin is a class, named by `module` in its manifest and made once with its context:

    from yazcore import Page, Tool, ToolError, hookimpl

    class ZoteroPlugin:
        def __init__(self, context):
            self.context = context

        @hookimpl
        def provide_tools(self):
            return [Tool("search-library", self.search)]

        async def search(self, context, arguments):
            if not arguments["query"].strip():
                raise ToolError("query is empty: give a word, an author and year, or a citation key")
            return Page(items=[...])

Hooks are synchronous, take no arguments and return lists. What they return must be what the manifest declares under
`provides`: the core compares both ways and refuses the plugin on any difference. Wrappers, async hooks, keyword-only
and star parameters and unknown hook names are refused. A host application adds hooks of its own in the same way.
"""

from __future__ import annotations

import pluggy

from yazcore.contributions import Command, Format, Prompt, Resource, Tool

PROJECT = "yaz"
"""pluggy's project name: the same for every host, so that one plugin can serve two."""

hookspec = pluggy.HookspecMarker(PROJECT)
"""Marks a function as a hook: for this page, and for a host application's own hooks."""

hookimpl = pluggy.HookimplMarker(PROJECT)
"""Marks a plugin's method as its implementation of the hook of the same name."""


@hookspec
def addCommand() -> list[Command]:  # type: ignore[empty-body]
    """Contribute commands for people, run by `yaz run ID COMMAND`. Declared under `provides.commands`."""


@hookspec
def registerFormat() -> list[Format]:  # type: ignore[empty-body]
    """Contribute document formats. Declared under `provides.formats`. Open to shipped plugins only, for now."""


@hookspec
def provide_tools() -> list[Tool]:  # type: ignore[empty-body]
    """Contribute tools that an agent may call over MCP. Declared under `provides.tools`."""


@hookspec
def provide_resources() -> list[Resource]:  # type: ignore[empty-body]
    """Contribute resources that a client may read over MCP. Declared under `provides.resources`."""


@hookspec
def provide_prompts() -> list[Prompt]:  # type: ignore[empty-body]
    """Contribute prompts that a person may pick in a client. Declared under `provides.prompts`."""


@hookspec
def onload() -> None:
    """Run after everything the plugin contributes has been accepted. May write."""


@hookspec
def onunload() -> None:
    """Run after everything the plugin contributed has left. May write; has five seconds."""
