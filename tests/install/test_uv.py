"""The same with uv, in an environment that has no pip: real uv, in a real environment, through the command."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from importlib import metadata
from pathlib import Path

import attrs
import pytest

from tests.cli.commands import CHECKOUT, Done
from tests.install.worlds import World, host_metadata, make_world
from tests.manifest.archived import sdist
from tests.manifest.installed import distribution
from yazcore.install.environment import environment
from yazcore.install.installers import find_installer

UV = shutil.which("uv", path=os.pathsep.join((sysconfig.get_path("scripts"), os.environ.get("PATH", ""))))

needs_uv = pytest.mark.skipif(UV is None, reason="uv is not here: pip install uv (requirements/dev.txt names it)")

_START = "from yazcore.cli import main; main()"
_INSTALLERS = ("pip", "uv")


@attrs.frozen
class Machine:
    """A machine whose environment was made by uv: there is no pip in it."""

    python: Path
    world: World
    uv: Path

    def yaz(self, *arguments: str) -> Done:
        folder = self.world.folder
        environment = {
            "PATH": str(self.uv.parent), "HOME": str(folder / "user"), "YAZ_HOME": str(self.world.home.folder),
            "UV_CONFIG_FILE": str(folder / "uv.toml"), "UV_CACHE_DIR": str(folder / "cache"), "LANG": "C.UTF-8",
            "UV_PYTHON_DOWNLOADS": "never",
        }  # fmt: skip
        done = subprocess.run(
            [self.python, "-P", "-c", _START, *arguments],
            env=environment, cwd=folder, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        return Done(done.returncode, done.stdout, done.stderr)


def without_pip(folder: Path) -> Path:
    """An environment with what this one has, but for pip and uv; gives its interpreter."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    purelib = Path(sysconfig.get_path("purelib", vars={"base": str(folder), "platbase": str(folder)}))
    for source in Path(sysconfig.get_path("purelib")).iterdir():
        name = source.name.partition("-")[0]
        if name in _INSTALLERS or source.suffix in (".pth", ".egg-link") or name == "yazcore":
            continue
        if source.suffix == ".dist-info":  # uv takes no links for these
            info = purelib / source.name
            info.mkdir()
            for file in ("METADATA", "RECORD", "WHEEL", "entry_points.txt"):
                if (source / file).exists():
                    shutil.copy(source / file, info)
        else:
            (purelib / source.name).symlink_to(source)
    host_metadata(purelib)
    (purelib / "checkout.pth").write_text(f"{CHECKOUT}\n")
    return folder / "bin" / "python"


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    world = make_world(tmp_path, monkeypatch)
    (tmp_path / "uv.toml").write_text(f"no-index = true\nfind-links = [{str(world.index)!r}]\n")
    (tmp_path / "bin").mkdir()
    uv = tmp_path / "bin" / "uv"
    uv.symlink_to(UV or "")
    return Machine(without_pip(tmp_path / "environment"), world, uv)


@needs_uv
def test_a_wheel_and_what_it_lacks_are_installed_with_uv_where_there_is_no_pip(machine: Machine) -> None:
    world = machine.world
    world.wheel("dep", requires=["attrs"])
    wheel = world.plugin(requires=["dep", "yazcore"], entry_points="[console_scripts]\ndemo = yaz_plugin_demo:x\n")
    done = machine.yaz("install", str(wheel), "--yes", "--json")
    assert done.status == 0, done.err
    assert done.json["brings"] == {"dep": "1.0"}
    folder = world.home.path("plugins", "demo", "1")
    assert {"dep", "yaz_plugin_demo"} <= set(os.listdir(folder / "site"))
    assert json.loads((folder / "install.json").read_text())["installer"].startswith("uv")
    (demo,) = [one for one in machine.yaz("plugins", "--json").json["plugins"] if one["id"] == "demo"]
    assert (demo["state"], demo["violations"]) == ("held", [])


@needs_uv
def test_by_name_the_newest_is_looked_at_and_installed_and_an_update_follows(machine: Machine) -> None:
    machine.world.plugin("1.0")
    done = machine.yaz("install", "demo", "--yes", "--json")
    assert (done.status, done.json["version"]) == (0, "1.0"), done.err
    machine.world.plugin("1.1", licence="MIT")
    refused = machine.yaz("install", "demo", "--yes")
    assert (refused.status, "[install-refused]" in refused.err) == (1, True)
    assert machine.world.left == ["demo/1"]


@needs_uv
def test_what_a_worker_is_made_of_is_held_to_the_hosts_version(machine: Machine) -> None:
    """Another attrs can be had, and without the host's version to hold to uv would bring it."""
    machine.world.wheel("attrs", "99.0")
    machine.world.wheel("dep", requires=["attrs>=99"])
    refused = machine.yaz("install", str(machine.world.plugin(requires=["dep"])), "--yes")
    assert refused.status == 1
    assert refused.err.startswith("yaz: [installer-failed] uv "), refused.err
    assert f"attrs=={metadata.version('attrs')}" in refused.err
    assert machine.world.left == []


@needs_uv
def test_what_exists_as_an_sdist_only_is_not_taken(machine: Machine) -> None:
    trace = machine.world.folder / "trace"
    stem = "dep-1.0"
    files = {
        f"{stem}/PKG-INFO": "Metadata-Version: 2.1\nName: dep\nVersion: 1.0\n",
        f"{stem}/setup.py": f"open({str(trace)!r}, 'w').close()\n",
    }
    sdist(machine.world.index, files)
    refused = machine.yaz("install", str(machine.world.plugin(requires=["dep"])), "--yes")
    assert refused.status == 1
    assert refused.err.startswith("yaz: [installer-failed] uv "), refused.err
    assert "dep==1.0 has no usable wheels" in refused.err
    assert not trace.exists()
    assert machine.world.left == []


def test_a_uv_in_the_environment_comes_before_one_on_the_path_and_after_pip(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    distribution(tmp_path, name="uv", version="9.9", entry_points="", files={"uv/__init__.py": ""})
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "uv").write_text("#!/bin/sh\n")
    (tmp_path / "bin" / "uv").chmod(0o700)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    path = [str(tmp_path)]
    assert find_installer(environment([]), []).command == (str(tmp_path / "bin" / "uv"),)
    inside = find_installer(environment(path), path)
    assert (inside.label, inside.command[-2:]) == ("uv 9.9", ("-m", "uv"))
    distribution(tmp_path, name="pip", version="25.0", entry_points="", files={"pip/__init__.py": ""})
    assert find_installer(environment(path), path).label == "pip 25.0"
