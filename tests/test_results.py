from __future__ import annotations

import pytest

from yazcore.results import ResultStore


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_result_is_its_callers_alone() -> None:
    store = ResultStore()
    result_id = store.keep("anna", b"secret", "text/plain")
    found = store.get("anna", result_id)
    assert found is not None
    assert found.data == b"secret"
    assert store.get("bob", result_id) is None
    assert store.get("anna", "nothing") is None


def test_a_result_is_gone_after_its_time() -> None:
    clock = Clock()
    store = ResultStore(clock)
    result_id = store.keep("anna", b"x", "text/plain", ttl=10)
    clock.now = 9.9
    assert store.get("anna", result_id) is not None
    clock.now = 10.0
    assert store.get("anna", result_id) is None


def test_the_oldest_results_make_room() -> None:
    store = ResultStore()
    first = store.keep("anna", b"x" * 2**20, "text/plain")
    newest = [store.keep("anna", b"x" * 2**20, "text/plain") for _ in range(64)][-1]
    assert store.get("anna", first) is None
    assert store.get("anna", newest) is not None


def test_a_result_that_is_too_large_alone_is_refused() -> None:
    with pytest.raises(ValueError, match="make it smaller"):
        ResultStore().keep("anna", b"x" * (64 * 2**20 + 1), "text/plain")


def test_what_has_expired_makes_room_before_what_is_still_wanted() -> None:
    now = [0.0]
    store = ResultStore(lambda: now[0])
    wanted = store.keep("anna", b"x", "text/plain", 100)
    for _ in range(255):
        store.keep("anna", b"y", "text/plain", 1)
    now[0] = 2.0
    store.keep("anna", b"z", "text/plain", 100)
    assert store.get("anna", wanted) is not None


def test_the_largest_result_that_can_be_kept_takes_the_place_of_all_others() -> None:
    store = ResultStore()
    small = store.keep("anna", b"x", "text/plain")
    large = store.keep("anna", bytes(64 * 2**20), "text/plain")
    assert store.get("anna", small) is None
    assert store.get("anna", large) is not None
    assert store.get("anna", store.keep("anna", b"", "text/plain")) is not None
    assert store.get("anna", large) is not None


def test_one_plugins_results_push_out_no_others_of_the_same_caller() -> None:
    store = ResultStore()
    kept = store.keep("agent", b"small", "text/plain", plugin="quiet")
    for _ in range(600):
        store.keep("agent", b"x", "text/plain", plugin="loud")
    assert store.get("agent", kept) is not None
    for _ in range(20):
        store.keep("agent", bytes(20_000_000), "text/plain", plugin="loud")
    assert store.get("agent", kept) is not None


def test_a_large_result_does_not_take_the_place_of_what_others_keep() -> None:
    store = ResultStore()
    kept = store.keep("agent", b"small", "text/plain", plugin="quiet")
    own = store.keep("agent", b"small", "text/plain", plugin="loud")
    with pytest.raises(ValueError, match="do not fit beside what others keep"):
        store.keep("agent", bytes(64 * 2**20), "text/plain", plugin="loud")
    assert store.get("agent", kept) is not None
    assert store.get("agent", own) is not None  # nothing is dropped for what is refused


def test_whoever_keeps_most_makes_room_for_a_large_result_of_anothers() -> None:
    store = ResultStore()
    first, *_, last = [store.keep("agent", bytes(2**20), "text/plain", plugin="loud") for _ in range(64)]
    large = store.keep("agent", bytes(30 * 2**20), "text/plain", plugin="quiet")
    assert store.get("agent", large) is not None
    assert (store.get("agent", first), store.get("agent", last) is None) == (None, False)


def test_a_modest_result_is_kept_whoever_keeps_how_much() -> None:
    store = ResultStore()
    first, *_ = [store.keep("agent", bytes(2**20), "text/plain", plugin=f"p{number}") for number in range(64)]
    assert store.get("agent", store.keep("agent", bytes(2 * 2**20), "text/plain", plugin="late")) is not None
    assert store.get("agent", first) is None
