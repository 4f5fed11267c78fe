"""Granting: from what a plugin asks for and what the user says to one entry of the grants (design 5).

`plan` is pure apart from looking whether folders exist; `commit` writes. Only the user's own commands come here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

import attrs

from yazcore.capabilities.commands import Program, at, look_up
from yazcore.capabilities.commands import chosen as chosen_program
from yazcore.capabilities.grants import Grant, GrantedSet, Grants, RuntimeName, earlier_of
from yazcore.capabilities.kept import Kept, forget, keep
from yazcore.capabilities.places import folder_of, suggestions
from yazcore.capabilities.program_folders import runs_programs
from yazcore.capabilities.standing import granted_set
from yazcore.installed import Installed
from yazcore.kinds import Capability, FsRead, FsWrite, Process
from yazcore.kinds.files import too_wide
from yazcore.kinds.programs import RUN_FROM
from yazcore.manifest.digests import digests
from yazcore.manifest.messages import Messages, files_in, seal, texts_of
from yazcore.manifest.model import Manifest
from yazcore.violations import YazError, errors


@attrs.frozen(kw_only=True)
class Plan:
    """What a grant would say.

    * `granted`: every capability that the plugin would hold; `left_out`: the optional ones that it would not.
    * `again`: those of `granted` that are denied now.
    * `places`: the folder of each place; `commands`: the program for each command (`commands.Program` as text), and
      `missing` the commands for which there is no program.
    * `shipped`: it comes with the application, and holds what is not optional without any grant.
    * `reasons`: what the plugin itself says why, by a capability's identity.
    * `old`: the decisions that it was made from; `adds`: whether it only adds to them (`kinds`).
    * `kept`: what the plugin says of itself, to be kept beside the grant; None where nobody has read it from a file.
    """

    manifest: Manifest
    runtime: RuntimeName
    granted: tuple[Capability, ...]
    left_out: tuple[Capability, ...]
    again: tuple[Capability, ...] = ()
    places: Mapping[str, str]
    commands: Mapping[str, str] = attrs.field(factory=dict)
    missing: tuple[str, ...] = ()
    shipped: bool = False
    reasons: Mapping[str, str] = attrs.field(factory=dict)
    digests: Mapping[str, str]
    seal: str = ""
    old: Grant | None = None
    adds: bool = False
    kept: Kept | None = attrs.field(default=None, repr=False)

    @property
    def asked(self) -> tuple[Capability, ...]:
        """What the plugin would hold by this grant alone: of one that ships, what is optional."""
        return tuple(one for one in self.granted if one.optional or not self.shipped)


def isolation_here() -> str | None:
    """Why no plugin can be isolated on this system, as a sentence without its end; None where it can. Asks the kernel.

    What is asked is the very process that workers come from, so it takes as long as starting one does.
    """
    from yazcore.runtimes.isolated.runtime import IsolatedRuntime

    runtime = IsolatedRuntime()
    try:
        return runtime.why_not()
    finally:
        runtime.close()


def plan(
    installed: Installed,
    old: Grant | None = None,
    *,
    trusted: bool,
    places: Mapping[str, str] = MappingProxyType({}),
    commands: Mapping[str, str] = MappingProxyType({}),
    optional: bool = False,
    kinds: Collection[str] = (),
    isolation: Callable[[], str | None] | None = None,
) -> Plan:
    """What granting this plugin means, after what the user has decided before (`old`).

    * `trusted`: it is to run in the application's own process. Else it is isolated; with `kinds` it stays where it is.
    * `places`: folders by name, in the user's words; one chosen before stays, as long as it is there.
    * `commands`: programs by name; the others are looked up in the system's folders.
    * `optional`: also what is optional. An optional capability that was granted before stays granted.
    * `kinds`: only these kinds (or identities), beside what is granted already; else all that is required. What else
      an update changed is not decided by it.
    * `isolation`: says why no plugin can be isolated here; None: `isolation_here`.

    Raises `YazError`: `manifest-refused`, `already-shipped`, `isolated-unavailable`, `not-granted` and
    `capability-not-declared` (of `kinds`), `place-unknown`, `place-unbound`, `place-missing`, `place-too-wide`,
    `place-runs-programs`, `folder-unfit` (of a `path` in the manifest), `command-unknown`, `command-unfit`.
    """
    manifest = installed.manifest
    if manifest is None:
        count = len(errors(installed.violations))
        raise YazError(
            "manifest-refused", f"the manifest of {installed.id} has {count} violation{'' if count == 1 else 's'}",
            f"yaz show {installed.id} lists them",
        )  # fmt: skip
    shipped = installed.origin != "installed"
    # switched off it holds nothing now, and what was granted stays granted
    held = granted_set(manifest, old and attrs.evolve(old, enabled=True), installed.origin)
    chosen = _chosen(manifest, old, held, optional, kinds, shipped)
    again = tuple(one for one in chosen if one.identity in held.denied)
    if shipped and not again and all(held.holds(one) for one in chosen) and places.keys().isdisjoint(_places(manifest)):
        raise YazError(
            "already-shipped", f"{manifest.id} ships with the application and needs no grant",
            f"yaz disable {manifest.id} switches it off",
        )  # fmt: skip
    stays = bool(kinds) and old is not None and not trusted
    runtime: RuntimeName = old.runtime if stays and old is not None else "trusted" if trusted else "isolated"
    files = files_in(manifest.locales_in(installed.folder))
    said, reading = texts_of(manifest, files), installed.reading
    _judge_paths(manifest.id, chosen)
    programs, missing = _programs(manifest, chosen, old, commands, kinds)
    messages = Messages(manifest.locales_in(installed.folder))
    bound = _bind(manifest, chosen, {**_chosen_before(manifest, old), **places}, runtime == "trusted")
    if runtime == "isolated" and not (stays or shipped) and (why := (isolation or isolation_here)()) is not None:
        raise YazError(
            "isolated-unavailable", f"{manifest.id} would run isolated, which this system cannot do: {why}",
            f"yaz grant {manifest.id} --trusted runs it in yaz's own process, with all of your own rights",
        )  # fmt: skip
    return Plan(
        manifest=manifest,
        runtime=runtime,
        granted=chosen,
        left_out=tuple(one for one in manifest.capabilities if one not in chosen),
        again=again,
        places=bound,
        commands=programs,
        missing=missing,
        shipped=shipped,
        reasons={one.identity: messages.text(one.reason_key) for one in chosen if one.reason_key is not None},
        digests=digests(manifest, said),
        seal="" if reading is None or reading.text is None else seal(reading.text, files),
        old=old,
        adds=bool(kinds),
        kept=None if reading is None else Kept(document=reading.document, texts=said),
    )


def _chosen(
    manifest: Manifest, old: Grant | None, held: GrantedSet, optional: bool, kinds: Collection[str], shipped: bool
) -> tuple[Capability, ...]:
    """The capabilities that the plugin would hold."""
    if not kinds:
        return tuple(one for one in manifest.capabilities if optional or not one.optional or held.holds(one))
    if not shipped and (old is None or not old.given):
        raise YazError(
            "not-granted", f"{manifest.id} has no grant yet, to which something could be added",
            f"yaz grant {manifest.id} grants what it requires",
        )  # fmt: skip
    named = tuple(one for one in manifest.capabilities if one.kind in kinds or one.identity in kinds)
    for kind in kinds:
        if not any(kind in (one.kind, one.identity) for one in named):
            raise _not_declared(manifest.id, kind, manifest.capabilities)
    return tuple(one for one in manifest.capabilities if one in named or held.holds(one))


def _places(manifest: Manifest) -> set[str]:
    return {place for one in manifest.capabilities if (place := getattr(one, "place", None)) is not None}


def _chosen_before(manifest: Manifest, old: Grant | None) -> dict[str, str]:
    """The folders that the user chose for the plugin's places at an earlier grant, as far as they are there still."""
    if old is None:
        return {}
    named = _places(manifest)
    return {name: folder for name, folder in old.places.items() if name in named and Path(folder).is_dir()}


