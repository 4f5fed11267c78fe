"""Editable installations, with the very files that each build backend and pip leave, found by a Python started anew.

What setuptools, hatchling, flit and pdm write was taken from installations made with their releases of autumn 2026.
hatchling, which builds this project, is also asked itself.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import yazcore
from tests.manifest.archived import package_files, pyproject
from tests.manifest.installed import editable

CHECKOUT = Path(yazcore.__file__).parent.parent

SETUPTOOLS_FINDER = '''\
from __future__ import annotations
import sys
from importlib.machinery import ModuleSpec, PathFinder
from importlib.machinery import all_suffixes as module_suffixes
from importlib.util import spec_from_file_location
from itertools import chain
from pathlib import Path

MAPPING: dict[str, str] = {mapping!r}
NAMESPACES: dict[str, list[str]] = {{}}
PATH_PLACEHOLDER = {placeholder!r} + ".__path_hook__"


class _EditableFinder:  # MetaPathFinder
    @classmethod
    def find_spec(cls, fullname: str, path=None, target=None) -> ModuleSpec | None:  # type: ignore
        # Top-level packages and modules (we know these exist in the FS)
        if fullname in MAPPING:
            pkg_path = MAPPING[fullname]
            return cls._find_spec(fullname, Path(pkg_path))

        # Handle immediate children modules (required for namespaces to work)
        # To avoid problems with case sensitivity in the file system we delegate
        # to the importlib.machinery implementation.
        parent, _, child = fullname.rpartition(".")
        if parent and parent in MAPPING:
            return PathFinder.find_spec(fullname, path=[MAPPING[parent]])

        # Other levels of nesting should be handled automatically by importlib
        # using the parent path.
        return None

    @classmethod
    def _find_spec(cls, fullname: str, candidate_path: Path) -> ModuleSpec | None:
        init = candidate_path / "__init__.py"
        candidates = (candidate_path.with_suffix(x) for x in module_suffixes())
        for candidate in chain([init], candidates):
            if candidate.exists():
                return spec_from_file_location(fullname, candidate)
        return None


def install():
    if not any(finder == _EditableFinder for finder in sys.meta_path):
        sys.meta_path.append(_EditableFinder)
'''
"""What setuptools leaves for a project without `src`, apart from its half for namespace packages."""


def project(folder: Path, plugin_id: str, *, below: str = "") -> Path:
    """A project with the plugin's package, at the top or below `src`; gives the package."""
    for name, data in package_files(plugin_id).items():
        (folder / below / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / below / name).write_text(data)
    (folder / "pyproject.toml").write_text(pyproject(plugin_id))
    return folder / below / f"yaz_plugin_{plugin_id}"


def metadata(site: Path, source: Path, plugin_id: str, entry_points: str, files: dict[str, str]) -> None:
    """What pip writes beside the files of a backend."""
    site.mkdir(exist_ok=True)
    info = site / f"yaz_plugin_{plugin_id}-0.1.0.dist-info"
    info.mkdir()
    texts = {
        "INSTALLER": "pip\n", "REQUESTED": "",
        "WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "METADATA": f"Metadata-Version: 2.4\nName: yaz-plugin-{plugin_id}\nVersion: 0.1.0\n",
        "entry_points.txt": entry_points,
    }  # fmt: skip
    for name, text in texts.items():
        (info / name).write_text(text)
    editable(info, source)
    for name, text in files.items():
        (site / name).write_text(text)
    names = [*files, *(f"{info.name}/{name}" for name in (*texts, "direct_url.json"))]
    (info / "RECORD").write_text("".join(f"{name},sha256=x,1\n" for name in names) + f"{info.name}/RECORD,,\n")


def entry(plugin_id: str, equals: str = " = ") -> str:
    return f"[yaz.manifest]\n{plugin_id}{equals}yaz_plugin_{plugin_id}:manifest.json\n"


def setuptools_flat(site: Path, work: Path, plugin_id: str) -> Path:
    package = project(work, plugin_id)
    name = f"__editable___yaz_plugin_{plugin_id}_0_1_0_finder"
    finder = SETUPTOOLS_FINDER.format(
        mapping={package.name: str(package)}, placeholder=f"__editable__.yaz_plugin_{plugin_id}-0.1.0.finder"
    )
    files = {
        f"__editable__.yaz_plugin_{plugin_id}-0.1.0.pth": f"import {name}; {name}.install()", f"{name}.py": finder,
    }  # fmt: skip
    metadata(site, work, plugin_id, entry(plugin_id), files)
    return package


def setuptools_src(site: Path, work: Path, plugin_id: str) -> Path:
    package = project(work, plugin_id, below="src")
    files = {f"__editable__.yaz_plugin_{plugin_id}-0.1.0.pth": f"{work / 'src'}\n"}
    metadata(site, work, plugin_id, entry(plugin_id), files)
    return package


