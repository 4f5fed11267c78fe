from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.capabilities.conftest import Setup
from yazcore import trees
from yazcore.capabilities.errors import Cancelled, CapabilityError, ServiceError
from yazcore.capabilities.services.beneath import closing, open_by_walk, open_root
from yazcore.capabilities.services.snapshots import CHUNK, TRIES, CopyBytes, Snapshots, copy_bytes
from yazcore.kinds import FsProject, FsRead

NAMES = (("zotero.sqlite",), ("zotero.sqlite-wal",))


def nothing() -> None:
    return None


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "Zotero"
    folder.mkdir()
    (folder / "zotero.sqlite").write_text("main")
    (folder / "zotero.sqlite-wal").write_text("wal")
    return folder


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


def sources(folder: Path) -> Callable[[ExitStack], dict[tuple[str, ...], int | None]]:
    def open_all(stack: ExitStack) -> dict[tuple[str, ...], int | None]:
        root = stack.enter_context(closing(open_root(folder)))
        opened: dict[tuple[str, ...], int | None] = {}
        for parts in NAMES:
            try:
                opened[parts] = stack.enter_context(closing(open_by_walk(root, parts, os.O_RDONLY)))
            except FileNotFoundError:
                opened[parts] = None
        return opened

    return open_all


def contents(data: Path, taken: dict[tuple[str, ...], str]) -> dict[str, str]:
    return {"/".join(parts): (data / path).read_text() for parts, path in taken.items()}


def after_copying(act: Callable[[int], None]) -> CopyBytes:
    """Real copying, and after each file something happens to the source: `act` gets the number of the copy."""
    done = 0

    def copy(source: int, target: int, size: int, check: Callable[[], None]) -> None:
        nonlocal done
        copy_bytes(source, target, size, check)
        done += 1
        act(done)

    return copy


def test_files_are_copied_together_into_one_folder(source: Path, data: Path) -> None:
    taken = Snapshots(folder=data).take("key", sources(source), nothing)
    assert contents(data, taken) == {"zotero.sqlite": "main", "zotero.sqlite-wal": "wal"}
    folders = {Path(path).parent for path in taken.values()}
    assert len(folders) == 1
    assert folders.pop().parts[:2] == ("copies", "key")


def test_an_absent_file_is_left_out(source: Path, data: Path) -> None:
    (source / "zotero.sqlite-wal").unlink()
    taken = Snapshots(folder=data).take("key", sources(source), nothing)
    assert contents(data, taken) == {"zotero.sqlite": "main"}


def test_nothing_is_created_or_changed_at_the_source(source: Path, data: Path) -> None:
    before = [(entry.name, entry.stat().st_mtime_ns, entry.stat().st_ino) for entry in sorted(source.iterdir())]
    source.chmod(0o500)
    Snapshots(folder=data).take("key", sources(source), nothing)
    source.chmod(0o700)
    assert [(entry.name, entry.stat().st_mtime_ns, entry.stat().st_ino) for entry in sorted(source.iterdir())] == before


def test_copies_are_for_this_user_alone(source: Path, data: Path) -> None:
    taken = Snapshots(folder=data).take("key", sources(source), nothing)
    copy = data / taken[NAMES[0]]
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert {stat.S_IMODE(folder.stat().st_mode) for folder in list(copy.parents)[:4]} == {0o700}


def write(path: Path) -> Callable[[int], None]:
    return lambda number: None if number > 1 else (path.write_text("longer than before"), None)[1]


def test_a_file_that_changes_size_while_copying_is_copied_again(source: Path, data: Path) -> None:
    copy = after_copying(write(source / "zotero.sqlite"))
    taken = Snapshots(folder=data, copy=copy).take("key", sources(source), nothing)
    assert contents(data, taken)["zotero.sqlite"] == "longer than before"
    assert len(list((data / "copies/key").iterdir())) == 1


def test_a_file_that_changes_without_changing_size_is_copied_again(source: Path, data: Path) -> None:
    def act(number: int) -> None:
        if number == 1:
            (source / "zotero.sqlite").write_text("MAIN")
            os.utime(source / "zotero.sqlite", ns=(1, 1))

    taken = Snapshots(folder=data, copy=after_copying(act)).take("key", sources(source), nothing)
    assert contents(data, taken)["zotero.sqlite"] == "MAIN"


def test_a_file_that_appears_while_copying_is_in_the_copy(source: Path, data: Path) -> None:
    (source / "zotero.sqlite-wal").unlink()

    def act(number: int) -> None:
        if number == 1:
            (source / "zotero.sqlite-wal").write_text("new wal")

    taken = Snapshots(folder=data, copy=after_copying(act)).take("key", sources(source), nothing)
    assert contents(data, taken) == {"zotero.sqlite": "main", "zotero.sqlite-wal": "new wal"}


