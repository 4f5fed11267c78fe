"""`yaz install`, `uninstall`, `rollback` as a person and a script use them, with real pip."""

from __future__ import annotations

import json
import signal
import socket
from pathlib import Path
from typing import Any

import pytest

from tests.cli.commands import Shell, wait_for_end
from tests.install.worlds import World, host_metadata, make_world, plugin
from tests.test_plugin_folders import put

ASKS: list[dict[str, Any]] = [{"kind": "fs-project"}]


@pytest.fixture
def index(yaz: Shell, monkeypatch: pytest.MonkeyPatch) -> World:
    """The shell's environment knows of yazcore, and pip looks into one folder."""
    host_metadata(yaz.site)
    return make_world(yaz.folder / "world", monkeypatch)


def there(yaz: Shell, number: int, version: str, **document: Any) -> None:
    """A version that was installed before."""
    put(yaz.home, number, version, plugin_id="demo", contract=1, minAppVersion="0.1.0", **document)


def test_a_person_sees_what_it_is_and_what_comes_with_it_and_is_asked(yaz: Shell, index: World) -> None:
    index.wheel("dep")
    wheel = index.plugin(requires=["dep"], capabilities=ASKS)
    done = yaz.here("install", str(wheel), typed="n\n")
    assert (done.status, done.err) == (1, "nothing was installed; --yes installs without asking\n")
    lines = done.out.splitlines()
    assert lines[0] == "Demo 1.0 (demo)"
    assert lines[-3:] == ["Into its folder come, beside it:", "  dep 1.0", "Install this? [y/N]: "]
    assert not yaz.home.path("plugins").exists()


def test_without_an_answer_nothing_is_installed(yaz: Shell, index: World) -> None:
    done = yaz.here("install", str(index.plugin()))
    assert (done.status, yaz.home.path("plugins").exists()) == (1, False)


def test_with_a_yes_it_is_installed_and_held_and_the_command_that_lets_it_run_is_said(yaz: Shell, index: World) -> None:
    done = yaz.here("install", str(index.plugin()), typed="y\n")
    assert (done.status, done.err) == (0, "")
    assert done.out.splitlines()[-2:] == [
        "Install this? [y/N]: installed demo 1.0, in a folder of its own",
        "it is held until you let it run: yaz grant demo",
    ]
    (demo,) = [one for one in yaz.here("plugins", "--json").json["plugins"] if one["id"] == "demo"]
    assert (demo["state"], demo["version"], demo["update"]) == ("held", "1.0", None)


def test_a_script_gets_one_json_document_and_the_page_beside_it(yaz: Shell, index: World) -> None:
    index.plugin()
    done = yaz.here("install", "demo", "--yes", "--json")
    assert done.json == {
        "plugin": "demo", "version": "1.0", "installed": True, "already": False, "distribution": "yaz-plugin-demo",
        "before": None, "brings": {}, "live": False, "state": "held", "reasons": ["it has not been granted"],
        "waits": False,
    }  # fmt: skip
    assert done.err.startswith("Demo 1.0 (demo)\n")
    again = yaz.here("install", "demo", "--yes", "--json")
    assert (again.status, again.json["already"]) == (0, True)


def test_what_breaks_a_rule_is_shown_with_all_that_is_wrong(yaz: Shell, index: World) -> None:
    done = yaz.here("install", str(index.plugin(licence="MIT")), "--yes")
    assert done.status == 1
    assert "[manifest-unknown-key]" in done.out
    assert done.err == (
        "yaz: [install-refused] it breaks 1 rule, so nothing was installed. its author has to mend what is listed\n"
    )


def test_an_update_shows_what_changes_and_waits_for_a_yes_while_the_old_one_goes_on(yaz: Shell, index: World) -> None:
    there(yaz, 1, "0.9", provides={"tools": []})
    assert yaz.here("grant", "demo", "--trusted", "--yes").status == 0
    done = yaz.here("install", str(index.plugin(capabilities=ASKS)), "--yes")
    assert done.status == 0, done.err
    assert done.out.startswith("Demo (demo) 0.9 → 1.0\n")
    assert done.out.splitlines()[-1] == (
        "it waits for your yes, and 0.9 goes on until then: yaz grant demo --trusted"
    )  # fmt: skip
    listed = yaz.here("plugins").out
    assert "demo   0.9      allowed  trusted" in listed
    assert "demo: 1.0 is installed and held: " in listed
    assert "yaz grant demo --trusted lets it run" in listed
    preview = yaz.here("preview", "demo").out
    assert preview.startswith("Demo 0.9 (demo)\n")
    granted = yaz.here("grant", "demo", "--trusted", "--yes", "--json").json
    assert (granted["version"], granted["state"]) == ("1.0", "allowed")


