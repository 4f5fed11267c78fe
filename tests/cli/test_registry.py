"""`yaz registry`: an index of plugins, made from wheels and searched."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cli.commands import Shell, install
from tests.manifest.archived import manifest_of, wheel
from tests.manifest.samples import good
from tests.test_plugin_folders import put
from yazcore.manifest.words import is_printable


@pytest.fixture
def wheels(tmp_path: Path) -> Path:
    folder = tmp_path / "wheels"
    wheel(folder)
    wheel(folder, plugin_id="notes", manifest={**manifest_of("notes"), "name": "Notes", "description": "On papers."})
    return folder


def test_an_index_is_printed_or_written(yaz: Shell, wheels: Path, tmp_path: Path) -> None:
    printed = yaz.here("registry", "build", str(wheels))
    assert (printed.status, printed.err) == (0, "")
    assert [plugin["id"] for plugin in printed.json["plugins"]] == ["notes", "zotero"]
    path = tmp_path / "index.json"
    done = yaz.here("registry", "build", str(wheels), "--output", str(path))
    assert (done.status, done.out) == (0, f"{path} has 2 plugins in 2 versions\n")
    assert json.loads(path.read_text()) == printed.json


def test_what_is_left_out_is_said_and_is_status_1(yaz: Shell, wheels: Path) -> None:
    (wheels / "bad\n.whl").write_bytes(b"x")
    done = yaz.here("registry", "build", str(wheels))
    assert done.status == 1
    assert [plugin["id"] for plugin in done.json["plugins"]] == ["notes", "zotero"]
    assert done.err.startswith(r"left out bad\u000a.whl: [archive-broken] ")
    assert all(is_printable(line) for line in done.err.splitlines())


def test_what_is_installed_is_put_in_where_it_is_asked_for(yaz: Shell) -> None:
    install(yaz.site, "demo")
    done = yaz.here("registry", "build", "--installed")
    assert "demo" in [plugin["id"] for plugin in done.json["plugins"]]
    assert str(yaz.site) not in done.out


def test_so_is_what_yaz_install_put_in_its_own_folder(yaz: Shell) -> None:
    install(yaz.site, "demo")
    for number, version in ((1, "1.0"), (2, "1.1")):
        put(yaz.home, number, plugin_id="notes", version=version, contract=1, minAppVersion="0.1.0")
    done = yaz.here("registry", "build", "--installed")
    assert (done.status, done.err) == (0, "")
    versions = {one["id"]: [each["version"] for each in one["versions"]] for one in done.json["plugins"]}
    assert versions["notes"] == ["1.1"]
    assert "demo" in versions
    assert str(yaz.home.folder) not in done.out


def test_a_folder_is_asked_for(yaz: Shell, tmp_path: Path) -> None:
    assert yaz.here("registry", "build").status == 2
    done = yaz.here("registry", "build", str(tmp_path / "nothing"))
    assert (done.status, done.err.startswith("yaz: [registry-folder] ")) == (1, True)


def test_an_index_is_searched(yaz: Shell, wheels: Path, tmp_path: Path) -> None:
    path = tmp_path / "index.json"
    yaz.here("registry", "build", str(wheels), "--output", str(path))
    done = yaz.here("registry", "search", "zotero", "--index", str(path))
    assert done.status == 0
    assert [re.split("  +", line) for line in done.out.splitlines()] == [
        ["ID", "VERSION", "NAME", "FOUND IN", "DESCRIPTION"],
        ["zotero", "0.1.0", "Zotero", "id, name, description, capabilities", good()["description"]],
        ["notes", "0.1.0", "Notes", "capabilities", "On papers."],
    ]
    done = yaz.here("registry", "search", "papers", "--index", str(path), "--json")
    assert done.json == {
        "matches": [
            {"id": "notes", "name": "Notes", "version": "0.1.0", "description": "On papers.", "where": ["description"]}
        ]
    }
    done = yaz.here("registry", "search", "nothing-like-it", "--index", str(path))
    assert (done.status, done.out, done.err) == (0, "", "nothing has all of these words\n")


def test_what_is_no_index_is_a_sentence(yaz: Shell, tmp_path: Path) -> None:
    path = tmp_path / "index.json"
    path.write_text("{}")
    done = yaz.here("registry", "search", "x", "--index", str(path))
    assert (done.status, done.out, done.err.count("\n")) == (1, "", 1)
    assert done.err.startswith("yaz: [registry-index] ")
