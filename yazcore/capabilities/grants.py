"""What the user has granted: one entry a plugin in `grants.json`, written by the user's commands only (Y-9, design 5).

A running plugin keeps no copy: every decision asks again, and a file that another process has changed is read anew, so
that a revocation counts from the next operation on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

import attrs

from yazcore.home import Home, Watched
from yazcore.kinds import Capability
from yazcore.violations import YazError

FILE = "grants.json"

RuntimeName = Literal["trusted", "isolated"]


@attrs.frozen(kw_only=True)
class GrantedSet:
    """What a plugin holds at this moment: capability identities allowed and denied, folders by place name, programs.

    `commands` gives for each command the program that its name meant at consent (`commands.Program` as text); None
    where nobody was asked, because the plugin ships with the application.
    """

    allowed: frozenset[str] = frozenset()
    denied: frozenset[str] = frozenset()
    places: Mapping[str, str] = attrs.field(factory=dict)
    commands: Mapping[str, str] | None = attrs.field(factory=dict)

    def holds(self, capability: Capability) -> bool:
        """Whether the capability is allowed, itself or as a part of one that is, and not denied: deny beats allow."""
        identity = capability.identity
        if identity in self.denied:
            return False
        return identity in self.allowed or any(
            wider is not None and capability.within(wider) for wider in map(type(capability).of_identity, self.allowed)
        )

    def decides(self, capability: Capability) -> bool:
        """Whether the user has said yes or no to the capability."""
        return capability.identity in self.denied or self.holds(capability)


@attrs.frozen(kw_only=True)
class Earlier:
    """What was granted to the version before, so that going back to it needs no new decision."""

    version: str
    capabilities: tuple[str, ...] = ()
    places: Mapping[str, str] = attrs.field(factory=dict)
    commands: Mapping[str, str] = attrs.field(factory=dict)
    digests: Mapping[str, str] = attrs.field(factory=dict)
    time: str = ""


@attrs.frozen(kw_only=True)
class Grant:
    """The user's decisions on one plugin.

    * `version`: the plugin's version at the last grant; `time`: when that was (ISO 8601, UTC). Both are empty where
      the plugin was never granted and the entry holds only a denial or that it is switched off. Adding one capability
      to a grant leaves them, as it leaves `digests`, `seal` and `earlier`.
    * `runtime`: where its code runs.
    * `enabled`: whether it may be active at all.
    * `capabilities`, `denied`: identities (`Capability.identity`) that the user allowed, and refused or revoked.
    * `places`: the folder for each place name; `commands`: the program for each command.
    * `digests`: of each tool, resource and prompt as it was when granted (design 4); `seal`: of the files that they
      were made from (`messages.seal`), empty where it is not known.
    * `earlier`: what the last grant for another version said, None where there was none.
    """

    plugin: str
    version: str = ""
    runtime: RuntimeName = "isolated"
    enabled: bool = True
    capabilities: tuple[str, ...] = ()
    denied: tuple[str, ...] = ()
    places: Mapping[str, str] = attrs.field(factory=dict)
    commands: Mapping[str, str] = attrs.field(factory=dict)
    digests: Mapping[str, str] = attrs.field(factory=dict)
    seal: str = ""
    time: str = ""
    earlier: Earlier | None = None

    @property
    def given(self) -> bool:
        """Whether the user has ever granted the plugin."""
        return bool(self.time)

    @property
    def granted_set(self) -> GrantedSet:
        """The decisions as the broker needs them."""
        return GrantedSet(
            allowed=frozenset(self.capabilities), denied=frozenset(self.denied), places=dict(self.places),
            commands=dict(self.commands),
        )  # fmt: skip


def earlier_of(old: Grant | None, version: str) -> Earlier | None:
    """What is kept of a grant when one for this version takes its place."""
    if old is None or not old.given:
        return None
    if old.version == version:
        return old.earlier
    return Earlier(**{name: getattr(old, name) for name in attrs.fields_dict(Earlier)})


class Grants:
    """The grants of one `YAZ_HOME`. Safe from any thread; writing is locked against other processes.

    Every method raises `YazError` where the file cannot be understood: nothing is granted then.
    """

    def __init__(self, home: Home) -> None:
        self._home = home
        self._grants = Watched(home, FILE, _read)

    @property
    def home(self) -> Home:
        """The folder that they are kept in."""
        return self._home

    def get(self, plugin: str) -> Grant | None:
        """The entry of one plugin."""
        return self._grants.now().get(plugin)

    def all(self) -> tuple[Grant, ...]:
        """Every entry, by plugin id."""
        return tuple(grant for _, grant in sorted(self._grants.now().items()))

    def put(self, grant: Grant) -> None:
        """Replace the entry of that plugin."""
        self.change(grant.plugin, lambda old: grant)

    def revoke(self, plugin: str, identity: str | None = None) -> bool:
        """Deny one capability, or with None forget the plugin's grant altogether; whether anything changed.

        A denial stays until it is granted again, and survives updates.
        """

        def deny(old: Grant | None) -> Grant | None:
            if identity is None:
                return None
            grant = old if old is not None else Grant(plugin=plugin)
            return attrs.evolve(
                grant,
                capabilities=tuple(one for one in grant.capabilities if one != identity),
                denied=tuple(dict.fromkeys((*grant.denied, identity))),
            )

        return self.change(plugin, deny)

    def set_enabled(self, plugin: str, enabled: bool) -> bool:
        """Switch the plugin on or off; whether anything changed. It grants nothing."""

        def switch(old: Grant | None) -> Grant | None:
            if old is None:
                return None if enabled else Grant(plugin=plugin, enabled=False)
            return attrs.evolve(old, enabled=enabled)

        return self.change(plugin, switch)

    def change(self, plugin: str, change: Callable[[Grant | None], Grant | None]) -> bool:
        """Replace the entry of that plugin by what `change` makes of it, None for none; whether anything changed.

        `change` is called under the lock, so between what it sees and what it gives nobody decides anything; what it
        raises leaves the file as it is.
        """
        with self._home.locked(FILE):
            grants = _read(self._home.read_json(FILE))
            old = grants.pop(plugin, None)
            new = change(old)
            if new == old:
                return False
            if new is not None:
                grants[plugin] = new
            self._home.write_json(FILE, {"plugins": {one: _as_json(grants[one]) for one in sorted(grants)}})
        return True


def _as_json(grant: Grant) -> dict[str, Any]:
    entry = attrs.asdict(grant, filter=lambda field, value: field.name != "plugin")
    if grant.earlier is None:
        del entry["earlier"]
    return {key: list(value) if isinstance(value, tuple) else value for key, value in entry.items()}


def _read(document: Any) -> dict[str, Grant]:
    if document is None:
        return {}
    plugins = document.get("plugins") if isinstance(document, dict) else None
    if not isinstance(plugins, dict):
        raise _broken("it has no object 'plugins'")
    return {plugin: _read_one(plugin, entry) for plugin, entry in plugins.items()}


def _read_one(plugin: str, entry: Any) -> Grant:
    if not isinstance(entry, dict):
        raise _broken(f"plugins.{plugin} is no object")
    values: dict[str, Any] = {}
    for key, value in entry.items():
        if key not in _SHAPES:
            raise _broken(f"plugins.{plugin} has an unknown key {key!r}")
        if not _SHAPES[key](value):
            raise _broken(f"plugins.{plugin}.{key} is not what it should be")
        values[key] = tuple(value) if isinstance(value, list) else value
    if "earlier" in values:
        values["earlier"] = _earlier(values["earlier"])
    return Grant(plugin=plugin, **values)


def _earlier(entry: Mapping[str, Any]) -> Earlier:
    return Earlier(
        version=entry["version"], capabilities=tuple(entry["capabilities"]), places=entry["places"],
        commands=entry["commands"], digests=entry["digests"], time=entry["time"],
    )  # fmt: skip


def _is_earlier(value: Any) -> bool:
    shapes = {key: _SHAPES[key] for key in attrs.fields_dict(Earlier)}
    return isinstance(value, dict) and value.keys() == shapes.keys() and all(shapes[key](value[key]) for key in shapes)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _is_text_by_text(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_is_text, value.values()))


_SHAPES: dict[str, Callable[[Any], bool]] = {
    "version": _is_text,
    "runtime": lambda value: value in ("trusted", "isolated"),
    "enabled": lambda value: isinstance(value, bool),
    "capabilities": _is_texts,
    "denied": _is_texts,
    "places": _is_text_by_text,
    "commands": _is_text_by_text,
    "digests": _is_text_by_text,
    "seal": _is_text,
    "time": _is_text,
    "earlier": _is_earlier,
}


def _broken(what: str) -> YazError:
    return YazError(
        "grants-broken", f"{FILE} cannot be understood: {what}", "mend the file, or move it away and grant again"
    )
