from __future__ import annotations

import base64
import json

import pytest

from yazcore.contributions import Link
from yazcore.declarations import Cache
from yazcore.gate import Content, Outcome
from yazcore.mcp.results import completion_result, prompt_result, read_result, tool_result
from yazcore.outcomes import Prompted
from yazcore.parts import Audio, Embedded, Image, Message


def test_a_structured_result_is_given_as_text_too() -> None:
    structured = {"größe": [1, 1.0, None]}
    result = tool_result(Outcome(text="", structured=structured))
    assert result["structuredContent"] == structured
    assert json.loads(result["content"][0]["text"]) == structured
    assert result["isError"] is False


def test_the_text_that_the_gate_gives_is_kept() -> None:
    result = tool_result(Outcome(text="One note.", structured={"notes": 1}))
    assert result["content"] == [{"type": "text", "text": "One note."}]
    assert result["structuredContent"] == {"notes": 1}


def test_a_text_alone_has_no_structured_content() -> None:
    assert tool_result(Outcome(text="done")) == {"content": [{"type": "text", "text": "done"}], "isError": False}


def test_an_error_never_carries_structured_content() -> None:
    result = tool_result(Outcome(is_error=True, text="no", structured={"left": "over"}))
    assert result == {"content": [{"type": "text", "text": "no"}], "isError": True}


def test_links_are_resource_links_after_the_text() -> None:
    links = (Link("yaz://a/b", "b"), Link("yaz://a/c", "c", mime_type="text/plain", description="see"))
    assert tool_result(Outcome(text="two", links=links))["content"][1:] == [
        {"type": "resource_link", "uri": "yaz://a/b", "name": "b"},
        {"type": "resource_link", "uri": "yaz://a/c", "name": "c", "mimeType": "text/plain", "description": "see"},
    ]


@pytest.mark.parametrize(
    ("data", "body"), [("text", {"text": "text"}), (b"\x00\xff", {"blob": base64.b64encode(b"\x00\xff").decode()})]
)
def test_what_was_read_says_how_long_it_may_be_kept(data: str | bytes, body: dict[str, str]) -> None:
    content = Content(uri="yaz://a/b", mime="x/y", data=data, cache=Cache(ttl_ms=5000, scope="public"))
    assert read_result(content) == {
        "contents": [{"uri": "yaz://a/b", "mimeType": "x/y", **body}],
        "ttlMs": 5000,
        "cacheScope": "public",
    }


def test_a_prompt_is_one_message_of_the_user() -> None:
    assert prompt_result(Prompted(description="Greet.", messages=(Message("Greet Ada."),))) == {
        "description": "Greet.",
        "messages": [{"role": "user", "content": {"type": "text", "text": "Greet Ada."}}],
    }


def test_a_message_may_be_a_picture_and_the_assistants() -> None:
    (shown,) = prompt_result(Prompted(messages=(Message(Image(b"\x00", "image/png"), "assistant"),)))["messages"]
    assert shown == {"role": "assistant", "content": {"type": "image", "data": "AA==", "mimeType": "image/png"}}


def test_parts_stand_after_the_text_and_before_the_links() -> None:
    outcome = Outcome(
        text="See:",
        parts=(
            Image(b"\x00", "image/png"), Audio(b"\xff", "audio/wav"),
            Embedded("yaz://a/b", "ä", "text/plain"), Embedded("yaz://a/c", b"\x01"),
        ),
        links=(Link("yaz://a/d", "d"),),
    )  # fmt: skip
    assert tool_result(outcome)["content"] == [
        {"type": "text", "text": "See:"},
        {"type": "image", "data": "AA==", "mimeType": "image/png"},
        {"type": "audio", "data": "/w==", "mimeType": "audio/wav"},
        {"type": "resource", "resource": {"uri": "yaz://a/b", "mimeType": "text/plain", "text": "ä"}},
        {"type": "resource", "resource": {"uri": "yaz://a/c", "blob": "AQ=="}},
        {"type": "resource_link", "uri": "yaz://a/d", "name": "d"},
    ]


def test_a_completion_over_a_hundred_values_says_so() -> None:
    values = [str(number) for number in range(101)]
    assert completion_result(values) == {"completion": {"values": values[:100], "total": 101, "hasMore": True}}
    assert completion_result(["a"]) == {"completion": {"values": ["a"], "total": 1, "hasMore": False}}
