"""What a plugin shows to agents, as one digest for each thing: a change of any part is a change (design 4; G33).

A digest is stored with the user's grant. An update whose digests differ is held until the user has seen it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import attrs

from yazcore.manifest.model import Manifest
from yazcore.manifest.records import camel

Texts = Mapping[str, Mapping[str, str]]
"""What message keys say, by locale and key: `messages.texts`."""


def digests(manifest: Manifest, texts: Texts) -> dict[str, str]:
    """SHA-256 in hex for each tool, resource, prompt and whatever else has a description: `tools/search-library`.

    It covers all that is declared, approval and effect included, and its texts in every locale (`messages.texts`).
    A default counts the same written out and left out; the order of keys does not count.
    """
    return {
        f"{key}/{name_of(entry)}": _digest(entry, texts)
        for key, entries in manifest.provides.declared.items()
        for entry in entries
        if is_pinned(entry)
    }


def is_pinned(entry: Any) -> bool:
    """Whether an entry has a digest: commands and formats only have a name for people."""
    return getattr(entry, "description_key", None) is not None


def name_of(entry: Any) -> str:
    """What identifies an entry among those of its kind."""
    names = ("address", "name", "id", "key", "action")
    found = next((getattr(entry, field) for field in names if hasattr(entry, field)), None)
    return str(found) if found is not None else canonical(plain(entry))  # a host application's own kind has none


def _digest(entry: Any, texts: Texts) -> str:
    import hashlib  # where nothing is granted, no listing needs it

    keys = [key for field in ("name_key", "description_key") if (key := getattr(entry, field, None)) is not None]
    said = {locale: {key: by_key[key] for key in keys if key in by_key} for locale, by_key in texts.items()}
    whole = {"declared": plain(entry), "texts": {locale: by_key for locale, by_key in said.items() if by_key}}
    return hashlib.sha256(canonical(whole).encode("ascii")).hexdigest()


def canonical(value: Any) -> str:
    """Plain data as one text: the same data written differently gives the same."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def plain(value: Any) -> Any:
    """A declaration as plain data, without what is as the default has it: a new optional field changes no digest."""
    if attrs.has(type(value)):
        return {
            camel(field.name): plain(inner)
            for field in attrs.fields(type(value))
            if (inner := getattr(value, field.name)) != field.default
        }
    return [plain(inner) for inner in value] if isinstance(value, tuple) else value
