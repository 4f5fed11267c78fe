"""Distributions as pip leaves them, made in a folder: metadata folders, packages, RECORD."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.manifest.samples import GOOD


def distribution(
    site: Path,
    plugin_id: str = "zotero",
    *,
    name: str | None = None,
    version: str = "0.1.0",
    package: str | None = None,
    entry_points: str | None = None,
    metadata: str | None = "",
    record: Sequence[str] | None = (),
    files: Mapping[str, str] | None = None,
    info: str | None = None,
) -> Path:
    """Install a plugin's distribution into `site`; gives its metadata folder.

    Every part can be another, or None for one that is missing; `record` are lines beside the usual ones.
    """
    name = name if name is not None else f"yaz-plugin-{plugin_id}"
    package = package if package is not None else f"yaz_plugin_{plugin_id.replace('-', '_')}"
    folder = site / (info if info is not None else f"{name.replace('-', '_')}-{version}.dist-info")
    folder.mkdir(parents=True)
    if entry_points is None:
        entry_points = f"[yaz.manifest]\n{plugin_id} = {package}:manifest.json\n"
    if entry_points:
        (folder / "entry_points.txt").write_text(entry_points)
    if metadata is not None:
        (folder / "METADATA").write_text(
            metadata or f"Metadata-Version: 2.4\nName: {name}\nVersion: {version}\n\nName: other\n"
        )
    document = {**GOOD, "id": plugin_id, "version": version, "module": f"{package}.plugin:Plugin"}
    files = files if files is not None else {
        f"{package}/__init__.py": "raise RuntimeError('discovery imported a plugin')\n",
        f"{package}/manifest.json": json.dumps(document),
    }  # fmt: skip
    for path, text in files.items():
        (site / path).parent.mkdir(parents=True, exist_ok=True)
        (site / path).write_text(text)
    if record is not None:
        lines = [
            *(f"{path},," for path in files),
            f"{folder.name}/METADATA,sha256=x,1",
            f"{folder.name}/RECORD,,",
            *record,
        ]
        (folder / "RECORD").write_text("\n".join(lines) + "\n")
    return folder


def editable(folder: Path, source: Path, **more: Any) -> None:
    """Make an installed distribution an editable one of a project folder (PEP 610)."""
    value = {"url": source.as_uri(), "dir_info": {"editable": True}, **more}
    (folder / "direct_url.json").write_text(json.dumps(value))
