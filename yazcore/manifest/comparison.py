"""Two manifests of one plugin held against each other: what the newer asks, adds, removes and changes (design 9)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

import attrs

from yazcore.kinds import Capability
from yazcore.kinds import compare as compare_capabilities
from yazcore.manifest.digests import Texts, canonical, digests, is_pinned, name_of, plain
from yazcore.manifest.model import Manifest
from yazcore.manifest.records import camel

Kind = Literal["added", "removed", "changed"]

Verdict = Literal["same", "narrower", "changed", "wider"]
"""How a newer manifest stands to an older one. `wider`: it asks for more, or agents reach more through it."""

RANK: Mapping[Verdict, int] = {"same": 0, "narrower": 1, "changed": 2, "wider": 3}
"""The verdicts in their order: the worst of all changes is that of the whole."""

ABOUT = ("name", "author", "description", "license", "repository", "min_app_version", "updates")
"""What is compared of the manifest as such; its version differs in every update."""

_NOT_COMPARED = frozenset({"reason_key"})
_WIDER: Mapping[str, str] = {"posture": "write", "scope": "global", "approval": "none"}
"""The values that let more happen: more is changed, in more places, or with fewer questions."""

_NAME = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)")


@attrs.frozen(kw_only=True)
class Change:
    """One thing that two manifests say differently.

    * `what`: where it stands in a manifest: `capabilities`, `permissions`, `settings`, a contribution kind's key
      (`tools`); `plugin` for what the manifest says of itself, `requires` for a Python distribution it needs.
    * `name`: what identifies it there: a kind, an action, the name of a tool.
    * `old`, `new`: as plain data; of what changed, only the keys that differ. None where there was or is none.
      `texts` in them holds what people and models read, by locale.
    * `verdict`: what it means.
    * `before`, `after`: the capability or declaration itself, where it is one.
    """

    what: str
    name: str
    change: Kind
    verdict: Verdict
    old: Any = None
    new: Any = None
    before: Any = attrs.field(default=None, repr=False, eq=False)
    after: Any = attrs.field(default=None, repr=False, eq=False)

    def as_json(self) -> dict[str, Any]:
        """The change as `yaz diff --json` shows it (design 9)."""
        return {"what": self.what, "name": self.name, "change": self.change, "old": self.old, "new": self.new}


@attrs.frozen(kw_only=True)
class Comparison:
    """Every change, in the order of a manifest.

    `unseen` names what agents would meet that they did not before, by digest: `tools/search-library`, new or changed.
    """

    changes: tuple[Change, ...] = ()
    unseen: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """The worst verdict of all changes."""
        return max((change.verdict for change in self.changes), key=RANK.__getitem__, default="same")

    @property
    def needs_consent(self) -> bool:
        """Whether the newer one needs the user's yes: it asks for more, or agents would meet something unseen."""
        return self.verdict == "wider" or bool(self.unseen)

    def as_json(self) -> dict[str, Any]:
        """The comparison as `yaz diff --json` shows it (design 9)."""
        return {"verdict": self.verdict, "changes": [change.as_json() for change in self.changes]}


def compare(
    old: Manifest,
    new: Manifest,
    old_texts: Texts,
    new_texts: Texts,
    *,
    old_requires: Sequence[str] = (),
    new_requires: Sequence[str] = (),
) -> Comparison:
    """How `new` differs from `old`. Pure.

    The texts are those of `messages.texts`; `old_requires`, `new_requires` the Python requirements of both, as written.

    What asks for more, and what agents meet for the first time, is `wider`; so is a tool that comes to write, to count
    for everything, to ask no question, to destroy or to reach out. What is gone is `narrower`. All else is `changed`.
    """
    before, after = digests(old, old_texts), digests(new, new_texts)
    return Comparison(
        changes=(
            *_about(old, new),
            *_capabilities(old, new, old_texts, new_texts),
            *_entries("permissions", old.permissions, new.permissions, old_texts, new_texts),
            *_provided(old, new, old_texts, new_texts),
            *_requirements(old_requires, new_requires),
        ),
        unseen=tuple(name for name, digest in after.items() if before.get(name) != digest),
    )


# -- capabilities ----------------------------------------------------------------------------------------------------


