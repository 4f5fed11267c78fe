"""Handlers that end in ways nobody foresees: each costs its own call, never the host, its loop or another plugin."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.attacks.hosts import called, host_with, tools
from yazcore import Host
from yazcore.mcp.results import tool_result

ENDS = ("panic", "interrupt", "generator_exit", "cancelled")
RESULTS = (
    "link_of_no_kind",
    "link_with_half_a_character",
    "link_of_numbers",
    "bytes_inside",
    "error_with_half_a_character",
    "long_error",
    "long_crash",
    "stops_the_loop",
    "very_many_links",
    "empty_objects",
    "one_long_name",
    "fine",
    "fine_async",
    "closes_nothing",
)
CODE = """
class Plugin:
    def __init__(self, context):
        pass

    @hookimpl
    def provide_tools(self):
        return [Tool(name, getattr(self, name)) for name in NAMES]

    def panic(self, context, arguments):
        raise Panic("a panic")

    async def panic_async(self, context, arguments):
        raise Panic("a panic")

    def interrupt(self, context, arguments):
        raise KeyboardInterrupt

    async def interrupt_async(self, context, arguments):
        raise KeyboardInterrupt

    def generator_exit(self, context, arguments):
        raise GeneratorExit

    async def generator_exit_async(self, context, arguments):
        raise GeneratorExit

    def cancelled(self, context, arguments):
        raise asyncio.CancelledError

    async def cancelled_async(self, context, arguments):
        raise asyncio.CancelledError

    async def stops_the_loop(self, context, arguments):
        asyncio.get_running_loop().stop()
        await asyncio.sleep(0)
        return {"went": "on"}

    def link_of_no_kind(self, context, arguments):
        return Result(text="x", links=[42])

    def link_with_half_a_character(self, context, arguments):
        return Result(text="x", links=[Link("yaz://demo/\\ud800", "n")])

    def link_of_numbers(self, context, arguments):
        return Result(text="x", links=[Link(1, 2)])

    def very_many_links(self, context, arguments):
        return Result(text="x", links=[Link("yaz://demo/x", "n" * 100)] * 50_000)

    def bytes_inside(self, context, arguments):
        return {"a": b"123"}

    def error_with_half_a_character(self, context, arguments):
        raise ToolError("half \\ud800 a character")

    def long_error(self, context, arguments):
        raise ToolError("x" * 10_000_000)

    def long_crash(self, context, arguments):
        raise ValueError("x" * 10_000_000)

    def empty_objects(self, context, arguments):
        return {"a": [[{}] * 10_000] * 200}

    def one_long_name(self, context, arguments):
        return {"k" * 400_000: [0] * 100_000}

    def fine(self, context, arguments):
        return {"fine": True}

    async def fine_async(self, context, arguments):
        return {"fine": True}

    async def closes_nothing(self, context, arguments):
        try:
            asyncio.get_running_loop().close()
        except RuntimeError:
            pass
        return {"fine": True}
"""


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    names = [*ENDS, *(f"{name}_async" for name in ENDS), *RESULTS]
    folder: Path = tmp_path_factory.mktemp("handlers")
    with host_with(folder, ("demo", CODE.replace("NAMES", repr(names)), tools(names))) as host:
        yield host


@pytest.mark.parametrize("name", [*ENDS, *(f"{name}_async" for name in ENDS)])
def test_whatever_ends_a_handler_is_a_crash_of_that_call_with_a_reference(host: Host, name: str) -> None:
    outcome = called(host, f"demo__{name}")
    assert outcome.is_error
    assert outcome.text.startswith(f"demo__{name} failed inside demo. The user can see why with: yaz log ")
    assert host.audit.crash_of(outcome.text.rpartition(" ")[2]) is not None
    assert host.audit.calls()[-1]["outcome"] == "crashed"


@pytest.mark.parametrize("name", [f"{name}_async" for name in ENDS] + ["stops_the_loop", "closes_nothing"])
def test_the_plugins_loop_lives_on_whatever_a_handler_does_to_it(host: Host, name: str) -> None:
    called(host, f"demo__{name}")
    assert called(host, "demo__fine_async").structured == {"fine": True}


@pytest.mark.parametrize("name", ["link_of_no_kind", "link_of_numbers", "link_with_half_a_character", "bytes_inside"])
def test_a_result_that_cannot_go_over_the_wire_is_a_crash_with_a_reference(host: Host, name: str) -> None:
    outcome = called(host, f"demo__{name}")
    assert outcome.is_error
    assert "yaz log" in outcome.text


def test_the_text_of_a_tool_error_can_always_be_sent(host: Host) -> None:
    outcome = called(host, "demo__error_with_half_a_character")
    assert outcome.text == "half \\ud800 a character"
    json.dumps(tool_result(outcome), ensure_ascii=False).encode()


@pytest.mark.parametrize("name", ["long_error", "long_crash"])
def test_what_a_handler_raises_is_bounded(host: Host, name: str) -> None:
    outcome = called(host, f"demo__{name}")
    assert outcome.is_error
    assert len(outcome.text) < 20_000
    assert host.home.path("logs", "crashes.jsonl").stat().st_size < 2**20


def test_links_count_against_the_size_of_a_structure(host: Host) -> None:
    assert called(host, "demo__very_many_links").is_error


def test_empty_objects_count_against_the_size_of_a_structure(host: Host) -> None:
    outcome = called(host, "demo__empty_objects")
    assert "(result-too-large)" in outcome.text  # refused by the codec, not kept as a result of megabytes


def test_a_long_name_over_many_values_costs_no_more_than_they_do(host: Host) -> None:
    # A place written out for each value would be 40 GB of text here, and the deadline of two seconds long over.
    outcome = called(host, "demo__one_long_name")
    assert "more than the 40000 that fit" in outcome.text


def test_threads_live_on_after_every_kind_of_end(host: Host) -> None:
    for name in ENDS * 3:
        called(host, f"demo__{name}")
    assert called(host, "demo__fine").structured == {"fine": True}
