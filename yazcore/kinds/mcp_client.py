"""`mcp-client`: MCP servers that the user has named, each called by exactly that name (seed 0022, Y-49)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import attrs

from yazcore.kinds.base import Capability, Request, TargetFault, has_wildcard, some_of, text_faults, whole_text
from yazcore.kinds.causes import Cause

_SERVER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_TOOL = re.compile(r"[A-Za-z0-9_./-]{1,128}")


@attrs.frozen(kw_only=True)
class McpRequest(Request):
    """Calling one tool of one server; without a `tool`, asking what tools it has.

    `read` is whether the user has marked that tool as one that only reads: the service knows, the plugin has no say.
    """

    server: str
    tool: str | None = None
    read: bool = False
    kinds: tuple[str, ...] = ("mcp-client",)
    writes: ClassVar[Cause] = "unmarked-tool"
    target: str = attrs.field()

    @target.default
    def _target(self) -> str:
        return self.server if self.tool is None else f"{self.server} {self.tool}"


@attrs.frozen(kw_only=True)
class McpClient(Capability):
    """Call the servers named, all their tools or only those named."""

    kind: ClassVar[str] = "mcp-client"
    service: ClassVar[str] = "mcp_servers"
    sensitive: ClassVar[bool] = True
    schema_keywords: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "servers": some_of(whole_text(_SERVER)),
        "tools": some_of(whole_text(_TOOL)),
    }

    servers: tuple[str, ...]
    tools: tuple[str, ...] | None = None

    def targets(self) -> dict[str, Any]:
        """The servers, sorted, and the tools where there is a list of them."""
        tools = {} if self.tools is None else {"tools": sorted(set(self.tools))}
        return {"servers": sorted(set(self.servers)), **tools}

    def faults(self) -> Iterator[TargetFault]:
        """Wildcards, empty lists and names, names of another form."""
        yield from text_faults(self.servers, "servers", "server")
        yield from _malformed(self.servers, "servers", "server", _SERVER)
        if self.tools is not None:
            yield from text_faults(self.tools, "tools", "tool")
            yield from _malformed(self.tools, "tools", "tool", _TOOL)

    def covers(self, request: Request) -> bool:
        """Whether the server, and the tool where tools are listed, are named exactly: `A` is not `a`."""
        return (
            isinstance(request, McpRequest)
            and _SERVER.fullmatch(request.server) is not None
            and request.server in self.servers
            and (self.tools is None or request.tool is None or request.tool in self.tools)
        )

    def reads(self, request: Request) -> bool:
        """Asking for the tools reads; calling one reads where the user says so (design 5)."""
        return isinstance(request, McpRequest) and (request.tool is None or request.read)

    def within(self, other: Capability) -> bool:
        """Whether `other` names all its servers, and all its tools or every tool."""
        return (
            isinstance(other, McpClient)
            and set(self.servers) <= set(other.servers)
            and (other.tools is None or (self.tools is not None and set(self.tools) <= set(other.tools)))
        )

    def sentence(self) -> str:
        """What people read."""
        targets = self.targets()
        tools = f", to the tools {', '.join(targets['tools'])} only" if "tools" in targets else ""
        word = "server" if len(targets["servers"]) == 1 else "servers"
        return f"send data to your MCP {word} {', '.join(targets['servers'])}{tools}"


def _malformed(texts: tuple[str, ...], key: str, what: str, form: re.Pattern[str]) -> Iterator[TargetFault]:
    for index, text in enumerate(texts):
        if text.strip() and not has_wildcard(text) and not form.fullmatch(text):
            yield TargetFault(
                f"capability-{what}", f"{text!r} is not a {what} name",
                "use letters, digits, - _ and . only, as in reference-checker", (key, index),
            )  # fmt: skip
