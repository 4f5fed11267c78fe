"""Installed distributions that no pip has made: whatever lies on the path, finding plugins ends and says what it is."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.manifest.installed import distribution
from tests.manifest.samples import CONTRACT
from yazcore.manifest.discovery import discover
from yazcore.manifest.reading import read_found

PARTS = ("entry_points.txt", "METADATA", "RECORD", "direct_url.json")


def within(seconds: float, act: Callable[[], Any]) -> Any:
    """What `act` gives, if it ends at all; one that hangs fails the test and not the whole run."""
    done: list[Any] = []
    thread = threading.Thread(target=lambda: done.append(act()), daemon=True)
    thread.start()
    thread.join(seconds)
    assert done, "it hangs, or raised"
    return done[0]


def found_beside(site: Path) -> tuple[set[str], Any]:
    """The plugins found on that path, a good one among them, and what was skipped."""
    distribution(site, "good")
    found, skipped = within(20, lambda: discover(CONTRACT, [str(site)]))
    return {one.id for one in found}, skipped


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("kind", ["fifo", "folder", "dangling", "circle", "endless", "unreadable"])
def test_a_file_that_is_none_costs_its_own_distribution_only(tmp_path: Path, part: str, kind: str) -> None:
    path = distribution(tmp_path, "odd") / part
    path.unlink(missing_ok=True)
    match kind:
        case "fifo":
            os.mkfifo(path)
        case "folder":
            path.mkdir()
        case "dangling":
            path.symlink_to("nothing")
        case "circle":
            path.symlink_to(path.name)
        case "endless":
            path.symlink_to("/dev/zero")
        case _:
            path.write_bytes(b"\xff\xfe" + b"\0" * 100)
    found, skipped = found_beside(tmp_path)
    assert "good" in found
    assert all(one.message.isprintable() and one.fix.isprintable() for one in skipped)


@pytest.mark.parametrize("kind", ["fifo", "folder", "circle", "endless"])
def test_a_manifest_that_is_no_file_is_a_violation_or_skipped(tmp_path: Path, kind: str) -> None:
    distribution(tmp_path, "odd")
    path = tmp_path / "yaz_plugin_odd" / "manifest.json"
    path.unlink()
    match kind:
        case "fifo":
            os.mkfifo(path)
        case "folder":
            path.mkdir()
        case "circle":
            path.symlink_to(path.name)
        case _:
            path.symlink_to("/dev/zero")
    distribution(tmp_path, "zotero")
    found, skipped = within(20, lambda: discover(CONTRACT, [str(tmp_path)]))
    readings = {one.id: within(20, lambda one=one: read_found(one, CONTRACT)) for one in found}
    assert readings["zotero"].violations == ()
    assert "odd" not in readings or readings["odd"].manifest is None
    assert "odd" in readings or [one.distribution for one in skipped] == ["yaz-plugin-odd"]


@pytest.mark.parametrize(
    "name", ["\u202eevil", "a\nb", "\x1b[2J", "a" * 250, "..", "yaz_plugin_good-0.0.9", "-", "\udcff"]
)
def test_a_folder_of_an_odd_name_is_no_plugin_and_no_crash(tmp_path: Path, name: str) -> None:
    folder = os.fsencode(tmp_path) + b"/" + os.fsencode(name[:240]) + b".dist-info"
    os.makedirs(folder, exist_ok=True)
    with open(folder + b"/entry_points.txt", "w") as file:
        file.write("[yaz.manifest]\nevil = evil:manifest.json\n")
    found, skipped = found_beside(tmp_path)
    assert "evil" not in found
    assert all(one.message.isprintable() for one in skipped)


def test_a_place_of_the_path_that_is_odd_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "circle").symlink_to("circle")
    distribution(tmp_path / "site", "good")
    places = [str(tmp_path / name) for name in ("file", "fifo", "circle", "nothing", "site", "site")]
    found, _ = within(20, lambda: discover(CONTRACT, places))
    assert [one.id for one in found] == ["good"]
