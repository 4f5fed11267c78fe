"""The legacy mirror of the documentation: it builds and installs like any plugin, and yaz refuses it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import yazcore
from yazcore.check import check_target
from yazcore.testing import plugin_host
from yazcore.violations import errors
from yazcore.writing.contract import YAZ

CHECKOUT = Path(yazcore.__file__).parent.parent
MIRROR = CHECKOUT / "docs" / "examples" / "legacy-mirror"
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-cache-dir")
ALONE = ("--quiet", "--no-index", "--no-deps")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [*PIP, "wheel", *ALONE, "--no-build-isolation", "--wheel-dir", str(folder), str(MIRROR)]
    subprocess.run(command, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


def test_its_wheel_is_judged_as_its_folder_is(wheel: Path) -> None:
    of_wheel, of_folder = check_target(wheel, YAZ), check_target(MIRROR, YAZ)
    assert of_wheel.findings == of_folder.findings != ()
    assert of_wheel.waived == of_folder.waived
    assert errors(of_wheel.violations)


def test_installed_it_is_found_and_refused_and_its_code_never_runs(wheel: Path, tmp_path: Path) -> None:
    place = tmp_path / "place"
    subprocess.run([*PIP, "install", *ALONE, "--target", str(place), str(wheel)], check=True, capture_output=True)
    code = "from yazcore.cli import main; main()"
    path = os.pathsep.join([str(CHECKOUT), str(place)])
    environment = {**os.environ, "PYTHONPATH": path, "YAZ_HOME": str(tmp_path / "home")}
    run = subprocess.run(
        [sys.executable, "-c", code, "plugins", "--json"], env=environment, capture_output=True, text=True, check=True
    )
    (found,) = (one for one in json.loads(run.stdout)["plugins"] if one["id"] == "legacy")
    assert (found["state"], found["distribution"]) == ("refused", "yaz-plugin-legacy")
    assert found["violations"]


def test_a_host_refuses_it() -> None:
    with plugin_host(MIRROR) as plugin:
        assert plugin.state == "refused"
        assert plugin.violations
