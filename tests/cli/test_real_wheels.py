"""`yaz preview`, `diff`, `install`, `registry` on wheels that hatchling builds: Zotero, and two versions of another.

Importing the small plugin would leave a file; nothing does.
"""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest

from tests.cli.commands import CHECKOUT, ZOTERO, Shell, shell
from tests.install.worlds import host_metadata
from tests.plugins_in_test import tool

BUILD = (sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d")

FIND = tool("find", permission="notes:read")
ADD = tool("add", permission="notes:read", posture="write")
READS = {"kind": "fs-project", "access": "read"}
WEB = {"kind": "net", "hosts": ["notes.example.org"], "reasonKey": "why"}


@attrs.frozen
class Wheels:
    """The wheels that were built, and a shell to look at them with."""

    yaz: Shell
    folder: Path
    zotero: str
    first: str
    second: str
    trace: Path


def project(folder: Path, trace: Path, version: str, tools: list[dict[str, Any]], **more: Any) -> Path:
    """A plugin's project, whose package leaves a trace where anybody imports it."""
    package = "yaz_plugin_notes"
    document = {
        "contract": 1, "id": "notes", "name": "Notes", "version": version, "minAppVersion": "0.1.0", "author": "Anna",
        "description": "Finds notes.", "module": f"{package}.plugin:Plugin", "locales": "locales",
        "permissions": [{"action": "notes:read", "descriptionKey": "text"}],
        "provides": {"tools": tools}, "updates": {"source": "pypi"}, **more,
    }  # fmt: skip
    imported = f"from pathlib import Path\nPath({str(trace)!r}).write_text('imported')\n"
    files = {
        "pyproject.toml": (
            '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
            f'[project]\nname = "yaz-plugin-notes"\nversion = "{version}"\n'
            'requires-python = ">=3.11"\ndependencies = ["attrs>=25.1"]\n'
            f'[project.entry-points."yaz.manifest"]\nnotes = "{package}:manifest.json"\n'
        ),
        f"{package}/__init__.py": imported,
        f"{package}/plugin.py": imported,
        f"{package}/manifest.json": json.dumps(document),
        f"{package}/locales/en-US.ftl": "text = Finds what you noted.\nwhy = Looks notes up.\n",
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def build(source: Path, into: Path) -> Path:
    before = set(into.glob("*.whl"))
    done = subprocess.run([*BUILD, str(into)], cwd=source, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (made,) = set(into.glob("*.whl")) - before
    return made


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wheels]:
    folder = tmp_path_factory.mktemp("real")
    dist, trace = folder / "dist", folder / "trace"
    dist.mkdir()
    old = project(folder / "old", trace, "1.0", [FIND], capabilities=[READS])
    new = project(folder / "new", trace, "1.1", [{**FIND, "posture": "write"}, ADD], capabilities=[READS, WEB])
    paths = [str(build(source, dist)) for source in (ZOTERO, old, new)]
    with shell(folder / "shell") as made:
        yield Wheels(made, dist, *paths, trace)
    assert not trace.exists(), "something of the plugin was imported"


def test_the_zotero_plugin_is_previewed_and_accepted(wheels: Wheels) -> None:
    done = wheels.yaz.run("preview", wheels.zotero)
    assert (done.status, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[0] == "Zotero 0.1.0 (zotero)"
    for line in ("What it asks for", "  - zotero__search-library", "  ! zotero__cite-item", "  - bibtexparser>=2"):
        assert line in lines
    assert lines[-1] == "yaz would accept it."


def test_the_preview_of_a_wheel_is_that_of_its_source(wheels: Wheels) -> None:
    of_wheel = wheels.yaz.run("preview", wheels.zotero, "--json").json
    of_source = wheels.yaz.run("preview", str(ZOTERO), "--json").json
    for key in ("manifest", "violations"):
        assert of_wheel[key] == of_source[key]
    assert {"yazcore>=0.1", "attrs>=25.1", "bibtexparser>=2"} == set(of_wheel["requires"])
    assert "yaz_plugin_zotero/plugin.py" in of_wheel["files"]


def test_the_preview_of_the_small_plugin_says_all_that_decides(wheels: Wheels) -> None:
    done = wheels.yaz.run("preview", wheels.second)
    assert done.status == 0
    assert done.out == PAGE


def test_an_update_is_told_change_by_change(wheels: Wheels) -> None:
    done = wheels.yaz.run("diff", wheels.first, wheels.second)
    assert (done.status, done.err) == (1, "")
    assert done.out == DIFF


def test_the_zotero_plugin_is_the_same_as_its_source(wheels: Wheels) -> None:
    done = wheels.yaz.run("diff", str(ZOTERO), wheels.zotero, "--json")
    assert (done.status, done.json["verdict"], done.json["changes"]) == (0, "same", [])


def test_the_way_back_asks_for_less_but_changes_a_tool(wheels: Wheels) -> None:
    done = wheels.yaz.run("diff", wheels.second, wheels.first, "--json")
    assert (done.status, done.json["verdict"]) == (1, "changed")


def test_the_index_of_all_of_them(wheels: Wheels) -> None:
    index = wheels.folder.parent / "index.json"
    done = wheels.yaz.run("registry", "build", str(wheels.folder), "--output", str(index))
    assert (done.status, done.err) == (0, "")
    document = json.loads(index.read_text("utf-8"))
    assert [(one["id"], [each["version"] for each in one["versions"]]) for one in document["plugins"]] == [
        ("notes", ["1.0", "1.1"]), ("zotero", ["0.1.0"]),
    ]  # fmt: skip
    (diff,) = document["plugins"][0]["diffs"]
    said = wheels.yaz.run("diff", wheels.first, wheels.second, "--json").json
    assert {key: diff[key] for key in ("verdict", "changes")} == said
    assert document["leftOut"] == []
    assert wheels.folder.as_posix() not in index.read_text("utf-8")
    found = wheels.yaz.run("registry", "search", "citation", "--index", str(index), "--json").json
    assert [one["id"] for one in found["matches"]] == ["zotero"]


@pytest.mark.parametrize("plugin", ["zotero", "notes"])
def test_each_is_installed_by_pip_in_its_own_folder(wheels: Wheels, tmp_path: Path, plugin: str) -> None:
    with shell(tmp_path / "shell") as yaz:
        host_metadata(yaz.site)
        wheel = {"zotero": wheels.zotero, "notes": wheels.second}[plugin]
        pip = {"PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": "/dev/null", "PIP_NO_CACHE_DIR": "1"}
        done = yaz.run("install", wheel, "--yes", "--json", environment=pip)
        assert done.status == 0, done.err
        assert (done.json["plugin"], done.json["brings"]) == (plugin, {})
        site = yaz.home.path("plugins", plugin, "1", "site")
        with zipfile.ZipFile(wheel) as archive:
            packaged = {name for name in archive.namelist() if ".dist-info/" not in name}
        assert packaged <= {file.relative_to(site).as_posix() for file in site.rglob("*")}
        (found,) = [one for one in yaz.run("plugins", "--json").json["plugins"] if one["id"] == plugin]
        assert (found["state"], found["violations"]) == ("held", [])


def test_the_wheel_of_yazcore_brings_both_published_schemas(tmp_path: Path) -> None:
    with zipfile.ZipFile(build(CHECKOUT, tmp_path)) as archive:
        for name in ("yazcore/manifest/manifest.schema.json", "yazcore/registry/registry.schema.json"):
            assert archive.read(name) == (CHECKOUT / name).read_bytes()


PAGE = """\
Notes 1.1 (notes)
  by Anna
  wheel yaz_plugin_notes-1.1-py3-none-any.whl, 8 files
  | Finds notes.

What it asks for
  ! send data to notes.example.org
      sensitive
      | Looks notes up.
  - read the files of the project you work in, except protected ones such as .git and .env

Tools for agents: 0 only read, 2 change something
  ! notes__find
      changes something; for everything; needs the permission notes:read; no question before a call
      | Finds what you noted.
  ! notes__add
      changes something; for everything; needs the permission notes:read; no question before a call
      | Finds what you noted.

Permissions it declares, for those who call it
  - notes:read
      | Finds what you noted.

Where updates come from
  - From PyPI, the Python Package Index.
  - Unverified: it is not installed, so nothing is recorded of where it came from.

Python packages it needs
  - attrs>=25.1
  - What of them is missing is installed with it: code like its own.

How its surface is judged
  - The design rules find no error, 5 suspicions.

What is wrong with it
  - Nothing.

yaz would accept it.
"""

DIFF = """\
Notes (notes) 1.0 → 1.1

What it asks for
  ! Asks for more: send data to notes.example.org
      | en-US + Looks notes up.

Tools for agents
  ! notes__find has changed
      A call may now change something; before, it only read.
  ! notes__add is new
      changes something; for everything; needs the permission notes:read; no question before a call
      | en-US + Finds what you noted.

It asks for more, or agents reach more through it. It needs your yes.
"""
