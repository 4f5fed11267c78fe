"""A plugin with capabilities, a home, and a project to act on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import attrs
import pytest

from yazcore.capabilities.broker import Broker, GrantedSet
from yazcore.capabilities.context import Call, Frame, current
from yazcore.capabilities.denials import DenialLog
from yazcore.capabilities.services import FileService
from yazcore.declarations import Posture
from yazcore.home import Home
from yazcore.kinds import Capability

PLUGIN = "zotero"


@attrs.frozen
class Project:
    """A project of a call."""

    root: Path
    id: str = "prj_aaaaaaaaaaaa"
    name: str = "thesis"


class Setup:
    """One plugin, its broker and its file service; what it holds can be changed at any time."""

    def __init__(self, home: Home, root: Path) -> None:
        self.home = home
        self.denials = DenialLog(home)
        self.project = Project(root)
        self.declared: tuple[Capability, ...] = ()
        self.granted = GrantedSet()

    def hold(self, *capabilities: Capability, places: dict[str, Path] | None = None) -> None:
        self.declared = capabilities
        self.granted = GrantedSet(
            allowed=frozenset(one.identity for one in capabilities),
            places={name: str(folder) for name, folder in (places or {}).items()},
        )

    def broker(self) -> Broker:
        return Broker(
            plugin=PLUGIN,
            version="0.1.0",
            declared=self.declared,
            granted=lambda: self.granted,
            denials=self.denials,
        )

    def files(self, **more: Any) -> FileService:
        return FileService(self.broker(), PLUGIN, self.home.plugin_data(PLUGIN), **more)

    def frame(self, posture: Posture = "write", *, project: Project | None = None) -> Frame:
        call = Call(posture=posture, project=project)
        return Frame(plugin=PLUGIN, version="0.1.0", where="tools cite-item", call=call)

    def call(self, posture: Posture = "write", *, project: bool = True) -> AbstractContextManager[Frame]:
        return entered(self.frame(posture, project=self.project if project else None))

    def recorded(self) -> list[tuple[str, str, str]]:
        return [(one["capability"], one["target"], one["reason"]) for one in self.denials.of(PLUGIN)]


@contextmanager
def entered(frame: Frame) -> Iterator[Frame]:
    token = current.set(frame)
    try:
        yield frame
    finally:
        current.reset(token)


@pytest.fixture
def enter() -> Callable[[Frame], AbstractContextManager[Frame]]:
    return entered


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "thesis"
    folder.mkdir()
    return folder


@pytest.fixture
def setup(home: Home, root: Path) -> Setup:
    return Setup(home, root)
