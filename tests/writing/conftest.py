"""yaz over a folder, opened and closed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.writing.worlds import write
from yazcore import Home
from yazcore.writing.application import WritingApp, open_writing

Open = Callable[..., WritingApp]


@pytest.fixture
def open_on(tmp_path: Path, home: Home) -> Iterator[Open]:
    """`open_on(files, **options)`: yaz over a project with those documents, in the root `thesis`."""
    opened: list[WritingApp] = []

    def start(files: Mapping[str, str | bytes] | None = None, **options: Any) -> WritingApp:
        root = write(tmp_path / "thesis", files if files is not None else {"main.typ": "= One\n"})
        application = open_writing(home, [root], discover=False, **options)
        opened.append(application)
        return application

    yield start
    for application in opened:
        application.close()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The folder that `open_on` opens."""
    return tmp_path / "thesis"
