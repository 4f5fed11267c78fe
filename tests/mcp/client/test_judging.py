"""The design rules on a running server, good and hostile: findings, or an error that says why, in bounded time."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner
from pydantic_sarif.model import StaticAnalysisResultsFormatSarifVersion210JsonSchema as Sarif

from tests.mcp.client.conftest import Setup
from yazcore.cli.checking import check
from yazcore.design_rules.engine import chosen
from yazcore.design_rules.rules import RULES
from yazcore.judging import check_server
from yazcore.violations import YazError


def test_what_a_server_offers_is_judged(setup: Setup) -> None:
    setup.stdio()
    found = {(one.rule, one.subject) for one in check_server("checker", setup.home, chosen(RULES)).findings}
    assert ("G51", "tools/mend") in found
    assert ("G36", "tools/mend") not in found


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("time.sleep(3600)", "server-slow"),
        ("print('no json at all')\nsys.exit(0)", "server-gone"),
        ("serving(list=lambda m: send(id=m['id'], result={'tools': [TOOL], 'nextCursor': 'again'}))", "server-endless"),
        ("serving(list=lambda m: send(id=m['id'], result={'tools': 'none'}))", "server-invalid"),
    ],
)
def test_a_hostile_server_is_an_error_that_says_why(setup: Setup, code: str, expected: str) -> None:
    setup.script(code)
    with pytest.raises(YazError) as refused:
        check_server("hostile", setup.home, chosen(RULES), seconds=3 if expected == "server-slow" else 30)
    assert refused.value.code == expected


def test_a_bad_schema_of_a_server_is_a_finding(setup: Setup) -> None:
    setup.script(
        "serving(list=lambda m: send(id=m['id'], result={'tools': [{'name': 'read_ticket', 'inputSchema': "
        "{'type': 'object', 'properties': {'a': {'$ref': 'http://127.0.0.1:9/'}}}}]}))"
    )
    found = [(one.rule, one.message) for one in check_server("hostile", setup.home, chosen(RULES)).findings]
    message = 'the input schema refers to "http://127.0.0.1:9/", which is not in it; nothing is fetched'
    assert ("G25", message) in found


def test_a_server_is_reviewed_by_its_name(setup: Setup, monkeypatch: pytest.MonkeyPatch) -> None:
    setup.stdio()
    monkeypatch.setenv("YAZ_HOME", str(setup.home.folder))
    result = CliRunner().invoke(check, ["--mcp", "checker", "--review"])
    assert result.exit_code == 0, result.output
    assert result.stdout.endswith("13 of 13 open\n")


def test_a_finding_of_a_server_is_waived_in_a_file(setup: Setup, monkeypatch: pytest.MonkeyPatch) -> None:
    setup.stdio()
    monkeypatch.setenv("YAZ_HOME", str(setup.home.folder))
    arguments = ["--mcp", "checker", "--select", "G51", "--json"]
    found = json.loads(CliRunner().invoke(check, arguments).stdout)["findings"]
    file = setup.home.folder / "waivers.toml"
    one = '[[waiver]]\nrule = "G51"\nsubject = "{}"\nreason = "It is a test."\n'
    file.write_text("".join(one.format(subject) for subject in sorted({each["subject"] for each in found})))
    result = CliRunner().invoke(check, [*arguments, "--waivers", str(file)])
    document = json.loads(result.stdout)
    assert (document["findings"], len(document["waived"])) == ([], len(found))
    assert result.exit_code == 0


def test_the_command_judges_a_server_by_its_name(setup: Setup, monkeypatch: pytest.MonkeyPatch) -> None:
    setup.stdio()
    monkeypatch.setenv("YAZ_HOME", str(setup.home.folder))
    result = CliRunner().invoke(check, ["--mcp", "checker", "--format", "sarif"])
    assert result.exit_code == 1, result.output
    document = json.loads(result.stdout)
    Sarif.model_validate(document)
    assert {"G51"} <= {one["ruleId"] for one in document["runs"][0]["results"]}


@pytest.mark.parametrize("arguments", [[], [".", "--mcp", "checker"]])
def test_one_thing_is_judged_at_a_time(arguments: list[str]) -> None:
    assert CliRunner().invoke(check, arguments).exit_code == 2
