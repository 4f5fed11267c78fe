"""The folders of `yaz install`: their names say which versions are there, and the grants which of them counts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.manifest.installed import distribution
from tests.plugins_in_test import manifest, tool
from yazcore.capabilities.grants import Grants
from yazcore.contract import Contract
from yazcore.granting import commit, plan
from yazcore.home import Home
from yazcore.installed import Installed, survey
from yazcore.manifest.discovery import Skipped
from yazcore.permissions import GLOBAL
from yazcore.plugin_folders import plugin_folders

CONTRACT = Contract(
    number=3, group="yaz.manifest", prefix="yaz-plugin-", host="yaz", version="2.0", scope_kinds=(GLOBAL,)
)
FIND = tool("find", permission="notes:read")


def put(
    home: Home, number: int | str, version: str = "1.0", plugin_id: str = "notes", site: Path | None = None,
    **document: Any,
) -> Path:
    """A version of a plugin in a folder of its own, or beside the host; gives the folder."""
    package = f"yaz_plugin_{plugin_id}"
    described = manifest(plugin_id, version=version, **{"module": f"{package}.plugin:Plugin", **document})
    files = {
        f"{package}/__init__.py": "raise RuntimeError('a plugin was imported')",
        f"{package}/manifest.json": json.dumps(described),
        f"{package}/locales/en-US.ftl": "text = A text\n",
    }
    where = site if site is not None else home.path("plugins", plugin_id, str(number), "site")
    distribution(where, plugin_id, version=version, files=files)
    return where


def look(home: Home, **more: Any) -> tuple[dict[str, Installed], tuple[Skipped, ...]]:
    found, skipped = survey(CONTRACT, Grants(home), **{"path": [], "plugin_folders": plugin_folders(home), **more})
    return {one.id: one for one in found}, skipped


def grant(home: Home, one: Installed) -> None:
    commit(Grants(home), plan(one, Grants(home).get(one.id), trusted=True))


def test_versions_are_the_numbers_in_a_plugins_folder_newest_first(home: Home) -> None:
    for name in ("notes/9/site", "notes/10/site", "other/1"):
        home.path("plugins", name).mkdir(parents=True)
    found = plugin_folders(home)
    assert {name: [one.number for one in versions] for name, versions in found.items()} == {
        "notes": [10, 9], "other": [1]
    }  # fmt: skip
    assert found["notes"][0].site == home.path("plugins", "notes", "10", "site")


@pytest.mark.parametrize(
    "name", [".new-1/1", "notes/.new", "notes/01", "notes/0", "notes/-1", "notes/1.0", "notes/x", "Notes/1", "notes/²",
             "notes/1" + "0" * 9]
)  # fmt: skip
def test_any_other_name_is_no_version(home: Home, name: str) -> None:
    home.path("plugins", name).mkdir(parents=True)
    assert plugin_folders(home) == {}


def test_files_and_links_are_no_versions(home: Home, tmp_path: Path) -> None:
    home.path("plugins", "notes").mkdir(parents=True)
    home.path("plugins", "notes", "1").write_text("")
    home.path("plugins", "notes", "2").symlink_to(tmp_path, target_is_directory=True)
    home.path("plugins", "other").symlink_to(tmp_path, target_is_directory=True)
    assert plugin_folders(home) == {}


def test_without_any_there_is_none_and_nothing_is_made(home: Home) -> None:
    assert plugin_folders(home) == {}
    assert not home.folder.exists()


@pytest.mark.parametrize("text", [None, "{", "[]", "[" * 100_000, '{"brings": 1}'])
def test_a_record_that_cannot_be_read_is_empty(home: Home, text: str | None) -> None:
    root = home.path("plugins", "notes", "1")
    root.mkdir(parents=True)
    if text is not None:
        (root / "install.json").write_text(text)
    (found,) = plugin_folders(home)["notes"]
    assert found.record() == ({"brings": 1} if text and "brings" in text else {})


def test_a_plugin_in_a_folder_of_its_own_is_found_with_that_folder(home: Home) -> None:
    site = put(home, 1)
    found, skipped = look(home)
    assert (found["notes"].state, found["notes"].folders, skipped) == ("held", (site,), ())
    assert found["notes"].folder == site / "yaz_plugin_notes"


def test_a_plugin_beside_the_host_has_no_folders(home: Home, tmp_path: Path) -> None:
    put(home, 0, site=tmp_path / "site")
    found, _ = look(home, path=[str(tmp_path / "site")])
    assert found["notes"].folders == ()


def test_a_newer_version_that_asks_for_no_more_counts_at_once(home: Home) -> None:
    put(home, 1, capabilities=[{"kind": "fs-project"}], provides={"tools": [FIND]})
    grant(home, look(home)[0]["notes"])
    put(home, 2, "2.0", provides={"tools": [FIND]})
    notes = look(home)[0]["notes"]
    assert (notes.version, notes.state, notes.update) == ("2.0", "allowed", None)


def test_an_update_that_asks_for_more_waits_and_the_old_one_goes_on(home: Home) -> None:
    put(home, 1)
    grant(home, look(home)[0]["notes"])
    put(home, 2, "2.0", capabilities=[{"kind": "fs-project"}])
    notes = look(home)[0]["notes"]
    assert (notes.version, notes.state) == ("1.0", "allowed")
    assert notes.status().as_json()["update"] == {
        "version": "2.0",
        "state": "held",
        "reasons": [
            "it asks for more: read the files of the project you work in, except protected ones such as .git and .env"
        ],
    }


def test_an_update_with_a_tool_that_changed_waits(home: Home) -> None:
    put(home, 1, provides={"tools": [FIND]})
    grant(home, look(home)[0]["notes"])
    put(home, 2, "2.0", provides={"tools": [{**FIND, "posture": "write"}]})
    notes = look(home)[0]["notes"]
    assert notes.version == "1.0"
    assert notes.update is not None
    assert notes.update.reasons == (
        "tools/find has changed since it was granted: a call may now change something; before, it only read",
    )


def test_an_update_that_is_refused_waits_too_and_says_what_is_wrong(home: Home) -> None:
    put(home, 1)
    grant(home, look(home)[0]["notes"])
    put(home, 2, "2.0", contract=4)
    notes = look(home)[0]["notes"]
    assert (notes.version, notes.state) == ("1.0", "allowed")
    assert notes.update is not None
    assert notes.update.state == "refused"
    assert notes.status().as_json()["update"]["reasons"] == [notes.update.violations[0].message]


def test_what_is_granted_is_the_version_that_waits_and_then_it_counts(home: Home) -> None:
    put(home, 1)
    grant(home, look(home)[0]["notes"])
    put(home, 2, "2.0", capabilities=[{"kind": "fs-project"}])
    grant(home, look(home)[0]["notes"].to_grant)
    notes = look(home)[0]["notes"]
    assert (notes.version, notes.state, notes.update) == ("2.0", "allowed", None)


def test_without_a_grant_the_newest_is_the_one_to_grant(home: Home) -> None:
    put(home, 1)
    put(home, 2, "2.0")
    notes = look(home)[0]["notes"]
    assert (notes.version, notes.state, notes.update) == ("2.0", "held", None)
    assert notes.to_grant is notes


def test_switched_off_it_is_the_same_version_that_would_run(home: Home) -> None:
    put(home, 1)
    grant(home, look(home)[0]["notes"])
    put(home, 2, "2.0", capabilities=[{"kind": "fs-project"}])
    Grants(home).set_enabled("notes", False)
    notes = look(home)[0]["notes"]
    assert (notes.version, notes.state) == ("1.0", "disabled")


def test_one_that_is_installed_beside_the_host_counts_before_its_folder(home: Home, tmp_path: Path) -> None:
    put(home, 1, "2.0")
    put(home, 0, site=tmp_path / "site")
    found, skipped = look(home, path=[str(tmp_path / "site")])
    assert found["notes"].version == "1.0"
    assert [(one.distribution, one.code) for one in skipped] == [("yaz-plugin-notes", "plugin-twice")]
    assert skipped[0].fix == "keep one: pip uninstall yaz-plugin-notes, or yaz uninstall notes"


def test_nobody_takes_a_shipped_id_from_a_folder_either(home: Home, tmp_path: Path) -> None:
    put(home, 1, plugin_id="typst")
    shipped = tmp_path / "typst"
    shipped.mkdir()
    (shipped / "manifest.json").write_text(json.dumps(manifest("typst", module="typst.plugin:Plugin")))
    found, skipped = look(home, builtin_folders=[shipped])
    assert found["typst"].origin == "builtin"
    assert [one.code for one in skipped] == ["id-reserved"]


def test_a_folder_that_does_not_hold_its_plugin_is_skipped_with_a_reason(home: Home) -> None:
    home.path("plugins", "notes", "1", "site").mkdir(parents=True)
    put(home, 1, plugin_id="other")
    found, skipped = look(home)
    assert list(found) == ["other"]
    assert [(one.distribution, one.code) for one in skipped] == [("yaz-plugin-notes", "plugin-folder-broken")]
    assert skipped[0].message == "its folder plugins/notes/1 in YAZ_HOME does not hold it"


def test_what_is_wrong_with_its_distribution_is_the_reason_where_there_is_one(home: Home) -> None:
    site = put(home, 1)
    (site / "yaz_plugin_notes-1.0.dist-info" / "entry_points.txt").write_text("[yaz.manifest]\nnotes\n")
    _, skipped = look(home)
    assert [one.code for one in skipped] == ["entry-points-broken"]


def test_another_plugin_in_the_folder_of_one_is_nobodys(home: Home) -> None:
    site = put(home, 1)
    put(home, 0, plugin_id="stowaway", site=site)
    found, skipped = look(home)
    assert (list(found), skipped) == (["notes"], ())


def test_a_broken_version_does_not_keep_the_one_before_from_running(home: Home) -> None:
    put(home, 1)
    grant(home, look(home)[0]["notes"])
    home.path("plugins", "notes", "2", "site").mkdir(parents=True)
    found, skipped = look(home)
    assert (found["notes"].version, found["notes"].state) == ("1.0", "allowed")
    assert [one.code for one in skipped] == ["plugin-folder-broken"]


def test_a_folder_that_stands_on_the_hosts_path_is_still_its_plugins_own(home: Home) -> None:
    """So it is while a trusted plugin is active."""
    site = put(home, 1)
    found, skipped = look(home, path=[str(site)])
    assert (found["notes"].folders, skipped) == ((site,), ())
