"""Granting: from what a plugin asks for and what the user says to one entry of the grants (design 5).

`plan` is pure apart from looking whether folders exist; `commit` writes. Only the user's own commands come here.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import attrs

from yazcore.capabilities.grants import Grant, Grants
from yazcore.capabilities.kept import Kept, forget, keep
from yazcore.installed import Installed
from yazcore.kinds import Capability
from yazcore.kinds.files import too_wide
from yazcore.manifest.comparison import digests
from yazcore.manifest.messages import files_in, seal, texts_of
from yazcore.manifest.model import Manifest
from yazcore.violations import YazError, errors


@attrs.frozen(kw_only=True)
class Plan:
    """What a grant would say: the required capabilities, the optional ones left out, the folder of each place.

    `kept` is what the plugin says of itself, to be kept beside the grant; None where nobody has read it from a file.
    """

    manifest: Manifest
    granted: tuple[Capability, ...]
    left_out: tuple[Capability, ...]
    places: Mapping[str, str]
    digests: Mapping[str, str]
    seal: str = ""
    kept: Kept | None = attrs.field(default=None, repr=False)


def suggestions(manifest: Manifest) -> dict[str, Path | None]:
    """For each place the manifest names, the first suggested folder that exists, or None."""
    found: dict[str, Path | None] = {}
    for capability in manifest.capabilities:
        place = getattr(capability, "place", None)
        if place is not None:
            candidates = (_folder(text) for text in getattr(capability, "suggest", None) or ())
            found.setdefault(place, next((path for path in candidates if path.is_dir()), None))
    return found


def plan(installed: Installed, *, trusted: bool, places: Mapping[str, str], optional: bool = False) -> Plan:
    """What granting this plugin means. `places` are the user's words, `NAME` to folder.

    Raises `YazError`: `manifest-refused`, `already-shipped`, `isolated-unavailable`, `place-unknown`, `place-unbound`,
    `place-missing`.
    """
    manifest = installed.manifest
    if manifest is None:
        count = len(errors(installed.violations))
        raise YazError(
            "manifest-refused", f"the manifest of {installed.id} has {count} violation{'' if count == 1 else 's'}",
            f"yaz show {installed.id} lists them",
        )  # fmt: skip
    if installed.origin != "installed":
        raise YazError(
            "already-shipped", f"{manifest.id} ships with the application and needs no grant",
            f"yaz disable {manifest.id} switches it off",
        )  # fmt: skip
    if not trusted:
        raise YazError(
            "isolated-unavailable", f"{manifest.id} would run isolated, which this version cannot do yet",
            f"yaz grant {manifest.id} --trusted runs it in yaz's own process, with all of your own rights",
        )  # fmt: skip
    chosen = tuple(one for one in manifest.capabilities if optional or not one.optional)
    left_out = tuple(one for one in manifest.capabilities if one not in chosen)
    files = files_in(manifest.locales_in(installed.folder))
    said, reading = texts_of(manifest, files), installed.reading
    return Plan(
        manifest=manifest,
        granted=chosen,
        left_out=left_out,
        places=_bind(manifest, chosen, places),
        digests=digests(manifest, said),
        seal="" if reading is None or reading.text is None else seal(reading.text, files),
        kept=None if reading is None else Kept(document=reading.document, texts=said),
    )


def commit(grants: Grants, planned: Plan) -> Grant:
    """Write the grant. It removes earlier denials of what it grants, and switches the plugin on."""
    manifest = planned.manifest
    old = grants.get(manifest.id)
    identities = tuple(one.identity for one in planned.granted)
    grant = Grant(
        plugin=manifest.id,
        version=manifest.version,
        runtime="trusted",
        enabled=True,
        capabilities=identities,
        denied=tuple(one for one in (old.denied if old is not None else ()) if one not in identities),
        places=dict(planned.places),
        digests=dict(planned.digests),
        seal=planned.seal,
        time=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    if planned.kept is not None:
        keep(grants.home, manifest.id, planned.kept)
    grants.put(grant)
    return grant


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
        kinds = sorted({one.kind for one in declared})
        raise YazError(
            "capability-not-declared", f"{plugin_id} declares no capability {kind!r}",
            f"it declares {', '.join(kinds) or 'none'}",
        )  # fmt: skip
    for identity in identities:
        grants.revoke(plugin_id, identity)
    return identities


def _folder(text: str) -> Path:
    """A folder as a person writes it. `~stranger` stays as it is, and so is no folder."""
    return Path(os.path.expanduser(text))


def _bind(manifest: Manifest, chosen: tuple[Capability, ...], places: Mapping[str, str]) -> dict[str, str]:
    """The folder of each place that is needed, or that the user names; a place of what is left out needs none."""
    known = suggestions(manifest)
    needed = {getattr(capability, "place", None) for capability in chosen}
    for name in places:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"it names {', '.join(sorted(known)) or 'no place'}"
            raise YazError("place-unknown", f"{manifest.id} names no place {name!r}", hint)
    bound = {}
    for name, suggestion in known.items():
        if name in places:
            folder = _folder(places[name])
            if not folder.is_dir():
                raise YazError("place-missing", f"the folder for {name!r} is not there", "give a folder that exists")
        elif name not in needed:
            continue
        elif suggestion is not None:
            folder = suggestion
        else:
            raise YazError(
                "place-unbound", f"{manifest.id} needs a folder for {name!r}, and none of its suggestions exists",
                f"yaz grant {manifest.id} --trusted --place {name}=FOLDER",
            )  # fmt: skip
        resolved = folder.resolve()
        if why := too_wide(str(resolved)):
            raise YazError(
                "place-too-wide", f"the folder for {name!r} is too wide to be granted: {why}", "give one below it"
            )
        bound[name] = str(resolved)
    return bound
