"""Errors and registrations on the wire: the same on the other side, and never more than data."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yazcore.capabilities.context import Call, Frame
from yazcore.capabilities.errors import Cancelled, CapabilityError, NoContext, ServiceError
from yazcore.contributions import Tool, ToolError
from yazcore.parts import Ask, Audio, Embedded, Form, Image, Message, Roots, Sample
from yazcore.runtimes.facade import Failure
from yazcore.runtimes.isolated.answers import PACK, UNPACK
from yazcore.runtimes.isolated.crossing import (
    RemoteHandler,
    error_from,
    fault_of,
    received,
    sent,
    service_error_from,
    service_fault_of,
)
from yazcore.runtimes.values import Foreign, NotPortable, TooLarge, answer, spoken

FRAME = Frame(plugin="p", version="1", where="tools t", call=Call(posture="read"))
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.binary() | st.just("Link") | st.just("Image"),
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)

KEPT = [
    CapabilityError("p", "net", "not-granted", "example.org", "more"),
    ServiceError("files-changed", "they changed"),
    NoContext("files"),
    Cancelled("over"),
    TooLarge("too large"),
    NotPortable("no data"),
]


@pytest.mark.parametrize("error", [ToolError("say"), *KEPT])
def test_an_error_of_a_handler_is_the_same_on_the_other_side(error: Exception) -> None:
    made = error_from(*fault_of(error, FRAME), FRAME)
    assert type(made) is type(error)
    assert str(made) == str(error)
    assert vars(made) == vars(error)


@pytest.mark.parametrize("error", KEPT)
def test_an_error_of_a_service_is_the_same_in_the_worker(error: Exception) -> None:
    made = service_error_from(*service_fault_of(error))
    assert (type(made), str(made), vars(made)) == (type(error), str(error), vars(error))


def test_other_errors_of_services_keep_their_kind_as_far_as_it_is_python_own() -> None:
    class Mine(KeyError):
        pass

    assert type(service_error_from(*service_fault_of(TypeError("a path is a str")))) is TypeError
    assert type(service_error_from(*service_fault_of(Mine("x")))) is LookupError
    assert type(service_error_from(*service_fault_of(FileNotFoundError(2, "no")))) is OSError
    assert type(service_error_from(*service_fault_of(ArithmeticError("x")))) is RuntimeError


def test_every_other_error_is_said_and_no_object() -> None:
    class Odd(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    made = error_from(*fault_of(Odd(), FRAME), FRAME)
    assert isinstance(made, Failure)
    assert (made.plugin, made.where, made.type, made.message) == ("p", "tools t", "Odd", "<unprintable>")


def test_a_refusal_is_the_plugins_own_whatever_its_worker_says() -> None:
    error = error_from("capability", ["another", "net", "not-granted", "", ""], FRAME)
    assert isinstance(error, CapabilityError)
    assert error.plugin == "p"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("capability", ["p", "net", "because", "", ""]), ("capability", ["p", "n\x1b[0m", "not-granted", "", ""]),
        ("capability", ["p"]), ("service", ["no code", "x"]), ("service", [1, 2]), ("tool", []), ("tool", ["a", "b"]),
        ("failure", ["x"]), ("nothing", []), ("", None), ("cancelled", [{"a": 1}]), ("tool", "text"),
        ("KeyboardInterrupt", [""]), ("os:system", ["true"]),
    ],
)  # fmt: skip
def test_an_error_that_is_none_is_a_fault_of_the_plugin(name: str, value: Any) -> None:
    made = error_from(name, value, FRAME)
    assert isinstance(made, Failure)
    assert (made.type, made.message) == ("WorkerFault", "its worker reported an error that is none")


@given(st.text(), anything)
def test_nothing_a_worker_calls_an_error_raises_here(name: str, value: Any) -> None:
    assert isinstance(error_from(name, value, FRAME), (Exception, Failure))


# --- registrations


def test_a_registration_is_made_anew_with_a_number_for_its_code() -> None:
    kept: list[Any] = []

    def keep(handler: Any) -> int:
        kept.append(handler)
        return len(kept) - 1

    packed = sent([Tool("t", print, {"type": "object"}, None, True)], keep)
    assert kept == [print]
    (tool,) = received(packed, Tool)
    assert type(tool) is Tool
    assert (tool.name, tool.handler.number, tool.read_only_hint) == ("t", 0, True)
    assert tool.input_schema == {"type": "object"}
    with pytest.raises(TypeError, match="run by its plugin, not called"):
        tool.handler(None, {})


def test_what_is_no_registration_keeps_only_the_name_of_its_class() -> None:
    assert received(sent([3], id), Tool) == [Foreign("int")]
    assert received(sent({"a": 1}, id), Tool) == Foreign("dict")
    assert received(sent([Foreign("x")], id), Tool) == [Foreign("Foreign")]
    assert received(sent(None, id), Tool) is None
    (tool,) = received(sent([Tool("t", None, {"a": {1, 2}})], id), Tool)  # type: ignore[arg-type]
    assert (tool.handler, tool.input_schema) == (None, "a dict")


@pytest.mark.parametrize(
    "item",
    [
        {"class": "os:system", "name": "system", "fields": {}},
        {"class": "yazcore.contributions:Tool", "fields": {"name": {"value": "t"}}},
        {"class": "yazcore.contributions:Tool", "fields": {"__class__": {"value": "t"}}},
        {"class": "yazcore.contributions:Tool", "fields": []},
        {"class": ["yazcore.contributions:Tool"], "fields": {}},
        "__import__('os').system('true')", 3, None, [], {"foreign": "x" * 500}, {"foreign": 3},
    ],
)  # fmt: skip
def test_nothing_a_worker_says_names_a_class(item: Any) -> None:
    (made,) = received([item], Tool)
    assert type(made) is Foreign
    assert len(made.name) <= 100


@given(anything)
def test_whatever_a_worker_registers_is_registrations_or_none(value: Any) -> None:
    made = received(value, Tool)
    assert made is None or isinstance(made, Foreign) or all(type(one) in (Tool, Foreign) for one in made)


def test_a_field_is_plain_data_or_a_number() -> None:
    fields = {
        "name": {"value": "t"}, "handler": {"handler": True}, "input_schema": {"value": {1: 2}},
        "output_schema": {"handler": 4}, "read_only_hint": 7,
    }  # fmt: skip
    (tool,) = received([{"class": "yazcore.contributions:Tool", "name": "Tool", "fields": fields}], Tool)
    assert (tool.handler, tool.input_schema, tool.read_only_hint) == ("a value", "a value", "a value")
    assert isinstance(tool.output_schema, RemoteHandler)


# --- answers

ANSWERS = [
    {"a": [1, None]}, "text", Ask({"who": Form("Who?", {"type": "object"}), "m": Sample("x", 3), "r": Roots()}, "s"),
]  # fmt: skip
SPOKEN = [
    "text", ["a", Message("b", "assistant"), Message(Audio(b"1", "audio/wav")), Message(Embedded("u", b"1", "x/y"))],
    [Message(Image(b"1", "image/png"))], Ask({"q": Roots()}),
]  # fmt: skip


@pytest.mark.parametrize("value", ANSWERS)
def test_an_answer_is_the_same_on_the_other_side(value: Any) -> None:
    assert UNPACK["answer"](PACK["answer"](value)) == answer(value)


@pytest.mark.parametrize("value", SPOKEN)
def test_messages_are_the_same_on_the_other_side(value: Any) -> None:
    assert UNPACK["spoken"](PACK["spoken"](value)) == spoken(value)


@given(st.sampled_from(sorted(UNPACK)), anything)
def test_whatever_a_worker_answers_is_an_answer_or_refused(how: str, value: Any) -> None:
    try:
        UNPACK[how](value)
    except NotPortable:
        return


@pytest.mark.parametrize(
    "value",
    [
        [{"a": 1}, None, [["Link", "u"]], [], None], [{"a": 1}, 3, [], [], None], [3, None, [], [], None],
        [None, None, [["Image", b"1", "image/png"]], [], None],
        [None, None, [], [["Link", "u", "n", None, None]], None],
        [None, None, [["os", "system"]], [], None], [None, None, [], [], ["q", "s"]], [None, None, [], [], [{}, ""]],
        [None, None, [], [["Embedded", "u", ["Image", b"1", "x"], None]], None],
    ],
)  # fmt: skip
def test_an_answer_whose_parts_are_none_is_refused(value: Any) -> None:
    with pytest.raises(NotPortable):
        UNPACK["answer"](value)
