"""Plugin projects on disk, as an author has them: a package with a manifest, texts and code, and a pyproject.toml."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from yazcore.contract import Contract
from yazcore.permissions import GLOBAL, PROJECT

CONTRACT = Contract(
    number=1, group="yaz.manifest", prefix="yaz-plugin-", host="yaz", version="0.1.0",
    reserved=frozenset({"yaz", "typst"}), scope_kinds=(GLOBAL, PROJECT),
)  # fmt: skip

ECHO: dict[str, Any] = {
    "name": "echo", "descriptionKey": "text", "posture": "read", "scope": "global", "permission": "demo:read",
    "inputSchema": {
        "type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"],
        "additionalProperties": False,
    },
}  # fmt: skip

CODE = """
from yazcore import Tool, hookimpl

class Plugin:
    def __init__(self, context):
        self.context = context

    @hookimpl
    def provide_tools(self):
        return [Tool("echo", self.echo)]

    def echo(self, context, arguments):
        return {"text": arguments["text"]}
"""


def package(
    folder: Path,
    *,
    plugin_id: str = "demo",
    name: str = "yaz_plugin_demo",
    code: str = CODE,
    provides: Mapping[str, Any] | None = None,
    texts: str = "text = A text\n",
    **manifest: Any,
) -> Path:
    """Write a plugin's package below `folder`. `manifest` replaces keys of the manifest; None takes one out."""
    where = folder / name
    (where / "locales").mkdir(parents=True)
    document = {
        "contract": 1, "id": plugin_id, "name": "Demo", "version": "1.0", "minAppVersion": "0.1.0", "author": "Anna",
        "description": "A plugin of a test.", "module": f"{name}.plugin:Plugin", "locales": "locales",
        "permissions": [{"action": f"{plugin_id}:read", "descriptionKey": "text"}],
        "provides": provides if provides is not None else {"tools": [ECHO]},
        **manifest,
    }  # fmt: skip
    (where / "__init__.py").write_text("")
    (where / "plugin.py").write_text(code)
    (where / "manifest.json").write_text(
        json.dumps({key: value for key, value in document.items() if value is not None}, indent=2)
    )
    (where / "locales" / "en-US.ftl").write_text(texts)
    return where


def project(folder: Path, **more: Any) -> Path:
    """Write a project with a package, which pip has not seen; gives the project's folder."""
    package(folder, **more)
    return pyproject(folder)


@contextlib.contextmanager
def installed(folder: Path, *, more_groups: str = "", **more: Any) -> Iterator[None]:
    """Have a plugin installed in a folder that is put on the path, with the metadata that pip writes."""
    where = package(folder, **more)
    info = folder / "yaz_plugin_demo-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: yaz-plugin-demo\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[yaz.manifest]\ndemo = {where.name}:manifest.json\n{more_groups}")
    files = [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]
    (info / "RECORD").write_text("".join(f"{file},,\n" for file in [*files, f"{info.name}/RECORD"]))
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        for name in [name for name in sys.modules if name.partition(".")[0] == where.name]:
            del sys.modules[name]


def pyproject(
    project: Path,
    *,
    name: str = "yaz-plugin-demo",
    version: str | None = '"1.0"',
    entry_points: str = '[project.entry-points."yaz.manifest"]\ndemo = "yaz_plugin_demo:manifest.json"\n',
) -> Path:
    """Write the project's pyproject.toml; `version` is TOML, None for one that the build finds."""
    line = 'dynamic = ["version"]' if version is None else f"version = {version}"
    (project / "pyproject.toml").write_text(f'[project]\nname = "{name}"\n{line}\n\n{entry_points}')
    return project