def setuptools_strict(site: Path, work: Path, plugin_id: str) -> Path:
    package = project(work, plugin_id)
    farm = work / "build" / f"__editable__.yaz_plugin_{plugin_id}-0.1.0-py3-none-any"
    for file in (path for path in package.rglob("*") if path.is_file()):
        link = farm / file.relative_to(work)
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(file)
    metadata(
        site, work, plugin_id, entry(plugin_id), {f"__editable__.yaz_plugin_{plugin_id}-0.1.0.pth": f"{farm}\n"}
    )
    return farm / package.name


def hatchling_src(site: Path, work: Path, plugin_id: str) -> Path:
    package = project(work, plugin_id, below="src")
    files = {f"_editable_impl_yaz_plugin_{plugin_id}.pth": str(work / "src")}
    metadata(site, work, plugin_id, entry(plugin_id), files)
    return package


def hatchling_exact(site: Path, work: Path, plugin_id: str) -> Path:
    package = project(work, plugin_id)
    name = f"_editable_impl_yaz_plugin_{plugin_id}"
    code = (
        "from editables.redirector import RedirectingFinder as F\nF.install()\n"
        f"F.map_module({package.name!r}, {str(package / '__init__.py')!r})"
    )
    metadata(site, work, plugin_id, entry(plugin_id), {f"{name}.pth": f"import {name}", f"{name}.py": code})
    return package


def flit_src(site: Path, work: Path, plugin_id: str) -> Path:
    package = project(work, plugin_id, below="src")
    files = {f"yaz_plugin_{plugin_id}.pth": str(work / "src")}
    metadata(site, work, plugin_id, entry(plugin_id, "=") + "\n", files)
    return package


def pdm_flat(site: Path, work: Path, plugin_id: str) -> Path:
    package = project(work, plugin_id)
    text = f"[console_scripts]\n\n[gui_scripts]\n\n{entry(plugin_id)}\n"
    files = {".gitignore": "*\n", f"_editable_impl_yaz_plugin_{plugin_id}.pth": str(work)}
    metadata(site, work, plugin_id, text, files)
    return package


def hatchling_itself(site: Path, work: Path, plugin_id: str) -> Path:
    """Asked as pip asks it, for what pip then unpacks."""
    package = project(work, plugin_id)
    file = work / "pyproject.toml"
    build = '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n\n'
    file.write_text(build + file.read_text())
    code = "from hatchling.build import build_editable; print(build_editable('dist'))"
    subprocess.run([sys.executable, "-c", code], cwd=work, check=True, capture_output=True)
    (wheel,) = (work / "dist").iterdir()
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    editable(site / f"yaz_plugin_{plugin_id}-0.1.0.dist-info", work)
    return package


BACKENDS: list[Callable[[Path, Path, str], Path]] = [
    setuptools_flat, setuptools_src, setuptools_strict, hatchling_src, hatchling_exact, hatchling_itself, flit_src,
    pdm_flat,
]  # fmt: skip

LOOK = """
import json, site, sys
site.addsitedir(sys.argv[1])  # which does what Python does when it starts: it runs every .pth file there
from tests.manifest.samples import CONTRACT
from yazcore.manifest.discovery import discover
from yazcore.manifest.targets import open_target
found, skipped = discover(CONTRACT)
print(json.dumps({
    "found": {one.id: [str(one.folder), one.editable] for one in found},
    "skipped": [[one.distribution, one.code, one.message] for one in skipped],
    "targets": {
        one.id: [[v.code for v in target.violations], target.origin.editable, sorted(target.texts)]
        for one in found for target in [open_target(one.id, CONTRACT)]
    },
    "imported": [name for name in sys.modules if name.startswith("yaz_plugin_")],
}))
"""


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A folder that distributions are installed into, and one for projects."""
    folder = tmp_path_factory.mktemp("editables")
    return folder / "site", folder / "work"


@pytest.fixture(scope="module")
def packages(places: tuple[Path, Path]) -> dict[str, Path]:
    """Where the package of each plugin lies; the plugin is called as what has installed it."""
    site, work = places
    return {name: make(site, work / name, name) for make in BACKENDS for name in [make.__name__.replace("_", "")]}


@pytest.fixture(scope="module")
def seen(places: tuple[Path, Path], packages: dict[str, Path]) -> Any:
    """What a Python started anew finds, all at once."""
    done = subprocess.run(
        [sys.executable, "-c", LOOK, str(places[0])],
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)}, cwd=places[0], capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


NAMES = [make.__name__.replace("_", "") for make in BACKENDS]


@pytest.mark.parametrize("name", NAMES)
def test_an_editable_installation_is_found_where_its_source_is(seen: Any, packages: dict[str, Path], name: str) -> None:
    assert seen["found"][name] == [str(packages[name]), True]


@pytest.mark.parametrize("name", NAMES)
def test_an_editable_installation_is_a_target(seen: Any, name: str) -> None:
    codes, is_editable, locales = seen["targets"][name]
    assert (codes, is_editable, locales) == ([], True, ["de", "en-US"])


def test_nothing_of_them_is_skipped_or_imported(seen: Any) -> None:
    assert [one for one in seen["skipped"] if one[0].removeprefix("yaz-plugin-") in NAMES] == []
    assert seen["imported"] == []
