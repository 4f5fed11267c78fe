"""What is installed, what a worker is made of, what a plugin still lacks: from metadata in folders of the test."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.install.worlds import host_metadata
from yazcore.install.environment import (
    Environment,
    Lack,
    environment,
    lacks,
    modules,
    pins,
    requirements,
    shadowed,
    top_module,
)


def put(site: Path, name: str, version: str = "1.0", requires: Sequence[str] = (), record: Sequence[str] = ()) -> Path:
    info = site / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    headers = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    (info / "METADATA").write_text(headers + "".join(f"Requires-Dist: {one}\n" for one in requires))
    (info / "RECORD").write_text("".join(f"{file},,\n" for file in record))
    return info


def of(*sites: Path) -> Environment:
    return environment([str(site) for site in sites])


def test_the_first_of_one_name_counts_and_broken_metadata_do_not(tmp_path: Path) -> None:
    put(tmp_path / "one", "Some.Thing", "2.0", ["x>1"])
    put(tmp_path / "two", "some-thing", "1.0")
    (put(tmp_path / "one", "broken") / "METADATA").write_bytes(b"\xff\x00")
    found = of(tmp_path / "one", tmp_path / "two")
    assert {name: one.version for name, one in found.packages.items()} == {"some-thing": "2.0"}
    assert found.packages["some-thing"].requires == ("x>1",)
    assert (found.version("Some_Thing"), found.version("other")) == ("2.0", None)


def test_a_worker_is_held_to_what_it_is_made_of_and_all_that_this_requires(tmp_path: Path) -> None:
    put(tmp_path, "yazcore", "0.1.0", ["anyio", "rich"])
    put(tmp_path, "anyio", "4.0", ["idna>=2", "trio; extra == 'trio'"])
    put(tmp_path, "idna", "3.0")
    for name in ("rich", "trio", "attrs"):
        put(tmp_path, name)
    assert pins(of(tmp_path)) == {"anyio": "4.0", "attrs": "1.0", "idna": "3.0", "yazcore": "0.1.0"}


def test_without_the_framework_there_is_nothing_to_be_held_to(tmp_path: Path) -> None:
    put(tmp_path, "attrs")
    assert pins(of(tmp_path)) == {}


def test_the_real_environment_holds_what_the_runtime_imports(tmp_path: Path) -> None:
    host_metadata(tmp_path)
    held = pins(environment([str(tmp_path), *sys.path]))
    assert {"yazcore", "anyio", "attrs", "idna", "msgspec", "pluggy"} <= set(held)


@pytest.mark.parametrize(
    ("text", "extras", "counts"),
    [
        ("dep>=1", (), True),
        ("dep; python_version < '3'", (), False),
        ("dep; extra == 'web'", (), False),
        ("dep; extra == 'web'", ("web",), True),
        ("not a requirement", (), False),
        ("", (), False),
    ],
)
def test_requirements_count_here_and_now(text: str, extras: tuple[str, ...], counts: bool) -> None:
    assert bool(list(requirements([text], extras))) is counts


def test_what_a_plugin_lacks_is_named_with_who_needs_it(tmp_path: Path) -> None:
    host, own = tmp_path / "host", tmp_path / "own"
    put(host, "old", "1.0")
    put(host, "both", "1.0")
    put(own, "both", "2.0")
    put(own, "plugin", requires=["old>=2", "both>=2", "dep[web]", "gone; extra == 'never'"])
    put(own, "dep", requires=["deep==1", "extra; extra == 'web'"])
    assert lacks("Plugin", of(own), of(host)) == (
        Lack("plugin", "old>=2", "1.0"), Lack("dep", "deep==1", None), Lack("dep", "extra", None)
    )  # fmt: skip


def test_what_the_hosts_own_packages_lack_is_not_the_plugins(tmp_path: Path) -> None:
    host, own = tmp_path / "host", tmp_path / "own"
    put(host, "dep", requires=["missing"])
    put(own, "plugin", requires=["dep"])
    assert lacks("plugin", of(own), of(host)) == ()


def test_requirements_in_a_circle_end(tmp_path: Path) -> None:
    put(tmp_path, "plugin", requires=["dep"])
    put(tmp_path, "dep", requires=["plugin", "dep"])
    assert lacks("plugin", of(tmp_path), of()) == ()


def test_a_version_that_is_none_fits_nothing(tmp_path: Path) -> None:
    put(tmp_path, "dep", "newest")
    put(tmp_path, "plugin", requires=["dep"])
    assert lacks("plugin", of(tmp_path), of()) == (Lack("plugin", "dep", "newest"),)


def test_a_pre_release_that_is_there_fits(tmp_path: Path) -> None:
    put(tmp_path, "dep", "2.0rc1")
    put(tmp_path, "plugin", requires=["dep>=1"])
    assert lacks("plugin", of(tmp_path), of()) == ()


def test_modules_are_those_of_record_and_of_the_framework_its_own(tmp_path: Path) -> None:
    put(tmp_path, "attrs", record=["attr/__init__.py", "attrs/x.py", "attrs-1.0.dist-info/RECORD", "../../bin/attrs",
                                   "one.py", "two.cpython-311-x86_64-linux-gnu.so", "readme.txt"])  # fmt: skip
    put(tmp_path, "yazcore")
    found = of(tmp_path)
    assert modules(found.packages["attrs"]) == {"attr", "attrs", "one", "two"}
    assert modules(found.packages["yazcore"]) == {"yazcore"}


@pytest.mark.parametrize("name", ["attr/", "attrs.py", "pluggy.cpython-311-x86_64-linux-gnu.so", "yazcore/"])
def test_what_a_worker_is_made_of_can_be_hidden(tmp_path: Path, name: str) -> None:
    put(tmp_path, "yazcore")
    put(tmp_path, "attrs", record=["attr/__init__.py", "attrs/__init__.py"])
    put(tmp_path, "pluggy", record=["pluggy/__init__.py"])
    put(tmp_path, "rich", record=["rich/__init__.py"])
    hidden = name.partition(".")[0].rstrip("/")
    assert shadowed([name, "rich/", "dep/", "attr-1.dist-info/"], of(tmp_path)) == [hidden]


@pytest.mark.parametrize(
    ("file", "top"),
    [
        ("a/b.py", "a"),
        ("a.py", "a"),
        ("a.abi3.so", "a"),
        ("a.pth", None),
        ("a-1.dist-info/X", None),
        ("__pycache__/a.pyc", None),
        ("../x", None),
        ("", None),
    ],
)
def test_the_top_level_module_of_a_file(file: str, top: str | None) -> None:
    assert top_module(file) == top
