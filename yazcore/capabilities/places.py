"""Places of plugins: which folder each could be, before the user has said so (design 5).

A module of its own, because listings name what a grant would need and should pay for no granting.
"""

from __future__ import annotations

import os
from pathlib import Path

from yazcore.manifest.model import Manifest


def suggestions(manifest: Manifest) -> dict[str, Path | None]:
    """For each place the manifest names, the first suggested folder that exists, or None."""
    found: dict[str, Path | None] = {}
    for capability in manifest.capabilities:
        place = getattr(capability, "place", None)
        if place is not None:
            candidates = (folder_of(text) for text in getattr(capability, "suggest", None) or ())
            found.setdefault(place, next((path for path in candidates if path.is_dir()), None))
    return found


def folder_of(text: str) -> Path:
    """A folder as a person writes it. `~stranger` stays as it is, and so is no folder."""
    return Path(os.path.expanduser(text))
