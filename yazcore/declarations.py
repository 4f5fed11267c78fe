"""What a manifest says of each contribution, a shape a kind (design 4).

camelCase on the wire, snake_case here. A declaration is the contract: its schemas are what is published, validated
and pinned, so a registration may leave them out but may not differ.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import attrs

Posture = Literal["read", "write"]
JsonSchema = Mapping[str, Any]

DEADLINE_SECONDS = 30
"""How long a call may take, in seconds, where a tool does not say."""

MAX_RESULT = 40_000
"""The most bytes of text a result may have, where a tool does not say (G29, design 4)."""


@attrs.frozen(kw_only=True)
class CommandDeclaration:
    """A command for people: `yaz run ID COMMAND`."""

    id: str
    name_key: str


@attrs.frozen(kw_only=True)
class FormatDeclaration:
    """A document format; `extensions` begin with a dot and compare in lower case."""

    id: str
    name_key: str
    extensions: tuple[str, ...]

    @property
    def claims(self) -> frozenset[str]:
        """What no two formats may share: the id, and each extension as it compares."""
        return frozenset({self.id, *(extension.lower() for extension in self.extensions)})


@attrs.frozen(kw_only=True)
class Param:
    """A note on one property of a tool's input schema, for `help` (S-38)."""

    name: str
    values: tuple[str, ...] | None = None
    shape: str | None = None
    note: str | None = None


@attrs.frozen(kw_only=True)
class Effect:
    """What a call does: hints for clients, never an authorisation (G22)."""

    destructive: bool = False
    idempotent: bool = False
    external: bool = False


@attrs.frozen(kw_only=True)
class ToolDeclaration:
    """A tool that agents may call. `permission` is what the caller needs; it grants the plugin nothing (ADR 0114)."""

    name: str
    description_key: str
    posture: Posture
    scope: str
    permission: str
    input_schema: JsonSchema
    output_schema: JsonSchema | None = None
    params: tuple[Param, ...] = ()
    effect: Effect | None = None
    approval: Literal["none", "ask"] = "none"
    deadline_seconds: int = DEADLINE_SECONDS
    max_result: int = MAX_RESULT


@attrs.frozen(kw_only=True)
class Variable:
    """A variable of a resource template: what may stand there (G43)."""

    name: str
    note: str
    values: tuple[str, ...] | None = None


@attrs.frozen(kw_only=True)
class Cache:
    """How long a reader may keep a resource, and whether it may be shared between callers (G47)."""

    ttl_ms: int = 0
    scope: Literal["private", "public"] = "private"


@attrs.frozen(kw_only=True)
class ResourceDeclaration:
    """A thing with an identity that a client may read: exactly one of `uri` and `uri_template` (RFC 6570)."""

    uri: str | None = None
    uri_template: str | None = None
    name_key: str
    description_key: str
    scope: str
    permission: str
    mime_type: str | None = None
    variables: tuple[Variable, ...] = ()
    cache: Cache = Cache()

    @property
    def address(self) -> str:
        """The URI or the template, whichever is given: what identifies the resource."""
        return self.uri or self.uri_template or ""


@attrs.frozen(kw_only=True)
class PromptArgument:
    """An argument of a prompt."""

    name: str
    note: str
    required: bool = False


@attrs.frozen(kw_only=True)
class PromptDeclaration:
    """A runbook that a person picks; it never acts (S-2)."""

    name: str
    description_key: str
    scope: str
    permission: str
    arguments: tuple[PromptArgument, ...] = ()


@attrs.frozen(kw_only=True)
class SettingDeclaration:
    """A value the user may set for the plugin (`yaz set`); compared with nothing that is registered."""

    key: str
    type: Literal["string", "boolean", "integer", "number"]
    description_key: str
    default: str | bool | int | float | None = None


@attrs.frozen(kw_only=True)
class PermissionDeclaration:
    """An action that callers can be granted: `<plugin id>:<word>`."""

    action: str
    description_key: str
