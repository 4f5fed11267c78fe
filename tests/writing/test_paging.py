"""Pages of a list."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yazcore import YazError
from yazcore.writing.projects.paging import PAGE_BYTES, page


def items(count: int) -> list[dict[str, object]]:
    return [{"n": number} for number in range(count)]


def test_the_last_page_has_no_cursor() -> None:
    part = page(items(3), 3, None, "s")
    assert (len(part.items), part.next_cursor) == (3, None)


@given(st.integers(0, 60), st.integers(1, 20))
def test_pages_together_are_the_list(count: int, limit: int) -> None:
    found: list[dict[str, object]] = []
    cursor = None
    while True:
        part = page(items(count), limit, cursor, "s")
        assert len(part.items) <= limit
        found += part.items
        cursor = part.next_cursor
        if cursor is None:
            break
    assert found == items(count)


def test_a_page_ends_before_it_is_too_large_whatever_was_asked() -> None:
    large = [{"text": "x" * (PAGE_BYTES // 3)} for _ in range(5)]
    assert len(page(large, 5, None, "s").items) == 2


def test_one_item_that_alone_is_too_large_is_given_whole() -> None:
    large = [{"text": "x" * PAGE_BYTES * 2}, {"text": "y"}]
    part = page(large, 5, None, "s")
    assert part.items == large[:1]
    assert part.next_cursor is not None


def test_a_cursor_of_another_state_of_the_list_has_expired() -> None:
    cursor = page(items(3), 1, None, "before").next_cursor
    with pytest.raises(YazError) as caught:
        page(items(3), 1, cursor, "after")
    assert caught.value.code == "cursor-expired"


@pytest.mark.parametrize("cursor", ["", "x", "!!", "LTE6cw", "MTIzNDU2Nzg5MDEyOnM", "ü", "OnM"])
def test_a_cursor_that_is_none_of_ours_is_said_to_be(cursor: str) -> None:
    with pytest.raises(YazError) as caught:
        page(items(3), 1, cursor, "s")
    assert caught.value.code == "cursor-malformed"
