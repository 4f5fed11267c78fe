from __future__ import annotations

import os
import stat
from datetime import UTC, datetime, timedelta

import attrs
import pytest

from yazcore import audit as audit_module
from yazcore.audit import Audit, CallRecord, shapes, values
from yazcore.home import Home


def record(name: str) -> CallRecord:
    return CallRecord(principal="owner", what="tool", name=name, outcome="ok", seconds=0.01)


def test_a_record_holds_names_types_and_sizes_of_arguments_and_no_value(home: Home) -> None:
    assert shapes({"query": "secret", "limit": 3, "on": True, "tags": ["a", "b"], "x": None, "f": 1.5, "o": {}}) == {
        "query": "text 6", "limit": "integer", "on": "boolean", "tags": "list 2", "x": "null", "f": "number",
        "o": "object 0",
    }  # fmt: skip


def test_records_are_read_back_in_order(home: Home) -> None:
    audit = Audit(home)
    audit.call(record("a"))
    audit.call(record("b"))
    assert [line["name"] for line in audit.calls()] == ["a", "b"]
    assert [line["name"] for line in audit.calls(most=1)] == ["b"]


def test_half_of_a_surrogate_pair_is_kept_escaped(home: Home) -> None:
    audit = Audit(home)
    audit.call(record("a\ud800b"))
    assert [line["name"] for line in audit.calls()] == ["a\ud800b"]


def test_the_files_are_the_users_alone(home: Home) -> None:
    Audit(home).call(record("a"))
    assert stat.S_IMODE(home.path("logs", "calls.jsonl").stat().st_mode) == 0o600


def test_a_crash_is_found_by_its_reference(home: Home) -> None:
    audit = Audit(home)
    reference = audit.crash(plugin="p", version="1", where="tools t", type="ValueError", message="secret", trace="...")
    found = audit.crash_of(reference)
    assert found is not None
    assert found["message"] == "secret"
    assert audit.crash_of("ffffffff") is None


def test_old_records_are_rotated_and_still_read(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit_module, "_ROTATE_BYTES", 600)
    audit = Audit(home)
    for number in range(12):
        audit.call(record(str(number)))
    assert home.path("logs", "calls.jsonl.1").exists()
    names = [line["name"] for line in audit.calls()]
    assert names[-1] == "11"
    assert names == sorted(names, key=int)


def test_a_folder_that_cannot_be_written_fails_no_call(home: Home) -> None:
    home.path("logs").parent.mkdir(parents=True, exist_ok=True)
    home.path("logs").write_text("a file where the folder should be")
    Audit(home).call(record("a"))


def test_a_broken_line_does_not_hide_the_others(home: Home) -> None:
    audit = Audit(home)
    audit.call(record("a"))
    with home.path("logs", "calls.jsonl").open("a") as file:
        file.write("{half a li\n")
    audit.call(record("b"))
    assert [line["name"] for line in audit.calls()] == ["a", "b"]


def test_a_record_says_when_who_what_where_and_how_it_ended(home: Home) -> None:
    audit = Audit(home)
    audit.call(
        CallRecord(
            principal="anna", what="resource", name="yaz://a", outcome="denied", seconds=0.1234567, scope="project",
            scope_id="prj_aaaaaaaaaaaa", arguments={"q": "text 3"}, reference="abcd",
        )
    )  # fmt: skip
    (line,) = audit.calls()
    assert {**line, "time": ""} == {
        "time": "", "principal": "anna", "what": "resource", "name": "yaz://a", "outcome": "denied",
        "seconds": 0.123457, "scope": "project", "scope_id": "prj_aaaaaaaaaaaa", "arguments": {"q": "text 3"},
        "reference": "abcd",
    }  # fmt: skip
    reference = audit.crash(plugin="p", version="1", where="w", type="T", message="m", trace="t")
    for time in (line["time"], (audit.crash_of(reference) or {})["time"]):
        assert abs(datetime.fromisoformat(time) - datetime.now(UTC)) < timedelta(minutes=5)
        assert len(time) == len("2026-11-29T10:00:00.123+00:00")


def test_of_many_and_long_names_only_some_are_kept() -> None:
    kept = shapes({f"{number:03}{'x' * 100}": number for number in range(100)})
    assert list(kept) == [f"{number:03}{'x' * 61}" for number in range(32)]
    assert shapes([1, 2]) == shapes("text") == {}


def test_closing_lets_go_of_both_files_and_the_next_record_opens_them_again(home: Home) -> None:
    def held() -> int:
        return len(os.listdir("/proc/self/fd"))

    audit, before = Audit(home), held()
    audit.call(record("a"))
    audit.crash(plugin="p", version="1", where="w", type="T", message="m", trace="t")
    assert held() == before + 2
    audit.close()
    audit.close()
    assert held() == before
    audit.call(record("b"))
    assert [line["name"] for line in audit.calls()] == ["a", "b"]
    del audit
    assert held() == before


def test_a_value_is_kept_where_the_schema_asks_for_it_and_is_a_scalar() -> None:
    given = {"query": "x" * 201, "n": 3, "on": True, "none": None, "f": 0.5, "tags": ["a"], "o": {"a": 1}, "p": "no"}
    assert values(given, given.keys() - {"p"}) == {"query": "x" * 200, "n": 3, "on": True, "none": None, "f": 0.5}
    assert values(given, ()) == values([1], {"query"}) == values({}, {"query"}) == {}


def test_a_record_has_values_only_where_some_are_kept(home: Home) -> None:
    audit = Audit(home)
    audit.call(record("a"))
    audit.call(attrs.evolve(record("b"), values={"query": "words"}))
    assert [line.get("values") for line in audit.calls()] == [None, {"query": "words"}]
