from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yazcore.contributions import same_json
from yazcore.manifest.json_edit import WIDTH, updated

KEYS = st.sampled_from(["id", "name", "a", "b", "ä", "\u202e", '"']) | st.text(max_size=3)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.sampled_from([1.0, 0.5, 1e300]) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


@st.composite
def changed(draw: st.DrawFn, value: Any) -> Any:
    """A value like this one: something in it taken out, put in or replaced."""
    if not isinstance(value, (dict, list)) or not value or draw(st.integers(0, 4)) == 0:
        return draw(VALUES)
    made = copy.deepcopy(value)
    keys = list(made) if isinstance(made, dict) else list(range(len(made)))
    key = draw(st.sampled_from(keys))
    match draw(st.sampled_from(["out", "in", "other"])):
        case "out":
            del made[key]
        case "in" if isinstance(made, list):
            made.insert(key, draw(VALUES))
        case "in":
            pairs = [*made.items()]
            pairs.insert(keys.index(key), (draw(KEYS), draw(VALUES)))
            made = dict(pairs)
        case _:
            made[key] = draw(changed(made[key]))
    return made


@st.composite
def written(draw: st.DrawFn, value: Any) -> str:
    """The value as JSON, with spaces wherever they may stand, or as one of the usual styles has it."""
    if draw(st.booleans()):
        style: dict[str, Any] = draw(
            st.sampled_from([{}, {"indent": 2}, {"indent": "\t"}, {"separators": (",", ":")}, {"ensure_ascii": False}])
        )
        return json.dumps(value, **style)
    space = st.sampled_from(["", "", " ", "\n", "\r\n  ", "\t"])
    if isinstance(value, dict):
        parts = [draw(space) + json.dumps(key) + draw(space) + ":" + draw(space) + draw(written(inner)) + draw(space)
                 for key, inner in value.items()]  # fmt: skip
        return "{" + ",".join(parts) + draw(space) * (not parts) + "}"
    if isinstance(value, list):
        return "[" + ",".join(draw(space) + draw(written(inner)) + draw(space) for inner in value) + "]"
    return json.dumps(value)


@given(st.data())
def test_the_text_says_the_new_value_and_saying_it_again_changes_nothing(data: st.DataObject) -> None:
    old = data.draw(VALUES)
    text = data.draw(written(old))
    new = data.draw(changed(old))
    after = updated(text, new)
    assert same_json(json.loads(after), new)
    assert updated(after, new) == after
    assert updated(text, old) == text


@given(st.data())
def test_what_stands_around_a_change_stays_byte_for_byte(data: st.DataObject) -> None:
    before, old, after = data.draw(VALUES), data.draw(VALUES), data.draw(VALUES)
    new = data.draw(changed(old))
    head = f' {{ "before":{data.draw(written(before))} ,\n "x" : '
    tail = f'\t, "after":{data.draw(written(after))}}}\n'
    made = updated(head + data.draw(written(old)) + tail, {"after": after, "x": new, "before": before})
    assert made.startswith(head)
    assert made.endswith(tail)
    assert same_json(json.loads(made[len(head) : len(made) - len(tail)]), new)


@given(st.data())
def test_entries_that_stay_are_found_again_wherever_they_come_to_stand(data: st.DataObject) -> None:
    entries = [{"name": name, "x": data.draw(VALUES)} for name in "abc"]
    texts = [data.draw(written(entry)) for entry in entries]
    kept = data.draw(st.lists(st.sampled_from(range(3)), unique=True)).copy()
    kept.sort()
    new = [entries[index] for index in kept]
    new.insert(data.draw(st.integers(0, len(new))), {"name": "new"})
    made = updated(f"[{', '.join(texts)}]", new)
    assert same_json(json.loads(made), new)
    assert all(texts[index] in made for index in kept)


def test_a_new_member_stands_behind_the_one_it_follows() -> None:
    text = '{\n  "a": 1,\n  "c": 3\n}\n'
    assert updated(text, {"a": 1, "b": 2, "c": 3}) == '{\n  "a": 1,\n  "b": 2,\n  "c": 3\n}\n'
    assert updated(text, {"z": 0, "a": 1, "c": 3}) == '{\n  "z": 0,\n  "a": 1,\n  "c": 3\n}\n'
    assert updated(text, {"a": 1, "c": 3, "d": 4}) == '{\n  "a": 1,\n  "c": 3,\n  "d": 4\n}\n'


def test_taking_out_the_first_or_the_last_leaves_no_comma_and_no_gap() -> None:
    text = '{ "a": 1, "b": 2, "c": 3 }'
    assert updated(text, {"b": 2, "c": 3}) == '{ "b": 2, "c": 3 }'
    assert updated(text, {"a": 1, "b": 2}) == '{ "a": 1, "b": 2 }'
    assert updated(text, {}) == "{}"


