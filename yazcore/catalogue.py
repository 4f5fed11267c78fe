"""What is active: the one source of every listing (design 7).

`tools/list`, `help`, `yaz://tools`, the instructions and `yaz tools` all read this. A snapshot never changes; a commit
puts a new one in its place, so readers need no lock and see all of a plugin or nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

import attrs

from yazcore.declarations import (
    CommandDeclaration,
    FormatDeclaration,
    Posture,
    PromptDeclaration,
    ResourceDeclaration,
    ToolDeclaration,
)
from yazcore.listeners import Listeners
from yazcore.manifest.model import Manifest
from yazcore.manifest.names import exposed, folded
from yazcore.marks import UNMARKED, Mark, Marks
from yazcore.uri_templates import match

AUDIT = "x-audit"
"""The keyword of a property in an input schema: where it is true, the audit keeps the value too (design 7)."""


@attrs.frozen(kw_only=True)
class ActiveTool:
    """One tool that can be called now.

    * `mark`: what the operator says of it; `asks` and `posture` are what counts for callers. While it runs, the tool
      has no more than its declared posture: a mark gives nothing.
    * `audited`: the arguments whose values its schema wants in the audit.
    """

    plugin: str
    exposed: str
    declaration: ToolDeclaration
    description: str
    own: bool
    mark: Mark = UNMARKED
    asks: bool = attrs.field()
    posture: Posture = attrs.field()
    audited: frozenset[str] = attrs.field()

    @asks.default
    def _asks(self) -> bool:
        return self.mark.ask or self.declaration.approval == "ask"

    @posture.default
    def _posture(self) -> Posture:
        return "write" if self.mark.write else self.declaration.posture

    @audited.default
    def _audited(self) -> frozenset[str]:
        properties = self.declaration.input_schema.get("properties", {})
        return frozenset(
            name for name, schema in properties.items() if isinstance(schema, Mapping) and schema.get(AUDIT) is True
        )


@attrs.frozen(kw_only=True)
class ActiveResource:
    """One resource or template that can be read now."""

    plugin: str
    declaration: ResourceDeclaration
    name: str
    description: str
    own: bool


@attrs.frozen(kw_only=True)
class ActivePrompt:
    """One prompt that can be picked now."""

    plugin: str
    exposed: str
    declaration: PromptDeclaration
    description: str
    own: bool


@attrs.frozen(kw_only=True)
class ActiveFormat:
    """One document format that can be used now."""

    plugin: str
    declaration: FormatDeclaration
    name: str


@attrs.frozen(kw_only=True)
class ActiveCommand:
    """One command for people that can be run now."""

    plugin: str
    declaration: CommandDeclaration
    name: str


@attrs.frozen(kw_only=True)
class ActivePlugin:
    """One active plugin: its manifest, its texts in the user's language, and whether it is the host itself."""

    manifest: Manifest
    texts: Mapping[str, str]
    own: bool
    origin: str
    running: Any
    """The plugin in its runtime (`runtimes.base.RunningPlugin`); the catalogue only keeps it."""

    def text(self, key: str) -> str:
        """A text of the plugin, or the key in angle brackets."""
        return self.texts.get(key, f"<{key}>")


@attrs.frozen(kw_only=True)
class Snapshot:
    """Everything active at one moment, sorted by name; `generation` grows with every commit."""

    generation: int = 0
    plugins: Mapping[str, ActivePlugin] = attrs.field(factory=dict)
    tools: Mapping[str, ActiveTool] = attrs.field(factory=dict)
    resources: Mapping[str, ActiveResource] = attrs.field(factory=dict)
    prompts: Mapping[str, ActivePrompt] = attrs.field(factory=dict)
    formats: Mapping[str, ActiveFormat] = attrs.field(factory=dict)
    commands: Mapping[tuple[str, str], ActiveCommand] = attrs.field(factory=dict)
    actions: frozenset[str] = frozenset()

    @property
    def permissions_uri(self) -> str | None:
        """Where a caller reads what it may do: the host's own `…://permissions`, if it has one (S-41)."""
        return next((uri for uri, one in self.resources.items() if one.own and uri.endswith("://permissions")), None)

    def resource_for(self, uri: str) -> tuple[ActiveResource, dict[str, str]] | None:
        """The resource that answers for a URI, with the template's values; a fixed URI goes before a template."""
        if (fixed := self.resources.get(uri)) is not None and fixed.declaration.uri is not None:
            return fixed, {}
        for resource in self.resources.values():
            template = resource.declaration.uri_template
            if template is not None and (values := match(template, uri)) is not None:
                return resource, values
        return None


