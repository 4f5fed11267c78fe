"""`yaz check`: what it prints, in each of its forms, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from pydantic_sarif.model import StaticAnalysisResultsFormatSarifVersion210JsonSchema as Sarif

from tests.testing.projects import CODE, ECHO, installed, project
from yazcore.cli.checking import check
from yazcore.violations import YazError

NO_RULES = ("--select", "G1")
"""One rule that says nothing of a plugin with one tool."""


def run(*arguments: str) -> Result:
    """Run the command; what it raises for `main` to print is raised here."""
    result = CliRunner().invoke(check, arguments)
    if isinstance(result.exception, YazError):
        raise result.exception
    assert result.exception is None or isinstance(result.exception, SystemExit), result.output
    return result


def listing(folder: Path, *tools: dict[str, Any]) -> str:
    """A file with a server's tools."""
    file = folder / "tools.json"
    file.write_text(json.dumps({"tools": list(tools)}, indent=1))
    return str(file)


OPEN = {"name": "read_clock", "description": "Gives the time in UTC, to the second.", "inputSchema": {"type": "object"}}
CLOSED = {**OPEN, "inputSchema": {"type": "object", "additionalProperties": False}}
TERSE = {**CLOSED, "description": "Shows a time of the system clock."}


# -- plugins ----------------------------------------------------------------------------------------------------------


def test_check_says_that_nothing_is_wrong(tmp_path: Path) -> None:
    result = run(str(project(tmp_path)), *NO_RULES)
    assert result.stdout == "no violations, no differences, no findings\n"
    assert result.exit_code == 0


def test_check_prints_each_fault_with_what_to_do_and_exits_1(tmp_path: Path) -> None:
    result = run(str(project(tmp_path, code=CODE.replace('Tool("echo"', 'Tool("other"'))), *NO_RULES)
    assert result.exit_code == 1
    assert result.stdout == (
        "difference: tools echo [missing] the manifest declares 'echo', which provide_tools did not register; "
        "it registered other. register 'echo' in provide_tools, or take it out of provides.tools\n"
        "difference: tools other [undeclared] provide_tools registered 'other', which the manifest does not declare; "
        "it declares echo. declare 'other' under provides.tools, or do not register it\n"
        "no violations, 2 differences, no findings\n"
    )


def test_check_names_line_and_column_of_a_violation(tmp_path: Path) -> None:
    result = run(str(project(tmp_path, licence="MIT")), *NO_RULES)
    assert result.exit_code == 1
    assert 'error: 40:3 /licence [manifest-unknown-key] unknown key "licence". did you mean "license"?' in result.stdout
    assert result.stdout.endswith("1 violation, no differences, no findings\n")


@pytest.mark.parametrize("option", [["--json"], ["--format", "json"]])
def test_check_prints_the_report_as_json(tmp_path: Path, option: list[str]) -> None:
    result = run(str(project(tmp_path, code=CODE.replace('Tool("echo"', 'Tool("other"'))), *option, *NO_RULES)
    assert result.exit_code == 1
    document = json.loads(result.stdout)
    assert list(document) == ["violations", "differences", "findings", "waived"]
    assert [one["change"] for one in document["differences"]] == ["missing", "undeclared"]
    assert document["findings"] == []


def test_what_the_plugin_prints_is_no_part_of_the_report(tmp_path: Path) -> None:
    result = run(str(project(tmp_path, code=f"print('hello')\n{CODE}")), "--json", *NO_RULES)
    assert json.loads(result.stdout) == {"violations": [], "differences": [], "findings": [], "waived": []}
    assert "hello" in result.stderr


def test_check_static_runs_nothing_and_says_so(tmp_path: Path) -> None:
    result = run(str(project(tmp_path, code="raise ValueError")), "--static", *NO_RULES)
    assert result.stdout == "no violations, no differences (not looked for), no findings\n"
    assert result.exit_code == 0


def test_check_shows_an_author_where_the_plugin_raised(tmp_path: Path) -> None:
    result = run(str(project(tmp_path, code="raise ValueError('no luck\\x1b[2J')")))
    assert result.exit_code == 1
    assert "[plugin-failed] demo 1.0: import or constructor raised ValueError: no luck\\u001b[2J" in result.stdout
    assert "plugin.py" in result.stderr
    assert "\x1b" not in result.output


def test_check_of_a_shipped_plugin_by_its_id() -> None:
    assert run("typst").stdout == "no violations, no differences, no findings\n"


def test_check_of_nothing_says_what_could_be_checked() -> None:
    with pytest.raises(YazError, match="'nothing' is neither a folder nor an installed plugin"):
        run("nothing")



