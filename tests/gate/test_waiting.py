"""An event loop that waits for a handler of another thread or process."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future

import pytest

from yazcore.gate import waiting


def test_an_answer_that_is_there_at_once_takes_no_turn_of_the_loop() -> None:
    future: Future[int] = Future()
    threading.Timer(0.01, future.set_result, [7]).start()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(waiting, "MOMENT_SECONDS", 20.0)
        with pytest.raises(StopIteration) as ended:
            waiting.finished(future, 1.0, at_once=True).send(None)
    assert ended.value.value == 7


def test_a_handler_that_is_not_quick_holds_the_loop_for_a_moment_only() -> None:
    future: Future[int] = Future()

    async def call() -> int:
        asyncio.get_running_loop().call_soon(future.set_result, 7)
        return await waiting.finished(future, 20.0, at_once=True)

    assert asyncio.run(call()) == 7
