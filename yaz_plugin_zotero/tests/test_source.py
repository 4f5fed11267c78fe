"""Reading while Zotero runs, in every way it holds its database, and what is said where nothing can be read."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import attrs
import pytest
from yazcore import Call, CallContext, CapabilityError, ToolError
from yazcore.capabilities.services.snapshots import copy_bytes

from yaz_plugin_zotero.database import Fingerprint, snapshot
from yaz_plugin_zotero.sample import SampleLibrary, make_library
from yaz_plugin_zotero.source import Source

if TYPE_CHECKING:
    from conftest import Desk

HOLDER = Path(__file__).with_name("holder.py")
BIND = (
    "Zotero shows its data folder under Settings > Advanced > Files and Folders; grant {what} with: "
    "yaz grant zotero fs-read --place zotero-data=DIR"
)


@contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """The database, changed or looked at, and closed again: `with` on a connection only ends its transaction."""
    with closing(sqlite3.connect(path)) as connection, connection:
        yield connection


class Zotero:
    """A second process that holds the database open, as Zotero does while it runs."""

    def __init__(self, path: Path, mode: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(HOLDER), str(path), mode], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._answer()

    def tell(self, command: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(command + "\n")
        self._process.stdin.flush()
        self._answer()

    def _answer(self) -> None:
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == "done\n"

    def quit(self) -> None:
        self._process.communicate("quit\n", timeout=30)

    def kill(self) -> None:
        self._process.kill()
        self._process.communicate(timeout=30)


@pytest.fixture(params=["wal", "rollback"])
def mode(request: pytest.FixtureRequest) -> Literal["wal", "rollback"]:
    found: Literal["wal", "rollback"] = request.param
    return found


@pytest.fixture
def held(tmp_path: Path, mode: Literal["wal", "rollback"]) -> Iterator[tuple[SampleLibrary, Zotero]]:
    library = make_library(tmp_path / "Zotero", userdata=129 if mode == "wal" else 123, journal=mode)
    zotero = Zotero(library.path, mode)
    yield library, zotero
    zotero.quit()


def test_what_zotero_saved_last_is_found_while_it_runs(
    held: tuple[SampleLibrary, Zotero], make_desk: Callable[..., Desk]
) -> None:
    library, zotero = held
    desk = make_desk(library.path.parent)
    zotero.tell("add Fresh title zzfresh")
    assert desk.titles("zzfresh") == ["Fresh title zzfresh"]
    zotero.tell("add Fresher title zzfresh")
    assert sorted(desk.titles("zzfresh")) == ["Fresh title zzfresh", "Fresher title zzfresh"]


def test_what_zotero_has_not_saved_is_not_found(
    held: tuple[SampleLibrary, Zotero], make_desk: Callable[..., Desk]
) -> None:
    library, zotero = held
    desk = make_desk(library.path.parent)
    zotero.tell("begin Unsaved title zzfresh")
    assert desk.titles("zzfresh") == []
    zotero.tell("commit")
    assert desk.titles("zzfresh") == ["Unsaved title zzfresh"]


def test_a_change_that_stands_half_written_in_the_file_is_undone_in_the_copy(
    held: tuple[SampleLibrary, Zotero], make_desk: Callable[..., Desk]
) -> None:
    library, zotero = held
    desk = make_desk(library.path.parent)
    zotero.tell("begin Unsaved title zzfresh")
    zotero.tell("spill")
    assert desk.titles("zzfresh") == []
    assert desk.titles("spilled") == []
    assert desk.titles("brown board") == ["Brown v. Board of Education"]
    zotero.tell("rollback")
    assert desk.titles("spilled") == []


def test_a_copy_without_the_journal_would_hold_what_was_not_saved(tmp_path: Path) -> None:
    library = make_library(tmp_path / "Zotero", userdata=123, journal="rollback")
    zotero = Zotero(library.path, "rollback")
    zotero.tell("begin Unsaved title zzfresh")
    zotero.tell("spill")
    assert b"spilled" in library.path.read_bytes()
    zotero.kill()


def test_the_state_after_a_checkpoint_is_the_same(
    held: tuple[SampleLibrary, Zotero], mode: str, make_desk: Callable[..., Desk]
) -> None:
    library, zotero = held
    desk = make_desk(library.path.parent)
    zotero.tell("add Fresh title zzfresh")
    if mode == "wal":
        zotero.tell("checkpoint")
    assert desk.titles("zzfresh") == ["Fresh title zzfresh"]


def test_zotero_that_was_killed_leaves_a_database_that_can_be_read(
    tmp_path: Path, mode: Literal["wal", "rollback"], make_desk: Callable[..., Desk]
) -> None:
    library = make_library(tmp_path / "Zotero", userdata=129 if mode == "wal" else 123, journal=mode)
    zotero = Zotero(library.path, mode)
    zotero.tell("add Fresh title zzfresh")
    zotero.tell("begin Unsaved title zzunsaved")
    zotero.tell("spill")
    zotero.kill()
    desk = make_desk(library.path.parent)
    assert desk.titles("zzfresh") == ["Fresh title zzfresh"]
    assert desk.titles("zzunsaved") == []


def test_reading_changes_and_creates_nothing_in_zoteros_folder(
    held: tuple[SampleLibrary, Zotero], make_desk: Callable[..., Desk]
) -> None:
    library, zotero = held
    folder = library.path.parent
    zotero.tell("add Fresh title zzfresh")
    folder.chmod(0o500)
    before = {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in folder.iterdir()}
    desk = make_desk(folder)
    assert desk.titles("zzfresh") == ["Fresh title zzfresh"]
    assert {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in folder.iterdir()} == before
    folder.chmod(0o700)


def test_no_copy_of_the_database_stays(desk: Desk) -> None:
    desk.search("")
    assert list(desk.context.data_folder.rglob("*zotero.sqlite*")) == []


def test_an_unchanged_database_is_read_once(finished_library: SampleLibrary, make_desk: Callable[..., Desk]) -> None:
    desk = make_desk(finished_library.path.parent)
    desk.search("")
    index = desk.context.data_folder / "index.sqlite"
    before = index.read_bytes(), index.with_name("index.sqlite-wal").read_bytes()
    desk.search("other")
    desk.search("")
    assert (index.read_bytes(), index.with_name("index.sqlite-wal").read_bytes()) == before


def test_a_database_written_a_moment_ago_may_be_written_again_with_the_same_time(
    tmp_path: Path, make_desk: Callable[..., Desk]
) -> None:
    library = make_library(tmp_path / "Zotero", userdata=123, journal="rollback")
    library.path.touch()
    before = library.path.stat()
    desk = make_desk(library.path.parent)
    assert desk.titles("cost risk") == ["Cost & risk in 50% of public projects"]
    with opened(library.path) as database:
        change(database, library.keys["cost-risk"][1], "Changed zzchanged")
    database.close()
    os.utime(library.path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (library.path.stat().st_size, library.path.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    assert desk.titles("zzchanged") == ["Changed zzchanged"]


def test_the_copy_is_opened_without_a_file_for_sharing(
    finished_library: SampleLibrary, make_desk: Callable[..., Desk]
) -> None:
    desk = make_desk(finished_library.path.parent)

    def look(context: CallContext) -> set[str]:
        with snapshot(context) as copy:
            copy.execute("SELECT COUNT(*) FROM items").fetchone()
            (folder,) = context.data_folder.glob("snapshot-*")
            return {path.name for path in folder.iterdir()}

    assert "zotero.sqlite-shm" not in desk.run("test", Call(posture="read"), look)


def test_a_second_process_uses_the_index_of_the_first(
    tmp_path: Path, library: SampleLibrary, make_desk: Callable[..., Desk]
) -> None:
    first = make_desk(library.path.parent, base=tmp_path / "shared")
    assert first.titles("brown board") == ["Brown v. Board of Education"]
    second = make_desk(library.path.parent, base=tmp_path / "shared")
    second.context.services["files"].copy = None  # it must not be needed
    assert second.titles("brown board") == ["Brown v. Board of Education"]


def test_only_what_changed_is_read_again(library: SampleLibrary, make_desk: Callable[..., Desk]) -> None:
    desk = make_desk(library.path.parent)
    total = desk.search("")["total"]
    with opened(library.path) as database:
        change(database, library.keys["cost-risk"][1], "Changed title zzchanged")
        database.execute(
            "INSERT INTO deletedItems (itemID) SELECT itemID FROM items WHERE key = ?", [library.keys["court"][1]]
        )
    database.close()
    assert desk.titles("zzchanged") == ["Changed title zzchanged"]
    assert desk.titles("cost risk") == []
    assert desk.titles("brown board") == []
    assert desk.search("")["total"] == total - 1


def test_a_change_of_every_item_leaves_an_index_as_if_read_anew(
    library: SampleLibrary, make_desk: Callable[..., Desk]
) -> None:
    desk = make_desk(library.path.parent)
    desk.search("")
    with opened(library.path) as database:
        database.execute("UPDATE items SET clientDateModified = '2026-03-03 03:03:03'")
        database.execute("UPDATE itemDataValues SET value = value || ' zzall' WHERE value LIKE '%paper%'")
    database.close()
    fresh = make_desk(library.path.parent)
    for query in ("zzall", "paper", "journal", "müller", ""):
        left, right = desk.search(query, limit=50)["items"], fresh.search(query, limit=50)["items"]
        assert left == right
        assert left
    with opened(desk.context.data_folder / "index.sqlite") as index:
        index.execute("INSERT INTO words (words) VALUES ('integrity-check')")
    index.close()


def test_a_library_that_was_replaced_is_read_anew(
    tmp_path: Path, library: SampleLibrary, make_desk: Callable[..., Desk]
) -> None:
    desk = make_desk(library.path.parent)
    assert desk.titles("brown board") == ["Brown v. Board of Education"]
    library.path.unlink()
    other = make_library(tmp_path / "other", items=3)
    with opened(other.path) as database:
        database.execute("UPDATE itemDataValues SET value = 'Another court' WHERE value LIKE 'Brown v.%'")
        database.execute("UPDATE items SET version = 99")
    database.close()
    shutil.move(other.path, library.path)
    assert desk.titles("brown board") == []
    assert desk.titles("another court") == ["Another court"]


def change(database: sqlite3.Connection, key: str, title: str) -> None:
    item = database.execute("SELECT itemID FROM items WHERE key = ?", (key,)).fetchone()[0]
    value = database.execute("INSERT INTO itemDataValues (value) VALUES (?)", (title,)).lastrowid
    changed = database.execute(
        "UPDATE itemData SET valueID = ? WHERE itemID = ? "
        "AND fieldID = (SELECT fieldID FROM fields WHERE fieldName = 'title')",
        (value, item),
    )
    assert changed.rowcount == 1
    database.execute("UPDATE items SET clientDateModified = '2026-02-02 02:02:02' WHERE itemID = ?", (item,))


def test_an_answer_names_its_source_and_its_age(desk: Desk) -> None:
    source = desk.search("")["source"]
    assert source["name"] == "copy of zotero.sqlite"
    assert source["written"] == "2026-01-05T10:00:00+00:00"
    assert source["current"] is True
    assert source["note"] is None


def test_the_age_is_counted_from_the_last_write() -> None:
    source = Source(written=1_000 * 10**9, current=True, schema=129, journal="wal")
    assert source.as_json(now=1_090.5)["ageSeconds"] == 90
    assert source.as_json(now=500)["ageSeconds"] == 0


def test_the_newest_of_the_files_says_when_zotero_wrote() -> None:
    assert Fingerprint({"zotero.sqlite": (1, 5), "zotero.sqlite-wal": (1, 9)}).written == 9


def test_a_newer_schema_is_read_with_a_note(library: SampleLibrary, make_desk: Callable[..., Desk]) -> None:
    set_schema(library, 140)
    desk = make_desk(library.path.parent)
    found = desk.search("brown board")
    assert [item["title"] for item in found["items"]] == ["Brown v. Board of Education"]
    assert found["source"]["note"] == (
        "The database is of a newer Zotero than this plugin knows (schema 140): something may be missing."
    )


def set_schema(library: SampleLibrary, version: int) -> None:
    with opened(library.path) as database:
        database.execute("UPDATE version SET version = ? WHERE schema = 'userdata'", (version,))
    database.close()


def test_a_database_of_zotero_4_is_refused(library: SampleLibrary, make_desk: Callable[..., Desk]) -> None:
    set_schema(library, 83)
    with pytest.raises(ToolError) as refused:
        make_desk(library.path.parent).search("")
    assert str(refused.value) == (
        "zotero.sqlite was written by Zotero 4 or older (schema 83; 100 is the oldest that can be read). Open it "
        "once with a "
        "current Zotero, which brings it up to date."
    )


def test_a_folder_without_a_database_is_named(tmp_path: Path, make_desk: Callable[..., Desk]) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(ToolError) as refused:
        make_desk(tmp_path / "empty").search("")
    assert str(refused.value) == "The folder granted as zotero-data holds no zotero.sqlite. " + BIND.format(
        what="that one"
    )


def test_a_folder_that_went_away_is_named_without_its_path(tmp_path: Path, make_desk: Callable[..., Desk]) -> None:
    with pytest.raises(ToolError) as refused:
        make_desk(tmp_path / "nowhere").search("")
    assert str(refused.value) == (
        "Zotero's data folder is not granted to this plugin, or is not there (the folder of zotero-data cannot "
        "be opened: "
        "No such file or directory). " + BIND.format(what="it")
    )


@pytest.mark.parametrize("denied", ["", "fs-read"], ids=["no folder bound", "not granted"])
def test_without_a_grant_the_command_that_gives_it_is_named(make_desk: Callable[..., Desk], denied: str) -> None:
    with pytest.raises(ToolError) as refused:
        make_desk(None, denied=denied).search("")
    assert str(refused.value) == (
        "Zotero's data folder is not granted to this plugin, or is not there. " + BIND.format(what="it")
    )


def test_what_the_manifest_does_not_declare_stays_the_brokers_refusal(
    library: SampleLibrary, make_desk: Callable[..., Desk]
) -> None:
    with pytest.raises(CapabilityError) as refused:
        make_desk(library.path.parent, denied="undeclared fs-read").search("")
    assert refused.value.reason == "not-declared"


def test_another_programs_database_is_no_library(tmp_path: Path, make_desk: Callable[..., Desk]) -> None:
    (tmp_path / "Zotero").mkdir()
    with opened(tmp_path / "Zotero" / "zotero.sqlite") as database:
        database.execute("CREATE TABLE items (a)")
    database.close()
    with pytest.raises(ToolError) as refused:
        make_desk(tmp_path / "Zotero").search("")
    assert str(refused.value) == (
        "The zotero.sqlite in the folder granted as zotero-data is not a Zotero database. "
        + BIND.format(what="that one")
    )


def test_an_empty_file_is_no_library(tmp_path: Path, make_desk: Callable[..., Desk]) -> None:
    (tmp_path / "Zotero").mkdir()
    (tmp_path / "Zotero" / "zotero.sqlite").touch()
    with pytest.raises(ToolError, match=r"^The zotero\.sqlite .* is not a Zotero database\."):
        make_desk(tmp_path / "Zotero").search("")


@pytest.mark.parametrize("kept", [1_000, 50_000, 200_000])
def test_a_truncated_database_is_named_and_nothing_is_kept_of_it(
    library: SampleLibrary, make_desk: Callable[..., Desk], kept: int
) -> None:
    os.truncate(library.path, kept)
    desk = make_desk(library.path.parent)
    with pytest.raises(ToolError, match=r"^zotero\.sqlite is damaged or cut short, or no database at all \("):
        desk.search("")
    with opened(desk.context.data_folder / "index.sqlite") as index:
        assert index.execute("SELECT COUNT(*) FROM items").fetchone() == (0,)
    index.close()


def test_a_text_file_is_no_database(tmp_path: Path, make_desk: Callable[..., Desk]) -> None:
    (tmp_path / "Zotero").mkdir()
    (tmp_path / "Zotero" / "zotero.sqlite").write_text("no database " * 100)
    with pytest.raises(ToolError) as refused:
        make_desk(tmp_path / "Zotero").search("")
    assert str(refused.value) == (
        "zotero.sqlite is damaged or cut short, or no database at all (file is not a database), so nothing was "
        "read from it. "
        "Let Zotero check it (Settings > Advanced > Database Maintenance), or put zotero.sqlite.bak in its "
        "place; then try "
        "again."
    )


def test_where_zotero_writes_all_the_time_the_state_before_answers_and_says_so(
    library: SampleLibrary, make_desk: Callable[..., Desk]
) -> None:
    desk = make_desk(library.path.parent)
    assert desk.search("cost risk")["source"]["current"] is True
    with opened(library.path) as database:
        change(database, library.keys["cost-risk"][1], "Changed zzchanged")
    database.close()
    keep_changing(desk, library.path)
    found = desk.search("cost risk")
    assert [item["title"] for item in found["items"]] == ["Cost & risk in 50% of public projects"]
    assert found["source"]["current"] is False
    assert found["source"]["note"] == (
        "Zotero was writing all the time, so this is the state before its last changes: try again for those."
    )


def keep_changing(desk: Desk, path: Path) -> None:
    """Let the database change in the middle of every copy from now on."""
    counter = iter(range(10_000))

    def copying(source: int, target: int, size: int, check: Callable[[], None]) -> None:
        copy_bytes(source, target, size, check)
        os.utime(path, (1_800_000_000 + next(counter),) * 2)

    service = desk.context.services["files"]
    service._snapshots = attrs.evolve(service._snapshots, copy=copying)


def test_a_broken_index_is_made_anew(library: SampleLibrary, make_desk: Callable[..., Desk]) -> None:
    desk = make_desk(library.path.parent)
    (desk.context.data_folder / "index.sqlite").write_text("no database " * 100)
    assert desk.titles("brown board") == ["Brown v. Board of Education"]


def test_an_index_that_breaks_while_in_use_is_thrown_away_and_made_anew(
    library: SampleLibrary, make_desk: Callable[..., Desk]
) -> None:
    desk = make_desk(library.path.parent)
    desk.search("")
    desk.unload()
    index = desk.context.data_folder / "index.sqlite"
    data = bytearray(index.read_bytes())
    data[4096:] = b"\xff" * (len(data) - 4096)
    index.write_bytes(data)
    with pytest.raises(ToolError) as refused:
        desk.search("brown board")
    assert str(refused.value) == (
        "The index of the Zotero library was damaged and is thrown away. Try again: it is made anew."
    )
    assert desk.titles("brown board") == ["Brown v. Board of Education"]


@pytest.mark.parametrize("runtime", ["trusted"], indirect=True)  # it reaches into the plugin
def test_an_index_that_cannot_be_written_is_not_taken_for_a_damaged_library(
    library: SampleLibrary, make_desk: Callable[..., Desk]
) -> None:
    desk = make_desk(library.path.parent)
    desk.plugin._index._open().execute("PRAGMA max_page_count = 20")
    with pytest.raises(ToolError) as refused:
        desk.search("")
    assert str(refused.value) == (
        "The index of the Zotero library cannot be used (database or disk is full). Try again."
    )
    desk.unload()
    assert desk.titles("brown board") == ["Brown v. Board of Education"]


@pytest.mark.parametrize("runtime", ["trusted"], indirect=True)  # it reaches into the plugin
def test_an_index_in_use_by_another_process_is_never_thrown_away(
    library: SampleLibrary, make_desk: Callable[..., Desk], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("yaz_plugin_zotero.index._WAIT_SECONDS", 0.01)
    desk = make_desk(library.path.parent)
    path = desk.context.data_folder / "index.sqlite"
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    other.execute("CREATE TABLE kept (a)")
    with pytest.raises(ToolError) as refused:
        desk.search("")
    assert str(refused.value) == "The index of the Zotero library cannot be used (database is locked). Try again."
    other.execute("COMMIT")
    assert other.execute("SELECT COUNT(*) FROM kept").fetchone() == (0,)
    other.close()


def test_an_index_of_another_format_is_made_anew(library: SampleLibrary, make_desk: Callable[..., Desk]) -> None:
    desk = make_desk(library.path.parent)
    with opened(desk.context.data_folder / "index.sqlite") as index:
        index.execute("CREATE TABLE items (a)")
        index.execute("PRAGMA user_version = 999")
    index.close()
    assert desk.titles("brown board") == ["Brown v. Board of Education"]


def test_reading_tells_how_far_it_is(tmp_path: Path, make_desk: Callable[..., Desk]) -> None:
    make_library(tmp_path / "Zotero", items=1_200)
    desk = make_desk(tmp_path / "Zotero")
    total = desk.search("")["total"]
    assert desk.progress == [
        (500, total, "reading the Zotero library"), (1_000, total, "reading the Zotero library"),
    ]  # fmt: skip