# -- design rules -----------------------------------------------------------------------------------------------------


def test_findings_are_printed_with_place_rule_and_what_to_change(tmp_path: Path) -> None:
    result = run(listing(tmp_path, OPEN))
    assert result.exit_code == 1
    assert result.stdout == (
        "error: 6:19 tools/read_clock [G50] the tool has no parameters, and takes any. "
        'set "additionalProperties": false\n'
        "no violations, no differences, 1 finding\n"
    )


def test_a_good_list_says_so(tmp_path: Path) -> None:
    result = run(listing(tmp_path, CLOSED))
    assert (result.exit_code, result.stdout) == (0, "no violations, no differences, no findings\n")


def test_a_suspicion_is_printed_and_ends_well_unless_strict(tmp_path: Path) -> None:
    result = run(listing(tmp_path, TERSE))
    assert "suspicion: 5:19 tools/read_clock [G27]" in result.stdout
    assert result.exit_code == 0
    assert run(listing(tmp_path, TERSE), "--strict").exit_code == 1


def test_rules_can_be_selected_and_left_out(tmp_path: Path) -> None:
    assert "[G50]" not in run(listing(tmp_path, OPEN), "--select", "G27").stdout
    assert "[G50]" in run(listing(tmp_path, OPEN), "--select", "G50").stdout
    assert run(listing(tmp_path, OPEN), "--ignore", "G50", "--ignore", "G27").exit_code == 0


def test_a_rule_that_does_not_exist_is_said(tmp_path: Path) -> None:
    with pytest.raises(YazError, match='there is no design rule "G999"'):
        run(listing(tmp_path, OPEN), "--select", "G999")