def _capabilities(old: Manifest, new: Manifest, old_texts: Texts, new_texts: Texts) -> Iterator[Change]:
    """Each capability against the one it comes from, by what the kinds themselves say covers what."""
    pairs = dict(_pairs(old.capabilities, new.capabilities))
    for index, after in enumerate(new.capabilities):
        before = old.capabilities[pairs[index]] if index in pairs else None
        if before is not None:
            verdict = _reach(before, after)
        else:
            is_part = any(_reach(one, after) != "wider" for one in old.capabilities)
            verdict = "narrower" if is_part else "wider"
        sides = _Side(before, old_texts, _of_capability), _Side(after, new_texts, _of_capability)
        yield from _change("capabilities", after.kind, *sides, verdict)
    for index, before in enumerate(old.capabilities):
        if index not in pairs.values():
            sides = _Side(before, old_texts, _of_capability), _Side(None, new_texts, _of_capability)
            yield from _change("capabilities", before.kind, *sides, "narrower")


def _pairs(old: Sequence[Capability], new: Sequence[Capability]) -> Iterator[tuple[int, int]]:
    """Which new capability comes from which old one, by index: its equal, else what holds it, what it holds, any."""
    closeness = (
        lambda before, after: before.identity == after.identity,
        lambda before, after: after.within(before),
        lambda before, after: before.within(after),
        lambda before, after: True,
    )
    left = list(range(len(old)))
    unpaired = list(range(len(new)))
    for is_close in closeness:
        for index in list(unpaired):
            after = new[index]
            found = next((at for at in left if old[at].kind == after.kind and is_close(old[at], after)), None)
            if found is not None:
                left.remove(found)
                unpaired.remove(index)
                yield index, found


def _reach(before: Capability, after: Capability) -> Verdict:
    """How far the newer one reaches. What waited for its first use, and is now asked for at once, reaches wider."""
    reach = compare_capabilities(before, after)
    if reach == "wider" or (before.optional and not after.optional):
        return "wider"
    return "narrower" if reach == "narrower" or before.optional != after.optional else "changed"


def _of_capability(capability: Capability) -> dict[str, Any]:
    """A capability as plain data: its targets in their one spelling, and what else it says."""
    targets = capability.targets()
    offers = {
        camel(field.name): plain(value)
        for field in attrs.fields(type(capability))
        if field.name not in _NOT_COMPARED
        and camel(field.name) not in targets
        and (value := getattr(capability, field.name)) != field.default
    }
    return {"kind": capability.kind, **targets, **offers}


# -- contributions, permissions, settings ----------------------------------------------------------------------------


def _provided(old: Manifest, new: Manifest, old_texts: Texts, new_texts: Texts) -> Iterator[Change]:
    for key in dict.fromkeys((*new.provides.declared, *old.provides.declared)):
        yield from _entries(key, old.provides.of(key), new.provides.of(key), old_texts, new_texts)
    yield from _entries("settings", old.provides.settings, new.provides.settings, old_texts, new_texts)


def _entries(what: str, old: Iterable[Any], new: Iterable[Any], old_texts: Texts, new_texts: Texts) -> Iterator[Change]:
    """The entries of one list, by name."""
    before = {name_of(entry): entry for entry in old}
    after = {name_of(entry): entry for entry in new}
    for name in dict.fromkeys((*after, *before)):
        sides = _Side(before.get(name), old_texts, plain), _Side(after.get(name), new_texts, plain)
        yield from _change(what, name, *sides, _meaning(what, before.get(name), after.get(name)))


def _meaning(what: str, old: Any, new: Any) -> Verdict:
    """What it means that an entry is new, gone or changed. What is pinned for agents reaches wider where it is new."""
    if new is None:
        return "narrower"
    if old is None:
        return "wider" if what not in ("permissions", "settings") and is_pinned(new) else "changed"
    return "wider" if _lets_more_happen(old, new) else "changed"


def _lets_more_happen(old: Any, new: Any) -> bool:
    for field, value in _WIDER.items():
        if hasattr(new, field) and getattr(new, field) == value != getattr(old, field):
            return True
    effects = ("destructive", "external")
    if any(_effect(new, name) and not _effect(old, name) for name in effects):
        return True
    caches = [getattr(getattr(one, "cache", None), "scope", None) for one in (old, new)]
    return caches == ["private", "public"]


