from __future__ import annotations

import stat
import threading

import pytest

from yazcore.capabilities.denials import MOST_BYTES, DenialLog
from yazcore.home import Home


@pytest.fixture
def log(home: Home) -> DenialLog:
    return DenialLog(home)


def targets(log: DenialLog, plugin: str = "zotero") -> list[str]:
    return [entry["target"] for entry in log.of(plugin)]


def test_without_a_file_there_is_no_denial(log: DenialLog) -> None:
    assert log.of("zotero") == []


def test_denials_come_in_the_order_in_which_they_happened(log: DenialLog) -> None:
    for target in ("b", "a", "c"):
        log.record("zotero", "net", target, "out-of-scope", "tools x")
    assert targets(log) == ["b", "a", "c"]
    times = [entry["time"] for entry in log.of("zotero")]
    assert times == sorted(times)


def test_another_process_sees_them(log: DenialLog, home: Home) -> None:
    log.record("zotero", "net", "a", "out-of-scope", "tools x")
    assert targets(DenialLog(home)) == ["a"]


def test_each_plugin_has_its_own(log: DenialLog) -> None:
    log.record("zotero", "net", "a", "out-of-scope", "tools x")
    log.record("arxiv", "net", "b", "out-of-scope", "tools x")
    assert targets(log) == ["a"]


def test_a_target_cannot_forge_another_entry(log: DenialLog) -> None:
    target = 'a"}\n{"plugin": "other"}\x1b[2J\ud800'
    log.record("zotero", "net", target, "out-of-scope", "tools x")
    assert targets(log) == [target]


def test_a_target_is_cut_to_a_bound(log: DenialLog) -> None:
    log.record("zotero", "net", "a" * 5000, "out-of-scope", "tools x")
    assert targets(log) == ["a" * 1000 + "..."]


def test_the_files_are_for_this_user_alone(log: DenialLog, home: Home) -> None:
    log.record("zotero", "net", "a", "out-of-scope", "tools x")
    assert stat.S_IMODE(home.folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(home.path("denials", "zotero.jsonl").stat().st_mode) == 0o600


def test_a_plugin_that_is_refused_all_the_time_fills_two_files_and_keeps_the_newest(log: DenialLog, home: Home) -> None:
    count = 3 * MOST_BYTES // 1000
    for number in range(count):
        log.record("zotero", "net", f"{number:04d}" + "a" * 900, "out-of-scope", "tools x")
    files = [path for path in home.path("denials").iterdir() if path.suffix == ".jsonl"]
    assert len(files) == 2
    assert all(path.stat().st_size <= MOST_BYTES + 2000 for path in files)
    kept = [int(target[:4]) for target in targets(log)]
    assert kept == list(range(kept[0], count))
    assert len(kept) >= MOST_BYTES // 2000


def test_a_line_that_was_cut_off_is_left_out(log: DenialLog, home: Home) -> None:
    log.record("zotero", "net", "a", "out-of-scope", "tools x")
    with home.path("denials", "zotero.jsonl").open("a") as file:
        file.write('{"plugin": "zo\n[]\n')
    log.record("zotero", "net", "b", "out-of-scope", "tools x")
    assert targets(log) == ["a", "b"]


def test_denials_of_several_threads_do_not_mix(log: DenialLog, home: Home) -> None:
    def flood(name: str) -> None:
        own = DenialLog(home)
        for number in range(20):
            own.record("zotero", "net", f"{name}{number}", "out-of-scope", "tools x")

    threads = [threading.Thread(target=flood, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(targets(log)) == sorted(f"{name}{number}" for name in "abcd" for number in range(20))


@pytest.mark.parametrize("plugin", ["", "../grants", "a/b", "A", "a\0"])
def test_what_is_no_plugin_id_names_no_file(log: DenialLog, plugin: str) -> None:
    with pytest.raises(ValueError, match="is no plugin id"):
        log.record(plugin, "net", "a", "out-of-scope", "tools x")