def test_the_release_before_is_held_against_this_one(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    old = listing(tmp_path / "old", {**CLOSED, "name": "get_time"})
    result = run(listing(tmp_path, CLOSED), "--since", old)
    assert 'surface' not in result.stdout
    assert '[G26] "get_time" was there in the release before, and is gone' in result.stdout


def test_a_file_that_holds_no_list_is_said(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("{}")
    with pytest.raises(YazError, match="this is no list of tools: it holds none of tools, resources"):
        run(str(tmp_path / "x.json"))


def test_a_manifest_that_is_named_itself_is_told_from_a_list(tmp_path: Path) -> None:
    project(tmp_path)
    with pytest.raises(YazError, match="it is the manifest of a plugin") as refused:
        run(str(tmp_path / "yaz_plugin_demo" / "manifest.json"))
    assert refused.value.fix == "name the plugin's folder, its wheel or its id instead"


@pytest.mark.parametrize("more", [[], ["--review"]])
def test_a_json_file_that_is_not_there_is_said(tmp_path: Path, more: list[str]) -> None:
    with pytest.raises(YazError, match=r"there is no file 'x\.json'") as refused:
        run(str(tmp_path / "x.json"), *more)
    assert "a JSON file with a server's lists" in refused.value.fix


@pytest.mark.parametrize("option", ["--select", "--ignore"])
def test_rules_are_named_in_one_option_or_in_several(tmp_path: Path, option: str) -> None:
    file = listing(tmp_path, {**OPEN, "description": TERSE["description"]})
    told = {run(file, *each).stdout for each in ([option, "G50,G27"], [option, "G50", option, "G27"])}
    assert len(told) == 1
    assert ("[G50]" in told.pop()) is (option == "--select")
    with pytest.raises(YazError, match='there is no design rule "G999"'):
        run(file, option, "G50, G999")


WAIVER = '[[waiver]]\nrule = "{}"\nsubject = "tools/read_clock"\nreason = "An old client sends more."\n'


def test_a_finding_of_a_list_is_waived_in_a_file(tmp_path: Path) -> None:
    waivers = tmp_path / "waivers.toml"
    waivers.write_text(WAIVER.format("G50"))
    result = run(listing(tmp_path, OPEN), "--waivers", str(waivers))
    assert result.stdout == "no violations, no differences, no findings (1 waived)\n"
    assert result.exit_code == 0
    waivers.write_text(WAIVER.format("G50") + WAIVER.format("G20"))
    unused = run(listing(tmp_path, OPEN), "--waivers", str(waivers))
    assert '[W1] no finding of G20 about "tools/read_clock"' in unused.stdout
    with pytest.raises(YazError, match=r"there is no file 'none\.toml'"):
        run(listing(tmp_path, OPEN), "--waivers", str(tmp_path / "none.toml"))


def test_waivers_of_a_plugin_stand_beside_its_manifest(tmp_path: Path) -> None:
    result = run(str(project(tmp_path)), "--waivers", "waivers.toml")
    assert result.exit_code == 2
    assert "beside its manifest" in result.output


def test_a_shipped_plugin_can_be_the_release_before() -> None:
    result = run("typst", "--since", "typst")
    assert result.stdout == "no violations, no differences, no findings\n"


def test_a_plugin_in_a_folder_of_its_own_can_be_the_release_before_and_be_reviewed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "apart").mkdir()
    with installed(tmp_path / "apart"):
        pass  # what it wrote stays there, and is on no path
    (tmp_path / "source").mkdir()
    where = str(project(tmp_path / "source"))
    with pytest.raises(YazError):
        run(where, "--since", "demo", *NO_RULES)
    monkeypatch.setattr("yazcore.cli.checking.own_folders", lambda target: (tmp_path / "apart",))
    assert run(where, "--since", "demo", *NO_RULES).exit_code == 0
    assert run("demo", "--review").stdout.endswith(" of 13 open\n")


# -- SARIF ------------------------------------------------------------------------------------------------------------


def sarif(*arguments: str) -> Any:
    """The log, held against the schema of SARIF 2.1.0 (as the package has its classes from it)."""
    document = json.loads(run(*arguments, "--format", "sarif").stdout)
    Sarif.model_validate(document)
    return document["runs"][0]


def test_sarif_has_a_result_for_each_finding_with_its_place(tmp_path: Path) -> None:
    log = sarif(listing(tmp_path, OPEN))
    (result,) = log["results"]
    assert (result["ruleId"], result["level"], result["ruleIndex"]) == ("G50", "error", 0)
    place = result["locations"][0]
    assert place["physicalLocation"] == {
        "artifactLocation": {"uri": "tools.json"}, "region": {"startLine": 6, "startColumn": 19}
    }  # fmt: skip
    assert place["logicalLocations"] == [{"fullyQualifiedName": "tools/read_clock"}]
    assert log["tool"]["driver"]["rules"][0]["id"] == "G50"


def test_sarif_of_a_plugin_has_violations_differences_and_findings(tmp_path: Path) -> None:
    where = project(tmp_path, code=CODE.replace('Tool("echo"', 'Tool("other"'))
    ids = {result["ruleId"] for result in sarif(str(where))["results"]}
    assert {"difference-missing", "difference-undeclared", "G27", "G95"} <= ids
    (tmp_path / "two").mkdir()
    broken = project(tmp_path / "two", licence="MIT")
    assert "manifest-unknown-key" in {result["ruleId"] for result in sarif(str(broken))["results"]}


def test_sarif_shows_what_is_waived_as_suppressed_with_its_reason(tmp_path: Path) -> None:
    where = project(tmp_path, provides={"tools": [ECHO]})
    text = '[[waiver]]\nrule = "G27"\nsubject = "tools/echo"\nreason = "It is a test."\n'
    (tmp_path / "yaz_plugin_demo" / "waivers.toml").write_text(text)
    (result,) = [one for one in sarif(str(where))["results"] if one["ruleId"] == "G27"]
    assert result["suppressions"] == [
        {"kind": "external", "justification": "It is a test."}
    ]


def test_the_same_finding_has_the_same_fingerprint_after_lines_have_moved(tmp_path: Path) -> None:
    first = sarif(listing(tmp_path, OPEN))["results"][0]
    second = sarif(listing(tmp_path, {**CLOSED, "name": "another_clock"}, OPEN))["results"][-1]
    assert first["locations"] != second["locations"]
    assert first["partialFingerprints"] == second["partialFingerprints"] != {}


# -- the reviewer -----------------------------------------------------------------------------------------------------


def test_the_review_says_what_is_open_and_what_is_known(tmp_path: Path) -> None:
    where = project(tmp_path, provides={"tools": [ECHO]})
    (tmp_path / "yaz_plugin_demo" / "review.toml").write_text('[decisions]\ntask-cut = "One tool, one task."\n')
    result = run(str(where), "--review")
    lines = result.stdout.splitlines()
    assert "  answered: One tool, one task." in lines
    assert "  open" in lines
    assert '  known: it only reads with "echo"' in lines
    assert lines[-1] == "12 of 13 open"
    assert result.exit_code == 0


def test_a_review_has_no_sarif(tmp_path: Path) -> None:
    result = run(listing(tmp_path, OPEN), "--review", "--format", "sarif")
    assert result.exit_code == 2
    assert "give --format text or json" in result.output


def test_the_review_is_given_to_programs_too(tmp_path: Path) -> None:
    document = json.loads(run(listing(tmp_path, OPEN), "--review", "--json").stdout)
    assert [one["key"] for one in document][:2] == ["task-cut", "stable-uris"]
    assert document[0]["answer"] is None