def _effect(entry: Any, name: str) -> bool:
    return bool(getattr(getattr(entry, "effect", None), name, False))


def _about(old: Manifest, new: Manifest) -> Iterator[Change]:
    for field in ABOUT:
        before, after = plain(getattr(old, field)), plain(getattr(new, field))
        if before != after:
            change: Kind = "added" if before is None else "removed" if after is None else "changed"
            yield Change(what="plugin", name=camel(field), change=change, verdict="changed", old=before, new=after)


def _requirements(old: Sequence[str], new: Sequence[str]) -> Iterator[Change]:
    before, after = _by_distribution(old), _by_distribution(new)
    for name, lines in after.items():
        if name not in before:
            yield Change(what="requires", name=name, change="added", verdict="changed", new=lines)
        elif before[name] != lines:
            yield Change(what="requires", name=name, change="changed", verdict="changed", old=before[name], new=lines)
    for name, lines in before.items():
        if name not in after:
            yield Change(what="requires", name=name, change="removed", verdict="narrower", old=lines)


def _by_distribution(requires: Sequence[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in sorted(set(requires)):
        match = _NAME.match(line)
        name = re.sub(r"[-_.]+", "-", match[1]).lower() if match else line
        found.setdefault(name, []).append(line)
    return found


# -- plain data ------------------------------------------------------------------------------------------------------


@attrs.frozen
class _Side:
    """One of two things that are compared, None where it is not there, and how it is plain data."""

    entry: Any
    texts: Texts
    as_plain: Callable[[Any], dict[str, Any]]

    def as_data(self) -> dict[str, Any]:
        return {} if self.entry is None else {**self.as_plain(self.entry), **_texts(self.entry, self.texts)}


def _change(what: str, name: str, old: _Side, new: _Side, verdict: Verdict) -> Iterator[Change]:
    """The change of one thing, where there is any: of what is in both, only the keys that differ."""
    before, after = old.as_data(), new.as_data()
    given = {"what": what, "name": name, "before": old.entry, "after": new.entry}
    if old.entry is None:
        yield Change(**given, change="added", verdict=verdict, new=after)
    elif new.entry is None:
        yield Change(**given, change="removed", verdict=verdict, old=before)
    elif keys := [key for key in dict.fromkeys((*after, *before)) if _said(before, key) != _said(after, key)]:
        before, after = _differing(before, after), _differing(after, before)
        yield Change(
            **given, change="changed",
            verdict="changed" if verdict == "narrower" and "texts" in keys else verdict,
            old=_only(keys, before, old.entry), new=_only(keys, after, new.entry),
        )  # fmt: skip


def _only(keys: Iterable[str], said: dict[str, Any], entry: Any) -> dict[str, Any]:
    """What is said under these keys, and where nothing is, the default that holds then, if there is one."""
    held = {camel(field.name): getattr(entry, field.name) for field in attrs.fields(type(entry))}
    found = {key: said[key] if key in said else plain(held.get(key)) for key in keys}
    return {key: value for key, value in found.items() if value is not None}


def _said(plain: dict[str, Any], key: str) -> str | None:
    return canonical(plain[key]) if key in plain else None


def _differing(plain: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Plain data of which only those texts are left that the other side does not have so."""
    there = other.get("texts", {})
    texts = {locale: said for locale, said in plain.get("texts", {}).items() if there.get(locale) != said}
    return {**plain, "texts": texts} if texts else {key: value for key, value in plain.items() if key != "texts"}


def _texts(entry: Any, texts: Texts) -> dict[str, Any]:
    """What an entry's message keys say, by locale and by the field that names the key: `name`, `description`."""
    keys = {field.removesuffix("_key"): key for field in _KEYS if (key := getattr(entry, field, None)) is not None}
    said = {
        locale: {field: by_key[key] for field, key in keys.items() if key in by_key}
        for locale, by_key in sorted(texts.items())
    }
    found = {locale: by_field for locale, by_field in said.items() if by_field}
    return {"texts": found} if found else {}


_KEYS = ("name_key", "description_key", "reason_key")
