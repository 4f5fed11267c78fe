"""A plugin's own folders in this process: at the end of the path, without `.pth`, and gone with the plugin."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import attrs
import pytest

from tests.hosts.console import CONTRACT
from tests.runtimes.test_trusted import source
from yazcore.home import Home
from yazcore.host import Host
from yazcore.runtimes.base import PluginFailed, PluginSource
from yazcore.runtimes.own_path import OwnPath, clashes
from yazcore.runtimes.trusted import TrustedRuntime

CODE = """
import own_dependency
from yazcore import hookimpl

class Plugin:
    def __init__(self, context):
        self.said = own_dependency.SAID
"""


def package(site: Path, said: str = "1", name: str = "yaz_plugin_ownpath") -> PluginSource:
    """A plugin with a dependency beside it; the import fails where the path is wrong."""
    (site / name).mkdir(parents=True)
    (site / name / "__init__.py").write_text("")
    (site / name / "plugin.py").write_text(CODE)
    (site / "own_dependency.py").write_text(f"SAID = {said!r}\n")
    made = source(None, module=f"{name}.plugin:Plugin")
    return attrs.evolve(made, folder=site / name, folders=(site,))


@pytest.fixture(autouse=True)
def _nothing_stays() -> Iterator[None]:
    before = [*sys.path]
    yield
    assert [entry for entry in sys.path if not entry.endswith("host")] == before
    for name in [one for one in sys.modules if one.startswith(("yaz_plugin_ownpath", "own_dependency"))]:
        del sys.modules[name]


def test_a_plugin_finds_its_own_dependencies_while_it_runs(tmp_path: Path) -> None:
    plugin = TrustedRuntime().start(package(tmp_path))
    assert sys.path[-1] == str(tmp_path)
    plugin.close()
    plugin.close()
    assert str(tmp_path) not in sys.path


def test_what_the_host_has_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "host").mkdir()
    (tmp_path / "host" / "own_dependency.py").write_text("SAID = 'the host'\n")
    monkeypatch.syspath_prepend(str(tmp_path / "host"))
    TrustedRuntime().start(package(tmp_path / "own")).close()
    assert sys.modules["own_dependency"].SAID == "the host"


def test_pth_files_in_it_are_not_read(tmp_path: Path) -> None:
    made = package(tmp_path)
    (tmp_path / "evil.pth").write_text(f"import pathlib; pathlib.Path({str(tmp_path / 'ran')!r}).touch()\n{tmp_path}\n")
    TrustedRuntime().start(made).close()
    assert not (tmp_path / "ran").exists()


def test_one_that_fails_to_start_leaves_nothing_on_the_path(tmp_path: Path) -> None:
    made = package(tmp_path)
    (tmp_path / "own_dependency.py").unlink()
    with pytest.raises(PluginFailed, match="No module named 'own_dependency'"):
        TrustedRuntime().start(made)


def test_two_with_one_folder_each_take_only_their_own(tmp_path: Path) -> None:
    one, other = OwnPath([tmp_path]), OwnPath([tmp_path])
    one.enter()
    other.enter()
    one.leave()
    one.leave()
    assert sys.path.count(str(tmp_path)) == 1
    other.leave()


def test_the_code_of_another_version_is_never_run_for_this_one(tmp_path: Path) -> None:
    TrustedRuntime().start(package(tmp_path / "1", "old")).close()
    with pytest.raises(PluginFailed, match="imported from elsewhere, or in another version"):
        TrustedRuntime().start(package(tmp_path / "2", "new"))


def test_another_version_of_what_the_host_has_is_a_clash(tmp_path: Path) -> None:
    host, own = tmp_path / "host", tmp_path / "own"
    for site, name, version in ((host, "dep", "1.0"), (own, "Dep", "2.0"), (host, "same", "1"), (own, "same", "1"),
                                (own, "new", "1"), (own, "dep", "2.0.1")):
        info = site / f"{name}-{version}.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Name: {name}\nVersion: {version}\n")
    (clash,) = clashes([own], [str(host), str(own)])
    assert (clash.code, clash.message) == (
        "trusted-version-clash", "it brings dep 2.0, and the host has 1.0: in one process there can be only one"
    )  # fmt: skip
    assert clashes([], [str(host)]) == ()


def test_a_host_refuses_a_trusted_plugin_whose_dependencies_clash_with_its_own(
    tmp_path: Path, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.test_plugin_folders import grant, look, put

    site = put(home, 1, contract=3)
    for where, version in ((site, "2.0"), (tmp_path / "host", "1.0")):
        info = where / f"dep-{version}.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Name: dep\nVersion: {version}\n")
    monkeypatch.syspath_prepend(str(tmp_path / "host"))
    grant(home, look(home)[0]["notes"])
    host = Host(attrs.evolve(CONTRACT, group="yaz.manifest", prefix="yaz-plugin-"), home=home)
    try:
        (notes,) = [one for one in host.activate() if one.id == "notes"]
    finally:
        host.close()
    assert (notes.state, [one.code for one in notes.violations]) == ("refused", ["trusted-version-clash"])
