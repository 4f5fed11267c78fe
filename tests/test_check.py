from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

import attrs
import pytest

from tests.manifest.archived import wheel
from tests.testing.projects import CODE, CONTRACT, ECHO, installed, package, pyproject
from yazcore.check import Report, check_target
from yazcore.design_rules.plugins import plugin_surface
from yazcore.violations import Violation, YazError

ENTRY = 'demo = "yaz_plugin_demo:manifest.json"\n'
GROUP = '[project.entry-points."yaz.manifest"]\n'


def codes(report: Report) -> list[str]:
    return [violation.code for violation in report.violations]


def plain(report: Report) -> Report:
    """A report without what the design rules find."""
    return attrs.evolve(report, findings=(), waived=(), file="manifest.json")


def changes(report: Report) -> list[tuple[str, str]]:
    return [(difference.name, difference.change) for difference in report.differences]


# -- what is checked --------------------------------------------------------------------------------------------------


def test_a_package_that_keeps_its_word_is_clean(tmp_path: Path) -> None:
    assert plain(check_target(package(tmp_path), CONTRACT)) == Report()


def test_a_project_is_checked_by_its_one_package(tmp_path: Path) -> None:
    package(tmp_path)
    assert plain(check_target(pyproject(tmp_path), CONTRACT)) == Report()


def test_a_project_may_keep_its_package_below_src(tmp_path: Path) -> None:
    package(tmp_path / "src")
    assert plain(check_target(pyproject(tmp_path), CONTRACT)) == Report()


def test_an_installed_plugin_is_checked_by_its_id(tmp_path: Path) -> None:
    with installed(tmp_path, code=CODE.replace('Tool("echo"', 'Tool("other"')):
        assert changes(check_target("demo", CONTRACT)) == [("echo", "missing"), ("other", "undeclared")]


def test_a_plugin_in_a_folder_of_its_own_is_checked_by_its_id_with_what_it_brought_along(tmp_path: Path) -> None:
    code = "import of_demo_alone\n" + CODE.replace('Tool("echo"', 'Tool("other"')
    with installed(tmp_path / "site", code=code):
        pass  # only its files are left: nothing of it is on the path
    (tmp_path / "site" / "of_demo_alone.py").write_text("")
    path = list(sys.path)
    report = check_target("demo", CONTRACT, extra=[tmp_path / "site"])
    assert (codes(report), changes(report)) == ([], [("echo", "missing"), ("other", "undeclared")])
    assert sys.path == path


def test_an_installed_plugin_that_is_skipped_is_reported_with_the_reason(tmp_path: Path) -> None:
    with installed(tmp_path, more_groups="[pytest11]\ndemo = yaz_plugin_demo\n"):
        assert codes(check_target("demo", CONTRACT)) == ["distribution-foreign-group"]


@pytest.mark.parametrize("by_id", [True, False])
def test_a_shipped_plugin_may_have_its_reserved_id(
    tmp_path: Path, by_id: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    echo = {**ECHO, "permission": "typst:read"}
    name = f"shipped_typst_{by_id}".lower()
    where = package(tmp_path, plugin_id="typst", name=name, provides={"tools": [echo]})
    monkeypatch.syspath_prepend(str(tmp_path))
    assert plain(check_target("typst" if by_id else where, CONTRACT, shipped=[where])) == Report()


def test_nobody_else_may_have_a_reserved_id(tmp_path: Path) -> None:
    echo = {**ECHO, "permission": "typst:read"}
    where = package(tmp_path, plugin_id="typst", provides={"tools": [echo]})
    assert codes(check_target(where, CONTRACT)) == ["id-reserved"]


# -- violations -------------------------------------------------------------------------------------------------------


def test_what_reading_finds_has_its_place_in_the_file(tmp_path: Path) -> None:
    (violation,) = check_target(package(tmp_path, licence="MIT"), CONTRACT).violations
    assert (violation.code, violation.pointer, violation.column) == ("manifest-unknown-key", "/licence", 3)
    assert violation.line is not None
    assert violation.line > 1


def test_a_manifest_that_is_no_json_is_a_violation(tmp_path: Path) -> None:
    where = package(tmp_path)
    (where / "manifest.json").write_text("{")
    pyproject(tmp_path)
    assert len(check_target(tmp_path, CONTRACT).violations) == 1


def test_a_manifest_that_cannot_be_read_is_a_violation(tmp_path: Path) -> None:
    where = package(tmp_path)
    (where / "manifest.json").unlink()
    (where / "manifest.json").symlink_to("/proc/self/mem")
    assert codes(check_target(where, CONTRACT)) == ["manifest-unreadable"]


def test_texts_are_checked_too(tmp_path: Path) -> None:
    report = check_target(package(tmp_path, texts="other = Another\n"), CONTRACT)
    assert report.refuses
    assert "/permissions/0/descriptionKey" in {violation.pointer for violation in report.violations}


def test_schemas_are_checked_too(tmp_path: Path) -> None:
    echo = {**ECHO, "outputSchema": {"type": "object", "properties": {"text": {"type": "word"}}}}
    (violation,) = check_target(package(tmp_path, provides={"tools": [echo]}), CONTRACT).violations
    assert violation.pointer.startswith("/provides/tools/0/outputSchema")


def test_code_outside_the_package_is_a_violation(tmp_path: Path) -> None:
    assert codes(check_target(package(tmp_path, module="os.path:Plugin"), CONTRACT)) == ["module-elsewhere"]


# -- what a project will publish --------------------------------------------------------------------------------------


def test_a_project_without_an_entry_point_would_never_be_found(tmp_path: Path) -> None:
    package(tmp_path)
    (violation,) = check_target(pyproject(tmp_path, entry_points=""), CONTRACT).violations
    assert (violation.code, violation.message, violation.fix) == (
        "entry-point-missing",
        "nobody will find the plugin: it publishes no entry point",
        'add [project.entry-points."yaz.manifest"] to pyproject.toml, with ID = "yaz_plugin_demo:manifest.json"',
    )


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ({"name": "demo-for-yaz"}, "distribution-name"),
        ({"version": '"2.0"'}, "version-differs"),
        ({"entry_points": GROUP + 'demo = "yaz_plugin_demo.sub:manifest.json"\n'}, "entry-point-value"),
        ({"entry_points": f"{GROUP}{ENTRY}[project.entry-points.pytest11]\na = 'b'\n"}, "distribution-foreign-group"),
    ],
)
def test_what_discovery_would_refuse_is_found_before_it_is_published(
    tmp_path: Path, wrong: dict[str, Any], code: str
) -> None:
    package(tmp_path)
    assert codes(check_target(pyproject(tmp_path, **wrong), CONTRACT)) == [code]