class Catalogue:
    """The current snapshot, and the only way to change it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._changed: Listeners[[]] = Listeners()
        self._marks: Marks = {}
        self.now = Snapshot()

    def on_change(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call `listener` after every commit, in the thread that commits; it must not block. Gives how to stop that."""
        return self._changed.add(listener)

    def add(self, plugin: ActivePlugin) -> None:
        """Make a plugin's contributions visible, all at once. The caller has checked `collisions`."""
        with self._lock:
            self.now = self._made({**self.now.plugins, plugin.manifest.id: plugin})
        self._changed.tell()

    def mark(self, marks: Marks) -> None:
        """Have these marks count in place of the ones before, for all that is active and all that comes."""
        with self._lock:
            changed = marks != self._marks
            self._marks = dict(marks)
            if changed:
                self.now = self._made(self.now.plugins)
        if changed:
            self._changed.tell()

    def _made(self, plugins: Mapping[str, ActivePlugin]) -> Snapshot:
        return _snapshot(plugins, self._marks, self.now.generation + 1)

    def remove(self, plugin_id: str) -> ActivePlugin | None:
        """Take a plugin's contributions away, all at once."""
        with self._lock:
            plugins = dict(self.now.plugins)
            gone = plugins.pop(plugin_id, None)
            if gone is not None:
                self.now = self._made(plugins)
        if gone is not None:
            self._changed.tell()
        return gone


def collisions(now: Snapshot, manifest: Manifest, own: bool) -> list[tuple[str, str, str]]:
    """What the plugin would expose that an active one already does, as (contribution key, name, the other plugin)."""
    taken = {("tools", folded(name)): tool.plugin for name, tool in now.tools.items()}
    taken |= {("prompts", folded(name)): prompt.plugin for name, prompt in now.prompts.items()}
    taken |= {("resources", address): resource.plugin for address, resource in now.resources.items()}
    taken |= {("formats", claim): one.plugin for one in now.formats.values() for claim in one.declaration.claims}
    wanted = [
        ("tools", tool.name, folded(exposed(manifest.id, tool.name, own))) for tool in manifest.provides.tools
    ]
    wanted += [
        ("prompts", prompt.name, folded(exposed(manifest.id, prompt.name, own)))
        for prompt in manifest.provides.prompts
    ]
    wanted += [("resources", one.address, one.address) for one in manifest.provides.resources]
    wanted += [("formats", claim, claim) for one in manifest.provides.formats for claim in sorted(one.claims)]
    return [
        (key, name, other)
        for key, name, exposed in wanted
        if (other := taken.get((key, exposed))) is not None and other != manifest.id
    ]


def _snapshot(plugins: Mapping[str, ActivePlugin], marks: Marks, generation: int) -> Snapshot:
    tools: dict[str, ActiveTool] = {}
    resources: dict[str, ActiveResource] = {}
    prompts: dict[str, ActivePrompt] = {}
    formats: dict[str, ActiveFormat] = {}
    commands: dict[tuple[str, str], ActiveCommand] = {}
    actions: set[str] = set()
    for plugin_id, plugin in sorted(plugins.items()):
        provides, own = plugin.manifest.provides, plugin.own
        actions |= plugin.manifest.actions
        for tool in provides.tools:
            name = exposed(plugin_id, tool.name, own)
            tools[name] = ActiveTool(
                plugin=plugin_id, exposed=name, declaration=tool, description=plugin.text(tool.description_key),
                own=own, mark=marks.get((plugin_id, tool.name), UNMARKED),
            )  # fmt: skip
        for resource in provides.resources:
            resources[resource.address] = ActiveResource(
                plugin=plugin_id,
                declaration=resource,
                name=plugin.text(resource.name_key),
                description=plugin.text(resource.description_key),
                own=own,
            )
        for prompt in provides.prompts:
            name = exposed(plugin_id, prompt.name, own)
            prompts[name] = ActivePrompt(
                plugin=plugin_id, exposed=name, declaration=prompt, description=plugin.text(prompt.description_key),
                own=own,
            )  # fmt: skip
        for form in provides.formats:
            formats[form.id] = ActiveFormat(plugin=plugin_id, declaration=form, name=plugin.text(form.name_key))
        for command in provides.commands:
            commands[plugin_id, command.id] = ActiveCommand(
                plugin=plugin_id, declaration=command, name=plugin.text(command.name_key)
            )
    return Snapshot(
        generation=generation,
        plugins=dict(plugins),
        tools=dict(sorted(tools.items())),
        resources=dict(sorted(resources.items())),
        prompts=dict(sorted(prompts.items())),
        formats=formats,
        commands=dict(sorted(commands.items())),
        actions=frozenset(actions),
    )
