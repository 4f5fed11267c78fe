"""Before the question: real pip against a real environment, and every reason for which nothing is installed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.install.worlds import World
from tests.manifest.installed import distribution
from yazcore.install import RefusedTarget
from yazcore.install.children import Ran
from yazcore.install.environment import environment
from yazcore.install.installers import failure, find_installer
from yazcore.violations import YazError


def refusal(world: World, target: Any) -> YazError:
    with pytest.raises(YazError) as refused:
        world.look(target)
    assert world.left == []
    return refused.value


def test_only_what_the_host_lacks_is_brought(world: World) -> None:
    world.wheel("lacking", requires=["deeper"])
    world.wheel("deeper")
    world.wheel("attrs", "999")
    found = world.look(world.plugin(requires=["lacking>=1", "attrs>=20", "yazcore"]))
    assert (found.plugin, found.version, found.distribution) == ("demo", "1.0", "yaz-plugin-demo")
    assert [(one.name, one.version) for one in found.brings] == [("deeper", "1.0"), ("lacking", "1.0")]
    assert (found.before, found.before_version, found.already) == (None, None, False)
    assert world.left == []


def test_a_name_is_looked_for_where_pip_looks_newest_first(world: World) -> None:
    world.plugin("1.0")
    world.plugin("1.5")
    assert world.look("demo").version == "1.5"
    assert world.look("yaz-plugin-demo<1.5").version == "1.0"


def test_another_version_of_what_the_host_has_but_no_worker_uses_is_brought(world: World) -> None:
    distribution(world.site, name="theirs", version="1.0", entry_points="", files={"theirs/__init__.py": ""})
    world.wheel("theirs", "2.0")
    found = world.look(world.plugin(requires=["theirs>=2"]))
    assert [(one.name, one.version) for one in found.brings] == [("theirs", "2.0")]
    assert found.host.version("theirs") == "1.0"


def test_a_clash_with_what_a_worker_is_made_of_is_said_before_anybody_looks(world: World) -> None:
    clash = refusal(world, world.plugin(requires=["attrs<20", "pluggy>=99"]))
    attrs, pluggy = map(environment(world.path).version, ("attrs", "pluggy"))
    assert clash.code == "install-clash"
    assert clash.message == (
        f"it does not fit what yaz itself runs with: it requires attrs<20, and attrs is {attrs}; it requires "
        f"pluggy>=99, and pluggy is {pluggy}"
    )


def test_so_is_one_that_is_only_found_deeper(world: World) -> None:
    world.wheel("dep", requires=["attrs<20"])
    clash = refusal(world, world.plugin(requires=["dep"]))
    assert clash.code == "install-clash"
    assert "conflict" in clash.message


def test_never_a_second_yazcore(world: World) -> None:
    world.wheel("yazcore", "99.0")
    assert [one.name for one in world.look(world.plugin(requires=["yazcore>=0.1"])).brings] == []
    assert refusal(world, world.plugin("2.0", requires=["yazcore>=99"])).code == "install-clash"


def test_what_does_not_exist_is_said_in_pips_own_words(world: World) -> None:
    fault = refusal(world, world.plugin(requires=["never-heard-of"]))
    assert fault.code == "installer-failed"
    assert "No matching distribution found for never-heard-of" in fault.message


def test_what_exists_as_an_sdist_only_is_not_taken(world: World) -> None:
    (world.index / "sourceonly-1.0.tar.gz").write_bytes(b"not even one")
    fault = refusal(world, world.plugin(requires=["sourceonly"]))
    assert "No matching distribution found for sourceonly" in fault.message


def test_a_plugin_that_requires_another_plugin_is_refused(world: World) -> None:
    world.plugin(plugin_id="other")
    fault = refusal(world, world.plugin(requires=["yaz-plugin-other"]))
    assert (fault.code, fault.message) == (
        "install-brings-plugin", 'it requires another plugin, "yaz-plugin-other"'
    )  # fmt: skip


def test_a_plugin_that_breaks_a_rule_is_refused_with_all_that_is_wrong(world: World) -> None:
    wheel = world.plugin(more={"evil.pth": "import os\n"}, entry_points="[pytest11]\nx = y\n", licence="MIT")
    with pytest.raises(RefusedTarget) as refused:
        world.look(wheel)
    assert {"distribution-startup-file", "distribution-foreign-group", "manifest-unknown-key"} <= {
        one.code for one in refused.value.target.violations
    }
    assert refused.value.message == "it breaks 3 rules, so nothing was installed"


def test_a_name_that_breaks_a_rule_is_refused_alike(world: World) -> None:
    world.plugin(licence="MIT")
    with pytest.raises(RefusedTarget):
        world.look("demo")


def test_one_that_pip_installed_beside_yaz_is_pips_to_change(world: World) -> None:
    wheel = world.plugin("2.0")
    document = '{"id": "demo", "version": "1.0"}'
    files = {"yaz_plugin_demo/__init__.py": "", "yaz_plugin_demo/manifest.json": document}
    distribution(world.site, "demo", version="1.0", files=files)
    fault = refusal(world, wheel)
    assert (fault.code, fault.fix) == (
        "install-with-pip", "upgrade it with pip, or first: pip uninstall yaz-plugin-demo"
    )  # fmt: skip


def test_what_pip_does_not_know_of_is_nothing_to_fit_to(world: World) -> None:
    wheel = world.plugin()
    (info,) = world.site.glob("yazcore-*.dist-info")
    for file in info.iterdir():
        file.unlink()
    assert refusal(world, wheel).code == "install-host-unknown"


def test_a_python_that_the_plugin_does_not_run_on_is_said(world: World) -> None:
    fault = refusal(world, world.plugin(metadata="Requires-Python: >=99\n"))
    assert "requires a different Python" in fault.message


def test_nothing_that_pip_is_told_of_places_displaces_it(
    world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("TARGET", "USER", "REQUIREMENT", "REQUIRE_VIRTUALENV", "QUIET"):
        monkeypatch.setenv(f"PIP_{name}", "1")
    monkeypatch.chdir(tmp_path)
    world.wheel("dep")
    assert [one.name for one in world.look(world.plugin(requires=["dep"])).brings] == ["dep"]
    assert not (tmp_path / "1").exists()


def test_a_configuration_file_displaces_nothing_either(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = tmp_path / "elsewhere"
    (tmp_path / "pip.conf").write_text(
        f"[install]\ntarget = {there}\nuser = true\nprefix = {there}\nroot = {there}\n"
    )
    monkeypatch.setenv("PIP_CONFIG_FILE", str(tmp_path / "pip.conf"))
    folder = world.install(world.plugin())
    assert (folder.site / "yaz_plugin_demo").is_dir()
    assert not there.exists()


def test_pip_is_chosen_where_the_environment_has_it_and_says_when_it_is_too_old(tmp_path: Path) -> None:
    info = distribution(tmp_path, name="pip", version="22.1", entry_points="", files={"pip/__init__.py": ""})
    with pytest.raises(YazError) as refused:
        find_installer(environment([str(tmp_path)]), [str(tmp_path)])
    assert refused.value.code == "installer-too-old"
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: pip\nVersion: 22.2\n")
    assert find_installer(environment([str(tmp_path)]), [str(tmp_path)]).label == "pip 22.2"


def test_without_pip_and_uv_there_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(YazError) as refused:
        find_installer(environment([]), [])
    assert refused.value.code == "installer-missing"


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["Looking", "ERROR: one", "ERROR: two", "ERROR: one"], "one two"),
        (["error: No solution", "  cause: Because a", "         and b", "then c"], "No solution Because a and b"),
        (["  × No solution", "  ╰─▶ Because a", "      and b."], "No solution Because a and b"),
        (["what", "", "ever"], "what ever"),
        ([], "it ended with status 2"),
    ],
)
def test_a_failure_is_told_in_the_installers_words(lines: list[str], said: str) -> None:
    assert failure("pip 1", "do it", Ran(2, tuple(lines))).message == f"pip 1 could not do it: {said}"
