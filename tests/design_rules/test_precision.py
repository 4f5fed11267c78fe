"""The labelled corpus against the rules: who is not right often enough may not be called a suspicion."""

from __future__ import annotations

import pytest

from tests.design_rules.corpus import HELD, TUNED
from tests.design_rules.precision import LEAST, Count, counts, main
from yazcore.design_rules.rules import RULES

WHOLE = TUNED + HELD


def fired(servers: tuple[object, ...] = WHOLE) -> list[Count]:
    return [one for one in counts(servers) if one.right or one.wrong]  # type: ignore[arg-type]


def test_the_corpus_is_large_enough() -> None:
    assert sum(len(server.tools) for server in WHOLE) >= 100
    assert sum(len(server.tools) for server in HELD) >= 50


def test_labels_name_rules_that_exist() -> None:
    known = {rule.id for rule in RULES}
    assert {rule for server in WHOLE for tool in server.tools for rule in tool.rules} - known == set()


@pytest.mark.parametrize("one", [one for one in fired() if one.rule.severity == "error"], ids=lambda one: one.rule.id)
def test_an_error_is_never_wrong(one: Count) -> None:
    assert one.wrong == ()


def test_a_suspicion_is_measured_or_says_why_not() -> None:
    measured = {one.rule.id for one in fired()}
    suspicions = [rule for rule in RULES if rule.severity == "suspicion"]
    assert [rule.id for rule in suspicions if bool(rule.unmeasured) is (rule.id in measured)] == []
    assert [rule.id for rule in RULES if rule.unmeasured and rule.severity != "suspicion"] == []


@pytest.mark.parametrize("half", [TUNED, HELD], ids=["tuned", "held"])
def test_a_suspicion_is_right_four_times_in_five_in_each_half(half: tuple[object, ...]) -> None:
    suspicions = [one for one in fired(half) if one.rule.severity == "suspicion"]
    assert [(one.rule.id, one.precision) for one in suspicions if (one.precision or 0) < LEAST] == []


def test_the_command_prints_precision_and_recall(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["precision", "--misses"])
    main()
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "169 tools of 18 servers, labelled by hand"
    assert any(line.startswith("G37   suspicion") for line in lines)
    assert any(line.startswith("      missed: ") for line in lines)
