from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from yazcore.manifest.json_text import DEEPEST, MOST_BYTES, parse
from yazcore.manifest.places import located


def faults(data: bytes) -> list[tuple[str, str, int | None, int | None]]:
    parsed = parse(data)
    return [(one.code, one.pointer, one.line, one.column) for one in located(parsed.faults, parsed.text)]


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers(-(2**63), 2**64 - 1)
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
        max_leaves=15,
    )
)
def test_json_that_may_stand_in_a_manifest_is_read_as_it_is(value: Any) -> None:
    parsed = parse(json.dumps(value).encode())
    assert (parsed.value, parsed.faults, parsed.is_json) == (value, (), True)


@given(st.binary() | st.text(alphabet='{}[]":,\\ue0019.-+NaIfinty \n').map(str.encode))
@example(b"\xef\xbb\xbf{}")
@example("{}".encode("utf-16"))
@example(b"[" * 100_000)
@example(b"-" * 1000)
def test_no_bytes_raise_and_each_fault_has_a_place(data: bytes) -> None:
    parsed = parse(data)
    assert parsed.is_json or parsed.faults
    for violation in located(parsed.faults, parsed.text):
        assert violation.line is not None
        assert violation.fix


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"\xef\xbb\xbf{}", ("json-bom", "", 1, 1)),
        ("{}".encode("utf-16"), ("json-bom", "", 1, 1)),
        (b'{\n "a": "\xe4"}', ("json-not-utf8", "", 2, 8)),
        (b'{"a": }', ("json-syntax", "", 1, 7)),
        (b"", ("json-syntax", "", 1, 1)),
        (b"{} {}", ("json-syntax", "", 1, 4)),
        (b'{"a": 1, "b": 2, "a": 3}', ("json-duplicate-key", "/a", 1, 18)),
        (b'[{"x": {"a": 1, "a": 1}}]', ("json-duplicate-key", "/0/x/a", 1, 17)),
        (b'{"a": NaN}', ("json-number", "/a", 1, 7)),
        (b'{"a": -Infinity}', ("json-number", "/a", 1, 7)),
        (b'{"a": 1e999}', ("json-number", "/a", 1, 7)),
        (b'{"a": 18446744073709551616}', ("json-number", "/a", 1, 7)),
        (b'{"a": ' + b"9" * 5000 + b"}", ("json-number", "/a", 1, 7)),
        (b'{"a": "\\ud800"}', ("json-lone-surrogate", "/a", 1, 7)),
        (b'{"\\udc00": 1}', ("json-lone-surrogate", "/\ufffd", 1, 2)),
        (b'{"a":' + b"[" * 32 + b"]" * 32 + b"}", ("json-too-deep", "/a" + "/0" * 31, 1, 37)),
        (b"[" * 100_000, ("json-too-deep", "", 1, 33)),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else None,
)
def test_each_fault_is_named_where_it_stands(data: bytes, expected: tuple[str, str, int, int]) -> None:
    assert faults(data) == [expected]


def test_the_deepest_and_the_largest_that_may_be() -> None:
    assert faults(b"[" * DEEPEST + b"]" * DEEPEST) == []
    assert faults(b'"' + b"x" * (MOST_BYTES - 2) + b'"') == []
    assert faults(b'"' + b"x" * (MOST_BYTES - 1) + b'"') == [("json-too-large", "", None, None)]


def test_a_pair_of_surrogates_is_a_character() -> None:
    assert parse(b'"\\ud83d\\ude00"').value == "\U0001f600"


def test_all_faults_come_at_once() -> None:
    data = b'{"a": NaN, "b": "\\ud800", "b": 1e999, "c": [Infinity]}'
    assert [code for code, *_ in faults(data)] == ["json-number", "json-duplicate-key", "json-number", "json-number"]


def test_stand_ins_are_harmless() -> None:
    value = parse(b'{"a": "\\ud800x", "b": NaN, "\\ud800": 1}').value
    assert value["a"] == "\ufffdx"
    assert list(value) == ["a", "b", "\ufffd"]
    assert value["b"] is None


@pytest.mark.parametrize(
    ("data", "message", "fix"),
    [
        (b"\xef\xbb\xbf{}", "the file starts with a byte order mark", "save it as UTF-8 without a byte order mark"),
        (b"\xff", "byte 0xff is not UTF-8", "save the file as UTF-8"),
        (b'{"a": }', "this is not JSON: expecting value", "mend the syntax here"),
        (b'{"a": 1, "a": 1}', 'the key "a" stands twice in one object', "leave one of them out"),
        (
            b"1e999",
            "1e999 is no number that a manifest may hold",
            "use a finite number, or an integer of at most 64 bits",
        ),
        (b"[" * 99 + b"]" * 99, "this nests deeper than 32 levels", "nest less deeply"),
        (b'"\\ud800"', "this text holds half of a surrogate pair", "write the character itself, or both halves"),
        (b" " * 300_000, "the manifest is larger than 262144 bytes", "move long texts into the message files"),
    ],
)
def test_what_people_read(data: bytes, message: str, fix: str) -> None:
    (fault,) = parse(data).faults
    assert (fault.message, fault.fix) == (message, fix)
