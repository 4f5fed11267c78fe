"""A Zotero library in every bad state, as an agent meets it: through a real host's gate, the place bound by a grant."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Literal

import pytest
from yazcore import OWNER, Home, Host, Outcome
from yazcore.capabilities.grants import Grant
from yazcore.writing.contract import YAZ

import yaz_plugin_zotero
from yaz_plugin_zotero.sample import make_library

PACKAGE = Path(yaz_plugin_zotero.__file__).parent
GRANT = (
    "Zotero shows its data folder under Settings > Advanced > Files and Folders; grant {} with: "
    "yaz grant zotero fs-read --place zotero-data=DIR"
)
MEND = (
    "so nothing was read from it. Let Zotero check it (Settings > Advanced > Database Maintenance), "
    "or put zotero.sqlite.bak in its place; then try again."
)
NO_ZOTERO = "The zotero.sqlite in the folder granted as zotero-data is not a Zotero database."
HOLDER = Path(__file__).with_name("holder.py")


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    made = Host(YAZ, home=Home(tmp_path / "yaz"), builtin=[PACKAGE], discover=False)
    made.activate()
    yield made
    made.close()


def search(host: Host, zotero: Path | None, query: str) -> Outcome:
    """A search, with that folder bound as the place of Zotero's data."""
    places = {} if zotero is None else {"zotero-data": str(zotero)}
    host.grants.put(Grant(plugin="zotero", places=places))
    return asyncio.run(host.gate.call_tool(OWNER, "zotero__search-library", {"query": query}))


def state_of(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Every file of a folder, with its time."""
    return {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir() if path.is_file()}


@contextmanager
def held(database: Path, mode: str, *commands: str) -> Iterator[None]:
    """Another process has the database open as Zotero has, and has done these commands."""
    with subprocess.Popen(
        [sys.executable, str(HOLDER), str(database), mode], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == "done\n"
        for command in commands:
            process.stdin.write(f"{command}\n")
            process.stdin.flush()
            assert process.stdout.readline() == "done\n"
        try:
            yield
        finally:
            with contextlib.suppress(BrokenPipeError):
                process.stdin.write("quit\n")
                process.stdin.flush()


@pytest.mark.parametrize("mode", ["wal", "rollback"])
def test_a_library_that_zotero_holds_is_read_and_not_touched(
    host: Host, tmp_path: Path, mode: Literal["wal", "rollback"]
) -> None:
    library = make_library(tmp_path / "Zotero", journal=mode)
    with held(library.path, mode, "add A Treatise of Yesterday"):
        before = state_of(library.path.parent)
        found = search(host, library.path.parent, "treatise yesterday")
        assert state_of(library.path.parent) == before
    assert not found.is_error, found.text
    assert found.structured is not None
    assert [item["title"] for item in found.structured["items"]] == ["A Treatise of Yesterday"]


def empty(folder: Path) -> None:
    """A folder in which Zotero never was."""


def another_program(folder: Path) -> None:
    with closing(sqlite3.connect(folder / "zotero.sqlite")) as database:
        database.execute("CREATE TABLE recipes (name TEXT)")


def truncated(folder: Path) -> None:
    whole = make_library(folder / "whole").path
    (folder / "zotero.sqlite").write_bytes(whole.read_bytes()[:20_000])


def no_database(folder: Path) -> None:
    (folder / "zotero.sqlite").write_text("not a database at all" * 100)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (empty, f"The folder granted as zotero-data holds no zotero.sqlite. {GRANT.format('that one')}"),
        (
            another_program,
            f"{NO_ZOTERO} {GRANT.format('that one')}",
        ),
        (
            truncated,
            f"zotero.sqlite is damaged or cut short, or no database at all (database disk image is malformed), {MEND}",
        ),
        (
            no_database,
            f"zotero.sqlite is damaged or cut short, or no database at all (file is not a database), {MEND}",
        ),
    ],
)
def test_a_library_that_is_none_is_named_without_its_path_and_left_alone(
    host: Host, tmp_path: Path, spoil: Callable[[Path], Any], said: str
) -> None:
    folder = tmp_path / "Zotero"
    folder.mkdir()
    spoil(folder)
    before = state_of(folder)
    outcome = search(host, folder, "anything")
    assert (outcome.is_error, outcome.text) == (True, said)
    assert str(tmp_path) not in outcome.text
    assert state_of(folder) == before
    assert host.audit.calls()[-1]["outcome"] == "error"


def test_without_zotero_the_user_is_told_the_command(host: Host) -> None:
    outcome = search(host, None, "anything")
    assert outcome.is_error
    assert outcome.text == f"Zotero's data folder is not granted to this plugin, or is not there. {GRANT.format('it')}"


def test_after_a_bad_library_a_good_one_is_read(host: Host, tmp_path: Path) -> None:
    truncated(tmp_path)
    assert search(host, tmp_path, "mueller").is_error
    found = search(host, tmp_path / "whole", "mueller")
    assert found.structured is not None
    assert found.structured["items"]
