"""`yaz doctor`, and the commands that have to work when something is broken: real broken things, first on the path."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.commands import DEMO, Shell, install
from tests.install.worlds import host_metadata
from tests.test_plugin_folders import put

BROKEN = "raise RuntimeError('broken on purpose')"


@pytest.fixture
def broken(yaz: Shell) -> Shell:
    """A pydantic that cannot be imported, an entry_points.txt that nobody can read, a plugin that breaks a rule."""
    (yaz.site / "pydantic").mkdir()
    (yaz.site / "pydantic" / "__init__.py").write_text(BROKEN)
    info = yaz.site / "stranger-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: stranger\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[pydantic\nno entry")
    install(yaz.site, "refused", provides={}, licence="MIT")
    install(yaz.site, "skipped", provides={})
    (yaz.site / "yaz_plugin_skipped" / "manifest.json").unlink()
    install(yaz.site, **{**DEMO, "code": BROKEN})
    return yaz


def test_everything_that_is_broken_is_named_with_how_to_mend_it(broken: Shell) -> None:
    done = broken.run("doctor", "--json")
    assert (done.status, done.err) == (1, "")
    problems = {(one["subject"], one["code"]): one for one in done.json["problems"]}
    assert {
        ("pydantic", "import-broken"),
        ("mcp", "import-broken"),
        ("stranger", "entry-points-broken"),
        ("refused", "manifest-unknown-key"),
        ("yaz-plugin-skipped", "manifest-missing"),
    } <= set(problems)
    assert "RuntimeError: broken on purpose; it lies in " in problems["pydantic", "import-broken"]["message"]
    assert all(one["fix"] for one in problems.values())
    assert done.json["waiting"] == [{"plugin": "demo", "why": "it has not been granted"}]
    assert str(broken.site) in {one["folder"] for one in done.json["path"]}
    assert done.json["installer"].startswith(("pip ", "uv "))


def test_the_same_for_a_person(broken: Shell) -> None:
    done = broken.run("doctor")
    assert done.status == 1
    assert "wrong:     stranger: [entry-points-broken] entry_points.txt, line 1, is no entry point" in done.out
    assert "waits:     demo: it has not been granted; yaz show demo says what helps" in done.out
    lines = done.out.splitlines()
    told = broken.run("doctor", "--json").json
    for one in told["problems"]:
        at = lines.index(f"wrong:     {one['subject']}: [{one['code']}] {one['message']}")
        assert lines[at + 1] == f"           {one['fix']}"
    for one in told["path"]:
        assert f"looks in:  {one['folder']} ({one['distributions']} distributions)" in lines
    assert f"installs:  {told['installer']}" in lines


def test_in_safe_mode_it_looks_at_no_installed_plugin(broken: Shell) -> None:
    done = broken.run("doctor", "--safe-mode", "--json")
    named = {one["subject"] for one in done.json["problems"]}
    assert named & {"refused", "yaz-plugin-skipped", "demo"} == set()
    assert "pydantic" in named
    assert done.json["waiting"] == []


def test_what_lists_switches_and_calls_works_all_the_same(broken: Shell) -> None:
    assert broken.run("plugins").status == 0
    assert broken.run("disable", "demo").out == "demo is off\n"
    assert broken.run("enable", "typst").out == "typst is on\n"
    assert broken.run("grant", "demo", "--trusted", "--yes").status == 0
    assert broken.run("call", "list_projects", "--safe-mode").json["structuredContent"]["projects"] == []


def test_serving_ends_with_a_sentence(broken: Shell) -> None:
    done = broken.run("serve")
    assert (done.status, done.out) == (1, "")
    assert done.err == (
        "yaz: [sdk-broken] the MCP server cannot start: RuntimeError: broken on purpose. "
        "yaz doctor says what is broken\n"
    )


def test_broken_files_are_named_and_the_rest_is_still_looked_at(yaz: Shell) -> None:
    install(yaz.site, "refused", provides={}, licence="MIT")
    yaz.home.write_text("grants.json", "{")
    yaz.home.write_text("settings.toml", "roots = [")
    yaz.home.path("plugins", ".new-1").mkdir(parents=True)
    problems = {(one["subject"], one["code"]) for one in yaz.here("doctor", "--json").json["problems"]}
    assert {
        ("grants.json", "home-file-broken"),
        ("settings.toml", "settings-broken"),
        ("refused", "manifest-unknown-key"),
        ("plugins/.new-1", "install-left"),
    } <= problems


def test_a_mark_that_keeps_yaz_from_serving_is_named(yaz: Shell) -> None:
    yaz.home.write_text("settings.toml", '[plugins.demo.tools.echo]\napproval = "never"\n')
    problems = {one["code"]: one for one in yaz.here("doctor", "--json").json["problems"]}
    assert problems["mark-broken"] == {
        "subject": "settings.toml",
        "code": "mark-broken",
        "message": 'settings.toml: plugins.demo.tools.echo.approval can only say "ask"',
        "fix": "take the line out to leave it to the plugin",
    }


def test_what_a_plugin_in_its_folder_has_lost_is_named(yaz: Shell) -> None:
    site = put(yaz.home, 1, plugin_id="demo", contract=1, minAppVersion="0.1.0")
    metadata = site / "yaz_plugin_demo-1.0.dist-info" / "METADATA"
    metadata.write_text("Metadata-Version: 2.1\nName: yaz-plugin-demo\nVersion: 1.0\nRequires-Dist: gone>=1\n")
    problems = {one["code"]: one["message"] for one in yaz.here("doctor", "--json").json["problems"]}
    assert problems["plugin-requirement-unmet"] == "yaz-plugin-demo needs gone>=1, which is not there"


def test_a_sound_installation_is_0(yaz: Shell) -> None:
    host_metadata(yaz.site)
    done = yaz.run("doctor")
    assert done.out.endswith("nothing is wrong\n"), done.out
    assert done.status == 0


# -- safe mode --------------------------------------------------------------------------------------------------------


def test_in_safe_mode_only_what_ships_is_there(yaz: Shell, thesis: Path) -> None:
    install(yaz.site, **DEMO)
    put(yaz.home, 1, plugin_id="other", contract=1, minAppVersion="0.1.0")
    assert yaz.here("grant", "demo", "--trusted", "--yes").status == 0
    listed = yaz.here("plugins", "--safe-mode", "--json").json["plugins"]
    assert [one["id"] for one in listed] == ["typst", "yaz"]
    names = [one["name"] for one in yaz.run("tools", "--safe-mode", "--json").json["tools"]]
    assert names
    assert not [name for name in names if "__" in name]
    process = yaz.start("serve", "--safe-mode", "--json", str(thesis))
    assert json.loads(process.line())["projects"]
    assert [one["id"] for one in yaz.here("plugins", "--json").json["plugins"]] == ["typst", "yaz"]
    assert yaz.here("stop").status == 0
    assert process.end().status == 0
