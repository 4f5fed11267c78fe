"""yazcore: a plugin framework for applications that agents drive.

A plugin's static manifest says what it may do to the machine and what it adds for an agent; the core compares that with
what the hooks really register, refuses any difference, runs every hook and handler inside what the user granted, and
exposes the result through MCP.

Names are loaded when they are first used (PEP 562): `import yazcore` alone loads no room, so listing plugins, or a
plugin's own import of `Tool`, pays for nothing else.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOMES = {
    "yazcore.capabilities.brokered": ("Brokered",),
    "yazcore.capabilities.context": ("Call", "CallContext", "Caller", "Client", "Context"),
    "yazcore.capabilities.errors": ("Cancelled", "CapabilityError", "NoContext", "ServiceError"),
    "yazcore.children": ("Cancellation", "ChildEnded", "run_child"),
    "yazcore.confinement.landlock": ("restrict_files",),
    "yazcore.contract": ("HOOKSPECS", "RESERVED", "Contract"),
    "yazcore.contributions": (
        "CONTRIBUTION_KINDS", "Command", "ContributionKind", "Format", "Link", "Page", "Prompt", "Resource", "Result",
        "Tool", "ToolError",
    ),
    "yazcore.first_use": ("AskUser", "Question"),
    "yazcore.gate": ("Approval", "Approve", "Gate"),
    "yazcore.home": ("Home",),
    "yazcore.hookspecs": ("hookimpl", "hookspec"),
    "yazcore.host": ("Host", "Own"),
    "yazcore.kinds": ("CAPABILITY_KINDS", "Capability", "FileRequest", "FsProject", "Request", "TargetFault"),
    "yazcore.manifest.reading": ("Reading", "read"),
    "yazcore.outcomes": ("Outcome", "Prompted", "ProtocolFault"),
    "yazcore.paging": ("Cursors",),
    "yazcore.parts": ("Ask", "Audio", "Embedded", "Form", "Image", "Message", "Roots", "Sample"),
    "yazcore.permissions": (
        "GLOBAL", "OWNER", "PROJECT", "GrantsOf", "PermissionGrant", "Permits", "Principal", "ScopeKind", "may",
    ),
    "yazcore.plugin_status": ("PluginStatus",),
    "yazcore.serving": ("Serving",),
    "yazcore.trees": ("remove_tree",),
    "yazcore.typed.tools": ("tool",),
    "yazcore.violations": ("Difference", "Violation", "YazError"),
}  # fmt: skip
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "__version__",
    *sorted(_HOME_OF),
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'yazcore' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME_OF})


if TYPE_CHECKING:
    from yazcore.capabilities.brokered import Brokered as Brokered
    from yazcore.capabilities.context import Call as Call
    from yazcore.capabilities.context import CallContext as CallContext
    from yazcore.capabilities.context import Caller as Caller
    from yazcore.capabilities.context import Client as Client
    from yazcore.capabilities.context import Context as Context
    from yazcore.capabilities.errors import Cancelled as Cancelled
    from yazcore.capabilities.errors import CapabilityError as CapabilityError
    from yazcore.capabilities.errors import NoContext as NoContext
    from yazcore.capabilities.errors import ServiceError as ServiceError
    from yazcore.children import Cancellation as Cancellation
    from yazcore.children import ChildEnded as ChildEnded
    from yazcore.children import run_child as run_child
    from yazcore.confinement.landlock import restrict_files as restrict_files
    from yazcore.contract import HOOKSPECS as HOOKSPECS
    from yazcore.contract import RESERVED as RESERVED
    from yazcore.contract import Contract as Contract
    from yazcore.contributions import CONTRIBUTION_KINDS as CONTRIBUTION_KINDS
    from yazcore.contributions import Command as Command
    from yazcore.contributions import ContributionKind as ContributionKind
    from yazcore.contributions import Format as Format
    from yazcore.contributions import Link as Link
    from yazcore.contributions import Page as Page
    from yazcore.contributions import Prompt as Prompt
    from yazcore.contributions import Resource as Resource
    from yazcore.contributions import Result as Result
    from yazcore.contributions import Tool as Tool
    from yazcore.contributions import ToolError as ToolError
    from yazcore.first_use import AskUser as AskUser
    from yazcore.first_use import Question as Question
    from yazcore.gate import Approval as Approval
    from yazcore.gate import Approve as Approve
    from yazcore.gate import Gate as Gate
    from yazcore.home import Home as Home
    from yazcore.hookspecs import hookimpl as hookimpl
    from yazcore.hookspecs import hookspec as hookspec
    from yazcore.host import Host as Host
    from yazcore.host import Own as Own
    from yazcore.kinds import CAPABILITY_KINDS as CAPABILITY_KINDS
    from yazcore.kinds import Capability as Capability
    from yazcore.kinds import FileRequest as FileRequest
    from yazcore.kinds import FsProject as FsProject
    from yazcore.kinds import Request as Request
    from yazcore.kinds import TargetFault as TargetFault
    from yazcore.manifest.reading import Reading as Reading
    from yazcore.manifest.reading import read as read
    from yazcore.outcomes import Outcome as Outcome
    from yazcore.outcomes import Prompted as Prompted
    from yazcore.outcomes import ProtocolFault as ProtocolFault
    from yazcore.paging import Cursors as Cursors
    from yazcore.parts import Ask as Ask
    from yazcore.parts import Audio as Audio
    from yazcore.parts import Embedded as Embedded
    from yazcore.parts import Form as Form
    from yazcore.parts import Image as Image
    from yazcore.parts import Message as Message
    from yazcore.parts import Roots as Roots
    from yazcore.parts import Sample as Sample
    from yazcore.permissions import GLOBAL as GLOBAL
    from yazcore.permissions import OWNER as OWNER
    from yazcore.permissions import PROJECT as PROJECT
    from yazcore.permissions import GrantsOf as GrantsOf
    from yazcore.permissions import PermissionGrant as PermissionGrant
    from yazcore.permissions import Permits as Permits
    from yazcore.permissions import Principal as Principal
    from yazcore.permissions import ScopeKind as ScopeKind
    from yazcore.permissions import may as may
    from yazcore.plugin_status import PluginStatus as PluginStatus
    from yazcore.serving import Serving as Serving
    from yazcore.trees import remove_tree as remove_tree
    from yazcore.typed.tools import tool as tool
    from yazcore.violations import Difference as Difference
    from yazcore.violations import Violation as Violation
    from yazcore.violations import YazError as YazError
