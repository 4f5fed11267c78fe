"""A plugin at work, in this process and in a worker: the real services, a Zotero library beside a project, no host."""

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
from hypothesis import settings
from jsonschema import Draft202012Validator
from yazcore import Call, Context, Home, Reading, read
from yazcore.activation import collect
from yazcore.capabilities.broker import Broker
from yazcore.capabilities.context import CallContext, Frame, current
from yazcore.capabilities.denials import DenialLog
from yazcore.capabilities.grants import GrantedSet, RuntimeName
from yazcore.capabilities.services.files import FileService
from yazcore.manifest.messages import Messages
from yazcore.runtimes.base import PluginSource, RunningPlugin
from yazcore.runtimes.isolated.runtime import IsolatedRuntime
from yazcore.writing.contract import YAZ

import yaz_plugin_zotero
from yaz_plugin_zotero.plugin import ADDRESS, ZoteroPlugin
from yaz_plugin_zotero.sample import SampleLibrary, make_library

PACKAGE = Path(yaz_plugin_zotero.__file__).parent
PROJECT_ID = "prj_aaaabbbbcccc"

# How long an example takes says how busy the machine is.
settings.register_profile("yaz", deadline=None)
settings.load_profile("yaz")


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

    plugin: ZoteroPlugin

    def __init__(
        self, base: Path, zotero: Path | None, project: Path, *, denied: str = "", bibliography: str | None = None,
        isolated: IsolatedRuntime | None = None,
    ) -> None:
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
            settings={"bibliography": bibliography},
            data_folder=data,
            message=Messages(PACKAGE / "locales").text,
            log=logging.getLogger("zotero"),
            services={"files": FileService(broker, "zotero", data)},
            publish=lambda data, mime, ttl: "yaz://result/none",
        )
        self._isolated = isolated
        self._running: RunningPlugin | None = None
        if isolated is None:
            self.plugin = self.run("starting", Call(posture="read"), lambda context: ZoteroPlugin(self.context))
        else:
            self._running = self._started(isolated)

    def _started(self, isolated: IsolatedRuntime) -> RunningPlugin:
        running = isolated.start(
            PluginSource(manifest=self.manifest, folder=PACKAGE, context=self.context, contract=YAZ)
        )
        registered = collect(running, YAZ)
        running.hold({
            (kind.key, kind.registered_name(one)): one
            for kind in YAZ.contribution_kinds for one in registered[kind.key]
        })  # fmt: skip
        return running

    def run(self, where: str, call: Call, handler: Callable[..., Any], *arguments: Any) -> Any:
        frame = Frame(plugin="zotero", version="0.1.0", where=where, call=call)
        token = current.set(frame)
        try:
            return handler(CallContext(base=self.context, call=call), *arguments)
        finally:
            current.reset(token)

    def _handled(self, key: str, name: str, method: str, call: Call, arguments: Any) -> Any:
        """What a handler gives, in this process or in a worker."""
        if self._running is None:
            return self.run(f"{key} {name}", call, getattr(self.plugin, method), arguments)
        answer = self._running.submit(key, name, "handler", call, arguments).result(60)
        return answer.structured if key == "tools" else answer

    def unload(self) -> None:
        """Let the plugin let go of its index; the next call takes it again."""
        if self._running is None:
            self.plugin.onunload()
        else:
            self._running.run_hook("onunload", 5)

    def close(self) -> None:
        """End the plugin."""
        self.unload()
        if self._running is not None:
            self._running.close()

    def search(self, query: str = "", **more: Any) -> dict[str, Any]:
        call = Call(posture="read", report=lambda *told: self.progress.append(told))
        found = self._handled("tools", "search-library", "search_library", call, {"query": query, **more})
        return self.promised("search-library", found)

    def titles(self, query: str, **more: Any) -> list[str]:
        return [item["title"] for item in self.search(query, **more)["items"]]

    def cite(self, key: str, **more: Any) -> dict[str, Any]:
        call = Call(posture="write", project=Project(self.project), scope="project", scope_id=PROJECT_ID)
        arguments = {"projectId": PROJECT_ID, "key": key, **more}
        return self.promised("cite-item", self._handled("tools", "cite-item", "cite_item", call, arguments))

    def promised(self, tool: str, result: dict[str, Any]) -> dict[str, Any]:
        """The result, which must be what the manifest says."""
        declared = next(one for one in self.manifest.provides.tools if one.name == tool)
        Draft202012Validator(dict(declared.output_schema or {})).validate(result)
        return result

    def read_item(self, library: str, key: str) -> dict[str, Any]:
        variables = {"library": library, "key": key}
        told: dict[str, Any] = self._handled("resources", ADDRESS, "read_item", Call(posture="read"), variables)
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


@pytest.fixture(scope="session")
def isolated_runtime() -> Iterator[IsolatedRuntime]:
    made = IsolatedRuntime()
    yield made
    made.close()


@pytest.fixture(params=["trusted", "isolated"])
def runtime(request: pytest.FixtureRequest) -> RuntimeName:
    """Each runtime in turn: what the plugin does, it does in both."""
    name: RuntimeName = request.param
    return name


@pytest.fixture
def isolated(runtime: RuntimeName, request: pytest.FixtureRequest) -> IsolatedRuntime | None:
    return request.getfixturevalue("isolated_runtime") if runtime == "isolated" else None


@pytest.fixture
def desk(
    tmp_path: Path, project: Path, finished_library: SampleLibrary, isolated: IsolatedRuntime | None
) -> Iterator[Desk]:
    made = Desk(tmp_path, finished_library.path.parent, project, isolated=isolated)
    yield made
    made.close()


@pytest.fixture
def make_desk(tmp_path: Path, project: Path, isolated: IsolatedRuntime | None) -> Iterator[Callable[..., Desk]]:
    """Desks over any Zotero folder; each has a data folder of its own unless `base` is given."""
    made: list[Desk] = []

    def make(zotero: Path | None, *, base: Path | None = None, **more: Any) -> Desk:
        desk = Desk(base or tmp_path / f"desk-{len(made)}", zotero, project, isolated=isolated, **more)
        made.append(desk)
        return desk

    yield make
    for desk in made:
        desk.close()


def touch(path: Path) -> None:
    """Give a file a time long past, so that it counts as settled."""
    os.utime(path, (1_700_000_000, 1_700_000_000))
