"""Discovery on what pip really leaves: a wheel and an editable installation, side by side, built without a network."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import attrs
import pytest

import yazcore
from tests.plugins_in_test import tool
from yazcore.manifest.discovery import Found, discover
from yazcore.manifest.reading import read_found
from yazcore.writing.contract import YAZ

CHECKOUT = Path(yazcore.__file__).parent.parent
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-cache-dir")
ALONE = ("--quiet", "--no-index", "--no-deps", "--no-build-isolation")

CODE = """
from yazcore import Tool, hookimpl


class Plugin:
    def __init__(self, context):
        pass

    @hookimpl
    def provide_tools(self):
        return [Tool("look", lambda context, arguments: {"plugin": context.plugin})]
"""


def project(folder: Path, plugin_id: str, extra: str = "") -> Path:
    """A plugin's project as an author keeps it, for the build backend that the template uses."""
    package = f"yaz_plugin_{plugin_id}"
    made = folder / f"yaz-plugin-{plugin_id}"
    (made / package / "locales").mkdir(parents=True)
    document = {
        "contract": 1, "id": plugin_id, "name": plugin_id.title(), "version": "1.0", "minAppVersion": "0.1.0",
        "author": "Anna", "description": "A plugin of a test.", "module": f"{package}.plugin:Plugin",
        "locales": "locales", "permissions": [{"action": f"{plugin_id}:read", "descriptionKey": "text"}],
        "provides": {"tools": [tool("look", permission=f"{plugin_id}:read")]},
    }  # fmt: skip
    files = {
        "pyproject.toml": (
            '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
            f'[project]\nname = "yaz-plugin-{plugin_id}"\nversion = "1.0"\n'
            f'[project.entry-points."yaz.manifest"]\n{plugin_id} = "{package}:manifest.json"\n{extra}'
        ),
        f"{package}/__init__.py": "",
        f"{package}/plugin.py": CODE,
        f"{package}/manifest.json": json.dumps(document),
        f"{package}/locales/en-US.ftl": "text = A text\n",
        "start.pth": "import os\n",
    }
    for name, text in files.items():
        (made / name).write_text(text)
    return made


@attrs.frozen
class Site:
    """The folder that pip installed into, and a home folder of its own."""

    folder: Path
    home: Path

    @property
    def path(self) -> list[str]:
        """The path of an interpreter whose folder this is: itself, and what its `.pth` files name."""
        named = [path.read_text().strip() for path in self.folder.glob("*.pth")]
        return [str(self.folder), *(line for line in named if not line.startswith("import"))]

    def run(self, code: str) -> Any:
        """Run code in a fresh interpreter that has the folder as one of its own, and give the JSON it prints."""
        environment = {
            "PATH": os.environ["PATH"], "HOME": str(self.home), "YAZ_HOME": str(self.home / "yaz"),
            "PYTHONPATH": str(CHECKOUT),
        }  # fmt: skip
        begin = f"import json, site, sys\nsite.addsitedir({str(self.folder)!r})\n"
        done = subprocess.run(
            [sys.executable, "-c", begin + code], env=environment, cwd=self.home, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)


def pip(*arguments: str, home: Path) -> None:
    done = subprocess.run(
        [*PIP, *arguments], env={"PATH": os.environ["PATH"], "HOME": str(home)}, cwd=home, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """The wheel of `notes`, an editable `drafts`, a wheel of `sneaky` with a file that Python runs when it starts."""
    folder = tmp_path_factory.mktemp("installed")
    made = Site(folder / "site", folder / "home")
    made.home.mkdir()
    starts = '[tool.hatch.build.targets.wheel.force-include]\n"start.pth" = "start.pth"\n'
    wheels = [str(project(folder, "notes")), str(project(folder, "sneaky", starts))]
    pip("wheel", *ALONE, "--wheel-dir", str(folder / "wheels"), *wheels, home=made.home)
    built = [str(path) for path in sorted((folder / "wheels").glob("*.whl"))]
    pip(
        "install", *ALONE, "--target", str(made.folder), *built, "--editable", str(project(folder, "drafts")),
        home=made.home,
    )  # fmt: skip
    broken = made.folder / "yaz_plugin_broken-1.0.dist-info"
    broken.mkdir()
    (broken / "METADATA").write_bytes(b"\xff\xfe")
    (broken / "entry_points.txt").write_text("[yaz.manifest]\nbroken = yaz_plugin_broken:manifest.json\n")
    return made


def found(site: Site) -> dict[str, Found]:
    return {one.id: one for one in discover(YAZ, site.path)[0]}


def test_a_wheel_and_an_editable_installation_are_found_alike(site: Site) -> None:
    plugins = found(site)
    assert sorted(plugins) == ["drafts", "notes"]
    for plugin_id, plugin in plugins.items():
        assert (plugin.distribution, plugin.version) == (f"yaz-plugin-{plugin_id}", "1.0")
        assert plugin.manifest == plugin.folder / "manifest.json"
        assert plugin.manifest.is_file()
        reading = read_found(plugin, YAZ)
        assert reading.violations == ()
        assert reading.manifest is not None
        assert [one.name for one in reading.manifest.provides.tools] == ["look"]


def test_an_editable_installation_is_where_its_author_works(site: Site) -> None:
    plugins = found(site)
    assert plugins["notes"].folder == site.folder / "yaz_plugin_notes"
    assert not plugins["notes"].editable
    assert plugins["drafts"].folder == site.folder.parent / "yaz-plugin-drafts" / "yaz_plugin_drafts"
    assert plugins["drafts"].editable


def test_what_is_broken_or_runs_when_python_starts_is_skipped_with_its_reason(site: Site) -> None:
    skipped = {one.distribution: one for one in discover(YAZ, site.path)[1]}
    assert set(skipped) == {"yaz-plugin-broken", "yaz-plugin-sneaky"}
    assert "start.pth" in skipped["yaz-plugin-sneaky"].message
    for one in skipped.values():
        assert one.code
        assert one.fix
        assert str(site.folder) not in f"{one.message} {one.fix}"


def test_the_command_lists_both_and_imports_neither(site: Site) -> None:
    code = """
import contextlib, io
from yazcore.cli import main
out = io.StringIO()
with contextlib.redirect_stdout(out), contextlib.suppress(SystemExit):
    sys.argv = ["yaz", "plugins", "--json"]
    main()
listed = {one["id"]: [one["state"], one["tools"]] for one in json.loads(out.getvalue())["plugins"]}
print(json.dumps([listed, [name for name in sys.modules if name.startswith("yaz_plugin_")]]))
"""
    listed, imported = site.run(code)
    assert {name: listed[name] for name in ("notes", "drafts")} == {
        "notes": ["held", ["look"]], "drafts": ["held", ["look"]]
    }  # fmt: skip
    assert imported == []


def test_both_are_granted_and_called_alike(site: Site) -> None:
    code = """
import asyncio
from yazcore import Host, OWNER
from yazcore.writing.contract import YAZ
host = Host(YAZ)
host.activate()
answers = []
for name in ("notes", "drafts"):
    status = host.grant(name, trusted=True)
    outcome = asyncio.run(host.gate.call_tool(OWNER, f"{name}__look", {}))
    answers.append([status.state, outcome.structured])
host.close()
print(json.dumps(answers))
"""
    assert site.run(code) == [["active", {"plugin": "notes"}], ["active", {"plugin": "drafts"}]]
