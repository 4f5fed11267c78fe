"""What every test gets: a home of its own, and no plugin of the machine it runs on."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

from yazcore.capabilities.grants import RuntimeName
from yazcore.home import Home

# How long an example takes says how busy the machine is.
settings.register_profile("yaz", deadline=None)
settings.load_profile("yaz")


@pytest.fixture(autouse=True)
def _own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("YAZ_HOME", str(folder / "yaz"))
    monkeypatch.setenv("HOME", str(folder))


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "yaz-home")


@pytest.fixture(scope="module", params=["trusted", "isolated"])
def runtime(request: pytest.FixtureRequest) -> RuntimeName:
    """Each runtime in turn: what a test says of one plugin holds wherever its code runs."""
    name: RuntimeName = request.param
    return name
