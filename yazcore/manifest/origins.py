"""Where an installed distribution came from, as far as the installer recorded it (PEP 610, INSTALLER)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal
from urllib.parse import urlsplit

import attrs

from yazcore.manifest.distributions import Broken, Distribution

Source = Literal["index", "archive", "folder", "vcs"]

_RECORDING = frozenset({"pip", "uv", "poetry", "pdm"})
"""Installers that record every other origin than an index, so that no record means an index."""

_KINDS: Mapping[str, Source] = {"archive_info": "archive", "dir_info": "folder", "vcs_info": "vcs"}


@attrs.frozen(kw_only=True)
class Origin:
    """What is recorded; None for what is not.

    * `source`: `index` (by name, from an index or a folder of wheels: which one, nobody records), `archive` (one file),
      `folder` (a project), `vcs` (a repository).
    * `url`: of what is no index, without a user's name and password.
    * `installer`: who installed it, in small letters.
    * `editable`: it is used where its source lies.
    """

    source: Source | None = None
    url: str | None = None
    installer: str | None = None
    editable: bool = False


def origin_of(distribution: Distribution, source: str | None) -> Origin:
    """What is recorded of a distribution. Never raises.

    `source` is the folder of an editable installation (`Distribution.editable_source`), None for any other.
    """
    installer = _text(distribution, "INSTALLER").split()
    who = installer[0].lower() if installer else None
    if source is not None:
        return Origin(source="folder", url=f"file://{source}", installer=who, editable=True)
    direct = _text(distribution, "direct_url.json")
    if not direct:
        return Origin(source="index" if who in _RECORDING else None, installer=who)
    try:
        value: Any = json.loads(direct)
        url = _without_user(value["url"])
        kind = next(_KINDS[key] for key in _KINDS if isinstance(value.get(key), dict))
    except (ValueError, KeyError, TypeError, AttributeError, StopIteration, RecursionError):
        return Origin(installer=who)
    return Origin(source=kind, url=url, installer=who)


def _text(distribution: Distribution, name: str) -> str:
    try:
        return distribution.read(name) or ""
    except Broken:
        return ""


def _without_user(url: str) -> str:
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