def _programs(
    manifest: Manifest, chosen: tuple[Capability, ...], old: Grant | None, named: Mapping[str, str],
    kinds: Collection[str],
) -> tuple[dict[str, str], tuple[str, ...]]:  # fmt: skip
    """The program for each command that is granted, and the commands without one.

    Granting anew looks each of them up anew; adding to a grant leaves the programs as they are that are there still. A
    program that the user has named stays that one: where another has taken its place, its content is taken over.
    """
    wanted = list(dict.fromkeys(name for one in chosen if isinstance(one, Process) for name in one.commands))
    for name in named:
        if name not in wanted:
            raise YazError(
                "command-unknown", f"{manifest.id} is granted no command {name!r}",
                f"it may name {', '.join(wanted) or 'none'}",
            )  # fmt: skip
    programs: dict[str, str] = {}
    for name in wanted:
        before = Program.of(old.commands.get(name, "")) if old is not None else None
        if name in named:
            programs[name] = str(chosen_program(name, named[name]))
        elif before is not None and kinds and not before.why_not():
            programs[name] = str(before)
        elif (found := look_up(name)) is not None:
            programs[name] = str(found)
        elif before is not None and isinstance(there := at(before.path), Program):
            programs[name] = str(there)
    return programs, tuple(name for name in wanted if name not in programs)


