from __future__ import annotations

import pytest

from tests.manifest.fuzz_reading import case, check_promises, leads_somewhere, main
from yazcore.manifest.reading import Reading


def test_garbage_breaks_no_promise() -> None:
    for number in range(120):
        check_promises(case(number))


def test_a_case_is_always_the_same() -> None:
    assert case(7) == case(7) != case(8)


def test_cases_are_garbage_of_every_depth() -> None:
    readings = [check_promises(case(number)) for number in range(40)]
    assert any(one.text is None or one.document is None for one in readings)
    assert any(len(one.violations) > 1 for one in readings)


def test_a_run_says_what_it_did(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(0.1, 0) == 0
    assert capsys.readouterr().out.startswith("cases 0 to ")


def test_a_run_shows_the_case_that_broke_a_promise(capsys: pytest.CaptureFixture[str]) -> None:
    def breaks(data: bytes) -> Reading:
        raise ValueError("a traceback")

    assert main(0.01, 5, breaks) > 0
    printed = capsys.readouterr()
    assert "case 5: b'" in printed.out
    assert "a traceback" in printed.err


@pytest.mark.parametrize(
    ("pointer", "leads"),
    [("", True), ("/a", True), ("/new", True), ("/a/1", True), ("/a/2", False), ("/b/c", False), ("/a/0/x/y", False)],
)
def test_pointers_lead_to_values_and_to_keys_that_are_missing(pointer: str, leads: bool) -> None:
    assert leads_somewhere({"a": [{"x": 1}, 2]}, pointer) is leads
