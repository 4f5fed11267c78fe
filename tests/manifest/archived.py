"""Wheels and sdists as build backends write them, and as nobody should: made by `zipfile` and `tarfile`, in a test."""

from __future__ import annotations

import io
import json
import tarfile
import zipfile
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.manifest.samples import GOOD
from yazcore.manifest.model import Manifest

REQUIRES = ("attrs>=25.1", 'tomli>=2; python_version < "3.11"')

ENGLISH = {
    "why-project": "Writes citations into your documents.",
    "why-web": "Looks up what your library lacks.",
    "permission-read": "Search the library",
    "permission-write": "Cite into projects",
    "command-cite": "Cite something",
    "format-bib": "BibTeX",
    "tool-search": "Finds items by words.",
    "tool-cite": "Cites one item.",
    "resource-item": "Item",
    "resource-item-long": "One item of a library.",
    "resource-libraries": "Libraries",
    "resource-libraries-long": "All libraries.",
    "prompt-review": "Reviews what you cite.",
    "setting": "The file that citations go into",
}
GERMAN = {
    "why-project": "Schreibt Verweise in Ihre Dokumente.",
    "tool-search": "Findet Titel nach Wörtern.",
    "tool-cite": "Zitiert einen Titel.",
}


def ftl(texts: Mapping[str, str]) -> str:
    """A message file."""
    return "".join(f"{key} = {text}\n" for key, text in texts.items())


def manifest_of(plugin_id: str = "zotero", version: str = "0.1.0") -> dict[str, Any]:
    """The good manifest for a plugin of another id or version."""
    text = json.dumps({**GOOD, "id": plugin_id, "version": version})
    for before, after in (
        ('"zotero:', f'"{plugin_id}:'),
        ("yaz://zotero/", f"yaz://{plugin_id}/"),
        ("yaz_plugin_zotero", f"yaz_plugin_{plugin_id.replace('-', '_')}"),
    ):
        text = text.replace(before, after)
    document: dict[str, Any] = json.loads(text)
    return document


def package_files(
    plugin_id: str = "zotero", version: str = "0.1.0", manifest: Mapping[str, Any] | None = None
) -> dict[str, str]:
    """The files of a plugin's package, whose import would leave a trace."""
    package = f"yaz_plugin_{plugin_id.replace('-', '_')}"
    document = manifest if manifest is not None else manifest_of(plugin_id, version)
    return {
        f"{package}/__init__.py": "raise RuntimeError('somebody imported a plugin')\n",
        f"{package}/plugin.py": "class ZoteroPlugin: ...\n",
        f"{package}/manifest.json": json.dumps(document, indent=2, ensure_ascii=False),
        f"{package}/locales/en-US.ftl": ftl(ENGLISH),
        f"{package}/locales/de.ftl": ftl(GERMAN),
    }


def wheel(
    folder: Path,
    *,
    plugin_id: str = "zotero",
    name: str | None = None,
    version: str = "0.1.0",
    manifest: Mapping[str, Any] | None = None,
    files: Mapping[str, str | bytes] | None = None,
    more: Mapping[str, str | bytes] | None = None,
    without: Collection[str] = (),
    entry_points: str | bytes | None = None,
    metadata: str | None = None,
    requires: Sequence[str] = REQUIRES,
    record: str | None = None,
    file_name: str | None = None,
) -> Path:
    """A wheel with a plugin in it. Every part can be another; `more` are files beside, `without` those left out."""
    name = name if name is not None else f"yaz-plugin-{plugin_id}"
    package = f"yaz_plugin_{plugin_id.replace('-', '_')}"
    stem = f"{name.replace('-', '_')}-{version}"
    if metadata is None:
        metadata = f"Metadata-Version: 2.4\nName: {name}\nVersion: {version}\n"
        metadata += "".join(f"Requires-Dist: {one}\n" for one in requires) + "\nA long description.\n"
    if entry_points is None:
        entry_points = f"[yaz.manifest]\n{plugin_id} = {package}:manifest.json\n"
    contents: dict[str, str | bytes] = {
        **(files if files is not None else package_files(plugin_id, version, manifest)),
        **(more or {}),
        f"{stem}.dist-info/METADATA": metadata,
        f"{stem}.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: a test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{stem}.dist-info/entry_points.txt": entry_points,
    }
    listing = f"{stem}.dist-info/RECORD"
    contents = {path: data for path, data in contents.items() if path not in without}
    if listing not in without:
        rows = [f"{path},sha256=x,1" for path in contents] + [f"{listing},,"]
        contents[listing] = record if record is not None else "\n".join(rows) + "\n"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / (file_name if file_name is not None else f"{stem}-py3-none-any.whl")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, data in contents.items():
            archive.writestr(member, data)
    return path


def pyproject(plugin_id: str = "zotero", version: str = "0.1.0", more: str = "") -> str:
    """What a project of that plugin says of itself."""
    package = f"yaz_plugin_{plugin_id.replace('-', '_')}"
    return (
        f'[project]\nname = "yaz-plugin-{plugin_id}"\nversion = "{version}"\ndependencies = ["attrs>=25.1"]\n\n'
        f'[project.entry-points."yaz.manifest"]\n{plugin_id} = "{package}:manifest.json"\n{more}'
    )


def sdist_files(plugin_id: str = "zotero", version: str = "0.1.0", *, below: str = "") -> dict[str, str | bytes]:
    """The files of an sdist, with the package below a folder (`src/`) or at the top."""
    top = f"yaz_plugin_{plugin_id.replace('-', '_')}-{version}"
    headers = f"Metadata-Version: 2.4\nName: yaz-plugin-{plugin_id}\nVersion: {version}\nRequires-Dist: attrs>=25.1\n\n"
    return {
        f"{top}/PKG-INFO": headers,
        f"{top}/pyproject.toml": pyproject(plugin_id, version),
        f"{top}/setup.py": "raise RuntimeError('somebody built an sdist')\n",
        **{f"{top}/{below}{path}": data for path, data in package_files(plugin_id, version).items()},
    }


def tar(path: Path, members: Sequence[tuple[tarfile.TarInfo, bytes]]) -> Path:
    """A gzipped tar file of exactly these members."""
    with tarfile.open(path, "w:gz", format=tarfile.PAX_FORMAT) as archive:
        for info, data in members:
            archive.addfile(info, io.BytesIO(data))
    return path


def member(name: str, data: bytes = b"", **more: Any) -> tuple[tarfile.TarInfo, bytes]:
    """One member of a tar file; `more` replaces what its header says."""
    info = tarfile.TarInfo(name)
    info.size = len(data)
    for key, value in more.items():
        setattr(info, key, value)
    return info, data


def sdist(folder: Path, files: Mapping[str, str | bytes] | None = None, *, file_name: str | None = None) -> Path:
    """An sdist with a plugin in it, or with other files."""
    files = files if files is not None else sdist_files()
    folder.mkdir(parents=True, exist_ok=True)
    name = file_name if file_name is not None else f"{next(iter(files)).partition('/')[0]}.tar.gz"
    contents = [
        member(path, data.encode() if isinstance(data, str) else data, mtime=1.5) for path, data in files.items()
    ]
    return tar(folder / name, contents)


def named_keys(manifest: Manifest) -> set[str]:
    """The message keys that a manifest names."""
    return {key for key, _ in manifest.message_keys()}