def test_a_version_that_the_build_finds_is_taken_for_the_manifests(tmp_path: Path) -> None:
    package(tmp_path)
    assert plain(check_target(pyproject(tmp_path, version=None), CONTRACT)) == Report()


@pytest.mark.parametrize(
    "text", ["", "[project", "project = 1\n", '[project]\nname = 3\ndynamic = ["entry-points"]\n']
)
def test_a_project_file_that_says_nothing_is_no_obstacle(tmp_path: Path, text: str) -> None:
    package(tmp_path)
    (tmp_path / "pyproject.toml").write_text(text)
    assert plain(check_target(tmp_path, CONTRACT)) == Report()


# -- differences ------------------------------------------------------------------------------------------------------


def test_differences_are_found_in_both_directions(tmp_path: Path) -> None:
    report = check_target(package(tmp_path, code=CODE.replace('Tool("echo"', 'Tool("other"')), CONTRACT)
    assert changes(report) == [("echo", "missing"), ("other", "undeclared")]
    assert report.refuses


def test_an_import_that_raises_is_a_violation_and_its_trace_stays_out_of_the_json(tmp_path: Path) -> None:
    report = check_target(package(tmp_path, code="raise ValueError('no luck')"), CONTRACT)
    (violation,) = report.violations
    assert violation.code == "plugin-failed"
    assert violation.message == "demo 1.0: import or constructor raised ValueError: no luck"
    assert "plugin.py" in report.trace
    assert "plugin.py" not in str(report.as_json())


def test_a_hook_of_a_forbidden_form_is_a_violation(tmp_path: Path) -> None:
    code = CODE.replace("def provide_tools", "async def provide_tools")
    assert codes(check_target(package(tmp_path, code=code), CONTRACT)) == ["hook-async"]


def test_a_hook_that_returns_no_list_is_a_violation(tmp_path: Path) -> None:
    code = CODE.replace('[Tool("echo", self.echo)]', '{"echo": self.echo}')
    (violation,) = check_target(package(tmp_path, code=code), CONTRACT).violations
    assert violation.code == "hook-return"
    assert violation.message == "demo 1.0: provide_tools returned a dict; it must return a list"