def commit(grants: Grants, planned: Plan) -> Grant:
    """Write the grant. It removes the denials that the plan takes back, and switches a third party's plugin on.

    Raises `YazError` `grant-changed` where the plugin's entry is not the one that the plan was made from: whoever said
    yes to the plan did not see what has been decided since.
    """
    made: list[Grant] = []

    def change(now: Grant | None) -> Grant:
        if now != planned.old:
            raise YazError(
                "grant-changed", f"what is granted to {planned.manifest.id} has changed since this was asked",
                f"yaz show {planned.manifest.id} says what is granted now; grant again if you still want to",
            )  # fmt: skip
        if planned.kept is not None and not planned.shipped and not planned.adds:
            keep(grants.home, planned.manifest.id, planned.kept)
        made.append(_entry(planned))
        return made[0]

    grants.change(planned.manifest.id, change)
    return made[0]


def _entry(planned: Plan) -> Grant:
    """What the grants hold of the plugin after the plan."""
    manifest, old = planned.manifest, planned.old
    again = {one.identity for one in planned.again}
    decided: dict[str, Any] = {
        "capabilities": tuple(one.identity for one in planned.asked),
        "denied": tuple(one for one in (old.denied if old is not None else ()) if one not in again),
        "places": dict(planned.places),
        "commands": dict(planned.commands),
    }
    if planned.adds and old is not None:  # what the plan is silent about stays
        decided["capabilities"] = tuple(dict.fromkeys((*old.capabilities, *decided["capabilities"])))
        decided["places"] = {**old.places, **decided["places"]}
        before = {name: text for name, text in old.commands.items() if name not in planned.missing}
        decided["commands"] = {**before, **decided["commands"]}
    if planned.shipped:  # no grant: only what differs from being shipped
        return attrs.evolve(old if old is not None else Grant(plugin=manifest.id), **decided)
    if planned.adds and old is not None:  # nobody was asked about the version and its contributions
        return attrs.evolve(old, runtime=planned.runtime, enabled=True, **decided)
    return Grant(
        plugin=manifest.id,
        version=manifest.version,
        runtime=planned.runtime,
        enabled=True,
        digests=dict(planned.digests),
        seal=planned.seal,
        time=datetime.now(UTC).isoformat(timespec="seconds"),
        earlier=earlier_of(old, manifest.version),
        **decided,
    )