def test_numbers_and_letters_stay_as_they_were_written() -> None:
    text = '{"a": 1.0, "b": "\\u00e4", "c": 1e2, "d": 0}'
    assert updated(text, {"a": 1, "b": "ä", "c": 100, "d": 1}) == '{"a": 1.0, "b": "\\u00e4", "c": 1e2, "d": 1}'


def test_true_is_not_one() -> None:
    assert updated('{"a": 1}', {"a": True}) == '{"a": true}'


SHORT = {"name": "x", "values": [1, 2], "none": []}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a":1}', '{"a":1,"new":{"name":"x","values":[1,2],"none":[]}}'),
        ('{"a": [1, 2]}', '{"a": [1, 2], "new": {"name": "x", "values": [1, 2], "none": []}}'),
        (
            '{\n  "a": { "b": [ 1 ] }\n}',
            '{\n  "a": { "b": [ 1 ] },\n  "new": { "name": "x", "values": [ 1, 2 ], "none": [] }\n}',
        ),
        (
            '{\n\t"a": 1\n}',
            (
                '{\n\t"a": 1,\n\t"new": {\n\t\t"name": "x",\n\t\t"values": [\n\t\t\t1,\n\t\t\t2\n\t\t],\n'
                '\t\t"none": []\n\t}\n}'
            ),
        ),
        (
            '{\r\n    "a": []\r\n}',
            (
                '{\r\n    "a": [],\r\n    "new": {\r\n        "name": "x",\r\n        "values": [\r\n            1,\r\n'
                '            2\r\n        ],\r\n        "none": []\r\n    }\r\n}'
            ),
        ),
    ],
    ids=["minified", "one line", "short on one line", "tabs", "windows"],
)
def test_what_is_new_is_written_as_the_rest_is(text: str, expected: str) -> None:
    assert updated(text, {**json.loads(text), "new": SHORT}) == expected


def test_what_is_too_long_or_too_deep_for_a_line_gets_several() -> None:
    text = '{\n  "a": { "b": 1 }\n}'
    made = updated(text, {"a": {"b": 1}, "long": {"x": "y" * WIDTH}, "deep": {"x": {"y": {"z": 1}}}})
    assert made == (
        '{\n  "a": { "b": 1 },\n  "long": {\n    "x": "' + "y" * WIDTH + '"\n  },\n'
        '  "deep": {\n    "x": { "y": { "z": 1 } }\n  }\n}'
    )


def test_an_entry_that_is_too_long_for_its_list_s_line_is_indented_from_that_line() -> None:
    text = '{\n  "a": [{ "b": 1 }]\n}'
    made = updated(text, {"a": [{"b": 1}, {"x": "y" * WIDTH}]})
    assert made == '{\n  "a": [{ "b": 1 }, {\n    "x": "' + "y" * WIDTH + '"\n  }]\n}'


def test_what_nobody_would_see_is_escaped() -> None:
    assert updated("{}", {"\u202e": "a\u2028b", "ä": "ö"}) == '{\n  "\\u202e": "a\\u2028b",\n  "ä": "ö"\n}'


def test_entries_without_a_name_are_changed_in_place() -> None:
    text = '{"anyOf": [ {"type": "string",  "maxLength": 5}, {"type":"null"} ]}'
    new = {"anyOf": [{"type": "string", "maxLength": 6}, {"type": "null"}]}
    assert updated(text, new) == '{"anyOf": [ {"type": "string",  "maxLength": 6}, {"type":"null"} ]}'


def test_a_new_member_stands_on_a_line_of_its_own_where_the_one_before_it_does() -> None:
    text = '{\n  "a": 1, "b": 2,\n  "c": 3\n}'
    assert updated(text, {"a": 1, "b": 2, "c": 3, "d": 4}) == '{\n  "a": 1, "b": 2,\n  "c": 3,\n  "d": 4\n}'
    assert updated(text, {"a": 1, "x": 0, "b": 2, "c": 3}) == '{\n  "a": 1, "x": 0, "b": 2,\n  "c": 3\n}'


def test_an_entry_that_changes_keeps_the_rest_of_its_text_wherever_it_comes_to_stand() -> None:
    text = '[{"name":"a","x" : 1, "y" : 1},  {"name":"b","x" : 1, "y" : 1}]'
    made = updated(text, [{"name": "c"}, {"name": "b", "x": 1, "y": 2}])
    assert made == '[{"name" : "c"},  {"name":"b","x" : 1, "y" : 2}]'


def test_an_entry_with_another_name_is_another_entry() -> None:
    text = '[{"name":  "a", "x": 1}]'
    assert updated(text, [{"name": "b", "x": 1}]) == '[{"name":  "b", "x":  1}]'  # of two ways to write, the first
    assert updated('[{"name":  "a", "x": 1, "y": 2}]', [{"name": "b"}]) == '[{"name": "b"}]'
