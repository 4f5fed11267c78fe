"""What a plugin said of itself when the user granted it, kept beside the grant: to explain an update, never to decide.

What holds an update are the identities and digests in the grant. Where this is missing, broken or of another grant, the
update is held all the same, with less to say about it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

import attrs

from yazcore.home import Home
from yazcore.violations import YazError

FOLDER = "granted"


@attrs.frozen(kw_only=True)
class Kept:
    """A manifest as plain data, and what its message keys said by locale and key."""

    document: Any
    texts: Mapping[str, Mapping[str, str]]


def keep(home: Home, plugin: str, kept: Kept) -> None:
    """Keep it in the place of what was kept before. Raises `YazError` `home-not-writable`."""
    home.write_json(_name(plugin), {"manifest": kept.document, "texts": kept.texts})


def kept(home: Home, plugin: str) -> Kept | None:
    """What is kept of a plugin, None where nothing is or nobody can read it."""
    try:
        found = home.read_json(_name(plugin))
    except YazError:
        return None
    if not isinstance(found, dict) or not _is_texts(found.get("texts")):
        return None
    return Kept(document=found.get("manifest"), texts=found["texts"])


def forget(home: Home, plugin: str) -> None:
    """Keep nothing of a plugin any more."""
    with contextlib.suppress(OSError):
        home.path(_name(plugin)).unlink()


def _name(plugin: str) -> str:
    return f"{FOLDER}/{plugin}.json"


def _is_texts(value: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(said, dict) and all(isinstance(text, str) for text in said.values()) for said in value.values()
    )