def answered(grants: Grants, installed: Installed, capability: Capability, yes: bool) -> None:
    """Write the user's answer about one optional capability, at its first use: granted, or denied for good.

    A yes grants nothing where the user has meanwhile denied the capability or switched the plugin off. Raises
    `YazError` where it cannot be granted (`place-unbound`; `not-granted`: the whole grant was taken back meanwhile).
    """
    if not yes:
        grants.revoke(installed.id, capability.identity)
        return
    while True:
        old = grants.get(installed.id)
        if old is not None and (not old.enabled or capability.identity in old.denied):
            return
        try:
            commit(grants, plan(installed, old, trusted=False, kinds=(capability.identity,)))
            return
        except YazError as error:
            if error.code != "grant-changed":
                raise  # else somebody has just decided something: look again


def revoke(grants: Grants, manifest: Manifest | None, plugin_id: str, kind: str | None) -> tuple[str, ...]:
    """Deny every capability of one kind, or with None take the whole grant back. Gives the identities it denied.

    Raises `YazError` `not-granted` or `capability-not-declared`.
    """
    if kind is None:
        if not grants.revoke(plugin_id):
            raise YazError("not-granted", f"{plugin_id} has no grant", "yaz plugins shows what is granted")
        forget(grants.home, plugin_id)
        return ()
    declared = () if manifest is None else manifest.capabilities
    identities = tuple(one.identity for one in declared if one.kind == kind or one.identity == kind)
    if not identities:
        raise _not_declared(plugin_id, kind, declared)
    for identity in identities:
        grants.revoke(plugin_id, identity)
    return identities


def _not_declared(plugin_id: str, kind: str, declared: Sequence[Capability]) -> YazError:
    kinds = sorted({one.kind for one in declared})
    return YazError(
        "capability-not-declared", f"{plugin_id} declares no capability {kind!r}",
        f"it declares {', '.join(kinds) or 'none'}",
    )  # fmt: skip


def _judge_paths(plugin_id: str, chosen: tuple[Capability, ...]) -> None:
    """Refuse folders that the manifest names in full, and that are granted to nobody on this machine."""
    for one in chosen:
        if not isinstance(one, (FsRead, FsWrite)) or one.path is None:
            continue
        real = str(folder_of(one.path).resolve())
        why = too_wide(real) or (RUN_FROM if isinstance(one, FsWrite) and runs_programs(real) else "")
        if why:
            raise YazError(
                "folder-unfit", f"{plugin_id} asks for {one.path!r}, which can be granted to no plugin here: {why}",
                "its author has to ask for another folder, or for a place that you choose",
            )  # fmt: skip


def _bind(
    manifest: Manifest, chosen: tuple[Capability, ...], places: Mapping[str, str], trusted: bool
) -> dict[str, str]:
    """The folder of each place that is needed, or that the user names; a place of what is left out needs none."""
    known = suggestions(manifest)
    written = {capability.place for capability in chosen if isinstance(capability, FsWrite)}
    needed = {getattr(capability, "place", None) for capability in chosen}
    for name in places:
        if name not in known:
            from difflib import get_close_matches

            near = get_close_matches(name, known, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"it names {', '.join(sorted(known)) or 'no place'}"
            raise YazError("place-unknown", f"{manifest.id} names no place {name!r}", hint)
    bound = {}
    for name, suggestion in known.items():
        if name in places:
            folder = folder_of(places[name])
            if not folder.is_dir():
                raise YazError("place-missing", f"the folder for {name!r} is not there", "give a folder that exists")
        elif name not in needed:
            continue
        elif suggestion is not None:
            folder = suggestion
        else:
            raise YazError(
                "place-unbound", f"{manifest.id} needs a folder for {name!r}, and none of its suggestions exists",
                f"yaz grant {manifest.id}{' --trusted' if trusted else ''} --place {name}=FOLDER",
            )  # fmt: skip
        resolved = folder.resolve()
        if why := too_wide(str(resolved)):
            raise YazError(
                "place-too-wide", f"the folder for {name!r} is too wide to be granted: {why}", "give one below it"
            )
        if name in written and runs_programs(str(resolved)):
            raise YazError(
                "place-runs-programs", f"the folder for {name!r} can be written by no plugin: {RUN_FROM}",
                "give one that holds no programs, no Python environment, and nothing that your session starts",
            )  # fmt: skip
        bound[name] = str(resolved)
    return bound