def test_static_runs_nothing(tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    code = f"open({str(ran)!r}, 'w').close()\n{CODE}".replace('Tool("echo"', 'Tool("other"')
    assert plain(check_target(package(tmp_path, code=code), CONTRACT, static=True)) == Report()
    assert not ran.exists()


def test_nothing_runs_of_a_plugin_that_is_refused_already(tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    check_target(package(tmp_path, code=f"open({str(ran)!r}, 'w')\n{CODE}", licence="MIT"), CONTRACT)
    assert not ran.exists()


def test_onload_is_not_run(tmp_path: Path) -> None:
    code = CODE + "\n    @hookimpl\n    def onload(self):\n        raise ValueError('loaded')\n"
    assert plain(check_target(package(tmp_path, code=code), CONTRACT)) == Report()


def test_the_constructor_has_default_settings_and_a_folder_of_its_own(tmp_path: Path) -> None:
    setting = {"key": "greeting", "type": "string", "default": "hello", "descriptionKey": "text"}
    code = CODE.replace(
        "self.context = context",
        "assert context.settings['greeting'] == 'hello'; (context.data_folder / 'x').write_text('x')",
    )
    provides = {"tools": [ECHO], "settings": [setting]}
    assert plain(check_target(package(tmp_path, code=code, provides=provides), CONTRACT)) == Report()


def test_two_plugins_with_the_same_package_name_are_told_apart(tmp_path: Path) -> None:
    good, bad = package(tmp_path / "good"), package(tmp_path / "bad", code="raise ValueError")
    assert codes(check_target(bad, CONTRACT)) == ["plugin-failed"]
    assert plain(check_target(good, CONTRACT)) == Report()


def test_a_folder_is_checked_though_another_of_that_name_is_imported_already(tmp_path: Path) -> None:
    bad = package(tmp_path / "bad", code="raise ValueError")
    with installed(tmp_path / "good"):
        imported = importlib.import_module("yaz_plugin_demo.plugin")
        assert codes(check_target(bad, CONTRACT)) == ["plugin-failed"]
        assert sys.modules["yaz_plugin_demo.plugin"] is imported


def test_the_path_and_the_modules_are_as_before(tmp_path: Path) -> None:
    check_target(package(tmp_path / "warm"), CONTRACT)
    path, modules = list(sys.path), set(sys.modules)
    check_target(package(tmp_path / "cold"), CONTRACT)
    assert sys.path == path
    assert set(sys.modules) == modules


# -- targets that are none --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["", "nothing", "a" * 100])
def test_an_id_that_nobody_has_is_said_with_those_that_are_installed(target: str) -> None:
    with pytest.raises(YazError) as caught:
        check_target(target, CONTRACT)
    assert caught.value.code == "target-unknown"
    assert caught.value.message == f"{target!r} is neither a folder nor an installed plugin"
    assert caught.value.fix.startswith("give a plugin's folder, or an id; installed are: ")


def test_a_folder_that_is_not_there_is_no_id(tmp_path: Path) -> None:
    with pytest.raises(YazError, match="there is no file or folder") as caught:
        check_target(str(tmp_path / "demo"), CONTRACT)
    assert caught.value.code == "target-unknown"


def test_a_folder_without_a_manifest_is_said(tmp_path: Path) -> None:
    with pytest.raises(YazError) as caught:
        check_target(tmp_path, CONTRACT)
    assert caught.value.code == "target-without-manifest"
    assert caught.value.message == f"{tmp_path.name} holds no manifest.json, and neither does a package in it"


@pytest.mark.parametrize("name", ["json", "yazcore"])
def test_a_package_must_not_hide_what_python_and_yaz_need(tmp_path: Path, name: str) -> None:
    with pytest.raises(YazError) as caught:
        check_target(package(tmp_path, name=name), CONTRACT)
    assert caught.value.code == "target-name-taken"
    assert caught.value.message == f"{name} is the name of another package"


def test_a_project_with_two_plugins_is_ambiguous(tmp_path: Path) -> None:
    package(tmp_path, name="one")
    package(tmp_path, name="two")
    with pytest.raises(YazError) as caught:
        check_target(tmp_path, CONTRACT)
    assert caught.value.code == "target-ambiguous"
    assert caught.value.message == f"{tmp_path.name} holds several plugins: one, two"


def test_warnings_alone_refuse_nothing() -> None:
    warning = Violation("a-code", "it could be better", severity="warning")
    assert not Report(violations=(warning,)).refuses
    assert Report(violations=(warning, Violation("a-code", "it is wrong"))).refuses


def test_the_json_has_the_three_fixed_keys(tmp_path: Path) -> None:
    report = check_target(package(tmp_path), CONTRACT).as_json()
    assert (report["violations"], report["differences"]) == ([], [])
    assert {"rule", "severity", "subject", "pointer", "message", "change"} <= set(report["findings"][0])


# -- the design rules -------------------------------------------------------------------------------------------------

ANSWERED = """
[decisions]
task-cut = "One tool, one task."
stable-uris = "There are no resources."
texts-and-schemas = "Read by two people."
templates = "There are no templates."
tool-or-resource = "The model starts it."
visible-tools = "There is only one."
answer-size = "As long as what was given."
backend-hidden = "There is no backend."
no-pass-through = "It takes one text."

[questions]
who-starts = "The model starts it."
greatest-effect = "Nothing is changed by it."
stable-meaning = "It gives back what it got."
free-to-change = "There is no backend."
"""


def found(report: Report) -> list[tuple[str, str]]:
    return [(one.rule, one.subject) for one in report.findings]


def test_findings_have_their_place_in_the_manifest(tmp_path: Path) -> None:
    report = check_target(package(tmp_path), CONTRACT)
    finding = next(one for one in report.findings if one.rule == "G27")
    assert (finding.subject, finding.pointer) == ("tools/echo", "/provides/tools/0/descriptionKey")
    lines = (tmp_path / "yaz_plugin_demo" / "manifest.json").read_text().splitlines()
    assert lines[(finding.line or 0) - 1][(finding.column or 0) - 1 :].startswith('"text"')


def test_findings_alone_refuse_nothing(tmp_path: Path) -> None:
    assert not check_target(package(tmp_path), CONTRACT).refuses


def test_a_record_that_answers_everything_leaves_nothing_open(tmp_path: Path) -> None:
    where = package(tmp_path)
    assert {("G95", "review.toml"), ("G96", "review.toml")} <= set(found(check_target(where, CONTRACT)))
    (where / "review.toml").write_text(ANSWERED)
    assert not {"G95", "G96"} & {rule for rule, _ in found(check_target(where, CONTRACT))}


def test_a_waiver_answers_a_finding_and_one_that_answers_none_is_one(tmp_path: Path) -> None:
    where = package(tmp_path)
    waivers = (("G27", "tools/echo"), ("G20", "tools/echo"))
    text = "".join(f'[[waiver]]\nrule = "{r}"\nsubject = "{s}"\nreason = "It is a test."\n' for r, s in waivers)
    (where / "waivers.toml").write_text(text)
    report = check_target(where, CONTRACT)
    assert ("W1", "waivers.toml") in found(report)
    assert [(one.rule, reason) for one, reason in report.waived] == [("G27", "It is a test.")]
    assert "G27" not in {rule for rule, _ in found(report)}


@pytest.mark.parametrize("rule", ["G26", "G33"])
def test_a_waiver_of_what_a_release_before_shows_is_unused_only_beside_one(tmp_path: Path, rule: str) -> None:
    where = package(tmp_path)
    waiver = f'[[waiver]]\nrule = "{rule}"\nsubject = "tools/echo"\nreason = "It is a test."\n'
    (where / "waivers.toml").write_text(waiver)
    assert ("W1", "waivers.toml") not in found(check_target(where, CONTRACT))
    same = plugin_surface(json.loads((where / "manifest.json").read_text()), {}, CONTRACT)
    assert ("W1", "waivers.toml") in found(check_target(where, CONTRACT, before=same))


def test_a_waiver_of_what_only_code_tells_is_unused_only_where_it_was_asked(tmp_path: Path) -> None:
    where = package(tmp_path)
    (where / "waivers.toml").write_text('[[waiver]]\nrule = "G57b"\nsubject = "a/b"\nreason = "It is a test."\n')
    assert ("W1", "waivers.toml") not in found(check_target(where, CONTRACT, static=True))
    assert ("W1", "waivers.toml") in found(check_target(where, CONTRACT))


def test_a_refused_manifest_is_judged_too(tmp_path: Path) -> None:
    report = check_target(package(tmp_path, provides={"tools": [{**ECHO, "permission": ["a", "b"]}]}), CONTRACT)
    assert report.refuses
    assert ("G23", "tools/echo") in found(report)


def test_a_resource_whose_code_completes_nothing_is_found_once_the_code_is_asked(tmp_path: Path) -> None:
    resource = {
        "uriTemplate": "yaz://demo/{key}", "nameKey": "text", "descriptionKey": "text", "scope": "global",
        "permission": "demo:read", "variables": [{"name": "key", "note": "a key"}],
    }  # fmt: skip
    code = CODE.replace("    def echo(", "    @hookimpl\n    def provide_resources(self):\n"
                        "        return [Resource('yaz://demo/{key}', self.echo)]\n\n    def echo(")  # fmt: skip
    code = code.replace("import Tool", "import Resource, Tool")
    where = package(tmp_path, provides={"tools": [ECHO], "resources": [resource]}, code=code)
    finding = ("G57b", "resources/yaz://demo/{key}")
    assert finding not in found(check_target(where, CONTRACT, static=True))
    assert finding in found(check_target(where, CONTRACT))


def test_a_wheel_is_checked_without_running_anything(tmp_path: Path) -> None:
    report = check_target(wheel(tmp_path), CONTRACT)
    assert report.file == "yaz_plugin_zotero/manifest.json"
    assert ("G95", "review.toml") in found(report)


def test_the_files_of_a_reviewer_are_read_in_a_wheel_too(tmp_path: Path) -> None:
    file = wheel(tmp_path, more={"yaz_plugin_zotero/review.toml": ANSWERED})
    assert not {"G95", "G96"} & {rule for rule, _ in found(check_target(file, CONTRACT))}
