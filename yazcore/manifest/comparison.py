"""What a plugin shows to agents, as one digest for each thing: a change of any part is a change (design 4; G33).

A digest is stored with the user's grant. An update whose digests differ is held until the user has seen it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import attrs

from yazcore.manifest.model import Manifest
from yazcore.manifest.records import camel


def digests(manifest: Manifest, texts: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """SHA-256 in hex for each tool, resource, prompt and whatever else has a description: `tools/search-library`.

    It covers all that is declared, approval and effect included, and its texts in every locale (`messages.texts`).
    A default counts the same written out and left out; the order of keys does not count.
    """
    return {
        f"{key}/{_name_of(entry)}": _digest(entry, texts)
        for key, entries in manifest.provides.declared.items()
        for entry in entries
        if getattr(entry, "description_key", None) is not None  # commands and formats only have a name for people
    }


def _name_of(entry: Any) -> str:
    return str(next(getattr(entry, field) for field in ("address", "name", "id", "key") if hasattr(entry, field)))


def _digest(entry: Any, texts: Mapping[str, Mapping[str, str]]) -> str:
    keys = [key for field in ("name_key", "description_key") if (key := getattr(entry, field, None)) is not None]
    said = {locale: {key: by_key[key] for key in keys if key in by_key} for locale, by_key in texts.items()}
    whole = {"declared": _plain(entry), "texts": {locale: by_key for locale, by_key in said.items() if by_key}}
    text = json.dumps(whole, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _plain(value: Any) -> Any:
    """A declaration as plain data, without what is as the default has it: a new optional field changes no digest."""
    if attrs.has(type(value)):
        return {
            camel(field.name): _plain(inner)
            for field in attrs.fields(type(value))
            if (inner := getattr(value, field.name)) != field.default
        }
    return [_plain(inner) for inner in value] if isinstance(value, tuple) else value
