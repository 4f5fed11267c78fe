"""What every test gets: a home of its own, and no plugin of the machine it runs on."""

from __future__ import annotations

from pathlib import Path

import pytest

from yazcore.home import Home


@pytest.fixture(autouse=True)
def _own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("YAZ_HOME", str(folder / "yaz"))
    monkeypatch.setenv("HOME", str(folder))


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "yaz-home")
