"""Capability kinds, the pure half: what a plugin may ask for, what each covers, how it reads to a person (design 5).

One class a kind. Nothing here touches a file, a socket or a process: services do, after the broker has asked a kind
whether it covers what is wanted.
"""

from yazcore.kinds.base import Capability, Comparison, Request, TargetFault, compare
from yazcore.kinds.credential import Credential, CredentialRequest
from yazcore.kinds.files import FileRequest, FsProject, FsRead, FsWrite
from yazcore.kinds.mcp_client import McpClient, McpRequest
from yazcore.kinds.net import Net, NetRequest
from yazcore.kinds.process import Process, ProcessRequest

CAPABILITY_KINDS: tuple[type[Capability], ...] = (FsProject, FsRead, FsWrite, Net, Process, McpClient, Credential)
"""The kinds of contract 1; a host application adds its own to its `Contract`."""

__all__ = [
    "CAPABILITY_KINDS", "Capability", "Comparison", "Credential", "CredentialRequest", "FileRequest", "FsProject",
    "FsRead", "FsWrite", "McpClient", "McpRequest", "Net", "NetRequest", "Process", "ProcessRequest", "Request",
    "TargetFault", "compare",
]  # fmt: skip