def test_a_file_that_goes_away_while_copying_is_not_in_the_copy(source: Path, data: Path) -> None:
    def act(number: int) -> None:
        if number == 2:
            (source / "zotero.sqlite-wal").unlink()

    taken = Snapshots(folder=data, copy=after_copying(act)).take("key", sources(source), nothing)
    assert contents(data, taken) == {"zotero.sqlite": "main"}


def test_a_file_that_is_replaced_by_an_equal_one_is_copied_again(source: Path, data: Path) -> None:
    copies = []

    def act(number: int) -> None:
        copies.append(number)
        if number == 1:
            status = (source / "zotero.sqlite").stat()
            (source / "new").write_text("MAIN")
            os.utime(source / "new", ns=(status.st_atime_ns, status.st_mtime_ns))
            (source / "new").rename(source / "zotero.sqlite")

    taken = Snapshots(folder=data, copy=after_copying(act)).take("key", sources(source), nothing)
    assert contents(data, taken)["zotero.sqlite"] == "MAIN"
    assert copies == [1, 2, 3, 4]


def test_files_that_change_all_the_time_are_given_up(source: Path, data: Path) -> None:
    copies = []

    def act(number: int) -> None:
        copies.append(number)
        os.utime(source / "zotero.sqlite", ns=(number, number))

    with pytest.raises(ServiceError) as caught:
        Snapshots(folder=data, copy=after_copying(act)).take("key", sources(source), nothing)
    assert caught.value.code == "files-changed"
    assert caught.value.message == "the files change all the time, so no copy of one moment could be made"
    assert len(copies) == 2 * TRIES
    assert list((data / "copies/key").iterdir()) == []


def test_the_snapshot_before_the_newest_stays(source: Path, data: Path) -> None:
    snapshots = Snapshots(folder=data)
    taken = [snapshots.take("key", sources(source), nothing) for _ in range(3)]
    assert [(data / one[NAMES[0]]).exists() for one in taken] == [False, True, True]


def test_snapshots_of_other_names_stay(source: Path, data: Path) -> None:
    snapshots = Snapshots(folder=data)
    other = snapshots.take("other", sources(source), nothing)
    for _ in range(3):
        snapshots.take("key", sources(source), nothing)
    assert contents(data, other)["zotero.sqlite"] == "main"


def test_over_the_quota_nothing_is_copied(source: Path, data: Path) -> None:
    data.mkdir()
    (data / "index").write_text("12345678")
    with pytest.raises(ServiceError) as caught:
        Snapshots(folder=data, quota=14).take("key", sources(source), nothing)
    assert caught.value.code == "quota-exceeded"
    assert caught.value.message == (
        "with this the data folder would hold more than the 14 bytes it may: delete what is not needed there"
    )
    assert list((data / "copies/key").iterdir()) == []
    taken = Snapshots(folder=data, quota=15).take("key", sources(source), nothing)
    assert contents(data, taken)["zotero.sqlite"] == "main"


def test_what_a_link_in_the_data_folder_leads_to_is_neither_counted_nor_written(
    source: Path, data: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "large").write_text("x" * 1000)
    data.mkdir()
    (data / "link").symlink_to(elsewhere)
    Snapshots(folder=data, quota=100).take("key", sources(source), nothing)
    (data / "copies/key").rename(data / "copies/was")
    (data / "copies/key").symlink_to(elsewhere)
    with pytest.raises(ServiceError) as caught:
        Snapshots(folder=data, quota=100).take("key", sources(source), nothing)
    assert caught.value.code == "data-folder-broken"
    assert caught.value.message == "there is a link in the data folder where the host writes: remove copies there"
    assert [entry.name for entry in elsewhere.iterdir()] == ["large"]


def test_a_copy_that_is_cancelled_leaves_nothing(source: Path, data: Path) -> None:
    def check() -> None:
        raise Cancelled("over")

    with pytest.raises(Cancelled):
        Snapshots(folder=data).take("key", sources(source), check)
    assert list((data / "copies/key").iterdir()) == []


# --- copying bytes


