"""Cursors: opaque, bound to caller, arguments and state; pages that make no more than they show."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yazcore import Cursors, Page, ToolError
from yazcore.paging import PAGE_BYTES

CURSORS = Cursors("list")
ADA: Any = SimpleNamespace(caller=SimpleNamespace(name="ada"))
BOB: Any = SimpleNamespace(caller=SimpleNamespace(name="bob"))
HOST: Any = SimpleNamespace(caller=None)

plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("abc", max_size=3), inner, max_size=4),
    max_leaves=8,
)


@given(position=plain, arguments=st.dictionaries(st.text("abc", max_size=3), plain, max_size=4), state=st.text())
def test_a_cursor_brings_its_position_back(position: Any, arguments: dict[str, Any], state: str) -> None:
    for context in (ADA, HOST):
        cursor = CURSORS.after(context, arguments, position, state)
        assert CURSORS.position(context, {**arguments, "cursor": cursor, "limit": 7}, state) == position


def test_without_a_cursor_a_list_begins_at_the_start() -> None:
    assert CURSORS.position(ADA, {}) is None
    assert CURSORS.position(ADA, {"cursor": None}) is None


@pytest.mark.parametrize(
    ("cursors", "context", "arguments", "state"),
    [
        (CURSORS, BOB, {"query": "a"}, ""),
        (CURSORS, HOST, {"query": "a"}, ""),
        (CURSORS, ADA, {"query": "b"}, ""),
        (CURSORS, ADA, {}, ""),
        (CURSORS, ADA, {"query": "a", "more": 1}, ""),
        (CURSORS, ADA, {"query": "a"}, "changed"),
        (Cursors("list"), ADA, {"query": "a"}, ""),
    ],
)
def test_a_cursor_is_good_for_what_it_was_given_for_alone(
    cursors: Cursors, context: Any, arguments: dict[str, Any], state: str
) -> None:
    cursor = CURSORS.after(ADA, {"query": "a"}, 7)
    assert CURSORS.position(ADA, {"query": "a", "cursor": cursor}) == 7
    with pytest.raises(ToolError) as refused:
        cursors.position(context, {**arguments, "cursor": cursor}, state)
    assert str(refused.value) == (
        "cursor is none that this list gave for these arguments as it stands now: "
        "leave it out to start with the first page"
    )


@given(st.text() | st.binary().map(lambda data: base64.urlsafe_b64encode(data).decode()) | st.integers())
def test_what_was_never_given_is_refused(cursor: Any) -> None:
    with pytest.raises(ToolError):
        CURSORS.position(ADA, {"cursor": cursor})


@given(st.data())
def test_a_cursor_that_was_changed_is_refused(data: st.DataObject) -> None:
    cursor = CURSORS.after(ADA, {}, [1, "a"])
    at = data.draw(st.integers(0, len(cursor) - 1))
    other = data.draw(st.sampled_from("ABab01-_=").filter(lambda one: one != cursor[at]))
    changed = cursor[:at] + other + cursor[at + 1 :]
    with pytest.raises(ToolError):
        CURSORS.position(ADA, {"cursor": changed})


def test_a_cursor_has_one_spelling() -> None:
    cursor = next(one for one in (CURSORS.after(ADA, {}, "x" * n) for n in range(3)) if one.endswith("=="))
    at = len(cursor) - 3
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    twin = cursor[:at] + alphabet[alphabet.index(cursor[at]) + 1] + "=="
    assert base64.urlsafe_b64decode(twin) == base64.urlsafe_b64decode(cursor)
    with pytest.raises(ToolError):
        CURSORS.position(ADA, {"cursor": twin})


def test_a_position_that_no_cursor_can_hold_is_refused() -> None:
    for position in ("x" * 2_000, float("nan")):
        with pytest.raises(ValueError, match=r"2000|JSON compliant"):
            CURSORS.after(ADA, {}, position)


def numbers(until: int, made: list[int]) -> Iterator[dict[str, int]]:
    for number in range(until):
        made.append(number)
        yield {"n": number}


def pages(until: int, **arguments: Any) -> list[Page]:
    """Every page of the numbers below `until`, one after the other."""
    found, asked = [], dict(arguments)
    while True:
        after = CURSORS.position(ADA, asked)
        rest = ({"n": number} for number in range(0 if after is None else after + 1, until))
        found.append(CURSORS.page(ADA, asked, rest, position_of=lambda item: item["n"], limit=3))
        if found[-1].next_cursor is None:
            return found
        asked["cursor"] = found[-1].next_cursor


@pytest.mark.parametrize(("until", "lengths"), [(0, [0]), (3, [3]), (4, [3, 1]), (7, [3, 3, 1])])
def test_pages_joined_are_the_list(until: int, lengths: list[int]) -> None:
    found = pages(until)
    assert [len(page.items) for page in found] == lengths
    assert [item["n"] for page in found for item in page.items] == list(range(until))


def test_the_argument_limit_counts_before_anything_is_made() -> None:
    made: list[int] = []
    page = CURSORS.page(ADA, {"limit": 2}, numbers(1000, made), position_of=lambda item: item["n"])
    assert (len(page.items), made) == (2, [0, 1, 2])


def test_a_page_ends_where_its_bytes_do_and_one_item_always_fits() -> None:
    large = {"text": "x" * PAGE_BYTES}
    page = CURSORS.page(ADA, {}, iter([large, large]), position_of=lambda item: 1)
    assert (len(page.items), page.next_cursor is None) == (1, False)
