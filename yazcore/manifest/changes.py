"""What a comparison says to people: a sentence for each change, in their language, as a page or as a reason to hold.

Pure. The host's texts are those of `preview`; words of the plugin are escaped, and what it says stands apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import attrs

from yazcore.contract import Contract
from yazcore.manifest.comparison import Change, Comparison
from yazcore.manifest.digests import canonical, plain
from yazcore.manifest.messages import FALLBACK
from yazcore.manifest.model import Manifest
from yazcore.manifest.names import exposed
from yazcore.manifest.preview import Entry, Mark, Preview, Section, host_messages, reach, tool_facts
from yazcore.manifest.records import camel
from yazcore.manifest.sentences import Say, capability_sentence
from yazcore.manifest.targets import Target
from yazcore.manifest.words import escaped, listed
from yazcore.violations import errors

_KNOWN = (
    "capabilities", "permissions", "tools", "commands", "formats", "resources", "prompts", "settings", "requires",
    "plugin",
)  # fmt: skip
"""What has a heading of its own, in the order of the page: what decides first. A host's own kinds follow them."""

_MARKS: Mapping[str, Mark] = {"wider": "sensitive"}
_LONGEST_VALUE = 200


def page(old: Target, new: Target, comparison: Comparison, contract: Contract, locale: str) -> Preview:
    """The page for two targets that were compared, in a language. Both have a manifest that was read."""
    say = host_messages(locale).text
    before, after = old.reading.manifest, new.reading.manifest
    assert before is not None, "what has no manifest is compared with nothing"
    assert after is not None, "what has no manifest is compared with nothing"
    held = say("diff-consent" if comparison.needs_consent else "diff-no-consent")
    return Preview(
        title=escaped(f"{after.name} ({after.id}) {before.version} → {after.version}"),
        facts=tuple(_facts(before, after, new, contract, say)),
        said=(),
        sections=tuple(_sections(comparison, after.id, contract, say)),
        verdict=f"{say(f'diff-{comparison.verdict}')} {held}",
        refused=comparison.needs_consent,
    )


def explained(comparison: Comparison, plugin_id: str, contract: Contract) -> dict[str, str]:
    """What an update changes, to go on an English sentence: by digest (`tools/find`), or a capability's identity.

    Only of what is in both versions: of what is new, its name says enough.
    """
    say = host_messages(FALLBACK).text
    found = {}
    for change in comparison.changes:
        if change.change != "changed":
            continue
        name = change.after.identity if change.what == "capabilities" else f"{change.what}/{change.name}"
        if facts := _Told(change, plugin_id, contract, say).facts():
            found[name] = "; ".join(f"{fact[:1].lower()}{fact[1:].removesuffix('.')}" for fact in facts)
    return found


def _facts(before: Manifest, after: Manifest, new: Target, contract: Contract, say: Say) -> Iterator[str]:
    from packaging.version import InvalidVersion, Version

    try:
        if Version(after.version) < Version(before.version):
            yield say("diff-older")
    except InvalidVersion:  # the rules of a manifest take no other, but a fault here would hide the whole page
        pass
    if broken := errors(new.violations):
        yield say("refused", errors=len(broken), host=contract.host)


def _sections(comparison: Comparison, plugin_id: str, contract: Contract, say: Say) -> Iterator[Section]:
    by_what: dict[str, list[Change]] = {}
    for change in comparison.changes:
        by_what.setdefault(change.what, []).append(change)
    for what in (*_KNOWN, *(one for one in by_what if one not in _KNOWN)):
        if what in by_what:
            heading = say(f"diff-{what}") if what in _KNOWN else say("others", key=what)
            told = [_Told(change, plugin_id, contract, say) for change in by_what[what]]
            yield Section(key=what, heading=heading, entries=tuple(one.entry() for one in told))


