"""A user's shell, a Typst project, and a shell in which yaz serves."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.commands import DEMO, Served, Shell, install, shell
from tests.writing.worlds import write


@pytest.fixture
def yaz(tmp_path: Path) -> Iterator[Shell]:
    """A shell without plugins but those that ship."""
    with shell(tmp_path / "shell") as made:
        yield made


@pytest.fixture
def thesis(tmp_path: Path) -> Path:
    """A project that compiles."""
    return write(tmp_path / "thesis", {"main.typ": "= One\n== Two\nWords.\n"})


@pytest.fixture
def demo(yaz: Shell) -> Shell:
    """A shell with the plugin `demo`, granted."""
    install(yaz.site, **DEMO)
    assert yaz.here("grant", "demo", "--trusted", "--yes").status == 0
    return yaz


@pytest.fixture(scope="module")
def standing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Shell, Served]]:
    """The same, for all tests of a module that change nothing of it."""
    folder = tmp_path_factory.mktemp("standing")
    thesis = write(folder / "thesis", {"main.typ": "= One\n== Two\nWords.\n"})
    with shell(folder / "shell") as made:
        install(made.site, **DEMO)
        assert made.here("grant", "demo", "--trusted", "--yes").status == 0
        yield made, made.serve(str(thesis))


@pytest.fixture
def served(demo: Shell, thesis: Path) -> Served:
    """yaz, serving `thesis` with the plugin `demo`."""
    return demo.serve(str(thesis))
