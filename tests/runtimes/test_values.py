from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yazcore.contributions import Link, Page, Result
from yazcore.parts import Ask, Audio, Embedded, Form, Image, Message, Roots, Sample
from yazcore.runtimes.values import (
    MAX_DEPTH,
    MAX_STRUCTURE,
    Answer,
    NotPortable,
    Spoken,
    TooLarge,
    answer,
    portable,
    spoken,
)

plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner),
    max_leaves=20,
)


@given(plain)
def test_plain_data_passes_unchanged(value: object) -> None:
    assert portable(value) == value
    assert json.dumps(portable(value), allow_nan=False) == json.dumps(value)


def test_the_copy_shares_nothing_with_the_original() -> None:
    original = {"items": [{"a": 1}]}
    copied = portable(original)
    copied["items"][0]["a"] = 2
    assert original == {"items": [{"a": 1}]}


def test_a_tuple_becomes_a_list() -> None:
    assert portable({"pair": (1, (2, 3))}) == {"pair": [1, [2, 3]]}


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"a": [1, object()]}, "/a/1 is a object; only plain data may leave a plugin"),
        ({"a": {1: 2}}, "/a has a key that is no text: int"),
        ({1, 2}, "the value is a set; only plain data may leave a plugin"),
        (math.nan, "the value is nan, which JSON does not have"),
        ({"big": 2**64}, "/big is an integer over 64 bits"),
        ({"text": "\ud800"}, "/text holds half of a surrogate pair"),
        ({"\udfff": 1}, "/<key> holds half of a surrogate pair"),
    ],
)
def test_what_cannot_travel_is_refused_with_its_place(value: object, message: str) -> None:
    with pytest.raises(NotPortable) as refused:
        portable(value)
    assert str(refused.value) == message


def test_a_subclass_of_text_is_no_text() -> None:
    class Loud(str):
        pass

    with pytest.raises(NotPortable):
        portable(Loud("x"))


def test_a_value_deeper_than_the_limit_is_refused_without_a_recursion_error() -> None:
    value: object = 1
    for _ in range(MAX_DEPTH + 1):
        value = [value]
    with pytest.raises(NotPortable, match="deeper than 64"):
        portable(value)


def test_a_cycle_is_refused() -> None:
    cycle: list[object] = []
    cycle.append(cycle)
    with pytest.raises(NotPortable, match="deeper than 64"):
        portable(cycle)


def test_a_structure_over_the_limit_says_what_to_do() -> None:
    with pytest.raises(NotPortable, match="page it, or publish it"):
        portable(["x" * MAX_STRUCTURE, "y"])


def test_many_empty_lists_count_against_the_limit() -> None:
    with pytest.raises(NotPortable):
        portable([[] for _ in range(MAX_STRUCTURE // 8 + 1)])


def test_a_page_is_items_and_a_cursor() -> None:
    assert answer(Page([{"a": 1}], "next")) == Answer(structured={"items": [{"a": 1}], "nextCursor": "next"})


def test_a_result_keeps_its_own_words_and_links() -> None:
    link = Link("yaz://x/1", "one")
    assert answer(Result({"a": 1}, "one a", [link])) == Answer(structured={"a": 1}, text="one a", links=(link,))


def test_a_text_is_text_alone() -> None:
    assert answer("done") == Answer(text="done")


@pytest.mark.parametrize("value", [None, 7, ["a"], object()])
def test_other_results_are_refused(value: object) -> None:
    with pytest.raises(NotPortable, match="return a dict, a Page, a Result or a text"):
        answer(value)


PIXEL = Image(b"\x00", "image/png")


def test_a_result_keeps_its_pictures_sounds_and_documents() -> None:
    parts = (PIXEL, Audio(b"\xff", "audio/wav"), Embedded("yaz://x/1", "ä", "text/plain"), Embedded("yaz://x/2", b""))
    assert answer(Result(parts=list(parts))) == Answer(parts=parts)


@pytest.mark.parametrize(
    "part",
    [
        "text", None, Link("yaz://x", "x"), Image("no bytes", "image/png"), Image(b"", None), Audio(bytearray(), "a/b"),
        Embedded(None, "x"), Embedded("yaz://x", None), Embedded("yaz://x", "x", 7), Embedded("yaz://x", "\ud800"),
    ],
)  # fmt: skip
def test_a_part_that_is_none_is_refused(part: object) -> None:
    with pytest.raises(NotPortable, match="/parts/0"):
        answer(Result(parts=[part]))  # type: ignore[list-item]


def test_the_bytes_of_parts_count() -> None:
    with pytest.raises(TooLarge):
        answer(Result(parts=[Image(bytes(MAX_STRUCTURE // 2), "image/png")] * 2))


def test_an_ask_keeps_its_questions_and_its_state() -> None:
    ask = Ask({"a": Form("Who?", {"type": "object"}), "b": Sample("What?", 5), "c": Roots()}, "state")
    assert answer(ask) == Answer(ask=ask)
    assert spoken(ask) == Spoken(ask=ask)


@pytest.mark.parametrize(
    "ask",
    [
        Ask({}), Ask([Roots()]), Ask({"a": "Who?"}), Ask({7: Roots()}), Ask({"a": Form(7, {})}),
        Ask({"a": Form("Who?", "schema")}), Ask({"a": Form("Who?", {"x": object()})}), Ask({"a": Sample("x", "5")}),
        Ask({"a": Roots()}, state=None), Ask({"a": Roots()}, state="\udc00"), Ask({"\ud800": Roots()}),
    ],
)  # fmt: skip
def test_an_ask_that_is_none_is_refused(ask: Any) -> None:
    with pytest.raises(NotPortable):
        answer(ask)


@pytest.mark.parametrize(
    ("value", "messages"),
    [
        ("Hello", (Message("Hello"),)),
        (Message(PIXEL), (Message(PIXEL),)),
        (["Hello", Message("Yes?", "assistant")], (Message("Hello"), Message("Yes?", "assistant"))),
    ],
)
def test_a_prompt_is_a_text_a_message_or_several(value: object, messages: tuple[Message, ...]) -> None:
    assert spoken(value) == Spoken(messages=messages)


@pytest.mark.parametrize(
    "value", [None, 7, [], {}, b"", [None], Message(None), Message("x", "system"), Message(["x"]), ["\ud800"]]
)
def test_a_prompt_that_says_nothing_is_refused(value: object) -> None:
    with pytest.raises(NotPortable):
        spoken(value)