@pytest.mark.parametrize("size", [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK + 5])
@pytest.mark.parametrize("by_kernel", [True, False])
def test_bytes_are_copied_whole(tmp_path: Path, size: int, by_kernel: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not by_kernel:
        monkeypatch.delattr(os, "copy_file_range")
    (tmp_path / "a").write_bytes(os.urandom(1000) * (size // 1000 + 1))
    with (tmp_path / "a").open("rb+") as source, (tmp_path / "b").open("wb") as target:
        source.truncate(size)
        copy_bytes(source.fileno(), target.fileno(), size, nothing)
    assert (tmp_path / "b").read_bytes() == (tmp_path / "a").read_bytes()


@pytest.mark.parametrize("number", [errno.EXDEV, errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP])
def test_where_the_kernel_cannot_copy_it_is_done_by_hand(
    tmp_path: Path, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cannot(*args: int) -> int:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "copy_file_range", cannot)
    (tmp_path / "a").write_bytes(b"content")
    with (tmp_path / "a").open("rb") as source, (tmp_path / "b").open("wb") as target:
        copy_bytes(source.fileno(), target.fileno(), 7, nothing)
    assert (tmp_path / "b").read_bytes() == b"content"


def test_another_fault_of_the_system_is_not_hidden(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"content")
    with (
        (tmp_path / "a").open("rb") as source,
        open("/dev/full", "wb") as target,
        pytest.raises(OSError, match="No space left"),
    ):
        copy_bytes(source.fileno(), target.fileno(), 7, nothing)


def test_a_file_that_has_become_shorter_ends_the_copy(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"content")
    with (tmp_path / "a").open("rb") as source, (tmp_path / "b").open("wb") as target:
        copy_bytes(source.fileno(), target.fileno(), 1000, nothing)
    assert (tmp_path / "b").read_bytes() == b"content"


# --- through the service


def test_a_plugin_copies_names_of_a_place_even_while_it_only_reads(setup: Setup, source: Path) -> None:
    setup.hold(FsRead(place="zotero-data"), places={"zotero-data": source})
    names = ["zotero.sqlite", "zotero.sqlite-wal", "zotero.sqlite-journal"]
    with setup.call("read", project=False):
        copies = setup.files().copy(names, place="zotero-data")
    data = setup.home.plugin_data("zotero")
    assert {name: (data / path).read_text() for name, path in copies.items()} == {
        "zotero.sqlite": "main",
        "zotero.sqlite-wal": "wal",
    }
    assert setup.recorded() == []


def test_the_names_of_a_copy_keep_their_folders(setup: Setup, root: Path) -> None:
    setup.hold(FsProject())
    (root / "a").mkdir()
    (root / "a/x").write_text("one")
    (root / "x").write_text("two")
    with setup.call("read"):
        copies = setup.files().copy(["a/x", "./x"])
    data = setup.home.plugin_data("zotero")
    assert {name: (data / path).read_text() for name, path in copies.items()} == {"a/x": "one", "./x": "two"}


def test_one_name_that_is_out_of_scope_refuses_the_whole_copy(setup: Setup, root: Path) -> None:
    setup.hold(FsProject())
    (root / "a").write_text("a")
    with setup.call(), pytest.raises(CapabilityError) as caught:
        setup.files().copy(["a", ".git/config"])
    assert caught.value.target == ".git/config"
    copies = setup.home.plugin_data("zotero") / "copies"
    assert [path for path in copies.rglob("*") if path.is_file()] == []


def test_a_copy_of_no_names_is_empty(setup: Setup) -> None:
    setup.hold(FsProject())
    with setup.call():
        assert setup.files().copy([]) == {}


def test_one_name_is_no_list_of_names(setup: Setup) -> None:
    setup.hold(FsProject())
    with setup.call(), pytest.raises(TypeError, match="names is a list of paths"):
        setup.files().copy("zotero.sqlite")


def test_too_many_names_at_once_are_refused(setup: Setup, root: Path) -> None:
    setup.hold(FsProject())
    (root / "a").write_text("a")
    with setup.call():
        assert list(setup.files().copy(["a", *map(str, range(63))])) == ["a"]
        with pytest.raises(ServiceError) as caught:
            setup.files().copy(list(map(str, range(65))))
    assert (caught.value.code, caught.value.message) == (
        "too-many-names",
        "65 names are more than 64: copy fewer at a time",
    )


def test_the_quota_of_the_service_counts(setup: Setup, root: Path) -> None:
    setup.hold(FsProject())
    (root / "a").write_text("12345")
    with setup.call(), pytest.raises(ServiceError) as caught:
        setup.files(quota=4).copy(["a"])
    assert caught.value.code == "quota-exceeded"


def test_a_cancelled_call_copies_nothing(setup: Setup, root: Path) -> None:
    setup.hold(FsProject())
    (root / "a").write_text("a")
    service = setup.files()
    with setup.call() as frame:
        frame.call.cancelled.set()
        with pytest.raises(Cancelled):
            service.copy(["a"])


def test_a_data_folder_without_bottom_takes_copies_and_gives_them_up(source: Path, data: Path) -> None:
    """A plugin can nest folders deeper than a program that recurses can go."""
    shots = Snapshots(folder=data)
    first = shots.take("key", sources(source), nothing)
    folder = data / Path(next(iter(first.values()))).parent
    for _ in range(1500):
        folder = folder / "d"
        os.mkdir(folder)
    for _ in range(2):
        assert contents(data, shots.take("key", sources(source), nothing)) == {
            "zotero.sqlite": "main", "zotero.sqlite-wal": "wal"
        }  # fmt: skip
    assert len(list((data / "copies" / "key").iterdir())) == 2


def test_more_files_than_are_looked_at_are_said(source: Path, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trees, "MOST_ENTRIES", 5)
    (data / "a" / "b" / "c" / "d").mkdir(parents=True)
    with pytest.raises(ServiceError) as caught:
        Snapshots(folder=data).take("key", sources(source), nothing)
    assert caught.value.code == "data-folder-broken"
    assert caught.value.message == (
        "there are more than 5 files and folders in the data folder: delete what is not needed there"
    )
