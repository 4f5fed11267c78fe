"""What can go wrong with a server of another: each way has its code and its sentence.

A sentence repeats little of what the server says, cut and escaped, and nothing of this machine: a plugin reads it. What
only the user should see, such as the last words of a process, stands in `detail`.
"""

from __future__ import annotations

from yazcore.manifest.words import shortened


class ServerFault(Exception):
    """Why a server gives no answer that could be used: a stable code and a sentence; `detail` is for the user alone."""

    def __init__(self, code: str, message: str, detail: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.detail = detail

    def again(self) -> ServerFault:
        """The same fault, to be raised once more: one that is raised over and over would grow with each time."""
        return type(self)(self.code, self.message, self.detail)


def unknown(name: str) -> ServerFault:
    """The user has named no such server."""
    return ServerFault("server-unknown", f"settings.toml names no MCP server {name!r}")


def gone(name: str, how: str, detail: str = "") -> ServerFault:
    """It cannot be reached, or went away."""
    return ServerFault("server-gone", f"the MCP server {name} {how}", detail)


def slow(name: str, seconds: float) -> ServerFault:
    """It has had its time."""
    return ServerFault("server-slow", f"the MCP server {name} did not answer within {seconds:.3g} seconds")


class NotLetIn(ServerFault):
    """The server refuses the key, or whoever has it. What was asked was not done, so it can be asked anew."""


def refused(name: str, status: int) -> ServerFault:
    """It wants another key than the one it was given, or none of ours."""
    return NotLetIn("server-refused", f"the MCP server {name} refuses the request: HTTP {status}")


def redirects(name: str) -> ServerFault:
    """It sends us to another origin, with all that was meant for it alone."""
    return ServerFault("server-redirects", f"the MCP server {name} redirects to another address, which is not followed")


def invalid(name: str, what: str) -> ServerFault:
    """What it says is not the protocol."""
    return ServerFault("server-invalid", f"the MCP server {name} does not keep to the protocol: {shortened(what)}")


def too_large(name: str, most: int) -> ServerFault:
    """It says more than anybody wants to hear."""
    return ServerFault("server-too-large", f"the MCP server {name} sent more than {most} bytes for one answer")


def endless(name: str, what: str) -> ServerFault:
    """Its list of something does not end."""
    return ServerFault("server-endless", f"the MCP server {name} lists {what} without an end")


def asks(name: str) -> ServerFault:
    """It wants something of us: a model's answer, a person's, our folders."""
    return ServerFault("server-asks", f"the MCP server {name} asks for input during a call, and gets none")


def error(name: str, code: int, message: str) -> ServerFault:
    """It answers, and the answer is an error of the protocol."""
    return ServerFault("server-error", f"the MCP server {name} answers with error {code}: {shortened(message)}")


def no_tool(name: str, tool: str) -> ServerFault:
    """It has no such tool."""
    return ServerFault("server-tool-unknown", f"the MCP server {name} has no tool {tool!r}")


def held(name: str, tool: str, why: str) -> ServerFault:
    """The user has not seen the tool as it is now."""
    return ServerFault("server-tool-held", f"the tool {tool!r} of the MCP server {name} waits for the user: it {why}")


def unusable(name: str, tool: str, why: str) -> ServerFault:
    """The tool's definition cannot be worked with."""
    return ServerFault("server-tool-invalid", f"the tool {tool!r} of the MCP server {name} cannot be used: {why}")


def lied(name: str, tool: str, what: str) -> ServerFault:
    """What the tool gave is not what its definition promises."""
    return ServerFault(
        "server-result-invalid", f"the tool {tool!r} of the MCP server {name} did not give what it promises: {what}"
    )


def arguments(tool: str, why: str) -> ServerFault:
    """What the plugin wants to send cannot be sent."""
    return ServerFault("server-arguments", f"the arguments for the tool {tool!r} cannot be passed on: {why}")
