"""A client that can ask whoever sits before it asks for the approval of a call, in both protocol eras."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import attrs
import pytest
from mcp_types import ElicitResult

from tests.mcp.serving import ERAS, connected, http, listening, modern, sample_host, words
from yazcore import Home, Host
from yazcore.mcp.listener import Address

pytestmark = pytest.mark.anyio

SETTINGS = '[plugins.sample.tools.echo]\napproval = "ask"\n'
YES = ElicitResult(action="accept", content={"allow": True})


@attrs.define
class Person:
    """Whoever sits before the client: what they were asked, and what they say."""

    says: Any = YES
    asked: list[str] = attrs.field(factory=list)

    async def __call__(self, context: Any, params: Any) -> ElicitResult:
        self.asked.append(params.message)
        said: ElicitResult = self.says
        return said


@attrs.frozen
class Served:
    host: Host
    address: Address

    @property
    def records(self) -> list[tuple[str, str]]:
        return [(one["outcome"], one.get("approval", "")) for one in self.host.audit.calls()]


@pytest.fixture
async def served(home: Home) -> AsyncIterator[Served]:
    home.write_text("settings.toml", SETTINGS)
    host = sample_host(home)
    async with listening(host) as (_, address):
        yield Served(host, address)
    host.close()


@pytest.mark.parametrize("era", ERAS)
async def test_a_yes_lets_the_call_through(served: Served, era: str) -> None:
    person = Person()
    async with connected(served.address.url, served.address.token, era, elicitation_callback=person) as client:
        result = await client.call_tool("sample__echo", {"text": "hi"})
    assert result.structured_content == {"text": "hi", "caller": "owner"}
    (asked,) = person.asked
    assert asked.splitlines()[0] == "owner wants to call sample__echo of sample, which reads."
    assert 'Arguments: {"text": "hi"}' in asked
    assert served.records == [("asked", "asked of the client"), ("ok", "granted by the client")]


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    "says",
    [
        ElicitResult(action="decline"),
        ElicitResult(action="cancel"),
        ElicitResult(action="accept", content={"allow": False}),
    ],
    ids=["decline", "cancel", "not"],
)
async def test_anything_else_does_not(served: Served, era: str, says: ElicitResult) -> None:
    person = Person(says)
    async with connected(served.address.url, served.address.token, era, elicitation_callback=person) as client:
        result = await client.call_tool("sample__echo", {"text": "hi"})
    assert result.is_error
    assert words(result) == "The user did not allow this call of sample__echo. Nothing was done."
    assert served.records[-1] == ("approval", "refused by the client")


@pytest.mark.parametrize("era", ERAS)
async def test_a_client_that_cannot_ask_is_told_so(served: Served, era: str) -> None:
    async with connected(served.address.url, served.address.token, era) as client:
        result = await client.call_tool("sample__echo", {"text": "hi"})
        other = await client.call_tool("sample__store", {})
    assert words(result) == "sample__echo needs a person's approval, and nobody can be asked here. Nothing was done."
    assert not other.is_error
    assert served.records == [("approval", "nobody could be asked"), ("ok", "")]


@pytest.mark.parametrize("era", ERAS)
async def test_each_call_is_asked_for(served: Served, era: str) -> None:
    person = Person()
    async with connected(served.address.url, served.address.token, era, elicitation_callback=person) as client:
        for _ in range(2):
            assert not (await client.call_tool("sample__echo", {"text": "hi"})).is_error
    assert len(person.asked) == 2


async def test_a_yes_sent_twice_or_for_another_call_counts_once_and_for_its_own(served: Served) -> None:
    """What a client of the newer era might do with the state it was given."""
    async with http(served.address.token) as client:

        async def ask(text: str, **more: Any) -> Any:
            asked = modern("tools/call", {"name": "sample__echo", "arguments": {"text": text}, **more})
            asked["json"]["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = {"elicitation": {}}
            return (await client.post(served.address.url, **asked)).json()

        first = (await ask("hi"))["result"]
        assert first["resultType"] == "input_required"
        yes = {"inputResponses": {"approval": {"action": "accept", "content": {"allow": True}}}}
        answered = {**yes, "requestState": first["requestState"]}
        assert "error" in await ask("another", **answered)
        assert (await ask("hi", **answered))["result"]["structuredContent"]["text"] == "hi"
        assert (await ask("hi", **answered))["result"]["resultType"] == "input_required"
        assert (await ask("hi", **yes))["result"]["resultType"] == "input_required"
        assert "error" in await ask("hi", **yes, requestState="forged")
    assert [one for one in served.records if one[0] == "ok"] == [("ok", "granted by the client")]
