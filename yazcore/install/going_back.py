"""What a version that is gone back to was granted: put back, where the user has not taken it away since."""

from __future__ import annotations

import attrs

from yazcore.capabilities.grants import Grant, Grants
from yazcore.capabilities.standing import standing
from yazcore.installed import Installed
from yazcore.manifest.digests import digests
from yazcore.manifest.messages import texts


def put_back(grants: Grants, installed: Installed) -> bool:
    """Grant the version before what it had, where it would be held without; whether anything was put back.

    What was denied since stays denied, and where the whole grant was taken back there is none to put back.
    """
    manifest = installed.manifest
    if manifest is None or installed.ready:
        return False
    known = digests(manifest, texts(manifest, manifest.locales_in(installed.folder)))

    def change(now: Grant | None) -> Grant | None:  # under the lock: a revocation at this moment is not lost
        before = None if now is None else before_of(now)
        if before is None:
            return now
        stands = standing(manifest, known, attrs.evolve(before, enabled=True), installed.origin)
        return before if stands.state == "allowed" else now

    return grants.change(installed.id, change)


def before_of(grant: Grant) -> Grant | None:
    """A grant as it was for the version before, less what was denied since; None where that is not known. Pure.

    A folder or a program that was chosen since stays chosen. The seal goes: it is of the files of another version.
    """
    earlier = grant.earlier
    if earlier is None:
        return None
    return attrs.evolve(
        grant,
        version=earlier.version,
        capabilities=tuple(one for one in earlier.capabilities if one not in grant.denied),
        places={**earlier.places, **grant.places},
        commands={**earlier.commands, **grant.commands},
        digests=earlier.digests,
        seal="",
        time=earlier.time,
        earlier=None,
    )