@attrs.frozen
class _Told:
    """One change, told in one language."""

    change: Change
    plugin_id: str
    contract: Contract
    say: Say

    def entry(self) -> Entry:
        """The change as it stands on a page."""
        return Entry(
            text=self.headline(), mark=_MARKS.get(self.change.verdict, ""), facts=self.facts(), said=self.said()
        )

    def headline(self) -> str:
        """What it is about, and whether it is new, gone or changed."""
        change = self.change
        if change.what == "capabilities":
            capability = change.before if change.after is None else change.after
            return f"{self.say(self._ask())}: {capability_sentence(capability, self.say)}"
        if change.what == "plugin":
            return self.say(f"about-{change.name}")
        name = change.name
        if change.what in ("tools", "prompts"):
            name = exposed(self.plugin_id, name, own=self.plugin_id == self.contract.host)
        return self.say(f"change-{change.change}", name=name)

    def facts(self) -> tuple[str, ...]:
        """What differs, a sentence each."""
        change = self.change
        if change.what == "capabilities":
            return tuple(self._before())
        if change.what in ("plugin", "requires"):
            return tuple(self._values())
        if change.change == "changed":
            return tuple(self._fields())
        return tuple(self._declared()) if change.change == "added" else ()

    def said(self) -> tuple[str, ...]:
        """What the plugin says in each language, as it was and as it is."""
        before, after = (_texts_of(side) for side in (self.change.old, self.change.new))
        lines = []
        for locale, name in dict.fromkeys((*before, *after)):
            old, new = before.get((locale, name)), after.get((locale, name))
            for sign, text in (("-", old), ("+", new)):
                if old != new and text is not None:
                    lines += [f"{locale} {sign} {escaped(line)}" for line in text.splitlines() if line.strip()]
        return tuple(lines)

    # -- capabilities

    def _ask(self) -> str:
        change = self.change
        if change.after is None:
            return "asks-no-more"
        if change.before is None:
            if change.verdict == "narrower":
                return "asks-part"
            return "asks-later" if change.after.optional else "asks-more"
        if change.before.identity == change.after.identity:
            if change.before.optional == change.after.optional:
                return "asks-same"
            return "asks-later-now" if change.after.optional else "asks-at-once"
        return "asks-more" if change.verdict == "wider" else "asks-less"

    def _before(self) -> Iterator[str]:
        before, after = self.change.before, self.change.after
        if before is not None and after is not None and before.identity != after.identity:
            yield f"{self.say('asks-before')}: {capability_sentence(before, self.say)}"
            if before.optional and not after.optional:
                yield self.say("asks-at-once")

    # -- what is told by its values

    def _values(self) -> Iterator[str]:
        for key, side in (("value-before", self.change.old), ("value-now", self.change.new)):
            if side is not None:
                yield self.say(key, value=_shown(side))

    # -- contributions, permissions, settings

    def _declared(self) -> Iterator[str]:
        entry = self.change.after
        if self.change.what == "tools":
            yield from tool_facts(entry, self.say)
        elif hasattr(entry, "scope") and hasattr(entry, "permission"):
            yield "; ".join(reach(entry.scope, entry.permission, self.say))

    def _fields(self) -> Iterator[str]:
        keys = dict.fromkeys((*self.change.new, *self.change.old))
        for key in keys:
            if key == "texts":
                before, after = (_texts_of(side) for side in (self.change.old, self.change.new))
                locales = {one[0] for one in (*before, *after) if before.get(one) != after.get(one)}
                yield self.say("change-texts", locales=", ".join(sorted(locales)))
            elif key in _SCHEMAS:
                yield from self._schema(key)
            elif key == "effect":
                yield from self._effect()
            else:
                yield self._field(key)

    def _field(self, key: str) -> str:
        """The sentence of one field; where there is none of its own, what was and what is."""
        old, new = (self._value(side, key) for side in (self.change.before, self.change.after))
        if key == "scope":
            old, new = (reach(side.scope, "", self.say)[0] for side in (self.change.before, self.change.after))
        if key in _SENTENCES:
            return self.say(f"change-{key}", old=_argument(old), new=_argument(new))
        return self.say("change-other", field=key, old=_shown(old), new=_shown(new))

    def _value(self, entry: Any, key: str) -> Any:
        fields = {camel(field.name): field.name for field in attrs.fields(type(entry))}
        return getattr(entry, fields[key])

    def _effect(self) -> Iterator[str]:
        for name in ("destructive", "idempotent", "external"):
            old, new = (getattr(side.effect, name, False) for side in (self.change.before, self.change.after))
            if old != new:
                yield self.say(f"change-{name}", new=str(new).lower())

    def _schema(self, key: str) -> Iterator[str]:
        old, new = (self._value(side, key) or {} for side in (self.change.before, self.change.after))
        found = dict(_properties(old, new))
        for what, names in found.items():
            yield self.say(f"properties-{what}", part=key, names=listed(names))
        if not found:
            yield self.say("properties-other", part=key)


_SCHEMAS = ("inputSchema", "outputSchema")
_SENTENCES = ("posture", "scope", "permission", "approval", "deadlineSeconds", "maxResult", "params")


def _properties(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """How two schemas of objects differ in their properties, as far as one level shows."""
    before, after = (_object(side.get("properties")) for side in (old, new))
    needed = [{one for one in _list(side.get("required")) if isinstance(one, str)} for side in (old, new)]
    both = [name for name in after if name in before]
    groups: dict[str, Callable[[str], bool]] = {
        "changed": lambda name: canonical(before[name]) != canonical(after[name]),
        "required": lambda name: name in needed[1] - needed[0],
        "optional": lambda name: name in needed[0] - needed[1],
    }
    if names := [name for name in after if name not in before]:
        yield "new", names
    if names := [name for name in before if name not in after]:
        yield "gone", names
    for what, is_in in groups.items():
        if names := list(filter(is_in, both)):
            yield what, names


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _texts_of(side: Any) -> dict[tuple[str, str], str]:
    """What one side of a change says to people, by locale and by what it says it of."""
    texts = side.get("texts", {}) if isinstance(side, dict) else {}
    return {(locale, name): text for locale, by_name in texts.items() for name, text in by_name.items()}


def _argument(value: Any) -> str | int:
    return value if isinstance(value, (str, int)) else _shown(value)


def _shown(value: Any) -> str:
    """A value as people read it on one line."""
    if isinstance(value, str):
        text = value
    elif isinstance(value, (list, tuple)) and all(isinstance(one, str) for one in value):
        text = ", ".join(value)
    else:
        text = canonical(plain(value))
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 1]}…"
