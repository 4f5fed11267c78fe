from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from yazcore.manifest.places import Fault, Path, line_and_column, located, path_of, pointer, positions

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=20,
)


def value_at(document: Any, path: Path) -> Any:
    for part in path:
        document = document[part]
    return document


def count(value: Any) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + sum(map(count, inner))


@given(document=PLAIN, indent=st.sampled_from([None, 0, 2]), ensure_ascii=st.booleans())
def test_positions_agree_with_json(document: Any, indent: int | None, ensure_ascii: bool) -> None:
    text = json.dumps(document, indent=indent, ensure_ascii=ensure_ascii)
    decoder = json.JSONDecoder()
    found = list(positions(text))
    for path, at, key_at in found:
        assert decoder.raw_decode(text, at)[0] == value_at(document, path)
        assert (key_at is not None) == (bool(path) and isinstance(path[-1], str))
        if key_at is not None:
            assert decoder.raw_decode(text, key_at)[0] == path[-1]
    assert len({path for path, _, _ in found}) == len(found) == count(document)
    assert [at for _, at, _ in found] == sorted(at for _, at, _ in found)


@given(st.lists(st.text(max_size=4) | st.integers(0, 20), max_size=4))
def test_a_pointer_can_be_followed(parts: list[str | int]) -> None:
    text = pointer(tuple(parts))
    back = [part.replace("~1", "/").replace("~0", "~") for part in text.split("/")[1:]]
    assert len(back) == len(parts)
    assert all(one == str(part) for one, part in zip(back, parts, strict=True) if str(part).isprintable())


def test_a_pointer_escapes_what_would_disturb_a_terminal() -> None:
    assert pointer(("a/b~c", 0, "\x1b[2J")) == r"/a~1b~0c/0/\x1b[2J"


def test_a_pointer_into_a_manifest_becomes_its_path_again() -> None:
    path = ("provides", "tools", 0, "descriptionKey")
    assert path_of(pointer(path)) == path
    assert path_of("") == ()


def test_lines_and_columns_count_characters_from_one() -> None:
    assert line_and_column("\n\nx", 2) == (3, 1)
    text = "ab\n\u00e4\U0001f600x"
    assert [line_and_column(text, at) for at in (0, 2, 3, 5)] == [(1, 1), (1, 3), (2, 1), (2, 3)]


TEXT = '{\n  "a": {"b": 1},\n  "c": 2\n}'


def test_faults_come_in_document_order_with_their_places() -> None:
    faults = [
        Fault("third", "", "", ("c",)),
        Fault("second", "", "", ("a", "b"), at_key=True),
        Fault("first", "", "", ("missing",)),
    ]
    assert [(one.code, one.line, one.column) for one in located(faults, TEXT)] == [
        ("first", 1, 1),
        ("second", 2, 9),
        ("third", 3, 8),
    ]


def test_what_is_missing_has_the_place_of_what_it_is_missing_from() -> None:
    (found,) = located([Fault("x", "", "", ("a", "q", 3))], TEXT)
    assert (found.pointer, found.line, found.column) == ("/a/q/3", 2, 8)


def test_without_a_text_there_are_no_lines() -> None:
    (found,) = located([Fault("x", "m", "f", ("a",), severity="warning")], None)
    assert (found.pointer, found.line, found.column, found.severity) == ("/a", None, None, "warning")
