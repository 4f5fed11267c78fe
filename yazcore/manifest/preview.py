"""What a person reads of a plugin before deciding: what it asks for, what it adds, where it comes from, what is wrong.

Pure: from a `Target` to a `Preview`, sections and sentences as data, in the language of the `Messages` that are given.
The host's own texts lie in `locales/`: `en-US.ftl`, and `de.ftl`, which serves `de-DE` and `de-AT` as well, because the
chain of every locale ends in its bare language (`messages.chain`).

Words of the plugin never stand where the host's do: they are escaped, on one line as a name, or `said`, to be shown as
a quotation. So nothing that a plugin says can pass for a line of the page (trials 9).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import attrs

from yazcore.contract import Contract
from yazcore.contributions import CONTRIBUTION_KINDS, ContributionKind
from yazcore.declarations import (
    CommandDeclaration,
    FormatDeclaration,
    PermissionDeclaration,
    PromptDeclaration,
    ResourceDeclaration,
    SettingDeclaration,
    ToolDeclaration,
)
from yazcore.kinds import Capability
from yazcore.manifest.messages import Messages, chain
from yazcore.manifest.model import Manifest, Updates
from yazcore.manifest.names import exposed
from yazcore.manifest.origins import Origin
from yazcore.manifest.sentences import Say, capability_sentence
from yazcore.manifest.targets import Target
from yazcore.manifest.words import escaped
from yazcore.violations import Violation, errors

LOCALES = Path(__file__).parent / "locales"
"""The folder of the host's own texts."""

Mark = Literal["", "sensitive", "warning", "error"]
Agreement = Literal["verified", "contradicted", "unverified"]

_COMPILED = (".so", ".pyd", ".dll", ".dylib")
_LONGEST_TITLE = 100


@attrs.frozen(kw_only=True)
class Entry:
    """One thing on the page.

    `text` is one line; `facts` are the host's words about it, a line each; `said` is what the plugin says, a line each.
    """

    text: str
    mark: Mark = ""
    facts: tuple[str, ...] = ()
    said: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class Section:
    """One part of the page. `key` is stable; `heading` and entries are for people."""

    key: str
    heading: str
    entries: tuple[Entry, ...]


@attrs.frozen(kw_only=True)
class Preview:
    """The page: who it is, the sections in their order, the verdict. `refused` is whether the host would refuse it."""

    title: str
    facts: tuple[str, ...]
    said: tuple[str, ...]
    sections: tuple[Section, ...]
    verdict: str
    refused: bool

    def as_json(self) -> dict[str, Any]:
        """The page as plain data."""
        return attrs.asdict(self)


def host_messages(locale: str) -> Messages:
    """The host's own texts for people, in a language or its nearest fallback."""
    return Messages(LOCALES, locale)


def agreement(updates: Updates | None, origin: Origin) -> Agreement | None:
    """Whether what a manifest says of its updates is what the installer recorded; None where it says nothing.

    Verified is no more than that it was installed by name: no installer records which index a name was found in.
    """
    if updates is None:
        return None
    if origin.source is None:
        return "unverified"
    return "verified" if origin.source == "index" else "contradicted"


def preview(
    target: Target, contract: Contract, locale: str, findings: tuple[int, int, int] | None = None
) -> Preview:
    """The page for one target, in a language. Never raises for anything a plugin says.

    `findings`: how many the design rules have, as (errors, suspicions, waived); None where nobody has looked.
    """
    page = _Page(target, contract, host_messages(locale).text, chain(locale), findings)
    manifest = target.reading.manifest
    broken = errors(target.violations)
    host = contract.host
    return Preview(
        title=page.title(),
        facts=tuple(page.facts()),
        said=() if manifest is None else _lines(manifest.description),
        sections=tuple(page.sections()),
        verdict=page.say("refused", errors=len(broken), host=host) if broken else page.say("good", host=host),
        refused=bool(broken),
    )


def _lines(text: str) -> tuple[str, ...]:
    """A plugin's running text, line by line, escaped, without empty lines."""
    lines = (escaped(line.replace("\t", " ").strip()) for line in text.split("\n"))
    return tuple(line for line in lines if line)


def tool_facts(tool: ToolDeclaration, say: Say) -> Iterator[str]:
    """The host's words about a tool: what a call does, on what it counts, what it needs, whether it is asked."""
    yield "; ".join((
        say(f"posture-{tool.posture}"), *reach(tool.scope, tool.permission, say), say(f"approval-{tool.approval}")
    ))  # fmt: skip
    for name in ("destructive", "external"):
        if getattr(tool.effect, name, False):
            yield say(f"effect-{name}")


