"""One host for a module's tests: what they change of it, they change on one of their own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.mcp.sample import plugin
from tests.mcp.serving import sample_host
from yazcore import Home, Host


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    host = sample_host(Home(tmp_path_factory.mktemp("sample") / "yaz"))
    yield host
    plugin.seen.released.set()
    host.close()


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> Iterator[plugin.Seen]:
    """What the sample's tools do during this test."""
    fresh = plugin.Seen()
    monkeypatch.setattr(plugin, "seen", fresh)
    yield fresh
    fresh.released.set()


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"
