"""A plugin at work: the real services below it, a Zotero library beside a project, no host around."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

# pytest names these modules after their folders, the outermost of which is called like the package: in a checkout it
# would hide it.
if getattr(sys.modules.get("yaz_plugin_zotero"), "__file__", None) is None:
    sys.modules.pop("yaz_plugin_zotero", None)
    sys.path.insert(0, str(Path(__file__).parents[1]))

import attrs
import pytest
from jsonschema import Draft202012Validator
from yazcore import Call, Context, Home, Reading, read
from yazcore.capabilities.broker import Broker
from yazcore.capabilities.context import CallContext, Frame, current
from yazcore.capabilities.denials import DenialLog
from yazcore.capabilities.grants import GrantedSet
from yazcore.capabilities.services.files import FileService
from yazcore.manifest.messages import Messages
from yazcore.writing.contract import YAZ

import yaz_plugin_zotero
from yaz_plugin_zotero.plugin import ZoteroPlugin
from yaz_plugin_zotero.sample import SampleLibrary, make_library

PACKAGE = Path(yaz_plugin_zotero.__file__).parent
PROJECT_ID = "prj_aaaabbbbcccc"


@pytest.fixture(autouse=True)
def _own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("YAZ_HOME", str(folder / "yaz"))
    monkeypatch.setenv("HOME", str(folder))


@attrs.frozen
class Project:
    root: Path
    id: str = PROJECT_ID
    name: str = "paper"


class Desk:
    """One plugin object with its context: `search` and `cite` call its handlers as the gate does."""

    def __init__(self, base: Path, zotero: Path | None, project: Path, *, denied: str = "") -> None:
        self.zotero = zotero
        self.project = project
        self.reading: Reading = read((PACKAGE / "manifest.json").read_bytes(), YAZ)
        manifest = self.reading.manifest
        assert manifest is not None
        self.manifest = manifest
        self.progress: list[tuple[float, float | None, str]] = []
        granted = GrantedSet(
            allowed=frozenset(one.identity for one in manifest.capabilities if one.kind != denied),
            places={} if zotero is None else {"zotero-data": str(zotero)},
        )
        broker = Broker(
            plugin="zotero",
            version=manifest.version,
            declared=tuple(one for one in manifest.capabilities if f"undeclared {one.kind}" != denied),
            granted=lambda: granted,
            denials=DenialLog(Home(base / "yaz")),
        )
        data = base / "data"
        data.mkdir(parents=True, exist_ok=True)
        self.context = Context(
            plugin="zotero",
            version=manifest.version,
            settings={"bibliography": "references.bib"},
            data_folder=data,
            message=Messages(PACKAGE / "locales").text,
            log=logging.getLogger("zotero"),
            services={"files": FileService(broker, "zotero", data)},
            publish=lambda data, mime, ttl: "yaz://result/none",
        )
        self.plugin = self.run("starting", Call(posture="read"), lambda context: ZoteroPlugin(self.context))

    def run(self, where: str, call: Call, handler: Callable[..., Any], *arguments: Any) -> Any:
        frame = Frame(plugin="zotero", version="0.1.0", where=where, call=call)
        token = current.set(frame)
        try:
            return handler(CallContext(base=self.context, call=call), *arguments)
        finally:
            current.reset(token)

    def search(self, query: str = "", **more: Any) -> dict[str, Any]:
        call = Call(posture="read", report=lambda *told: self.progress.append(told))
        found: dict[str, Any] = self.run(
            "tools search-library", call, self.plugin.search_library, {"query": query, **more}
        )
        return self.promised("search-library", found)

    def titles(self, query: str, **more: Any) -> list[str]:
        return [item["title"] for item in self.search(query, **more)["items"]]

    def cite(self, key: str, **more: Any) -> dict[str, Any]:
        call = Call(posture="write", project=Project(self.project), scope="project", scope_id=PROJECT_ID)
        arguments = {"projectId": PROJECT_ID, "key": key, **more}
        told: dict[str, Any] = self.run("tools cite-item", call, self.plugin.cite_item, arguments)
        return self.promised("cite-item", told)

    def promised(self, tool: str, result: dict[str, Any]) -> dict[str, Any]:
        """The result, which must be what the manifest says."""
        declared = next(one for one in self.manifest.provides.tools if one.name == tool)
        Draft202012Validator(dict(declared.output_schema or {})).validate(result)
        return result

    def read_item(self, library: str, key: str) -> dict[str, Any]:
        told: dict[str, Any] = self.run(
            "resources item", Call(posture="read"), self.plugin.read_item, {"library": library, "key": key}
        )
        return told

    def write(self, name: str, text: str) -> Path:
        path = self.project / name
        path.write_bytes(text.encode())
        return path

    def text(self, name: str) -> str:
        return (self.project / name).read_bytes().decode()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "paper"
    folder.mkdir()
    return folder


@pytest.fixture(scope="session")
def finished_library(tmp_path_factory: pytest.TempPathFactory) -> SampleLibrary:
    """A sample library that no test changes."""
    return make_library(tmp_path_factory.mktemp("zotero"))


@pytest.fixture
def library(tmp_path: Path) -> SampleLibrary:
    """A sample library to do with what one likes."""
    return make_library(tmp_path / "Zotero")


@pytest.fixture
def desk(tmp_path: Path, project: Path, finished_library: SampleLibrary) -> Iterator[Desk]:
    made = Desk(tmp_path, finished_library.path.parent, project)
    yield made
    made.plugin.onunload()


@pytest.fixture
def make_desk(tmp_path: Path, project: Path) -> Iterator[Callable[..., Desk]]:
    """Desks over any Zotero folder; each has a data folder of its own unless `base` is given."""
    made: list[Desk] = []

    def make(zotero: Path | None, *, base: Path | None = None, **more: Any) -> Desk:
        desk = Desk(base or tmp_path / f"desk-{len(made)}", zotero, project, **more)
        made.append(desk)
        return desk

    yield make
    for desk in made:
        desk.plugin.onunload()


def touch(path: Path) -> None:
    """Give a file a time long past, so that it counts as settled."""
    os.utime(path, (1_700_000_000, 1_700_000_000))