def reach(scope: str, permission: str, say: Say) -> tuple[str, str]:
    """The host's words about a scope and about a permission."""
    known = scope if scope in ("global", "project") else "other"
    return say(f"scope-{known}", scope=scope), say("needs", permission=permission)


@attrs.frozen
class _Page:
    target: Target
    contract: Contract
    say: Say
    locales: Sequence[str]
    findings: tuple[int, int, int] | None

    def said(self, key: str | None) -> tuple[str, ...]:
        """What the plugin says under a message key, in the first language that has it."""
        if key is None:
            return ()
        texts = (self.target.texts.get(locale, {}).get(key) for locale in self.locales)
        return _lines(next((text for text in texts if text is not None), f"<{key}>"))

    def title(self) -> str:
        """Name, version and id, as far as anything says them."""
        manifest = self.target.reading.manifest
        if manifest is not None:
            return escaped(f"{manifest.name} {manifest.version} ({manifest.id})")
        known = [self.target.id or self.target.name, self.target.version or ""]
        return escaped(" ".join(one[:_LONGEST_TITLE] for one in known if one))

    def facts(self) -> Iterator[str]:
        """Author, licence, repository; what kind of thing was looked at."""
        manifest = self.target.reading.manifest
        if manifest is not None and manifest.license is not None:
            yield self.say("by-licence", author=manifest.author, licence=manifest.license)
        elif manifest is not None:
            yield self.say("by", author=manifest.author)
        if manifest is not None and manifest.repository is not None:
            yield escaped(manifest.repository)
        name = Path(self.target.name).name or self.target.name
        yield self.say(f"kind-{self.target.kind}", file=name, files=len(self.target.files))

    def sections(self) -> Iterator[Section]:
        """The sections in their order: what decides first."""
        manifest = self.target.reading.manifest
        if manifest is not None:
            yield self._section("asks", self._asks(manifest), "asks-nothing")
            yield self._tools(manifest)
            yield from self._adds(manifest)
            yield self._section("updates", self._updates(manifest.updates))
        yield self._section("python", self._python(), "python-none")
        if self.findings is not None:
            yield self._section("design", self._design(*self.findings))
        yield self._section("wrong", map(self._violation, self.target.violations), "wrong-nothing")

    def _section(self, key: str, entries: Iterable[Entry], nothing: str = "") -> Section:
        listed = tuple(entries)
        if not listed and nothing:
            listed = (Entry(text=self.say(nothing)),)
        return Section(key=key, heading=self.say(key), entries=listed)

    def _asks(self, manifest: Manifest) -> Iterator[Entry]:
        for capability in sorted(manifest.capabilities, key=lambda one: not one.sensitive):
            yield self._capability(capability)

    def _capability(self, capability: Capability) -> Entry:
        words = [self.say(word) for word in ("sensitive", "optional") if getattr(capability, word)]
        return Entry(
            text=capability_sentence(capability, self.say),
            mark="sensitive" if capability.sensitive else "",
            facts=("; ".join(words),) if words else (),
            said=self.said(capability.reason_key),
        )

    def _tools(self, manifest: Manifest) -> Section:
        tools = manifest.provides.tools
        if not tools:
            return Section(key="tools", heading=self.say("tools-none"), entries=())
        reads = sum(tool.posture == "read" for tool in tools)
        return Section(
            key="tools",
            heading=self.say("tools", reads=reads, writes=len(tools) - reads),
            entries=tuple(self._tool(manifest, tool) for tool in tools),
        )

    def _tool(self, manifest: Manifest, tool: ToolDeclaration) -> Entry:
        return Entry(
            text=self._exposed(manifest, tool.name),
            mark="sensitive" if tool.posture == "write" else "",
            facts=tuple(tool_facts(tool, self.say)),
            said=self.said(tool.description_key),
        )

    def _exposed(self, manifest: Manifest, name: str) -> str:
        return escaped(exposed(manifest.id, name, own=manifest.id == self.contract.host))

    def _adds(self, manifest: Manifest) -> Iterator[Section]:
        """Everything else it adds, a section a kind; kinds it adds nothing of are left out."""
        provides = manifest.provides
        if provides.commands:
            yield self._section("commands", map(self._command, provides.commands))
        if provides.formats:
            yield self._section("formats", map(self._format, provides.formats))
        if provides.resources:
            yield self._section("resources", map(self._resource, provides.resources))
        if provides.prompts:
            yield self._section("prompts", (self._prompt(manifest, prompt) for prompt in provides.prompts))
        for kind in self.contract.contribution_kinds:
            if kind not in CONTRIBUTION_KINDS and (entries := tuple(self._of_the_host(manifest, kind))):
                yield Section(key=kind.key, heading=self.say("others", key=kind.key), entries=entries)
        if provides.settings:
            yield self._section("settings", map(self._setting, provides.settings))
        if manifest.permissions:
            yield self._section("permissions", map(self._permission, manifest.permissions))

    def _command(self, command: CommandDeclaration) -> Entry:
        return Entry(text=escaped(command.id), said=self.said(command.name_key))

    def _format(self, form: FormatDeclaration) -> Entry:
        text = self.say("format", name=form.id, extensions=", ".join(form.extensions))
        return Entry(text=text, said=self.said(form.name_key))

    def _resource(self, resource: ResourceDeclaration) -> Entry:
        return Entry(
            text=escaped(resource.address),
            facts=("; ".join(reach(resource.scope, resource.permission, self.say)),),
            said=(*self.said(resource.name_key), *self.said(resource.description_key)),
        )

    def _prompt(self, manifest: Manifest, prompt: PromptDeclaration) -> Entry:
        return Entry(
            text=self._exposed(manifest, prompt.name),
            facts=("; ".join(reach(prompt.scope, prompt.permission, self.say)),),
            said=self.said(prompt.description_key),
        )

    def _of_the_host(self, manifest: Manifest, kind: ContributionKind) -> Iterator[Entry]:
        """What it adds of a kind that the host application brings."""
        for one in manifest.provides.of(kind.key):
            named, described = (self.said(getattr(one, field, None)) for field in ("name_key", "description_key"))
            yield Entry(text=escaped(kind.declared_name(one)), said=(*named, *described))

    def _setting(self, setting: SettingDeclaration) -> Entry:
        given = {"name": setting.key, "type": self.say(f"setting-{setting.type}")}
        if setting.default is None:
            text = self.say("setting", **given)
        else:
            value = setting.default if isinstance(setting.default, str) else json.dumps(setting.default)
            text = self.say("setting-default", **given, value=value)
        return Entry(text=text, said=self.said(setting.description_key))

    def _permission(self, permission: PermissionDeclaration) -> Entry:
        return Entry(text=escaped(permission.action), said=self.said(permission.description_key))

    def _updates(self, updates: Updates | None) -> Iterator[Entry]:
        origin = self.target.origin
        agrees = agreement(updates, origin)
        recorded = {"installer": origin.installer or "?", "url": origin.url or "?"}
        yield Entry(text=self.say("updates-none" if updates is None else f"updates-{updates.source}"))
        if agrees is None:
            if origin.source is not None and origin.source != "index":
                yield Entry(text=self.say("origin", **recorded))
        elif agrees == "unverified" and self.target.kind != "installed":
            yield Entry(text=self.say("updates-not-installed"))
        else:
            mark: Mark = "warning" if agrees == "contradicted" else ""
            yield Entry(text=self.say(f"updates-{agrees}", **recorded), mark=mark)

    def _python(self) -> Iterator[Entry]:
        for requirement in self.target.requires:
            yield Entry(text=escaped(requirement))
        if self.target.requires:
            yield Entry(text=self.say("python-code"))
        if self.target.kind == "sdist":
            yield Entry(text=self.say("python-build"), mark="warning")
        for file in self.target.files:
            if file.endswith(_COMPILED):
                yield Entry(text=self.say("python-compiled", file=file), mark="warning")

    def _design(self, errors: int, suspicions: int, waived: int) -> Iterator[Entry]:
        text = self.say("design-count", errors=errors, suspicions=suspicions, waived=waived)
        yield Entry(text=text, mark="warning" if errors else "")

    def _violation(self, violation: Violation) -> Entry:
        position = f"{violation.line}:{violation.column}" if violation.line is not None else ""
        where = " ".join(part for part in (position, violation.pointer, f"[{violation.code}]") if part)
        return Entry(
            text=f"{self.say(violation.severity)}: {escaped(where)}",
            mark=violation.severity,
            facts=tuple(escaped(line) for line in (violation.message, violation.fix) if line),
        )