def test_going_back_and_removing_are_one_command_each(yaz: Shell) -> None:
    there(yaz, 1, "0.9")
    assert yaz.here("grant", "demo", "--trusted", "--yes").status == 0
    there(yaz, 2, "1.0", capabilities=ASKS)
    assert yaz.here("grant", "demo", "--trusted", "--yes").status == 0
    assert yaz.here("rollback", "demo").out == "demo is 0.9 again\n"
    assert yaz.here("rollback", "demo", "--json").err.startswith("yaz: [rollback-nothing] ")
    kept = yaz.here("uninstall", "demo", typed="n\n")
    assert (kept.status, kept.err) == (1, "nothing was removed\n")
    assert yaz.here("uninstall", "demo", "--yes", "--json").json == {"plugin": "demo", "removed": True, "live": False}
    assert "demo" not in yaz.here("plugins").out
    assert json.loads(yaz.home.path("grants.json").read_text()) == {"plugins": {}}


def test_what_is_not_there_is_said(yaz: Shell) -> None:
    done = yaz.here("uninstall", "demo", "--yes")
    assert done.err == (
        "yaz: [not-in-a-folder] yaz install has not installed demo. in folders of their own are: none\n"
    )


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_stopped_while_pip_waits_for_an_index_nothing_is_left(
    yaz: Shell, tmp_path: Path, ending: signal.Signals
) -> None:
    """An index that takes the connection and never says a word."""
    host_metadata(yaz.site)
    with socket.create_server(("127.0.0.1", 0)) as index:
        environment = {
            "PIP_INDEX_URL": f"http://127.0.0.1:{index.getsockname()[1]}/simple", "PIP_CONFIG_FILE": "/dev/null",
            "TMPDIR": str(tmp_path / "temporary"),
        }  # fmt: skip
        (tmp_path / "temporary").mkdir()
        process = yaz.start("install", "demo", "--yes", environment=environment)
        connection, _ = index.accept()
        with connection:
            (pip,) = process.children()
            process.signal(ending)
            assert process.end().status == (130 if ending == signal.SIGINT else 143)
            wait_for_end(pip)
    assert list((tmp_path / "temporary").iterdir()) == []
    assert not yaz.home.path("plugins").exists()


def test_a_running_yaz_takes_out_what_is_removed_and_goes_on_with_what_it_has_loaded(
    yaz: Shell, thesis: Path
) -> None:
    plugin_folder = yaz.home.path("plugins", "demo", "1", "site")
    _unpacked(yaz, plugin_folder, "1.0")
    assert yaz.here("grant", "demo", "--trusted", "--yes").status == 0
    served = yaz.serve(str(thesis))
    assert served.call("demo__echo", text="hello")["structuredContent"] == {"text": "hello"}
    _unpacked(yaz, yaz.home.path("plugins", "demo", "2", "site"), "1.1")
    granted = yaz.here("grant", "demo", "--trusted", "--yes", "--json").json
    assert (granted["version"], granted["live"], granted["state"]) == ("1.1", True, "active")
    (demo,) = [one for one in yaz.here("plugins", "--json").json["plugins"] if one["id"] == "demo"]
    assert (demo["version"], demo["update"]) == (
        "1.0", {"version": "1.1", "state": "waiting", "reasons": ["it runs from the next start on"]}
    )  # fmt: skip
    assert served.call("demo__echo", text="still")["structuredContent"] == {"text": "still"}
    assert yaz.here("uninstall", "demo", "--yes", "--json").json["live"] is True
    assert "error" in served.ask("tools/call", name="demo__echo", arguments={"text": "gone"})
    assert "demo" not in {one["id"] for one in yaz.here("plugins", "--json").json["plugins"]}


def _unpacked(yaz: Shell, site: Path, version: str) -> None:
    """A plugin that works, as it lies in its folder."""
    import zipfile

    wheel = plugin(yaz.folder / "wheels", version, scratch=yaz.folder / "sources")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
