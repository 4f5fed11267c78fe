"""Questions to the client of a call, the same for a handler in both protocol eras.

In the newer era a call that asks ends with the questions, and the client sends it again with the answers; what the call
wants to remember travels with it, sealed. In the older one the server asks while the call is open, and makes it again
by itself.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol, TypeVar

import anyio
import mcp_types as types
from mcp.server import ServerRequestContext
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.server.session import ServerSession
from mcp.shared.exceptions import MCPError, NoBackChannelError
from mcp.shared.message import ServerMessageMetadata
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import BaseModel, ValidationError

from yazcore.capabilities.context import Client
from yazcore.mcp.talk import Talk
from yazcore.outcomes import INVALID_PARAMS, ProtocolFault
from yazcore.parts import NEEDED, Ask, Form, Question, Sample, needs

MOST_ROUNDS = 8
"""How often one call may ask before it must answer."""

ANSWER_SECONDS = 600.0
"""How long a client has for an answer in the older era: a person may have to come back to it."""

STATE_SECONDS = 3600.0
"""How long the answers to a question of the newer era count."""

_Context = ServerRequestContext[Any, Any]


class MayAsk(Protocol):
    """What a call gives: its result, or what it asks first."""

    @property
    def ask(self) -> Ask | None:
        """The questions, if it asks."""


_Asked = TypeVar("_Asked", bound=MayAsk)


def boundary(name: str, who: Callable[[_Context], str]) -> RequestStateBoundary:
    """Seals what a call remembers between question and answer: to this server, this request and its principal."""
    security = RequestStateSecurity(keys=[secrets.token_bytes(32)], ttl=STATE_SECONDS, bind_principal=who)
    return RequestStateBoundary(security, default_audience=name)


def answers_in(ctx: _Context) -> bool:
    """Whether a request of the newer era carries answers, or what a call remembers."""
    params = ctx.params or {}
    return "inputResponses" in params or "requestState" in params


async def until_answered(
    ctx: _Context, talk: Talk, call: Callable[[Callable[[], Client]], Awaitable[_Asked]]
) -> _Asked:
    """Make a call, and in the older era ask what it asks and make it again. Gives its result, or what it asks first.

    `call` takes the function that gives the call its client. Raises `MCPError` where the client cannot be asked.
    """
    params = ctx.params or {}
    answers: Mapping[str, Any] | None = params.get("inputResponses")
    state: str | None = params.get("requestState")
    for _ in range(MOST_ROUNDS):
        client = Client(
            can=abilities(ctx.session), answers=answers, state=state, say=talk.say, let_go=talk.let_go
        )  # fmt: skip
        result = await call(lambda client=client: client)  # type: ignore[misc]
        if result.ask is None:
            return result
        _refuse_what_cannot_be_asked(ctx.session, result.ask)
        if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
            return result
        answers, state = await _asked(ctx, result.ask), result.ask.state
    raise ProtocolFault(f"the call asked {MOST_ROUNDS} times and still gave no answer")


def abilities(session: ServerSession) -> frozenset[str]:
    """What the client said that it can be asked."""
    capabilities = session.client_capabilities
    if capabilities is None:
        return frozenset()
    return frozenset(name for name in NEEDED.values() if getattr(capabilities, name) is not None)


def questions_object(ask: Ask) -> dict[str, Any]:
    """The result of a call of the newer era that asks."""
    return {
        "resultType": "input_required",
        "inputRequests": {name: _dumped(_request(question)) for name, question in ask.questions.items()},
        "requestState": ask.state,
    }


def _refuse_what_cannot_be_asked(session: ServerSession, ask: Ask) -> None:
    lacking = needs(tuple(ask.questions.values())) - abilities(session)
    if lacking:
        raise MCPError(
            types.MISSING_REQUIRED_CLIENT_CAPABILITY,
            f"this needs a client that offers {', '.join(sorted(lacking))}",
            {"requiredCapabilities": {name: {} for name in sorted(lacking)}},
        )


def _request(question: Question) -> types.ElicitRequest | types.CreateMessageRequest | types.ListRootsRequest:
    if isinstance(question, Form):
        form = types.ElicitRequestFormParams(message=question.message, requested_schema=dict(question.schema))
        return types.ElicitRequest(params=form)
    if isinstance(question, Sample):
        said = types.SamplingMessage(role="user", content=types.TextContent(text=question.text))
        sample = types.CreateMessageRequestParams(messages=[said], max_tokens=question.max_tokens)
        return types.CreateMessageRequest(params=sample)
    return types.ListRootsRequest()


_RESULTS: Mapping[type, type[BaseModel]] = {
    types.ElicitRequest: types.ElicitResult,
    types.CreateMessageRequest: types.CreateMessageResult,
    types.ListRootsRequest: types.ListRootsResult,
}


async def _asked(ctx: _Context, ask: Ask) -> dict[str, Any]:
    """The client's answers to all questions, one after the other, over the stream of this very request."""
    metadata = ServerMessageMetadata(related_request_id=ctx.request_id)
    answers = {}
    for name, question in ask.questions.items():
        request = _request(question)
        try:
            with anyio.fail_after(ANSWER_SECONDS):
                answer = await ctx.session.send_request(request, _RESULTS[type(request)], metadata=metadata)
        except (TimeoutError, NoBackChannelError):
            raise MCPError(INVALID_PARAMS, "the client was asked and did not answer") from None
        except ValidationError:
            raise MCPError(INVALID_PARAMS, "the client was asked, and its answer is malformed") from None
        answers[name] = _dumped(answer)
    return answers


def _dumped(model: BaseModel) -> dict[str, Any]:
    dumped: dict[str, Any] = model.model_dump(by_alias=True, mode="json", exclude_none=True)
    return dumped
