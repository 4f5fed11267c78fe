from __future__ import annotations

from yazcore.violations import Difference, Violation, YazError, errors, sentence


def test_a_violation_reads_as_position_pointer_code_message_and_fix() -> None:
    violation = Violation(
        "tool-deadline", "a deadline of 0 seconds is not possible", "give 1 to 600 seconds",
        "/provides/tools/0/deadlineSeconds", line=7, column=9,
    )  # fmt: skip
    assert sentence(violation) == (
        "7:9 /provides/tools/0/deadlineSeconds [tool-deadline] "
        "a deadline of 0 seconds is not possible. give 1 to 600 seconds"
    )


def test_a_violation_without_a_place_reads_as_code_and_message() -> None:
    assert sentence(Violation("json-bom", "it starts with a mark")) == "[json-bom] it starts with a mark"


def test_a_violation_is_plain_data_with_its_position() -> None:
    assert Violation("a", "b", "c", "/d", line=1, column=2).as_json() == {
        "code": "a", "message": "b", "fix": "c", "pointer": "/d", "severity": "error", "line": 1, "column": 2,
    }  # fmt: skip


def test_a_difference_is_plain_data_in_the_fixed_order() -> None:
    difference = Difference("tools", "search", "missing", "no code", "write it", declared={"name": "search"})
    assert list(difference.as_json()) == ["kind", "name", "change", "declared", "registered", "message", "fix"]


def test_a_difference_reads_as_kind_name_change_message_and_fix() -> None:
    difference = Difference("tools", "search", "missing", "no hook registered it", "register it")
    assert sentence(difference) == "tools search [missing] no hook registered it. register it"


def test_an_error_for_people_has_a_code_and_reads_as_one_line() -> None:
    error = YazError("home-busy", "another process holds it", "wait")
    assert (sentence(error), str(error)) == ("[home-busy] another process holds it. wait", "another process holds it")
    assert error.as_json() == {"code": "home-busy", "message": "another process holds it", "fix": "wait"}


def test_only_errors_refuse_a_manifest() -> None:
    wrong, doubtful = Violation("a", "b"), Violation("c", "d", severity="warning")
    assert errors([wrong, doubtful]) == [wrong]
