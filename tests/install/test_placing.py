"""A plugin into its folder, out of it, and back: with real pip, and nothing left of whatever went wrong."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from typing import Any

import attrs
import pytest

from tests.cli.commands import CHECKOUT
from tests.install.worlds import World
from tests.manifest.installed import distribution
from tests.test_plugin_folders import CONTRACT, FIND, grant, look, put
from tests.testing.projects import ECHO
from yazcore.capabilities.grants import Grants
from yazcore.home import Home
from yazcore.host import Host
from yazcore.install import leftovers, place, placing, prepared, rollback, uninstall
from yazcore.installed import Installed, survey
from yazcore.manifest.discovery import discover
from yazcore.plugin_folders import plugin_folders
from yazcore.plugin_status import NOT_POSSIBLE
from yazcore.serving import call_json
from yazcore.violations import YazError
from yazcore.writing.contract import YAZ

OWN = """
import dep
from yazcore import Tool, hookimpl

class Plugin:
    def __init__(self, context):
        self.version = dep.VERSION

    @hookimpl
    def provide_tools(self):
        return [Tool("echo", lambda context, arguments: {"text": self.version})]
"""


def numbers(home: Home, plugin: str = "demo") -> list[int]:
    return [one.number for one in plugin_folders(home).get(plugin, ())]


# -- in ---------------------------------------------------------------------------------------------------------------


def test_a_plugin_and_what_it_lacks_lie_in_a_folder_of_their_own(world: World) -> None:
    world.wheel("dep", requires=["attrs"])
    wheel = world.plugin(requires=["dep", "yazcore"])
    folder = world.install(wheel)
    assert sorted(one.name for one in folder.site.iterdir()) == [
        "dep", "dep-1.0.dist-info", "yaz_plugin_demo", "yaz_plugin_demo-1.0.dist-info"
    ]  # fmt: skip
    ((found,), skipped) = discover(YAZ, [str(folder.site)])
    assert (found.id, found.version, skipped) == ("demo", "1.0", ())
    record = folder.record()
    assert {key: record[key] for key in ("plugin", "version", "brings")} == {
        "plugin": "demo", "version": "1.0", "brings": {"dep": "1.0"}
    }  # fmt: skip
    direct = json.loads((folder.site / "yaz_plugin_demo-1.0.dist-info" / "direct_url.json").read_text())
    assert direct["url"] == wheel.as_uri()
    assert folder.root.parent.stat().st_mode & 0o077 == 0


def test_nothing_of_it_runs_and_nothing_of_it_is_on_the_hosts_path(world: World) -> None:
    mark = world.folder / "ran"
    code = f"import pathlib; pathlib.Path({str(mark)!r}).touch()\n"
    files = {"dep/__init__.py": code, "dep.pth": code, "sitecustomize.py": code}
    groups = "[pydantic]\nx = dep\n[keyring.backends]\nx = dep\n[console_scripts]\nyaz = dep:x\n"
    world.wheel("dep", files=files, entry_points=groups)
    before = [*sys.path]
    folder = world.install(world.plugin(requires=["dep"], code=code))
    assert (folder.site / "dep.pth").exists()
    subprocess.run(
        [sys.executable, "-c", "import yazcore.cli"], check=True,
        env={"PYTHONPATH": str(CHECKOUT), "YAZ_HOME": str(world.home.folder)},
    )  # fmt: skip
    assert not mark.exists()
    assert sys.path == before


def test_by_name_it_counts_as_from_an_index(world: World) -> None:
    world.plugin()
    folder = world.install("demo")
    assert not (folder.site / "yaz_plugin_demo-1.0.dist-info" / "direct_url.json").exists()
    assert world.look("demo").already


@pytest.mark.parametrize("trusted", [True, False])
def test_a_granted_plugin_works_with_its_own_dependency(world: World, trusted: bool) -> None:
    world.wheel("dep", "3.1")
    world.install(world.plugin(requires=["dep"], code=OWN))
    host = Host(attrs.evolve(YAZ, version="0.1.0"), home=world.home)
    try:
        granted = host.grant("demo", trusted=trusted)
        if granted.confinement.startswith(NOT_POSSIBLE):
            pytest.skip(granted.confinement)
        assert granted.state == "active", granted
        answer = asyncio.run(call_json(host, "demo__echo", {"text": "which?"}))
    finally:
        host.close()
        for name in [one for one in sys.modules if one == "dep" or one.startswith("yaz_plugin_demo")]:
            del sys.modules[name]
    assert answer["structuredContent"] == {"text": "3.1"}


def test_isolated_it_has_its_own_version_of_what_the_host_has_in_another(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    beside = world.folder / "site-packages"
    distribution(beside, name="dep", version="1.0", entry_points="", files={"dep/__init__.py": "VERSION = '1.0'\n"})
    monkeypatch.syspath_prepend(str(beside))
    world.wheel("dep", "3.1")
    world.install(world.plugin(requires=["dep>=3"], code=OWN))
    host = Host(attrs.evolve(YAZ, version="0.1.0"), home=world.home)
    try:
        granted = host.grant("demo", trusted=False)
        if granted.confinement.startswith(NOT_POSSIBLE):
            pytest.skip(granted.confinement)
        answer = asyncio.run(call_json(host, "demo__echo", {"text": "which?"}))
    finally:
        host.close()
    assert answer["structuredContent"] == {"text": "3.1"}


# -- newer ones -------------------------------------------------------------------------------------------------------


def there(world: World, number: int, version: str, **document: Any) -> None:
    """A version that was installed before."""
    put(world.home, number, version, plugin_id="demo", contract=1, minAppVersion="0.1.0", **document)


def demo(world: World) -> Installed:
    found, _ = survey(YAZ, Grants(world.home), path=[], plugin_folders=plugin_folders(world.home))
    return found[0]


def test_an_update_keeps_the_version_that_runs_and_no_older_one(world: World) -> None:
    there(world, 1, "1.0")
    there(world, 2, "1.1")
    world.install(world.plugin("1.2"))
    assert world.left == ["demo/2", "demo/3"]


def test_an_update_that_waits_goes_when_a_newer_one_comes_and_the_one_that_runs_stays(world: World) -> None:
    there(world, 1, "1.0", provides={"tools": [ECHO]})
    grant(world.home, demo(world))
    asks: list[dict[str, Any]] = [{"kind": "fs-project"}]
    there(world, 2, "1.1", capabilities=asks, provides={"tools": [ECHO]})
    world.install(world.plugin("1.2", capabilities=asks))
    assert numbers(world.home) == [3, 1]
    assert (demo(world).version, demo(world).to_grant.version) == ("1.0", "1.2")


def test_an_older_one_is_refused(world: World) -> None:
    there(world, 1, "1.1")
    with pytest.raises(YazError) as refused:
        world.look(world.plugin("1.0"))
    assert (refused.value.code, refused.value.message) == ("install-older", "demo 1.1 is installed, and this is 1.0")


def test_the_same_wheel_is_there_already_and_another_one_of_its_version_is_refused(world: World) -> None:
    wheel = world.plugin("1.1")
    there(world, 1, "1.1")
    assert world.look(wheel).already
    world.home.path("plugins", "demo", "1", "install.json").write_text('{"sha256": "of another one"}')
    with pytest.raises(YazError) as refused:
        world.look(wheel)
    assert refused.value.code == "install-same-version"


# -- whatever goes wrong ----------------------------------------------------------------------------------------------


def test_a_wheel_that_is_exchanged_after_the_question_is_not_installed(world: World) -> None:
    wheel = world.plugin()
    with prepared(str(wheel), YAZ, world.home, path=world.path) as found:
        world.plugin(description="Another one.")
        with pytest.raises(YazError) as refused:
            place(found, YAZ, world.home)
    assert refused.value.code == "installer-failed"
    assert "DO NOT MATCH THE HASHES" in refused.value.message
    assert world.left == []


def test_what_would_stand_in_the_place_of_the_hosts_own_is_refused(world: World) -> None:
    world.wheel("dep", files={"yazcore/evil.py": "", "pluggy.py": ""})
    with pytest.raises(YazError) as refused:
        world.install(world.plugin(requires=["dep"]))
    assert refused.value.code == "install-shadows"
    assert '"pluggy", "yazcore"' in refused.value.message
    assert world.left == []


def test_an_update_that_fails_leaves_the_version_before_as_it_was(world: World) -> None:
    there(world, 1, "1.0")
    world.wheel("dep", files={"attr/__init__.py": ""})
    with pytest.raises(YazError):
        world.install(world.plugin("1.1", requires=["dep"]))
    assert (numbers(world.home), demo(world).version) == ([1], "1.0")
    assert leftovers(world.home) == []


@pytest.mark.parametrize("ending", [KeyboardInterrupt, SystemExit, OSError(28, "No space left on device")])
def test_interrupted_at_the_last_moment_nothing_is_left(
    world: World, ending: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*arguments: object) -> None:
        raise ending

    with prepared(str(world.plugin()), YAZ, world.home, path=world.path) as found:
        monkeypatch.setattr(placing, "_write_record", interrupted)
        with pytest.raises(YazError if isinstance(ending, OSError) else ending):
            place(found, YAZ, world.home)
    assert os.listdir(world.home.path("plugins")) == []


def test_one_that_was_installed_meanwhile_is_noticed(world: World) -> None:
    with prepared(str(world.plugin()), YAZ, world.home, path=world.path) as found:
        put(world.home, 1, plugin_id="demo")
        with pytest.raises(YazError) as refused:
            place(found, YAZ, world.home)
    assert refused.value.code == "install-overtaken"
    assert numbers(world.home) == [1]


def test_only_one_process_at_a_time_installs(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    with prepared(str(world.plugin()), YAZ, world.home, path=world.path) as found, world.home.locked("plugins"):
        monkeypatch.setattr(Home.locked.__wrapped__, "__defaults__", (0.0,))  # type: ignore[attr-defined]
        with pytest.raises(YazError) as refused:
            place(found, YAZ, world.home)
    assert refused.value.code == "home-busy"
    assert world.left == []


def test_what_a_killed_process_left_is_swept_and_never_read(world: World) -> None:
    for name in (".new-abc/site", ".gone-abc/demo/1/site"):
        world.home.path("plugins", name).mkdir(parents=True)
    assert (leftovers(world.home), plugin_folders(world.home)) == ([".gone-abc", ".new-abc"], {})
    world.install(world.plugin())
    assert world.left == ["demo/1"]
    assert leftovers(world.home) == []


def test_a_home_that_cannot_be_written_is_a_sentence(world: World) -> None:
    world.home.path("plugins").parent.mkdir(parents=True)
    world.home.path("plugins").write_text("a file in the place of the folder")
    with pytest.raises(YazError) as refused:
        world.install(world.plugin())
    assert refused.value.code == "home-not-writable"


# -- out, and back ----------------------------------------------------------------------------------------------------


@pytest.fixture
def two(home: Home) -> Home:
    """A home with `notes` 1.0, granted, and 2.0, which asks for more and was granted then."""
    put(home, 1, provides={"tools": [FIND]})
    grant(home, look(home)[0]["notes"])
    changed = {**FIND, "posture": "write"}
    put(home, 2, "2.0", capabilities=[{"kind": "fs-project"}], provides={"tools": [changed]})
    grant(home, look(home)[0]["notes"].to_grant)
    return home


def test_uninstalling_takes_every_version_and_the_grant_and_leaves_its_data(two: Home) -> None:
    data = two.plugin_data("notes")
    seen: list[object] = []
    uninstall(CONTRACT, two, "notes", lambda: seen.append((plugin_folders(two), Grants(two).get("notes"))))
    assert seen == [({}, None)]
    assert os.listdir(two.path("plugins")) == []
    assert data.is_dir()


def test_a_broken_plugin_can_be_uninstalled(home: Home) -> None:
    home.path("plugins", "notes", "7").mkdir(parents=True)
    home.path("plugins", "notes", "7", "install.json").write_text("{")
    uninstall(CONTRACT, home, "notes")
    assert plugin_folders(home) == {}


def test_what_is_not_there_cannot_be_uninstalled_or_rolled_back(home: Home) -> None:
    put(home, 1, plugin_id="other")
    for act in (uninstall, rollback):
        with pytest.raises(YazError) as refused:
            act(CONTRACT, home, "notes")
        assert (refused.value.code, refused.value.fix) == (
            "not-in-a-folder", 'in folders of their own are: "other"'
        )  # fmt: skip


def test_going_back_brings_the_version_before_with_what_was_granted_to_it(two: Home) -> None:
    assert look(two)[0]["notes"].version == "2.0"
    kept = rollback(CONTRACT, two, "notes")
    assert (kept.version, kept.state) == ("1.0", "allowed")
    assert [one.number for one in plugin_folders(two)["notes"]] == [1]
    assert look(two)[0]["notes"].state == "allowed"
    given = Grants(two).get("notes")
    assert given is not None
    assert (given.version, given.capabilities, given.earlier) == ("1.0", (), None)


def test_going_back_gives_nothing_back_that_was_revoked(home: Home) -> None:
    put(home, 1, capabilities=[{"kind": "fs-project"}])
    grant(home, look(home)[0]["notes"])
    put(home, 2, "2.0", provides={"tools": [FIND]})
    grant(home, look(home)[0]["notes"].to_grant)
    (project,) = (look(home)[0]["notes"].manifest and ('fs-project {"access": "read"}',)) or ()
    Grants(home).revoke("notes", project)
    kept = rollback(CONTRACT, home, "notes")
    given = Grants(home).get("notes")
    assert given is not None
    assert (kept.state, given.capabilities, given.denied) == ("allowed", (), (project,))


def test_where_the_grant_was_taken_back_going_back_gives_none(two: Home) -> None:
    Grants(two).revoke("notes")
    kept = rollback(CONTRACT, two, "notes")
    assert (kept.state, Grants(two).get("notes")) == ("held", None)


def test_going_back_throws_an_update_away_that_waits(home: Home) -> None:
    put(home, 1)
    grant(home, look(home)[0]["notes"])
    put(home, 2, "2.0", capabilities=[{"kind": "fs-project"}])
    assert rollback(CONTRACT, home, "notes").version == "1.0"
    assert look(home)[0]["notes"].update is None


def test_an_update_that_came_back_after_going_back_waits_again(two: Home) -> None:
    rollback(CONTRACT, two, "notes")
    changed = {**FIND, "posture": "write"}
    put(two, 2, "2.0", capabilities=[{"kind": "fs-project"}], provides={"tools": [changed]})
    notes = look(two)[0]["notes"]
    assert (notes.version, notes.update and notes.update.state) == ("1.0", "held")


def test_a_plugin_that_was_switched_off_stays_off_when_it_goes_back(two: Home) -> None:
    Grants(two).set_enabled("notes", False)
    assert rollback(CONTRACT, two, "notes").state == "disabled"


def test_without_a_version_before_there_is_nothing_to_go_back_to(home: Home) -> None:
    put(home, 1)
    with pytest.raises(YazError) as refused:
        rollback(CONTRACT, home, "notes")
    assert (refused.value.code, refused.value.message) == ("rollback-nothing", "nothing is kept of notes but 1.0")


def test_what_cannot_be_read_any_more_is_nothing_to_go_back_to(home: Home) -> None:
    site = put(home, 1)
    put(home, 2, "2.0")
    (site / "yaz_plugin_notes" / "manifest.json").write_text("{")
    with pytest.raises(YazError) as refused:
        rollback(CONTRACT, home, "notes")
    assert refused.value.code == "rollback-refused"
    assert numbers(home, "notes") == [2, 1]
