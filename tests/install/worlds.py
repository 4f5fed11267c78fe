"""Wheels, a folder of them that pip takes for its index, and a host environment that knows of yazcore: all in a test.

pip and uv are the real ones. No network: pip is told by its own environment variables where to look, uv by its file.
"""

from __future__ import annotations

import base64
import hashlib
import json
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import pytest

import yazcore
from tests.testing.projects import package
from yazcore.contract import Contract
from yazcore.home import Home
from yazcore.install import Prepared, place, prepared
from yazcore.plugin_folders import PluginFolder
from yazcore.writing.contract import YAZ

CHECKOUT = Path(yazcore.__file__).parent.parent


def wheel(
    folder: Path,
    name: str,
    version: str = "1.0",
    *,
    files: Mapping[str, str] | None = None,
    requires: Sequence[str] = (),
    entry_points: str = "",
    metadata: str = "",
    tag: str = "py3-none-any",
) -> Path:
    """A wheel as a build writes it, with true hashes."""
    stem = f"{name.replace('-', '_')}-{version}"
    info = f"{stem}.dist-info"
    headers = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{metadata}"
    contents = {
        **(files if files is not None else {f"{name.replace('-', '_')}/__init__.py": f"VERSION = {version!r}\n"}),
        f"{info}/METADATA": headers + "".join(f"Requires-Dist: {one}\n" for one in requires),
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: a test\nRoot-Is-Purelib: true\nTag: {tag}\n",
    }
    if entry_points:
        contents[f"{info}/entry_points.txt"] = entry_points
    rows = []
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{stem}-{tag}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file, text in contents.items():
            data = text.encode()
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            rows.append(f"{file},sha256={digest},{len(data)}\n")
            archive.writestr(file, data)
        archive.writestr(f"{info}/RECORD", "".join(rows) + f"{info}/RECORD,,\n")
    return path


def plugin(
    folder: Path,
    version: str = "1.0",
    *,
    plugin_id: str = "demo",
    requires: Sequence[str] = (),
    more: Mapping[str, str] | None = None,
    scratch: Path,
    entry_points: str = "",
    metadata: str = "",
    **manifest: Any,
) -> Path:
    """A wheel with a plugin that works; `manifest` as `package` takes it, `more` are files beside."""
    name = f"yaz_plugin_{plugin_id}"
    scratch.mkdir(exist_ok=True)
    where = Path(tempfile.mkdtemp(dir=scratch))
    source = package(where, plugin_id=plugin_id, name=name, version=version, **manifest)
    files = {
        file.relative_to(source.parent).as_posix(): file.read_text("utf-8")
        for file in sorted(source.rglob("*"))
        if file.is_file()
    }
    published = f"[yaz.manifest]\n{plugin_id} = {name}:manifest.json\n{entry_points}"
    return wheel(
        folder, f"yaz-plugin-{plugin_id}", version, files={**files, **(more or {})}, requires=requires,
        entry_points=published, metadata=metadata,
    )  # fmt: skip


def host_metadata(site: Path) -> None:
    """Have the metadata of yazcore in a folder of the path, as `pip install -e` of this checkout leaves them."""
    info = site / f"yazcore-{yazcore.__version__}.dist-info"
    info.mkdir(parents=True)
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text("utf-8"))["project"]
    headers = f"Metadata-Version: 2.1\nName: yazcore\nVersion: {yazcore.__version__}\n"
    (info / "METADATA").write_text(headers + "".join(f"Requires-Dist: {one}\n" for one in project["dependencies"]))
    (info / "direct_url.json").write_text(json.dumps({"url": CHECKOUT.as_uri(), "dir_info": {"editable": True}}))
    (info / "RECORD").write_text("")


@attrs.frozen
class World:
    """A user's machine: one home, one environment, one folder of wheels that stands for the index."""

    folder: Path
    home: Home
    site: Path
    index: Path
    contract: Contract = YAZ

    @property
    def path(self) -> list[str]:
        """The host's path."""
        return [str(self.site), *sys.path]

    @property
    def environment(self) -> dict[str, str]:
        """What pip is told."""
        return {
            "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(self.index), "PIP_CONFIG_FILE": "/dev/null",
            "PIP_NO_CACHE_DIR": "1",
        }  # fmt: skip

    def plugin(self, version: str = "1.0", **more: Any) -> Path:
        """A plugin's wheel in the index."""
        return plugin(self.index, version, scratch=self.folder / "source", **more)

    def wheel(self, name: str, version: str = "1.0", **more: Any) -> Path:
        """Any other wheel in the index."""
        return wheel(self.index, name, version, **more)

    def look(self, target: Path | str) -> Prepared:
        """What would be installed; nothing of it is there afterwards."""
        with prepared(str(target), self.contract, self.home, path=self.path) as found:
            return found

    def install(self, target: Path | str) -> PluginFolder:
        """Install it."""
        with prepared(str(target), self.contract, self.home, path=self.path) as found:
            return place(found, self.contract, self.home)

    @property
    def left(self) -> list[str]:
        """What lies in the folder of plugins."""
        top = self.home.path("plugins")
        return sorted(path.relative_to(top).as_posix() for path in top.glob("*/*")) if top.is_dir() else []


def make_world(folder: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """A machine with nothing on it but yaz."""
    made = World(folder, Home(folder / "yaz-home"), folder / "host", folder / "index")
    made.index.mkdir(parents=True)
    host_metadata(made.site)
    for name, value in made.environment.items():
        monkeypatch.setenv(name, value)
    return made
