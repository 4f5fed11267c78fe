"""JSON that somebody else wrote."""

from __future__ import annotations

import threading

import pytest

from yaz_plugin_zotero.foreign_json import MOST_CONTAINERS, loads


def test_a_value_is_read_from_text_and_bytes() -> None:
    assert loads('{"date": "2020-01-01", "reasons": ["Fälschung"]}') == {"date": "2020-01-01", "reasons": ["Fälschung"]}
    assert loads(b"[1]") == [1]


@pytest.mark.parametrize("text", ["", "x", b"\xff\xfe\x00", "[" * MOST_CONTAINERS])
def test_what_is_no_json_is_a_value_error(text: str | bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        loads(text)


@pytest.mark.parametrize("value", [None, 1, 1.5])
def test_what_is_no_text_is_a_type_error(value: object) -> None:
    with pytest.raises(TypeError, match=r"^it is no text$"):
        loads(value)  # type: ignore[arg-type]


def test_the_limit_is_the_last_that_is_read() -> None:
    assert loads("[" + ",".join(["[]"] * (MOST_CONTAINERS - 1)) + "]") == [[]] * (MOST_CONTAINERS - 1)
    with pytest.raises(ValueError, match=r"^it begins too many lists and objects$"):
        loads("[" + ",".join(["[]"] * MOST_CONTAINERS) + "]")


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, b"[" * 100_000])
def test_deep_nesting_is_a_value_error_in_a_thread_with_a_small_stack(text: str | bytes) -> None:
    raised: list[type[BaseException]] = []

    def read() -> None:
        try:
            loads(text)
        except BaseException as error:
            raised.append(type(error))

    before = threading.stack_size(1024 * 1024)
    try:
        thread = threading.Thread(target=read)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    assert raised == [ValueError]
