"""A surface: what an agent sees of a server or a plugin, as plain data, whatever it was read from.

Nothing here was checked: a surface may be of a stranger's server, or of a manifest that a host refuses. A field is None
where its source says nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Literal

import attrs

from yazcore.manifest.places import Path

FALLBACK = "en-US"
"""The locale whose wording is judged; the others are only held against it."""

Kind = Literal["plugin", "server"]


@attrs.frozen(kw_only=True)
class Note:
    """What is said of a parameter, a template's variable or a prompt's argument, beside any schema; `path` is where
    that stands."""

    name: str
    path: Path = ()
    text: str = ""
    values: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class Entry:
    """What tools, resources and prompts have in common.

    * `path`: where it stands in the document it was read from; `text_path`: where its description does.
    * `texts`: the description by locale; `description` is the one that is judged. `titles`: what people read as its
      name, by locale; `title_path`: where that stands.
    * `permissions`, `scope`: what a caller needs. A server's listing says nothing of them.
    """

    name: str
    path: Path
    text_path: Path
    texts: Mapping[str, str] = attrs.field(factory=dict)
    titles: Mapping[str, str] = attrs.field(factory=dict)
    title_path: Path = ()
    scope: str | None = None
    permissions: tuple[str, ...] = ()

    @property
    def description(self) -> str:
        """What an agent reads, in English; empty where nothing is said."""
        return self.texts.get(FALLBACK, "")

    section: ClassVar[str]

    @property
    def noted(self) -> tuple[Note, ...]:
        """What is said of its parameters, variables or arguments."""
        return ()

    @property
    def subject(self) -> str:
        """How findings and waivers name it: `tools/search-library`."""
        return f"{self.section}/{self.name}"


@attrs.frozen(kw_only=True)
class Tool(Entry):
    """A tool. `hints` are the annotations of MCP (`readOnlyHint`), `effect` what a manifest says of a call."""

    section = "tools"

    input_schema: Any = None
    output_schema: Any = None
    notes: tuple[Note, ...] = ()
    posture: str | None = None
    approval: str | None = None
    hints: Mapping[str, bool] = attrs.field(factory=dict)
    effect: Mapping[str, bool] = attrs.field(factory=dict)

    @property
    def noted(self) -> tuple[Note, ...]:
        """What is said of its parameters beside their schema."""
        return self.notes

    @property
    def reads(self) -> bool | None:
        """Whether it says that it only reads: by its posture, else by its hint; None where it says neither."""
        if self.posture is not None:
            return self.posture == "read"
        return self.hints.get("readOnlyHint")

    @property
    def destroys(self) -> bool:
        """Whether it says that something may be lost."""
        return bool(self.effect.get("destructive") or self.hints.get("destructiveHint"))

    @property
    def schema_path(self) -> Path:
        """Where its input schema stands."""
        return (*self.path, "inputSchema")

    @property
    def output_path(self) -> Path:
        """Where its output schema stands."""
        return (*self.path, "outputSchema")


@attrs.frozen(kw_only=True)
class Resource(Entry):
    """A resource: `name` is its URI, or its template where `is_template`.

    `cache_scope` is its own, else its page's, and stands at `cache_path`. `completes` is whether its code proposes
    values for the template's variables; None where no code was asked.
    """

    section = "resources"

    is_template: bool = False
    title: str = ""
    mime_type: str | None = None
    variables: tuple[Note, ...] = ()
    cache_scope: str | None = None
    cache_path: Path = ()
    completes: bool | None = None

    @property
    def noted(self) -> tuple[Note, ...]:
        """What is said of its template's variables."""
        return self.variables

    @property
    def address_path(self) -> Path:
        """Where its URI or template stands."""
        return (*self.path, "uriTemplate" if self.is_template else "uri")


@attrs.frozen(kw_only=True)
class Prompt(Entry):
    """A prompt."""

    section = "prompts"

    arguments: tuple[Note, ...] = ()

    @property
    def noted(self) -> tuple[Note, ...]:
        """What is said of its arguments."""
        return self.arguments


@attrs.frozen(kw_only=True)
class Asked:
    """What a plugin may do to the machine: one of its capabilities, whether it changes files or runs programs, and how
    many things it names."""

    kind: str
    path: Path
    changes: bool
    count: int


@attrs.frozen(kw_only=True)
class Surface:
    """Everything that is judged at once.

    * `kind`: a `plugin` declares permissions, scopes and postures; a `server` only shows its lists.
    * `broken`: entries that are no objects, by path.
    * `asks`: a plugin's capabilities; `has_commands`: whether people can run commands of it.
    * `scopes_with_ids`: the scopes in which a caller is allowed one thing and not another.
    * `was_asked`: whether its code was asked what it completes.
    """

    kind: Kind
    tools: tuple[Tool, ...] = ()
    resources: tuple[Resource, ...] = ()
    prompts: tuple[Prompt, ...] = ()
    broken: tuple[Path, ...] = ()
    asks: tuple[Asked, ...] = ()
    has_commands: bool = False
    scopes_with_ids: frozenset[str] = frozenset()
    was_asked: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing that an agent could see."""
        return not (self.tools or self.resources or self.prompts)

    @property
    def entries(self) -> Iterator[Entry]:
        """Tools, resources and prompts."""
        yield from self.tools
        yield from self.resources
        yield from self.prompts
